"""Forms of COMMOD's update beside other methods, as in docs/results.md: ``python -m tests.benchmarks.forms``.

All forms get the settings of their sweep (36: λ_fair × λ_ratio, λ_concepts as the data set has it); the others get as
many models, in sweeps of their own. All figures are of the test part. Four tables: of the models that are
fair enough, the most accurate; of those that come a share of the way from f to parity, the one with the fewest changes;
of those that change at most 10 %, the fairest; and how many models of the one are beaten by a model of the other.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from commod.experiments import prepare, sweep_method
from commod.experiments.sweep import Shared, fairness_gain, fit_cell, lines_of
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS

FORMS = {
    "ratio": {"update": "ratio"},
    "affine": {"update": "affine"},
    "decisions": {"update": "decisions"},
    "ratio, nobody loses": {"update": "ratio", "direction": "improve"},
    "affine, nobody loses": {"update": "affine", "direction": "improve"},
    "decisions, nobody loses": {"update": "decisions", "direction": "improve"},
}
# Fair enough: a P-Rule from here on; a mistreatment of half of f's.
LEVELS = {"law_school": 0.70, "compas": 0.77, "adult": 0.64, "german": 0.95, "hiring": 0.985}
# The way from f's fairness to parity at which the fewest changes are compared.
SHARES = (0.25, 0.5, 0.75)
MOST = 0.10


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=",".join(LEVELS), help="data sets")
    parser.add_argument("--forms", default=";".join(FORMS), help="of COMMOD, separated by semicolons")
    parser.add_argument("--methods", default="lpp,frappe,bayes", help="beside the forms of COMMOD")
    parser.add_argument("--fairness", default=",".join(CRITERIA), help="criteria")
    parser.add_argument("--splits", type=int, default=1, help="how many, from seed 0 on")
    parser.add_argument("--points", type=Path, help="CSV file of all models: what is in it is not trained again")
    arguments = parser.parse_args()
    names = [*arguments.forms.split(";"), *filter(None, arguments.methods.split(","))]
    points = pd.read_csv(arguments.points) if arguments.points and arguments.points.exists() else pd.DataFrame()
    for data in arguments.data.split(","):
        for fairness in arguments.fairness.split(","):
            for seed in range(arguments.splits):
                for name in names:
                    about = {"data": data, "fairness": fairness, "split": seed, "name": name}
                    if len(points) and (points[[*about]] == pd.Series(about)).all(axis=1).any():
                        continue
                    started = time.perf_counter()
                    found = models_of(prepare(data, seed=seed), name, fairness).assign(**about)
                    points = pd.concat([points, found], ignore_index=True)
                    if arguments.points:
                        points.to_csv(arguments.points, index=False)
                    print(f"{about}: {len(found)} models, {time.perf_counter() - started:.0f} s", file=sys.stderr)
    show(matched(points), "Most accurate of those that are fair enough, mean of the splits that have one")
    show(fewest(points), "Fewest changes (and their accuracy) at a share of the way from f to parity, mean over splits")
    show(fairest(points), f"Fairest with at most {MOST:.0%} changed, mean and every split")
    show(beaten(points), "Models beaten, of those that change anybody")


def models_of(scene, name, fairness):
    """The figures of every model of a sweep; f's fairness beside them."""
    figure = CRITERIA[fairness].figure_name
    columns = [figure, "accuracy", "change_rate", "right", "sure"]
    before = scene.figures(scene.decisions_test)[figure]
    if name not in FORMS:
        return sweep_method(scene, name, fairness).points[[*columns, "settings"]].assign(f=before)
    form = FORMS[name] | ({"favourable": scene.task.spec.favourable} if "direction" in FORMS[name] else {})
    rows = []
    for line in lines_of("commod_decisions" if form["update"] == "decisions" else "commod"):
        shared = Shared()
        for cell in line:
            here = replace(cell, method="commod", others=(*cell.others, *form.items()))
            model = fit_cell(scene, here, fairness, shared)
            decided = model.decisions_test
            rows.append({**scene.figures(decided), **scene.shares(decided), "settings": cell.words})
    return pd.DataFrame(rows)[[*columns, "settings"]].assign(f=before)


