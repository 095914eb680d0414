"""What changed between the decisions of f and those of g."""

from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import as_binary, as_weight, same_length, tally


def change_rate(predictions_f: Any, predictions_g: Any, *, sample_weight: Any = None) -> float:
    """P(Ŷ ≠ Ŷ^f), the share of decisions that differ. Range 0 to 1; 0 means g decides as f does."""
    f, g = as_binary(predictions_f, "predictions_f"), as_binary(predictions_g, "predictions_g")
    weight = None if sample_weight is None else as_weight(sample_weight)
    same_length(predictions_f=f, predictions_g=g, **({} if weight is None else {"sample_weight": weight}))
    return float(np.mean(f != g) if weight is None else np.average(f != g, weights=weight))


def change_table(
    predictions_f: Any, predictions_g: Any, *, sensitive_features: Any, sample_weight: Any = None
) -> pd.DataFrame:
    """Changes by group and direction, one row per group.

    Columns ``count`` (size of the group), ``raised`` and ``lowered`` (decisions that went 0→1 and 1→0), ``changed``
    (their sum), all in rows, and the shares ``raised_rate, lowered_rate, change_rate`` of the group's size, weighted. A
    group is in the table because it has rows, so every share exists.
    """
    predictions = {"predictions_f": predictions_f, "predictions_g": predictions_g}
    found = tally(predictions_f, predictions, sensitive_features, sample_weight)
    rows, counts = found.rows.sum(axis=1), found.counts.sum(axis=1)  # (groups, f, g)
    sizes, raised, lowered = counts.sum(axis=(1, 2)), counts[:, 0, 1], counts[:, 1, 0]
    return pd.DataFrame(
        {
            "count": found.sizes.astype(int),
            "raised": rows[:, 0, 1].astype(int),
            "lowered": rows[:, 1, 0].astype(int),
            "changed": (rows[:, 0, 1] + rows[:, 1, 0]).astype(int),
            "raised_rate": raised / sizes,
            "lowered_rate": lowered / sizes,
            "change_rate": (raised + lowered) / sizes,
        },
        index=pd.Index(found.groups, name="group"),
    )


def calibration_table(scores_f: Any, scores_g: Any, *, n_bins: int = 10, sample_weight: Any = None) -> pd.DataFrame:
    """Calibration of g against f: mean score of g where f's score falls into each bin (paper, App. E).

    Parameters
    ----------
    scores_f, scores_g : array of float
        Probabilities of the positive class.
    n_bins : int
        Equal bins of [0, 1].

    Returns
    -------
    DataFrame
        One row per bin that is not empty: ``low, high, count`` (rows), ``mean_f, mean_g, sd_g``. On the diagonal
        (mean_g = mean_f, sd small) g leaves f's confidence as it was.
    """
    f, g = np.asarray(scores_f, dtype=float), np.asarray(scores_g, dtype=float)
    for name, scores in (("scores_f", f), ("scores_g", g)):
        if scores.ndim != 1 or not ((scores >= 0) & (scores <= 1)).all():
            raise ValueError(f"{name} must be probabilities between 0 and 1, one per row.")
    weight = np.ones(len(f)) if sample_weight is None else as_weight(sample_weight)
    same_length(scores_f=f, scores_g=g, **({} if sample_weight is None else {"sample_weight": weight}))
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    index = np.where(weight > 0, np.minimum((f * n_bins).astype(int), n_bins - 1), -1)
    rows = []
    for i in range(n_bins):
        own = index == i
        if own.any():
            mean_f, mean_g = (float(np.average(scores[own], weights=weight[own])) for scores in (f, g))
            variance = float(np.average((g[own] - mean_g) ** 2, weights=weight[own]))
            found = {"low": edges[i], "high": edges[i + 1], "count": int(own.sum())}
            rows.append(found | {"mean_f": mean_f, "mean_g": mean_g, "sd_g": variance**0.5})
    return pd.DataFrame(rows)
