"""Bars: changes by group and direction, and contributions by feature."""

from __future__ import annotations

import altair as alt
import pandas as pd

from commod.charts import palette

__all__ = ["plot_changes", "plot_contributions"]


def plot_changes(frame: pd.DataFrame, *, raised: str, lowered: str) -> alt.LayerChart:
    """Share of each group's decisions that changed, stacked by direction.

    Parameters
    ----------
    frame : DataFrame
        Columns ``group`` (name and size), ``direction`` (`raised` or `lowered`), ``share, count``, and ``start,
        end`` (where the bar's part begins and ends).
    raised, lowered : str
        Words for 0→1 and 1→0.
    """
    x_title = "Decisions changed (% of the group)"
    y = alt.Y("group:N", title=None, sort=None, axis=alt.Axis(labelLimit=220, labelPadding=6))
    color = alt.Color(
        "direction:N",
        scale=alt.Scale(domain=[raised, lowered], range=[palette.RAISED, palette.LOWERED]),
        legend=alt.Legend(title=None, orient="bottom", columns=1, labelLimit=0),
    )
    tooltip = [
        alt.Tooltip("group:N", title="Group"),
        alt.Tooltip("direction:N", title="Direction"),
        alt.Tooltip("count:Q", title="People"),
        alt.Tooltip("share:Q", title="Share of the group", format=".1%"),
    ]
    bars = (
        alt.Chart()
        .mark_bar(height={"band": 0.62})
        .encode(x=alt.X("start:Q", title=x_title, axis=alt.Axis(format=".0%", tickCount=6)), x2="end:Q", y=y)
        .encode(color=color, tooltip=tooltip)
    )
    text = (
        alt.Chart()
        .transform_filter("datum.count > 0 && datum.last")
        .mark_text(align="left", dx=6, fontSize=13)
        .encode(x="end:Q", y=y, text="total:N", tooltip=tooltip)
    )
    return alt.layer(bars, text, data=frame).properties(height=alt.Step(64))


def plot_contributions(frame: pd.DataFrame) -> alt.LayerChart:
    """Mean |contribution| to logit g − logit f by feature, COMMOD's own beside SHAP's.

    Parameters
    ----------
    frame : DataFrame
        Columns ``label, account`` ("COMMOD's own" or "SHAP, post hoc"), ``value, low, high``.
    """
    names = ["COMMOD's own", "SHAP, post hoc"]
    y = alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=190))
    offset = alt.YOffset("account:N", sort=names)
    color = alt.Color(
        "account:N",
        scale=alt.Scale(domain=names, range=[palette.COMMOD, palette.SHAP]),
        legend=alt.Legend(title=None, orient="bottom", columns=2),
    )
    tooltip = [
        alt.Tooltip("label:N", title="Feature"),
        alt.Tooltip("account:N", title="Account"),
        alt.Tooltip("value:Q", title="Mean |contribution|", format=".3f"),
    ]
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(x=alt.X("value:Q", title="Mean |contribution| to the change in score (logit)"), y=y, yOffset=offset)
        .encode(color=color, tooltip=tooltip)
    )
    ranges = (
        alt.Chart()
        .transform_filter("datum.high > datum.low")
        .mark_rule(strokeWidth=2, color="#555555")
        .encode(x="low:Q", x2="high:Q", y=y, yOffset=offset, tooltip=tooltip)
    )
    return alt.layer(bars, ranges, data=frame).properties(height=alt.Step(15))
