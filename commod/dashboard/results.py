"""What the Explore page shows of one fit, computed without Streamlit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from commod.dashboard.settings import Settings, in_words
from commod.datasets import Split, Task, load_task
from commod.explain import (
    ChangeTree,
    ShapComparison,
    explain_concepts,
    explain_loadings,
    explain_tree,
    explain_with_shap,
)
from commod.metrics import change_table, compare_decisions
from commod.metrics.report import figures_of_counts
from commod.models import Climb, Commod
from commod.models.base_models import train_base_model
from commod.models.base_scores import base_logits

__all__ = ["FitResult", "fairness_figure", "fit_result", "frontier", "prepare", "shap_comparison", "tree_of_changes"]

Report = Callable[[float], None]

# λ_ratio values of the background sweep; each gives one line, λ_fair from 0 to 10 along it.
SWEEP_RATIOS = (0.0, 0.02, 0.1, 0.3)
SWEEP_FAIR = 10.0


@dataclass(frozen=True)
class Prepared:
    """A split with its trained f; shared by every fit on it."""

    task: Task
    train: Split
    test: Split
    f: Pipeline
    scores_train: np.ndarray
    logit_test: np.ndarray
    encoded_train: np.ndarray  # by f's own encoder, which is fitted on the rows that r's is fitted on
    encoded_test: np.ndarray
    cell_test: np.ndarray  # group and label of each test row as one number, 2·s + y

    @property
    def decisions_test(self) -> np.ndarray:
        return (self.logit_test > 0).astype(int)


@dataclass(frozen=True)
class FitResult:
    """One fit and every frame drawn from it."""

    settings: Settings
    prepared: Prepared
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
        return (self.ratio_test * self.prepared.logit_test > 0).astype(int)

    @cached_property
    def figures(self) -> pd.DataFrame:
        """Figures of f and g on test, with intervals."""
        test = self.prepared.test
        return compare_decisions(
            test.y, self.prepared.decisions_test, self.decisions, sensitive_features=test.sensitive
        )

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Changes by group and direction, on test."""
        return change_table(
            self.prepared.decisions_test, self.decisions, sensitive_features=self.prepared.test.sensitive
        )

    @cached_property
    def loadings(self) -> pd.DataFrame:
        return explain_loadings(self.g, self.task)

    @cached_property
    def concepts(self) -> pd.DataFrame:
        values = self.prepared.encoded_test @ self.g.concepts_.to_numpy()
        activations = pd.DataFrame(values, columns=self.g.concepts_.columns)
        return explain_concepts(self.g, self.task, activations, self.prepared.decisions_test, self.decisions)

    @property
    def smallest_ratio(self) -> float:
        return float(self.ratio_test.min())

    @property
    def task(self) -> Task:
        return self.prepared.task

    @property
    def converged(self) -> bool:
        return bool(self.g.converged_)


_preparing = Lock()


def prepare(data: str, f: str, seed: int) -> Prepared:
    """Split and f of a scene; trained once, kept for a few scenes."""
    with _preparing:
        return _prepare(data, f, seed)


@lru_cache(maxsize=16)
def _prepare(data: str, f: str, seed: int) -> Prepared:
    task = load_task(data)
    train, test = task.split(seed=seed)
    model = train_base_model(task, train, f)
    return Prepared(
        task,
        train,
        test,
        model,
        model.predict_proba(train.X)[:, 1],
        base_logits(model, test.X),
        model[0].transform(train.X),
        model[0].transform(test.X),
        test.sensitive.to_numpy() * 2 + test.y.to_numpy(),
    )


@lru_cache(maxsize=8)
def _climb(scene: tuple[str, str, str, int], lambda_ratio: float, lambda_concepts: float) -> Climb:
    """What has been climbed on one line of the λ_fair slider; for the few lines in use, since each holds its data."""
    return Climb()


def _train(prepared: Prepared, settings: Settings, report: Report | None, climb: Climb | None = None) -> Commod:
    """Fit COMMOD at `settings`, reporting the share done."""

    def progress(step: int, n_steps: int, _: Any) -> None:
        if report is not None:
            report(step / (n_steps + 1))

    train = prepared.train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page tells it from converged_
        return Commod(prepared.f, **settings.commod_arguments()).fit(
            train.X,
            train.y,
            sensitive_features=train.sensitive,
            base_scores=prepared.scores_train,
            callback=progress,
            climb=climb,
        )


