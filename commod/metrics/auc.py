"""AUC, the share of pairs that a number ranks rightly, with DeLong's interval; also of two numbers on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["auc_of", "auc_with_interval", "compare_auc"]

Values = NDArray[np.float64]


def auc_of(score: Any, label: Any) -> float:
    """AUC of a number for label 1 against label 0, ties counted half."""
    return float(_placements(score, label)[0].mean())


def auc_with_interval(score: Any, label: Any, confidence: float = 0.95) -> tuple[float, float, float]:
    """AUC of a number for label 1 against label 0, with DeLong's interval; NaN where one of them is missing.

    The chance that a person of label 1 has a larger number than one of label 0, ties counted half. 0.5: it tells
    nothing. DeLong, DeLong and Clarke-Pearson (1988).
    """
    above, below = _placements(score, label)
    return _interval(above, below, confidence, 0.0)


def compare_auc(score_f: Any, score_g: Any, label: Any, confidence: float = 0.95) -> dict[str, float]:
    """AUC of two numbers on the same people and its difference: ``f, g, difference``, with ``_low`` and ``_high``."""
    f, g = _placements(score_f, label), _placements(score_g, label)
    apart = (g[0] - f[0], g[1] - f[1])
    found: dict[str, float] = {}
    for name, parts, least in (("f", f, 0.0), ("g", g, 0.0), ("difference", apart, -1.0)):
        value, low, high = _interval(*parts, confidence, least)
        found |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return found


def _placements(score: Any, label: Any) -> tuple[Values, Values]:
    """Of each of label 1 the share of label 0 below, and of each of label 0 the share of label 1 above; ties half."""
    values, is_one = np.asarray(score, dtype=float), np.asarray(label) == 1
    ones, zeros = values[is_one], values[~is_one]
    if not len(ones) or not len(zeros):
        return np.full(1, np.nan), np.full(1, np.nan)
    return _share_below(np.sort(zeros), ones), 1.0 - _share_below(np.sort(ones), zeros)


def _interval(above: Values, below: Values, confidence: float, least: float) -> tuple[float, float, float]:
    auc = float(above.mean())
    variance = sum(float(part.var(ddof=1)) / len(part) if len(part) > 1 else 0.0 for part in (above, below))
    reach = float(ndtri(0.5 + confidence / 2)) * float(np.sqrt(variance))
    return auc, float(np.maximum(least, auc - reach)), float(np.minimum(1.0, auc + reach))  # NaN stays NaN


def _share_below(of: Values, values: Values) -> Values:
    """For each value the share of `of`, which is sorted, that is smaller, ties counted half."""
    return (np.searchsorted(of, values, side="left") + np.searchsorted(of, values, side="right")) / (2 * len(of))
