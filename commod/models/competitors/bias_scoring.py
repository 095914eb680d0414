"""MBS, post-hoc bias scoring (Chen, Klochkov & Liu 2024): flip f where a decision is more biased than it is sure."""

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array
from commod.models.competitors.base import Rows
from commod.models.competitors.lpp import LPP

# Directions tried when two bias scores are weighted, all around the circle.
DIRECTIONS = 180


@dataclass(eq=False, repr=False, kw_only=True)
class BiasScoring(LPP):
    """Flip f's decision Ŷ where Σ weight·(bias score) > 1; S is not needed at predict.

    The bias score of a person is (2Ŷ − 1)·(P(S=1 | x)/P(S=1) − P(S=0 | x)/P(S=0)) over f's confidence |2f(x) − 1|: how
    much the decision adds to the gap, for each unit of accuracy that a flip costs. Demographic parity has one score;
    equalized odds has one for each label, with P(S, Y | x) instead of P(S | x), and the flipped lie beyond a line.

    The weights are searched on the training rows with their recorded groups and labels, in each of 180 directions (the
    publication: through pairs of people): the most accurate rule whose gap is at most α, or the one with the smallest
    gap. The rules are those of `LPP`, which finds its weights in expectation. f's own score stands for P(Y | x).

    Parameters
    ----------
    alpha : float, default 0.05
        Largest difference of the groups' positive rates (under each label, for equalized odds) on the training rows.
    """

    def _learn(self, rows: Rows, y: Array) -> None:
        self._prepare(rows, y)
        density = self._weights(rows)
        bias = density[:, :, 1] - density[:, :, 0]  # (n, conditions)
        found = rows.memory.of("MBS", rows.X, rows.logit, y, rows.groups, bias, self.threshold_)
        if not found:  # every α chooses among the same rules
            found["rules"] = _frontier(rows, y - self.threshold_, bias, y if bias.shape[1] == 2 else None)
        gap, weights = found["rules"]
        self.shift_ = np.outer(weights[max(np.searchsorted(gap, self.alpha, side="right") - 1, 0)], [1.0, -1.0])

    def _gain(self, rows: Rows) -> Array:
        # With Ŷ = 1[2f > 1], Σ weight·score > 1 where 2f − 1 less the weighed bias has another sign than 2f − 1.
        return 2.0 * rows.score - 1.0


def _frontier(rows: Rows, worth: Array, bias: Array, y: Array | None) -> tuple[Array, Array]:
    """Gaps of the rules that no other beats in gap and accuracy, from the smallest gap on, and their weights.

    `worth`: what a positive decision adds to accuracy, errors weighted by f's cut-off. `y`: if gaps are by label.
    """
    weight = np.ones(len(worth)) if rows.weight is None else rows.weight
    gain, decided = 2.0 * rows.score - 1.0, rows.logit > 0
    signed = np.where(rows.groups == 1, 1.0, -1.0)
    conditions = [np.ones(len(worth))] if y is None else [1.0 - y, y]
    # What a positive decision of each person adds to the differences of the groups' rates, (n, conditions).
    share = np.column_stack([_shares(weight * here, rows.groups) * signed for here in conditions])
    before = share[decided].sum(axis=0)
    flips = np.where(decided, -1.0, 1.0)[:, None] * share
    right = np.where(decided, -worth, worth) * weight / weight.sum()
    if y is not None:
        angle = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
        directions = np.column_stack([np.cos(angle), np.sin(angle)])
    else:
        directions = np.array([[1.0 if before[0] > 0 else -1.0]])
    gaps, gains, weights = [np.abs(before).max(keepdims=True)], [np.zeros(1)], [np.zeros((1, len(before)))]
    for direction in directions:
        with np.errstate(divide="ignore", invalid="ignore"):
            length = gain / (bias @ direction)  # of the weights, from which on the person is flipped
        order = np.argsort(length, kind="stable")
        order = order[(length[order] > 0) & np.isfinite(length[order])]
        ends = np.append(length[order], 2.0 * length[order][-1:])
        last = np.flatnonzero(np.diff(ends) > 0)  # people with one length are flipped together
        gaps.append(np.abs(before + flips[order].cumsum(axis=0)).max(axis=1)[last])
        gains.append(right[order].cumsum()[last])
        weights.append(0.5 * (ends[last] + ends[last + 1])[:, None] * direction)
    gap, gained = np.concatenate(gaps).round(12), np.concatenate(gains).round(12)
    order = np.lexsort((-gained, gap))
    best = np.maximum.accumulate(gained[order])
    kept = order[np.append(True, best[1:] > best[:-1])]
    return gap[kept], np.concatenate(weights)[kept]


def _shares(weight: Array, groups: np.ndarray) -> Array:
    return weight / np.bincount(groups, weight)[groups]
