"""The fewest changes of f's decisions that make them fair in one or more senses, when the group is known.

The rule knows a person's group, f's decision and the bin of f's score, and not the outcome. For each such cell it
chooses the probability of overruling f. The expected positive decisions of each group and outcome are linear in these
probabilities, so the fewest changes under demographic parity and equalized odds, exactly and together, are a linear
program. Predictive parity is one too once the common precision π is chosen (right = π·positive in each group); π is
searched. Where base rates differ, some demands contradict each other: then no such rule exists, or only one with hardly
any positive decisions.

The idea is that of minimal intervention (ROCF, Jiang & Dobriban 2026); we had its abstract, summaries and reviews. ROCF
first picks the most accurate fair rates and then reaches them with few changes; here the fewest changes come first, so
there are never more of them, and accuracy may be lower.
"""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import linprog

from commod.metrics.counts import as_binary, as_weight, codes_of_groups, compared_groups, tally
from commod.metrics.fairness import FPR, PPV, TPR
from commod.metrics.figures import CRITERIA
from commod.models.validation import check_choice

Values = NDArray[np.float64]
# The possible demands, by name.
DEMANDS = {
    "demographic_parity": "demographic parity",
    "equalized_odds": "equalized odds",
    "predictive_parity": "predictive parity",
}
N_BINS = 10
# Precisions that are tried, and how often the search then narrows down around the best.
PRECISIONS, ROUNDS = 60, 3


@dataclass(frozen=True)
class Interventions:
    """The rule with the fewest expected changes."""

    # Shares of all people: changed, and decided positively afterwards.
    change_rate: float
    positive_rate: float
    chances: Values  # of overruling f in each cell; groups too small to be compared are left as they are


def fewest_interventions(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    demands: Collection[str],
    scores: Any = None,
    sample_weight: Any = None,
) -> Interventions | None:
    """The fewest expected changes by a rule that knows the group, and meets all demands exactly in expectation.

    `demands` are "demographic_parity", "equalized_odds" and "predictive_parity", which leaves each group at least one
    positive decision. With f's probabilities as `scores`, the rule may treat their bins differently. None if no such
    rule meets all demands.
    """
    for demand in demands:
        check_choice("demands", demand, tuple(DEMANDS))
    cells = _cells(y_true, y_pred, sensitive_features, scores, sample_weight)
    if "predictive_parity" not in demands:
        return _solve(cells, demands, None)
    low, high, best = 0.0, 1.0, None
    for _ in range(ROUNDS):
        tried = np.linspace(low, high, PRECISIONS + 1)
        found = [_solve(cells, demands, precision) for precision in tried]
        costs = np.array([np.inf if rule is None else rule.change_rate for rule in found])
        if not np.isfinite(costs).any():
            return best
        place = int(costs.argmin())
        if best is None or costs[place] < best.change_rate:
            best = found[place]
        step = tried[1] - tried[0]
        low, high = max(0.0, tried[place] - step), min(1.0, tried[place] + step)
    return best


def fewest_to_reach(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    fairness: str,
    level: float,
    scores: Any = None,
    sample_weight: Any = None,
) -> float | None:
    """The fewest expected changes, as a share, by a rule that knows the group and need not be fully fair.

    `level` is the least P-Rule (``lowest rate ≥ level · highest``) or the largest disparate mistreatment (largest minus
    smallest true positive rate, plus the same for false positive rates): both are linear. None if no such rule gets
    there.
    """
    check_choice("fairness", fairness, ("demographic_parity", "equalized_odds"))
    shares, groups, before, moves = _linear(_cells(y_true, y_pred, sensitive_features, scores, sample_weight))
    sizes = shares.sum(axis=(1, 2))  # (groups, label)
    rates = [(moves[:, label], before[:, label], sizes[:, label]) for label in (0, 1)]
    criterion = CRITERIA[fairness]
    if not criterion.by_label:
        rates = [(moves.sum(axis=1), before.sum(axis=1), sizes.sum(axis=1))]
    # Unknown beside the chances: the lowest and the highest of each rate.
    left, right = [], []
    for place, (move, now, whole) in enumerate(rates):
        for s in range(groups):
            for side, sign in ((0, -1.0), (1, 1.0)):  # lowest ≤ (now + move·chances) / whole ≤ highest
                ends = np.zeros(2 * len(rates))
                ends[2 * place + side] = -sign
                left.append(np.r_[sign * move[s] / whole[s], ends])
                right.append(-sign * now[s] / whole[s])
    parity = criterion.upward  # the P-Rule is a ratio, disparate mistreatment a difference
    gap = [-1.0, level] if parity else [-1.0, 1.0] * len(rates)
    left.append(np.r_[np.zeros(moves.shape[-1]), gap])
    right.append(0.0 if parity else level)
    cost = np.r_[shares.sum(axis=3).ravel(), np.zeros(2 * len(rates))]
    found = linprog(cost, A_ub=np.array(left), b_ub=right, bounds=(0.0, 1.0))
    return float(found.fun) if found.success else None


def interventions_by_demand(y_true: Any, y_pred: Any, **given: Any) -> pd.DataFrame:
    """`fewest_interventions` for each demand, each pair and all three.

    Columns ``demands`` (a tuple), ``change_rate, positive_rate``, NaN if no rule meets them together.
    """
    rows = []
    for size in range(1, len(DEMANDS) + 1):
        for demands in combinations(DEMANDS, size):
            rule = fewest_interventions(y_true, y_pred, demands=demands, **given)
            rows.append((demands, *((np.nan, np.nan) if rule is None else (rule.change_rate, rule.positive_rate))))
    return pd.DataFrame(rows, columns=["demands", "change_rate", "positive_rate"])


