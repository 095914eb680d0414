"""CFBC (Chzhen et al. 2019): equal opportunity by one number, set without labels."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from commod.models.adversary import Array
from commod.models.competitors.base import GroupAware, Rows


@dataclass(eq=False, repr=False, kw_only=True)
class CFBC(GroupAware):
    """The most accurate decisions of equal opportunity, in plug-in form: thresholds by group, tied by one number θ.

    ŷ = 1 where f(x)·(2 − θ/P(Y=1, S=1)) > 1 for S = 1, and f(x)·(2 + θ/P(Y=1, S=0)) > 1 for S = 0. θ makes the groups'
    true positive rates equal as f estimates them, E[f·ŷ | s]/E[f | s]; no label is asked, so that it could be set on
    people whose outcome is not known yet. False positive rates are left as they fall. S is needed at predict.

    Parameters
    ----------
    strength : float, default 1.0
        Share of θ that is applied. 0 is f.
    fairness : {"equalized_odds"}
        The half of it that is called equal opportunity.

    Attributes
    ----------
    theta_, thresholds_ : float, (2,)
        The number that equalises the rates, whatever `strength` is, and the score above which each group is given 1.
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

        # θ at which nobody of a group is given 1 any more: beyond it lies no other solution.
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
