"""Whether changes make sense: by the record, by f's certainty, by calibration, and over refits."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import (
    across_by_rank,
    coloured,
    diagonal,
    interval_tips,
    legend_below,
    shaped,
    tips,
    x_axis,
    y_axis,
)
from commod.charts.people import AFTER, BEFORE, stacked

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
    """How sure f was of those changed, beside everyone.

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


def plot_reliability(
    frame: pd.DataFrame,
    *,
    outcome: str,
    models: tuple[str, str] = (BEFORE, AFTER),
    colours: tuple[str, str] = (palette.F, palette.G),
) -> alt.LayerChart:
    """Share labelled positive by mean score; on the diagonal scores mean what they say.

    `frame`: ``model`` (one of `models`), ``mean_score, rate, rate_low, rate_high, count``. `outcome`: the positive
    label.
    """
    unit = alt.Scale(domain=[0, 1])
    x = x_axis("mean_score:Q", "Mean score (%)", "%", scale=unit)
    y = y_axis("rate:Q", f"Recorded “{outcome}” (%)", "%", scale=unit)
    color = coloured("model:N", list(models), list(colours), legend_below(2, symbolOpacity=1))
    tooltip = tips(
        ("model:N", "Model"),
        ("mean_score:Q", "Mean score", ".1%"),
        ("rate:Q", f"Recorded “{outcome}”", ".1%"),
        *interval_tips(".1%", "rate_low:Q", "rate_high:Q"),
        ("count:Q", "People", ","),
    )
    base = alt.Chart().encode(x=x, y=y, color=color)
    ranges = base.mark_rule(opacity=0.5).encode(y=alt.Y("rate_low:Q"), y2="rate_high:Q")
    lines = base.mark_line(strokeWidth=1.5, opacity=0.8).encode(order="mean_score:Q")
    shape = shaped("model:N", list(models), ["diamond", "circle"], alt.Legend(symbolOpacity=1))
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
