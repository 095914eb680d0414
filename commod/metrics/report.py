"""All figures of a pair (f, g) on one set of rows, with intervals.

Shares have Wilson's intervals, extremes over many groups the intervals below, all others the Bayesian bootstrap.

The smallest of many noisy rates is too small, the largest too large, and bootstrap draws are even further out. So a
figure that compares extremes is treated as an extreme over all ordered pairs of groups. Each pair has a valid interval:
Newcombe's (1998) for a difference of rates, Donner and Zou's (2012) for a ratio, both made from the rates' own (Wilson
1927). Then

- the outer end, where groups are further apart, is the furthest of all pairs' ends: one of them is the true pair, so
  each needs no more confidence than the figure;
- the inner end, where they are closer, is the closest that all pairs allow at once. Each confidence is corrected for
  the number of pairs that may be the extreme one (Bonferroni); pairs that clearly are not do not count, as in the
  intersection bounds of Chernozhukov, Lee and Rosen (2013).

Measured in docs/results.md.
"""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from commod.metrics.calibration import compare_auc, compare_calibration
from commod.metrics.counts import (
    Counts,
    as_binary,
    as_weight,
    effective_size,
    same_length,
    sizes_of_groups,
    tally,
    values_of_groups,
    wilson_interval,
)
from commod.metrics.fairness import Extremes, Values
from commod.metrics.figures import FIGURES, Figure, figure_of, figures_of_counts, wholes_of_counts

N_BOOTSTRAP = 1000
# People added to each of the four cells (Ŷ^f, Ŷ^g) of a stratum: for every rate of one model that is Jeffreys' prior.
PRIOR = 0.25
Ends = tuple[float, float]


def bootstrap_counts(
    counts: Counts, *, squares: Counts | None = None, n_bootstrap: int = N_BOOTSTRAP, seed: int = 0
) -> Counts:
    """Draw counts like these by the Bayesian bootstrap (Rubin 1981) within each stratum (group × label).

    The shares of a stratum's cells follow the Dirichlet distribution of its counts plus `PRIOR`; its size stays fixed.
    Under weights (`squares`: sums of squared weights) a stratum counts with its effective size.
    """
    strata = (-2, -1)
    sizes = counts.sum(axis=strata, keepdims=True)
    people = counts
    if squares is not None:
        squared = squares.sum(axis=strata, keepdims=True)
        people = counts * (sizes / np.where(squared > 0, squared, 1.0))  # effective size over weight: 1 without weights
    drawn = np.random.default_rng(seed).standard_gamma(people + PRIOR, size=(n_bootstrap, *counts.shape))
    return np.asarray(drawn * (sizes / drawn.sum(axis=strata, keepdims=True)))


