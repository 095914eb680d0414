"""Group fairness of decisions. Signature ``(y_true, y_pred, *, sensitive_features, sample_weight=None)`` throughout.

Each metric is defined for two or more groups. With more than two it compares the extreme ones, without groups that are
too small (`commod.metrics.counts`). `sensitive_features` may have missing values, and two or more columns: see
`commod.metrics.counts.codes_of_groups`. Only rows with a known group count. `sample_weight` says how many people a row
stands for: whole numbers are repeated rows.

A rate whose group has no row (no positive label, say, for a true positive rate) does not exist: that is a ValueError
naming group and label, never a NaN.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from commod.metrics.counts import Counts, Tally, compared_groups, effective_size, tally, wilson_interval

Values = NDArray[np.float64]


# Cells of the counts of one model, and of two.
LABEL, DECISION = np.ogrid[:2, :2]
OF_TWO, BEFORE, AFTER = np.ogrid[:2, :2, :2]  # the label, the decisions of f and of g


@dataclass(frozen=True, eq=False)
class Share:
    """A share of people: the count of some cells divided by the count of others."""

    part: NDArray[np.bool_]  # by label and decision, or by label and the decisions of f and g
    whole: NDArray[np.bool_]
    empty: float  # the share of nobody

    def people(self, counts: Counts) -> Values:
        """How many people it is a share of, by group, (..., groups)."""
        return np.asarray(counts[..., self.whole].sum(axis=-1))

    def rates(self, counts: Counts) -> Values:
        """The share in each group, (..., groups)."""
        whole = self.people(counts)
        part = counts[..., self.part].sum(axis=-1)
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), self.empty)

    def __call__(self, counts: Counts) -> Values:
        """The share among everybody."""
        return self.rates(self.of_all(counts))

    def of_all(self, counts: Counts) -> Counts:
        return np.asarray(counts.sum(axis=-1 - self.part.ndim))


def share_of(part: Any, whole: Any = True, empty: float = np.nan) -> Share:
    """The share of the cells `part` in the cells `whole`, by default all cells."""
    shape = (2,) * part.ndim
    return Share(np.broadcast_to(part, shape), np.broadcast_to(whole, shape), empty)


ACCURACY = share_of(LABEL == DECISION)
POSITIVE, NEGATIVE = share_of(DECISION == 1), share_of(DECISION == 0)
TPR = share_of((LABEL == 1) & (DECISION == 1), LABEL == 1)
FPR = share_of((LABEL == 0) & (DECISION == 1), LABEL == 0)
PPV = share_of((LABEL == 1) & (DECISION == 1), DECISION == 1)


def p_rule_of_rates(rates: Values) -> Values:
    """Smallest over largest rate; 1 where all rates are 0, NaN where one does not exist."""
    low, high = rates.min(axis=-1), rates.max(axis=-1)
    return np.where(high == 0, 1.0, low / np.where(high == 0, 1.0, high))


def gap(rates: Values) -> Values:
    """Largest minus smallest rate."""
    return rates.max(axis=-1) - rates.min(axis=-1)


@dataclass(frozen=True)
class Extremes:
    """A figure that compares the smallest and the largest of the groups' rates."""

    # The sum of each share's largest minus smallest rate; or, for one share, the smallest over the largest.
    shares: tuple[Share, ...]
    ratio: bool = False

    def __call__(self, counts: Counts) -> Values:
        if self.ratio:
            return p_rule_of_rates(self.shares[0].rates(counts))
        gaps = [gap(share.rates(counts)) for share in self.shares]
        return np.asarray(sum(gaps[1:], gaps[0]))


P_RULE = Extremes((POSITIVE,), ratio=True)
# The figures of decisions that a pair of groups attains.
ATTAINED = {"p_rule": POSITIVE, "p_rule_of_negative": NEGATIVE, "delta_tpr": TPR, "delta_fpr": FPR}


def accuracy(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Share of right decisions, P(Ŷ = Y). Range 0 to 1; 1 is perfect. Groups play no part, but must be known."""
    return float(ACCURACY(_tally(y_true, y_pred, sensitive_features, sample_weight).counts))


def p_rule(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """P-Rule, the smallest of the groups' positive rates over the largest (paper, Sec. 2.1).

    ``min over s, s' of P(Ŷ=1 | S=s) / P(Ŷ=1 | S=s')``. Range 0 to 1; 1 is fair (demographic parity). It depends on
    which class is called 1: 0.8 is the bound of the "four-fifths rule" only if class 1 is favourable. If one group is
    never predicted positive and another is, it is 0; if none is, all rates are equal and it is 1. `y_true` is not used;
    it is there so that all metrics have one signature.
    """
    return float(P_RULE(_compared(_tally(y_true, y_pred, sensitive_features, sample_weight))[0]))


def disparate_mistreatment(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """DM = Δ_TPR + Δ_FPR (paper, Sec. 2.1). Range 0 to 2; 0 is fair (equalized odds).

    With more than two groups each part has its own pair.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    return _label_gap(found, label=1) + _label_gap(found, label=0)


