"""Figures of f and g on held-out rows of a task."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from commod.datasets.task import Split, Task
from commod.metrics.calibration import auc_of
from commod.metrics.counts import left_out_in_words
from commod.metrics.figures import figure_of
from commod.metrics.report import compare_decisions
from commod.models.base_models import BaseModel, base_logits
from commod.models.threshold import logit_of_threshold


def evaluate(task: Task, f: BaseModel, g: Any, rows: Split) -> pd.DataFrame:
    """Accuracy, fairness and changes of f and g on `rows`, with 95 % intervals; f decides at g's cut-off.

    Parameters
    ----------
    f : the base model, in any form that `Commod` accepts as `base_model`
    g : fitted classifier with `predict`
    rows : Split
        Usually the test part of ``task.split(seed)``.

    Returns
    -------
    DataFrame
        See `commod.metrics.compare_decisions`. ``attrs`` holds the names of the data set and its groups, how many of
        the ``rows`` are ``measured`` (those with a known group), and ``left_out``, a sentence about groups too small
        for the extremes, if any.
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
    """The figures of one model (``"f"`` or ``"g"``) from `evaluate`'s frame, as plain numbers, without the changes."""
    # The rates of positive decisions tell their largest difference.
    left_out = "demographic_parity_difference"
    names = [name for name in frame.index if name != left_out and not figure_of(name)[0].of_change]
    return {name: float(frame.loc[name, model]) for name in names}


# If g keeps less than this share of f's AUC above one half, it hardly tells people apart any more.
KEPT_EDGE = 0.5


class CollapseWarning(UserWarning):
    """The fitted model has collapsed: it is fair, but no longer tells people apart."""


def collapse_in_words(y: Any, margin_f: Any, margin_g: Any, subject: str = "g") -> list[str]:
    """A sentence for each sign that g has collapsed; margins are logits minus the cut-off's."""
    f, g = np.asarray(margin_f, dtype=float), np.asarray(margin_g, dtype=float)
    found = []
    auc_f, auc_g = auc_of(f, y), auc_of(g, y)
    if auc_f > 0.5 and auc_g - 0.5 < KEPT_EDGE * (auc_f - 0.5):
        found.append(
            f"{subject} hardly tells people apart any more: the AUC of its scores falls from {auc_f:.2f} to "
            f"{auc_g:.2f}, where 0.5 is chance."
        )
    return found + overturned_in_words(f > 0, g > 0, subject)


def overturned_in_words(before: Any, after: Any, subject: str = "g") -> list[str]:
    """A sentence if more decisions (true and false) change than if everybody were decided alike; otherwise none."""
    before, after = np.asarray(before), np.asarray(after)
    changed, trivial = float((before != after).mean()), float(min(before.mean(), 1 - before.mean()))
    if not changed > trivial > 0:
        return []
    return [
        f"{subject} changes {changed:.1%} of all decisions. Deciding everybody alike would be fair and change "
        f"{trivial:.1%}."
    ]


# Set for the thread that fits. All threads share the warning filters, and a server's threads fit side by side.
_is_judged_elsewhere: ContextVar[bool] = ContextVar("is_judged_elsewhere", default=False)


@contextmanager
def judged_elsewhere() -> Iterator[None]:
    """Fit without warnings about the result, for callers who check it themselves."""
    before = _is_judged_elsewhere.set(True)
    try:
        yield
    finally:
        _is_judged_elsewhere.reset(before)


def warn_of_result(sentence: str, kind: type[UserWarning]) -> None:
    """Warn about a fitted model, unless the caller of `fit` checks it."""
    if not _is_judged_elsewhere.get():
        warnings.warn(sentence, kind, stacklevel=3)
