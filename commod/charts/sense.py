"""Whether changes make sense: by the record, by f's certainty, by calibration, and over refits."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import coloured, legend_below, shaped, tips, y_axis
from commod.charts.people import AFTER, BEFORE, names_above

RIGHT_NOW, RIGHT_BEFORE = "g is right by the record", "f was right by the record"
EVERYONE, CHANGED = "everyone", "those changed"


def plot_record(frame: pd.DataFrame) -> alt.Chart:
    """Changed people by group and direction, and whether g or f agrees with the record.

    `frame`: columns ``name`` (group and direction, as shown), ``rank``, ``who`` (`RIGHT_NOW` or `RIGHT_BEFORE`),
    ``place`` (0 and 1 in that order), ``people, share`` (of the changed in this row).
    """
    names = [RIGHT_NOW, RIGHT_BEFORE]
    return (
        alt.Chart(frame)
        .mark_bar(size=15, yOffset=8)
        .encode(
            x=alt.X("people:Q", title="Changed (people)", axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=names_above(-9),
            color=coloured("who:N", names, [palette.G, palette.F], legend_below(1, labelLimit=0)),
            order="place:Q",
            tooltip=tips(
                ("name:N", "Changed"),
                ("who:N", "By the record"),
                ("people:Q", "People", ",d"),
                ("share:Q", "Share", ".1%"),
            ),
        )
        .properties(height=alt.Step(44))
    )


def plot_certainty(frame: pd.DataFrame) -> alt.Chart:
    """How sure f was of those changed, beside everyone.

    `frame`: columns ``name`` (class of certainty), ``rank``, ``whose`` (`EVERYONE` or `CHANGED`), ``share, people``.
    """
    names = [EVERYONE, CHANGED]
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(
                "name:N",
                title="How sure f was of its decision (%)",
                sort=alt.EncodingSortField("rank", op="min"),
                axis=alt.Axis(labelAngle=0, labelOverlap=False),
            ),
            xOffset=alt.XOffset("whose:N", sort=names),
            y=y_axis("share:Q", "Share (%)", ".0%"),
            color=coloured("whose:N", names, [palette.FRONTIER, palette.G], legend_below(2)),
            tooltip=tips(
                ("whose:N", "Of"),
                ("name:N", "f was sure (%)"),
                ("people:Q", "People", ",d"),
                ("share:Q", "Share", ".1%"),
            ),
        )
        .properties(height=270)
    )


def plot_reliability(
    frame: pd.DataFrame,
    *,
    outcome: str,
    models: tuple[str, str] = (BEFORE, AFTER),
    colours: tuple[str, str] = (palette.F, palette.G),
) -> alt.LayerChart:
    """Share labelled positive by mean score; on the diagonal scores mean what they say.

    `frame`: columns ``model`` (one of `models`), ``mean_score, rate, rate_low, rate_high, count``. `outcome`: the
    positive label, in words. `models`, `colours`: what is compared.
    """
    unit = alt.Scale(domain=[0, 1])
    percent = {"format": "%", "tickCount": 5}
    x = alt.X("mean_score:Q", title="Mean score (%)", scale=unit, axis=alt.Axis(labelFlush=False, **percent))
    y = alt.Y("rate:Q", title=f"Recorded “{outcome}” (%)", scale=unit, axis=alt.Axis(**percent))
    color = coloured("model:N", list(models), list(colours), legend_below(2, symbolOpacity=1))
    tooltip = tips(
        ("model:N", "Model"),
        ("mean_score:Q", "Mean score", ".1%"),
        ("rate:Q", f"Recorded “{outcome}”", ".1%"),
        ("rate_low:Q", "95 % interval from", ".1%"),
        ("rate_high:Q", "to", ".1%"),
        ("count:Q", "People", ","),
    )
    diagonal = (
        alt.Chart()
        .mark_rule(strokeDash=[4, 4], color="#777777", aria=False)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    ranges = alt.Chart().mark_rule(opacity=0.5).encode(x=x, y=alt.Y("rate_low:Q"), y2="rate_high:Q", color=color)
    lines = alt.Chart().mark_line(strokeWidth=1.5, opacity=0.8).encode(x=x, y=y, color=color, order="mean_score:Q")
    points = (
        alt.Chart()
        .mark_point(size=60, filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=color,
            shape=shaped("model:N", list(models), ["diamond", "circle"], alt.Legend(symbolOpacity=1)),
            tooltip=tooltip,
        )
    )
    return alt.layer(diagonal, ranges, lines, points, data=frame).properties(height=300)


def plot_again(frame: pd.DataFrame) -> alt.Chart:
    """Changed people by the share of refits that change them.

    `frame`: columns ``name`` (class of the share), ``rank, people``, ``often`` (whether it counts as happening again).
    """
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(
                "name:N",
                title="Share of the refits that change the person (%)",
                sort=alt.EncodingSortField("rank", op="min"),
                axis=alt.Axis(labelAngle=-45, labelOverlap=False),
            ),
            y=y_axis("people:Q", "Changed (people)", ",d", tickMinStep=1),
            color=alt.condition("datum.often", alt.value(palette.G), alt.value(palette.FRONTIER)),
            tooltip=tips(("name:N", "Refits that change them (%)"), ("people:Q", "People", ",d")),
        )
        .properties(height=250)
    )
