"""Figures then and now, each with the interval of its difference."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import CONFIDENCE
from commod.metrics.counts import Counts, effective_size, sizes_of_groups, wilson_interval
from commod.metrics.figures import figure_of, figures_of_counts, title_of
from commod.metrics.report import compare_counts
from commod.monitoring.reference import Cells, Reference

EVERYONE = "everyone"

# Value, and the ends of its interval.
Ends = tuple[float, float, float]
Rows = list[dict[str, Any]]


def difference_of(old: float, old_ends: Any, new: float, new_ends: Any) -> tuple[float, float, float]:
    """New − old of two independent samples and its interval, from those of both (Zou and Donner 2008)."""
    (old_low, old_high), (new_low, new_high) = old_ends, new_ends
    difference = new - old
    low = difference - math.hypot(new - new_low, old_high - old)
    return difference, low, difference + math.hypot(new_high - new, old - old_low)


def compared(named: Mapping[str, Any], old: Ends, new: Ends) -> dict[str, Any]:
    """One row: a value then and now, its difference and the intervals of all three."""
    difference, low, high = difference_of(old[0], old[1:], new[0], new[1:])
    ends = {"old": old[0], "old_low": old[1], "old_high": old[2], "new": new[0], "new_low": new[1], "new_high": new[2]}
    return {**named, **ends, "difference": difference, "low": low, "high": high}


def framed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows with ``moved``: whether the interval of the difference leaves out 0."""
    frame = pd.DataFrame(rows)
    if len(frame):
        frame["moved"] = (frame["low"] > 0) | (frame["high"] < 0)
    return frame


def share(part: float, whole: float, people: float) -> Ends:
    """A share and Wilson's interval, `people` being as many as it rests on; NaN of nobody."""
    if not whole > 0:
        return math.nan, math.nan, math.nan
    low, high = wilson_interval(part / whole * people, people, CONFIDENCE)
    return part / whole, float(low), float(high)


def _share_in(cells: Cells, part: Counts) -> Ends:
    """The share of weighted people who are in a part of the counts, with their effective size."""
    sums = [float(each.sum()) for each in (cells.counts, cells.squares)]
    return share(float(part.sum()), sums[0], float(effective_size(*sums)))


def compare_figures(reference: Reference, old: Cells, new: Cells, *, labelled: bool, grouped: bool) -> Rows:
    """Every figure that labels and groups of the batch allow."""
    frames = [
        compare_counts(each.counts, squares=each.squares, rows=sizes_of_groups(each.rows), confidence=CONFIDENCE)
        for each in map(in_two_groups, (old, new))
    ]
    left_out = (frozenset() if labelled else resting_on("labels")) | (frozenset() if grouped else resting_on("groups"))
    outcomes = (str(reference["outcomes"][0]), str(reference["outcomes"][1]))
    rows = []
    for model in ("f", "g"):
        positive = (..., 1, slice(None)) if model == "f" else (..., 1)
        named = {"figure": "decided", "model": model, "title": f"Decided “{outcomes[1]}”: {EVERYONE}"}
        rows.append(compared(named, *(_share_in(each, each.counts[positive]) for each in (old, new))))
    for name in [str(name) for name in frames[0].index if name in frames[1].index]:
        figure, _ = figure_of(name)
        if figure.name in left_out:
            continue
        title = title_of(name, reference["groups"], outcomes)
        for model in ("g",) if figure.of_change else ("f", "g"):
            ends = [each.loc[name, [model, f"{model}_low", f"{model}_high"]].tolist() for each in frames]
            if not np.isnan(ends).any():
                of = "change" if figure.of_change else model
                rows.append(compared({"figure": name, "model": of, "title": title}, *ends))
    return rows


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
            {**figures_of_counts(c.sum(axis=-1)), **figures_of_counts(c, of_change=True)} for c in (counts, merged)
        )
    other = [name for name in whole if name not in part or not np.isclose(whole[name], part[name])]
    return frozenset(figure_of(name)[0].name for name in other)
