"""The table of the page Who changed: the people one by one, to be sorted, filtered and taken away."""

import math
import re
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
from commod.dashboard.text.verdicts import directions
from commod.dashboard.views.chart import offer
from commod.datasets import Task
from commod.experiments.refits import Refits
from commod.explain.checks import often_enough
from commod.explain.concepts import starts_in_words, sums_of
from commod.models import Commod

# As many are sent to the browser; the download has all.
MAX_ROWS = 5000
DIRECTIONS = {True: "better", False: "worse"}
RIGHT = {True: "right", False: "wrong"}
# Heading of each column, and what it means; those of concepts and features are made from their names.
_COLUMNS = {
    "group": ("Group", ""),
    "better": ("Now", tip("better")),
    "decision": ("Decision now", ""),
    "label": ("Label", tip("label")),
    "f": ("Score of f", tip("score")),
    "r": ("r", tip("ratio")),
    "s": ("s", tip("shift")),
    "balance": ("Balance", tip("balance")),
    "g": ("Score of g", tip("score")),
    "leaf": ("Leaf of the tree", ""),
    "right": ("By the record", tip("record")),
    "sure": ("f was sure", tip("certainty")),
    "again": ("Refits that change them", tip("refits")),
}
# Shown in percent, all with one decimal.
PERCENT = ("f", "g", "sure", "again")
OFTEN = {True: "in 9 of 10 refits or more", False: "in fewer"}


def people(result: FitResult, depth: int, refits: Refits | None) -> None:
    """The changed people, to be sorted, filtered and taken away; with the refits, if they are there."""
    st.header("The people, one by one")
    frame: pd.DataFrame = result_of(tasks.people(result, depth))
    if refits is not None:
        frame = frame.assign(again=refits.share[frame.index.to_numpy()])
    shown = filtered(frame, **_ask(frame, result.task))
    whole = "" if len(shown) <= MAX_ROWS else f" The first {MAX_ROWS:,} are shown; the download has all."
    st.markdown(f"**{len(shown):,} of {len(frame):,}** changed {escape_markdown(result.task.spec.people)}.{whole}")
    if shown.empty:
        st.info("Nobody who changed is like that. Take a filter away.", icon=":material/filter_alt_off:")
        return
    shown = shown.assign(better=shown["better"].map(DIRECTIONS), right=shown["right"].map(RIGHT))
    names = headings(frame, result.task, result.g)
    in_percent = {name: 100 * shown[name] for name in PERCENT if name in shown}
    st.dataframe(
        shown.assign(**in_percent).head(MAX_ROWS).reset_index(names="number"),
        alt="The people whose decision changed, with scores, concepts, leaf and features",
        hide_index=True,
        height=430,
        column_config=_config(frame, names),
    )
    formula = escape_markdown(formula_in_words(result.g, result.task.spec.outcomes))
    leaf = f"The leaf is that of the tree on the Explore page (at most {depth} questions)."
    st.caption(f"Click a heading to sort. {formula} {leaf}")
    file = f"changed-{re.sub('[^A-Za-z0-9_-]', '', result.task.name) or 'people'}.csv"
    offer("Download these people (CSV)", lambda: safe_csv(shown, names, index="Number"), file)


def formula_in_words(g: Commod, outcomes: tuple[str, str]) -> str:
    """How the numbers of a row hang together."""
    starts = starts_in_words(g, outcomes)
    if g.decides:
        return f"g says “{outcomes[1]}” where the balance is above 0; {starts}, plus what each concept adds."
    if g.has_shift:
        return (
            f"r times the logit of f's score, plus s, is that of g's; {starts}, each plus what the concepts add to it."
        )
    return f"r times the logit of f's score is that of g's; {starts} plus what each concept adds."


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


def _key(name: str, *options: object) -> str:
    """Key of a filter that starts anew when there is something else to choose from."""
    return f"people_{name}_{crc32(repr(options).encode()):08x}"


def _choose(place: Any, label: str, name: str, options: list[Any], words: Any = str) -> list[Any]:
    chosen: list[Any] = place.multiselect(
        escape_markdown(label),
        options,
        format_func=words,
        key=_key(name, options),
        placeholder="All",
        select_all=False,
    )
    return chosen


