"""The paper's Propositions 4.4 and 4.5 taken at their word, to see from which K on they are not the best.

Both are right in the regime they have in mind, few flips and enough people to flip. They do not say that it ends:

- the group that is to be flipped has only so many people with the decision in question;
- a gap that is closed can only be opened again by more flips of the same kind;
- a flip moves a rate by a whole step, so the last one may overshoot.
"""

from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import as_binary
from commod.metrics.figures import CRITERIA
from commod.theory.flips import best_curve, check_cells, two_group_counts


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
    larger = np.maximum(up, down)
    p_rule = np.where(larger > 0, np.minimum(up, down) / np.where(larger > 0, larger, 1.0), 1.0)
    return pd.DataFrame({"changes": changes, "p_rule": p_rule})


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
    """The smallest K at which the printed proposition is not the best there is; None if there is none so far."""
    limit: dict[str, Any] = {"sensitive_features": sensitive_features, "max_changes": max_changes}
    exact = best_curve(y_true, y_pred, fairness=fairness, **limit)
    criterion = CRITERIA[fairness]
    by_label = criterion.by_label
    printed = mistreatment_as_printed(y_true, y_pred, **limit) if by_label else p_rule_as_printed(y_pred, **limit)
    lost = criterion.gain(exact[criterion.figure_name] - printed[criterion.figure_name].iloc[: len(exact)])
    places = np.flatnonzero(lost.to_numpy() > 1e-9)
    return int(places[0]) if len(places) else None
