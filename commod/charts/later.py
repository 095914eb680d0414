"""Then and now: figures, shares, calibration and columns of later people beside those that a model was tested on."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import by_rank, coloured, interval_tips, legend_below, low_to_high, shaped, tips, x_axis
from commod.charts.people import names_above

THEN, NOW = "then", "now"
TIMES = [THEN, NOW]
COLOURS = [palette.FRONTIER, palette.TRAIL]
MOVED, CHANCE = "more than chance explains", "chance may explain it"
STABLE, LOOK, SHIFTED = "as it was", "asks for a look", "a shift"


def plot_differences(frame: pd.DataFrame) -> alt.LayerChart:
    """How far each figure moved, with its interval; an interval without 0 is more than chance explains.

    `frame`: ``name`` (of the figure), ``rank, difference, low, high``, ``told`` (`MOVED` or `CHANCE`), ``then, now``
    (as written). The mark of 0 ends below the names, which it would otherwise strike out.
    """
    y = names_above(-13)
    color = coloured(
        "told:N", [MOVED, CHANCE], [palette.G, palette.FRONTIER], legend_below(2, labelLimit=0, symbolOpacity=1)
    )
    tooltip = tips(
        ("name:N", "Figure"),
        ("then:N", "Then"),
        ("now:N", "Now"),
        ("difference:Q", "Difference", "+.3f"),
        *interval_tips("+.3f"),
    )
    x = x_axis(
        "difference:Q", "Now less then (0.1 of a share is 10 points)", "+.2~f", scale=alt.Scale(zero=True, nice=True)
    )
    zero = (
        alt.Chart()
        .mark_tick(thickness=1.5, size=24, yOffset=8, color=palette.FRONTIER, aria=False)
        .encode(x=alt.datum(0), y=y)
    )
    ranges = low_to_high(y, 8, opacity=0.7).encode(color=color, tooltip=tooltip)
    points = (
        alt.Chart()
        .mark_point(size=90, filled=True, opacity=1, yOffset=8)
        .encode(x=x, y=y, color=color, tooltip=tooltip, description="name:N")
    )
    return alt.layer(zero, ranges, points, data=frame).properties(height=alt.Step(44))


def plot_then_and_now(frame: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Shares then and now with their intervals, one row for each thing compared.

    `frame`: ``name, rank``, ``time`` (`THEN` or `NOW`), ``share, low, high, part, whole`` (people).
    """
    layers: list[alt.Chart] = []
    tooltip = tips(
        ("name:N", "Who"),
        ("time:N", "When"),
        ("part:Q", "People", ",d"),
        ("whole:Q", "Of", ",d"),
        ("share:Q", "Share", ".1%"),
        *interval_tips(".1%"),
    )
    color, y = _by_time(), names_above(-18)
    x = x_axis("share:Q", title, ".0%", scale=alt.Scale(domainMin=0, nice=True))
    shape = shaped("time:N", TIMES, ["diamond", "circle"], _legend())
    for time, offset in ((THEN, 2), (NOW, 14)):
        ranges = low_to_high(y, offset, opacity=0.7).encode(color=color, tooltip=tooltip)
        points = alt.Chart().mark_point(size=80, filled=True, opacity=1, yOffset=offset)
        points = points.encode(x=x, y=y, color=color, shape=shape, tooltip=tooltip)
        layers += [layer.transform_filter(f"datum.time == '{time}'") for layer in (ranges, points)]
    return alt.layer(*layers, data=frame).properties(height=alt.Step(58))


def plot_drift(frame: pd.DataFrame, *, look: float, shifted: float) -> alt.LayerChart:
    """Population stability index of each column, with its two bounds and what chance reaches.

    `frame`: ``name, rank, index, by_chance``, ``told`` (`STABLE`, `LOOK` or `SHIFTED`).
    """
    y = names_above(-9)
    tooltip = tips(
        ("name:N", "Column"), ("index:Q", "Stability index", ".3f"), ("by_chance:Q", "Reached by chance", ".3f")
    )
    bars = (
        alt.Chart()
        .mark_bar(size=12, yOffset=8)
        .encode(
            x=x_axis("index:Q", "Population stability index", scale=alt.Scale(domainMin=0, nice=True), grid=False),
            y=y,
            color=coloured(
                "told:N", [STABLE, LOOK, SHIFTED], [palette.FRONTIER, palette.TRAIL, palette.G], legend_below(3)
            ),
            tooltip=tooltip,
        )
    )
    bounds = [
        alt.Chart()
        .mark_tick(thickness=1.5, size=20, yOffset=8, color=colour, aria=False)
        .encode(x=alt.datum(bound), y=y)
        for bound, colour in ((look, palette.TRAIL), (shifted, palette.G))
    ]
    chance = (
        alt.Chart()
        .mark_tick(thickness=2, size=16, yOffset=8, color="#888888")
        .encode(x=alt.X("by_chance:Q"), y=y, tooltip=tooltip)
    )
    return alt.layer(bars, *bounds, chance, data=frame).properties(height=alt.Step(34))


def plot_spread(frame: pd.DataFrame) -> alt.Chart:
    """Shares of a column's classes by ``name, rank, time`` (`THEN` or `NOW`) and ``share``."""
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=x_axis("share:Q", "Share of the people (%)", ".0%"),
            y=by_rank("name:N", labelLimit=170, labelPadding=6),
            yOffset=alt.YOffset("time:N", sort=TIMES),
            color=_by_time(),
            tooltip=tips(("name:N", "Class"), ("time:N", "When"), ("share:Q", "Share", ".1%")),
        )
        .properties(height=alt.Step(13))
    )


def _legend() -> alt.Legend:
    return legend_below(2, symbolOpacity=1, labelLimit=0)


def _by_time() -> alt.Color:
    return coloured("time:N", TIMES, COLOURS, _legend())
