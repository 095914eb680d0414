"""AUC, the share of pairs that a number ranks rightly, with DeLong's interval; also of two numbers on the same rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from commod.metrics.counts import as_weight, effective_size

Values = NDArray[np.float64]
Weight = NDArray[np.float64] | None


def auc_of(score: Any, label: Any) -> float:
    """AUC of a number for label 1 against label 0, ties counted half."""
    ones, zeros = _of_each(score, label)
    return float(_share_below(zeros, None, ones).mean()) if len(ones) and len(zeros) else np.nan


def auc_with_interval(score: Any, label: Any) -> tuple[float, float, float]:
    """AUC of a number for label 1 against label 0, with DeLong's 95 % interval; NaN where one of them is missing.

    The chance that a person of label 1 has a larger number than one of label 0, ties counted half (DeLong, DeLong and
    Clarke-Pearson 1988).
    """
    return _interval(_placements(score, label, (None, None)), (None, None), 0.95, 0.0)


def compare_auc(
    score_f: Any, score_g: Any, label: Any, confidence: float = 0.95, *, sample_weight: Any = None
) -> dict[str, float]:
    """AUC of two numbers on the same people and its difference: ``f, g, difference``, with ``_low`` and ``_high``.

    With weights the intervals rest on Kish's effective size of either label.
    """
    weights: tuple[Weight, Weight] = (None, None)
    if sample_weight is not None:
        weight, is_one = as_weight(sample_weight), np.asarray(label) == 1
        weights = weight[is_one], weight[~is_one]
    f, g = _placements(score_f, label, weights), _placements(score_g, label, weights)
    apart = (g[0] - f[0], g[1] - f[1])
    found: dict[str, float] = {}
    for name, parts, least in (("f", f, 0.0), ("g", g, 0.0), ("difference", apart, -1.0)):
        value, low, high = _interval(parts, weights, confidence, least)
        found |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return found


def _of_each(score: Any, label: Any) -> tuple[Values, Values]:
    """Scores of label 1 and of label 0."""
    values, is_one = np.asarray(score, dtype=float), np.asarray(label) == 1
    return values[is_one], values[~is_one]


def _placements(score: Any, label: Any, weights: tuple[Weight, Weight]) -> tuple[Values, Values]:
    """Of each of label 1 the share of label 0 below, and of each of label 0 the share of label 1 above; ties half."""
    ones, zeros = _of_each(score, label)
    if not len(ones) or not len(zeros):
        return np.full(len(ones), np.nan), np.full(len(zeros), np.nan)
    return _share_below(zeros, weights[1], ones), 1.0 - _share_below(ones, weights[0], zeros)


def _interval(
    parts: tuple[Values, Values], weights: tuple[Weight, Weight], confidence: float, least: float
) -> tuple[float, float, float]:
    if not all(len(part) for part in parts):
        return np.nan, np.nan, np.nan
    (auc, above), (_, below) = (_mean(part, weight) for part, weight in zip(parts, weights, strict=True))
    reach = float(ndtri(0.5 + confidence / 2)) * float(np.sqrt(above + below))
    return auc, float(np.maximum(least, auc - reach)), float(np.minimum(1.0, auc + reach))


def _mean(values: Values, weight: Weight) -> tuple[float, float]:
    """The mean and its variance."""
    if weight is None:
        return float(values.mean()), float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    mean = float(np.average(values, weights=weight))
    people = float(effective_size(weight.sum(), (weight**2).sum()))
    spread = float(np.average((values - mean) ** 2, weights=weight))
    return mean, spread / (people - 1.0) if people > 1 else 0.0


def _share_below(of: Values, weight: Weight, values: Values) -> Values:
    """For each value the share of `of` that is smaller, ties counted half."""
    order = np.argsort(of)
    smaller, not_larger = (np.searchsorted(of[order], values, side=side) for side in ("left", "right"))
    if weight is None:
        return np.asarray((smaller + not_larger) / (2 * len(of)))
    up_to = np.r_[0.0, np.cumsum(weight[order])]
    return np.asarray((up_to[smaller] + up_to[not_larger]) / (2 * up_to[-1]))