def _ask(frame: pd.DataFrame, task: Task) -> dict[str, Any]:
    """The filters, each empty at first."""
    cells = st.columns(3, gap="small")
    present = set(frame["group"])
    groups = _choose(cells[0], "Group", "group", [name for name in task.groups if name in present])
    (better, _), (worse, _) = directions(task.spec)
    ways = [way for way in (True, False) if (frame["better"] == way).any()]
    chosen_ways = _choose(cells[1], "Direction", "direction", ways, {True: better, False: worse}.__getitem__)
    features = {feature.name: feature for feature in task.spec.features}
    name = cells[2].selectbox(
        "Feature",
        list(features),
        index=None,
        format_func=lambda chosen: features[chosen].title,
        key=_key("feature", *features),
        placeholder="Any",
    )
    sizes = frame["leaf"].value_counts()
    leaves = _choose(
        st, "Leaf of the tree", "leaf", list(sizes.index), lambda leaf: f"{leaf} ({sizes.get(leaf, 0):,} changed)"
    )
    asked = {"groups": groups, "directions": chosen_ways, "leaves": leaves, "feature": name}
    left, right = st.columns(2, gap="small")
    asked["right"] = _choose(left, "By the record", "right", [True, False], RIGHT.__getitem__)
    if "again" in frame:
        asked["again"] = _choose(right, "Would change again", "again", [True, False], OFTEN.__getitem__)
    if name is None:
        return asked
    title, values = features[name].title, frame[f"feature:{name}"]
    if features[name].kind == "number" and pd.api.types.is_numeric_dtype(values.dtype):
        return asked | {"values": _range(title, name, values)}
    levels = sorted(values.dropna().unique(), key=str)
    return asked | {"values": _choose(st, title, f"values_{name}", levels)}


def _range(title: str, name: str, values: pd.Series) -> tuple[float, float] | None:
    """A slider over what there is, its ends rounded outwards so that nobody is lost to rounding."""
    least, most = float(values.min()), float(values.max())
    if not most > least or max(abs(least), abs(most)) > 1e15:  # a browser counts up to some 9e15
        st.caption(f"{escape_markdown(title)}: {least:g} to {most:g} for all who changed, no range to choose.")
        return None
    whole = bool((values == values.round()).all())
    step = max(10.0 ** math.floor(math.log10((most - least) / 40)), 1.0 if whole else 0.0)
    digits = max(0, -math.floor(math.log10(step)))
    low, high = math.floor(least / step) * step, math.ceil(most / step) * step
    kind = int if whole else float  # a slider wants all of one kind
    low, high, step = kind(round(low, digits)), kind(round(high, digits)), kind(step)
    chosen: tuple[float, float] = st.slider(
        escape_markdown(title),
        low,
        high,
        value=(low, high),
        step=step,
        key=_key(f"range_{name}", low, high),
        format="%d" if whole else f"%.{digits}f",
    )
    return chosen


def filtered(
    frame: pd.DataFrame,
    *,
    groups: list[str] | None = None,
    directions: list[bool] | None = None,
    leaves: list[str] | None = None,
    right: list[bool] | None = None,
    again: list[bool] | None = None,
    feature: str | None = None,
    values: Any = None,
) -> pd.DataFrame:
    """The people who meet all that is asked; what is empty asks nothing.

    `again` says whether those are wanted who change again often enough, or the others. `values` are levels of a
    category (list), or the ends of a range, both included (tuple).
    """
    keep = np.ones(len(frame), dtype=bool)
    for column, wanted in (("group", groups), ("better", directions), ("leaf", leaves), ("right", right)):
        if wanted:
            keep &= frame[column].isin(wanted).to_numpy()
    if again:
        keep &= np.isin(often_enough(frame["again"]), again)
    if feature is not None and values:
        column = frame[f"feature:{feature}"]
        inside = column.between(*values) if isinstance(values, tuple) else column.isin(values)
        keep &= inside.to_numpy()
    return frame[keep]
