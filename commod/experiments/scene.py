"""A scene: a data set, a split of it and a trained f. Models can be compared only on one and the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

import numpy as np
from sklearn.pipeline import Pipeline

from commod.datasets import Split, Task, load_task
from commod.metrics.report import figures_of_counts
from commod.models.base_models import train_base_model
from commod.models.base_scores import base_logits

__all__ = ["FAIRNESS_FIGURES", "Scene", "prepare"]

# The figure that measures a criterion.
FAIRNESS_FIGURES = {"demographic_parity": "p_rule", "equalized_odds": "dm"}


@dataclass(frozen=True)
class Scene:
    """A split with its trained f; shared by every fit on it."""

    task: Task
    base_model: str
    seed: int
    train: Split
    test: Split
    f: Pipeline
    scores_train: np.ndarray
    logit_test: np.ndarray
    encoded_train: np.ndarray  # by f's own encoder, which is fitted on the rows that an edit's is fitted on
    encoded_test: np.ndarray
    cell_test: np.ndarray  # group and label of each test row as one number, 2·s + y

    @property
    def decisions_test(self) -> np.ndarray:
        """Of f."""
        return (self.logit_test > 0).astype(int)

    @property
    def scores_test(self) -> np.ndarray:
        """Of f."""
        return np.asarray(1.0 / (1.0 + np.exp(-self.logit_test)))

    @property
    def decisions_train(self) -> np.ndarray:
        """Of f."""
        return (self.scores_train > 0.5).astype(int)

    def figures(self, decisions: np.ndarray) -> dict[str, float]:
        """Accuracy, P-Rule, disparate mistreatment and change rate of decisions on the test rows."""
        counts = np.bincount(self.cell_test * 2 + decisions, minlength=8).reshape(2, 2, 2).astype(float)
        of_counts = figures_of_counts(counts)
        figures = {name: float(of_counts[name]) for name in ("accuracy", "p_rule", "dm")}
        return figures | {"change_rate": float(np.mean(decisions != self.decisions_test))}


_preparing = Lock()


def prepare(data: str, base_model: str = "logistic_regression", seed: int = 0) -> Scene:
    """Split and f of a scene; trained once, kept for a few scenes."""
    with _preparing:
        return _prepare(data, base_model, seed)


@lru_cache(maxsize=16)
def _prepare(data: str, base_model: str, seed: int) -> Scene:
    task = load_task(data)
    train, test = task.split(seed=seed)
    f = train_base_model(task, train, base_model)
    return Scene(
        task,
        base_model,
        seed,
        train,
        test,
        f,
        f.predict_proba(train.X)[:, 1],
        base_logits(f, test.X),
        f[0].transform(train.X),
        f[0].transform(test.X),
        test.sensitive.to_numpy() * 2 + test.y.to_numpy(),
    )
