"""Data sheets: where each data set comes from, group sizes first, and what it cannot support."""

from __future__ import annotations

import re

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views import frame as layout
from commod.datasets import load_task


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/data.py")
    st.title("Data sheets")
    names = session.data_sets()
    here = names.index(session.current().data)
    name = st.selectbox("Data set", names, index=here, format_func=lambda key: load_task(key).spec.title)
    task = load_task(name)
    cells = st.container(horizontal=True, gap="small")
    for code, group in enumerate(task.groups):
        rows = task.sensitive == code
        rate = f"{task.y[rows].mean():.1%} of them: {escape_markdown(task.spec.outcomes[1])}"
        cells.metric(escape_markdown(group), f"{rows.sum():,}", rate, delta_color="off", delta_arrow="off", border=True)
    # The headings of a datasheet come below that of the page.
    sheet = re.sub(r"^#", "##", task.datasheet, flags=re.MULTILINE)
    st.markdown(escape_markdown(task.datasheet) if task.recipe else sheet)
    session.keep_link()
