"""Altair charts on a page at the price of their data: each specification is built once and cached as a dict."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text.language import FIRST, declared
from commod.dashboard.views.table import Table, fold
from commod.dashboard.views.words import say_declared
from commod.datasets import on_forget

# How charts write numbers where the first language does not.
_NUMBERS = {"fr": {"decimal": ",", "thousands": "\u202f", "grouping": [3], "currency": ["", ""], "percent": "\u202f%"}}


@lru_cache(maxsize=64)
def _specification(plot: Callable[..., Any], options: tuple[tuple[str, Any], ...], language: str) -> dict[str, Any]:
    spec = plot(pd.DataFrame(), **dict(options)).to_dict()
    spec.pop("data", None)
    spec.pop("datasets", None)
    if language != FIRST:
        spec = _in_language(language, spec)
        spec.setdefault("config", {})["locale"] = {"number": _NUMBERS[language]}
    return spec


def _in_language(language: str, part: Any, name: str = "") -> Any:
    """A specification with its titles, and the names that colours stand for, in a language."""
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

    `alt`: what the chart shows, for those who cannot see it; where its values are is added. It must not depend on the
    data: it is part of the specification, and only while that stays the same does the browser move the marks instead of
    building the chart anew. `table`: the table with the chart's values: it is folded up below. Or the title of a table
    that is drawn elsewhere on the page, in sight or by `commod.dashboard.views.table.fold`. `selection_mode`: name of
    the one selection of the chart that the server is told of; others, as of what is under the pointer, stay in the
    browser. `caption`: text between chart and table.
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
