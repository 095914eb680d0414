"""Whether more merit ever hurts: people edited by one step of what counts in their favour."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets.task import Task
from commod.explain.what_if import FeatureRange, feature_ranges

# From rows to logits of the positive decision.
Margin = Callable[[pd.DataFrame], NDArray[np.float64]]


def merit_step(known: FeatureRange) -> float:
    """One meaningful step of a number: one point of the LSAT, 0.1 of a grade, one prior offence.

    A tenth of the standard deviation, rounded up to 1, 2 or 5 times a power of ten, and at least the resolution.
    """
    least = known.sd / 10
    unit = 10.0 ** math.floor(math.log10(least)) if least > 0 else known.step
    nice = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= least * (1 - 1e-9))
    return max(nice, known.step)


def explain_merit(
    task: Task,
    X: pd.DataFrame,
    margin_f: Margin,
    margin_g: Margin,
    *,
    ranges: Mapping[str, FeatureRange] | None = None,
) -> pd.DataFrame:
    """For whom one more step of merit lowers the outcome, under f and under g.

    Each feature with a declared direction (`Feature.merit`) is moved by one step (`merit_step`), for everyone who stays
    within the data's range; all other features stay. It is an edit of an input, not of its causes.

    Parameters
    ----------
    margin_f, margin_g : callable
        From rows to logits of the positive decision. An f that is known by its scores only never answers to an edit.
    ranges : mapping, optional
        `feature_ranges` of the task's data, if they are at hand.

    Returns
    -------
    DataFrame
        One row per such feature, the one that hurts most people under g first: ``feature, label, unit, step`` (with its
        sign), ``people`` (who were moved), ``turned_f, turned_g`` (of them, the favourable decision turns into the
        other one), ``lowered_f, lowered_g`` (the score of the favourable outcome falls).
    """
    if ranges is None:
        ranges = feature_ranges(task.X)
    sign = 1.0 if task.spec.favourable == 1 else -1.0
    now = [sign * margin(X) for margin in (margin_f, margin_g)]
    rows: list[dict[str, Any]] = []
    for feature in task.spec.features:
        known = ranges.get(feature.name)
        if not feature.merit or known is None or not known.is_number:
            continue
        step = feature.merit * merit_step(known)
        values = X[feature.name].to_numpy(dtype=float) + step
        inside = (values >= known.low - 1e-9) & (values <= known.high + 1e-9)
        row = {"feature": feature.name, "label": feature.label, "unit": feature.unit, "step": step}
        row |= {"people": int(inside.sum())}
        moved = X[inside].assign(**{feature.name: values[inside]})
        for name, margin, before in zip("fg", (margin_f, margin_g), now, strict=True):
            old = before[inside]
            new = sign * margin(moved) if inside.any() else old
            # A positive decision needs a margin above 0; the negative one has the tie.
            favourable_old, favourable_new = (old > 0, new > 0) if sign > 0 else (old >= 0, new >= 0)
            row[f"turned_{name}"] = int((favourable_old & ~favourable_new).sum())
            row[f"lowered_{name}"] = int((new < old - 1e-12).sum())
        rows.append(row)
    columns = "feature label unit step people turned_f turned_g lowered_f lowered_g".split()
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["turned_g", "lowered_g"], ascending=False, kind="stable", ignore_index=True)
