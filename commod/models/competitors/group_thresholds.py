"""Rules that decide by group: reject option (ROC), equal opportunity by one number (CFBC), withheld scores (Pleiss)."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from commod.models.adversary import Array
from commod.models.base_models import logits_of_probabilities
from commod.models.competitors.base import GroupAware, GroupAwareScored, Rows, chance_of_rows
from commod.models.validation import check_choice


@dataclass(eq=False, repr=False, kw_only=True)
class OracleROC(GroupAware):
    """Where f is unsure, decide by group: 1 for the group with the lower positive rate, 0 for the other.

    Only the margin moves (aif360 also moves the threshold, which changes more decisions than fairness needs).

    Parameters
    ----------
    margin : float, default 0.1
        A score within this distance of one half (where f's cut-off is moved) is decided by group. At 0, g = f.
    """

    margin: float = 0.1

    def _learn(self, rows: Rows, y: Array) -> None:
        rates = [group.mean(group.logit > 0) for group in (rows.of(0), rows.of(1))]
        self.raised_ = int(np.argmin(rates))

    def _margin(self, rows: Rows) -> Array:
        score = rows.score
        unsure = (score > 0.5 - self.margin) & (score <= 0.5 + self.margin)
        by_group = np.where(rows.groups == self.raised_, 1.0, -1.0)
        return np.where(unsure, by_group, rows.logit)


@dataclass(eq=False, repr=False, kw_only=True)
class CFBC(GroupAware):
    """The most accurate decisions of equal opportunity, in plug-in form: thresholds by group, tied by one number θ.

    ŷ = 1 where f(x)·(2 − θ/P(Y=1, S=1)) > 1 for S = 1, and f(x)·(2 + θ/P(Y=1, S=0)) > 1 for S = 0. θ makes the groups'
    true positive rates equal as f estimates them, E[f·ŷ | s]/E[f | s]; no label is used, so it could be set on people
    whose outcome is not known yet. False positive rates are not controlled.

    Parameters
    ----------
    strength : float, default 1.0
        Share of θ that is applied. 0 is f.
    """

    strength: float = 1.0
    fairness: str = "equalized_odds"

    def _learn(self, rows: Rows, y: Array) -> None:
        both = [rows.of(0), rows.of(1)]
        positive = [group.weighed(group.score) for group in both]  # P(Y = 1 | x), as f has it
        mass = np.array([part.sum() for part in positive]) / rows.total  # P(Y = 1, S = s)

        def gap(theta: float) -> float:
            decided = [group.score > cut for group, cut in zip(both, _thresholds(theta, mass), strict=True)]
            rates = [part[chosen].sum() / part.sum() for part, chosen in zip(positive, decided, strict=True)]
            return float(rates[1] - rates[0])

        # θ at which nobody in a group gets a 1 any more: there are no solutions beyond.
        low, high = -2.0 * mass[0], 2.0 * mass[1]
        # gap falls in θ, from a rate of group 1 that is the higher to one that is the lower.
        self.theta_ = float(brentq(gap, low, high, xtol=1e-10)) if gap(low) > 0 > gap(high) else 0.0
        self.thresholds_ = _thresholds(self.strength * self.theta_, mass)

    def _margin(self, rows: Rows) -> Array:
        if self.thresholds_[0] == self.thresholds_[1] == 0.5:
            return rows.logit
        return rows.score - self.thresholds_[rows.groups]


def _thresholds(theta: float, mass: Array) -> Array:
    """Scores above which ŷ = 1, by group; 1 or more means nobody."""
    factor = np.array([2.0 + theta / mass[0], 2.0 - theta / mass[1]])
    return 1.0 / np.maximum(factor, 1e-9)


@dataclass(eq=False, repr=False, kw_only=True)
class InformationWithholding(GroupAwareScored):
    """Give a share of the better treated group its base rate instead of its score.

    The generalised cost of a group (mean score of its negatives, or 1 − mean score of its positives, or both weighted
    by their frequency) grows linearly with that share, at most up to the other group's. The scores stay calibrated in
    each group, which allows no more than one equal cost. The cost of *scores* becomes equal: decisions at one half may
    differ more than before.

    Parameters
    ----------
    strength : float, default 1.0
        Share of the mixing rate that would equalise the costs. 0 is f.
    cost : {"weighted", "fnr", "fpr"}
    """

    strength: float = 1.0
    cost: str = "weighted"
    fairness: str = "equalized_odds"

    def _learn(self, rows: Rows, y: Array) -> None:
        check_choice("cost", self.cost, ("weighted", "fnr", "fpr"))
        groups = [(rows.of(s), y[rows.groups == s]) for s in (0, 1)]
        base = np.array([group.mean(labels) for group, labels in groups])
        costs = np.array([_cost(group.score, group, labels, self.cost) for group, labels in groups])
        # The cost of a group if all its scores were withheld.
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
