"""How the columns are distributed, then and now."""

import pandas as pd
import streamlit as st

from commod.charts.later import LOOK, SHIFTED, STABLE, plot_drift, plot_spread
from commod.dashboard.pages.later.then_and_now import TIMES
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.chart import draw as draw_chart
from commod.dashboard.views.table import Table
from commod.monitoring import Watched, drift

DRIFTS = {"stable": STABLE, "look": LOOK, "shifted": SHIFTED}
# Columns in the picture of the drift, and sentences below it.
MAX_COLUMNS, MAX_SENTENCES = 15, 8

DRIFTS = {"stable": STABLE, "look": LOOK, "shifted": SHIFTED}
DRIFT = Table(
    "Columns then and now, as a table",
    "later_drift",
    {
        "column": ("Column", ""),
        "index": ("Stability index", ".3f"),
        "by_chance": ("Reached by chance", ".3f"),
        "told": ("Distributed", ""),
        "unseen": ("People with a value that nobody had before", ","),
    },
)
SPREAD = Table(
    "Its values then and now, as a table",
    "later_spread",
    {"class": ("Value", ""), "old": ("Then", ".1%"), "new": ("Now", ".1%")},
)


def draw_columns(found: Watched) -> None:
    """Drift of every column and score."""
    drifted = found.drift[(found.drift["drift"] != "stable") | (found.drift["unseen"] > 0)]
    if drifted.empty:
        st.markdown("No column, nor a score, is distributed differently than before.")
    for sentence in drifted["sentence"].head(MAX_SENTENCES):
        st.markdown(f"- {escape_markdown(sentence)}")
    frame = found.drift.assign(told=found.drift["drift"].map(DRIFTS))
    shown = frame.sort_values("index", ascending=False, kind="stable").head(MAX_COLUMNS).reset_index(drop=True)
    left, right = st.columns(2, gap="large")
    with left:
        draw_chart(
            plot_drift,
            shown.assign(name=shown["column"], rank=range(len(shown)))[["name", "rank", "index", "by_chance", "told"]],
            alt="Population stability index of the columns that moved most.",
            table=Table(DRIFT.title, DRIFT.key, DRIFT.columns, lambda: frame),
            caption=f"{tip('stability_index')} Short lines: grey, what chance reaches here; coloured, the two bounds.",
            look=drift.LOOK,
            shifted=drift.DRIFTED,
        )
    with right:
        column = st.selectbox("Its values then and now", list(shown["column"]), key="later_column")
        own = found.spread[found.spread["column"] == column]
        rows = [
            {"name": row["class"], "rank": row["place"], "time": TIMES[time], "share": row[time]}
            for row in own.to_dict("records")
            for time in TIMES
        ]
        draw_chart(
            plot_spread,
            pd.DataFrame(rows),
            alt="Shares of the classes of a column, then and now.",
            table=Table(SPREAD.title, SPREAD.key, SPREAD.columns, lambda: own),
        )
