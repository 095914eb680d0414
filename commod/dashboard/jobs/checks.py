"""What is computed to tell whether the changes of a model make sense, without Streamlit."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.jobs.queue import Report
from commod.datasets import Task, add_task, forget_task, is_known
from commod.decisions import verify_record
from commod.experiments import prepare
from commod.experiments.checks import answer_of_merit
from commod.experiments.refits import Ladders, Refits, n_refits, refit
from commod.experiments.scene import SceneKey
from commod.experiments.sweep import Cell, Shared, train_cell
from commod.explain.checks import Answer
from commod.explain.merit import explain_merit
from commod.explain.proxies import explain_proxies
from commod.metrics.calibration import calibration_by_group, reliability_table

# ---- of the model of the sliders ----


@dataclass(frozen=True)
class Evidence:
    """What the page Who changed tells of a model beside what `FitResult` has, on test.

    Attributes
    ----------
    calibration, reliability : DataFrame
        Calibration error of f and g by group, see `calibration_by_group`; and the points of the picture behind it, see
        `reliability_table`, with ``group`` (its name) and ``model`` ("f" or "g").
    proxies : DataFrame
        How well features and concepts tell the group, see `explain_proxies`.
    """

    calibration: pd.DataFrame
    reliability: pd.DataFrame
    proxies: pd.DataFrame


def evidence(result: FitResult, report: Report | None = None) -> Evidence:
    """Calibration and proxies."""
    scene, task = result.scene, result.task
    test, scores = scene.test, {"f": scene.scores_test, "g": result.scores}
    y, groups = test.y.to_numpy(), test.sensitive.to_numpy()
    pictures = [
        reliability_table(y[groups == code], values[groups == code]).assign(group=name, model=model)
        for code, name in enumerate(task.groups)
        for model, values in scores.items()
        if (groups == code).any()
    ]
    activations = (result.activations(scene.encoded_train), result.activations(scene.encoded_test))
    return Evidence(
        calibration_by_group(y, scores["f"], scores["g"], sensitive_features=groups),
        pd.concat(pictures, ignore_index=True),
        explain_proxies(task, scene.train, test, activations),
    )


def merit(result: FitResult, report: Report | None = None) -> pd.DataFrame:
    """For whom more merit hurts."""
    scene, g = result.scene, result.g
    return explain_merit(result.task, scene.test.X, scene.margin_of_f, g.decision_function)


def wanted_refits(result: FitResult) -> int:
    """How often a model is fitted again: at most as often as COMMOD_REFITS in the environment says."""
    count, most = n_refits(result.scene), os.environ.get("COMMOD_REFITS", "")
    return min(count, int(most)) if most.isdecimal() and int(most) > 0 else count


def some_refits(
    result: FitResult, first: int, count: int, ladders: Ladders | None, report: Report | None = None
) -> tuple[Refits, Ladders]:
    """The model fitted again on resampled training rows, so many times from number `first` on; and their ladders."""
    ladders = {} if ladders is None else ladders
    how: dict[str, Any] = {"first": first, "count": count, "ladders": ladders, "report": report}
    return refit(result.scene, result.cell, result.settings.fairness, **how), ladders


# ---- of a model of a sweep ----


@dataclass(frozen=True)
class Retrained:
    """What a model of a sweep tells when it is trained once more: its merit, and how many seconds that took."""

    merit: Answer
    seconds: float


def retrained(scene: SceneKey, fairness: str, cell: Cell, report: Report | None = None) -> Retrained:
    """Whether more merit ever hurts under a model of a sweep."""
    prepared = prepare(*scene)
    started = time.perf_counter()
    trained = train_cell(prepared, cell, fairness, Shared())
    seconds = time.perf_counter() - started
    if report is not None:
        report(0.5)
    return Retrained(answer_of_merit(prepared, trained), seconds)


def refits_of_model(scene: SceneKey, fairness: str, cell: Cell, count: int, report: Report | None = None) -> Refits:
    """A model of a sweep fitted again on resampled training rows."""
    return refit(prepare(*scene), cell, fairness, count=count, report=report)


# ---- of a signed decision ----


def verified(record: Mapping[str, Any], task: Task) -> pd.DataFrame:
    """The model of a signed decision trained again, line by line."""
    if is_known(task.name):  # it ships, or there is no process for this and the data are here
        return verify_record(record, task)
    add_task(task)
    try:
        return verify_record(record, task)
    finally:
        forget_task(task.name)
