"""The table of the page Who changed: the people one by one, to be sorted, filtered and taken away."""

import re
from collections.abc import Mapping
from itertools import cycle
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown, safe_csv
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.chart import offer
from commod.datasets import Task
from commod.experiments.refits import Refits
from commod.explain.concepts import sums_of
from commod.models import Commod

# As many are sent to the browser; the download has all.
MAX_ROWS = 5000
DIRECTIONS = {True: "better", False: "worse"}
RIGHT = {True: "right", False: "wrong"}
# Heading of each column, and what it means; those of concepts and features are made from their names.
_COLUMNS = {
    "group": ("Group", ""),
    "better": ("For the person", tip("better")),
    "decision": ("Decision now", ""),
    "label": ("Record", tip("label")),
    "f": ("Score of f", tip("score")),
    "r": ("r", tip("ratio")),
    "s": ("s", tip("shift")),
    "balance": ("Balance", tip("balance")),
    "g": ("Score of g", tip("score")),
    "leaf": ("Leaf of the tree", "Of the tree on Explore."),
    "right": ("g by the record", tip("record")),
    "sure": ("f was sure", tip("certainty")),
    "again": ("Changes again", tip("refits")),
}
# Shown in percent, all with one decimal.
PERCENT = ("f", "g", "sure", "again")
# Columns that fit on a page; the others are in the table once they are asked for, and in the download.
USUAL = ("number", "group", "decision", "label", "f", "g", "again")
# A column with more different numbers is filtered by a range.
MAX_OPTIONS = 12


def people(result: FitResult, depth: int, refits: Refits | None) -> None:
    """The changed people, to be sorted, filtered and taken away; with the refits, if they are there."""
    st.header("The people, one by one")
    frame: pd.DataFrame = result_of(tasks.people(result, depth))
    if refits is not None:
        frame = frame.assign(again=refits.share[frame.index.to_numpy()])
    frame = frame.assign(better=frame["better"].map(DIRECTIONS), right=frame["right"].map(RIGHT))
    names = headings(frame, result.task, result.g)
    asked = _ask(frame, names)
    shown = filtered(frame, asked)
    whole = "" if len(shown) <= MAX_ROWS else f" The first {MAX_ROWS:,} are shown; the download has all."
    if whole or len(shown) < len(frame):
        st.markdown(f"**{len(shown):,} of {len(frame):,}** changed {escape_markdown(result.task.spec.people)}.{whole}")
    if shown.empty:
        st.info("Nobody who changed is like that. Take a filter away.", icon=":material/filter_alt_off:")
        return
    in_percent = {name: 100 * shown[name] for name in PERCENT if name in shown}
    st.dataframe(
        shown.assign(**in_percent).head(MAX_ROWS).reset_index(names="number"),
        alt="The people whose decision changed, with scores, concepts, leaf and features",
        hide_index=True,
        height=430,
        column_config=_config(frame, names),
        column_order=[*USUAL, *(column for column in asked if column not in USUAL)],
    )
    st.caption("Click a heading to sort. The download has all columns.")
    file = f"changed-{re.sub('[^A-Za-z0-9_-]', '', result.task.name) or 'people'}.csv"
    offer("Download these people (CSV)", lambda: safe_csv(shown, names, index="Number"), file)


def headings(frame: pd.DataFrame, task: Task, g: Commod) -> dict[str, str]:
    """Readable heading of each column."""
    names: dict[str, str] = {}
    for column in frame.columns:
        kind, _, name = str(column).partition(":")
        concept, shift, _ = name.partition(", shift")
        part = sums_of(g)[bool(shift) or g.decides]
        made = {"concept": f"{concept} adds to {part}", "feature": task.names.get(name, name)}
        names[column] = made[kind] if kind in made else _COLUMNS[kind][0]
    return names


def _config(frame: pd.DataFrame, names: dict[str, str]) -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    config: dict[str, Any] = {"number": st.column_config.Column("No.", help=tip("number"))}
    for column, name in names.items():
        about: dict[str, Any] = {"help": _COLUMNS.get(column, ("", ""))[1] or None}
        if column in PERCENT:
            config[column] = number(name, format="%.1f%%", **about)
        elif column in ("r", "s", "balance") or column.startswith("concept:"):
            config[column] = number(name, format="%.3f", **about)
        elif pd.api.types.is_numeric_dtype(frame[column].dtype) and column not in ("better", "right"):
            config[column] = number(name, **about)
        else:
            config[column] = text(name, width="large" if column == "leaf" else None, **about)
    return config


def _ask(frame: pd.DataFrame, names: dict[str, str]) -> dict[str, Any]:
    """The filters: any columns, each with a range of its numbers or some of its values."""
    chosen = st.multiselect(
        "More columns and filters", list(frame), format_func=names.__getitem__, key="people_filters"
    )
    asked = {}
    for place, column in zip(cycle(st.columns(3, gap="small") if chosen else []), chosen, strict=False):
        values, label = frame[column].dropna(), escape_markdown(names[column])
        is_number = pd.api.types.is_numeric_dtype(values.dtype)
        options = sorted(values.unique(), key=None if is_number else str)
        # A filter starts anew where there is something else to choose from.
        key = f"people_{column}_{crc32(repr(options).encode()):08x}"
        if is_number and len(options) > MAX_OPTIONS and values.abs().max() < 1e15:  # a browser counts up to some 9e15
            low, high = values.min().item(), values.max().item()
            step = 1 if isinstance(low, int) else (high - low) / 100
            asked[column] = place.slider(label, low, high, (low, high), step, key=key, format="%.4g")
        else:
            asked[column] = place.multiselect(label, options, format_func=str, key=key, placeholder="All")
    return asked


def filtered(frame: pd.DataFrame, asked: Mapping[str, Any]) -> pd.DataFrame:
    """The people who meet all that is asked, by column: some values (list), or a range with both ends (tuple).

    An empty list asks nothing, and neither does the whole range.
    """
    keep = np.ones(len(frame), dtype=bool)
    for column, wanted in asked.items():
        values = frame[column]
        if isinstance(wanted, tuple) and wanted != (values.min(), values.max()):
            keep &= values.between(*wanted).to_numpy()
        elif isinstance(wanted, list) and wanted:
            keep &= values.isin(wanted).to_numpy()
    return frame[keep]
