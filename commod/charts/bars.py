"""Bars: changes by group and direction, contributions by feature, and the sum that leads from f's score to g's."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.compare import MethodStyle
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


def term_styles(outcomes: tuple[str, str], favourable: int = 1) -> tuple[MethodStyle, MethodStyle]:
    """Marks of the terms that raise the score and of those that lower it, for a legend beside the chart."""
    colours = (palette.BETTER, palette.WORSE) if favourable == 1 else (palette.WORSE, palette.BETTER)
    low, high = outcomes
    return MethodStyle(f"towards “{high}”", colours[0], "square"), MethodStyle(f"towards “{low}”", colours[1], "square")


def plot_waterfall(
    frame: pd.DataFrame, *, outcomes: tuple[str, str], favourable: int = 1, line: float | None = None
) -> alt.LayerChart:
    """The running sum, a row for each term.

    `frame`: ``label`` (two lines, parted by "|", with the term's value), ``rank``, ``kind`` ("f", "g", "up" or "down"),
    ``start, end`` (of the bar), ``chance`` (at its end). `outcomes`: what a score below and above 0 decides.
    `favourable`: which of them is better for a person; terms that lead to it have its colour. `line`: the logit at 0,
    where the sum is a logit; the axis then has chances.
    """
    low, high = outcomes
    styles = term_styles(outcomes, favourable)
    names = {"labelLimit": 170, "labelPadding": 6, "labelLineHeight": 14, "labelOverlap": False}
    colours = [palette.F, palette.G, *(style.colour for style in styles)]
    scale = alt.Scale(zero=True)
    if line is None:
        axis = x_axis("start:Q", ["Balance", f"above 0: “{high}”", f"below 0: “{low}”"], scale=scale)
        so_far = ("end:Q", "Sum so far", "+.2f")
    else:
        chance = f"1 / (1 + exp(-datum.value - {line}))"
        shown = f"format({chance}, abs({chance} - 0.5) > 0.4 ? '.1~%' : '.0%')"
        axis = x_axis("start:Q", f"Chance of “{high}”", scale=scale, labelExpr=shown)
        so_far = ("chance:Q", "Chance so far", ".1%")
    bars = alt.Chart().transform_calculate(line="replace(datum.label, '|', ', ')").mark_bar(height={"band": 0.62})
    bars = bars.encode(
        x=axis,
        x2="end:Q",
        y=by_rank("label:N", labelExpr="split(datum.label, '|')", **names),
        color=coloured("kind:N", ["f", "g", "up", "down"], colours, None),
        tooltip=tips(("line:N", "Term"), so_far),
    )
    # Once, not for each row; its meaning is told beside the chart, so it is no symbol of its own.
    turns = alt.Chart().transform_filter("datum.rank == 0").encode(x=alt.datum(0))
    turns = turns.mark_rule(strokeDash=[5, 4], color=palette.FRONTIER, strokeWidth=1.5, aria=False)
    return alt.layer(bars, turns, data=frame).properties(height=alt.Step(36))
