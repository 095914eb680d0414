"""Information withholding (Pleiss et al. 2017): equal costs for both groups, calibration kept."""

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array
from commod.models.base_scores import logits_of_probabilities
from commod.models.competitors.base import GroupAwareScored, Rows, chance_of_rows
from commod.models.validation import check_choice


@dataclass(eq=False, repr=False, kw_only=True)
class InformationWithholding(GroupAwareScored):
    """Give a share of the better treated group its base rate instead of its score.

    The generalised cost of a group (mean score of its negatives, or 1 − mean score of its positives, or both weighted
    by their frequency) grows linearly with that share, up to the other group's. The scores stay calibrated in each
    group, which is all that can be had beside one equal cost; where even withholding all scores costs less than the
    other group's, all are withheld and the costs stay unequal. It is the cost of *scores* that is made equal: decisions
    at one half may differ more than before. S is needed at predict.

    Parameters
    ----------
    strength : float, default 1.0
        Share of the mixing rate that would equalise the costs. 0 is f.
    cost : {"weighted", "fnr", "fpr"}
        What is made equal.
    fairness : {"equalized_odds"}
        The relaxed form of it that goes with calibration.
    random_state : int
        Of the lots. The same person draws the same lot, alone or among others.

    Attributes
    ----------
    mix_rates_, base_rates_ : (2,)
        Share of each group whose score is withheld (0 for the one that is treated worse), and its share of y = 1.
    """

    strength: float = 1.0
    cost: str = "weighted"
    fairness: str = "equalized_odds"

    def _learn(self, rows: Rows, y: Array) -> None:
        check_choice("cost", self.cost, ("weighted", "fnr", "fpr"))
        groups = [(rows.of(s), y[rows.groups == s]) for s in (0, 1)]
        base = np.array([group.mean(labels) for group, labels in groups])
        costs = np.array([_cost(group.score, group, labels, self.cost) for group, labels in groups])
        # What a group would cost if all its scores were withheld.
        trivial = np.array(
            [
                _cost(np.full(len(labels), rate), group, labels, self.cost)
                for (group, labels), rate in zip(groups, base, strict=True)
            ]
        )
        cheaper = int(np.argmin(costs))
        rates = np.zeros(2)
        room = trivial[cheaper] - costs[cheaper]
        if room > 0:
            rates[cheaper] = min(1.0, (costs.max() - costs[cheaper]) / room)
        self.base_rates_, self.mix_rates_ = base, self.strength * rates

    def _margin(self, rows: Rows) -> Array:
        withheld = chance_of_rows(rows, self.random_state) < self.mix_rates_[rows.groups]
        base = logits_of_probabilities(self.base_rates_, 2, "base rates")[rows.groups]
        return np.where(withheld, base, rows.logit)


def _cost(scores: Array, group: Rows, labels: Array, kind: str) -> float:
    """Generalised false positive or negative rate, or half their sum weighted by how often they can occur."""
    positive = labels == 1
    weight = np.ones(len(scores)) if group.weight is None else group.weight
    mean_0, mean_1 = (float(np.average(scores[here], weights=weight[here])) for here in (~positive, positive))
    false_positive, false_negative = mean_0, 1.0 - mean_1
    if kind == "fpr":
        return false_positive
    if kind == "fnr":
        return false_negative
    rate = float(group.mean(positive))
    return 0.5 * (false_positive * (1.0 - rate) + false_negative * rate)
