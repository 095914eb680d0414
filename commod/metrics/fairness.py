"""Group fairness of decisions. Signature ``(y_true, y_pred, *, sensitive_features, sample_weight=None)`` throughout.

Each metric is defined for two or more groups; with more than two it compares the extreme ones, and leaves out those
that are too small (`commod.metrics.small_groups`). `sensitive_features` may have missing values, and two columns or
more: see `commod.metrics.counts.codes_of_groups`. Every metric rests on the rows whose group is known. `sample_weight`
counts a person so many times: whole numbers are repeated rows.

A rate whose group has no row (no positive label, say, for a true positive rate) does not exist: that is a ValueError
naming group and label, never a NaN. `group_table` shows all rates with their counts and leaves such a cell empty.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.metrics.counts import Counts, Tally, effective_size, tally
from commod.metrics.intervals import wilson_interval
from commod.metrics.small_groups import compared_groups

Values = NDArray[np.float64]


# ---- On counts (..., groups, label, prediction): vectorised over leading axes, for the bootstrap. ----


def positive_rates(counts: Counts) -> Values:
    """P(Ŷ = 1 | S = s), shape (..., groups)."""
    return counts[..., 1].sum(axis=-1) / counts.sum(axis=(-2, -1))


def rates_given_label(counts: Counts, label: int) -> Values:
    """P(Ŷ = 1 | Y = label, S = s), shape (..., groups): the TPR for label 1, the FPR for label 0."""
    rows = counts[..., label, :]
    return rows[..., 1] / rows.sum(axis=-1)


def predictive_values(counts: Counts) -> Values:
    """P(Y = 1 | Ŷ = 1, S = s), the positive predictive value, shape (..., groups); NaN where nobody is decided 1."""
    decided = counts[..., 1]  # (..., groups, label)
    with np.errstate(invalid="ignore"):  # 0 / 0
        return decided[..., 1] / decided.sum(axis=-1)


def p_rule_of_rates(rates: Values) -> Values:
    """Smallest over largest rate; 1 where all rates are 0, NaN where one does not exist."""
    low, high = rates.min(axis=-1), rates.max(axis=-1)
    return np.where(high == 0, 1.0, low / np.where(high == 0, 1.0, high))


def gap(rates: Values) -> Values:
    """Largest minus smallest rate."""
    return rates.max(axis=-1) - rates.min(axis=-1)


def accuracy_of_counts(counts: Counts) -> Values:
    """Share of rows with Ŷ = Y."""
    return (counts[..., 0, 0] + counts[..., 1, 1]).sum(axis=-1) / counts.sum(axis=(-3, -2, -1))


@dataclass(frozen=True)
class Share:
    """A rate of each group, from counts (..., groups, label, prediction): its value, and of how many it is a share."""

    rates: Callable[[Counts], Values]
    whole: Callable[[Counts], Values]


def _of_label(label: int) -> Share:
    return Share(partial(rates_given_label, label=label), lambda counts: counts[..., label, :].sum(axis=-1))


POSITIVE = Share(positive_rates, lambda counts: counts.sum(axis=(-2, -1)))
NEGATIVE = Share(lambda counts: 1.0 - positive_rates(counts), POSITIVE.whole)
TPR, FPR = _of_label(1), _of_label(0)
PPV = Share(predictive_values, lambda counts: counts[..., 1].sum(axis=-1))


@dataclass(frozen=True)
class Extremes:
    """A figure that compares the smallest and the largest of the groups' rates."""

    # Of each the largest minus the smallest rate, and their sum; or of one the smallest over the largest.
    shares: tuple[Share, ...]
    ratio: bool = False

    def __call__(self, counts: Counts) -> Values:
        if self.ratio:
            return p_rule_of_rates(self.shares[0].rates(counts))
        gaps = [gap(share.rates(counts)) for share in self.shares]
        return np.asarray(sum(gaps[1:], gaps[0]))


P_RULE = Extremes((POSITIVE,), ratio=True)
# The figures of decisions that two groups attain.
ATTAINED = {"p_rule": POSITIVE, "p_rule_of_negative": NEGATIVE, "delta_tpr": TPR, "delta_fpr": FPR}


# ---- On predictions. ----


def accuracy(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Share of right decisions, P(Ŷ = Y). Range 0 to 1; 1 is perfect. Groups play no part, but must be known."""
    return float(accuracy_of_counts(_tally(y_true, y_pred, sensitive_features, sample_weight).counts))


def p_rule(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """P-Rule, the smallest of the groups' positive rates over the largest (paper, Sec. 2.1).

    ``min over s, s' of P(Ŷ=1 | S=s) / P(Ŷ=1 | S=s')``. Range 0 to 1; 1 is fair (demographic parity). It depends
    on which class is called 1: 0.8 is the bound of the "four-fifths rule" only where that is the favourable one. If one
    group is never predicted positive and another is, it is 0; if none is, all rates are equal and it is 1. `y_true` is
    not used, and is there so that all metrics are called alike.
    """
    return float(P_RULE(_compared(_tally(y_true, y_pred, sensitive_features, sample_weight))[0]))


def demographic_parity_difference(
    y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> float:
    """Largest difference of the groups' positive rates. Range 0 to 1; 0 is fair."""
    return float(gap(positive_rates(_compared(_tally(y_true, y_pred, sensitive_features, sample_weight))[0])))