def fit_result(settings: Settings, report: Report | None = None) -> FitResult:
    """Train COMMOD at `settings`."""
    prepared = prepare(settings.data, settings.f, settings.seed)
    started = time.perf_counter()
    g = _train(prepared, settings, report, _climb(settings.scene(), settings.lambda_ratio, settings.lambda_concepts))
    seconds = time.perf_counter() - started
    ratio, ratio_train = g.rescaler_(prepared.encoded_test), g.rescaler_(prepared.encoded_train)
    return FitResult(
        settings=settings.model(),
        prepared=prepared,
        g=g,
        seconds=seconds,
        path=_path(g, prepared, settings.fairness),
        ratio_test=ratio,
        changed_train=(ratio_train < 0) & (prepared.scores_train != 0.5),
        changed_test=(ratio < 0) & (prepared.logit_test != 0),
    )


def fairness_figure(fairness: str) -> str:
    """Name of the figure that measures a criterion."""
    return "p_rule" if fairness == "demographic_parity" else "dm"


def _path(g: Commod, prepared: Prepared, fairness: str) -> pd.DataFrame:
    """Test figures at each point of the solver's path."""
    logit, before = prepared.logit_test, prepared.decisions_test
    rows = []
    for lambda_fair, rescaler in zip(g.path_["lambda_fair"], g.path_rescalers_, strict=True):
        after = (rescaler(prepared.encoded_test) * logit > 0).astype(int)
        counts = np.bincount(prepared.cell_test * 2 + after, minlength=8).reshape(2, 2, 2).astype(float)
        figures = figures_of_counts(counts)
        rows.append(
            {
                "lambda_fair": float(lambda_fair),
                "fairness": float(figures[fairness_figure(fairness)]),
                "accuracy": float(figures["accuracy"]),
                "change_rate": float(np.mean(before != after)),
            }
        )
    return pd.DataFrame(rows)


def frontier(data: str, fairness: str, f: str, seed: int, report: Report | None = None) -> pd.DataFrame:
    """A sweep of the data set: for each λ_ratio, the path of λ_fair from 0 to 10, on test.

    Columns ``lambda_ratio, lambda_fair, fairness, accuracy, change_rate, settings`` and ``best``: whether no other
    point of the sweep is fairer and at least as accurate, or more accurate and at least as fair.
    """
    prepared = prepare(data, f, seed)
    frames = []
    for i, lambda_ratio in enumerate(SWEEP_RATIOS):
        settings = Settings(
            data, fairness, f, SWEEP_FAIR, lambda_ratio=lambda_ratio, lambda_concepts=0.01, k=1, seed=seed
        )

        def share_of_all(share: float, i: int = i) -> None:
            if report is not None:
                report((i + share) / len(SWEEP_RATIOS))

        g = _train(prepared, settings, share_of_all)
        path = _path(g, prepared, fairness)
        words = [in_words(replace(settings, lambda_fair=value)) for value in path["lambda_fair"]]
        frames.append(path.assign(lambda_ratio=lambda_ratio, settings=words))
    sweep = pd.concat(frames, ignore_index=True)
    gain = sweep["fairness"] if fairness == "demographic_parity" else -sweep["fairness"]
    return sweep.assign(best=_undominated(gain.to_numpy(), sweep["accuracy"].to_numpy()))


def _undominated(gain: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """Which points no other beats in one of the two without losing in the other."""
    better = (gain >= gain[:, None]) & (accuracy >= accuracy[:, None])
    strictly = (gain > gain[:, None]) | (accuracy > accuracy[:, None])
    beaten: np.ndarray = np.asarray((better & strictly).any(axis=1))
    return ~beaten


def tree_of_changes(result: FitResult, depth: int) -> ChangeTree:
    """The tree of `explain_tree`, fitted on the training rows and read out on the test rows."""
    prepared = result.prepared
    return explain_tree(
        result.task,
        result.g.encoder_,
        prepared.train.X,
        result.changed_train,
        prepared.test.X,
        result.changed_test,
        depth,
    )


def shap_comparison(result: FitResult, report: Report | None = None) -> ShapComparison:
    """SHAP beside COMMOD on the test rows."""
    return explain_with_shap(result.g, result.task, result.prepared.test.X, callback=report)
