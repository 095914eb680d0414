"""More than two groups: every method that can, as in docs/tables.md: ``python -m tests.benchmarks.groups --write``.

COMMOD at the setting that the app opens with. Of every other method (one seed, its knob alone is moved) the model whose
P-Rule on the training rows is nearest to COMMOD's there, found by halving the values of its declared sweep; the test
part plays no part in the choice. Beside it what a fit for the data set's own two groups gains on those. All figures are
of the test part, means over the splits; the P-Rule is the worst, groups of fewer than 100 test people left out.
"""

import argparse
import re
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from commod.datasets import data_of
from commod.experiments import prepare
from commod.experiments.sweep import Cell, Shared, fit_cell
from commod.metrics.counts import counts_of_codes
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models import Commod
from commod.models.competitors import METHODS, available_methods

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
START, END = "<!-- groups -->", "<!-- /groups -->"
DP = "demographic_parity"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", default="compas.race,adult.race_sex", help="data sets with their groupings")
    parser.add_argument("--methods", default="", help="beside COMMOD; default, all that can")
    parser.add_argument("--splits", default="0,1,2,3,4", help="their seeds")
    parser.add_argument("--points", type=Path, help="CSV file of all models: what is in it is not trained again")
    parser.add_argument("--write", action="store_true", help="put the table into docs/tables.md")
    arguments = parser.parse_args()
    points = pd.read_csv(arguments.points) if arguments.points and arguments.points.exists() else pd.DataFrame()
    seeds = [int(seed) for seed in arguments.splits.split(",")]
    for task in arguments.tasks.split(","):
        n_groups = len(prepare(task).task.groups)
        others = arguments.methods.split(",") if arguments.methods else available_methods(DP, n_groups)[1:]
        for seed in seeds:
            for name in ["two groups", "commod", *others]:
                about = {"task": task, "split": seed, "name": name}
                if len(points) and (points[[*about]] == pd.Series(about)).all(axis=1).any():
                    continue
                started = time.perf_counter()
                found = row_of(task, seed, name, points) | about
                points = pd.concat([points, pd.DataFrame([found])], ignore_index=True)
                print(f"{task} {seed} {name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
                if arguments.points:
                    points.to_csv(arguments.points, index=False)
    text = table(points[points["split"].isin(seeds)])
    print(text)
    if arguments.write:
        page = PAGE.read_text()
        between = re.compile(f"(?<={START}\n).*(?={END})", re.DOTALL)
        assert between.search(page), f"{PAGE} has no {START} and {END}"
        PAGE.write_text(between.sub(lambda _: f"\n{text}\n\n", page))


def row_of(task, seed, name, points):
    """Figures of f and of one model on a split."""
    if name == "two groups":
        scene = prepare(data_of(task), seed=seed)
        return figures(scene, *commod_on(scene))
    scene = prepare(task, seed=seed)
    if name == "commod":
        return figures(scene, *commod_on(scene))
    own = points[(points["task"] == task) & (points["split"] == seed) & (points["name"] == "commod")]
    return figures(scene, *nearest(scene, name, float(own["train"].iloc[0])))


def commod_on(scene):
    """Decisions of COMMOD at the setting that the app opens with, on train and test, and the setting in words."""
    train, settings = scene.train, scene.task.spec.commod_settings
    g = Commod(scene.f, **settings)
    g.fit(
        train.X,
        train.y,
        sensitive_features=train.sensitive_features,
        base_scores=scene.scores_train,
        sample_weight=train.weight,
    )
    return g.predict(train.X), g.predict(scene.test.X), ", ".join(f"{key} {value}" for key, value in settings.items())


def nearest(scene, name, target):
    """The same of the model of a method's sweep whose P-Rule on train is nearest to the target."""
    values, tried = METHODS[name].knob.sweep, {}
    low, high = 0, len(values) - 1
    while low <= high:
        middle = (low + high) // 2
        model = fit_cell(scene, Cell(name, values[middle]), DP, Shared())
        reached = train_p_rule(scene, model.decisions_train)
        tried[abs(reached - target)] = model
        low, high = (middle + 1, high) if reached < target else (low, middle - 1)
    model = tried[min(tried)]
    return model.decisions_train.astype(int), model.decisions_test.astype(int), model.cell.words


def train_p_rule(scene, decided):
    """On the training rows, of the groups that are large enough on test."""
    counts = counts_of_codes(scene.train.sensitive, len(scene.task.groups), scene.train.y, decided)
    return float(CRITERIA[DP].figure.of_counts(counts, scene.group_sizes))


def figures(scene, on_train, on_test, words):
    before, after = scene.figures(scene.decisions_test), scene.figures(np.asarray(on_test))
    return {
        "f": before["p_rule"],
        "g": after["p_rule"],
        "accuracy_f": before["accuracy"],
        "accuracy": after["accuracy"],
        "changed": after["change_rate"],
        "train": train_p_rule(scene, on_train),
        "settings": words,
    }


def table(points):
    """Markdown: one row per method and task."""
    p_rule, accuracy, changed = FIGURES["p_rule"], FIGURES["accuracy"], FIGURES["change_rate"]
    lines = [
        "| | | P-Rule of f | of g | gain | changed | accuracy of f | of g |",
        "|---|---|---|---|---|---|---|---|",
    ]
    notes = []
    for task, rows in points.groupby("task", sort=False):
        means = rows.groupby("name", sort=False)[["f", "g", "accuracy_f", "accuracy", "changed"]].mean()
        gains = rows.assign(gain=rows["g"] - rows["f"]).groupby("name")["gain"]
        first = f"{task} ({len(prepare(task).task.groups)} groups)"
        for place, name in enumerate(name for name in METHODS if name in means.index):  # COMMOD first
            row, told = means.loc[name], METHODS[name]
            marked = f"{told.title}{' ○' if told.needs_sensitive else ''}"
            if gains.size()[name] < gains.size()["commod"]:
                marked += f" ({gains.size()[name]} of {gains.size()['commod']} splits)"
            gain = f"{p_rule.show_difference(gains.mean()[name])} ± {gains.std()[name]:.3f}"
            lines.append(
                f"| {'' if place else first} | {marked} | {p_rule.show(row['f'])} | {p_rule.show(row['g'])} | "
                f"{gain} | {changed.show(row['changed'])} | "
                f"{accuracy.show(row['accuracy_f'])} | {accuracy.show(row['accuracy'])} |"
            )
        two = means.loc["two groups"]
        own, other = gains.mean()["commod"], gains.mean()["two groups"]
        notes.append(
            f"On {task} COMMOD gains {own:.3f} of worst P-Rule; fitted for the two groups of {data_of(task)} it gains "
            f"{other:.3f} on those ({p_rule.show(two['f'])} to {p_rule.show(two['g'])}, {changed.show(two['changed'])} "
            f"changed): {own / other:.2f} of it."
        )
    return "\n".join([*lines, "", *notes])


if __name__ == "__main__":
    main()
