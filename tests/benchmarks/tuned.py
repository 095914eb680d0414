"""Methods whose settings are chosen on training folds, as in docs/results.md: ``python -m tests.benchmarks.tuned``.

Every method gets 108 settings: the 36 of its sweep, each with three strengths of its regulariser. For the forms of
COMMOD that is λ_concepts, for LPP and the Bayes rule the inverse penalty of the model that guesses group and label. All
are trained on each of two halves of the training rows and judged on the other half, f being trained anew. A setting is
chosen there for each aim: the fewest changes that come a quarter, half and three quarters of the way from f to parity,
and the fairest that changes at most 10 %. It is then trained on all training rows and counted on test, once: test plays
no part in the choice. Of adult, the halves have 3,000 rows each.

What was found is kept in `STORED`, from which `python -m tests.numbers` makes the tables. The page Compare takes the
strength that most aims got on split 0. For methods and data sets that only it has, `STORED_STRENGTHS` has the choices::

    python -m tests.benchmarks.tuned --splits 1 --names "FST;FairProjection;MBS;OxonFair;Oracle Bayes rule"
        --data law_school,compas,adult,german,hiring,law_school_full,ratings --points STORED_STRENGTHS
    python -m tests.benchmarks.tuned --splits 1 --names "COMMOD, paper's form;COMMOD, decisions;LPP;Bayes rule"
        --data law_school_full,ratings --points STORED_STRENGTHS
    python -m tests.benchmarks.tuned --choose
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from commod.datasets import TabularEncoder
from commod.experiments import prepare, sweep_method
from commod.experiments.results import read_result, write_result
from commod.experiments.search import folds_of
from commod.experiments.sweep import STRENGTHS, Shared, lines_of, train_cell
from commod.metrics.counts import compared_groups
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS
from commod.models.threads import single_threaded
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
# Others with a regulariser, of which only the strength is asked: the app's Compare takes it (`choose`).
REGULARISED = {METHODS[name].title: (name, {}) for name in ("fst", "fair_projection", "mbs", "oxonfair", "oracle")}
OWN = "COMMOD, decisions"
DATA = "law_school,compas,adult,german,hiring"
# Strengths of the regulariser: λ_concepts, and C of the logistic regression behind `Membership`.
LAMBDA_CONCEPTS = (0.01, 0.05, 0.2)
PENALTIES = (0.01, 0.1, 1.0)
FOLDS, ROWS = 2, 6_000
# On folds the solver of the paper's loss stops a little earlier.
QUICK = {"solver_options": {"tol": 1e-4}}
SHARES = (0.25, 0.5, 0.75)
MOST = 0.10
WITHIN = f"at most {MOST:.0%}"
ABOUT = ["data", "fairness", "split", "name"]
STORED = Path(__file__).parent / "results" / "tuned.parquet"
# Of split 0, methods and data sets whose strengths alone are asked.
STORED_STRENGTHS = STORED.with_name("strengths.parquet")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--names", default=";".join(NAMES), help=f"or: {'; '.join(TRIED_FORMS)}")
    parser.add_argument("--fairness", default=",".join(CRITERIA))
    parser.add_argument("--splits", type=int, default=5, help="how many, from seed 0 on")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--points", type=Path, nargs="+", default=[STORED], help="the first is written, all are read")
    parser.add_argument("--choose", action="store_true", help="write what Compare takes from what is stored, no more")
    arguments = parser.parse_args()
    if arguments.choose:
        chosen = choose(pd.concat([read_result(file)[0] for file in (STORED, STORED_STRENGTHS)]))
        STRENGTHS.write_text(json.dumps(chosen, indent=1) + "\n")
        return
    known = [read_result(file)[0] for file in arguments.points if file.exists()]
    points = pd.concat(known, ignore_index=True) if known else pd.DataFrame(columns=ABOUT)
    lists = (
        arguments.data.split(","),
        arguments.fairness.split(","),
        range(arguments.splits),
        arguments.names.split(";"),
    )
    done = set(points[ABOUT].itertuples(index=False, name=None))
    missing = [each for each in product(*lists) if each not in done]
    found = Parallel(arguments.jobs, return_as="generator_unordered")(delayed(timed)(*each) for each in missing)
    for number, (about, seconds, rows) in enumerate(found, start=1):
        points = pd.concat([points, rows], ignore_index=True).sort_values(ABOUT, kind="stable", ignore_index=True)
        write_result(points, arguments.points[0], {"splits": arguments.splits, "data": arguments.data})
        print(f"{number} of {len(missing)}: {', '.join(map(str, about))}, {seconds:.0f} s", file=sys.stderr, flush=True)
    for fairness in lists[1]:
        show(way(points, fairness), f"{CRITERIA[fairness].figure_name}, decisions changed, accuracy on test")
        show(within(points, fairness), f"Aim: the fairest with {WITHIN} changed")
    show(beaten(points), f"Models beaten on test: the other method's by {OWN}; its own by the other")


def timed(data, fairness, seed, name):
    """What `tuned` finds, which it is, and the seconds it took."""
    started = time.perf_counter()
    about = dict(zip(ABOUT, (data, fairness, seed, name), strict=True))
    with single_threaded():
        rows = tuned(prepare(data, seed=seed), name, fairness).assign(**about)
    return tuple(about.values()), time.perf_counter() - started, rows


# ---- one method on one split ----


def tuned(scene, name, fairness):
    """The models that folds choose, one for each aim, and their figures on test."""
    criterion = CRITERIA[fairness]
    folds = fold_scenes(scene)
    cells = cells_of(folds[0], name, fairness)
    decided = [decisions(fold, name, cells, fairness, QUICK) for fold in folds]
    judged = pd.DataFrame([held_out(folds, [each[i] for each in decided], fairness) for i in range(len(cells))])
    before = scene.figures(scene.decisions_test)[criterion.figure_name]
    chosen = choices(judged)
    rows = []
    for aim, place in chosen.items():
        on_test = decisions(scene, name, [cells[place]], fairness)[0]
        figures = scene.figures(on_test)
        fair = figures[criterion.figure_name]
        rows.append(
            {
                "aim": aim,
                "way": share_of_way(fair, before, criterion),
                "fair": fair,
                "f": before,
                "accuracy": figures["accuracy"],
                "changed": figures["change_rate"],
                **scene.shares(on_test),
                **{f"held_{key}": judged[key][place] for key in judged},
                "settings": cells[place].words,
            }
        )
    return pd.DataFrame(rows)


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
    """The settings of a method, 108 of everyone: its sweep, with each strength of its regulariser."""
    method, form = (NAMES | REGULARISED)[name] if name not in TRIED_FORMS else (TRIED_FORMS[name][0], {})
    if METHODS[method].is_commod:
        cells = [replace(cell, others=(*cell.others, *form.items())) for line in lines_of(method) for cell in line]
        strengths = [("lambda_concepts", value) for value in LAMBDA_CONCEPTS]
    else:
        cells = [model.cell for model in sweep_method(scene, method, fairness).models]
        strengths = [("penalty", value) for value in PENALTIES]
    return [replace(cell, others=(*cell.others, strength)) for strength in strengths for cell in cells]


def decisions(scene, name, cells, fairness, options=None):
    """Decisions on the scene's test rows, of each cell; models of one line share what they can."""
    shared, found = {}, []
    for cell in cells:
        of_line = shared.setdefault((cell.others, cell.seed), Shared())
        if name in TRIED_FORMS:
            found.append(TRIED_FORMS[name][1](scene, cell, fairness, of_line, options or {}))
            continue
        if METHODS[cell.method].is_commod and options is not None and name != "COMMOD, decisions":
            cell = replace(cell, others=(*cell.others, *options.items()))
        found.append((train_cell(scene, cell, fairness, of_line).margin(scene.test) > 0).astype(int))
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


