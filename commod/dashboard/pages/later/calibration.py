"""Calibration then and now."""

import streamlit as st

from commod.charts import palette
from commod.charts.later import NOW, THEN
from commod.charts.plausibility import plot_reliability
from commod.dashboard.pages.later.then_and_now import TIMES, say_no_labels, with_words
from commod.dashboard.text.html import html_table
from commod.dashboard.views.chart import draw as draw_chart
from commod.dashboard.views.table import Table, fold
from commod.monitoring import Watched

BINS = Table(
    "Calibration then and now, as a table",
    "later_bins",
    {
        "of": ("Model", ""),
        "model": ("When", ""),
        "mean_score": ("Mean score", ".1%"),
        "rate": ("Recorded so", ".1%"),
        "rate_low": ("95 % from", ".1%"),
        "rate_high": ("to", ".1%"),
        "count": ("People", ","),
    },
)


def draw_calibration(found: Watched) -> None:
    """Whether scores mean what they say."""
    if not found.labelled:
        say_no_labels()
        return
    rows = found.figures[found.figures["figure"].str.startswith("calibration_gap") & (found.figures["model"] == "g")]
    st.markdown("Do the scores of g still mean what they say? The share with the label less the mean score, in points:")
    cells = []
    for row in with_words(rows).to_dict("records"):
        then, now = (
            f"{100 * row[time]:+.1f} [{100 * row[f'{time}_low']:+.1f}, {100 * row[f'{time}_high']:+.1f}]"
            for time in TIMES
        )
        moved = f"{100 * row['difference']:+.1f} [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
        whom = row["title"].rpartition(": ")[2]
        cells.append([whom, *(text.replace("-", "−") for text in (then, now, moved)), row["told"]])
    headings = ["Whose", "Then", "Now", "Now less then", "By chance?"]
    st.html(html_table(headings, cells, caption="Share with the label less the mean score", text=(4,)))
    points = found.bins.assign(of=found.bins["model"], model=found.bins["time"].map(TIMES))
    table = Table(BINS.title, BINS.key, BINS.columns, lambda: points)
    for cell, model in zip(st.columns(2, gap="medium"), ("f", "g"), strict=True):
        with cell:
            st.markdown(f"**Scores of {model}**")
            draw_chart(
                plot_reliability,
                points[points["of"] == model],
                alt="Share with the label by mean score, then and now.",
                table=table.title,
                outcome=found.about["outcomes"][1],
                models=(THEN, NOW),
                colours=(palette.FRONTIER, palette.TRAIL),
            )
    fold(table, points)
