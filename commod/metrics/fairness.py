"""Group fairness of decisions. Signature ``(y_true, y_pred, *, sensitive_features)`` throughout.

Each metric is defined for two or more groups; with more than two it compares the extreme ones. A rate whose group has
no row (no positive label, say, for a true positive rate) does not exist: that is a ValueError naming group and label,
never a NaN. `group_table` shows all rates with their counts and leaves such a cell empty instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.metrics.counts import Counts, confusion_counts

__all__ = [
    "accuracy",
    "delta_fpr",
    "delta_tpr",
    "demographic_parity_difference",
    "disparate_mistreatment",
    "group_table",
    "p_rule",
]

Values = NDArray[np.float64]


# ---- On counts (..., groups, label, prediction): vectorised over leading axes, for the bootstrap. ----


def positive_rates(counts: Counts) -> Values:
    """P(Ŷ = 1 | S = s), shape (..., groups)."""
    return counts[..., 1].sum(axis=-1) / counts.sum(axis=(-2, -1))


def rates_given_label(counts: Counts, label: int) -> Values:
    """P(Ŷ = 1 | Y = label, S = s), shape (..., groups): the TPR for label 1, the FPR for label 0."""
    rows = counts[..., label, :]
    return rows[..., 1] / rows.sum(axis=-1)


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


# ---- On predictions. ----


def accuracy(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Share of right decisions, P(Ŷ = Y). Range 0 to 1; 1 is perfect. Groups play no part."""
    return float(accuracy_of_counts(confusion_counts(y_true, y_pred, sensitive_features)[0]))


def p_rule(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """P-Rule, the smaller of the groups' positive rates over the larger (paper, Sec. 2.1).

    ``min over s, s' of P(Ŷ=1 | S=s) / P(Ŷ=1 | S=s')``. Range 0 to 1; 1 is fair (demographic parity). It depends
    on which class is called 1: 0.8 is the bound of the "four-fifths rule" only where that is the favourable one. If one
    group is never predicted positive and another is, it is 0; if none is, all rates are equal and it is 1. `y_true` is
    not used, and is there so that all metrics are called alike.
    """
    return float(p_rule_of_rates(positive_rates(confusion_counts(y_true, y_pred, sensitive_features)[0])))


def demographic_parity_difference(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Largest difference of the groups' positive rates. Range 0 to 1; 0 is fair."""
    return float(gap(positive_rates(confusion_counts(y_true, y_pred, sensitive_features)[0])))


def delta_tpr(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Δ_TPR = |TPR_{S=1} − TPR_{S=0}|. Range 0 to 1; 0 is fair. ValueError if a group has no row with y = 1."""
    return _label_gap(y_true, y_pred, sensitive_features, label=1)


def delta_fpr(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Δ_FPR = |FPR_{S=1} − FPR_{S=0}|. Range 0 to 1; 0 is fair. ValueError if a group has no row with y = 0."""
    return _label_gap(y_true, y_pred, sensitive_features, label=0)


def disparate_mistreatment(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """DM = Δ_TPR + Δ_FPR (paper, Sec. 2.1). Range 0 to 2; 0 is fair (equalized odds)."""
    return delta_tpr(y_true, y_pred, sensitive_features=sensitive_features) + delta_fpr(
        y_true, y_pred, sensitive_features=sensitive_features
    )


def group_table(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> pd.DataFrame:
    """Size and rates of each group, one row per group.

    Columns ``count, positives, positive_rate, tpr, fpr, accuracy``; `positives` counts y = 1. A rate that does not
    exist (no row with that label) is ``<NA>``.
    """
    counts, groups = confusion_counts(y_true, y_pred, sensitive_features)
    by_label = counts.sum(axis=-1)  # (groups, label)
    sizes = by_label.sum(axis=-1)
    return pd.DataFrame(
        {
            "count": sizes.astype(int),
            "positives": by_label[:, 1].astype(int),
            "positive_rate": _share(counts[..., 1].sum(axis=-1), sizes),
            "tpr": _share(counts[:, 1, 1], by_label[:, 1]),
            "fpr": _share(counts[:, 0, 1], by_label[:, 0]),
            "accuracy": _share(counts[:, 0, 0] + counts[:, 1, 1], sizes),
        },
        index=pd.Index(groups, name="group"),
    )


def _share(part: Values, whole: Values) -> pd.array:
    defined = whole > 0
    values = pd.array(part / np.where(defined, whole, 1.0), dtype="Float64")
    values[~defined] = pd.NA
    return values


def _label_gap(y_true: Any, y_pred: Any, sensitive_features: Any, label: int) -> float:
    """Largest difference of the groups' positive rates among the rows with `label`."""
    counts, groups = confusion_counts(y_true, y_pred, sensitive_features)
    empty = [group for group, rows in zip(groups, counts[:, label].sum(axis=-1), strict=True) if rows == 0]
    if empty:
        name = "true" if label else "false"
        raise ValueError(
            f"Group(s) {empty} have no row with y = {label}, so their {name} positive rate does not exist: "
            "leave them out or merge them with another group."
        )
    return float(gap(rates_given_label(counts, label)))