def delta_tpr(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Δ_TPR, the largest minus the smallest true positive rate; of two groups |TPR_{S=1} − TPR_{S=0}|.

    Range 0 to 1; 0 is fair. ValueError if a group that is compared has no row with y = 1.
    """
    return _label_gap(_tally(y_true, y_pred, sensitive_features, sample_weight), label=1)


def delta_fpr(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """Δ_FPR, the largest minus the smallest false positive rate; of two groups |FPR_{S=1} − FPR_{S=0}|.

    Range 0 to 1; 0 is fair. ValueError if a group that is compared has no row with y = 0.
    """
    return _label_gap(_tally(y_true, y_pred, sensitive_features, sample_weight), label=0)


def disparate_mistreatment(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> float:
    """DM = Δ_TPR + Δ_FPR (paper, Sec. 2.1). Range 0 to 2; 0 is fair (equalized odds).

    Of more than two groups each part is attained by a pair of its own.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    return _label_gap(found, label=1) + _label_gap(found, label=0)


def group_table(y_true: Any, y_pred: Any, *, sensitive_features: Any, sample_weight: Any = None) -> pd.DataFrame:
    """Size and rates of each group, one row per group, small ones, too.

    Columns ``count, positives, positive_rate, tpr, fpr, accuracy``; `count` and `positives` (those with y = 1) are
    rows, the rates are weighted. A rate that does not exist (no row with that label) is ``<NA>``.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    counts = found.counts
    by_label = counts.sum(axis=-1)  # (groups, label)
    sizes = by_label.sum(axis=-1)
    return pd.DataFrame(
        {
            "count": found.sizes.astype(int),
            "positives": found.rows[:, 1].sum(axis=-1).astype(int),
            "positive_rate": _share(counts[..., 1].sum(axis=-1), sizes),
            "tpr": _share(counts[:, 1, 1], by_label[:, 1]),
            "fpr": _share(counts[:, 0, 1], by_label[:, 0]),
            "accuracy": _share(counts[:, 0, 0] + counts[:, 1, 1], sizes),
        },
        index=pd.Index(found.groups, name="group"),
    )


def compare_groups(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    label: int | None = None,
) -> pd.DataFrame:
    """Every group against everyone: how often it gets the positive decision.

    Parameters
    ----------
    label : {None, 0, 1}
        Among all, among those with y = 1 (true positive rates) or with y = 0 (false positive rates).

    Returns
    -------
    DataFrame
        One row per group: ``count`` (rows that the rate is of), ``rate`` with ``low, high`` (Wilson's 95 % interval;
        under weights with Kish's effective size), ``ratio`` (to the largest rate of a group that is compared),
        ``difference`` (to everyone's rate) and ``compared`` (whether the group counts in the extremes). NaN of nobody.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    share = POSITIVE if label is None else _of_label(label)
    compared = compared_groups(found.sizes)
    with np.errstate(invalid="ignore"):  # 0 / 0
        rates, of_all = share.rates(found.counts), share.rates(found.counts.sum(axis=0, keepdims=True))
        people = effective_size(share.whole(found.counts), share.whole(found.squares))
        low, high = wilson_interval(rates * people, people)
        largest = np.fmax.reduce(rates[compared], initial=0.0)  # whatever is NaN
        ratio = rates / largest if largest > 0 else np.where(rates > 0, np.inf, rates + 1.0)
    return pd.DataFrame(
        {
            "count": share.whole(found.rows).astype(int),
            "rate": rates,
            "low": low,
            "high": high,
            "ratio": ratio,
            "difference": rates - of_all,
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
        delta_fpr``: ``lowest, lowest_rate, highest, highest_rate``, the groups' values and their rates. Of groups with
        equal rates the first. A figure that needs a label which a group lacks is left out.
    """
    found = _tally(y_true, y_pred, sensitive_features, sample_weight)
    counts, groups = _compared(found)
    rows = {}
    for name, share in ATTAINED.items():
        if (share.whole(counts) > 0).all():
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


def _share(part: Values, whole: Values) -> pd.array:
    defined = whole > 0
    values = pd.array(part / np.where(defined, whole, 1.0), dtype="Float64")
    values[~defined] = pd.NA
    return values


def _label_gap(found: Tally, label: int) -> float:
    """Largest difference of the groups' positive rates among the rows with `label`."""
    counts, groups = _compared(found)
    empty = [group for group, rows in zip(groups, counts[:, label].sum(axis=-1), strict=True) if rows == 0]
    if empty:
        name = "true" if label else "false"
        raise ValueError(
            f"Group(s) {empty} have no row with y = {label}, so their {name} positive rate does not exist: "
            "leave them out or merge them with another group."
        )
    return float(gap(rates_given_label(counts, label)))
