"""All figures of a pair (f, g) on one set of rows, with stratified bootstrap intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import Counts, change_counts
from commod.metrics.fairness import (
    accuracy_of_counts,
    gap,
    p_rule_of_rates,
    positive_rates,
    rates_given_label,
)

__all__ = ["bootstrap_counts", "compare_decisions", "figures_of_counts"]

N_BOOTSTRAP = 1000


def bootstrap_counts(counts: Counts, *, n_bootstrap: int = N_BOOTSTRAP, seed: int = 0) -> Counts:
    """Resample rows with replacement within each stratum (group × label), as counts.

    Resampling rows and counting them is drawing from a multinomial over the cells (Ŷ^f, Ŷ^g) of the stratum; its
    size stays what it is, so no resample has an empty group.

    Parameters
    ----------
    counts : (groups, 2, 2, 2)

    Returns
    -------
    (n_bootstrap, groups, 2, 2, 2)
    """
    rng = np.random.default_rng(seed)
    out = np.zeros((n_bootstrap, *counts.shape))
    for index in np.ndindex(counts.shape[:2]):
        cells = counts[index].ravel()
        if cells.sum() > 0:
            draws = rng.multinomial(int(cells.sum()), cells / cells.sum(), size=n_bootstrap)
            out[(slice(None), *index)] = draws.reshape(n_bootstrap, 2, 2)
    return out


def figures_of_counts(counts: Counts) -> dict[str, np.ndarray]:
    """Metrics of one model from (..., groups, label, prediction); a figure that needs an empty cell is left out."""
    rates = positive_rates(counts)
    by_label = counts.sum(axis=-1)
    figures = {
        "accuracy": accuracy_of_counts(counts),
        "p_rule": p_rule_of_rates(rates),
        "demographic_parity_difference": gap(rates),
    }
    if (by_label > 0).all():
        tpr, fpr = gap(rates_given_label(counts, 1)), gap(rates_given_label(counts, 0))
        figures |= {"dm": tpr + fpr, "delta_tpr": tpr, "delta_fpr": fpr}
    figures |= {f"positive_rate_{i}": rates[..., i] for i in range(rates.shape[-1])}
    return figures


def _changes(counts: Counts) -> dict[str, np.ndarray]:
    """Change rates from (..., groups, label, f, g)."""
    total = counts.sum(axis=(-4, -3, -2, -1))
    sizes = counts.sum(axis=(-3, -2, -1))
    raised, lowered = counts[..., 0, 1].sum(axis=-1), counts[..., 1, 0].sum(axis=-1)  # (..., groups)
    changes = {
        "change_rate": (raised + lowered).sum(axis=-1) / total,
        "raised_rate": raised.sum(axis=-1) / total,
        "lowered_rate": lowered.sum(axis=-1) / total,
    }
    return changes | {f"change_rate_{i}": ((raised + lowered) / sizes)[..., i] for i in range(sizes.shape[-1])}


def compare_decisions(
    y_true: Any,
    predictions_f: Any,
    predictions_g: Any,
    *,
    sensitive_features: Any,
    confidence: float = 0.95,
    n_bootstrap: int = N_BOOTSTRAP,
    seed: int = 0,
) -> pd.DataFrame:
    """Figures of f and g on the same rows, their difference, and percentile bootstrap intervals.

    Returns
    -------
    DataFrame
        One row per figure: ``accuracy, p_rule, demographic_parity_difference, dm, delta_tpr, delta_fpr,
        positive_rate_i`` per group, then the changes ``change_rate, raised_rate`` (0→1), ``lowered_rate`` (1→0) and
        ``change_rate_i`` per group, whose value for f is 0 by definition. Columns ``f, g, difference`` (g − f), each
        with ``_low`` and ``_high``. ``dm`` and its parts are missing where a group lacks a label.
        Intervals: `n_bootstrap` resamples within group × label, both models on the same resample.
    """
    counts, _ = change_counts(y_true, predictions_f, predictions_g, sensitive_features)
    both = np.concatenate([counts[None], bootstrap_counts(counts, n_bootstrap=n_bootstrap, seed=seed)])
    f, g = figures_of_counts(both.sum(axis=-1)), figures_of_counts(both.sum(axis=-2))
    changes = _changes(both)
    f |= {name: np.zeros(len(both)) for name in changes}
    g |= changes
    before, after = np.array([f[name] for name in g]), np.array(list(g.values()))  # (figures, 1 + n_bootstrap)
    columns: dict[str, np.ndarray] = {}
    for column, values in (("f", before), ("g", after), ("difference", after - before)):
        low, high = np.percentile(values[:, 1:], [50 * (1 - confidence), 50 * (1 + confidence)], axis=1)
        columns |= {column: values[:, 0], f"{column}_low": low, f"{column}_high": high}
    return pd.DataFrame(columns, index=pd.Index(list(g), name="figure"))
