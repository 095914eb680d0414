"""Whose decisions change, by group and direction."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from commod.charts import plot_changes
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.verdicts import directions
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table


def draw_changes(result: FitResult) -> None:
    """Who moved, in which direction."""
    st.header("Whose decisions change")
    better, worse = directions(result.task.spec)
    data, words = result.keep("changes", lambda: _changes_of(result))
    draw(
        plot_changes,
        data,
        alt="Decisions changed by group and direction.",
        table=_changes_table(result),
        caption=f"On test. {words}.",
        better=better[0],
        worse=worse[0],
    )


def _changes_of(result: FitResult) -> tuple[pa.Table, str]:
    """Rows of the chart of the changes, and the same in words."""
    better, worse = directions(result.task.spec)
    rows: dict[str, list[Any]] = {"group": [], "rank": [], "direction": [], "count": [], "share": [], "place": []}
    words = []
    for rank, (code, row) in enumerate(result.changes.to_dict("index").items()):
        name = result.task.groups[int(code)]
        group = f"{name}|{row['changed']:,.0f} of {row['count']:,.0f}"
        for place, (label, part) in enumerate((better, worse)):
            cells = (group, rank, label, int(row[part]), row[f"{part}_rate"], place)
            for column, cell in zip(rows.values(), cells, strict=True):
                column.append(cell)
        words.append(
            f"{escape_markdown(name)}: {row[better[1]]:,.0f} better off, {row[worse[1]]:,.0f} worse off, "
            f"of {row['count']:,.0f}"
        )
    return pa.table(rows), "; ".join(words)


def _changes_table(result: FitResult) -> Table:
    columns = {
        "group": ("Group", ""),
        "direction": ("Changed", ""),
        "people": ("People", ","),
        "share": ("Of group", ".1%"),
    }

    def frame() -> pd.DataFrame:
        rows = [
            (result.task.groups[int(code)], label, int(row[part]), row[f"{part}_rate"])
            for code, row in result.changes.iterrows()
            for label, part in directions(result.task.spec)
        ]
        return pd.DataFrame(rows, columns=list(columns))

    return Table("Changes by group as a table", "changes_table", columns, frame)
