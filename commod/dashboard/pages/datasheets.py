"""Data sheets: where each data set comes from, group sizes first, and what it cannot support."""

import re

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views import frame
from commod.dashboard.views.tiles import draw_group_sizes
from commod.dashboard.views.widgets import select
from commod.datasets import load_task


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/data.py")
    st.title("Data sheets")
    names = session.data_sets()
    settings = session.current()
    here = names.index(settings.data)
    name = st.selectbox("Data set", names, index=here, format_func=lambda key: load_task(key).spec.title)
    task = load_task(name)
    titles = {grouping.name: grouping.title for grouping in task.spec.groupings}
    if len(titles) > 1:
        in_use = list(titles).index(settings.groups) if name == settings.data else 0
        by = select("Groups", titles, index=in_use, key=f"groups_of_{name}")
        task = load_task(task.spec.task_names[by])
    draw_group_sizes(task)
    # What the data cannot support comes first; the headings of a datasheet come below that of the page.
    sheet, mark, caveats = re.sub(r"^#", "##", task.datasheet, flags=re.MULTILINE).partition("**Caveats.**")
    if mark and not task.recipe:
        st.markdown(f"**What to know first.**{caveats}")
    st.markdown(escape_markdown(task.datasheet) if task.recipe else sheet)
    session.keep_link()