@dataclass(frozen=True)
class _Cells:
    """Shares of the people by (group, bin, decision, label), which groups are compared, and the share of one person."""

    shares: Values
    compared: NDArray[np.bool_]
    one: float


def _cells(y_true: Any, y_pred: Any, sensitive_features: Any, scores: Any, sample_weight: Any) -> _Cells:
    y, decided = as_binary(y_true, "y_true"), as_binary(y_pred, "y_pred")
    codes, groups = codes_of_groups(sensitive_features)
    weight = np.ones(len(y)) if sample_weight is None else as_weight(sample_weight)
    bins = np.zeros(len(y), dtype=int)
    if scores is not None:
        bins = np.minimum((np.asarray(scores, dtype=float) * N_BINS).astype(int), N_BINS - 1)
    kept = (codes >= 0) & (weight > 0)
    shares = np.zeros((len(groups), 1 if scores is None else N_BINS, 2, 2))
    np.add.at(shares, tuple(values[kept] for values in (codes, bins, decided, y)), weight[kept] / weight[kept].sum())
    return _Cells(shares, compared_groups(np.bincount(codes[kept], minlength=len(groups))), 1.0 / int(kept.sum()))


def _linear(cells: _Cells) -> tuple[Values, int, Values, Values]:
    """Shares of the compared groups, their number, f's positive decisions (group, label), and what chances add."""
    shares = cells.shares[cells.compared]
    groups, bins = shares.shape[:2]
    before = shares[:, :, 1].sum(axis=1)
    signed = np.stack([shares[:, :, 0], -shares[:, :, 1]], axis=2)  # what overruling f adds to them, by cell and label
    moves = np.zeros((groups, 2, groups, 2 * bins))
    for s in range(groups):
        moves[s, :, s] = signed[s].reshape(2 * bins, 2).T
    return shares, groups, before, moves.reshape(groups, 2, 2 * groups * bins)


def _solve(cells: _Cells, demands: Collection[str], precision: float | None) -> Interventions | None:
    """The linear program, with the precision of all groups if it is given."""
    shares, groups, before, moves = _linear(cells)
    bins = shares.shape[1]
    sizes = shares.sum(axis=(1, 2))  # (groups, label)
    rates = 3  # unknown beside the chances: the common rate, and that under each label
    equal: list[Values] = []
    right: list[float] = []

    def demand(move: Values, now: float, whole: float, rate: int | None) -> None:
        """(now + move·chances) / whole is the common rate, or 0."""
        equal.append(np.r_[move / whole, np.zeros(rates)])
        right.append(-now / whole)
        if rate is not None:
            equal[-1][len(move) + rate] = -1.0

    for s in range(groups):
        if "demographic_parity" in demands:
            demand(moves[s].sum(axis=0), before[s].sum(), sizes[s].sum(), 0)
        if "equalized_odds" in demands:
            for label in (0, 1):
                if sizes[s, label] > 0:
                    demand(moves[s, label], before[s, label], sizes[s, label], 1 + label)
        if precision is not None:
            sides = np.array([-precision, 1.0 - precision])
            demand(sides @ moves[s], sides @ before[s], 1.0, None)
    cost = np.r_[shares.sum(axis=3).ravel(), np.zeros(rates)]
    left = None if precision is None else np.column_stack([-moves.sum(axis=1), np.zeros((groups, rates))])
    room = None if precision is None else before.sum(axis=1) - cells.one
    found = linprog(cost, A_ub=left, b_ub=room, A_eq=np.array(equal), b_eq=right, bounds=(0.0, 1.0))
    if not found.success:
        return None
    chances = np.zeros(cells.shares.shape[:3])
    chances[cells.compared] = found.x[:-rates].reshape(groups, bins, 2)
    after = cells.shares[:, :, 1].sum() + float(moves.sum(axis=(0, 1)) @ found.x[:-rates])
    return Interventions(float(found.fun), after, chances)


def error_rates(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> pd.DataFrame:
    """Error rates by group, and the false positive rates that equal other rates would force.

    One row per group: ``base_rate`` (share of label 1), ``ppv`` (share of right ones among positive decisions), ``fnr,
    fpr``, and ``forced_fpr``: the group's false positive rate if its PPV and FNR were those of everybody. Above 1, no
    decisions have them. NaN if a rate does not exist.

    By counting alone, with base rate p (Chouldechova 2017, Eq. 2.6): FPR = p / (1 − p) · (1 − PPV) / PPV · (1 − FNR).
    If two groups have equal PPV and FNR but different p, their FPR must differ, unless there are no errors. Kleinberg,
    Mullainathan and Raghavan (2016) show the same for scores that are calibrated in each group.
    """
    found = tally(y_true, {"y_pred": y_pred}, sensitive_features, sample_weight)
    counts = found.counts
    base = counts[:, 1].sum(axis=1) / counts.sum(axis=(1, 2))
    ppv, hit = float(PPV(counts)), float(TPR(counts))
    with np.errstate(divide="ignore", invalid="ignore"):  # a group with one label
        columns = {
            "base_rate": base,
            "ppv": PPV.rates(counts),
            "fnr": 1.0 - TPR.rates(counts),
            "fpr": FPR.rates(counts),
            "forced_fpr": base / (1.0 - base) * ((1.0 - ppv) / ppv if ppv > 0 else np.nan) * hit,
        }
    return pd.DataFrame(columns, index=pd.Index(found.groups, name="group"))
