"""How large the groups are, as tiles: what every page about people begins with."""

from __future__ import annotations

from typing import Any

import streamlit as st

from commod.dashboard.text.escape import escape_markdown
from commod.datasets import Task


def draw_group_sizes(task: Task, *, label: str = "{group}", told: str = "{rate:.1%} of them: {outcome}") -> None:
    """The groups of a data set; below each its rate of positive labels, as `told` puts it."""
    cells = st.container(horizontal=True, gap="small")
    for code, group in enumerate(task.groups):
        y = task.y[task.sensitive == code]
        names = {"group": group, "sensitive": task.spec.sensitive, "outcome": task.spec.outcomes[1]}
        escaped = {name: escape_markdown(text) for name, text in names.items()}
        size_tile(cells, label.format(**escaped), len(y), told.format(**escaped, rate=y.mean()))


def size_tile(place: Any, label: str, people: float, told: str, **more: Any) -> None:
    """One group: its size, and what is told of it, which is neither good nor bad. Both texts are Markdown."""
    place.metric(label, f"{people:,.0f}", told, delta_color="off", delta_arrow="off", border=True, **more)
