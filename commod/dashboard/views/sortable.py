"""What makes the tables of `html_sortable` sort and fold in the browser."""

from pathlib import Path

import streamlit as st

_sort = st.components.v2.component(
    "commod_sort", html="", js=(Path(__file__).parent / "browser" / "sort.js").read_text()
)


def let_tables_sort() -> None:
    """Call it once on a page, anywhere: it draws nothing."""
    _sort(key="sort", height="content")
