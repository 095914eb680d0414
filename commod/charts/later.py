"""Then and now: figures, shares, calibration and columns of later people beside those that a model was tested on."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.people import names_above

THEN, NOW = "then", "now"
TIMES = [THEN, NOW]
COLOURS = [palette.FRONTIER, palette.TRAIL]
MOVED, CHANCE = "more than chance explains", "chance may explain it"
STABLE, LOOK, SHIFTED = "as it was", "asks for a look", "a shift"


def plot_differences(frame: pd.DataFrame) -> alt.LayerChart:
    """How far each figure moved, with its interval; beyond 0 it is more than chance explains.

    What marks 0 ends below the names, which it would otherwise strike out.

    `frame`: columns ``name`` (of the figure), ``rank, difference, low, high``, ``told`` (`MOVED` or `CHANCE`), ``then,
    now`` (as they are written).
    """
    y = names_above(-13)
    color = alt.Color(
        "told:N",
        scale=alt.Scale(domain=[MOVED, CHANCE], range=[palette.G, palette.FRONTIER]),
        legend=alt.Legend(title=None, orient="bottom", columns=2, labelLimit=0, symbolOpacity=1),
    )
    tooltip = [
        alt.Tooltip("name:N", title="Figure"),
        alt.Tooltip("then:N", title="Then"),
        alt.Tooltip("now:N", title="Now"),
        alt.Tooltip("difference:Q", title="Difference", format="+.3f"),
        alt.Tooltip("low:Q", title="95 % interval from", format="+.3f"),
        alt.Tooltip("high:Q", title="to", format="+.3f"),
    ]
    x = alt.X(
        "difference:Q",
        title="Now less then (0.1 of a share is 10 points)",
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(format="+.2~f", tickCount=5, labelFlush=False),
    )
    zero = (
        alt.Chart()
        .mark_tick(thickness=1.5, size=24, yOffset=8, color=palette.FRONTIER, aria=False)
        .encode(x=alt.datum(0), y=y)
    )
    ranges = (
        alt.Chart()
        .mark_rule(strokeWidth=2.5, yOffset=8, y2Offset=8, opacity=0.7)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=color, tooltip=tooltip)
    )
    points = (
        alt.Chart()
        .mark_point(size=90, filled=True, opacity=1, yOffset=8)
        .encode(x=x, y=y, color=color, tooltip=tooltip, description="name:N")
    )
    return alt.layer(zero, ranges, points, data=frame).properties(height=alt.Step(44))


def plot_then_and_now(frame: pd.DataFrame, *, title: str) -> alt.LayerChart:
    """Shares then and now with their intervals, one row for each thing compared.

    `frame`: columns ``name, rank``, ``time`` (`THEN` or `NOW`), ``share, low, high, part, whole`` (people). `title`: of
    the axis, with its unit.
    """
    layers: list[alt.Chart] = []
    tooltip = [
        alt.Tooltip("name:N", title="Who"),
        alt.Tooltip("time:N", title="When"),
        alt.Tooltip("part:Q", title="People", format=",d"),
        alt.Tooltip("whole:Q", title="Of", format=",d"),
        alt.Tooltip("share:Q", title="Share", format=".1%"),
        alt.Tooltip("low:Q", title="95 % interval from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
    ]
    color = _by_time()
    for time, offset in ((THEN, 2), (NOW, 14)):
        only = alt.Chart().transform_filter(f"datum.time == '{time}'")
        y = names_above(-18)
        layers.append(
            only.mark_rule(strokeWidth=2.5, yOffset=offset, y2Offset=offset, opacity=0.7).encode(
                x=alt.X("low:Q"), x2="high:Q", y=y, color=color, tooltip=tooltip
            )
        )
        x = alt.X(
            "share:Q",
            title=title,
            scale=alt.Scale(domainMin=0, nice=True),
            axis=alt.Axis(format=".0%", tickCount=5, labelFlush=False),
        )
        layers.append(
            only.mark_point(size=80, filled=True, opacity=1, yOffset=offset).encode(
                x=x, y=y, color=color, shape=_shape(), tooltip=tooltip
            )
        )
    return alt.layer(*layers, data=frame).properties(height=alt.Step(58))


def plot_drift(frame: pd.DataFrame, *, look: float, shifted: float) -> alt.LayerChart:
    """Population stability index of each column, with the bounds in use and what chance reaches.

    `frame`: columns ``name, rank, index, by_chance``, ``told`` (`STABLE`, `LOOK` or `SHIFTED`). `look`, `shifted`: the
    bounds.
    """
    y = names_above(-9)
    tooltip = [
        alt.Tooltip("name:N", title="Column"),
        alt.Tooltip("index:Q", title="Stability index", format=".3f"),
        alt.Tooltip("by_chance:Q", title="Reached by chance", format=".3f"),
    ]
    bars = (
        alt.Chart()
        .mark_bar(size=12, yOffset=8)
        .encode(
            x=alt.X(
                "index:Q",
                title="Population stability index",
                scale=alt.Scale(domainMin=0, nice=True),
                axis=alt.Axis(tickCount=5, labelFlush=False, grid=False),
            ),
            y=y,
            color=alt.Color(
                "told:N",
                scale=alt.Scale(domain=[STABLE, LOOK, SHIFTED], range=[palette.FRONTIER, palette.TRAIL, palette.G]),
                legend=alt.Legend(title=None, orient="bottom", columns=3),
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
    """Shares of the classes of a column, then and now.

    `frame`: columns ``name`` (of the class), ``rank``, ``time`` (`THEN` or `NOW`), ``share``.
    """
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(
                "share:Q", title="Share of the people (%)", axis=alt.Axis(format=".0%", tickCount=5, labelFlush=False)
            ),
            y=alt.Y(
                "name:N",
                title=None,
                sort=alt.EncodingSortField("rank", op="min"),
                axis=alt.Axis(labelLimit=170, labelPadding=6),
            ),
            yOffset=alt.YOffset("time:N", sort=TIMES),
            color=_by_time(),
            tooltip=[
                alt.Tooltip("name:N", title="Class"),
                alt.Tooltip("time:N", title="When"),
                alt.Tooltip("share:Q", title="Share", format=".1%"),
            ],
        )
        .properties(height=alt.Step(13))
    )


def _by_time() -> alt.Color:
    return alt.Color(
        "time:N",
        scale=alt.Scale(domain=TIMES, range=COLOURS),
        legend=alt.Legend(title=None, orient="bottom", columns=2, symbolOpacity=1, labelLimit=0),
    )


def _shape() -> alt.Shape:
    return alt.Shape(
        "time:N",
        scale=alt.Scale(domain=TIMES, range=["diamond", "circle"]),
        legend=alt.Legend(title=None, orient="bottom", columns=2, symbolOpacity=1, labelLimit=0),
    )
