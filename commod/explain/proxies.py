"""How well a concept or a feature alone tells which group somebody belongs to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets.task import Split, Task
from commod.metrics.auc import auc_with_interval

__all__ = ["explain_proxies", "proxies_of"]

COLUMNS = ["kind", "name", "label", "auc", "low", "high"]


def explain_proxies(
    task: Task, train: Split, test: Split, activations: tuple[pd.DataFrame, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """How well each concept, and each feature, alone tells the group on test.

    A category tells it by the share of group 1 at each of its levels among the training rows; which way a number or a
    concept points is taken from its means in the training rows, so that an AUC below 0.5 on test is chance.

    Parameters
    ----------
    activations : (DataFrame, DataFrame), optional
        Values of the concepts on `train` and on `test`, one column each (``g.concept_activations(X)``).

    Returns
    -------
    DataFrame
        ``kind`` ("concept" or "feature"), ``name``, ``label``, ``auc, low, high`` (95 %): the concepts in their order,
        but for empty ones, then the features, strongest first.
    """
    groups, groups_test = train.sensitive.to_numpy(), test.sensitive.to_numpy()
    concepts = [] if activations is None else [proxies_of(*activations, groups, groups_test)]
    features = []
    for feature in task.spec.features:
        own, own_test = train.X[feature.name], test.X[feature.name]
        if feature.kind == "category" or not pd.api.types.is_numeric_dtype(own.dtype):
            own, own_test = _by_level(own, groups, own_test)
        found = _tells(own.to_numpy(), groups, own_test.to_numpy(), groups_test)
        features.append(_row("feature", feature.name, feature.label, found))
    features.sort(key=lambda row: -row["auc"])
    return pd.concat([*concepts, pd.DataFrame(features, columns=COLUMNS)], ignore_index=True)


def proxies_of(values: pd.DataFrame, values_test: pd.DataFrame, groups: Any, groups_test: Any) -> pd.DataFrame:
    """The part of `explain_proxies` that is about concepts, from their values on the training and on the test rows."""
    rows = []
    for name in values.columns:
        own, own_test = values[name].to_numpy(), values_test[name].to_numpy()
        if own.any():
            rows.append(_row("concept", name, name, _tells(own, groups, own_test, groups_test)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(kind: str, name: str, label: str, found: tuple[float, float, float]) -> dict[str, Any]:
    return {"kind": kind, "name": name, "label": label} | dict(zip(("auc", "low", "high"), found, strict=True))


def _tells(own: Any, groups: Any, own_test: Any, groups_test: Any) -> tuple[float, float, float]:
    ones = np.asarray(groups) == 1
    turn = 1.0 if own[ones].mean() >= own[~ones].mean() else -1.0
    return auc_with_interval(turn * own_test, groups_test)


def _by_level(levels: pd.Series, groups: NDArray[np.int64], levels_test: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Share of group 1 among the training rows of the same level, for rows of either part."""
    shares = pd.Series(groups, dtype=float).groupby(levels.astype(object).to_numpy()).mean()
    both = (
        part.astype(object).map(shares).astype(float).fillna(float(groups.mean())) for part in (levels, levels_test)
    )
    own, own_test = both
    return own, own_test