def matched(points):
    """Accuracy, changes and the share of them that f was sure of, by data set, criterion and method."""
    rows = []
    for (data, fairness, name), part in points.groupby(["data", "fairness", "name"], sort=False):
        criterion = CRITERIA[fairness]
        level = LEVELS[data] if criterion.upward else part["f"] / 2
        gain = fairness_gain(part, fairness)
        fairest = part.loc[gain.idxmax(), criterion.figure_name]
        fair = part[gain >= criterion.gain(level)]
        best = fair.sort_values(["accuracy", "change_rate"], ascending=[False, True]).groupby("split").head(1)
        mean = best[["accuracy", "change_rate", "sure", "right"]].mean()
        rows.append(
            {
                "data": data,
                "fairness": criterion.short,
                "name": title(name),
                "splits": f"{len(best)} of {part['split'].nunique()}",
                "accuracy": f"{mean['accuracy']:.3f}",
                "changed": f"{mean['change_rate']:.3f}",
                "f was sure": f"{mean['sure']:.0%}",
                "right": f"{mean['right']:.0%}",
                "fairest": f"{fairest:.2f}",
            }
        )
    return pd.DataFrame(rows)


def fewest(points):
    """The fewest changes with which each method comes a share of the way to parity; in brackets, in how many splits."""
    rows = []
    for (data, fairness, name), part in points.groupby(["data", "fairness", "name"], sort=False):
        criterion = CRITERIA[fairness]
        way = (part[criterion.figure_name] - part["f"]) / ((1.0 if criterion.upward else 0.0) - part["f"])
        row = {"data": data, "fairness": criterion.short, "name": title(name)}
        for share in SHARES:
            best = part[way >= share].sort_values(["change_rate", "accuracy"], ascending=[True, False])
            best = best.groupby("split").head(1)[["change_rate", "accuracy"]]
            mean, n = best.mean(), part["split"].nunique()
            missing = f" ({len(best)} of {n})" if len(best) < n else ""
            cell = f"{mean['change_rate']:.1%}, {mean['accuracy']:.3f}{missing}" if len(best) else "never"
            row[f"{share:.0%} of the way"] = cell
        rows.append(row)
    return pd.DataFrame(rows)


def fairest(points):
    """The fairest model of each method with at most so many changes, and how fair its fairest model is at all."""
    rows = []
    for (data, fairness, name), part in points.groupby(["data", "fairness", "name"], sort=False):
        criterion = CRITERIA[fairness]
        row = {"data": data, "fairness": criterion.short, "name": title(name)}
        for what, some in ((f"at most {MOST:.0%}", part[part["change_rate"] <= MOST]), ("any number", part)):
            best = some.groupby("split")[criterion.figure_name].agg("max" if criterion.upward else "min")
            row[what] = f"{best.mean():.3f} ({', '.join(f'{value:.2f}' for value in best)})"
        rows.append(row)
    return pd.DataFrame(rows)


def beaten(points):
    """How many models of a form another one or another method beats, and how many of its models the form beats."""
    rows = []
    for (data, fairness), part in points.groupby(["data", "fairness"], sort=False):
        names = list(part["name"].unique())
        for own in [name for name in FORMS if name in names]:
            for other in names[names.index(own) + 1 :]:
                row = {"data": data, "fairness": CRITERIA[fairness].short, "A": title(own), "B": title(other)}
                row["of A beaten by B"] = share_beaten(part, own, other, fairness)
                row["of B beaten by A"] = share_beaten(part, other, own, fairness)
                rows.append(row)
    return pd.DataFrame(rows)


def share_beaten(points, name, by, fairness):
    """Of the models of `name` that change anybody, those that a model of `by` equals in all three and beats in one."""
    lost = total = 0
    for _, part in points.groupby("split"):
        values = np.column_stack([fairness_gain(part, fairness), part["accuracy"], -part["change_rate"]])
        mine = values[((part["name"] == name) & (part["change_rate"] > 0)).to_numpy()]
        lost, total = lost + n_beaten(mine, values[(part["name"] == by).to_numpy()]), total + len(mine)
    return f"{lost} of {total} ({lost / max(total, 1):.0%})"


def n_beaten(mine, theirs):
    """How many rows of `mine` a row of `theirs` equals in all columns and beats in one; more is better."""
    at_least = (theirs[None] >= mine[:, None]).all(axis=2)
    more = (theirs[None] > mine[:, None]).any(axis=2)
    return int((at_least & more).any(axis=1).sum())


def title(name):
    return f"COMMOD, {name}" if name in FORMS else METHODS[name].title


def show(frame, heading):
    print(f"\n{heading}\n")
    print(f"| {' | '.join(frame)} |\n|{'---|' * frame.shape[1]}")
    for row in frame.to_numpy():
        print(f"| {' | '.join(str(cell) for cell in row)} |")


if __name__ == "__main__":
    main()
