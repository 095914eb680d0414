"""Reject option classification (Kamiran, Karim & Zhang 2012): the unsure cases go to the disfavoured group."""

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array
from commod.models.competitors.base import GroupAware, Rows


@dataclass(eq=False, repr=False, kw_only=True)
class OracleROC(GroupAware):
    """Where f is unsure, decide by group: 1 for the group with the lower positive rate, 0 for the other.

    The threshold stays f's own and only the margin is moved (aif360 moves both, which changes more decisions than
    fairness needs). At margin 0, g = f. S is needed at predict.

    Parameters
    ----------
    margin : float, default 0.1
        A score within this distance of one half is decided by group, f's line being moved there. 0 to 0.5.

    Attributes
    ----------
    raised_ : int
        Code of the group that is given 1.
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
