"""Segments by how much they changed, and the groups' rates before and after."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import by_rank, coloured, interval_tips, legend_below, low_to_high, shaped, tips, x_axis

BEFORE, AFTER = "before (f)", "now (g)"
COLOURS = {"changed": palette.G, "better": palette.BETTER, "worse": palette.WORSE}


# Below this width a name is broken at its "|".
NARROW = 560
LINE = 14


def names_above(offset: int, *, lines: int = 1, column: str = "name", size: int = 12) -> alt.Y:
    """Names above their marks instead of beside them; `offset` is that of the last line from the middle of its row."""
    broken = f"width < {NARROW} && indexof(datum.label, '|') >= 0"
    whole = "replace(datum.label, '|', ' · ')"
    return by_rank(
        f"{column}:N",
        labelAlign="left",
        # The first of two lines has the offset: a name of one line gets a blank one in front.
        labelExpr=whole if lines == 1 else f"{broken} ? split(datum.label, '|') : [' ', {whole}]",
        labelPadding=0,
        labelOffset=offset - LINE * (lines - 1),
        labelLimit=alt.ExprRef("width"),
        labelFontSize=size,
        labelLineHeight=LINE,
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


def plot_segment_shares(
    frame: pd.DataFrame, *, of: str = "changed", title: str = "Changed", step: int = 38
) -> alt.LayerChart:
    """Share of each segment that changed as a bar with its interval, and everyone's share as a mark across it.

    `frame`: ``name`` (as shown, "|" where it may be broken), ``rank, segment, count, part`` (people), ``share, low,
    high`` and ``overall`` (everyone's share). `of`: a key of `COLOURS`. `title`: of the axis, without its unit. `step`:
    height of a segment in pixels: 38 has room for a name of one line above the bar, 50 for two.
    """
    colour = COLOURS[of]
    down = step // 2 - 10
    y = names_above(down - 16, lines=2 if step > 38 else 1)
    x = x_axis("share:Q", f"{title} (% of the segment)", ".0%", scale=alt.Scale(domainMin=0, nice=True), grid=False)
    tooltip = tips(
        ("segment:N", "Segment"),
        ("count:Q", "People", ","),
        ("part:Q", title, ","),
        ("share:Q", "Share", ".1%"),
        *interval_tips(".1%"),
    )
    bars = alt.Chart().mark_bar(size=13, yOffset=down, color=colour, opacity=0.45)
    bars = bars.encode(x=x, y=y, tooltip=tooltip, description="name:N")
    ranges = low_to_high(y, down, color=colour).encode(tooltip=tooltip)
    everyone = alt.Chart().mark_tick(thickness=2, size=19, yOffset=down, color=palette.FRONTIER)
    everyone = everyone.encode(x=alt.X("overall:Q"), y=y)
    return alt.layer(bars, everyone, ranges, data=frame).properties(height=alt.Step(step))


def plot_outcomes(frame: pd.DataFrame, *, decision: str) -> alt.LayerChart:
    """Rate of positive decisions by group and label, before and now, joined by a line.

    `frame`: ``name`` (group and label), ``rank``, ``model`` (`BEFORE` or `AFTER`), ``rate, low, high`` (the ends of the
    line), ``people, count``. `decision`: the positive decision, in words.
    """
    y = names_above(-11)
    tooltip = tips(
        ("name:N", "Who"),
        ("model:N", "Model"),
        ("people:Q", f"Decided “{decision}”", ","),
        ("count:Q", "Of", ","),
        ("rate:Q", "Rate", ".1%"),
    )
    lines = low_to_high(y, 7, strokeWidth=2, color=palette.FRONTIER)
    points = _before_and_now(y, decision, tooltip, alt.Scale(domain=[0, 1]))
    return alt.layer(lines, points, data=frame).properties(height=alt.Step(44))


def plot_group_rates(frame: pd.DataFrame, *, decision: str) -> alt.LayerChart:
    """Rate of positive decisions of many groups before and now, with the interval of the latter, and everyone's.

    `frame`: ``name`` (of the group), ``rank``, ``model`` (`BEFORE` or `AFTER`), ``rate, low, high``, ``people, count``
    and ``overall`` (everyone's rate now). `decision`: the positive decision, in words.
    """
    y = names_above(-10)
    tooltip = tips(
        ("name:N", "Group"),
        ("model:N", "Model"),
        ("people:Q", f"Decided “{decision}”", ",.0f"),
        ("count:Q", "Of", ",.0f"),
        ("rate:Q", "Rate", ".1%"),
        *interval_tips(".1%"),
    )
    everyone = alt.Chart().transform_aggregate(overall="max(overall)").encode(x=alt.X("overall:Q"))
    everyone = everyone.mark_rule(strokeDash=[4, 4], color=palette.FRONTIER, aria=False)
    intervals = low_to_high(y, 7, color=palette.G, opacity=0.5).encode(tooltip=tooltip)
    intervals = intervals.transform_filter("indexof(datum.model, '(g)') >= 0")  # in every language
    points = _before_and_now(y, decision, tooltip, alt.Scale(domainMin=0, nice=True))
    return alt.layer(everyone, intervals, points, data=frame).properties(height=alt.Step(38))


def _before_and_now(y: alt.Y, decision: str, tooltip: list[alt.Tooltip], scale: alt.Scale) -> alt.Chart:
    """A rate of f and one of g in each row."""
    points = alt.Chart().mark_point(size=110, filled=True, opacity=1, yOffset=7)
    return points.encode(
        x=x_axis("rate:Q", f"Decided “{decision}” (%)", ".0%", scale=scale),
        y=y,
        color=coloured("model:N", [BEFORE, AFTER], [palette.F, palette.G], legend_below(2)),
        shape=shaped("model:N", [BEFORE, AFTER], ["diamond", "circle"], alt.Legend()),
        tooltip=tooltip,
    )
