"""Bars: changes by group and direction, and contributions by feature."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import by_rank, coloured, legend_below, tips, x_axis
from commod.charts.people import names_above

# The axis of the changes reaches at least so far: a handful of people must not look like many.
LEAST = 0.2
ACCOUNTS = ("COMMOD's own", "SHAP, post hoc")


def by_direction(better: str, worse: str, *, columns: int = 1) -> alt.Color:
    """The colours of changes for the better and for the worse, with a legend of so many columns."""
    return coloured(
        "direction:N", [better, worse], [palette.BETTER, palette.WORSE], legend_below(columns, labelLimit=0)
    )


def plot_changes(frame: pd.DataFrame, *, better: str, worse: str, many: bool = False) -> alt.Chart:
    """Share of each group's decisions that changed, stacked by direction.

    `frame`: ``group`` (two lines, parted by "|"), ``rank`` (of the group), ``direction`` (`better` or `worse`),
    ``place`` (0 or 1 in that order), ``share, count``. `better`, `worse`: a change to the favourable outcome and to the
    other, in words. `many`: groups' names stand above the bars, to leave them room on a narrow screen.
    """
    beside = by_rank("group:N", labelExpr="split(datum.label, '|')", labelLimit=240, labelPadding=8, labelLineHeight=15)
    scale = alt.Scale(domain=alt.DomainUnionWith(unionWith=[0, LEAST]), nice=True)
    bars = alt.Chart(frame).encode(
        x=x_axis("share:Q", "Changed (% of the group)", ".0%", scale=scale),
        y=names_above(-9, column="group") if many else beside,
        color=by_direction(better, worse),
        order="place:Q",
        tooltip=tips(("direction:N", "Direction"), ("count:Q", "People"), ("share:Q", "Share of the group", ".1%")),
    )
    if many:
        return bars.mark_bar(size=13, yOffset=8).properties(height=alt.Step(38))
    return bars.mark_bar(height={"band": 0.62}).properties(height=270)


def plot_contributions(
    frame: pd.DataFrame, *, title: str = "Mean |contribution| (logit)", label_limit: int = 190
) -> alt.LayerChart:
    """Contributions to logit g − logit f by feature, COMMOD's own beside SHAP's: means of many people, or one person's.

    `frame`: ``label, rank`` (of the label), ``account`` (one of `ACCOUNTS`), ``value, low, high`` (over redrawn
    backgrounds; equal where there is no range). `title`: of the axis. `label_limit`: width of the names in pixels.
    """
    names = list(ACCOUNTS)
    rows = alt.Chart().encode(
        y=by_rank("label:N", labelLimit=label_limit, labelPadding=8),
        yOffset=alt.YOffset("account:N", sort=names),
        tooltip=tips(("label:N", "Feature"), ("account:N", "Account"), ("value:Q", title, ".3f")),
    )
    color = coloured("account:N", names, [palette.COMMOD, palette.SHAP], legend_below(1))
    bars = rows.mark_bar().encode(x=x_axis("value:Q", title), color=color)
    ranges = rows.transform_filter("datum.high > datum.low").mark_rule(strokeWidth=2, color="#555555")
    return alt.layer(bars, ranges.encode(x="low:Q", x2="high:Q"), data=frame).properties(height=alt.Step(15))
