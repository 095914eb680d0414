"""What happens to each group: as a hundred people, against everyone and, for a crossing, by its margins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets.grouping import CROSS
from commod.datasets.task import Split, Task
from commod.metrics.calibration import auc_with_interval
from commod.metrics.counts import compared_groups
from commod.metrics.fairness import compare_groups, extreme_groups
from commod.metrics.figures import CRITERIA

# A margin is called fair, and a crossing unfair, by this share (P-Rule, or 1 − mistreatment).
FAIR_SHARE = 0.8
# By criterion, the rows of `extreme_groups` that its figure is made of, and what their rates are called.
EXTREMES = {
    "demographic_parity": {"p_rule": ""},
    "equalized_odds": {"delta_tpr": "true positive rates: ", "delta_fpr": "false positive rates: "},
}
# Which of them shows who fares worst, in words.
WORST = {
    "demographic_parity": ("p_rule", "gets the positive decision least often"),
    "equalized_odds": ("delta_tpr", "has the lowest true positive rate"),
}


@dataclass(frozen=True)
class Groups:
    """What f and g do to each of the groups."""

    # One row per group, the one that g gives the positive decision most often first: ``group`` (its name), ``count``
    # (people), ``before, before_low, before_high`` (rate of f with Wilson's 95 % interval), ``rate, low, high`` (of g),
    # ``ratio`` (of g's rate to the largest that is compared), ``difference`` (of g's rate to everyone's) and
    # ``compared`` (whether the group is large enough to be an extreme).
    table: pd.DataFrame
    everyone: float  # rate of g
    # Of "f" and "g", which groups attain the figures: see `extreme_groups`, with names for codes.
    extremes: dict[str, pd.DataFrame]
    # Of a crossing: the criterion's figure of ``f`` and ``g`` by each of its attributes alone (index) and, last, by the
    # crossing. NaN where a group has nobody of a label that the figure needs. Else empty.
    margins: pd.DataFrame


def explain_groups(task: Task, rows: Split, fairness: str, before: Any, after: Any) -> Groups:
    """Look at every group of some rows; `before` and `after` are the decisions of f and of g on them."""
    names = dict(enumerate(task.groups))
    how = {"sensitive_features": rows.sensitive, "sample_weight": rows.weight}
    f, table = (compare_groups(rows.y, decided, **how) for decided in (before, after))
    extremes = {
        model: extreme_groups(rows.y, decided, **how).assign(
            **{end: lambda found, end=end: found[end].map(names) for end in ("lowest", "highest")}
        )
        for model, decided in (("f", before), ("g", after))
    }
    table = table.assign(group=table.index.map(names), before=f["rate"], before_low=f["low"], before_high=f["high"])
    everyone = float((table["rate"] - table["difference"]).iloc[0])
    table = table.sort_values("rate", ascending=False, kind="stable", ignore_index=True)
    return Groups(table, everyone, extremes, _margins(task, rows, fairness, before, after))


def _margins(task: Task, rows: Split, fairness: str, before: Any, after: Any) -> pd.DataFrame:
    parts = task.margins(rows.sensitive)
    if parts:
        parts[CROSS.join(parts)] = (rows.sensitive, task.groups)
    figure, found = CRITERIA[fairness].figure, {}
    for name, (codes, groups) in parts.items():
        found[name] = [figure.of_decisions(codes, len(groups), rows.y, each, rows.weight) for each in (before, after)]
    return pd.DataFrame.from_dict(found, orient="index", columns=["f", "g"])


def extremes_in_words(groups: Groups, fairness: str, model: str) -> str:
    """The groups that attain a figure: "lowest: Black × Female 12.0%, highest: White × Male 41.0%"."""
    found = groups.extremes[model]
    return "; ".join(
        f"{called}lowest: {found.loc[row, 'lowest']} {found.loc[row, 'lowest_rate']:.1%}, "
        f"highest: {found.loc[row, 'highest']} {found.loc[row, 'highest_rate']:.1%}"
        for row, called in EXTREMES[fairness].items()
        if row in found.index
    )


def beyond_in_words(groups: Groups) -> str:
    """Groups that the extremes leave out although g's rate for them is clearly beyond; empty if there are none."""
    table = groups.table
    rates = table.loc[table["compared"], "rate"]
    out = table[~table["compared"] & ((table["high"] < rates.min()) | (table["low"] > rates.max()))]
    if out.empty:
        return ""
    shown = ", ".join(
        f"{row.group} ({row.rate:.1%} [{100 * row.low:.1f}, {100 * row.high:.1f}] of {row.count:,})"
        for row in out.itertuples()
    )
    return f"Left out of the extremes and clearly beyond them, by the whole interval: {shown}. Look at them first."


def margins_in_words(groups: Groups, fairness: str, figures: pd.DataFrame) -> str:
    """Compare a crossing with its margins; `figures` say by their interval what may be chance."""
    if groups.margins.empty:
        return ""
    criterion = CRITERIA[fairness]

    def shown(value: float) -> str:
        return "–" if np.isnan(value) else criterion.figure.show(value)

    by = [f"by {name} {shown(row['g'])} (f: {shown(row['f'])})" for name, row in groups.margins.iterrows()]
    text = f"{criterion.figure.title} {', '.join(by)}."
    compared = groups.table["compared"]
    if not compared.all():
        text += f" The last compares {compared.sum()} of {len(compared)} combinations: the others have too few people."
    shares = criterion.share(groups.margins["g"].to_numpy())
    if not (shares[-1] < np.nanmin(shares[:-1], initial=np.inf)):
        return text
    text += (
        " A model can be fair on each margin and unfair to a crossing: an average over the margin hides a combination "
        "that fares worse."
    )
    if (shares[:-1] >= FAIR_SHARE).all() and shares[-1] < FAIR_SHARE:
        row, worst = WORST[fairness]
        best = figures.loc[criterion.figure_name, "g_high" if criterion.upward else "g_low"]  # end of the interval
        so = "it is so" if criterion.share(best) < FAIR_SHARE else "it seems so, which may be chance"
        text += f" Here {so}: {groups.extremes['g'].loc[row, 'lowest']} {worst}."
    return text


