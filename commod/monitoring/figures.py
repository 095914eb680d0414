"""Figures of f and g, and of their changes, then and now."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import CONFIDENCE
from commod.metrics.counts import Counts, sizes_of_groups
from commod.metrics.figures import figure_of, figures_of_changes, figures_of_counts, title_of
from commod.metrics.report import compare_counts
from commod.monitoring.differences import Ends, compared, share, share_in
from commod.monitoring.reference import Cells, Reference

EVERYONE = "everyone"


def compare_figures(
    reference: Reference, old: Cells, new: Cells, *, labelled: bool, grouped: bool
) -> list[dict[str, Any]]:
    """Every figure that labels and groups of the batch allow."""
    frames = [
        compare_counts(each.counts, squares=each.squares, rows=sizes_of_groups(each.rows), confidence=CONFIDENCE)
        for each in map(in_two_groups, (old, new))
    ]
    left_out = (frozenset() if labelled else resting_on("labels")) | (frozenset() if grouped else resting_on("groups"))
    outcomes = (str(reference["outcomes"][0]), str(reference["outcomes"][1]))
    rows = []
    for model, positive in (("f", lambda counts: counts[..., 1, :]), ("g", lambda counts: counts[..., 1])):
        decided = [share_in(each, positive) for each in (old, new)]
        named = {"figure": "decided", "model": model, "title": f"Decided “{outcomes[1]}”: {EVERYONE}"}
        rows.append(compared(named, *decided))
    for name in [str(name) for name in frames[0].index if name in frames[1].index]:
        figure, _ = figure_of(name)
        if figure.name in left_out:
            continue
        title = title_of(name, reference["groups"], outcomes)
        for model in ("g",) if figure.of_change else ("f", "g"):
            ends = [_ends_in(each.loc[name], model) for each in frames]
            if not np.isnan(ends).any():
                rows.append(
                    compared({"figure": name, "model": "change" if figure.of_change else model, "title": title}, *ends)
                )
    return rows


def _ends_in(row: pd.Series, model: str) -> Ends:
    return float(row[model]), float(row[f"{model}_low"]), float(row[f"{model}_high"])


def compare_shares(old: Mapping[str, Any], new: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """Of the changes, those of which f was sure and those right by the record; people are counted as rows."""
    titles = {"sure": "… of which f was sure", "right": "… of which right by the record"}
    rows = []
    for name, counted in new.items():
        ends = [share(part, whole, whole) for part, whole in (old[name], counted)]
        if not np.isnan(ends).any():
            rows.append(compared({"figure": name, "model": "change", "title": titles[name]}, *ends))
    return rows


def in_two_groups(cells: Cells) -> Cells:
    """Cells for what compares groups: people who are not parted are put into two groups that are alike."""
    return cells if len(cells.rows) > 1 else Cells(*(np.repeat(each / 2, 2, axis=0) for each in cells))


def of_one_label(counts: Counts) -> Counts:
    """Counts as if all had the first label."""
    return np.stack([counts.sum(axis=1), np.zeros_like(counts[:, 0])], axis=1)


@lru_cache
def resting_on(what: str) -> frozenset[str]:
    """Names of the figures that are another thing once people are counted without their labels, or groups."""
    counts = np.arange(1.0, 17.0).reshape(2, 2, 2, 2) ** 1.5
    merged = of_one_label(counts) if what == "labels" else counts.sum(axis=0, keepdims=True)
    with np.errstate(all="ignore"):
        whole, part = (
            {**figures_of_counts(each.sum(axis=-1)), **figures_of_changes(each)} for each in (counts, merged)
        )
    other = [name for name in whole if name not in part or not np.isclose(whole[name], part[name])]
    return frozenset(figure_of(name)[0].name for name in other)
