"""The best accuracy at each (K, fairness): the cheapest flips, exact (paper, Eq. 1, with S known).

What a flip does to accuracy depends on what is known of the label. In *hindsight* it is known: a flip gains or costs
one right decision, and an oracle may use spare flips to mend f's errors, two at a time in one group (one up, one down)
so that its rate stays. In *foresight* only f's score is known: a flip costs |2p − 1| in expectation (at a threshold c,
2·|p − c|), so the people nearest to the line go first, and a spare flip never pays.

Demographic parity: once the highest rate is chosen, each group has an interval of fair net changes, whatever the others
do. It goes there by the shortest way; spare flips then mend errors, as far as the interval allows. Equalized odds: once
the highest rate under a label is chosen, the others follow. Either way there is one candidate for each rate that a
group can have (`Bands.ends`), for any number of groups. Groups that are too small to be compared may have any rate.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.metrics.counts import as_binary, codes_of_groups
from commod.metrics.figures import CRITERIA
from commod.models.rescaler import ACTS_ON
from commod.models.validation import check_choice
from commod.theory.bands import Bands
from commod.theory.flips import SIGNS, Crowd, Ints, Values, check_cells, counts_by_group

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
        Labels, f's decisions, groups; people whose group is not known are not counted.
    changes : whole numbers
        The K to be answered.
    limit : float
        The least P-Rule, or, for equalized odds, the largest disparate mistreatment.
    fairness : {"demographic_parity", "equalized_odds"}
    scores, threshold : array (n,), float, optional
        f's probabilities, and that above which f decides positively: foresight, accuracy in expectation under them.
        Without them, hindsight. Equalized odds, defined by the labels, is answered in hindsight only.
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
    crowd = counts_by_group(y_true, y_pred, sensitive_features)
    counts, people = crowd.counts, crowd.people
    start = float(counts[:, 0, 0].sum() + counts[:, 1, 1].sum())
    budgets = np.minimum(asked, people).astype(np.int64)
    if CRITERIA[fairness].by_label:
        if scores is not None:
            raise ValueError("Mistreatment is defined by the labels: leave scores out for equalized odds.")
        check_cells(counts[crowd.compared])
        gains = _under_mistreatment(crowd, budgets, limit, acts_on)
    elif scores is None:
        gains = _in_hindsight(crowd, budgets, limit, acts_on)
    else:
        decisions, probability = as_binary(y_pred, "y_pred"), np.asarray(scores, dtype=float)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise ValueError("scores must be probabilities between 0 and 1; for raw margins apply a sigmoid first.")
        above = probability - threshold
        # On the line itself rounding may decide.
        if probability.shape != decisions.shape or (((above > 0) != (decisions == 1)) & (np.abs(above) > TINY)).any():
            raise ValueError(
                f"scores must be f's probabilities of the same rows: y_pred is 1 where they exceed {threshold:g}."
            )
        codes = codes_of_groups(sensitive_features)[0]
        known = codes >= 0
        probability, decisions, codes = probability[known], decisions[known], codes[known]
        start = float(expected_accuracy(probability, decisions, threshold).sum())
        price = 2.0 * np.abs(probability - threshold)
        gains = _in_foresight(crowd, decisions, price, codes, budgets, limit, acts_on)
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


def _fair_nets(crowd: Crowd, limit: float, acts_on: str) -> tuple[Ints, Ints]:
    """The least and largest fair net change of each group, (rates, groups), for each highest rate that has one."""
    positives, sizes = crowd.counts[:, :, 1].sum(axis=1), crowd.counts.sum(axis=(1, 2))
    bands = Bands(positives[crowd.compared], sizes[crowd.compared], acts_on)
    low = np.zeros((len(bands.ends), len(sizes)), dtype=np.int64)
    high = np.broadcast_to(sizes, low.shape).copy()
    high[:, crowd.compared] = bands.most
    if limit > 0:
        low[:, crowd.compared] = np.ceil(limit * bands.ends[:, None] * sizes[crowd.compared] - TINY)
    if acts_on == "negative":
        low = np.maximum(low, positives)
    elif acts_on == "positive":
        high = np.minimum(high, positives)
    possible = (low <= high).all(axis=1)
    return low[possible] - positives, high[possible] - positives


def _in_hindsight(crowd: Crowd, budgets: Ints, limit: float, acts_on: str) -> Values:
    low, high = _fair_nets(crowd, limit, acts_on)
    net = np.clip(0, low, high)
    missed, wrongly = crowd.counts[:, 1, 0], crowd.counts[:, 0, 1]  # raising mends, lowering mends
    spent = np.abs(net).sum(axis=1)
    mendable = np.minimum(np.abs(net), np.where(net > 0, missed, wrongly))
    forced = (2.0 * mendable - np.abs(net)).sum(axis=1)  # errors first, then right decisions
    # Errors left, and how many can be mended so that the net change stays fair: up ≤ left, up − down ≤ high − net, …
    up = np.maximum(missed - np.maximum(net, 0), 0) * (1 in SIGNS[acts_on])
    down = np.maximum(wrongly - np.maximum(-net, 0), 0) * (-1 in SIGNS[acts_on])
    spare = np.minimum(up, down + high - net) + np.minimum(down, up + net - low)
    # Where a group's net change may not move at all, errors are mended two at a time.
    in_pairs = (spare * (low < high)).sum(axis=1) == 0
    spare = spare.sum(axis=1)
    gains = np.full(len(budgets), NEVER)
    for place, budget in enumerate(budgets):
        more = np.minimum(budget - spent, spare)
        more -= np.where(in_pairs, more % 2, 0)
        gains[place] = (forced + more)[spent <= budget].max(initial=NEVER)
    return gains


def _in_foresight(
    crowd: Crowd, decisions: Ints, price: Values, codes: Ints, budgets: Ints, limit: float, acts_on: str
) -> Values:
    def dear(group: int, decision: int) -> Values:
        """Price of flipping the cheapest 0, 1, 2, … people of a group who have a decision."""
        return np.r_[0.0, np.cumsum(np.sort(price[(codes == group) & (decisions == decision)]))]

    low, high = _fair_nets(crowd, limit, acts_on)
    net = np.clip(0, low, high)  # every flip costs: as few as are fair
    paid = np.zeros(len(net))
    for s, own in enumerate(net.T):
        up, down = dear(s, 0), dear(s, 1)
        paid += np.where(own > 0, up[np.clip(own, 0, None)], down[np.clip(-own, 0, None)])
    spent = np.abs(net).sum(axis=1)
    return np.array([float((-paid)[spent <= k].max(initial=NEVER)) for k in budgets])


def _under_mistreatment(crowd: Crowd, budgets: Ints, limit: float, acts_on: str) -> Values:
    most = int(budgets.max(initial=0))
    # Of those with label 0 lowering mends: seen from the other decision, it is raising.
    mirrored = {"everybody": "everybody", "negative": "positive", "positive": "negative"}[acts_on]
    tables = [
        _least_gaps(crowd.counts[:, 0, ::-1], crowd.compared, most, mirrored),
        _least_gaps(crowd.counts[:, 1], crowd.compared, most, acts_on),
    ]
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


def _least_gaps(cell: Ints, compared: NDArray[np.bool_], most: int, acts_on: str) -> Values:
    """Least gap of the groups' rates under one label with j flips and a gain of a, (most + 1, 2·most + 1).

    `cell` is (group, decision). Raising gains 1 and lowering loses 1, so only those above the highest rate are lowered.
    The first raised go where the lowest rate is; the others where the highest rate, or a group not compared, has room.
    """
    table = np.full((most + 1, 2 * most + 1), np.inf)
    positives, sizes = cell[compared, 1], cell[compared].sum(axis=1)
    bands = Bands(positives, sizes, acts_on)
    raises = 1 in SIGNS[acts_on]
    room = np.maximum(bands.most - positives, 0).sum(axis=1) + int(cell[~compared, 0].sum())
    up = np.arange((most if raises else 0) + 1)
    lowest = np.searchsorted(bands.raised, up, side="right") - 1  # the highest low end by so many
    # Beyond this highest rate there is room for all flips, and no lowest rate that they reach is out of reach.
    last = max(int(bands.lowest_high[lowest[-1]]), int(np.searchsorted(room, most)))
    for high in np.flatnonzero(bands.lowered[: last + 1] <= most):
        down = int(bands.lowered[high])
        x = up[: min(most - down, int(room[high])) + 1]
        gap = bands.ends[high] - bands.ends[np.minimum(lowest[: len(x)], bands.highest_low[high])]
        rows, columns = x + down, x - down + most
        table[rows, columns] = np.minimum(table[rows, columns], gap)
    return table
