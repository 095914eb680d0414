"""The table behind a chart: its values as text, in a fold that costs next to nothing while it is closed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.html import html_table
from commod.dashboard.text.language import written
from commod.dashboard.views.download import offer
from commod.dashboard.views.words import say_declared

# As many are drawn; where there are more, all can be taken away.
MAX_ROWS = 200


@dataclass(frozen=True)
class Table:
    """What the table behind a chart shows."""

    # Of the fold and of the table; the chart names it to those who cannot see it, so it must not depend on the data.
    title: str
    key: str  # true in the session's state where the fold is open
    # Column of the data to its heading and the format of its numbers (empty for words). Where the format has no unit,
    # the heading has one.
    columns: Mapping[str, tuple[str, str]]
    # Makes the rows; called only when the fold is open. Without it they are those of the chart.
    frame: Callable[[], pd.DataFrame] | None = None


def fold(
    table: Table,
    frame: pd.DataFrame | Callable[[], pd.DataFrame],
    *,
    place: Any = st,
    above: Callable[[], None] | None = None,
) -> None:
    """Add the fold at `place`, with what `above` draws over the table. Its key can be used once in a run.

    `frame` holds the chart's rows, or makes them when the fold is open.
    """
    with place.expander(say_declared(table.title), key=table.key, on_change="rerun") as opened:
        if opened.open:  # a closed one would be filled all the same, at every move of a slider
            if above is not None:
                above()
            rows = table.frame or frame
            show(table, rows if isinstance(rows, pd.DataFrame) else rows())


def show(table: Table, frame: pd.DataFrame) -> None:
    """The rows as text, and all of them as a file where there are too many."""
    columns = [(frame[name], form) for name, (_, form) in table.columns.items()]
    cells = [[_in_words(value, form) for value in values.head(MAX_ROWS)] for values, form in columns]
    headings = {name: say_declared(heading) for name, (heading, _) in table.columns.items()}
    words = {i for i, (_, form) in enumerate(columns) if not form}
    rows, title = list(zip(*cells, strict=True)), say_declared(table.title)
    st.html(html_table([*headings.values()], rows, caption=title, text=words, tall=True))
    if len(frame) > MAX_ROWS:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(say_declared(f"The first {MAX_ROWS} of {len(frame):,} rows."), width="content")
            file = f"{table.key}.csv"
            offer(say_declared("All rows as CSV"), lambda: safe_csv(frame, headings), file, key=f"{table.key}_csv")


def _in_words(value: Any, form: str) -> str:
    if pd.isna(value):
        return "–"
    return written(session.language(), format(value, form).replace("-", "−")) if form else str(value)