def way(points, fairness):
    """Means on test, by aim; in brackets, on how many splits folds had a setting that comes so far."""
    rows = []
    part = points[(points["fairness"] == fairness) & (points["aim"] != WITHIN)]
    for data, own in part.groupby("data", sort=False):
        heading = f"{data}, f has {own['f'].mean():.3f}{n_splits(own)}"
        for aim, some in own.groupby("aim", sort=False):
            row = {"": heading, "aim": aim}
            for name, found in by_name(some):
                n = int((found["held_way"] >= float(aim.strip("%")) / 100).sum())
                row[name] = shown(found) + ("" if n == len(found) else f" ({n})")
            rows.append(row)
    return pd.DataFrame(rows).fillna("not run")


def within(points, fairness):
    """Means on test of the models that were to change few; in brackets, on how many splits they changed more."""
    rows = []
    part = points[(points["fairness"] == fairness) & (points["aim"] == WITHIN)]
    for data, own in part.groupby("data", sort=False):
        row = {"": f"{data}, {CRITERIA[fairness].short}, f has {own['f'].mean():.3f}{n_splits(own)}"}
        for name, found in by_name(own):
            n = int((found["changed"] > MOST).sum())
            row[name] = shown(found) + (f" ({n})" if n else "")
        rows.append(row)
    return pd.DataFrame(rows).fillna("not run")


