"""Whether it still holds: the bottom line, the key figures, and what is required."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.views.table import Table, fold
from commod.dashboard.views.tiles import tile_of
from commod.decisions import VERDICTS
from commod.metrics.figures import CRITERIA, key_figures
from commod.monitoring import Watched, check_signature, headline, outcome_of
from commod.monitoring.outcome import (
    drift_in_words,
    due_in_words,
    left_out_in_words,
    moved_in_words,
    signature_in_words,
)


def draw_outcome(found: Watched, checked: pd.DataFrame, record: Mapping[str, Any] | None) -> None:
    """The bottom line, and what is behind it in a few sentences."""
    lines = None if record is None else check_signature(record, found)
    other_model = "" if lines is None or lines["agrees"].all() else signature_in_words(lines)
    outcome = outcome_of(found, checked, other_model=other_model)
    boxes = {
        "holds": (st.success, ":material/check:"),
        "broken": (st.error, ":material/close:"),
        "unknown": (st.warning, ":material/question_mark:"),
    }
    box, icon = boxes[outcome.kind]
    box(f"**{outcome.title}.** {escape_markdown(outcome.why)}", icon=icon)
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(headline(found))}**")
        moved = moved_in_words(found) if len(checked) else drift_in_words(found)  # else the line above has said it
        for sentence in (moved, left_out_in_words(found)):
            if sentence:
                st.caption(escape_markdown(sentence))
    for notice in found.notices:
        st.info(escape_markdown(notice), icon=":material/info:")


def draw_tiles(found: Watched) -> None:
    """The key figures of g as tiles, each with how far it moved."""
    criterion = CRITERIA.get(found.about["fairness"])
    rows = found.figures.set_index(["figure", "model"])
    tiles = []
    for figure in criterion.key_figures if criterion else key_figures():
        key = (figure.name, "change" if figure.of_change else "g")
        if key in rows.index:
            row = rows.loc[key].to_dict()
            now = {"g": row["new"], "g_low": row["new_low"], "g_high": row["new_high"], "difference": row["difference"]}
            tile = tile_of(figure, {**now, "difference_low": row["low"], "difference_high": row["high"]})
            tiles.append(tile | {"delta_arrow": "off" if row["low"] <= 0 <= row["high"] else "auto"})
    for cell, tile in zip(st.columns(len(tiles), gap="small"), tiles, strict=True):
        cell.metric(**tile)
    st.caption(
        f"On {found.people:,} later people; below each figure, how far it is from what it was on {found.old_people:,}. "
        "An arrow says that this is more than chance explains."
    )


def draw_requirements(found: Watched, checked: pd.DataFrame, record: Mapping[str, Any] | None, signed: bool) -> None:
    """Each requirement then and now, and the signature line by line."""
    st.header("What is required")
    if len(checked):
        rows = [[row.wanted, _verdict(row.then), _verdict(row.verdict), row.sentence] for row in checked.itertuples()]
        then = "On the people tested on" if record is None else "When it was sealed"
        headings = ["Required", then, "On these people", "Why"]
        st.html(html_table(headings, rows, caption="What is required, then and now", text=(1, 2, 3)))
    if record is not None:
        today = datetime.now(UTC).date()
        lines = check_signature(record, found)
        agree = bool(lines["agrees"].all())
        box, icon = (st.success, ":material/verified:") if agree else (st.warning, ":material/report:")
        box(escape_markdown(f"{signature_in_words(lines)} {due_in_words(record, today)}"), icon=icon)
        columns = {"line": ("Line", ""), "recorded": ("In the decision", ""), "found": ("Here", ""), "told": ("", "")}
        told = lines["agrees"].map({True: "agrees", False: "differs"})
        fold(Table("The decision line by line", "later_signature", columns), lines.assign(told=told))
    elif signed:
        st.caption(
            "The decision is not held against a model that is told as if it had been tested on half of its people: "
            "bring a batch as a file."
        )


def _verdict(name: str) -> str:
    return f"{VERDICTS[name]} {name}" if name in VERDICTS else name or "–"
