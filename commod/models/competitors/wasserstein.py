"""Wasserstein-1 post-processing (Jiang et al. 2020): all groups' scores moved to one distribution."""

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array
from commod.models.base_scores import logits_of_probabilities
from commod.models.competitors.base import GroupAwareScored, Rows, chance_of_rows


@dataclass(eq=False, repr=False, kw_only=True)
class Wass1PostProcessing(GroupAwareScored):
    """Move each group's scores along their quantiles to the Wasserstein-1 barycentre of the groups.

    The barycentre minimises Σ_s P(s)·W₁(scores of s, barycentre), the mean move of a score; for one number it is the
    weighted median of the groups' quantile functions at each rank. With two groups that is the larger group's
    distribution: the larger group keeps its scores, and each of the smaller gets the score of the same rank in the
    larger one. Groups of one size share the way. S is needed at predict. Rows all count alike in the quantiles: it
    takes no `sample_weight`.

    Parameters
    ----------
    strength : float, default 1.0
        Share of the way to the barycentre that every score goes. 0 is f; at 1 the scores' distributions are equal, and
        with them the decisions at any threshold.
    random_state : int
        Of the lots by which people with equal scores are spread over their ranks; without ties nothing is random.

    Attributes
    ----------
    quantiles_, sizes_ : list of (m,) arrays, (groups,)
        Sorted training scores of each group, and its number of rows.
    """

    strength: float = 1.0

    def _learn(self, rows: Rows, y: Array) -> None:
        self.sizes_ = np.bincount(rows.groups)
        self.quantiles_ = [np.sort(rows.score[rows.groups == s]) for s in range(len(self.sizes_))]

    def _barycentre(self, rank: Array) -> Array:
        """Quantile function of the barycentre: of the groups' quantiles, the median by their sizes."""
        values = np.array([np.quantile(scores, rank) for scores in self.quantiles_])  # (groups, ranks)
        order = values.argsort(axis=0)
        ordered, below = np.take_along_axis(values, order, axis=0), self.sizes_[order].cumsum(axis=0)
        # The first value at or below which half of the people are; midway to the next where it is exactly half.
        ends = [(2 * below > people).argmax(axis=0) for people in (self.sizes_.sum() - 1, self.sizes_.sum())]
        low, high = (np.take_along_axis(ordered, end[None], axis=0)[0] for end in ends)
        return np.where(ends[0] == ends[1], low, 0.5 * (low + high))

    def _margin(self, rows: Rows) -> Array:
        score, moved = rows.score, rows.score.copy()
        lots = chance_of_rows(rows, self.random_state)
        for s, known in enumerate(self.quantiles_):
            here = rows.groups == s
            # Rank on the scale of np.quantile; equal scores are spread over theirs by lot.
            left, right = (np.searchsorted(known, score[here], side=side) for side in ("left", "right"))
            between = np.interp(score[here], known, np.arange(len(known)))
            place = np.where(right > left, left + lots[here] * (right - left - 1), between)
            rank = np.clip(place / max(len(known) - 1, 1), 0.0, 1.0)
            # Beyond the scores of training the move is that of the outermost one.
            moved[here] += self._barycentre(rank) - np.quantile(known, rank)
        moved = np.clip(moved, 0.0, 1.0)
        return logits_of_probabilities(score + self.strength * (moved - score), len(score), "scores")
