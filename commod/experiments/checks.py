"""Do the changes of a model make sense? Every check of any method's model on a scene."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from commod.experiments.match import Match
from commod.experiments.refits import Refits, refit
from commod.experiments.scene import Scene
from commod.experiments.sense import answers_of_decisions
from commod.experiments.sweep import Cell, Model, Report, Sweep, Trained, train_cell
from commod.explain.checks import CHECKS, Answer, check_again, check_merit
from commod.explain.merit import explain_merit

# Refits of each method where methods are compared, COMMOD's too: equal effort. They take 1 to 26 s a method on a busy
# core for law_school and compas, and more than a minute with AdvDebias, or with LPP on adult.
COMPARED_REFITS = 20


def merit_of_model(scene: Scene, trained: Trained) -> pd.DataFrame:
    """For whom one more step of merit hurts, see `explain_merit`."""
    test = scene.test

    def margin(X: pd.DataFrame) -> np.ndarray:
        at = test.X.index.get_indexer(X.index)
        return trained.margin(replace(test.take(at), X=X))

    return explain_merit(scene.task, test.X, scene.margin_of_f, margin)


def answer_of_merit(scene: Scene, trained: Trained) -> Answer:
    """Whether more merit ever hurts under a model."""
    return check_merit(scene.task, merit_of_model(scene, trained))


@dataclass(frozen=True)
class Retrained:
    """What a model of a sweep tells when it is trained once more: its merit, and how many seconds that took."""

    merit: Answer
    seconds: float


def retrain(scene: Scene, cell: Cell, fairness: str, report: Report | None = None) -> Retrained:
    """Whether more merit ever hurts under a model of a sweep."""
    started = time.perf_counter()
    trained = train_cell(scene, cell, fairness)
    seconds = time.perf_counter() - started
    if report is not None:
        report(0.5)
    return Retrained(answer_of_merit(scene, trained), seconds)


def answers_of(scene: Scene, trained: Trained, refits: Refits | None = None) -> dict[str, Answer]:
    """Answers to the checks by name; whether it would happen again only where `refits` are given."""
    before, after = scene.decisions_test, (trained.margin(scene.test) > 0).astype(int)
    found = answers_of_decisions(scene, after)
    found["merit"] = answer_of_merit(scene, trained)
    if refits is not None:
        found["again"] = check_again(before != after, refits.share, len(refits))
    return found


# ---- of the models of several methods ----


def matched_models(match: Match, sweeps: Mapping[str, Sweep]) -> dict[str, Model]:
    """The models side by side in a match, by method."""
    return {row.method: sweeps[str(row.method)].models[int(row.place)] for row in match.table.itertuples()}


def answer_of_refits(
    scene: Scene, model: Model, fairness: str, count: int = COMPARED_REFITS, report: Report | None = None
) -> Answer:
    """Would it happen again? Of a model of a sweep; `count` and `report` as of `refit`."""
    changed = model.decisions_test != scene.decisions_test
    if not changed.any():
        return check_again(changed, np.zeros(len(changed)), count)
    return check_again(changed, refit(scene, model.cell, fairness, count=count, report=report).share, count)


def as_checks(answers: Mapping[str, Mapping[str, Answer]]) -> pd.DataFrame:
    """Answers by method and check as a frame.

    Returns one row per method and check, in the order of `CHECKS`, of those that are answered: ``method, check, mark,
    value`` (the share; NaN where it cannot be told), ``part, whole`` (counts behind it).
    """
    rows = [
        (method, name, found[name].mark, found[name].value, found[name].part, found[name].whole)
        for method, found in answers.items()
        for name in CHECKS
        if name in found
    ]
    return pd.DataFrame(rows, columns=["method", "check", "mark", "value", "part", "whole"])


def checks_of_match(
    scene: Scene, match: Match, sweeps: Mapping[str, Sweep], fairness: str, *, refits: int = COMPARED_REFITS
) -> pd.DataFrame:
    """Every check of the models of a match, see `as_checks`; each method gets as many refits."""
    answers = {}
    for name, model in matched_models(match, sweeps).items():
        answers[name] = answers_of_decisions(scene, model.decisions_test) | {
            "merit": answer_of_merit(scene, train_cell(scene, model.cell, fairness)),
            "again": answer_of_refits(scene, model, fairness, refits),
        }
    return as_checks(answers)
