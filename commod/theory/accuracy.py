"""The best accuracy at each (K, fairness): the cheapest flips, exact (paper, Eq. 1, with S known).

What a flip does to accuracy depends on what is known of the label. In *hindsight* it is known: a flip gains or costs
one right decision, and an oracle may use spare flips to mend f's errors, two at a time in one group (one up, one down)
so that its rate stays. In *foresight* only f's score is known: flipping a person with score p costs |2p − 1| in
expectation, so the people nearest to one half go first, and a spare flip never pays. Where f draws its line at another
probability c, it holds the two errors for unequally bad, and so does foresight: `expected_accuracy`, 2·|p − c| a flip.

In both cases the net change of one group leaves an interval of fair net changes for the other, on which the gain rises
and then falls with a few known bends: all candidates together are O(K) for each K.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import as_binary, codes_of_groups
from commod.metrics.figures import CRITERIA
from commod.models.rescaler import ACTS_ON
from commod.models.validation import check_choice
from commod.theory.flips import SIGNS, Ints, Values, check_cells, two_group_counts

__all__ = ["best_accuracy", "expected_accuracy"]

NEVER = -np.inf
# The least change of a rate that floating point may hide.
TINY = 1e-9


def best_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    changes: Iterable[int],
    limit: float,
    fairness: str = "demographic_parity",
    scores: Any = None,
    threshold: float = 0.5,
    acts_on: str = "everybody",
) -> pd.DataFrame:
    """Highest accuracy of decisions that differ from f's in at most K places and are fair enough.

    Parameters
    ----------
    y_true, y_pred, sensitive_features : arrays (n,)
        Labels, f's decisions, two groups.
    changes : whole numbers
        The K to be answered.
    limit : float
        The least P-Rule, or, for equalized odds, the largest disparate mistreatment.
    fairness : {"demographic_parity", "equalized_odds"}
    scores : array (n,), optional
        f's probabilities: foresight, accuracy in expectation under them. Without them, hindsight. Mistreatment is
        defined by the labels, so equalized odds is answered in hindsight only.
    threshold : float
        The probability above which f decides positively, for `scores`.
    acts_on : {"everybody", "negative", "positive"}
        Which of f's decisions may differ.

    Returns
    -------
    DataFrame
        ``changes, change_rate, accuracy``; accuracy is missing where K flips cannot reach the limit.
    """
    check_choice("fairness", fairness, tuple(CRITERIA))
    check_choice("acts_on", acts_on, ACTS_ON)
    asked = np.asarray(list(changes))
    if len(asked) and ((asked != np.floor(asked)).any() or asked.min() < 0):
        raise ValueError("changes must be whole numbers of flips, 0 or more.")
    if not math.isfinite(limit):
        raise ValueError(f"limit must be a finite number, got {limit!r}.")
    counts = two_group_counts(y_true, y_pred, sensitive_features)
    people = int(counts.sum())
    start = float(counts[:, 0, 0].sum() + counts[:, 1, 1].sum())
    budgets = np.minimum(asked, people).astype(np.int64)
    if CRITERIA[fairness].by_label:
        if scores is not None:
            raise ValueError("Mistreatment is defined by the labels: leave scores out for equalized odds.")
        check_cells(counts)
        gains = _under_mistreatment(counts, budgets, limit, acts_on)
    elif scores is None:
        gains = np.array([_in_hindsight(counts, int(k), limit, acts_on) for k in budgets])
    else:
        decisions, probability = as_binary(y_pred, "y_pred"), np.asarray(scores, dtype=float)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise ValueError("scores must be probabilities between 0 and 1; for raw margins apply a sigmoid first.")
        if probability.shape != decisions.shape or _contradicts(probability - threshold, decisions):
            raise ValueError(
                f"scores must be f's probabilities of the same rows: y_pred is 1 where they exceed {threshold:g}."
            )
        start = float(expected_accuracy(probability, decisions, threshold).sum())
        price, groups = 2.0 * np.abs(probability - threshold), codes_of_groups(sensitive_features)[0]
        gains = _in_foresight(counts, decisions, price, groups, budgets, limit, acts_on)
    accuracy = np.where(np.isfinite(gains), (start + np.where(np.isfinite(gains), gains, 0.0)) / people, np.nan)
    if CRITERIA[fairness].upward and limit > 1:
        accuracy = np.full(len(budgets), np.nan)  # no P-Rule is above 1
    return pd.DataFrame({"changes": asked, "change_rate": asked / people, "accuracy": accuracy})


def expected_accuracy(scores: Values, decisions: Ints, threshold: float = 0.5) -> Values:
    """Of each decision, how right it is in expectation under f's probabilities, errors weighed as its threshold does.

    Above the threshold c a positive decision has the lesser expected loss if a wrong one costs 2c and a wrong negative
    one 2·(1 − c). At one half this is the probability of being right.
    """
    loss = np.where(decisions == 1, threshold * (1.0 - scores), (1.0 - threshold) * scores)
    return np.asarray(1.0 - 2.0 * loss)


def _contradicts(above: Values, decisions: Ints) -> bool:
    """Whether scores so far above the threshold decide otherwise; on the line itself, rounding may have its say."""
    return bool((((above > 0) != (decisions == 1)) & (np.abs(above) > TINY)).any())


# ---- demographic parity ----


def _fair_interval(d0: Ints, counts: Ints, limit: float, acts_on: str) -> tuple[Ints, Ints]:
    """Net changes of group 1 that are fair for each net change of group 0, whole numbers; low > high for none."""
    sizes, positives = counts.sum(axis=(1, 2)), counts[:, :, 1].sum(axis=1)
    rate = (positives[0] + d0) / sizes[0]
    low = np.ceil(limit * rate * sizes[1] - TINY)
    high = np.full_like(low, sizes[1]) if limit <= 0 else np.floor(rate / limit * sizes[1] + TINY)
    lowest = float(positives[1]) if acts_on == "negative" else 0.0
    highest = float(positives[1]) if acts_on == "positive" else float(sizes[1])
    low, high = np.maximum(low, lowest), np.minimum(high, highest)
    return (low - positives[1]).astype(np.int64), (high - positives[1]).astype(np.int64)


def _nets_of_group_0(counts: Ints, budget: int, acts_on: str) -> Ints:
    negatives, positives = counts[0].sum(axis=0)
    lowest = 0 if acts_on == "negative" else -min(budget, int(positives))
    highest = 0 if acts_on == "positive" else min(budget, int(negatives))
    return np.arange(lowest, highest + 1)


def _in_hindsight(counts: Ints, budget: int, limit: float, acts_on: str) -> float:
    d0 = _nets_of_group_0(counts, budget, acts_on)
    low, high = _fair_interval(d0, counts, limit, acts_on)
    left = budget - np.abs(d0)
    low, high = np.maximum(low, -left), np.minimum(high, left)
    pairs_of = _mendable_pairs if acts_on == "everybody" else _no_pairs
    gain0, pairs0 = _forced(d0, counts[0]), pairs_of(d0, counts[0])
    best = NEVER
    missed, wrongly = int(counts[1, 1, 0]), int(counts[1, 0, 1])  # of group 1: raising mends, lowering mends
    # Bends of the gain in d1: its own errors run out, or the spare flips do (where (left − |d1|)/2 meets the pairs).
    spare = left - 2 * pairs0
    bends = [low, high, *(np.full_like(d0, b) for b in (0, missed, -wrongly, missed - wrongly))]
    for pairs in (missed, wrongly):
        bends += [spare - 2 * pairs, 2 * pairs - spare]
    for bend in bends:
        for step in (-2, -1, 0, 1, 2):
            d1 = np.clip(bend + step, low, np.maximum(low, high))
            pairs = np.minimum((left - np.abs(d1)) // 2, pairs0 + pairs_of(d1, counts[1]))
            gain = np.where(low <= high, gain0 + _forced(d1, counts[1]) + 2.0 * pairs, NEVER)
            best = max(best, float(gain.max(initial=NEVER)))
    return best


def _forced(net: Ints, group: Ints) -> Ints:
    """Right decisions gained by |net| flips in one direction: f's errors first. `group` is (label, decision)."""
    mendable = np.where(net > 0, group[1, 0], group[0, 1])
    size = np.abs(net)
    return np.minimum(size, mendable) - np.maximum(size - mendable, 0)


