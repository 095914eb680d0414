"""Segments by how much they changed, and the groups' rates before and after."""

import math
from typing import Any

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.compare import MethodStyle
from commod.charts.parts import (
    across_by_rank,
    by_rank,
    coloured,
    diagonal,
    interval_tips,
    legend_below,
    low_to_high,
    shaped,
    tips,
    x_axis,
    y_axis,
)

BEFORE, AFTER = "before (f)", "now (g)"
COLOURS = {"changed": palette.G, "better": palette.BETTER, "worse": palette.WORSE}


def names_above(offset: int, *, column: str = "name", size: int = 12) -> alt.Y:
    """Names above their marks instead of beside them; `offset` is that of a name from the middle of its row."""
    return by_rank(
        f"{column}:N",
        labelAlign="left",
        labelExpr="replace(datum.label, '|', ' · ')",
        labelPadding=0,
        labelOffset=offset,
        labelLimit=alt.ExprRef("width"),
        labelFontSize=size,
        labelOverlap=False,
        ticks=False,
        domain=False,
        grid=False,
        zindex=1,
    )


def stacked(frame: pd.DataFrame, x: alt.X, color: alt.Color, tooltip: list[alt.Tooltip]) -> alt.Chart:
    """Bars in the order of the column ``place``, each row's name above them."""
    bars = alt.Chart(frame).mark_bar(size=15, yOffset=8)
    bars = bars.encode(x=x, y=names_above(-9), color=color, order="place:Q", tooltip=tooltip)
    return bars.properties(height=alt.Step(44))


def plot_segment_shares(frame: pd.DataFrame, *, of: str = "changed", title: str = "Changed") -> alt.LayerChart:
    """Share of each segment that changed as a bar with its interval, and everyone's share as a mark across it.

    `frame`: ``name`` (as shown), ``rank, segment, count, part`` (people), ``share, low, high`` and ``overall``
    (everyone's share). `of`: a key of `COLOURS`. `title`: of the axis, without its unit.
    """
    colour, down = COLOURS[of], 9
    y = names_above(-7)
    x = x_axis("share:Q", f"{title} (% of the segment)", ".0%", scale=alt.Scale(domainMin=0, nice=True), grid=False)
    tooltip = tips(
        ("segment:N", "Segment"),
        ("count:Q", "People", ","),
        ("part:Q", title, ","),
        ("share:Q", "Share", ".1%"),
        *interval_tips(),
    )
    bars = alt.Chart().mark_bar(size=13, yOffset=down, color=colour, opacity=0.45)
    bars = bars.encode(x=x, y=y, tooltip=tooltip, description="name:N")
    ranges = low_to_high(y, down, color=colour).encode(tooltip=tooltip)
    everyone = alt.Chart().mark_tick(thickness=2, size=19, yOffset=down, color=palette.FRONTIER)
    everyone = everyone.encode(x=alt.X("overall:Q"), y=y)
    return alt.layer(bars, everyone, ranges, data=frame).properties(height=alt.Step(38))


def plot_outcomes(frame: pd.DataFrame, *, decision: str) -> alt.LayerChart:
    """Rate of positive decisions by group and label, before and now, joined by a line.

    `frame`: ``name`` (group and label), ``rank``, ``model`` (`BEFORE` or `AFTER`), ``rate, low, high`` (the ends of the
    line), ``people, count``. `decision`: the positive decision, in words.
    """
    y = names_above(-11)
    tooltip = _rate_tips("Who", decision)
    lines = low_to_high(y, 7, strokeWidth=2, color=palette.FRONTIER)
    points = _before_and_now(y, decision, tooltip, alt.Scale(domain=[0, 1]))
    return alt.layer(lines, points, data=frame).properties(height=alt.Step(44))


def plot_group_rates(frame: pd.DataFrame, *, decision: str) -> alt.LayerChart:
    """Rate of positive decisions of many groups before and now, with the interval of the latter, and everyone's.

    `frame`: ``name`` (of the group), ``rank``, ``model`` (`BEFORE` or `AFTER`), ``rate, low, high``, ``people, count``
    and ``overall`` (everyone's rate now). `decision`: the positive decision, in words.
    """
    y = names_above(-10)
    tooltip = [*_rate_tips("Group", decision), *tips(*interval_tips())]
    everyone = alt.Chart().transform_aggregate(overall="max(overall)").encode(x=alt.X("overall:Q"))
    everyone = everyone.mark_rule(strokeDash=[4, 4], color=palette.FRONTIER, aria=False)
    intervals = low_to_high(y, 7, color=palette.G, opacity=0.5).encode(tooltip=tooltip)
    intervals = intervals.transform_filter("indexof(datum.model, '(g)') >= 0")  # in every language
    points = _before_and_now(y, decision, tooltip, alt.Scale(domainMin=0, nice=True))
    return alt.layer(everyone, intervals, points, data=frame).properties(height=alt.Step(38))


