"""Everything here is a function of counts: how many rows of group s with label y got prediction ŷ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["Counts", "as_binary", "change_counts", "codes_of_groups", "confusion_counts"]

# (..., groups, label, prediction) or, for two models, (..., groups, label, prediction of f, prediction of g)
Counts = NDArray[np.float64]


def as_binary(values: Any, name: str) -> NDArray[np.int64]:
    """`values` as an array of 0 and 1, or a ValueError that says what else was found."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one value per row, not shape {array.shape}.")
    if array.dtype == bool:
        return array.astype(np.int64)
    found = pd.unique(array)
    if not set(found.tolist()) <= {0, 1}:
        shown = ", ".join(repr(v) for v in found[:5].tolist())
        raise ValueError(f"{name} must hold 0 and 1 only, found {shown}: encode the positive class as 1.")
    return array.astype(np.int64)


def codes_of_groups(sensitive_features: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Group number of each row and the sorted group values; a ValueError if a value is missing or one group only."""
    series = pd.Series(np.asarray(sensitive_features))
    if series.isna().any():
        raise ValueError("sensitive_features has missing values: give those rows a group of their own or drop them.")
    groups = sorted(series.unique().tolist(), key=lambda v: (str(type(v)), v))
    if len(groups) < 2:
        raise ValueError(f"sensitive_features holds one group only ({groups}): fairness compares two or more.")
    return pd.Categorical(series, categories=groups).codes.astype(np.int64), groups


def confusion_counts(y_true: Any, y_pred: Any, sensitive_features: Any) -> tuple[Counts, list[Any]]:
    """Counts of shape (groups, 2, 2): group, label, prediction; and the groups' values."""
    y, p = as_binary(y_true, "y_true"), as_binary(y_pred, "y_pred")
    codes, groups = codes_of_groups(sensitive_features)
    _same_length(y_true=y, y_pred=p, sensitive_features=codes)
    flat = np.bincount(codes * 4 + y * 2 + p, minlength=4 * len(groups))
    return flat.reshape(len(groups), 2, 2).astype(float), groups


def change_counts(
    y_true: Any, predictions_f: Any, predictions_g: Any, sensitive_features: Any
) -> tuple[Counts, list[Any]]:
    """Counts of shape (groups, 2, 2, 2): group, label, prediction of f, prediction of g; and the groups' values."""
    y = as_binary(y_true, "y_true")
    f, g = as_binary(predictions_f, "predictions_f"), as_binary(predictions_g, "predictions_g")
    codes, groups = codes_of_groups(sensitive_features)
    _same_length(y_true=y, predictions_f=f, predictions_g=g, sensitive_features=codes)
    flat = np.bincount(codes * 8 + y * 4 + f * 2 + g, minlength=8 * len(groups))
    return flat.reshape(len(groups), 2, 2, 2).astype(float), groups


def _same_length(**arrays: NDArray[np.int64]) -> None:
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"Inputs differ in length: {shown} rows.")
    if 0 in lengths.values():
        raise ValueError("There are no rows: a metric needs at least one row per group.")
