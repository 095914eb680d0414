"""Then and now, part by part: whether it holds, what is required, and what moved."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.pages.later.calibration import draw_calibration
from commod.dashboard.pages.later.changes import draw_right, draw_tree, draw_who
from commod.dashboard.pages.later.columns import draw_columns
from commod.dashboard.pages.later.figures import draw_figures
from commod.dashboard.pages.later.overview import draw_outcome, draw_requirements, draw_tiles
from commod.decisions import Requirements
from commod.monitoring import Watched, check_then_and_now

PARTS: dict[str, Callable[[Watched], None]] = {
    "All figures": draw_figures,
    "Who changes": draw_who,
    "Right or wrong": draw_right,
    "Calibration": draw_calibration,
    "The tree": draw_tree,
    "Columns": draw_columns,
}


def draw(found: Watched, required: Requirements, record: Mapping[str, Any] | None, *, signed: bool) -> None:
    """All of it.

    `record` is the decision that the model is held against; `signed` says whether there is one at all, as for a model
    that is told as if it had been tested on half of its people nothing can be held against it.
    """
    checked = check_then_and_now(required, found.old_facts, found.facts, record) if required else pd.DataFrame()
    draw_outcome(found, checked, record)
    draw_tiles(found)
    if required or signed:
        draw_requirements(found, checked, record, signed)
    st.header("What moved")
    for tab, paint in zip(st.tabs(list(PARTS), key="later_parts", on_change="rerun"), PARTS.values(), strict=True):
        with tab:
            if tab.open:
                paint(found)
