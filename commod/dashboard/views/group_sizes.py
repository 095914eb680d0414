"""How large the groups are, as tiles or, of many groups, as a table: what every page about people begins with."""

from typing import Any

import streamlit as st

from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.datasets import Task

# More tiles than this stand in rows that nobody can compare.
MAX_TILES = 4


def draw_group_sizes(task: Task, *, label: str = "{group}", told: str = "{rate:.1%} of them: {outcome}") -> None:
    """The groups of a data set; below each its rate of positive labels, as `told` puts it."""
    if len(task.groups) > MAX_TILES:
        _draw_table(task)
        return
    cells = st.container(horizontal=True, gap="small")
    for code, group in enumerate(task.groups):
        y = task.y[task.sensitive == code]
        names = {"group": group, "sensitive": task.spec.sensitive, "outcome": task.spec.outcomes[1]}
        escaped = {name: escape_markdown(text) for name, text in names.items()}
        size_tile(cells, label.format(**escaped), len(y), told.format(**escaped, rate=y.mean()))


def _draw_table(task: Task) -> None:
    """Many groups, the largest first."""
    labels = task.y.groupby(task.sensitive).agg(["size", "mean"]).sort_values("size", ascending=False, kind="stable")
    rows = [
        [task.groups[int(code)], f"{row['size']:,.0f}", f"{row['mean']:.1%}"]
        for code, row in labels[labels.index >= 0].iterrows()
    ]
    headings = ["Group", task.spec.people.capitalize(), task.spec.outcomes[1]]
    st.html(html_table(headings, rows, caption="Sizes of the groups"))


def size_tile(place: Any, label: str, people: float, told: str, **more: Any) -> None:
    """One group: its size, and what is told of it, which is neither good nor bad. Both texts are Markdown."""
    place.metric(label, f"{people:,.0f}", told, delta_color="off", delta_arrow="off", border=True, **more)
