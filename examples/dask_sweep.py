"""A sweep on a Dask cluster of this machine that goes on where an earlier run of it ended.

Dask is an optional extra: ``pip install '.[dask]'``. To use other machines, start ``dask scheduler`` and ``dask worker
ADDRESS`` on them and pass ``scheduler="tcp://…"`` to `run_grid`; they need this project installed, too. Run from the
repository with ``python -m examples.dask_sweep``.
"""

import tempfile
from pathlib import Path

import pandas as pd

from commod.experiments import grid_of, run_grid


def main() -> None:
    """Sweep two methods, a part of them here and the rest on a cluster."""
    # Three lines of 12 COMMOD models (one for each λ_ratio) and one of 36 LPP models; each model is a task of its own.
    jobs = grid_of(["law_school"], ["commod", "lpp"], ["demographic_parity"], splits=[0])
    print(f"{len(jobs)} models")

    with tempfile.TemporaryDirectory() as folder:
        # Each finished model is added to a file. This run ends early, as one that is killed does.
        store = Path(folder) / "finished.jsonl"
        run_grid(jobs[:12], store=store, backend="serial")
        print(f"{len(store.read_text().splitlines())} of them are finished; the cluster trains the rest")
        table = run_grid(jobs, store=store, backend="dask", n_jobs=2)

    # A model that failed would have its reason in the column "error", and the others would be there all the same.
    assert (table["error"] == "").all()
    fair = table[table["p_rule"] >= 0.7].sort_values("accuracy", ascending=False)
    print("The most accurate model of each method with a P-Rule of 0.7 or more, on test:")
    columns = ["accuracy", "p_rule", "change_rate", "settings"]
    print(fair.groupby("method")[columns].first().round(3).to_string())

    # It does not matter where a model was trained: the models of LPP once more, in this process.
    here = run_grid(jobs[-36:], backend="serial")
    pd.testing.assert_frame_equal(table.tail(len(here)).reset_index(drop=True), here, check_exact=True)
    print(f"{len(here)} models trained here have the same digits as the cluster's.")


if __name__ == "__main__":  # the workers import this file, and only the first process may start the cluster
    main()
