"""Whose decisions change, and for whom the change is right by the record, then and now."""

from collections.abc import Callable
from typing import Any

from commod.metrics.counts import Counts
from commod.monitoring.differences import compared, share, share_in
from commod.monitoring.reference import Cells


def compare_changes(names: list[str], old: Cells, new: Cells, favourable: int) -> list[dict[str, Any]]:
    """The share of each group whose decision changes for the better, and for the worse."""
    rows = []
    for code, name in enumerate(names):
        for better, was, now in _ways(favourable):
            of_group = [Cells(*(part[code] for part in each)) for each in (old, new)]
            ends = [share_in(each, _changed(was, now)) for each in of_group]
            named: dict[str, Any] = {"group": name, "better": better}
            for time, each in zip(("old", "new"), of_group, strict=True):
                named |= {f"{time}_count": int(each.rows[:, was, now].sum()), f"{time}_people": int(each.rows.sum())}
            rows.append(compared(named, *ends))
    return rows


def compare_right(names: list[str], old: Cells, new: Cells, favourable: int) -> list[dict[str, Any]]:
    """Of those changes, the share right by the record; people are counted as rows, without weights."""
    rows = []
    for code, name in enumerate(names):
        for better, was, now in _ways(favourable):
            named: dict[str, Any] = {"group": name, "better": better}
            ends = []
            for time, each in (("old", old.rows[code]), ("new", new.rows[code])):
                part, whole = int(each[now, was, now]), int(each[:, was, now].sum())
                named |= {f"{time}_count": part, f"{time}_people": whole}
                ends.append(share(part, whole, whole))
            rows.append(compared(named, *ends))
    return rows


def _changed(was: int, now: int) -> Callable[[Counts], Counts]:
    """Of counts (label, f, g), those whose decision went this way."""
    return lambda counts: counts[:, was, now]


def _ways(favourable: int) -> list[tuple[bool, int, int]]:
    """Whether a change is for the better, and the decisions before and after it."""
    return [(True, 1 - favourable, favourable), (False, favourable, 1 - favourable)]