def _mendable_pairs(net: Ints, group: Ints) -> Ints:
    """Pairs of errors, one to be raised and one to be lowered, that the forced flips leave."""
    up = np.maximum(group[1, 0] - np.maximum(net, 0), 0)
    down = np.maximum(group[0, 1] - np.maximum(-net, 0), 0)
    return np.minimum(up, down)


def _no_pairs(net: Ints, group: Ints) -> Ints:
    """The same where decisions may be flipped one way only."""
    return np.zeros_like(net)


def _in_foresight(
    counts: Ints, decisions: Ints, price: Values, groups: Ints, budgets: Ints, limit: float, acts_on: str
) -> Values:
    def dear(group: int, decision: int) -> Values:
        """Price of flipping the cheapest 0, 1, 2, … people of a group who have a decision."""
        return np.r_[0.0, np.cumsum(np.sort(price[(groups == group) & (decisions == decision)]))]

    up, down = [dear(s, 0) for s in (0, 1)], [dear(s, 1) for s in (0, 1)]

    def paid(net: Ints, s: int) -> Values:
        return np.where(net > 0, up[s][np.clip(net, 0, len(up[s]) - 1)], down[s][np.clip(-net, 0, len(down[s]) - 1)])

    d0 = _nets_of_group_0(counts, int(budgets.max(initial=0)), acts_on)
    low, high = _fair_interval(d0, counts, limit, acts_on)
    d1 = np.clip(0, low, np.maximum(low, high))  # every flip costs: as few as are fair
    gain = np.where(low <= high, -(paid(d0, 0) + paid(d1, 1)), NEVER)
    spent = np.abs(d0) + np.abs(d1)
    return np.array([float(gain[spent <= k].max(initial=NEVER)) for k in budgets])


