"""Calibration (of people with a score of 0.8, eight of ten should have the label) and AUC, both with intervals."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from commod.metrics.counts import as_binary, as_weight, codes_of_groups, effective_size, same_length, wilson_interval

N_BINS = 10
N_BOOTSTRAP = 400

_Binned = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def reliability_table(y_true: Any, scores: Any) -> pd.DataFrame:
    """Share of label 1 by bin of the score: the points of a reliability diagram.

    One row per bin that is not empty: ``low, high`` (of the bin), ``count`` (rows), ``mean_score, rate`` (share of
    label 1) and ``rate_low, rate_high``, Wilson's 95 % interval.
    """
    labels, scores, place = _binned(y_true, scores)
    bins = pd.DataFrame({"mean_score": scores, "rate": labels}).groupby(place)
    means, count, edges = bins.mean(), bins.size(), np.linspace(0.0, 1.0, N_BINS + 1)
    low, high = wilson_interval(bins["rate"].sum(), count)
    ends = {"low": edges[means.index], "high": edges[means.index + 1], "count": count}
    return pd.DataFrame(ends).join(means).assign(rate_low=low, rate_high=high).reset_index(drop=True)


def calibration_table(scores_f: Any, scores_g: Any, *, sample_weight: Any = None) -> pd.DataFrame:
    """Calibration of g against f: mean score of g where f's score falls into each bin (paper, App. E).

    One row per bin that is not empty: ``low, high, count`` (rows), ``mean_f, mean_g, sd_g``. On the diagonal (mean_g =
    mean_f, sd small) g keeps f's confidence.
    """
    f, g = (_probabilities(scores, name) for scores, name in ((scores_f, "scores_f"), (scores_g, "scores_g")))
    same_length(scores_f=f, scores_g=g)
    weight, place, rows = _weight(sample_weight, f), _bin_of(f), []
    for i in range(N_BINS):
        own = (place == i) & (weight > 0)
        if own.any():
            mean_f, mean_g = (float(np.average(scores[own], weights=weight[own])) for scores in (f, g))
            variance = float(np.average((g[own] - mean_g) ** 2, weights=weight[own]))
            ends = {"low": i / N_BINS, "high": (i + 1) / N_BINS, "count": int(own.sum())}
            rows.append(ends | {"mean_f": mean_f, "mean_g": mean_g, "sd_g": variance**0.5})
    return pd.DataFrame(rows)


def _resampled(weight: np.ndarray, rng: np.random.Generator, n_bootstrap: int) -> np.ndarray:
    """Weights of the people as they are, followed by the weights in each resample."""
    n = len(weight)
    return np.asarray(np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), n_bootstrap)]) * weight)


def calibration_by_group(
    y_true: Any,
    scores_f: Any,
    scores_g: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> pd.DataFrame:
    """Calibration error of f and g in each group, and its change, without what chance adds.

    The error is the mean |share of label 1 − mean score| over equal bins of the score, weighed by their people (Naeini
    et al. 2015). Chance alone makes it larger than 0. To remove that, the gaps of all bins are shrunk by one factor
    until gaps and noise together give the measured value.

    Returns
    -------
    DataFrame
        One row per group: ``count`` and, for ``f, g, difference`` (g − f), the value with ``_low, _high``, 95 %: the
        measured value ± 1.96 bootstrap standard errors within the group, both models on the same resample, with chance
        taken off both ends. For the difference, the reaches of both are added.
    """
    codes, groups = codes_of_groups(sensitive_features)
    weight, rng, rows = _weight(sample_weight, codes), np.random.default_rng(seed), {}
    for code, group in enumerate(groups):
        at = np.flatnonzero((codes == code) & (weight > 0))
        if len(at):
            weights = _resampled(weight[at], rng, n_bootstrap)
            binned = [_binned(y_true, each, at) for each in (scores_f, scores_g)]
            rows[group] = {"count": len(at)} | _compared(weights, binned, N_BINS)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("group")


def compare_calibration(
    y_true: Any,
    scores_f: Any,
    scores_g: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> dict[str, float]:
    """Calibration error within groups: the mean of the groups' errors by their size, minus what chance adds.

    ``f, g, difference`` with ``_low, _high`` as in `calibration_by_group`, people drawn from all groups together.
    """
    codes, groups = codes_of_groups(sensitive_features)
    weight = _weight(sample_weight, codes)
    at = np.flatnonzero((codes >= 0) & (weight > 0))
    weights = _resampled(weight[at], np.random.default_rng(seed), n_bootstrap)
    binned = [_binned(y_true, scores, at) for scores in (scores_f, scores_g)]
    binned = [(labels, scores, codes[at] * N_BINS + place) for labels, scores, place in binned]
    return _compared(weights, binned, len(groups) * N_BINS)


def _compared(weights: NDArray[np.float64], binned: list[_Binned], n_bins: int) -> dict[str, float]:
    """``f, g, difference`` with ``_low, _high``, from weights of the people and of resamples."""
    row: dict[str, float] = {}
    draws = []
    for name, (labels, scores, place) in zip("fg", binned, strict=True):
        found = _errors(weights, labels - scores, place, n_bins)
        reach = 1.96 * float(found[1:].std())
        value, low, high = _without_chance(weights[0], labels, scores, place, n_bins, (0.0, -reach, reach))
        row |= {name: value, f"{name}_low": low, f"{name}_high": min(1.0, high)}
        draws.append(found)
    difference, same = row["g"] - row["f"], np.array_equal(draws[0], draws[1])
    down, up = (
        0.0 if same else abs(row["g"] - row[f"g_{ends[0]}"]) + abs(row["f"] - row[f"f_{ends[1]}"])
        for ends in (("low", "high"), ("high", "low"))
    )
    return row | {"difference": difference, "difference_low": difference - down, "difference_high": difference + up}


def _without_chance(
    weight: NDArray[np.float64], labels: Any, scores: Any, place: Any, n_bins: int, moves: tuple[float, ...]
) -> list[float]:
    """The errors that make the measured one, moved by so much, the expected one: gaps g·t of all bins, with one t.

    A bin's gap is nearly normal with the variance of its labels, so |gap| has the mean of a folded normal.
    """
    sums, noise, size = (
        np.bincount(place, weights=each, minlength=n_bins)
        for each in (weight * (labels - scores), weight**2 * scores * (1 - scores), weight)
    )
    rate = np.bincount(place, weights=weight * labels, minlength=n_bins) / np.maximum(size, 1e-300)
    observed = np.bincount(place, weights=weight**2, minlength=n_bins) * rate * (1 - rate)
    gap, sd = np.abs(sums) / size.sum(), np.sqrt(np.maximum(noise, observed)) / size.sum()
    gap, sd = gap[sd > 0], sd[sd > 0]
    measured = float(np.abs(sums).sum() / size.sum())

    def expected(t: float) -> float:
        z = t * gap / sd
        return float((sd * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + t * gap * (2 * ndtr(z) - 1)).sum())

    def solved(value: float) -> float:
        if not len(gap) or not gap.any():
            return max(0.0, value)
        if value <= expected(0.0):
            return 0.0
        return float(brentq(lambda t: expected(t) - value, 0.0, 1.0 + value / gap.sum())) * float(gap.sum())

    return [solved(measured + move) for move in moves]


def _weight(sample_weight: Any, rows: NDArray[Any]) -> NDArray[np.float64]:
    weight = np.ones(len(rows)) if sample_weight is None else as_weight(sample_weight)
    same_length(rows=rows, sample_weight=weight)
    return weight


def _probabilities(scores: Any, name: str) -> NDArray[np.float64]:
    p = np.asarray(scores, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{name} must be probabilities between 0 and 1, one per row.")
    return p


def _bin_of(p: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.minimum((p * N_BINS).astype(int), N_BINS - 1)


def _binned(y_true: Any, scores: Any, at: Any = ...) -> _Binned:
    labels, p = as_binary(np.asarray(y_true)[at], "y_true"), _probabilities(np.asarray(scores)[at], "scores")
    same_length(y_true=labels, scores=p)
    return labels.astype(float), p, _bin_of(p)


def _errors(
    weights: NDArray[np.float64], residual: NDArray[np.float64], place: NDArray[np.int64], n_bins: int
) -> NDArray[np.float64]:
    """Expected calibration error of each resample: Σ over bins |Σ weight·(label − score)| / Σ weight."""
    by_bin = np.zeros((len(residual), n_bins))
    by_bin[np.arange(len(residual)), place] = residual
    return np.asarray(np.abs(weights @ by_bin).sum(axis=1) / weights.sum(axis=1))


Values = NDArray[np.float64]
Weight = NDArray[np.float64] | None


def auc_of(score: Any, label: Any) -> float:
    """AUC of a number for label 1 against label 0, ties counted half."""
    ones, zeros = _of_each(score, label)
    return float(_share_below(zeros, None, ones).mean()) if len(ones) and len(zeros) else np.nan


def auc_with_interval(score: Any, label: Any) -> tuple[float, float, float]:
    """AUC of a number for label 1 against label 0, with DeLong's 95 % interval (1988); NaN where one is missing."""
    return _interval(_placements(score, label, (None, None)), (None, None), 0.95, 0.0)


def compare_auc(
    score_f: Any, score_g: Any, label: Any, confidence: float = 0.95, *, sample_weight: Any = None
) -> dict[str, float]:
    """AUC of two numbers on the same people and its difference: ``f, g, difference``, with ``_low`` and ``_high``.

    With weights the intervals use Kish's effective size for each label.
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
    values, is_one = np.asarray(score, dtype=float), np.asarray(label) == 1
    return values[is_one], values[~is_one]


def _placements(score: Any, label: Any, weights: tuple[Weight, Weight]) -> tuple[Values, Values]:
    """For each row of label 1 the share of label 0 below, for each of label 0 the share of label 1 above; ties half."""
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
