"""How much fairness K flips of f's decisions can buy when S is known: exact, by counting (paper, Sec. 4.2, corrected).

Which people are flipped does not matter to a group metric, only how many of each group (and label) rise or fall. Spend
K flips on two groups: their net changes (d₀, d₁) lie on |d₀| + |d₁| = K, four straight sides. Along a side the
difference of the two rates is linear and their ratio monotone, so the best whole number is at an end of the side (as
far as there are people left to flip) or beside the point where the rates cross. That is a handful of candidates for
each K, so all of them, for K = 0 … N, take O(N).

If only one of f's two decisions may be flipped (`ACTS_ON`: nobody loses, or nobody gains), one of the four sides is
left.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.metrics.counts import as_binary, confusion_counts
from commod.metrics.figures import FIGURES
from commod.models.rescaler import ACTS_ON
from commod.models.validation import check_choice

__all__ = [
    "SIGNS",
    "best_curve",
    "check_cells",
    "mistreatment_curve",
    "p_rule_curve",
    "switching_point",
    "two_group_counts",
]

Ints = NDArray[np.int64]
Values = NDArray[np.float64]
# Positive decisions of the two groups (each an array) to how unfair they are, to be small.
Unfairness = Callable[[Ints, Ints], Values]
# Which way a decision may be flipped, by whom may be acted on.
SIGNS: dict[str, tuple[int, ...]] = {"everybody": (1, -1), "negative": (1,), "positive": (-1,)}


def two_group_counts(y_true: Any, y_pred: Any, sensitive_features: Any) -> Ints:
    """Counts of shape (group, label, decision); a ValueError if there are more than two groups."""
    counts, groups = confusion_counts(y_true, y_pred, sensitive_features)
    if len(groups) != 2:
        raise ValueError(f"The exact limits are of two groups, found {len(groups)}: {groups[:5]}. Choose two of them.")
    return counts.astype(np.int64)


def check_cells(counts: Ints) -> None:
    """Raise if a group (of counts by group, label and decision) has no row of some label."""
    if (counts.sum(axis=2) == 0).any():
        raise ValueError(
            f"{FIGURES['dm'].title} compares the groups under each label, and one group has no row of some label: "
            "choose other groups, or ask for demographic parity."
        )


def _most_changes(max_changes: int | None, people: int) -> int:
    if max_changes is None:
        return people
    if not isinstance(max_changes, int | np.integer) or max_changes < 0:
        raise ValueError(f"max_changes must be a whole number of flips, 0 or more, got {max_changes!r}.")
    return min(int(max_changes), people)


def _gap(sizes: Ints) -> Unfairness:
    return lambda u0, u1: np.abs(u0 * sizes[1] - u1 * sizes[0]) / float(sizes[0] * sizes[1])


def _lack_of_p_rule(sizes: Ints) -> Unfairness:
    def lack(u0: Ints, u1: Ints) -> Values:
        rates = np.stack([u0 * sizes[1], u1 * sizes[0]])  # over the common denominator
        low, high = rates.min(axis=0), rates.max(axis=0)
        return 1.0 - np.where(high > 0, low / np.maximum(high, 1), 1.0)

    return lack


def _best_nets(positives: Ints, sizes: Ints, most: int, unfairness: Unfairness, acts_on: str) -> tuple[Values, Ints]:
    """Least unfairness of two groups with at most K flips, K = 0 … most, and the net changes (most + 1, 2) for it."""
    budget = np.arange(most + 1)
    best = np.full(most + 1, np.inf)
    nets = np.zeros((most + 1, 2), dtype=np.int64)
    n0, n1 = (int(n) for n in sizes)
    apart = int(positives[0]) * n1 - int(positives[1]) * n0  # difference of the rates, over n0·n1
    for s0, s1 in product(SIGNS[acts_on], repeat=2):
        room = [int(n - p) if s > 0 else int(p) for s, p, n in zip((s0, s1), positives, sizes, strict=True)]
        low, high = np.maximum(0, budget - room[1]), np.minimum(budget, room[0])  # flips spent on group 0
        # apart + s0·a·n1 − s1·(K − a)·n0 = 0 at a = (s1·K·n0 − apart) / (s0·n1 + s1·n0)
        slope = int(s0 * n1 + s1 * n0)
        crossing = (s1 * budget * n0 - apart) // slope if slope else low
        for a in (low, high, crossing, crossing + 1):
            spent = np.clip(a, low, np.maximum(low, high))
            d0, d1 = s0 * spent, s1 * (budget - spent)
            value = np.where(low <= high, unfairness(positives[0] + d0, positives[1] + d1), np.inf)
            better = value < best
            best = np.where(better, value, best)
            nets[better] = np.column_stack([d0, d1])[better]
    leader = _index_of_running_minimum(best)
    return best[leader], nets[leader]


def _index_of_running_minimum(values: Values) -> Ints:
    """Of each place, where the smallest value up to it stands first."""
    smallest = np.minimum.accumulate(values)
    first = np.r_[True, smallest[1:] < smallest[:-1]]
    return np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))


def p_rule_curve(
    y_pred: Any, *, sensitive_features: Any, max_changes: int | None = None, acts_on: str = "everybody"
) -> pd.DataFrame:
    """Highest P-Rule that at most K flips of the decisions can reach, for every K (Prop. 4.4, corrected).

    The proposition says that all K flips go to one side: all raise the disfavoured group, or all lower the other. That
    holds while K is below the switching point; from there on the flips are split. Here every split is considered, both
    groups in both directions.

    Parameters
    ----------
    y_pred : array (n,)
        Decisions of f, 0 or 1.
    sensitive_features : array (n,)
        Two groups.
    max_changes : int, optional
        Where the curve ends; default, the number of people.
    acts_on : {"everybody", "negative", "positive"}
        Which of f's decisions may be flipped.

    Returns
    -------
    DataFrame
        One row for each K from 0: ``changes, change_rate, p_rule, net_0, net_1`` (how many more positive decisions each
        group, in sorted order, then has).
    """
    check_choice("acts_on", acts_on, ACTS_ON)
    y = as_binary(y_pred, "y_pred")
    counts = two_group_counts(y, y, sensitive_features).sum(axis=1)  # (group, decision)
    sizes = counts.sum(axis=1)
    most = _most_changes(max_changes, int(sizes.sum()))
    lack, nets = _best_nets(counts[:, 1], sizes, most, _lack_of_p_rule(sizes), acts_on)
    changes = np.arange(most + 1)
    return pd.DataFrame(
        {
            "changes": changes,
            "change_rate": changes / sizes.sum(),
            "p_rule": 1.0 - lack,
            "net_0": nets[:, 0],
            "net_1": nets[:, 1],
        }
    )


def switching_point(y_pred: Any, *, sensitive_features: Any) -> int:
    """K_s: the fewest flips after which the disfavoured group's rate is no longer the smaller one.

    There the P-Rule, which the paper takes to be about 1, comes within one flip of it, and its two forms change places.
    One flip in a group of n moves its rate by 1/n: the smaller group is moved first, as far as it can be.
    """
    y = as_binary(y_pred, "y_pred")
    counts = two_group_counts(y, y, sensitive_features).sum(axis=1)
    sizes = counts.sum(axis=1)
    low, high = np.argsort(counts[:, 1] / sizes, kind="stable")
    missing = int(counts[high, 1] * sizes[low] - counts[low, 1] * sizes[high])
    # Raising one of the low group closes sizes[high] of it, lowering one of the high group sizes[low].
    flips = 0
    for step, room in sorted([(int(sizes[high]), int(counts[low, 0])), (int(sizes[low]), int(counts[high, 1]))])[::-1]:
        used = min(room, -(-max(missing, 0) // step))
        flips, missing = flips + used, missing - used * step
    return flips


def mistreatment_curve(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    max_changes: int | None = None,
    acts_on: str = "everybody",
) -> pd.DataFrame:
    """Lowest disparate mistreatment that at most K flips can reach, for every K (Prop. 4.5, corrected).

    DM = Δ_TPR + Δ_FPR, and a flip moves one of the two: the best of x flips on the one and K − x on the other, over all
    x. The printed proposition, "all K flips on the gap where one flip closes more", holds only while that gap is open,
    while the smaller group has people left to flip in the needed direction, and up to rounding: see
    `commod.theory.printed`.

    Returns
    -------
    DataFrame
        One row for each K from 0: ``changes, change_rate, dm`` and ``net_sy``, how many more positive decisions group s
        with label y then has.
    """
    check_choice("acts_on", acts_on, ACTS_ON)
    counts = two_group_counts(y_true, y_pred, sensitive_features)
    check_cells(counts)
    sizes = counts.sum(axis=2)  # (group, label)
    people = int(sizes.sum())
    most = _most_changes(max_changes, people)
    gaps, nets = zip(
        *(
            _best_nets(counts[:, y, 1], sizes[:, y], min(most, int(sizes[:, y].sum())), _gap(sizes[:, y]), acts_on)
            for y in (0, 1)
        ),
        strict=True,
    )
    dm, flips = _shared_budget(gaps[0], gaps[1], most)
    on_0 = nets[0][np.minimum(flips, len(nets[0]) - 1)]
    on_1 = nets[1][np.minimum(np.arange(most + 1) - flips, len(nets[1]) - 1)]
    changes = np.arange(most + 1)
    return pd.DataFrame(
        {
            "changes": changes,
            "change_rate": changes / people,
            "dm": dm,
            "net_00": on_0[:, 0],
            "net_01": on_1[:, 0],
            "net_10": on_0[:, 1],
            "net_11": on_1[:, 1],
        }
    )


def _shared_budget(first: Values, second: Values, most: int) -> tuple[Values, Ints]:
    """Least first[x] + second[K − x] for K = 0 … most, and the x behind it; both fall, and stay where they end.

    Where both are straight around x and K − x, so is the sum, and x can be moved until one of them bends: only bends
    need trying. There are few of them: a gap falls in one or two straight pieces, then in a few steps of rounding.
    """
    curves = [np.r_[v, np.full(max(0, most + 1 - len(v)), v[-1])][: most + 1] for v in (first, second)]
    best = np.full(most + 1, np.inf)
    spent = np.zeros(most + 1, dtype=np.int64)
    changes = np.arange(most + 1)
    for own, other, is_first in ((curves[0], curves[1], True), (curves[1], curves[0], False)):
        for at in _bends(own):
            total = own[at] + other[: most + 1 - at]
            better = total < best[at:]
            best[at:][better] = total[better]
            spent[at:][better] = at if is_first else changes[at:][better] - at
    return best, spent


def _bends(values: Values) -> Ints:
    """Places where a curve is not straight, its ends among them."""
    inside = np.flatnonzero(np.abs(np.diff(values, 2)) > 1e-13) + 1
    return np.unique(np.r_[0, inside, len(values) - 1])


# By criterion; demographic parity does not look at the labels.
_CURVES: dict[str, Callable[..., pd.DataFrame]] = {
    "demographic_parity": lambda y_true, y_pred, **limit: p_rule_curve(y_pred, **limit),
    "equalized_odds": mistreatment_curve,
}


def best_curve(
    y_true: Any,
    y_pred: Any,
    *,
    fairness: str,
    sensitive_features: Any,
    max_changes: int | None = None,
    acts_on: str = "everybody",
) -> pd.DataFrame:
    """The best that at most K flips can do for a criterion, for every K: `p_rule_curve` or `mistreatment_curve`."""
    check_choice("fairness", fairness, tuple(_CURVES))
    return _CURVES[fairness](
        y_true, y_pred, sensitive_features=sensitive_features, max_changes=max_changes, acts_on=acts_on
    )
