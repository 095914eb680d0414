"""How much fairness K flips of f's decisions can buy when S is known: exact, by counting (paper, Sec. 4.2, corrected).

Which people are flipped does not matter to a group metric, only how many of each group (and label) rise or fall. Spend
K flips on two groups: their net changes (d₀, d₁) lie on |d₀| + |d₁| = K, four straight sides. Along a side the
difference of the two rates is linear and their ratio monotone, so the best whole number is at an end of the side (as
far as there are people left to flip) or beside the point where the rates cross. That is a handful of candidates for
each K, so all of them, for K = 0 … N, take O(N). More than two groups have no such sides: `commod.theory.bands`.

Groups too small to be compared need no flips. If only one of f's two decisions may be flipped, one of the four sides is
left. The printed Propositions 4.4 and 4.5 are right for few flips and enough people to flip (`fails_from`). They do not
mention the limits: a group has only so many people with the decision in question; more flips of the same kind can only
reopen a closed gap; and the last flip may overshoot.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.metrics.counts import as_binary, compared_groups, tally
from commod.metrics.fairness import p_rule_of_rates
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.rescaler import ACTS_ON
from commod.models.validation import check_choice
from commod.theory.bands import Bands, Shares, best_bands, best_of_both_labels

Ints = NDArray[np.int64]
Values = NDArray[np.float64]
# From the two groups' positive decisions (each an array) to their unfairness, to be minimised.
Unfairness = Callable[[Ints, Ints], Values]
# Which way a decision may be flipped, by whom may be acted on.
SIGNS: dict[str, tuple[int, ...]] = {"everybody": (1, -1), "negative": (1,), "positive": (-1,)}


@dataclass(frozen=True)
class Crowd:
    """People by group, label and decision, and which of the groups the extremes compare."""

    counts: NDArray[Any]  # (groups, label, decision): whole people, or weights that add up to as many
    groups: list[Any]
    compared: NDArray[np.bool_]  # (groups,)
    people: int

    def of_all(self, nets: NDArray[Any]) -> NDArray[Any]:
        """Net changes of the compared groups (…, compared), plus the groups left out, which do not change."""
        every = np.zeros((*nets.shape[:-1], len(self.groups)), dtype=nets.dtype)
        every[..., self.compared] = nets
        return every


def counts_by_group(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any = None) -> Crowd:
    """The people whose group is known, counted."""
    found = tally(y_true, {"y_pred": y_pred}, sensitive_features, sample_weight)
    people = int(found.kept.sum())
    counts = found.counts.astype(np.int64) if sample_weight is None else found.counts * people / found.counts.sum()
    return Crowd(counts, found.groups, compared_groups(found.sizes), people)


def two_group_counts(y_true: Any, y_pred: Any, sensitive_features: Any) -> Ints:
    """Counts of shape (group, label, decision) for results defined only for two groups; a ValueError for more."""
    crowd = counts_by_group(y_true, y_pred, sensitive_features)
    if len(crowd.groups) != 2:
        raise ValueError(
            f"The paper's propositions are of two groups, found {len(crowd.groups)}: "
            f"{crowd.groups[:5]}. Choose two of them."
        )
    return crowd.counts


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


@dataclass(frozen=True)
class Measure:
    """Unfairness, to be minimised: with two groups from whole numbers, with more from the band of their rates."""

    of_two: Callable[[Ints], Unfairness]  # from the groups' sizes
    of_band: Callable[[Values, Values], Values]  # from the lowest and the highest rate


def _gap_of_two(sizes: Ints) -> Unfairness:
    return lambda u0, u1: np.abs(u0 * sizes[1] - u1 * sizes[0]) / float(sizes[0] * sizes[1])


def _lack_of_two(sizes: Ints) -> Unfairness:
    def lack(u0: Ints, u1: Ints) -> Values:
        rates = np.stack([u0 * sizes[1], u1 * sizes[0]])  # over the common denominator
        return _lack(rates.min(axis=0), rates.max(axis=0))

    return lack


def _lack(low: Values | Ints, high: Values | Ints) -> Values:
    return 1.0 - np.where(high > 0, low / np.where(high > 0, high, 1), 1.0)


GAP = Measure(_gap_of_two, lambda low, high: high - low)
LACK_OF_P_RULE = Measure(_lack_of_two, _lack)


def _best_nets(positives: Ints, sizes: Ints, most: int, measure: Measure, acts_on: str) -> tuple[Values, Ints]:
    """Least unfairness of groups with at most K flips, K = 0 … most, and the net changes (most + 1, groups) for it."""
    if len(sizes) == 2:
        unfair, nets = _best_of_two(positives, sizes, most, measure.of_two(sizes), acts_on)
        leader = _index_of_running_minimum(unfair)
        return unfair[leader], nets[leader]
    bands = Bands(positives, sizes, acts_on)
    best = best_bands(bands, most, measure.of_band)
    leader = _index_of_running_minimum(best.unfair)
    return best.unfair[leader], bands.nets(best.low[leader], best.high[leader])


def _best_of_two(positives: Ints, sizes: Ints, most: int, unfairness: Unfairness, acts_on: str) -> tuple[Values, Ints]:
    """Least unfairness of two groups with exactly K flips, K = 0 … most, and the net changes (most + 1, 2) for it."""
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
    return best, nets


def _index_of_running_minimum(values: Values) -> Ints:
    smallest = np.minimum.accumulate(values)
    first = np.r_[True, smallest[1:] < smallest[:-1]]
    return np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))


def p_rule_curve(
    y_pred: Any,
    *,
    sensitive_features: Any,
    max_changes: int | None = None,
    acts_on: str = "everybody",
    sample_weight: Any = None,
) -> pd.DataFrame:
    """Highest P-Rule that at most K flips of the decisions can reach, for every K (Prop. 4.4, corrected).

    The proposition says that all K flips raise the disfavoured group, or all lower the other. That holds while K is
    below the switching point; from there on the flips are split. Here every split is considered, in both directions.

    Parameters
    ----------
    y_pred : array (n,)
        Decisions of f, 0 or 1.
    sensitive_features : array (n,) or table (n, columns)
        The groups; with several columns, their combinations.
    max_changes : int, optional
        Where the curve ends; by default the number of people.
    acts_on : {"everybody", "negative", "positive"}
        Which of f's decisions may be flipped.
    sample_weight : array (n,), optional
        How much each row counts. K then counts rows of mean weight, `change_rate` is a share of the weight, and a row
        may be flipped in part: a bound that nobody can exceed (`commod.theory.bands`).

    Returns
    -------
    DataFrame
        One row for each K from 0: ``changes, change_rate, p_rule, net_0, net_1, …`` (how many more positive decisions
        each group, in sorted order, then has).
    """
    check_choice("acts_on", acts_on, ACTS_ON)
    y = as_binary(y_pred, "y_pred")
    crowd = counts_by_group(y, y, sensitive_features, sample_weight)
    counts = crowd.counts[crowd.compared].sum(axis=1)  # (group, decision)
    most = _most_changes(max_changes, crowd.people)
    changes = np.arange(most + 1)
    nets: NDArray[Any]
    if sample_weight is None:
        lack, nets = _best_nets(counts[:, 1], counts.sum(axis=1), most, LACK_OF_P_RULE, acts_on)
    else:
        shares = Shares(counts[:, 1], counts.sum(axis=1), acts_on, LACK_OF_P_RULE.of_band)
        lack, *band = shares.bands(changes.astype(float))
        nets = shares.nets(*band)
    columns = {"changes": changes, "change_rate": changes / crowd.people, "p_rule": 1.0 - lack}
    return pd.DataFrame(columns | {f"net_{s}": net for s, net in enumerate(crowd.of_all(nets).T)})


def switching_point(y_pred: Any, *, sensitive_features: Any) -> int:
    """K_s: the fewest flips after which the disfavoured of two groups no longer has the smaller rate.

    There the P-Rule, which the paper takes to be about 1, comes within one flip of it, and its two forms change places.
    One flip in a group of n moves its rate by 1/n, so the smaller group is moved first, as far as possible.
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
    sample_weight: Any = None,
) -> pd.DataFrame:
    """Lowest disparate mistreatment that at most K flips can reach, for every K (Prop. 4.5, corrected).

    DM = Δ_TPR + Δ_FPR, and a flip moves one of the two: the best of x flips on the one and K − x on the other, over all
    x. When the printed proposition holds: `fails_from`. Weights as in `p_rule_curve`.

    Returns
    -------
    DataFrame
        One row for each K from 0: ``changes, change_rate, dm`` and ``net_sy``, how many more positive decisions group s
        with label y then has.
    """
    check_choice("acts_on", acts_on, ACTS_ON)
    crowd = counts_by_group(y_true, y_pred, sensitive_features, sample_weight)
    counts = crowd.counts[crowd.compared]
    check_cells(counts)
    sizes = counts.sum(axis=2)  # (group, label)
    most = _most_changes(max_changes, crowd.people)
    changes = np.arange(most + 1)
    on: list[NDArray[Any]]
    if sample_weight is None:
        dm, on = _by_label(counts, sizes, most, acts_on)
    else:
        labels = [Shares(counts[:, y, 1], sizes[:, y], acts_on, GAP.of_band) for y in (0, 1)]
        dm, spent = best_of_both_labels(labels, changes.astype(float))
        on = [shares.nets(*shares.bands(x)[1:]) for shares, x in zip(labels, (spent, changes - spent), strict=True)]
    both = np.stack([crowd.of_all(nets) for nets in on], axis=2)  # (changes, group, label)
    columns = {"changes": changes, "change_rate": changes / crowd.people, "dm": dm}
    return pd.DataFrame(columns | {f"net_{s}{y}": both[:, s, y] for s, y in np.ndindex(len(crowd.groups), 2)})


