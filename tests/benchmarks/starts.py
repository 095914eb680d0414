"""Where a file of one's own opens, and whether another form does better: ``python -m tests.benchmarks.starts``.

Data sets that ship are brought as files, and two files are invented. `suited_start` tries a few models by bisection.
Here every form is trained at every λ_fair that can be tried, and held against the one the file opens with on the five
counts it is chosen by: fairness (up to what was aimed at), accuracy, changes, right changes and changes f was sure of.
First on the people it was chosen on, then on the test part, which plays no part in the choice.
"""

import argparse

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from commod.datasets import Choice, load_task, make_task
from commod.datasets.example import example_table
from commod.datasets.load import lent
from commod.experiments import prepare, start
from commod.experiments.search import Fold
from commod.metrics.figures import CRITERIA
from commod.models.threads import single_threaded

BUILT_IN = ("law_school", "law_school_full", "compas", "adult", "german", "hiring", "ratings")
INVENTED = ("applicants", "grants")


def file_of(name):
    """A table as somebody brings it, and what its columns are."""
    if name == "applicants":
        table = example_table()
        kinds = {"experience_years": "number", "test_score": "number", "education": "category", "city": "category"}
        return table, Choice("hired", "yes", "group", ("A", "B"), kinds)
    if name == "grants":
        return grants(), Choice("granted", "yes", "region", ("north", "south"), dict.fromkeys("abc", "number"))
    task = load_task(name)
    table = task.X.assign(
        outcome=np.where(task.y == task.spec.favourable, "good", "bad"),
        group=np.asarray(task.groups)[task.sensitive],
    )
    kinds = {each.name: "number" if each.kind == "number" else "category" for each in task.spec.features}
    return table, Choice("outcome", "good", "group", tuple(task.groups), kinds)


def grants(rows=2500):
    """One in eight gets a grant; region shows in one feature."""
    rng = np.random.default_rng(7)
    south = rng.random(rows) < 0.3
    a, b = rng.normal(size=rows) - 0.7 * south, rng.normal(size=rows)
    c = rng.normal(size=rows) + 1.2 * south
    granted = rng.random(rows) < 1.0 / (1.0 + np.exp(2.6 - a - 0.5 * b))
    words = {"granted": np.where(granted, "yes", "no"), "region": np.where(south, "south", "north")}
    return pd.DataFrame({"a": a, "b": b, "c": c, **words})


class _OnTest(start._HeldOut):
    """The same trials, trained on all training rows and judged on the test part."""

    def _folds(self, train, rows):
        scene = self.scene
        return [Fold(scene.train, scene.f, scene.scores_train, scene.test, scene.logit_test, scene.line)]


def checked(name, fairness):
    """A row of the table."""
    table, choice = file_of(name)
    task = make_task(table, choice, name=f"own_{name}").task
    with lent(task), single_threaded():
        scene = prepare(task.name)
        found = start.suited_start(scene, fairness)
        row = [f"{name}, {CRITERIA[fairness].short}"]
        if not found.settings.get("lambda_fair"):
            return [*row, "f as it is", "", "", "", ""]
        places = found.settings["update"], found.settings["lambda_fair"]
        tell = []
        for held in (start._HeldOut(scene, fairness), _OnTest(scene, fairness)):
            own = held.trial(*places)
            trials = held.all_useful()
            goal = held.of_f.fairness + 0.5 * (max(each.fairness for each in trials) - held.of_f.fairness)
            by = [each for each in trials if each.update != own.update and start._beats(each, own, goal)]
            forms = sorted({f"{each.update} at {each.lambda_fair:g}" for each in by})
            tell.append(f"{len(by)} of {sum(each.update != own.update for each in trials)}" + words(forms))
            told = start.with_capital(held.shown(held.of_f.fairness, named=False)) + " → "
            tell.append(f"{told}{held.shown(own.fairness, named=False)}, {held.of_f.accuracy:.1%} → {own.accuracy:.1%}")
        less = own.accuracy < min(held.of_f.accuracy, held.of_constant)  # Your data and `commod fit` say it first
        return [*row, f"{places[0]}, {places[1]:g}", tell[0], tell[2], tell[3], "yes, said first" if less else "no"]


def words(forms):
    return f" ({', '.join(forms[:2])}{' …' if len(forms) > 2 else ''})" if forms else ""


HEADINGS = [
    "",
    "opens with",
    "beaten on folds by",
    "on test by",
    "on test: fairness, accuracy",
    "on test: less right than f and a constant",
]


def table_of(names=(*BUILT_IN, *INVENTED)):
    """A row for each file and criterion."""
    return Parallel(n_jobs=-1)(delayed(checked)(name, fairness) for name in names for fairness in CRITERIA)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=",".join((*BUILT_IN, *INVENTED)))
    for row in [HEADINGS, *table_of(parser.parse_args().data.split(","))]:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