def count_hundred(task: Task, rows: Split, before: Any, after: Any) -> dict[int, dict[str, Any]]:
    """Every group as a hundred people, by the decisions of f (`before`) and of g (`after`) on some rows.

    Of each group that has people, by its code: ``count`` (rows), the weighted shares ``before, now`` (positive
    decisions of f and g) and ``raised, lowered`` (decisions that went 0→1 and 1→0), and these four in whole people of
    a hundred: ``of_100_before`` and so on. The last two of them lead from the first to the second, each less than 1
    away from its share. As plain numbers: a frame takes ten times as long.
    """
    weight = None if rows.weight is None else rows.weight.to_numpy()
    n = len(task.groups)
    sensitive = rows.sensitive.to_numpy()
    cell = 4 * sensitive + 2 * np.asarray(before, dtype=np.int64) + np.asarray(after, dtype=np.int64)
    counts = np.bincount(cell, weight, minlength=4 * n).reshape(n, 2, 2)  # (groups, f, g)
    sizes = np.bincount(sensitive, minlength=n)
    here = np.flatnonzero(counts.sum(axis=(1, 2)))
    shares = counts[here] / counts[here].sum(axis=(1, 2), keepdims=True)
    raised, lowered = shares[:, 0, 1], shares[:, 1, 0]
    found = {"before": shares[:, 1, 1] + lowered, "now": shares[:, 1, 1] + raised, "raised": raised, "lowered": lowered}
    first, then = (np.floor(100 * found[model] + 0.5).astype(int) for model in ("before", "now"))
    most = np.minimum(first, 100 - then)
    fell = np.floor(50 * (raised + lowered) - (then - first) / 2 + 0.5).astype(int)
    fell = np.clip(fell, np.maximum(0, first - then), most)
    whole = {"before": first, "now": then, "raised": fell + then - first, "lowered": fell}
    columns = {"count": sizes[here]} | found | {f"of_100_{name}": people for name, people in whole.items()}
    lists = {name: column.tolist() for name, column in columns.items()}
    return {code: {name: column[i] for name, column in lists.items()} for i, code in enumerate(here.tolist())}


COLUMNS = ["kind", "name", "label", "auc", "low", "high", "group"]


def explain_proxies(
    task: Task, train: Split, test: Split, activations: tuple[pd.DataFrame, pd.DataFrame] | None = None
) -> pd.DataFrame:
    """How well each concept, and each feature, alone tells the group on test.

    A category predicts by the share of the group at each level among the training rows. The sign of a number or concept
    also comes from there, so an AUC below 0.5 on test is chance. With more than two groups, the best predicted one
    counts, against all others. `activations`: of the concepts on `train` and `test` (``g.concept_activations(X)``).

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
        found = _best_separated(own, groups, own_test, groups_test, levels=levels)
        features.append(_row("feature", feature.name, feature.label, found))
    features.sort(key=lambda row: -row["auc"])
    return pd.concat([*concepts, pd.DataFrame(features, columns=COLUMNS)], ignore_index=True)


def proxies_of(values: pd.DataFrame, values_test: pd.DataFrame, groups: Any, groups_test: Any) -> pd.DataFrame:
    """The part of `explain_proxies` that is about concepts, from their values on the training and on the test rows."""
    rows = []
    for name in values.columns:
        if values[name].to_numpy().any():
            found = _best_separated(values[name], groups, values_test[name], groups_test, levels=False)
            rows.append(_row("concept", name, name, found))
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(kind: str, name: str, label: str, found: tuple[float, float, float, int]) -> dict[str, Any]:
    return dict(zip(COLUMNS, (kind, name, label, *found), strict=True))


def _best_separated(
    own: pd.Series, groups: Any, own_test: pd.Series, groups_test: Any, *, levels: bool
) -> tuple[float, float, float, int]:
    """AUC, with interval, of the group that is told apart best, and which group that is; of two, the second."""
    codes, known = np.asarray(groups), np.asarray(groups) >= 0
    own, codes = own[known], codes[known]
    sizes = np.bincount(groups_test, minlength=2)
    asked = [1] if len(sizes) == 2 else np.flatnonzero(compared_groups(sizes))
    found = []
    for code in asked:
        ones = codes == code
        a, b = (part.to_numpy() for part in (_by_level(own, ones, own_test) if levels else (own, own_test)))
        turn = 1.0 if a[ones].mean() >= a[~ones].mean() else -1.0
        found.append((*auc_with_interval(turn * b, groups_test == code), int(code)))
    return max(found)


def _by_level(levels: pd.Series, ones: NDArray[np.bool_], levels_test: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Share of a group among the training rows of the same level, for rows of either part."""
    shares = pd.Series(ones, dtype=float).groupby(levels.astype(object).to_numpy()).mean()
    own, own_test = (
        part.astype(object).map(shares).astype(float).fillna(float(ones.mean())) for part in (levels, levels_test)
    )
    return own, own_test
