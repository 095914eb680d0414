"""What every method gets and takes on one split: ``python -m tests.benchmarks.compare``.

Of each method its models, the values of its knob, how many of the models differ, the widest gap in fairness between
neighbours on test, and the seconds that a core works on it. Then the time of all methods on all cores, against
``--limit`` seconds. It fails if a method gets more or fewer models than the others, or if the whole takes longer.

``--save FILE`` keeps the points. ``--against FILE`` tells what became of every method's frontier since: the area under
it (fairness × accuracy, above the worst of either run), the fewest changes at twenty levels of fairness, the fairest
model; a method that lost in one of them is named.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from commod.experiments import compare, prepare, sweep_method
from commod.experiments.sweep import EFFORT, fairness_gain
from commod.models.competitors import METHODS, available_methods

# Asked for on 2 cores, seconds.
LIMIT = 90.0
# What is no loss: a thousandth of the decisions, a hundredth of the area, of P-Rule or of mistreatment.
CHANGES, AREA, FAIREST = 0.001, 0.01, 0.01


def alone(scene, names, fairness, share):
    """Print what each method gets and takes; its points, and whether all got the same."""
    print(f"{'':26}{'models':>7}{'values':>7}{'differ':>7}{'gap':>7}{'s':>7}   share {share:.0f} s")
    found, equal = [], True
    for name in names:
        started = time.process_time()  # what a core works, whoever else is on it
        sweep = sweep_method(scene, name, fairness)
        took = time.process_time() - started
        points = sweep.points
        found.append(points)
        equal &= len(points) == EFFORT
        differ = len({model.decisions_test.tobytes() for model in sweep.models})
        told = f"{took / share:.1f} times its share" if took > share else ""
        told += "" if len(points) == EFFORT else f" NOT {EFFORT} MODELS"
        print(
            f"{METHODS[name].title:26}{len(points):>7}{points['value'].nunique():>7}{differ:>7}"
            f"{widest_gap(points, fairness):>7.3f}{took:>7.1f}   {told}",
            flush=True,
        )
    return pd.concat(found, ignore_index=True), equal


def widest_gap(points, fairness):
    """Between models that are next to one another in fairness on test."""
    return float(np.diff(np.sort(fairness_gain(points, fairness))).max(initial=0.0))


def against(before, after, fairness):
    """Print what became of each method's frontier; the names of those that lost."""
    print(f"\n{'':26}{'area':>17}{'fewest changes':>17}{'fairest':>17}   (before, after)")
    lost = []
    for name, now in after.groupby("method", sort=False):
        then = before[before["method"] == name]
        if then.empty:
            continue
        gains = [fairness_gain(points, fairness).to_numpy() for points in (then, now)]
        corner = min(map(np.min, gains)), min(then["accuracy"].min(), now["accuracy"].min())
        areas = [area(gain, part["accuracy"], corner) for gain, part in zip(gains, (then, now), strict=True)]
        levels = np.linspace(np.quantile(gains[0], 0.1), gains[0].max(), 20)
        few = [fewest(gain, part["change_rate"], levels) for gain, part in zip(gains, (then, now), strict=True)]
        both = ~np.isnan(few[0] + few[1])
        few = [float(values[both].mean()) for values in few]
        fairest = [float(gain.max()) for gain in gains]
        said = [
            word
            for word, is_lost in (
                ("area", areas[1] < (1 - AREA) * areas[0]),
                ("changes", few[1] > few[0] + CHANGES),
                ("reach", fairest[1] < fairest[0] - FAIREST),
            )
            if is_lost
        ]
        lost += [METHODS[name].title] if said else []
        told = f"lost: {', '.join(said)}" if said else ""
        print(
            f"{METHODS[name].title:26}{areas[0]:>9.4f}{areas[1]:>8.4f}{few[0]:>9.4f}{few[1]:>8.4f}"
            f"{abs(fairest[0]):>9.3f}{abs(fairest[1]):>8.3f}   {told}"
        )
    return lost


def area(gain, accuracy, corner):
    """Of what lies below the frontier of fairness and accuracy and above the corner."""
    order = np.argsort(-gain)
    best = np.maximum.accumulate(accuracy.to_numpy()[order]) - corner[1]
    return float(-np.diff(np.append(gain[order], corner[0])) @ best)


def fewest(gain, changed, levels):
    """The fewest changes of a model that is so fair, at each level; NaN where there is none."""
    changed = changed.to_numpy()
    return np.array([changed[gain >= level].min() if level <= gain.max() else np.nan for level in levels])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="law_school")
    parser.add_argument("--fairness", default="demographic_parity")
    parser.add_argument("--methods", help="only these, separated by commas")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    arguments = parser.parse_args()
    names, cores = available_methods(arguments.fairness), len(os.sched_getaffinity(0))
    if arguments.methods:
        names = [name for name in names if name in arguments.methods.split(",")]
    started = time.perf_counter()
    together = compare(arguments.dataset, methods=names, fairness=arguments.fairness)
    seconds = time.perf_counter() - started
    print(f"{arguments.dataset}, {arguments.fairness}: {len(together)} models of {len(names)} methods on {cores} cores")
    print(
        f"all together: {seconds:.1f} s ({'within' if seconds <= arguments.limit else 'OVER'} {arguments.limit:g} s)\n"
    )
    points, equal = alone(prepare(arguments.dataset), names, arguments.fairness, cores * arguments.limit / len(names))
    same = points.equals(together)
    print("" if same else "In processes and in this one the points are NOT the same.")
    if arguments.save:
        points.to_csv(arguments.save, index=False)
    if arguments.against:
        lost = against(pd.read_csv(arguments.against), points, arguments.fairness)
        print(f"\nworse than before: {', '.join(lost) or 'none'}")
    sys.exit(not (equal and same and seconds <= arguments.limit))


if __name__ == "__main__":
    main()
