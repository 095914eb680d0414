"""Charts on a page, the table behind each, and files to download."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from mimetypes import MimeTypes
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.streamlit_internals import for_this_session
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.html import html_table
from commod.dashboard.text.language import FIRST, declared, written
from commod.dashboard.views.words import say_declared
from commod.datasets import on_forget

_KINDS = MimeTypes()  # the same on every machine
_KINDS.add_type("text/markdown", ".md")


def offer(label: str, content: bytes | Callable[[], bytes], name: str, *, place: Any = st, **more: Any) -> None:
    """A button for a file, made when it is asked for; the ending of its name says what it is. The page is not rerun."""
    kind, _ = _KINDS.guess_type(name)
    # Always made on request: a file made in advance would be out of reach while the page is drawn again.
    make = for_this_session(content if callable(content) else lambda: content)
    place.download_button(label, make, name, mime=kind, on_click="ignore", **{"icon": ":material/download:"} | more)


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


def fold(table: Table, frame: pd.DataFrame | Callable[[], pd.DataFrame]) -> None:
    """Add the fold; its key can be used once in a run. `frame`: the chart's rows, or what makes them when it opens."""
    with st.expander(say_declared(table.title), key=table.key, on_change="rerun") as opened:
        if opened.open:  # a closed one would be filled all the same, at every move of a slider
            rows = table.frame or frame
            show(table, rows if isinstance(rows, pd.DataFrame) else rows())


def show(table: Table, frame: pd.DataFrame) -> None:
    """The rows as text, and all of them as a file where there are too many."""
    columns = [(frame[name], form) for name, (_, form) in table.columns.items()]
    cells = [[_in_words(value, form) for value in values.head(MAX_ROWS)] for values, form in columns]
    headings = {name: say_declared(heading) for name, (heading, _) in table.columns.items()}
    words = {i for i, (_, form) in enumerate(columns) if not form}
    rows, title = list(zip(*cells, strict=True)), say_declared(table.title)
    st.html(html_table([*headings.values()], rows, caption=title, text=words, tall=True, dense=len(headings) > 5))
    if len(frame) > MAX_ROWS:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(say_declared(f"The first {MAX_ROWS} of {len(frame):,} rows."), width="content")
            file = f"{table.key}.csv"
            offer(say_declared("All rows as CSV"), lambda: safe_csv(frame, headings), file, key=f"{table.key}_csv")


def _in_words(value: Any, form: str) -> str:
    if pd.isna(value):
        return "–"
    return written(session.language(), format(value, form).replace("-", "−")) if form else str(value)


# How charts write numbers where the first language does not.
NUMBERS = {"fr": {"decimal": ",", "thousands": "\u202f", "grouping": [3], "currency": ["", ""], "percent": "\u202f%"}}


@lru_cache(maxsize=64)
def _specification(plot: Callable[..., Any], options: tuple[tuple[str, Any], ...], language: str) -> dict[str, Any]:
    spec = plot(pd.DataFrame(), **dict(options)).to_dict(validate=False)  # tests/charts do, which takes as long again
    spec.pop("data", None)
    spec.pop("datasets", None)
    if language != FIRST:
        spec = _in_language(language, spec)
        spec.setdefault("config", {})["locale"] = {"number": NUMBERS[language]}
    return spec


def _in_language(language: str, part: Any, name: str = "") -> Any:
    """A specification with its titles, and the names that colours stand for, in a language; `kind` is no such name."""
    if isinstance(part, dict) and part.get("field") == "kind":
        return part
    if isinstance(part, dict):
        return {key: _in_language(language, value, key) for key, value in part.items()}
    if isinstance(part, list):
        return [_in_language(language, value, name) for value in part]
    return declared(language, part) if isinstance(part, str) and name in ("title", "value", "domain", "sort") else part


def draw(
    plot: Callable[..., Any],
    frame: pd.DataFrame | pa.Table,
    *,
    alt: str,
    table: Table | str,
    caption: str = "",
    key: str | None = None,
    on_select: Any = "ignore",
    selection_mode: str | None = None,
    **options: Any,
) -> Any:
    """Draw ``plot(frame, **options)``, and the table of its values behind it.

    A frame takes a millisecond to be packed; what is drawn more than once is better kept as a table of Arrow's.

    `alt`: what the chart shows, for those who cannot see it. It must not depend on the data: only while the
    specification stays the same does the browser move the marks instead of building the chart anew. `table`: what is
    folded up below, or the title of a table that is drawn elsewhere on the page. `selection_mode`: name of the one
    selection of the chart that the server is told of. `caption`: text between chart and table.
    """
    spec = _specification(plot, tuple(sorted(options.items())), session.language())
    title = table if isinstance(table, str) else table.title
    whole = say_declared(f"{alt} Values in the table “{title}”.")
    how: dict[str, Any] = {"key": key, "on_select": on_select, "selection_mode": selection_mode}
    chart = st.vega_lite_chart(frame, spec, **how, alt=whole, width="stretch")
    if caption:
        st.caption(say_declared(caption))
    if isinstance(table, Table):
        fold(table, frame if isinstance(frame, pd.DataFrame) else frame.to_pandas)
    return chart


# Some hold the names of groups.
on_forget(lambda _: _specification.cache_clear())
