"""All figures of a pair (f, g) on one set of rows, with stratified bootstrap intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import Counts, change_counts
from commod.metrics.figures import figure_of, figures_of_changes, figures_of_counts

__all__ = ["bootstrap_counts", "compare_decisions"]

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
        One row per figure declared in `commod.metrics.figures`: first those of a model (``accuracy, p_rule, …,
        positive_rate_i`` per group), then those of the change (``change_rate, raised_rate`` (0→1), ``lowered_rate``
        (1→0), ``change_rate_i`` per group, …), whose value for f is that of no change. Columns ``f, g, difference``
        (g − f), each with ``_low`` and ``_high``. ``dm`` and its parts are missing where a group lacks a label.
        Intervals: `n_bootstrap` resamples within group × label, both models on the same resample.
    """
    counts, _ = change_counts(y_true, predictions_f, predictions_g, sensitive_features)
    both = np.concatenate([counts[None], bootstrap_counts(counts, n_bootstrap=n_bootstrap, seed=seed)])
    f, g = figures_of_counts(both.sum(axis=-1)), figures_of_counts(both.sum(axis=-2))
    changes = figures_of_changes(both)
    f |= {name: np.full(len(both), figure_of(name)[0].unchanged) for name in changes}
    g |= changes
    before, after = np.array([f[name] for name in g]), np.array(list(g.values()))  # (figures, 1 + n_bootstrap)
    columns: dict[str, np.ndarray] = {}
    for column, values in (("f", before), ("g", after), ("difference", after - before)):
        low, high = np.percentile(values[:, 1:], [50 * (1 - confidence), 50 * (1 + confidence)], axis=1)
        columns |= {column: values[:, 0], f"{column}_low": low, f"{column}_high": high}
    return pd.DataFrame(columns, index=pd.Index(list(g), name="figure"))
