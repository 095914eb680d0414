"""People held out of the training rows, to judge settings by; the test rows are not touched.

f is trained again in each fold if possible, so that its scores there are those of a model on new people.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from commod.datasets import Split, TabularEncoder
from commod.explain.checks import SURE, certainty
from commod.metrics.counts import Counts, counts_of_codes
from commod.models import Commod
from commod.models.base_models import BaseModel, base_logits, fit_weighted
from commod.models.threshold import logit_of_threshold

# The values that may be found, which the app's sliders can show.
LAMBDA_GRIDS: dict[str, tuple[float, ...]] = {
    "lambda_fair": tuple([i * 0.25 for i in range(17)] + [4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0]),
    "lambda_ratio": (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "lambda_concepts": (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
FOLDS = 3


@dataclass(frozen=True)
class Fold:
    """Rows to train on, and rows to judge by."""

    fit: Split
    f: BaseModel
    scores: np.ndarray  # of f on the rows of `fit`
    held: Split
    logit: np.ndarray  # of f on the held-out rows, minus the threshold's
    line: float  # that logit

    def counts(self, g: Commod, n_groups: int) -> Counts:
        """Held-out people (effective size) by group, label, f, g, and whether f was sure, (groups, 2, 2, 2, 2)."""
        held, after, weight = self.held, g.decision_function(self.held.X) > 0, effective_weight(self.held)
        codes, sure = held.sensitive.to_numpy(), certainty(self.logit, self.line) > SURE
        parts = [
            counts_of_codes(np.where(sure == here, codes, -1), n_groups, held.y, self.logit > 0, after, weight)
            for here in (False, True)
        ]
        return np.stack(parts, axis=-1)


def effective_weight(rows: Split) -> np.ndarray | None:
    """Weights of rows, in a unit in which they add up to Kish's effective size; None if all count one."""
    if rows.weight is None:
        return None
    weight = rows.weight.to_numpy(dtype=float)
    return np.asarray(weight * weight.sum() / (weight**2).sum())


def folds_of(
    train: Split, f: BaseModel, threshold: float | str | None, compared: np.ndarray, count: int = FOLDS
) -> list[Fold]:
    """The training rows in folds, within group and label; f is trained again in each if possible."""
    cell = (2 * train.sensitive + train.y).to_numpy()
    sizes = np.bincount(cell[cell >= 0], minlength=2 * len(compared))
    smallest = int(sizes.reshape(-1, 2)[compared].min())
    if smallest < count:
        raise ValueError(
            f"One group has only {smallest} training rows of some label: too few to hold any out. Use more data."
        )
    # Cells of few people, whose groups are not compared, are split together with the largest.
    cell = np.where((cell >= 0) & (sizes[cell] < count), sizes.argmax(), cell)
    folds = []
    for inside, outside in StratifiedKFold(count, shuffle=True, random_state=0).split(train.X, cell):
        fit, held = train.take(inside), train.take(outside)
        own = _trained_anew(f, fit) if isinstance(f, BaseEstimator) else f
        logit = base_logits(own, fit.X)
        line = logit_of_line(threshold, own, logit, fit)
        folds.append(Fold(fit, own, probabilities(logit), held, base_logits(own, held.X) - line, line))
    return folds


def _trained_anew(f: BaseEstimator, rows: Split) -> BaseModel:
    """The same f on other rows, by their weights where it is one of ours."""
    ours = isinstance(f, Pipeline) and len(f) == 2 and isinstance(f[0], TabularEncoder)
    return fit_weighted(clone(f), rows.X, rows.y, rows.weight if ours else None)


def probabilities(logit: np.ndarray) -> np.ndarray:
    """Of the positive class."""
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def logit_of_line(threshold: float | str | None, f: BaseModel, logit: np.ndarray, rows: Split) -> float:
    """The logit above which f decides positively, on rows where f has `logit`."""
    weight = None if rows.weight is None else rows.weight.to_numpy(dtype=float)
    return logit_of_threshold(threshold, f, logit, rows.y.to_numpy(dtype=float), weight)