def compare_decisions(
    y_true: Any,
    predictions_f: Any,
    predictions_g: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    n_groups: int | None = None,
    scores: tuple[Any, Any] | None = None,
    probabilities: tuple[Any, Any] | None = None,
    confidence: float = 0.95,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> pd.DataFrame:
    """Figures of f and g on the same rows, their difference, and intervals.

    Only rows with a known group count. With more than two groups the extremes leave out small ones: see
    `commod.metrics.compared_groups`.

    Parameters
    ----------
    sensitive_features : array (n,), or DataFrame or array (n, columns)
        Any values, missing where the group is unknown; with several columns, the groups are their combinations.
    sample_weight : array (n,), optional
        Numbers of 0 or more. Whole numbers give the figures of repeated rows; intervals use the effective size (Σw)² /
        Σw² (Kish 1965).
    n_groups : int, optional
        For `sensitive_features` that are codes 0 … n_groups − 1, or −1 if unknown: a group without rows then keeps its
        number, and its rates are NaN.
    scores, probabilities : (array, array), optional
        Of f and g; they add ``auc`` (DeLong's intervals) and ``calibration_within_groups`` after the accuracy.

    Returns
    -------
    DataFrame
        One row per figure declared in `commod.metrics.figures`: first the figures of a model (``accuracy, p_rule, …,
        positive_rate_i`` per group), then those of the change (``change_rate, raised_rate`` (0→1), ``lowered_rate``
        (1→0), ``change_rate_i`` per group, …), whose value for f means no change. Columns ``f, g, difference`` (g − f),
        each with ``_low`` and ``_high``. ``dm`` and its parts are missing if a group lacks a label. Intervals: Wilson's
        for shares of people, those above for extremes over more than two groups, otherwise `n_bootstrap` draws within
        group × label, both models on the same draw.
    """
    predictions = {"predictions_f": predictions_f, "predictions_g": predictions_g}
    found = tally(y_true, predictions, sensitive_features, sample_weight, n_groups)
    frame = compare_counts(
        found.counts,
        squares=found.squares,
        rows=found.sizes,
        confidence=confidence,
        n_bootstrap=n_bootstrap,
        seed=seed,
    )
    weight = None if sample_weight is None else np.asarray(sample_weight)[found.kept]
    label = np.asarray(y_true)[found.kept]
    more = {}
    if scores is not None:
        of_f, of_g = _kept(scores, found.kept, "scores")
        more["auc"] = compare_auc(of_f, of_g, label, confidence, sample_weight=weight)
    if probabilities is not None:
        of_f, of_g = _kept(probabilities, found.kept, "probabilities")
        groups = values_of_groups(sensitive_features)[found.kept]
        more["calibration_within_groups"] = compare_calibration(
            label, of_f, of_g, sensitive_features=groups, sample_weight=weight, n_bootstrap=200, seed=seed
        )
    rows = dict(zip(frame.index, frame.to_numpy(), strict=True))
    rows |= {name: [each[column] for column in frame.columns] for name, each in more.items()}
    names = sorted(rows, key=_place)
    index = pd.Index(names, name="figure")
    return pd.DataFrame(np.array([rows[name] for name in names]), index=index, columns=frame.columns)


def _kept(pair: tuple[Any, Any], kept: Any, name: str) -> list[Any]:
    """The values of f and g in the rows that count."""
    same_length(y_true=kept, **{f"{name} of f": pair[0], f"{name} of g": pair[1]})
    return [np.asarray(values)[kept] for values in pair]


def _place(row: str) -> tuple[bool, int]:
    """Where a row stands: figures of a model first, in the order of their declaration."""
    figure = figure_of(row)[0]
    return figure.of_change, list(FIGURES).index(figure.name)


def compare_counts(
    counts: Counts,
    *,
    squares: Counts | None = None,
    rows: Any = None,
    confidence: float = 0.95,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> pd.DataFrame:
    """The same from counts (groups, label, prediction of f, prediction of g).

    Under weights, `squares` are the sums of the squared weights, and `rows` the rows of each group.
    """
    squares = counts if squares is None else squares
    rows = sizes_of_groups(counts) if rows is None else rows
    drawn = bootstrap_counts(counts, squares=squares, n_bootstrap=n_bootstrap, seed=seed)
    both = np.concatenate([counts[None], drawn])
    f, g = figures_of_counts(both.sum(axis=-1), rows), figures_of_counts(both.sum(axis=-2), rows)
    changes = figures_of_counts(both, rows, of_change=True)
    f |= {name: np.full(len(both), figure_of(name)[0].unchanged) for name in changes}
    g |= changes
    names = [name for name in g if name in f]
    before, after = np.array([f[name] for name in names]), np.array([g[name] for name in names])  # (figures, 1 + draws)
    most = np.array([figure_of(name)[0].most for name in names])
    columns: dict[str, np.ndarray] = {}
    for column, values, least in (("f", before, 0.0), ("g", after, 0.0), ("difference", after - before, -1.0)):
        low, high = _of_draws(values, confidence)
        columns[column] = values[:, 0]
        columns[f"{column}_low"], columns[f"{column}_high"] = np.maximum(low, least * most), np.minimum(high, most)
    for i, name in enumerate(names):
        found = _of_extremes(figure_of(name)[0], before[i], after[i], counts, squares, rows, confidence)
        for column, ends in found.items():
            columns[f"{column}_low"][i], columns[f"{column}_high"][i] = ends
    weights, of_squares = wholes_of_counts(counts), wholes_of_counts(squares)
    shares = [names.index(name) for name in weights]
    people = effective_size(list(weights.values()), list(of_squares.values()))
    changed = [names.index(name) for name in changes]
    for column in ("f", "g"):
        low, high = wilson_interval(columns[column][shares] * people, people, confidence)
        columns[f"{column}_low"][shares] = np.where(people > 0, low, 0.0)
        columns[f"{column}_high"][shares] = np.where(people > 0, high, 1.0)
    for end in ("low", "high"):  # f compared with itself is exact
        columns[f"f_{end}"][changed] = columns["f"][changed]
        columns[f"difference_{end}"][changed] = columns[f"g_{end}"][changed] - columns["f"][changed]
    return pd.DataFrame(columns, index=pd.Index(names, name="figure"))


def _of_extremes(
    figure: Figure, of_f: Values, of_g: Values, counts: Counts, squares: Counts, rows: Any, confidence: float
) -> dict[str, Ends]:
    """Ends of the intervals of a figure that compares extreme groups, by column; empty for other figures."""
    formula = figure.formula
    if not isinstance(formula, Extremes):
        return {}

    def ends(axis: int | None) -> Ends:
        own = [figure.counted(each if axis is None else each.sum(axis=axis), rows) for each in (counts, squares)]
        return interval_of_extremes(formula, own[0], own[1], confidence)

    if figure.of_change:
        return {"g": ends(None)}
    f, g = ends(-1), ends(-2)
    low, high = interval_of_difference(of_f, of_g, f, g)
    return {"f": f, "g": g, "difference": (max(low, -figure.most), min(high, figure.most))}


def _of_draws(values: Values, confidence: float) -> tuple[Values, Values]:
    """Ends of intervals from (figures, 1 + draws), the figure itself in front.

    The percentiles of the draws or, if wider, the normal interval with the draws' root mean square distance from the
    figure: where a difference of rates is near 0, most draws are larger, as the sample was.
    """
    figures, draws = values[:, 0], values[:, 1:]
    low, high = np.percentile(draws, [50 * (1 - confidence), 50 * (1 + confidence)], axis=1)
    reach = ndtri(0.5 + confidence / 2) * np.sqrt(((draws - figures[:, None]) ** 2).mean(axis=1))
    return np.minimum(low, figures - reach), np.maximum(high, figures + reach)


def interval_of_extremes(figure: Extremes, counts: Counts, squares: Counts, confidence: float) -> Ends:
    """The interval of one model's figure, from counts and the counts of squared weights.

    A sum of two differences, of different people, is an extreme over pairs of pairs: reaches add up squared.
    """
    rates = [share.rates(counts) for share in figure.shares]
    people = [effective_size(share.people(counts), share.people(squares)) for share in figure.shares]

    @cache
    def ends(confidence: float) -> tuple[Values, Values]:
        """Of every pair; the figure is the smallest of the ratios, or minus the smallest of the differences."""
        found = [(p, *wilson_interval(p * n, n, confidence)) for p, n in zip(rates, people, strict=True)]
        return _ratios(*found[0]) if figure.ratio else _sums([_differences(*each) for each in found])

    def all_of(pairs: int) -> float:
        return 1.0 - (1.0 - confidence) / pairs

    of_each = ends(confidence)[0]
    low, high = ends(all_of(of_each.size))
    candidates = int((low <= high.min()).sum())
    outer, inner = float(of_each.min()), float(ends(all_of(candidates))[1].min())
    return (outer, min(inner, 1.0)) if figure.ratio else (max(-inner, 0.0), min(-outer, float(len(figure.shares))))


@cache
def _pairs(n: int) -> tuple[NDArray[np.intp], ...]:
    return np.nonzero(~np.eye(n, dtype=bool))


def _ordered_pairs(values: Values) -> tuple[Values, Values]:
    first, second = _pairs(len(values))
    return values[first], values[second]


def _differences(rates: Values, low: Values, high: Values) -> tuple[Values, Values, Values]:
    """Of all ordered pairs r − r', with the ends of Newcombe's interval."""
    (p, q), (p_low, q_low), (p_high, q_high) = (_ordered_pairs(values) for values in (rates, low, high))
    return p - q, p - q - np.hypot(p - p_low, q_high - q), p - q + np.hypot(p_high - p, q - q_low)


def _sums(parts: list[tuple[Values, Values, Values]]) -> tuple[Values, Values]:
    """Ends of all sums that take one value of each part."""
    value, low, high = parts[0]
    for other, other_low, other_high in parts[1:]:
        down, up = np.hypot.outer(value - low, other - other_low), np.hypot.outer(high - value, other_high - other)
        value = np.add.outer(value, other)
        low, high = value - down, value + up
    return low, high


def _ratios(rates: Values, low: Values, high: Values) -> tuple[Values, Values]:
    """Of all ordered pairs the ends of Donner and Zou's interval of r / r'; unbounded where r' may be 0."""
    (p, q), (p_low, q_low), (p_high, q_high) = (_ordered_pairs(values) for values in (rates, low, high))

    def terms(p_end: Values, q_end: Values) -> tuple[Values, Values, Values]:
        over, under = p_end * (2 * p - p_end), q_end * (2 * q - q_end)
        return over, under, p * q + np.sqrt(np.maximum((p * q) ** 2 - over * under, 0.0))

    # The ends are the roots of under·x² − 2pq·x + over = 0, the lower one written so that nothing cancels out.
    over, _, both = terms(p_low, q_high)
    lower = np.divide(over, both, out=np.zeros_like(p), where=both > 0)
    _, under, both = terms(p_high, q_low)
    return lower, np.divide(both, under, out=np.full_like(p, np.inf), where=under > 0)


def interval_of_difference(of_f: Values, of_g: Values, ends_f: Ends, ends_g: Ends) -> Ends:
    """The interval of g's figure minus f's, from both intervals and from draws of both on the same people.

    Where f and g move together (correlation 1), both reach the same ends and the difference of the reaches counts;
    where they do not (0), the root of the sum of squares does. `of_f`, `of_g`: the figure, followed by its draws.
    """
    f, g = float(of_f[0]), float(of_g[0])
    apart_f, apart_g = of_f[1:] - of_f[1:].mean(), of_g[1:] - of_g[1:].mean()
    spread = float(np.sqrt((apart_f**2).sum() * (apart_g**2).sum()))
    together = max(0.0, float((apart_f * apart_g).sum()) / spread) if spread > 0 else 0.0
    down_f, up_f, down_g, up_g = f - ends_f[0], ends_f[1] - f, g - ends_g[0], ends_g[1] - g

    def reach(own: float, opposite: float, same: float) -> float:
        return float(np.sqrt((1 - together) * (own**2 + opposite**2) + together * (own - same) ** 2))

    return g - f - reach(down_g, up_f, down_f), g - f + reach(up_g, down_f, up_f)


def change_rate(predictions_f: Any, predictions_g: Any, *, sample_weight: Any = None) -> float:
    """P(Ŷ ≠ Ŷ^f), the share of decisions that differ. Range 0 to 1; at 0, g decides as f does."""
    f, g = as_binary(predictions_f, "predictions_f"), as_binary(predictions_g, "predictions_g")
    weight = None if sample_weight is None else as_weight(sample_weight)
    same_length(predictions_f=f, predictions_g=g, **({} if weight is None else {"sample_weight": weight}))
    return float(np.mean(f != g) if weight is None else np.average(f != g, weights=weight))


def change_table(
    predictions_f: Any, predictions_g: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> pd.DataFrame:
    """Changes by group and direction, one row per group.

    Columns ``count`` (size of the group), ``raised`` and ``lowered`` (decisions that went 0→1 and 1→0), ``changed``
    (their sum), all in rows, and the shares ``raised_rate, lowered_rate, change_rate`` of the group's size, weighted. A
    group is in the table because it has rows, so every share exists.
    """
    predictions = {"predictions_f": predictions_f, "predictions_g": predictions_g}
    found = tally(predictions_f, predictions, sensitive_features, sample_weight)
    rows, counts = found.rows.sum(axis=1), found.counts.sum(axis=1)  # (groups, f, g)
    sizes, raised, lowered = counts.sum(axis=(1, 2)), counts[:, 0, 1], counts[:, 1, 0]
    return pd.DataFrame(
        {
            "count": found.sizes.astype(int),
            "raised": rows[:, 0, 1].astype(int),
            "lowered": rows[:, 1, 0].astype(int),
            "changed": (rows[:, 0, 1] + rows[:, 1, 0]).astype(int),
            "raised_rate": raised / sizes,
            "lowered_rate": lowered / sizes,
            "change_rate": (raised + lowered) / sizes,
        },
        index=pd.Index(found.groups, name="group"),
    )
