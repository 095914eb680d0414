"""Figures of f and g on held-out rows of a task."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from commod.datasets.task import Split, Task
from commod.metrics.figures import figure_of
from commod.metrics.report import compare_decisions
from commod.metrics.small_groups import left_out_in_words
from commod.models.base_models import BaseModel, base_logits
from commod.models.threshold import logit_of_threshold

# The rates of positive decisions tell it, too.
LEFT_OUT = "demographic_parity_difference"


def evaluate(task: Task, f: BaseModel, g: Any, rows: Split) -> pd.DataFrame:
    """Accuracy, fairness and changes of f and of g on `rows`, with 95 % intervals; f decides at the cut-off of g.

    Parameters
    ----------
    task : Task
    f : the base model, in any form that `Commod` accepts as `base_model`
    g : fitted classifier with `predict`
    rows : Split
        Usually the test part of ``task.split(seed)``.

    Returns
    -------
    DataFrame
        See `commod.metrics.compare_decisions`. ``attrs`` holds the data set's name, the names of its groups, on how
        many of the rows the figures rest (``measured`` of ``rows``: those whose group is known), and ``left_out``, a
        sentence about groups that are too small for the extremes, empty if none is.
    """
    logit = base_logits(f, rows.X)
    line = getattr(g, "line_", None)
    if line is None:
        line = logit_of_threshold(None, f, logit, rows.y.to_numpy(dtype=float))
    scored = hasattr(g, "predict_proba")
    of_g = g.predict_proba(rows.X)[:, 1] if scored else None
    sizes = np.bincount(rows.sensitive[rows.sensitive >= 0], minlength=len(task.groups))
    frame = compare_decisions(
        rows.y,
        (logit > line).astype(int),
        np.asarray(g.predict(rows.X)).astype(int),
        sensitive_features=rows.sensitive,
        sample_weight=rows.weight,
        n_groups=len(task.groups),
        scores=(logit, of_g) if scored else None,
        probabilities=(expit(logit), of_g) if scored else None,
    )
    frame.attrs = {
        "dataset": task.name,
        "groups": task.groups,
        "measured": int(sizes.sum()),
        "rows": len(rows.y),
        "left_out": left_out_in_words(task.groups, sizes),
    }
    return frame


def figures_of(frame: pd.DataFrame, model: str) -> dict[str, float]:
    """The figures of one model (``"f"`` or ``"g"``) out of `evaluate`'s frame, as plain numbers; not of the change."""
    names = [name for name in frame.index if name != LEFT_OUT and not figure_of(name)[0].of_change]
    return {name: float(frame.loc[name, model]) for name in names}
