"""Whose decisions change, by group and direction."""

import pyarrow as pa
import streamlit as st

from commod.charts import plot_changes
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.verdicts import changes_by_direction, directions
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table
from commod.dashboard.views.words import say_declared

CHANGES = Table(
    "Changes by group as a table",
    "changes_table",
    {"name": ("Group", ""), "direction": ("Changed", ""), "count": ("People", ","), "share": ("Of group", ".1%")},
)


def draw_changes(result: FitResult) -> None:
    """Who moved, in which direction."""
    st.header(say_declared("Whose decisions change"))
    (better, _), (worse, _) = directions(result.task.spec)
    data, words = result.keep(f"changes_{session.language()}", lambda: _changes_of(result))
    draw(
        plot_changes,
        data,
        alt="Decisions changed by group and direction.",
        table=CHANGES,
        caption=f"On test. {words}.",
        better=say_declared(better),
        worse=say_declared(worse),
        many=result.has_many_groups,
    )


def _changes_of(result: FitResult) -> tuple[pa.Table, str]:
    """Rows of the chart of the changes, and the same in words."""
    rows = [
        row | {name: say_declared(row[name]) for name in ("name", "group", "direction")}
        for row in changes_by_direction(result.task.spec, result.changes)
    ]
    if result.has_many_groups:
        told = "The group of which most changed first; behind its name, how many of how many"
        return pa.Table.from_pylist(rows), told
    words = [
        f"{escape_markdown(up['name'])}: {up['count']:,} better off, {down['count']:,} worse off, of {people:,}"
        for up, down, people in zip(rows[::2], rows[1::2], result.changes["count"], strict=True)
    ]
    return pa.Table.from_pylist(rows), "; ".join(words)
