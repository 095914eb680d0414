"""A value then and now: the interval of the difference between two independent samples."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from commod.decisions.facts import CONFIDENCE
from commod.metrics.counts import Counts, effective_size
from commod.metrics.intervals import wilson_interval
from commod.monitoring.reference import Cells

# Value, and the ends of its interval.
Ends = tuple[float, float, float]


def difference_of(old: float, old_ends: Any, new: float, new_ends: Any) -> tuple[float, float, float]:
    """New − old of two independent samples and its interval, from those of both (Zou and Donner 2008).

    Of two shares with Wilson's intervals that is Newcombe's (1998).
    """
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


def share_in(cells: Cells, part: Callable[[Counts], Counts]) -> Ends:
    """The share of weighted people who are in a part, with their effective size."""
    sums = [float(each.sum()) for each in (cells.counts, cells.squares)]
    return share(float(part(cells.counts).sum()), sums[0], float(effective_size(*sums)))
