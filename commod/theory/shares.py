"""Rows that count differently: the best that flips of so much weight can do, where people may be flipped in part.

Which rows of which weights make the best of a budget is a knapsack problem. If a part of a row may be flipped, rates
can take any value: nobody can do better, and of many rows none weighs so much that the best does much worse. Each group
is raised or lowered into a band of rates [low, high], as in `commod.theory.bands`. The highest `low` by so much weight
is a broken line, bent where another group is reached, and so is the lowest `high`. On a pair of straight pieces the
ratio of the two is monotone and their distance linear, so the best way to share a budget ends at a bend: a few
candidates.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


class Shares:
    """Groups of so much weight, `positives` of it decided positively; `unfairness` of bands is to be small."""

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
        """How unfair the best bands are with at most so much weight flipped, and their low and high ends."""
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
        """How much more weight is decided positively in each group, (bands, groups)."""
        rates = self.positives / self.sizes
        return (np.clip(rates, low[:, None], high[:, None]) - rates) * self.sizes

    @property
    def bends(self) -> Values:
        """Budgets at which a distance of rates that falls with them can bend."""
        return np.unique(np.r_[np.add.outer(self.lowered, self.raised).ravel(), self.closed])


def best_of_both_labels(labels: list[Shares], budgets: Values) -> tuple[Values, Values]:
    """Least sum of the two labels' gaps with budgets shared between them, and what the first gets.

    Both fall along broken lines, ever more slowly: the best share ends at a bend of one of them.
    """
    first, second = ((shares.bends, shares.bands(shares.bends)[0]) for shares in labels)
    ends = np.broadcast_to(first[0], (len(budgets), len(first[0])))
    spent = np.concatenate([ends, budgets[:, None] - second[0]], axis=1).clip(0.0, budgets[:, None])
    total = np.interp(spent, *first) + np.interp(budgets[:, None] - spent, *second)
    best = total.argmin(axis=1)[:, None]
    return np.take_along_axis(total, best, axis=1)[:, 0], np.take_along_axis(spent, best, axis=1)[:, 0]
