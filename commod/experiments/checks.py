"""Do the changes of a model make sense? Every check of any method's model on a scene, and evidence about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.match import Match
from commod.experiments.refits import Refits
from commod.experiments.scene import Scene
from commod.experiments.sweep import Cell, Model, Report, Sweep, Trained, train_cell
from commod.explain.checks import Answer, check_again, check_certainty, check_merit, check_record, explain_record
from commod.explain.groups import explain_proxies
from commod.explain.what_if import explain_merit
from commod.metrics.calibration import calibration_by_group, reliability_table

# Refits per method where methods are compared, including COMMOD: equal effort. They take 1 to 26 s per method on a busy
# core for law_school and compas, and over a minute for AdvDebias, or for LPP on adult.
COMPARED_REFITS = 20


def answers_of_decisions(scene: Scene, decisions: Any, record: pd.DataFrame | None = None) -> dict[str, Answer]:
    """The checks (`AT_HAND`) that need only decisions on the test rows, by name; `record` saves computing it."""
    test, before, after = scene.test, scene.decisions_test, np.asarray(decisions).astype(int)
    if record is None:
        record = explain_record(scene.task, test.y, test.sensitive, before, after, scene.certainty_test)
    found = (check_record(record), check_certainty(scene.certainty_test, before, after))
    return {answer.check.name: answer for answer in found}


def answer_of_merit(scene: Scene, trained: Trained) -> Answer:
    """Whether more merit ever hurts under a model."""
    test = scene.test

    def margin(X: pd.DataFrame) -> np.ndarray:
        return trained.margin(replace(test.take(test.X.index.get_indexer(X.index)), X=X))

    return check_merit(scene.task, explain_merit(scene.task, test.X, scene.margin_of_f, margin))


def retrain(scene: Scene, cell: Cell, fairness: str, report: Report | None = None) -> Answer:
    """Whether more merit ever hurts under a model of a sweep, which is trained again."""
    trained = train_cell(scene, cell, fairness)
    if report is not None:
        report(0.5)
    return answer_of_merit(scene, trained)


def answers_of(scene: Scene, trained: Trained, refits: Refits | None = None) -> dict[str, Answer]:
    """Answers to the checks by name; "again" only if `refits` are given."""
    before, after = scene.decisions_test, (trained.margin(scene.test) > 0).astype(int)
    found = answers_of_decisions(scene, after)
    found["merit"] = answer_of_merit(scene, trained)
    if refits is not None:
        found["again"] = check_again(before != after, refits.share, len(refits))
    return found


def matched_models(match: Match, sweeps: Mapping[str, Sweep]) -> dict[str, Model]:
    """The models side by side in a match, by method."""
    return {row.method: sweeps[str(row.method)].models[int(row.place)] for row in match.table.itertuples()}


@dataclass(frozen=True)
class Evidence:
    """Evidence about a model on test."""

    calibration: pd.DataFrame  # error of f and g by group, see `calibration_by_group`
    reliability: pd.DataFrame  # `reliability_table` of each ``group`` (its name) and ``model`` ("f" or "g")
    proxies: pd.DataFrame  # how well features and concepts predict the group, see `explain_proxies`


def evidence_of(scene: Scene, scores: np.ndarray, activations: tuple[pd.DataFrame, pd.DataFrame]) -> Evidence:
    """Evidence about g from its scores on test and its concepts on training and test rows."""
    test, models = scene.test, {"f": scene.scores_test, "g": scores}
    y, groups = test.y.to_numpy(), test.sensitive.to_numpy()
    pictures = [
        reliability_table(y[groups == code], values[groups == code]).assign(group=name, model=model)
        for code, name in enumerate(scene.task.groups)
        for model, values in models.items()
        if (groups == code).any()
    ]
    return Evidence(
        calibration_by_group(y, models["f"], models["g"], sensitive_features=groups),
        pd.concat(pictures, ignore_index=True),
        explain_proxies(scene.task, scene.train, test, activations),
    )