def compare_groups(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    label: int | None = None,
) -> pd.DataFrame:
    """Every group against everyone: how often it gets the positive decision.

    `label` None counts all rows, 1 those with y = 1 (true positive rates), 0 those with y = 0 (false positive rates).

    Returns
    -------
    DataFrame
        One row per group: ``count`` (rows behind the rate), ``rate`` with ``low, high`` (Wilson's 95 % interval; under
        weights with Kish's effective size), ``ratio`` (to the largest rate of a group that is compared), ``difference``
        (to everyone's rate) and ``compared`` (whether the group counts in the extremes). NaN for no rows.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    share = {None: POSITIVE, 1: TPR, 0: FPR}[label]
    compared, rates = compared_groups(found.sizes), share.rates(found.counts)
    people = effective_size(share.people(found.counts), share.people(found.squares))
    low, high = wilson_interval(rates * people, people)
    largest = np.fmax.reduce(rates[compared], initial=0.0)  # ignores NaN
    return pd.DataFrame(
        {
            "count": share.people(found.rows).astype(int),
            "rate": rates,
            "low": low,
            "high": high,
            "ratio": rates / largest if largest > 0 else np.where(rates > 0, np.inf, rates + 1.0),
            "difference": rates - share(found.counts),
            "compared": compared,
        },
        index=pd.Index(found.groups, name="group"),
    )


def extreme_groups(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> pd.DataFrame:
    """The pair of groups that attains each worst-case figure.

    Returns
    -------
    DataFrame
        One row for each of ``p_rule`` (and so for the difference of the rates), ``p_rule_of_negative, delta_tpr,
        delta_fpr``: ``lowest, lowest_rate, highest, highest_rate``, the groups' values and their rates; of equal rates,
        the first. A figure that needs a label that a group lacks is left out.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    counts, groups = _compared(found)
    rows = {}
    for name, share in ATTAINED.items():
        if (share.people(counts) > 0).all():
            rates = share.rates(counts)
            low, high = int(rates.argmin()), int(rates.argmax())
            rows[name] = (groups[low], float(rates[low]), groups[high], float(rates[high]))
    columns = ["lowest", "lowest_rate", "highest", "highest_rate"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("figure")


def _tally(y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: Any) -> Tally:
    return tally(y_true, {"y_pred": y_pred}, sensitive_features, sample_weight)


def _compared(found: Tally) -> tuple[Counts, list[Any]]:
    """Counts and values of the groups that are large enough for the extremes."""
    compared = compared_groups(found.sizes)
    return found.counts[compared], [group for group, kept in zip(found.groups, compared, strict=True) if kept]


def _label_gap(found: Tally, label: int) -> float:
    """Largest difference of the groups' positive rates among the rows with `label`."""
    counts, groups = _compared(found)
    share = TPR if label else FPR
    empty = [group for group, people in zip(groups, share.people(counts), strict=True) if people == 0]
    if empty:
        name = "true" if label else "false"
        raise ValueError(
            f"Group(s) {empty} have no row with y = {label}, so their {name} positive rate is undefined: "
            "leave them out or merge them with another group."
        )
    return float(gap(share.rates(counts)))


# A category with a smaller share of the people is printed, but not compared (6 RCNY § 5-301(d)).
LEAST_SHARE = 0.02


def impact_table(codes: Any, groups: Sequence[str], selected: Any) -> pd.DataFrame:
    """By group, ``applicants, selected, rate`` and ``ratio`` to the highest rate.

    `codes` are places in `groups`, -1 for unknown groups, which are left out. Groups of less than 2 % of the people are
    not compared: their ratio is NaN.
    """
    codes, chosen = np.asarray(codes), np.asarray(selected, dtype=bool)
    people, taken = (np.bincount(codes[(codes >= 0) & here], minlength=len(groups)) for here in (True, chosen))
    rate = np.divide(taken, people, out=np.full(len(groups), np.nan), where=people > 0)
    compared = people >= max(1.0, LEAST_SHARE * people.sum())
    highest = rate[compared].max() if compared.any() else np.nan
    ratio = np.where(compared & (highest > 0), rate / (highest or np.nan), np.nan)
    return pd.DataFrame(
        {"applicants": people, "selected": taken, "rate": rate, "ratio": ratio}, index=pd.Index(groups, name="group")
    )


class AdverseImpact(NamedTuple):
    """The lowest rate of the favourable decision against the highest."""

    ratio: float
    p_value: float  # of Fisher's exact test, times the number of pairs from which this one was picked
    lowest: str
    highest: str


def adverse_impact(table: pd.DataFrame) -> AdverseImpact | None:
    """The adverse impact ratio of an `impact_table`, with Fisher's exact test; None where nothing can be compared."""
    found = table[table["ratio"].notna()]
    if len(found) < 2:
        return None
    low, high = found.loc[found["rate"].idxmin()], found.loc[found["rate"].idxmax()]
    counts = [[row["selected"], row["applicants"] - row["selected"]] for row in (low, high)]
    pairs = math.comb(len(found), 2)
    p_value = min(1.0, pairs * float(fisher_exact(np.array(counts, dtype=int)).pvalue))
    return AdverseImpact(float(low["ratio"]), p_value, str(low.name), str(high.name))
