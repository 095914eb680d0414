"""Every check of the models of a match at once, as the benchmark and the tests of Compare need it."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from commod.experiments.checks import COMPARED_REFITS, answer_of_merit, answers_of_decisions, matched_models
from commod.experiments.match import Match
from commod.experiments.refits import refit
from commod.experiments.scene import Scene
from commod.experiments.sweep import Model, Report, Sweep, train_cell
from commod.explain.checks import CHECKS, Answer, check_again


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
