"""Time of a whole sweep of all methods on law_school, on all cores: ``python -m tests.benchmarks.compare``.

The time of each method alone, on one core, stands beside it.
"""

import argparse
import os
import time

from commod.experiments import compare, prepare, sweep_method
from commod.models.competitors import METHODS, available_methods


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="law_school")
    parser.add_argument("--fairness", default="demographic_parity")
    arguments = parser.parse_args()
    started = time.perf_counter()
    points = compare(arguments.dataset, fairness=arguments.fairness)
    seconds = time.perf_counter() - started
    cores = len(os.sched_getaffinity(0))
    print(f"{arguments.dataset}, {arguments.fairness}: {len(points)} models in {seconds:.1f} s on {cores} cores")
    scene = prepare(arguments.dataset)
    for name in available_methods(arguments.fairness):
        started = time.perf_counter()
        models = sweep_method(scene, name, arguments.fairness).models
        took = time.perf_counter() - started
        print(f"  {METHODS[name].title:26}{len(models):>4} models {took:6.1f} s on one core")


if __name__ == "__main__":
    main()