def sure(points, aim="50%"):
    """Of the changes of the models with one aim: the share right by the record, and that f was sure of."""
    rows = []
    for (data, fairness), own in points[points["aim"] == aim].groupby(["data", "fairness"], sort=False):
        row = {"": f"{data}, {CRITERIA[fairness].short}"}
        for name, found in by_name(own):
            means = found[["right", "sure"]].astype(float).mean()
            row[name] = "no changes" if means.isna().any() else f"{means['right']:.0%}, {means['sure']:.0%}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("not run")


def beaten(points):
    """How many models are beaten by one on the same split: the other's by the own form / its own by the other."""
    rows = []
    for (data, fairness), part in points.groupby(["data", "fairness"], sort=False):
        row = {"": f"{data}, {CRITERIA[fairness].short}"}
        for other, _ in by_name(part):
            if other != OWN:
                row[other] = f"{share_beaten(part, other, OWN)}; {share_beaten(part, OWN, other)}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("not run")


def strengths(points):
    """How often folds chose each strength of the regulariser, from the weakest to the strongest."""
    rows = []
    for data, own in points.groupby("data", sort=False):
        row = {"": data}
        for name, found in by_name(own):
            tried = LAMBDA_CONCEPTS if METHODS[(NAMES | TRIED_FORMS)[name][0]].is_commod else PENALTIES[::-1]
            chosen = strength_of(found["settings"])
            row[name] = ", ".join(str((chosen == value).sum()) for value in tried)
        rows.append(row)
    return pd.DataFrame(rows)


def strength_of(settings):
    """The strength in the words of a cell, a series of them."""
    return settings.str.extract(r"(?:λ_concepts|penalty|\bC) ([\d.]+)")[0].astype(float)


def choose(points):
    """The strength that most aims get from folds of split 0, the weakest of equals; by data, criterion and method."""
    methods = {name: method for name, (method, form) in (NAMES | REGULARISED).items() if not form}
    found = {}
    for (data, fairness, name), part in points[points["split"] == 0].groupby(["data", "fairness", "name"]):
        if name in methods:
            often = strength_of(part["settings"]).value_counts()
            weak = -1 if METHODS[methods[name]].is_commod else 1
            best = max(often.index, key=lambda value: (often[value], weak * value))
            found.setdefault(data, {}).setdefault(fairness, {})[methods[name]] = best
    return found


def by_name(points):
    """Points of each method, in the order in which methods are named."""
    names = [name for name in (*NAMES, *TRIED_FORMS) if (points["name"] == name).any()]
    return [(name, points[points["name"] == name]) for name in names]


def shown(points):
    """Means of the criterion's figure, of changes and of accuracy."""
    mean = points[["fair", "changed", "accuracy"]].mean()
    return f"{mean['fair']:.3f}, {mean['changed']:.1%}, {mean['accuracy']:.3f}"


def n_splits(points):
    """How many, where it is not five."""
    count = points["split"].nunique()
    return "" if count == 5 else f" ({count} splits)"


def share_beaten(points, name, by):
    lost = total = 0
    for _, part in points.groupby("split"):
        values = np.column_stack([part["way"], part["accuracy"], -part["changed"]])
        mine = np.unique(values[((part["name"] == name) & (part["changed"] > 0)).to_numpy()], axis=0)
        lost, total = lost + n_beaten(mine, values[(part["name"] == by).to_numpy()]), total + len(mine)
    return f"{lost}/{total}"


if __name__ == "__main__":
    main()
