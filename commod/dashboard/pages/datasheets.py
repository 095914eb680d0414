"""Data sheets: group sizes, what each data set cannot support, its features, and where it comes from."""

import re

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.views import frame
from commod.dashboard.views.tiles import draw_group_sizes
from commod.dashboard.views.widgets import select
from commod.datasets import Task, load_task
from commod.datasets.task import Feature
from commod.uploads.limits import short

# The table of a datasheet, which says where the data come from.
_TABLE = re.compile(r"((?:^\|.*\n)+)", flags=re.MULTILINE)
# So many categories are named, and so many features shown without scrolling.
MAX_LEVELS, MAX_ROWS = 3, 20


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/data.py")
    st.title("Data sheets")
    names = session.data_sets()
    settings = session.current()
    here = names.index(settings.data)
    left, right = st.columns(2, gap="medium")
    name = left.selectbox("Data set", names, index=here, format_func=lambda key: load_task(key).spec.title)
    task = load_task(name)
    titles = {grouping.name: grouping.title for grouping in task.spec.groupings}
    if len(titles) > 1:
        in_use = list(titles).index(settings.groups) if name == settings.data else 0
        with right:
            by = select("Groups", titles, index=in_use, key=f"groups_of_{name}")
        task = load_task(task.spec.task_names[by])
    if task.recipe:
        st.markdown(escape_markdown(task.datasheet))
    draw_group_sizes(task)
    _, source, told = ("", "", "") if task.recipe else _TABLE.split(task.datasheet)
    told, mark, caveats = told.partition("**Caveats.**")
    if mark:
        st.markdown(f"**What to know first.**{caveats}")
    _draw_features(task)
    st.markdown(told)
    if source:
        st.header("Source", anchor=False)
        st.markdown(source)
    session.keep_link()


def _draw_features(task: Task) -> None:
    """What a model knows of a person."""
    rows = [[feature.title, _values(task, feature), feature.description] for feature in task.spec.features]
    described = any(feature.description for feature in task.spec.features)
    headings = ["Feature", "Values", *["What it records"] * described]
    shown = [row[: len(headings)] for row in rows]
    st.html(html_table(headings, shown, caption="Features", text=(1, 2), tall=len(rows) > MAX_ROWS))


def _values(task: Task, feature: Feature) -> str:
    values = task.X[feature.name]
    if feature.kind == "number":
        return f"{values.min():,.6g} to {values.max():,.6g}".replace("-", "−")
    levels = [str(level) for level in values.unique()]
    return ", ".join(map(short, sorted(levels))) if len(levels) <= MAX_LEVELS else f"{len(levels)} categories"
