"""Who changes, who rightly, and the tree of the changes, then and now."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.later import MOVED, plot_then_and_now
from commod.dashboard.pages.later.then_and_now import INTERVALS, TIMES, say_no_labels, with_words
from commod.dashboard.text.html import piece, style
from commod.dashboard.views.chart import draw as draw_chart
from commod.dashboard.views.table import Table, fold
from commod.monitoring import Watched
from commod.wording import with_capital

_COUNTS = {
    "old_count": ("Then (people)", ","),
    "old_people": ("of", ","),
    "new_count": ("Now (people)", ","),
    "new_people": ("of", ","),
}
_BY_GROUP = {"group": ("Group", ""), "direction": ("Changed", ""), **_COUNTS, **INTERVALS}
WHO = Table("Who changes then and now, as a table", "later_who", _BY_GROUP)
RIGHT = Table("Right by the record then and now, as a table", "later_right", _BY_GROUP)
TREE = Table(
    "The tree then and now, as a table",
    "later_tree",
    {
        "rule": ("Who", ""),
        "depth": ("Depth", ""),
        "old_changed": ("Then changed (people)", ","),
        "old_count": ("of", ","),
        "new_changed": ("Now changed (people)", ","),
        "new_count": ("of", ","),
        **INTERVALS,
    },
)


def draw_who(found: Watched) -> None:
    """Whose decisions change, by group and direction."""
    data, named = _by_group(found, found.who)
    moved = int(found.who["moved"].sum())
    told = "No share of a group moved" if not moved else f"{moved} of {len(found.who)} shares moved"
    st.markdown(f"Whose decisions g changes, and which way. **{told} more than chance explains.**")
    draw_chart(
        plot_then_and_now,
        data,
        alt="Share of each group whose decision changes, by direction, then and now.",
        table=Table(WHO.title, WHO.key, WHO.columns, lambda: named),
        title="Changed (% of the group)",
    )


def draw_right(found: Watched) -> None:
    """For whom the change is right by the record."""
    if not found.labelled:
        say_no_labels()
        return
    data, named = _by_group(found, found.right)
    rows = found.figures[found.figures["figure"] == "right"]
    if data.empty or rows.empty:
        st.info("No decision changed, then or now: there is nothing to be right or wrong.", icon=":material/info:")
        return
    row = rows.iloc[0]
    chance = "more than chance explains" if row["moved"] else "which chance may explain"
    st.markdown(
        f"Of the changed decisions **{row['new']:.1%}** are right by the record; it was {row['old']:.1%}, {chance}. "
        "The others f had right."
    )
    draw_chart(
        plot_then_and_now,
        data,
        alt="Share of the changes that is right by the record, by group and direction, then and now.",
        table=Table(RIGHT.title, RIGHT.key, RIGHT.columns, lambda: named),
        caption="Where few decisions changed, the interval says little.",
        title="Right by the record (% of the changes)",
    )


def _by_group(found: Watched, frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the chart then and now, and those of its table."""
    outcomes, good = found.about["outcomes"], found.about["favourable"]
    ways = {True: f"better: now “{outcomes[good]}”", False: f"worse: now “{outcomes[1 - good]}”"}
    named = with_words(frame).assign(direction=frame["better"].map(ways))
    shown = named[(named["old_people"] > 0) | (named["new_people"] > 0)].reset_index(drop=True)
    rows = [
        {
            "name": f"{row['group']}, {row['direction']}",
            "rank": rank,
            "time": TIMES[time],
            "share": row[time],
            "low": row[f"{time}_low"],
            "high": row[f"{time}_high"],
            "part": row[f"{time}_count"],
            "whole": row[f"{time}_people"],
        }
        for rank, row in enumerate(shown.to_dict("records"))
        for time in TIMES
        if row[f"{time}_people"]
    ]
    return pd.DataFrame(rows), named


def draw_tree(found: Watched) -> None:
    """The tree of the changes, laid over the later people."""
    if found.tree.empty:
        st.info("The model's file has no tree of its changes.", icon=":material/info:")
        return
    st.markdown(
        "The tree that was learnt from the changes when the model was made, laid over the later people. It told who "
        f"changes with an F1 of {found.f1[0]:.2f}; **now it does with {found.f1[1]:.2f}**."
    )
    below: dict[int, list[tuple[Any, ...]]] = {-1: []}
    for row in found.tree.to_dict("records"):
        size = f"now {_part(row, 'new')}; then {_part(row, 'old')}"
        size += f" · moved {MOVED}" if row["moved"] else ""
        rule, share = with_capital(row["rule"]), row["new"] if row["new_count"] else 0.0
        below[row["parent"]].append((rule, f"{share:.1%}", size, below.setdefault(row["node"], [])))
    st.html(style() + piece("tree", below[-1]))
    fold(TREE, with_words(found.tree))


def _part(row: Mapping[str, Any], time: str) -> str:
    count = row[f"{time}_count"]
    return f"{row[f'{time}_changed']:,} of {count:,} changed" + (f" ({row[time]:.0%})" if count else "")
