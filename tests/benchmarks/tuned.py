"""Methods whose settings are chosen on training folds, as in docs/results.md: ``python -m tests.benchmarks.tuned``.

Every method gets 36 settings (the forms of COMMOD three values of λ_ratio times twelve of λ_fair, the others those that
their sweep on the first fold puts there). All are trained on each of two halves of the training rows and judged on the
other half, f being trained anew. A setting is chosen there for each aim: the fewest changes that come a quarter, half
and three quarters of the way from f to parity, and the fairest that changes at most 10 %. It is then trained on all
training rows and counted on test, once: test plays no part in the choice. Of adult, the halves have 3,000 rows each.
"""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from commod.datasets import TabularEncoder
from commod.experiments import prepare, sweep_method
from commod.experiments.plausibility import shares_of_decisions
from commod.experiments.search import folds_of
from commod.experiments.sweep import Cell, Shared, lines_of, train_cell
from commod.metrics.figures import CRITERIA
from commod.metrics.small_groups import compared_groups
from commod.models.competitors import METHODS
from tests.benchmarks.forms import n_beaten, show
from tests.benchmarks.tried_forms import TRIED_FORMS

# By name: the method of the registry, and further arguments of COMMOD.
NAMES = {
    "COMMOD, paper's form": ("commod", {}),
    "COMMOD, affine": ("commod", {"update": "affine"}),
    "COMMOD, decisions": ("commod_decisions", {}),
    "LPP": ("lpp", {}),
    "Bayes rule": ("bayes", {}),
}
OWN = "COMMOD, decisions"
DATA = "law_school,compas,adult,german,hiring"
FOLDS, ROWS = 2, 6_000
# On folds the solver of the paper's loss stops a little earlier.
QUICK = {"solver_options": {"tol": 1e-4}}
SHARES = (0.25, 0.5, 0.75)
MOST = 0.10
WITHIN = f"at most {MOST:.0%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--names", default=";".join(NAMES), help=f"or: {'; '.join(TRIED_FORMS)}")
    parser.add_argument("--fairness", default=",".join(CRITERIA))
    parser.add_argument("--splits", type=int, default=5, help="how many, from seed 0 on")
    parser.add_argument("--points", type=Path, nargs="*", help="CSV files: what is in them is not trained again")
    arguments = parser.parse_args()
    files = arguments.points or []
    known = [pd.read_csv(file) for file in files if file.exists()]
    points = pd.concat(known, ignore_index=True) if known else pd.DataFrame(columns=["data"])
    own = pd.read_csv(files[0]) if files and files[0].exists() else pd.DataFrame()
    for data in arguments.data.split(","):
        for seed in range(arguments.splits):
            for fairness in arguments.fairness.split(","):
                for name in arguments.names.split(";"):
                    about = {"data": data, "fairness": fairness, "split": seed, "name": name}
                    if len(points) and (points[[*about]] == pd.Series(about)).all(axis=1).any():
                        continue
                    started = time.perf_counter()
                    found = tuned(prepare(data, seed=seed), name, fairness).assign(**about)
                    points = pd.concat([points, found], ignore_index=True)
                    if files:
                        own = pd.concat([own, found], ignore_index=True)
                        own.to_csv(files[0], index=False)
                    print(f"{about}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    wanted = points["name"].isin(arguments.names.split(";")) & points["data"].isin(arguments.data.split(","))
    points = points[wanted & points["fairness"].isin(arguments.fairness.split(","))]
    show(reached(points), "On test: share of the way to parity, changed, accuracy; mean of the splits")
    show(within(points), f"Aim: the fairest with {WITHIN} changed. On test")
    show(beaten(points), f"Models beaten on test, all aims and splits: of {OWN} by the other / of the other's by it")


# ---- one method on one split ----


def tuned(scene, name, fairness):
    """The models that folds choose, one for each aim, and their figures on test."""
    criterion = CRITERIA[fairness]
    folds = fold_scenes(scene)
    cells, known = cells_of(folds[0], name, fairness)
    decided = [*known, *(decisions(fold, name, cells, fairness, QUICK) for fold in folds[len(known) :])]
    judged = pd.DataFrame([held_out(folds, [each[i] for each in decided], fairness) for i in range(len(cells))])
    before = scene.figures(scene.decisions_test)[criterion.figure_name]
    chosen = choices(judged)
    on_all = decisions(scene, name, [cells[i] for i in chosen.values()], fairness)
    rows = []
    for place, on_test in zip(chosen.values(), on_all, strict=True):
        figures = scene.figures(on_test)
        fair = figures[criterion.figure_name]
        rows.append(
            {
                "way": share_of_way(fair, before, criterion),
                "fair": fair,
                "f": before,
                "accuracy": figures["accuracy"],
                "changed": figures["change_rate"],
                **shares_of_decisions(scene, on_test),
                **{f"held_{key}": judged[key][place] for key in judged},
                "settings": cells[place].words,
            }
        )
    return pd.DataFrame(rows).assign(aim=list(chosen))


def fold_scenes(scene):
    """The training rows in halves, each judged by the other, as scenes of their own."""
    rows = np.sort(np.random.default_rng(0).permutation(len(scene.train))[:ROWS])
    train = scene.train.take(rows)
    sizes = np.bincount(train.sensitive, minlength=len(scene.task.groups))
    scenes = []
    for fold in folds_of(train, scene.f, scene.threshold, compared_groups(sizes), FOLDS):
        encoder = TabularEncoder().fit(scene.task.features(fold.fit.X), sample_weight=fold.fit.weight)
        encoded = [encoder.transform(scene.task.features(part.X)) for part in (fold.fit, fold.held)]
        scenes.append(
            replace(
                scene,
                train=fold.fit,
                test=fold.held,
                f=fold.f,
                encoder=encoder,
                scores_train=fold.scores,
                logit_test=fold.logit,
                encoded_train=encoded[0],
                encoded_test=encoded[1],
            )
        )
    return scenes


def cells_of(scene, name, fairness):
    """The settings of a method, 36 of everyone; and what a sweep that has put them there decides on this fold."""
    method, form = NAMES[name] if name in NAMES else (TRIED_FORMS[name][0], {})
    if METHODS[method].is_commod:
        cells = [cell for line in lines_of(method) for cell in line]
        return [replace(cell, others=(*cell.others, *form.items())) for cell in cells], []
    models = sweep_method(scene, method, fairness).models
    return [model.cell for model in models], [[model.decisions_test.astype(int) for model in models]]


def decisions(scene, name, cells, fairness, options=None):
    """Decisions on the scene's test rows, of each cell; models of one line share what they can."""
    shared, found = {}, []
    for cell in cells:
        of_line = shared.setdefault((cell.others, cell.seed), Shared())
        if name in TRIED_FORMS:
            found.append(TRIED_FORMS[name][1](scene, cell, fairness, of_line, options or {}))
            continue
        counts = name in ("COMMOD, decisions", "COMMOD, tree")
        extra = {} if options is None or counts or not METHODS[cell.method].is_commod else options
        here = Cell(cell.method, cell.value, (*cell.others, *extra.items()), cell.seed)
        margin = train_cell(scene, here, fairness, of_line).margin(scene.test)
        found.append((margin > 0).astype(int))
    return found


def held_out(folds, decided, fairness):
    """What a setting does to the people held out, all folds together."""
    criterion = CRITERIA[fairness]
    y, groups = (np.concatenate([getattr(fold.test, name) for fold in folds]) for name in ("y", "sensitive"))
    before, after = np.concatenate([fold.decisions_test for fold in folds]), np.concatenate(decided)
    of_f, of_g = (criterion.figure.of_decisions(groups, len(folds[0].task.groups), y, each) for each in (before, after))
    return {
        "way": share_of_way(of_g, of_f, criterion),
        "changed": float(np.mean(before != after)),
        "accuracy": float(np.mean(after == y)),
    }


def share_of_way(figure, before, criterion):
    """From f's fairness (0) to parity (1)."""
    return float((figure - before) / ((1.0 if criterion.upward else 0.0) - before))


def choices(judged):
    """The place of the setting for each aim: `judged` has a row for each, with ``way, changed, accuracy``."""
    judged = judged.assign(way=judged["way"].fillna(-np.inf))
    chosen = {}
    for share in SHARES:
        fair = judged[judged["way"] >= share]
        fewest = fair.sort_values(["changed", "accuracy"], ascending=[True, False], kind="stable")
        chosen[f"{share:.0%}"] = int((fewest.index if len(fair) else [judged["way"].idxmax()])[0])
    chosen[WITHIN] = int(judged[judged["changed"] <= MOST]["way"].idxmax())
    return chosen


# ---- tables ----


def reached(points):
    """Means on test, by aim; in brackets, in how many splits folds had a setting that comes so far."""
    rows = []
    for (data, fairness, name), part in points[points["aim"] != WITHIN].groupby(
        ["data", "fairness", "name"], sort=False
    ):
        row = {"data": data, "fairness": CRITERIA[fairness].short, "name": name}
        for aim, some in part.groupby("aim", sort=False):
            n = int((some["held_way"] >= float(aim.strip("%")) / 100).sum())
            mean = some[["way", "changed", "accuracy"]].mean()
            short = "" if n == len(some) else f" ({n} of {len(some)})"
            row[f"aim: {aim}"] = f"{mean['way']:.0%}, {mean['changed']:.1%}, {mean['accuracy']:.3f}{short}"
        rows.append(row)
    return pd.DataFrame(rows)


def within(points):
    """The figure of the criterion and the share changed, mean and every split."""
    rows = []
    for (data, fairness, name), part in points[points["aim"] == WITHIN].groupby(
        ["data", "fairness", "name"], sort=False
    ):
        every = ", ".join(f"{fair:.2f}" for fair in part["fair"])
        rows.append(
            {
                "data": data,
                "figure": CRITERIA[fairness].figure_name,
                "name": name,
                "fairness": f"{part['fair'].mean():.3f} ({every})",
                "changed": f"{part['changed'].mean():.1%}",
                "accuracy": f"{part['accuracy'].mean():.3f}",
                "f was sure": f"{part['sure'].mean():.0%}",
                "right": f"{part['right'].mean():.0%}",
            }
        )
    return pd.DataFrame(rows)


def beaten(points):
    """How many models are beaten by one of the other method's on the same split: own by other / other's by own."""
    rows = []
    for (data, fairness), part in points.groupby(["data", "fairness"], sort=False):
        names = list(part["name"].unique())
        row = {"data": data, "fairness": CRITERIA[fairness].short}
        own = OWN if OWN in names else names[0]
        for other in names:
            if other != own:
                row[other] = f"{share_beaten(part, own, other)} / {share_beaten(part, other, own)}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("not run")


def share_beaten(points, name, by):
    lost = total = 0
    for _, part in points.groupby("split"):
        values = np.column_stack([part["way"], part["accuracy"], -part["changed"]])
        mine = np.unique(values[((part["name"] == name) & (part["changed"] > 0)).to_numpy()], axis=0)
        lost, total = lost + n_beaten(mine, values[(part["name"] == by).to_numpy()]), total + len(mine)
    return f"{lost} of {total}"


if __name__ == "__main__":
    main()
