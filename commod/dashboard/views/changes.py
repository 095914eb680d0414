"""Whose decisions change, by group and direction."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from commod.charts import plot_changes
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.verdicts import directions
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table

# Of the table behind the chart.
COLUMNS = {
    "name": ("Group", ""),
    "direction": ("Changed", ""),
    "count": ("People", ","),
    "share": ("Of group", ".1%"),
}


def draw_changes(result: FitResult) -> None:
    """Who moved, in which direction."""
    st.header("Whose decisions change")
    better, worse = directions(result.task.spec)
    data, words = result.keep("changes", lambda: _changes_of(result))
    draw(
        plot_changes,
        data,
        alt="Decisions changed by group and direction.",
        table=Table("Changes by group as a table", "changes_table", COLUMNS),
        caption=f"On test. {words}.",
        better=better[0],
        worse=worse[0],
    )


def _changes_of(result: FitResult) -> tuple[pa.Table, str]:
    """Rows of the chart of the changes, and the same in words."""
    better, worse = directions(result.task.spec)
    rows, words = [], []
    for rank, (code, row) in enumerate(result.changes.to_dict("index").items()):
        name = result.task.groups[int(code)]
        group = {"group": f"{name}|{row['changed']:,.0f} of {row['count']:,.0f}", "name": name, "rank": rank}
        for place, (label, part) in enumerate((better, worse)):
            people = {"direction": label, "count": int(row[part]), "share": row[f"{part}_rate"], "place": place}
            rows.append(group | people)
        words.append(
            f"{escape_markdown(name)}: {row[better[1]]:,.0f} better off, {row[worse[1]]:,.0f} worse off, "
            f"of {row['count']:,.0f}"
        )
    return pa.Table.from_pylist(rows), "; ".join(words)
