"""Whether scores mean what they say: of those with a score of 0.8, eight of ten should have the label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.metrics.counts import as_binary, as_weight, codes_of_groups, effective_size, same_length
from commod.metrics.intervals import wilson_interval

__all__ = ["calibration_by_group", "compare_calibration", "expected_calibration_error", "reliability_table"]

N_BINS = 10
N_BOOTSTRAP = 400


def expected_calibration_error(y_true: Any, scores: Any, *, n_bins: int = N_BINS, sample_weight: Any = None) -> float:
    """Mean |share of label 1 − mean score| over equal bins of the score, weighed by their rows.

    Range 0 to 1; 0 means calibrated on these bins. Chance alone makes it larger than 0, the more so on few rows. Naeini
    et al. (2015).
    """
    labels, scores, place = _binned(y_true, scores, n_bins)
    weight = _weight(sample_weight, labels)
    return float(_errors(weight[None], labels - scores, place, n_bins)[0])


def reliability_table(y_true: Any, scores: Any, *, n_bins: int = N_BINS, sample_weight: Any = None) -> pd.DataFrame:
    """Share of label 1 by bin of the score: the points of a reliability diagram.

    Returns
    -------
    DataFrame
        One row per bin that is not empty: ``low, high`` (of the bin), ``count`` (rows), ``mean_score, rate`` (share of
        label 1) and ``rate_low, rate_high``, Wilson's 95 % interval; under weights with Kish's effective size.
    """
    labels, scores, place = _binned(y_true, scores, n_bins)
    weight = _weight(sample_weight, labels)
    size, squares, positives, total = (
        np.bincount(place, weights=values, minlength=n_bins)
        for values in (weight, weight**2, weight * labels, weight * scores)
    )
    used = size > 0
    size, squares, positives, total = size[used], squares[used], positives[used], total[used]
    people = effective_size(size, squares)
    low, high = wilson_interval(positives * (people / size), people)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    return pd.DataFrame(
        {
            "low": edges[:-1][used],
            "high": edges[1:][used],
            "count": np.bincount(place[weight > 0], minlength=n_bins)[used],
            "mean_score": total / size,
            "rate": positives / size,
            "rate_low": low,
            "rate_high": high,
        }
    )


def _resampled(weight: np.ndarray, rng: np.random.Generator, n_bootstrap: int) -> np.ndarray:
    """Weights of the people as they are, and under them those of each resample."""
    n = len(weight)
    return np.asarray(np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), n_bootstrap)]) * weight)


def calibration_by_group(
    y_true: Any,
    scores_f: Any,
    scores_g: Any,
    *,
    sensitive_features: Any,
    n_bins: int = N_BINS,
    sample_weight: Any = None,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> pd.DataFrame:
    """Expected calibration error of f and of g in each group, and what the change did to it.

    Returns
    -------
    DataFrame
        One row per group, indexed by its value: ``count`` and, for ``f, g, difference`` (g − f), the value with
        ``_low, _high``, 95 %: ± 1.96 standard errors by the bootstrap within the group, both models on the same
        resample. (Its percentiles would lie too high: resampling adds to the error what chance has added already.)
    """
    codes, groups = codes_of_groups(sensitive_features)
    weight = _weight(sample_weight, codes)
    rng = np.random.default_rng(seed)
    rows = {}
    for code, group in enumerate(groups):
        at = np.flatnonzero((codes == code) & (weight > 0))
        if not len(at):
            continue
        found = {}
        weights = _resampled(weight[at], rng, n_bootstrap)
        for name, scores in (("f", scores_f), ("g", scores_g)):
            labels, own, place = _binned(np.asarray(y_true)[at], np.asarray(scores, dtype=float)[at], n_bins)
            found[name] = _errors(weights, labels - own, place, n_bins)
        rows[group] = {"count": len(at)} | _with_intervals(found["f"], found["g"])
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("group")


def compare_calibration(
    y_true: Any,
    scores_f: Any,
    scores_g: Any,
    *,
    sensitive_features: Any,
    n_bins: int = N_BINS,
    sample_weight: Any = None,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> dict[str, float]:
    """Calibration error within groups, Σ over groups of their share of the people times their calibration error.

    0 only if the scores are calibrated, on these bins, in every group. ``f, g, difference`` with ``_low, _high`` as of
    `calibration_by_group`, the people drawn from all groups together.
    """
    codes, groups = codes_of_groups(sensitive_features)
    weight = _weight(sample_weight, codes)
    at = np.flatnonzero((codes >= 0) & (weight > 0))
    weights = _resampled(weight[at], np.random.default_rng(seed), n_bootstrap)
    errors = []
    for scores in (scores_f, scores_g):
        labels, own, place = _binned(np.asarray(y_true)[at], np.asarray(scores, dtype=float)[at], n_bins)
        errors.append(_errors(weights, labels - own, codes[at] * n_bins + place, len(groups) * n_bins))
    return _with_intervals(*errors)


def _with_intervals(of_f: NDArray[np.float64], of_g: NDArray[np.float64]) -> dict[str, float]:
    """``f, g, difference`` with ``_low, _high``, from errors (1 + draws,) of both models."""
    row: dict[str, float] = {}
    for name, values, least in (("f", of_f, 0.0), ("g", of_g, 0.0), ("difference", of_g - of_f, -1.0)):
        value, reach = float(values[0]), 1.96 * float(values[1:].std())
        row |= {name: value, f"{name}_low": max(least, value - reach), f"{name}_high": min(1.0, value + reach)}
    return row


def _weight(sample_weight: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    weight = np.ones(len(rows)) if sample_weight is None else as_weight(sample_weight)
    same_length(rows=rows, sample_weight=weight)
    return weight


def _binned(y_true: Any, scores: Any, n_bins: int) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
    labels, p = as_binary(y_true, "y_true"), np.asarray(scores, dtype=float)
    if p.shape != labels.shape or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("scores must be probabilities between 0 and 1, one for each label.")
    return labels.astype(float), p, np.minimum((p * n_bins).astype(int), n_bins - 1)


def _errors(
    weights: NDArray[np.float64], residual: NDArray[np.float64], place: NDArray[np.int64], n_bins: int
) -> NDArray[np.float64]:
    """Expected calibration error of each resample: Σ over bins |Σ weight·(label − score)| / Σ weight."""
    by_bin = np.zeros((len(residual), n_bins))
    by_bin[np.arange(len(residual)), place] = residual
    return np.asarray(np.abs(weights @ by_bin).sum(axis=1) / weights.sum(axis=1))
