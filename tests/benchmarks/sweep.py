"""Models per second of one grid on 1 core, on 2, and through Dask: ``python -m tests.benchmarks.sweep``.

Efficiency is the time on one core over twice the time on two; starting the processes counts.
"""

import argparse
import time

from commod.experiments import grid_of, run_grid


def timed(jobs, **where):
    started = time.perf_counter()
    table = run_grid(jobs, **where)
    return table, time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=12)
    arguments = parser.parse_args()
    methods = ["commod", "frappe", "lpp", "oracle_lpp", "hardt", "fst"]
    jobs = grid_of(["law_school"], methods, ["demographic_parity"], range(arguments.splits))
    run_grid(jobs[:1], backend="serial")  # imports and first touch are nobody's
    alone, seconds = timed(jobs, backend="serial")
    print(f"{len(alone)} models. 1 core: {len(alone) / seconds:.1f} models/s ({seconds:.0f} s)")
    for name, where in (
        ("2 processes", {"backend": "processes", "n_jobs": 2}),
        ("Dask, 2 workers", {"backend": "dask", "n_jobs": 2}),
    ):
        table, took = timed(jobs, **where)
        assert table.equals(alone), f"{name} gave another table"
        print(f"{name}: {len(table) / took:.1f} models/s ({took:.0f} s), efficiency {seconds / (2 * took):.2f}")


if __name__ == "__main__":
    main()
