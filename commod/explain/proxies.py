"""How well a concept or a feature alone tells which group somebody belongs to."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets.task import Split, Task
from commod.metrics.auc import auc_with_interval
from commod.metrics.small_groups import compared_groups

COLUMNS = ["kind", "name", "label", "auc", "low", "high", "group"]


def explain_proxies(
    task: Task, train: Split, test: Split, activations: tuple[pd.DataFrame, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """How well each concept, and each feature, alone tells the group on test.

    A category does so by the share of the group at each of its levels among the training rows. Which way a number or a
    concept points also comes from these, so an AUC below 0.5 on test is chance. Of more than two groups, the one that
    is told best counts, against all others.

    Parameters
    ----------
    activations : (DataFrame, DataFrame), optional
        Values of the concepts on `train` and on `test`, one column each (``g.concept_activations(X)``).

    Returns
    -------
    DataFrame
        ``kind`` ("concept" or "feature"), ``name``, ``label``, ``auc, low, high`` (95 %) and ``group`` (its number):
        the concepts in their order, without empty ones, then the features, strongest first.
    """
    groups, groups_test = train.sensitive.to_numpy(), test.sensitive.to_numpy()
    concepts = [] if activations is None else [proxies_of(*activations, groups, groups_test)]
    features = []
    for feature in task.spec.features:
        own, own_test = train.X[feature.name], test.X[feature.name]
        levels = feature.kind == "category" or not pd.api.types.is_numeric_dtype(own.dtype)
        found = _best_told(own, groups, own_test, groups_test, levels=levels)
        features.append(_row("feature", feature.name, feature.label, found))
    features.sort(key=lambda row: -row["auc"])
    return pd.concat([*concepts, pd.DataFrame(features, columns=COLUMNS)], ignore_index=True)


def proxies_of(values: pd.DataFrame, values_test: pd.DataFrame, groups: Any, groups_test: Any) -> pd.DataFrame:
    """The part of `explain_proxies` that is about concepts, from their values on the training and on the test rows."""
    rows = []
    for name in values.columns:
        if values[name].to_numpy().any():
            found = _best_told(values[name], groups, values_test[name], groups_test, levels=False)
            rows.append(_row("concept", name, name, found))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(kind: str, name: str, label: str, found: tuple[float, float, float, int]) -> dict[str, Any]:
    return dict(zip(COLUMNS, (kind, name, label, *found), strict=True))


def _best_told(
    own: pd.Series, groups: Any, own_test: pd.Series, groups_test: Any, *, levels: bool
) -> tuple[float, float, float, int]:
    """AUC with its interval of the group that is told best, and which it is; of two groups, of the second."""
    codes, known = np.asarray(groups), np.asarray(groups) >= 0
    own, codes = own[known], codes[known]
    sizes = np.bincount(groups_test, minlength=2)
    asked = [1] if len(sizes) == 2 else np.flatnonzero(compared_groups(sizes))
    found = []
    for code in asked:
        ones = codes == code
        a, b = _by_level(own, ones, own_test) if levels else (own, own_test)
        found.append((*_tells(a.to_numpy(), ones, b.to_numpy(), groups_test == code), int(code)))
    return max(found)


def _tells(own: Any, ones: Any, own_test: Any, ones_test: Any) -> tuple[float, float, float]:
    turn = 1.0 if own[ones].mean() >= own[~ones].mean() else -1.0
    return auc_with_interval(turn * own_test, ones_test)


def _by_level(levels: pd.Series, ones: NDArray[np.bool_], levels_test: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Share of a group among the training rows of the same level, for rows of either part."""
    shares = pd.Series(ones, dtype=float).groupby(levels.astype(object).to_numpy()).mean()
    both = (part.astype(object).map(shares).astype(float).fillna(float(ones.mean())) for part in (levels, levels_test))
    own, own_test = both
    return own, own_test
