"""f's cut-off: the logit above which its decision is positive."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from commod.models.adversary import Array
from commod.models.base_models import CERTAINTY, BaseModel

ONE_HALF = 0.5
# scikit-learn decides positively at the threshold itself, we only above it: a line this much lower does the same.
_AT_IT = 1e-9


def check_threshold(threshold: Any) -> None:
    """Raise unless it is a probability, "budget", "budget:" and a share, or None."""
    if threshold is None or (isinstance(threshold, str) and _share(threshold) is not None):
        return
    number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (number and CERTAINTY <= float(threshold) <= 1 - CERTAINTY):
        raise ValueError(
            "threshold must be a probability between 0 and 1 (both excluded), 'budget' (as many positive decisions as "
            f"there are positive labels) or a share such as 'budget:0.2', got {threshold!r}."
        )


def _share(threshold: str) -> float | None:
    """The share of positive decisions asked for, NaN for that of the labels; None if it is not a budget."""
    kind, _, share = threshold.partition(":")
    try:
        asked = float(share) if share else float("nan")
    except ValueError:
        return None
    return asked if kind == "budget" and not (asked <= 0 or asked >= 1) else None


def budget_threshold(scores: Any, share: float, weight: Array | None = None) -> float:
    """The threshold with a share of `scores` (probabilities) above it, as nearly as possible, by `weight` if given.

    It is midway between two scores, so that rounding moves nobody; equal scores stay on one side.
    """
    ordered = np.unique(np.clip(np.asarray(scores, dtype=float), CERTAINTY, 1 - CERTAINTY))
    if len(ordered) == 1:
        return float(ordered[0])
    cuts = (ordered[1:] + ordered[:-1]) / 2
    order = np.argsort(scores, kind="stable")
    below = np.searchsorted(np.asarray(scores)[order], cuts)
    if weight is None:
        above = 1 - below / len(scores)
    else:
        above = 1 - np.append(0.0, np.cumsum(weight[order]))[below] / weight.sum()
    return float(cuts[np.argmin(np.abs(above - share))])


def logit_of_threshold(
    threshold: Any, base_model: BaseModel, logit: Array, labels: Array, weight: Array | None = None
) -> float:
    """The logit above which f decides positively.

    `threshold`: None is f's own: one half, unless scikit-learn gave it one. `logit`, `labels`, `weight`: of the
    training rows, to which a budget refers.
    """
    check_threshold(threshold)
    if threshold is None:
        return _own_line(base_model)
    if isinstance(threshold, str):
        share = _share(threshold)
        assert share is not None
        scores = 1.0 / (1.0 + np.exp(-logit))
        wanted = float(np.average(labels, weights=weight)) if np.isnan(share) else share
        threshold = budget_threshold(scores, wanted, weight)
    return logit_of(float(threshold))


def _own_line(base_model: BaseModel) -> float:
    f = base_model[-1] if isinstance(base_model, Pipeline) else base_model
    if isinstance(f, FixedThresholdClassifier):
        found = ONE_HALF if f.threshold == "auto" else f.threshold
        if f.threshold == "auto" and not hasattr(f, "predict_proba"):
            found = 0.0
    elif isinstance(f, TunedThresholdClassifierCV):
        found = f.best_threshold_
    else:
        return 0.0
    scored = hasattr(f, "predict_proba")
    if f.response_method == "decision_function" and scored:
        raise ValueError(
            f"The threshold of this {type(f).__name__} is one of its decision_function, and g is made from "
            "predict_proba: pass threshold= as a probability."
        )
    turned = getattr(f, "pos_label", None) is not None and f.pos_label == f.classes_[0]
    line = logit_of(float(np.clip(found, CERTAINTY, 1 - CERTAINTY))) if scored else float(found)
    # Of the other class: at or above its threshold f decides negatively.
    return -line + _AT_IT if turned else line - _AT_IT


def logit_of(p: float) -> float:
    """The logit of a probability; of one half, exactly 0."""
    return float(np.log(p / (1 - p))) if p != ONE_HALF else 0.0