def _by_label(counts: Ints, sizes: Ints, most: int, acts_on: str) -> tuple[Values, list[NDArray[Any]]]:
    """Least mistreatment with at most K flips, K = 0 … most, and the net changes of each group for both labels."""
    gaps, nets = zip(
        *(_best_nets(counts[:, y, 1], sizes[:, y], min(most, int(sizes[:, y].sum())), GAP, acts_on) for y in (0, 1)),
        strict=True,
    )
    dm, flips = _shared_budget(gaps[0], gaps[1], most)
    on_0 = nets[0][np.minimum(flips, len(nets[0]) - 1)]
    on_1 = nets[1][np.minimum(np.arange(most + 1) - flips, len(nets[1]) - 1)]
    return dm, [on_0, on_1]


def _shared_budget(first: Values, second: Values, most: int) -> tuple[Values, Ints]:
    """Least first[x] + second[K − x] for K = 0 … most, and the x behind it; both fall, and stay where they end.

    Where both are straight, x can be moved until one of them bends: only bends, of which there are few, need trying.
    """
    curves = [np.r_[v, np.full(max(0, most + 1 - len(v)), v[-1])][: most + 1] for v in (first, second)]
    best = np.full(most + 1, np.inf)
    spent = np.zeros(most + 1, dtype=np.int64)
    changes = np.arange(most + 1)
    for own, other, is_first in ((curves[0], curves[1], True), (curves[1], curves[0], False)):
        inside = np.flatnonzero(np.abs(np.diff(own, 2)) > 1e-13) + 1
        for at in np.unique(np.r_[0, inside, most]):
            total = own[at] + other[: most + 1 - at]
            better = total < best[at:]
            best[at:][better] = total[better]
            spent[at:][better] = at if is_first else changes[at:][better] - at
    return best, spent


