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