# ---- equalized odds ----


def _under_mistreatment(counts: Ints, budgets: Ints, limit: float, acts_on: str) -> Values:
    most = int(budgets.max(initial=0))
    tables = [_least_gaps(counts[:, y], most, sign, acts_on) for y, sign in ((0, -1), (1, 1))]
    # Least gap with at most j flips and a gain of at least a: rises with a, so a limit can be looked up.
    within = np.minimum.accumulate(tables[0], axis=0)
    within = np.minimum.accumulate(within[:, ::-1], axis=1)[:, ::-1]
    gains = np.full(len(budgets), NEVER)
    for place, budget in enumerate(budgets):
        for j in range(int(budget) + 1):
            room = limit - tables[1][j] + TINY
            first = np.searchsorted(within[budget - j], room, side="right") - 1 - most
            total = np.where(first >= -most, first + np.arange(-most, most + 1), NEVER)
            gains[place] = max(gains[place], float(np.where(np.isfinite(room), total, NEVER).max()))
    return gains


def _least_gaps(cell: Ints, most: int, sign: int, acts_on: str) -> Values:
    """Least gap of the groups' rates under one label with exactly j flips and a gain of a, (most + 1, 2·most + 1).

    `cell` is (group, decision); raising gains `sign`. With j flips and a gain of a, (j + a)/2 of them mend: all in one
    direction in each group, since two that cancel are two too many.
    """
    table = np.full((most + 1, 2 * most + 1), np.inf)
    sizes, positives = cell.sum(axis=1), cell[:, 1]
    room = {1: sizes - positives, -1: positives}  # to be raised, to be lowered
    apart = int(positives[0] * sizes[1] - positives[1] * sizes[0])

    def gap(d0: Ints, d1: Ints) -> Values:
        return np.abs(apart + d0 * sizes[1] - d1 * sizes[0]) / float(sizes[0] * sizes[1])

    # Groups moved in opposite directions: up by x in one, down by z in the other.
    for up, down in ((0, 1), (1, 0)) if acts_on == "everybody" else ():
        x = np.arange(min(most, int(room[1][up])) + 1)[:, None]
        z = np.arange(min(most, int(room[-1][down])) + 1)[None, :]
        d = (x, -z) if up == 0 else (-z, x)
        value = np.where(x + z <= most, gap(*d), np.inf)
        rows, columns = np.broadcast_arrays(np.minimum(x + z, most), np.clip(sign * (x - z), -most, most) + most)
        np.minimum.at(table, (rows.ravel(), columns.ravel()), value.ravel())
    # Both in the same direction: of all ways to share j flips, the one nearest to where the rates cross.
    j = np.arange(most + 1)
    for direction in SIGNS[acts_on]:
        low, high = np.maximum(0, j - room[direction][1]), np.minimum(j, room[direction][0])
        crossing = (direction * j * sizes[0] - apart) // int(direction * (sizes[0] + sizes[1]))
        for a in (crossing, crossing + 1):
            spent = np.clip(a, low, np.maximum(low, high))
            value = np.where(low <= high, gap(direction * spent, direction * (j - spent)), np.inf)
            column = sign * direction * j + most
            table[j, column] = np.minimum(table[j, column], value)
    return table