def _rate_tips(who: str, decision: str) -> list[alt.Tooltip]:
    people = ("people:Q", f"Decided “{decision}”", ",.0f"), ("count:Q", "Of", ",.0f")
    return tips(("name:N", who), ("model:N", "Model"), *people, ("rate:Q", "Rate", ".1%"))


def _before_and_now(y: alt.Y, decision: str, tooltip: list[alt.Tooltip], scale: alt.Scale) -> alt.Chart:
    """A rate of f and one of g in each row."""
    points = alt.Chart().mark_point(size=110, filled=True, opacity=1, yOffset=7)
    return points.encode(
        x=x_axis("rate:Q", f"Decided “{decision}” (%)", ".0%", ticks=3, scale=scale),
        y=y,
        color=coloured("model:N", [BEFORE, AFTER], [palette.F, palette.G], legend_below(2)),
        shape=shaped("model:N", [BEFORE, AFTER], ["diamond", "circle"], alt.Legend()),
        tooltip=tooltip,
    )


RIGHT_NOW, RIGHT_BEFORE = "g is right by the record", "f was right by the record"
EVERYONE, CHANGED = "everyone", "those changed"


def plot_record(frame: pd.DataFrame) -> alt.Chart:
    """Changed people by group and direction, and whether g or f agrees with the record.

    `frame`: columns ``name`` (group and direction, as shown), ``rank``, ``who`` (`RIGHT_NOW` or `RIGHT_BEFORE`),
    ``place`` (0 and 1 in that order), ``people, share`` (of the changed in this row).
    """
    x = alt.X("people:Q", title="Changed (people)", axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d"))
    color = coloured("who:N", [RIGHT_NOW, RIGHT_BEFORE], [palette.G, palette.F], legend_below(1, labelLimit=0))
    people = ("people:Q", "People", ",d"), ("share:Q", "Share", ".1%")
    return stacked(frame, x, color, tips(("name:N", "Changed"), ("who:N", "By the record"), *people))


def plot_certainty(frame: pd.DataFrame) -> alt.Chart:
    """How sure f was about changed people, compared with everyone.

    `frame`: columns ``name`` (class of certainty), ``rank``, ``whose`` (`EVERYONE` or `CHANGED`), ``share, people``.
    """
    names, people = [EVERYONE, CHANGED], (("people:Q", "People", ",d"), ("share:Q", "Share", ".1%"))
    bars = alt.Chart(frame).mark_bar().properties(height=270)
    return bars.encode(
        x=across_by_rank("name:N", "How sure f was of its decision (%)", 0),
        xOffset=alt.XOffset("whose:N", sort=names),
        y=y_axis("share:Q", "Share (%)", ".0%"),
        color=coloured("whose:N", names, [palette.FRONTIER, palette.G], legend_below(2)),
        tooltip=tips(("whose:N", "Of"), ("name:N", "f was sure (%)"), *people),
    )


def plot_reliability(frame: pd.DataFrame, *, outcome: str) -> alt.LayerChart:
    """Share labelled positive by mean score; on the diagonal scores mean what they say.

    `frame`: ``model`` (`BEFORE` or `AFTER`), ``mean_score, rate, rate_low, rate_high, count``. `outcome`: the label 1.
    """
    unit = alt.Scale(domain=[0, 1])
    x = x_axis("mean_score:Q", "Mean score (%)", "%", scale=unit)
    y = y_axis("rate:Q", f"Recorded “{outcome}” (%)", "%", scale=unit)
    color = coloured("model:N", [BEFORE, AFTER], [palette.F, palette.G], legend_below(2, symbolOpacity=1))
    tooltip = tips(
        ("model:N", "Model"),
        ("mean_score:Q", "Mean score", ".1%"),
        ("rate:Q", f"Recorded “{outcome}”", ".1%"),
        *interval_tips("rate_low:Q", "rate_high:Q"),
        ("count:Q", "People", ","),
    )
    base = alt.Chart().encode(x=x, y=y, color=color)
    ranges = base.mark_rule(opacity=0.5).encode(y=alt.Y("rate_low:Q"), y2="rate_high:Q")
    lines = base.mark_line(strokeWidth=1.5, opacity=0.8).encode(order="mean_score:Q")
    shape = shaped("model:N", [BEFORE, AFTER], ["diamond", "circle"], alt.Legend(symbolOpacity=1))
    points = base.mark_point(size=60, filled=True, opacity=1).encode(shape=shape, tooltip=tooltip)
    return alt.layer(diagonal(), ranges, lines, points, data=frame).properties(height=300)


def plot_again(frame: pd.DataFrame) -> alt.Chart:
    """Changed people by the share of refits that change them.

    `frame`: columns ``name`` (class of the share), ``rank, people``, ``often`` (whether it counts as happening again).
    """
    bars = alt.Chart(frame).mark_bar().properties(height=250)
    return bars.encode(
        x=across_by_rank("name:N", "Share of the refits that change the person (%)", -45),
        y=y_axis("people:Q", "Changed (people)", ",d", tickMinStep=1),
        color=alt.condition("datum.often", alt.value(palette.G), alt.value(palette.FRONTIER)),
        tooltip=tips(("name:N", "Refits that change them (%)"), ("people:Q", "People", ",d")),
    )


# The axis of the changes reaches at least this far: a handful of people must not look like many.
LEAST = 0.2
ACCOUNTS = ("COMMOD's own", "SHAP, post hoc")


def by_direction(better: str, worse: str, *, columns: int = 1) -> alt.Color:
    """The colours of changes for the better and for the worse, with a legend."""
    legend = legend_below(columns, labelLimit=0)
    return coloured("direction:N", [better, worse], [palette.BETTER, palette.WORSE], legend)


def plot_changes(frame: pd.DataFrame, *, better: str, worse: str, many: bool = False) -> alt.Chart:
    """Share of each group's decisions that changed, stacked by direction.

    `frame`: ``group`` (two lines, parted by "|"), ``rank`` (of the group), ``direction`` (`better` or `worse`),
    ``place`` (0 or 1 in that order), ``share, count``. `better`, `worse`: a change to the favourable outcome and to the
    other, in words. `many`: groups' names are above the bars, to save room on a narrow screen.
    """
    beside = by_rank("group:N", labelExpr="split(datum.label, '|')", labelLimit=240, labelPadding=8, labelLineHeight=15)
    scale = alt.Scale(domain=alt.DomainUnionWith(unionWith=[0, LEAST]), nice=True)
    bars = alt.Chart(frame).encode(
        x=x_axis("share:Q", "Changed (% of the group)", ".0%", ticks=3, scale=scale),
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
    """Contributions to logit g − logit f by feature, COMMOD's own and SHAP's: means of many people, or one person's.

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
    bars = rows.mark_bar().encode(x=x_axis("value:Q", title, ticks=3), color=color)
    ranges = rows.transform_filter("datum.high > datum.low").mark_rule(strokeWidth=2, color=palette.FRONTIER)
    return alt.layer(bars, ranges.encode(x="low:Q", x2="high:Q"), data=frame).properties(height=alt.Step(15))


def term_styles(outcomes: tuple[str, str], favourable: int = 1) -> tuple[MethodStyle, MethodStyle]:
    """Marks of the terms that raise or lower the score, for a legend next to the chart."""
    colours = (palette.BETTER, palette.WORSE) if favourable == 1 else (palette.WORSE, palette.BETTER)
    low, high = outcomes
    return MethodStyle(f"towards “{high}”", colours[0], "square"), MethodStyle(f"towards “{low}”", colours[1], "square")


# Written at the axis of the waterfall, next to the line.
CHANCES = (0.001, 0.01, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.99, 0.999)


def plot_waterfall(
    frame: pd.DataFrame, *, outcomes: tuple[str, str], favourable: int = 1, line: float | None = None
) -> alt.LayerChart:
    """The running sum, a row for each term: the scores of f and g as points, the others as bars.

    `frame`: ``label`` (lines parted by "|", with the term's value), ``rank``, ``kind`` ("f", "g", "up" or "down"),
    ``start, end`` (of the bar), ``chance`` (at its end). `outcomes`: what a score below and above 0 decides.
    `favourable`: which of them is better for a person; terms that lead to it have its colour. `line`: the logit at 0,
    where the sum is a logit; the axis then has chances.
    """
    low, high = outcomes
    styles = term_styles(outcomes, favourable)
    names: dict[str, Any] = {"labelLimit": 170, "labelPadding": 6, "labelLineHeight": 14, "labelOverlap": False}
    colours = [palette.F, palette.G, *(style.colour for style in styles)]
    scale, ticks = alt.Scale(zero=True, padding=10), dict[str, Any]()
    title: str | list[str] = ["Balance", f"above 0: “{high}”", f"below 0: “{low}”"]
    if line is None:
        so_far = ("end:Q", "Sum so far", "+.2f")
    else:
        chance = f"1 / (1 + exp(-datum.value - {line}))"
        shown = f"format({chance}, abs({chance} - 0.5) > 0.4 ? '.1~%' : '.0%')"
        values = sorted({0.0, *(math.log(p / (1 - p)) - line for p in CHANCES)})
        title, ticks = f"Chance of “{high}”", {"labelExpr": shown, "values": values}
        so_far = ("chance:Q", "Chance so far", ".1%")
    terms = (
        alt.Chart()
        .transform_calculate(line="replace(datum.label, regexp('[|]', 'g'), ', ')")
        .encode(
            y=by_rank("label:N", labelExpr="split(datum.label, '|')", **names),
            color=coloured("kind:N", ["f", "g", "up", "down"], colours, None),
            tooltip=tips(("line:N", "Term"), so_far),
        )
    )
    is_score = "datum.kind == 'f' || datum.kind == 'g'"
    bars = terms.transform_filter(f"!({is_score})").mark_bar(height={"band": 0.45})
    bars = bars.encode(x=x_axis("start:Q", title, scale=scale, **ticks), x2="end:Q")
    scores = terms.transform_filter(is_score).mark_point(filled=True, opacity=1, size=200)
    scores = scores.encode(x=x_axis("end:Q", title, scale=scale, **ticks))
    # Once, not for each row. The text next to the chart explains it.
    turns = alt.Chart().transform_filter("datum.rank == 0").encode(x=alt.datum(0))
    turns = turns.mark_rule(strokeDash=[5, 4], color=palette.FRONTIER, strokeWidth=1.5, aria=False)
    return alt.layer(bars, turns, scores, data=frame).properties(height=alt.Step(50))


def plot_curve(
    frame: pd.DataFrame, *, x_title: str, y_title: str, deployed: str, here: str, asked: str, setting: str
) -> alt.LayerChart:
    """Accuracy against fairness along λ_fair, with f and the model of the slider.

    `frame`: ``name`` (`deployed`, `here` or `asked`), ``lambda_fair, fairness, accuracy``. `deployed`, `here`, `asked`,
    `setting`: what f, the slider's model, the curve and λ_fair are called.
    """
    names, colours = [asked, deployed, here], [palette.PATH, palette.F, palette.G]
    x = x_axis("fairness:Q", x_title, ".2f", scale=alt.Scale(zero=False, padding=16))
    y = y_axis("accuracy:Q", y_title, ".0%", scale=alt.Scale(zero=False, padding=16))
    legend = legend_below(1, labelLimit=0, symbolSize=90, symbolOpacity=1)
    color = coloured("name:N", names, colours, legend)
    shape = shaped("name:N", names, ["circle", "diamond", "circle"], legend)
    size = alt.Size("name:N", scale=alt.Scale(domain=names, range=[30, 150, 260]), legend=None)
    base = alt.Chart().encode(x=x, y=y)
    line = base.transform_filter(alt.datum.name == asked).mark_line(strokeWidth=1.6, color=palette.PATH, aria=False)
    figures = ("fairness:Q", x_title, ".3f"), ("accuracy:Q", y_title, ".1%")
    points = base.mark_point(filled=True, opacity=0.95).encode(color=color, shape=shape, size=size)
    points = points.encode(tooltip=tips(("name:N", " "), ("lambda_fair:Q", setting), *figures))
    return alt.layer(line.encode(order="lambda_fair:Q"), points, data=frame).properties(height=380)


def plot_paying(frame: pd.DataFrame, *, better: str, worse: str, title: str) -> alt.Chart:
    """How many people get a better or a worse decision from each model.

    `frame`: ``name`` (of the model, "|" where it may be broken), ``rank``, ``direction`` (`better` or `worse`),
    ``place`` (0 and 1 in that order) and ``people``.
    """
    x = x_axis("people:Q", title, ",d", ticks=6, tickMinStep=1)
    tooltip = tips(("name:N", " "), ("direction:N", " "), ("people:Q", title, ",d"))
    return stacked(frame, x, by_direction(better, worse, columns=2), tooltip)


# Dots per row in a group's picture.
_ACROSS = 20


def plot_two_groups(frame: pd.DataFrame, *, right: str, wrong: str, no: str) -> alt.Chart:
    """100 people of each group as dots: filled if decided 1, and coloured by whether that is right.

    `frame`: a row per dot: ``group``, ``number`` (0 to 99) and ``what``: `right`, `wrong` or `no` (decided 0).
    """
    said, colours = [right, wrong, no], [palette.F, palette.G, "#B8B8B8"]
    dots = alt.Chart(frame).mark_point(filled=True, size=62, opacity=1, strokeWidth=1).properties(height=230)
    dots = dots.transform_calculate(column=f"datum.number % {_ACROSS}", row=f"floor(datum.number / {_ACROSS})")
    return dots.encode(
        x=alt.X("column:O", axis=None),
        y=alt.Y("row:O", axis=None),
        color=coloured("what:N", said, colours, legend_below(1, labelLimit=0, symbolSize=80)),
        shape=shaped("what:N", said, ["circle", "triangle-up", "circle"], legend_below(1, labelLimit=0)),
        tooltip=tips(("group:N", " "), ("what:N", " ")),
    )
