"""Intervals of figures that compare the extreme ones of many groups, without pretending that the pair was known before.

The smallest of many noisy rates is too small and the largest too large, and draws from the sample (a bootstrap) are
further out still. So the figure is taken for what it is, an extreme over all ordered pairs of groups, each of which has
an interval that is sound by itself: Newcombe's (1998) of a difference of rates, Donner and Zou's (2012) of a ratio,
both made from the two rates' own (Wilson 1927). Then

- the outer end, where groups are further apart, is the furthest of all pairs' ends: one of them is the true pair, so no
  more confidence is asked of each than of the figure;
- the inner end, where they are nearer, is the nearest that all pairs allow at once. The confidence of each is raised
  for as many pairs as may be the extreme one (Bonferroni); pairs that are clearly not are not counted, as in the
  intersection bounds of Chernozhukov, Lee and Rosen (2013).

Measured in docs/results.md.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from commod.metrics.counts import Counts, effective_size
from commod.metrics.fairness import Extremes, Values
from commod.metrics.intervals import wilson_interval

Ends = tuple[float, float]


def interval_of_extremes(figure: Extremes, counts: Counts, squares: Counts, confidence: float) -> Ends:
    """The interval of one model's figure, from counts and from those of the squared weights.

    A sum of two differences is an extreme over pairs of pairs. The two are of different people, so reaches add up
    squared.
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
    """First and second of all ordered pairs of n."""
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