def best_curve(y_true: Any, y_pred: Any, *, fairness: str, **given: Any) -> pd.DataFrame:
    """The best that at most K flips can do for a criterion, for every K: `p_rule_curve` or `mistreatment_curve`."""
    check_choice("fairness", fairness, tuple(CRITERIA))
    return mistreatment_curve(y_true, y_pred, **given) if CRITERIA[fairness].by_label else p_rule_curve(y_pred, **given)


def p_rule_as_printed(y_pred: Any, *, sensitive_features: Any, max_changes: int) -> pd.DataFrame:
    """``changes, p_rule`` of Prop. 4.4: K flips raise the lower group or, if K > γ_high − γ_low, lower the other."""
    y = as_binary(y_pred, "y_pred")
    counts = two_group_counts(y, y, sensitive_features).sum(axis=1)
    sizes = counts.sum(axis=1)
    low, high = np.argsort(counts[:, 1] / sizes, kind="stable")
    changes = np.arange(max_changes + 1)
    lowers = changes > counts[high, 1] - counts[low, 1]
    up = np.where(lowers, counts[low, 1], np.minimum(counts[low, 1] + changes, sizes[low])) / sizes[low]
    down = np.where(lowers, np.maximum(counts[high, 1] - changes, 0), counts[high, 1]) / sizes[high]
    return pd.DataFrame({"changes": changes, "p_rule": p_rule_of_rates(np.stack([up, down], axis=-1))})


def mistreatment_as_printed(y_true: Any, y_pred: Any, *, sensitive_features: Any, max_changes: int) -> pd.DataFrame:
    """``changes, dm`` of Prop. 4.5: all K flips on the label and in the group where one moves a rate most."""
    counts = two_group_counts(y_true, y_pred, sensitive_features)
    check_cells(counts)
    sizes = counts.sum(axis=2)
    rates = counts[:, :, 1] / sizes
    label = int(np.argmin(sizes.min(axis=0)))
    group = int(np.argmin(sizes[:, label]))
    changes = np.arange(max_changes + 1)
    upward = rates[group, label] < rates[1 - group, label]
    start, size = counts[group, label, 1], sizes[group, label]
    moved = np.minimum(start + changes, size) if upward else np.maximum(start - changes, 0)
    gaps = np.abs(rates[0] - rates[1])
    dm = np.abs(moved / size - rates[1 - group, label]) + gaps[1 - label]
    return pd.DataFrame({"changes": changes, "dm": dm})


def fails_from(y_true: Any, y_pred: Any, *, sensitive_features: Any, fairness: str, max_changes: int) -> int | None:
    """The smallest K at which the printed proposition is not the best; None if there is none up to here."""
    limit: dict[str, Any] = {"sensitive_features": sensitive_features, "max_changes": max_changes}
    exact = best_curve(y_true, y_pred, fairness=fairness, **limit)
    criterion = CRITERIA[fairness]
    by_label = criterion.by_label
    printed = mistreatment_as_printed(y_true, y_pred, **limit) if by_label else p_rule_as_printed(y_pred, **limit)
    lost = criterion.gain(exact[criterion.figure_name] - printed[criterion.figure_name].iloc[: len(exact)])
    places = np.flatnonzero(lost.to_numpy() > 1e-9)
    return int(places[0]) if len(places) else None
