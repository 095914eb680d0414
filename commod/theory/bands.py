"""More than two groups: the best band of rates that K flips can bring all of them into, exact.

Decisions are as unfair as the band [low, high] that holds the groups' rates: low / high is the P-Rule, high − low the
gap. Each group enters a band by the shortest way, so a band costs as many flips as it takes to raise the groups below
and lower the groups above. An end of the best band is a rate that some group can have: there are about as many ends as
people. What flips can then reach is one of three kinds of bands (`_Bands.offers`). The third kind has as many bands as
pairs of ends, but only until the ends meet, which on real data is soon: 0.1 s for ten groups of 15,000 people.

`Shares`: rows of different weights, where people may be flipped in part. (Choosing the best whole rows for a budget is
a knapsack problem; nobody can do better than this bound, and with many rows none weighs enough to do much worse.) The
highest `low` by so much weight is a broken line, bent where another group is reached, and so is the lowest `high`. On a
pair of straight pieces the ratio of the two is monotone and their distance linear, so the best way to share a budget
ends at a bend: a few candidates.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Values = NDArray[np.float64]
# From the ends of bands (each an array) to their unfairness, to be minimised.
Unfairness = Callable[[Values, Values], Values]
# More flips than anybody has.
NEVER = np.iinfo(np.int64).max // 4


class Bands:
    """The ends that bands can have, and the cost of each.

    `acts_on`: which decisions may be flipped. `ends`: every rate that a group can have, rising. `least`, `most`: of
    each group, the fewest positive decisions with that rate or more, and the most with that rate or less. `raised`,
    `lowered`: flips with which no group is below an end, or above it. `lowest_high`, `highest_low`: place of the
    tightest other end that whole people allow.
    """

    def __init__(self, positives: Ints, sizes: Ints, acts_on: str) -> None:
        self.positives = positives
        numerator = np.concatenate([np.arange(size + 1) for size in sizes])
        denominator = np.repeat(sizes, sizes + 1)
        self.ends, place = np.unique(numerator / denominator, return_index=True)  # equal fractions are equal numbers
        scaled, unit = numerator[place, None] * sizes, denominator[place, None]
        self.least, self.most = -(-scaled // unit), scaled // unit
        self.raised = np.maximum(self.least - positives, 0).sum(axis=1)
        self.lowered = np.maximum(positives - self.most, 0).sum(axis=1)
        if acts_on == "negative":
            self.lowered = np.where(self.lowered > 0, NEVER, 0)
        elif acts_on == "positive":
            self.raised = np.where(self.raised > 0, NEVER, 0)
        self.lowest_high = np.searchsorted(self.ends, (self.least / sizes).max(axis=1))
        self.highest_low = np.searchsorted(self.ends, (self.most / sizes).min(axis=1))

    def offers(self, most: int) -> Iterator[tuple[Ints, Ints, Ints]]:
        """Flips, and places of the low and the high end, of all bands that can be the best with at most `most` flips.

        Take the best band for some number of flips. Lower its high end, then raise its low end, as far as flips and the
        other end allow: it gets no worse, and either one end stopped at what whole people allow, or both at what flips
        do.
        """
        every = np.arange(len(self.ends))
        for low, high in ((every, self.lowest_high), (self.highest_low, every)):
            flips = self.raised[low] + self.lowered[high]
            possible = flips <= most
            yield flips[possible], low[possible], high[possible]
        up = np.unique(self.raised[self.raised <= most])
        highest = np.searchsorted(self.raised, up, side="right") - 1  # the highest low end by so many
        for down in np.unique(self.lowered[self.lowered <= most]):
            lowest = int(np.searchsorted(-self.lowered, -down))  # the lowest high end by so many
            n = int(np.searchsorted(highest, self.highest_low[lowest], side="right"))
            n = min(n, int(np.searchsorted(up, most - down, side="right")))
            yield up[:n] + down, highest[:n], np.full(n, lowest)

    def nets(self, low: Ints, high: Ints) -> Ints:
        return np.clip(self.positives, self.least[low], self.most[high]) - self.positives


class BestBands(NamedTuple):
    """For exactly each number of flips: unfairness, and the ends of the band."""

    unfair: Values
    low: Ints
    high: Ints


def best_bands(bands: Bands, most: int, unfairness: Unfairness) -> BestBands:
    """The least unfair band for each number of flips 0 … most; infinite where none takes exactly so many."""
    best = BestBands(np.full(most + 1, np.inf), *np.zeros((2, most + 1), dtype=np.int64))
    for flips, low, high in bands.offers(most):
        unfair = unfairness(bands.ends[low], bands.ends[high])
        if (np.diff(flips) <= 0).any():  # several of equal cost: the best of each
            order = np.lexsort((unfair, flips))
            order = order[np.r_[True, np.diff(flips[order]) > 0]]
            flips, low, high, unfair = flips[order], low[order], high[order], unfair[order]
        better = unfair < best.unfair[flips]
        for kept, offered in zip(best, (unfair, low, high), strict=True):
            kept[flips[better]] = offered[better]
    return best


class Shares:
    """Groups of these weights, `positives` of it decided positively; minimises the `unfairness` of bands."""

    def __init__(
        self, positives: Values, sizes: Values, acts_on: str, unfairness: Callable[[Values, Values], Values]
    ) -> None:
        self.positives, self.sizes, self.acts_on, self.unfairness = positives, sizes, acts_on, unfairness
        rates = positives / sizes
        levels = np.unique(np.r_[0.0, rates, 1.0])
        self.rising, self.falling = levels[levels >= rates.min()], levels[levels <= rates.max()][::-1]
        self.raised = np.maximum(self.rising[:, None] - rates, 0.0) @ sizes  # weight that is flipped, rising
        self.lowered = np.maximum(rates - self.falling[:, None], 0.0) @ sizes
        both = [np.maximum(levels[:, None] - rates, 0.0), np.maximum(rates - levels[:, None], 0.0)]
        self.closed = float(sum(part @ sizes for part in both).min())  # with so much, all rates can be equal

    def bands(self, budgets: Values) -> tuple[Values, Values, Values]:
        """How unfair the best bands are with at most this much weight flipped, and their low and high ends."""
        bends = np.broadcast_to(self.lowered, (len(budgets), len(self.lowered)))
        down = np.concatenate([bends, budgets[:, None] - self.raised], axis=1).clip(0.0, budgets[:, None])
        if self.acts_on != "everybody":
            down = budgets[:, None] * (self.acts_on == "positive")
        high = np.interp(down, self.lowered, self.falling)
        low = np.minimum(np.interp(budgets[:, None] - down, self.raised, self.rising), high)
        unfair = self.unfairness(low, high)
        best = unfair.argmin(axis=1)[:, None]
        unfair, low, high = (np.take_along_axis(each, best, axis=1)[:, 0] for each in (unfair, low, high))
        return unfair, low, high

    def nets(self, low: Values, high: Values) -> Values:
        rates = self.positives / self.sizes
        return (np.clip(rates, low[:, None], high[:, None]) - rates) * self.sizes

    @property
    def bends(self) -> Values:
        """Budgets at which a distance of rates that falls with them can bend."""
        return np.unique(np.r_[np.add.outer(self.lowered, self.raised).ravel(), self.closed])


def best_of_both_labels(labels: list[Shares], budgets: Values) -> tuple[Values, Values]:
    """Least sum of the two labels' gaps with budgets shared between them, and what the first gets.

    Both fall along broken lines, more and more slowly: the best split ends at a bend of one of them.
    """
    first, second = ((shares.bends, shares.bands(shares.bends)[0]) for shares in labels)
    ends = np.broadcast_to(first[0], (len(budgets), len(first[0])))
    spent = np.concatenate([ends, budgets[:, None] - second[0]], axis=1).clip(0.0, budgets[:, None])
    total = np.interp(spent, *first) + np.interp(budgets[:, None] - spent, *second)
    best = total.argmin(axis=1)[:, None]
    return np.take_along_axis(total, best, axis=1)[:, 0], np.take_along_axis(spent, best, axis=1)[:, 0]
