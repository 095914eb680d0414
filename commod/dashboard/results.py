"""What the Explore page shows of one fit, computed without Streamlit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from commod.dashboard.settings import Settings
from commod.datasets import Task
from commod.experiments import Scene, Sweep, prepare, sweep_method
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.explain import (
    ChangeTree,
    ShapComparison,
    explain_concepts,
    explain_loadings,
    explain_tree,
    explain_with_shap,
)
from commod.metrics import change_table, compare_decisions
from commod.models import Climb, Commod

__all__ = ["FitResult", "fit_result", "forget_climbs", "shap_comparison", "sweep", "tree_of_changes"]

Report = Callable[[float], None]


@dataclass(frozen=True)
class FitResult:
    """One fit and every frame drawn from it."""

    settings: Settings
    scene: Scene
    g: Commod
    seconds: float
    path: pd.DataFrame  # λ_fair, fairness, accuracy, change_rate on test, from f to g
    ratio_test: np.ndarray
    changed_train: np.ndarray
    changed_test: np.ndarray

    # The rest is made when it is first drawn, behind the point in the Pareto view, and then kept.

    @cached_property
    def decisions(self) -> np.ndarray:
        """Of g on test."""
        return (self.ratio_test * self.scene.logit_test > 0).astype(int)

    @cached_property
    def figures(self) -> pd.DataFrame:
        """Figures of f and g on test, with intervals."""
        test = self.scene.test
        return compare_decisions(test.y, self.scene.decisions_test, self.decisions, sensitive_features=test.sensitive)

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Changes by group and direction, on test."""
        return change_table(self.scene.decisions_test, self.decisions, sensitive_features=self.scene.test.sensitive)

    @cached_property
    def loadings(self) -> pd.DataFrame:
        return explain_loadings(self.g, self.task)

    @cached_property
    def concepts(self) -> pd.DataFrame:
        values = self.scene.encoded_test @ self.g.concepts_.to_numpy()
        activations = pd.DataFrame(values, columns=self.g.concepts_.columns)
        return explain_concepts(self.g, self.task, activations, self.scene.decisions_test, self.decisions)

    @property
    def smallest_ratio(self) -> float:
        return float(self.ratio_test.min())

    @property
    def task(self) -> Task:
        return self.scene.task

    @property
    def converged(self) -> bool:
        return bool(self.g.converged_)


@lru_cache(maxsize=8)
def _climb(scene: tuple[str, str, str, int], lambda_ratio: float, lambda_concepts: float) -> Climb:
    """What has been climbed on one line of the λ_fair slider; for the few lines in use, since each holds its data."""
    return Climb()


def forget_climbs() -> None:
    """Drop all that has been climbed: each holds its data."""
    _climb.cache_clear()


def _train(scene: Scene, settings: Settings, report: Report | None, climb: Climb | None = None) -> Commod:
    """Fit COMMOD at `settings`, reporting the share done."""

    def progress(step: int, n_steps: int, _: Any) -> None:
        if report is not None:
            report(step / (n_steps + 1))

    train = scene.train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page tells it from converged_
        return Commod(scene.f, **settings.commod_arguments()).fit(
            train.X,
            train.y,
            sensitive_features=train.sensitive,
            base_scores=scene.scores_train,
            callback=progress,
            climb=climb,
        )


def fit_result(settings: Settings, report: Report | None = None) -> FitResult:
    """Train COMMOD at `settings`."""
    scene = prepare(settings.data, settings.f, settings.seed)
    started = time.perf_counter()
    g = _train(scene, settings, report, _climb(settings.scene(), settings.lambda_ratio, settings.lambda_concepts))
    seconds = time.perf_counter() - started
    ratio, ratio_train = g.rescaler_(scene.encoded_test), g.rescaler_(scene.encoded_train)
    return FitResult(
        settings=settings.model(),
        scene=scene,
        g=g,
        seconds=seconds,
        path=_path(g, scene, settings.fairness),
        ratio_test=ratio,
        changed_train=(ratio_train < 0) & (scene.scores_train != 0.5),
        changed_test=(ratio < 0) & (scene.logit_test != 0),
    )


def _path(g: Commod, scene: Scene, fairness: str) -> pd.DataFrame:
    """Test figures at each point of the solver's path."""
    rows = []
    for lambda_fair, rescaler in zip(g.path_["lambda_fair"], g.path_rescalers_, strict=True):
        after = (rescaler(scene.encoded_test) * scene.logit_test > 0).astype(int)
        figures = scene.figures(after)
        rows.append(
            {
                "lambda_fair": float(lambda_fair),
                "fairness": figures[FAIRNESS_FIGURES[fairness]],
                "accuracy": figures["accuracy"],
                "change_rate": figures["change_rate"],
            }
        )
    return pd.DataFrame(rows)


def sweep(method: str, scene: tuple[str, str, str, int], report: Report | None = None) -> Sweep:
    """All models of a method on a scene (data, criterion, f, split)."""
    data, fairness, f, seed = scene
    return sweep_method(prepare(data, f, seed), method, fairness, report)


def tree_of_changes(result: FitResult, depth: int) -> ChangeTree:
    """The tree of `explain_tree`, fitted on the training rows and read out on the test rows."""
    scene = result.scene
    return explain_tree(
        result.task,
        result.g.encoder_,
        scene.train.X,
        result.changed_train,
        scene.test.X,
        result.changed_test,
        depth,
    )


def shap_comparison(result: FitResult, report: Report | None = None) -> ShapComparison:
    """SHAP beside COMMOD on the test rows."""
    return explain_with_shap(result.g, result.task, result.scene.test.X, callback=report)
