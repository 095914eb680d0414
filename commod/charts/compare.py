"""Many methods in one picture: trade-offs, and models matched one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from commod.charts import palette

__all__ = [
    "MethodStyle",
    "method_channels",
    "plot_calibration",
    "plot_methods",
    "plot_overlap",
    "plot_segments",
    "plot_share_by_group",
    "plot_who_changed",
]

DEPLOYED = "f, as deployed"
# Shapes of methods that do not know the group; those that do are drawn hollow.
SHAPES = ("circle", "square", "triangle-up", "triangle-down", "triangle-right", "triangle-left", "cross", "wedge")


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn."""

    label: str
    colour: str
    shape: str
    hollow: bool = False


DEPLOYED_STYLE = MethodStyle(DEPLOYED, palette.FRONTIER, "diamond")


def method_channels(styles: tuple[MethodStyle, ...], *, legend: bool, columns: int = 2) -> dict[str, Any]:
    """Stroke, fill and shape by method, for an encoding; the legend has so many columns."""
    labels = [style.label for style in styles]
    shown = alt.Legend(title=None, orient="bottom", columns=columns, labelLimit=0, symbolSize=90) if legend else None
    colours = [style.colour for style in styles]
    fills = ["transparent" if style.hollow else style.colour for style in styles]
    shapes = [style.shape for style in styles]
    return {
        "stroke": alt.Stroke("label:N", scale=alt.Scale(domain=labels, range=colours), legend=shown),
        "fill": alt.Fill("label:N", scale=alt.Scale(domain=labels, range=fills), legend=shown),
        "shape": alt.Shape("label:N", scale=alt.Scale(domain=labels, range=shapes), legend=shown),
    }


def plot_methods(
    frame: pd.DataFrame,
    *,
    styles: tuple[MethodStyle, ...],
    view: Literal["fairness", "changes"] = "fairness",
    fairness_title: str = "Fairness",
    most_changes: float | None = None,
    accuracy_range: tuple[float, float] | None = None,
    legend: bool = True,
    lines: bool = True,
    height: int | None = None,
) -> alt.LayerChart:
    """Models of several methods as points, the frontier of each as a line, what is dominated faded.

    Parameters
    ----------
    frame : DataFrame
        Columns ``label`` (of a style, or "f, as deployed"), ``fairness, accuracy, change_rate, settings``, ``id`` (what
        a click on a COMMOD point returns, −1 for others), ``best`` (on its method's frontier) and ``chosen``.
    styles : tuple of MethodStyle
        In the order of the legend.
    view : {"fairness", "changes"}
        Accuracy against fairness, or changes against accuracy.
    most_changes : float, optional
        End of the axis of changes, for pictures that are to be compared.
    accuracy_range : (float, float), optional
        Ends of the axis of accuracy, likewise.
    lines : bool
        Whether the points of a method's frontier are joined.
    height : int, optional
        In pixels, the legend included; default, what a chart of this many methods needs.
    """
    scale = alt.Scale(zero=False, padding=14, nice=False)
    fixed = None if accuracy_range is None else alt.Scale(domain=list(accuracy_range), nice=False, padding=8)
    accuracy: dict[str, Any] = {
        "shorthand": "accuracy:Q",
        "title": "Accuracy on test (%)",
        "scale": fixed or scale,
        "axis": alt.Axis(format=".1%", tickCount=4, labelFlush=False),
    }
    if view == "fairness":
        x = alt.X(
            "fairness:Q", title=fairness_title, scale=scale, axis=alt.Axis(format=".2f", tickCount=5, labelFlush=False)
        )
        y = alt.Y(**accuracy)
        order = "fairness:Q"
    else:
        x = alt.X(**accuracy)
        changes = scale if most_changes is None else alt.Scale(domain=[0, most_changes], nice=False, padding=8)
        y = alt.Y(
            "change_rate:Q",
            title="Decisions changed (%)",
            scale=changes,
            axis=alt.Axis(format=".0%", tickCount=5),
        )
        order = "accuracy:Q"
    channels = method_channels((*styles, DEPLOYED_STYLE), legend=legend)
    tooltip = [
        alt.Tooltip("label:N", title="Method"),
        alt.Tooltip("settings:N", title="Setting"),
        alt.Tooltip("fairness:Q", title=fairness_title, format=".3f"),
        alt.Tooltip("accuracy:Q", title="Accuracy", format=".1%"),
        alt.Tooltip("change_rate:Q", title="Decisions changed", format=".1%"),
    ]
    words = (
        f"datum.label + ', {fairness_title}: ' + format(datum.fairness, '.3f') + ', accuracy: ' + "
        "format(datum.accuracy, '.3f') + ', changed: ' + format(datum.change_rate, '.3f') + ', ' + datum.settings"
    )
    frontiers = (
        alt.Chart()
        .transform_filter(f"datum.best && datum.label != '{DEPLOYED}'")
        .mark_line(strokeWidth=1.6, opacity=0.75)
        .encode(x=x, y=y, stroke=channels["stroke"], order=order)
    )
    points = (
        alt.Chart()
        .transform_calculate(
            size=f"datum.chosen ? 260 : (datum.label == '{DEPLOYED}' ? 150 : (datum.id >= 0 ? 70 : 50))", words=words
        )
        .mark_point(strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            **channels,
            size=alt.Size("size:Q", scale=None),
            opacity=alt.condition("datum.best || datum.chosen", alt.value(0.95), alt.value(0.35)),
            tooltip=tooltip,
            description="words:N",
        )
    )
    if view == "fairness":
        points = points.add_params(alt.selection_point(name="pick", fields=["id"], on="click", empty=False))
    # The legend takes its rows from the height.
    rows = (len(styles) + 2) // 2 if legend else 0
    # Room above, or the topmost label of the axis is cut in half.
    room = {"top": 10, "left": 5, "right": 5, "bottom": 5}
    layers = (frontiers, points) if lines else (points,)
    return alt.layer(*layers, data=frame).properties(height=height or 360 + 26 * rows, padding=room)


def plot_segments(
    frame: pd.DataFrame,
    *,
    titles: tuple[str, ...],
    styles: tuple[MethodStyle, ...],
    most_changes: float,
    accuracy_range: tuple[float, float],
    fairness_title: str = "Fairness",
) -> alt.ConcatChart:
    """Changes against accuracy in each segment of fairness, as one picture to take away.

    Parameters
    ----------
    frame : DataFrame
        As for `plot_methods`, with ``fairness_q`` from 1.
    titles : tuple of str
        Of the segments.
    """
    parts = [
        plot_methods(
            frame[frame["fairness_q"] == q],
            styles=styles,
            view="changes",
            fairness_title=fairness_title,
            most_changes=most_changes,
            accuracy_range=accuracy_range,
            height=260,
        ).properties(title=title, width=420)
        for q, title in enumerate(titles, start=1)
    ]
    for part in parts:
        part.padding = alt.Undefined  # a matter of the whole picture
    return alt.concat(*parts, columns=2)


def plot_who_changed(frame: pd.DataFrame, *, groups: tuple[str, ...]) -> alt.LayerChart:
    """People whose decision changed, by method and group: to their favour to the right, against it to the left.

    Parameters
    ----------
    frame : DataFrame
        Columns ``label, rank`` (of the method), ``group``, ``people`` (negative for changes against them) and
        ``direction``.
    groups : (str, str)
    """
    base = alt.Chart().encode(
        y=alt.Y(
            "label:N",
            title=None,
            sort=alt.EncodingSortField("rank", op="min"),
            axis=alt.Axis(labelLimit=170, labelPadding=8),
        ),
        x=alt.X(
            "people:Q",
            title="← worse off · people · better off →",
            axis=alt.Axis(tickCount=6, labelExpr="abs(datum.value)", labelFlush=False),
        ),
    )
    bars = base.mark_bar(height={"band": 0.7}).encode(
        color=alt.Color(
            "group:N",
            scale=alt.Scale(domain=list(groups), range=[palette.F, palette.TRAIL]),
            legend=alt.Legend(title=None, orient="bottom", columns=1, labelLimit=0),
        ),
        tooltip=[
            alt.Tooltip("label:N", title="Method"),
            alt.Tooltip("group:N", title="Group"),
            alt.Tooltip("direction:N", title="Direction"),
            alt.Tooltip("size:Q", title="People"),
        ],
    )
    bars = bars.transform_calculate(size="abs(datum.people)")
    zero = alt.Chart().mark_rule(color="#777777", aria=False).encode(x=alt.datum(0))
    return alt.layer(bars, zero, data=frame).properties(height=alt.Step(24))


def plot_calibration(frame: pd.DataFrame, *, styles: tuple[MethodStyle, ...]) -> alt.LayerChart:
    """Mean score of g where f's score falls into each bin; on the diagonal g leaves f's confidence as it was.

    Parameters
    ----------
    frame : DataFrame
        Columns ``label, mean_f, mean_g, sd_g, count``.
    """
    channels = method_channels(styles, legend=True)
    unit = alt.Scale(domain=[0, 1])
    x = alt.X("mean_f:Q", title="Score of f", scale=unit, axis=alt.Axis(tickCount=5, labelFlush=False))
    y = alt.Y("mean_g:Q", title="Mean score of g", scale=unit, axis=alt.Axis(tickCount=5))
    tooltip = [
        alt.Tooltip("label:N", title="Method"),
        alt.Tooltip("mean_f:Q", title="Score of f", format=".2f"),
        alt.Tooltip("mean_g:Q", title="Mean score of g", format=".2f"),
        alt.Tooltip("sd_g:Q", title="Standard deviation", format=".2f"),
        alt.Tooltip("count:Q", title="People"),
    ]
    lines = (
        alt.Chart()
        .mark_line(strokeWidth=1.6, opacity=0.8)
        .encode(x=x, y=y, stroke=channels["stroke"], order="mean_f:Q")
    )
    points = alt.Chart().mark_point(size=45, strokeWidth=1.5).encode(x=x, y=y, **channels, tooltip=tooltip)
    diagonal = (
        alt.Chart()
        .mark_rule(strokeDash=[4, 4], color="#777777", aria=False)
        .encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))
    )
    return alt.layer(diagonal, lines, points, data=frame).properties(height=380)


def plot_overlap(frame: pd.DataFrame) -> alt.LayerChart:
    """Jaccard index of the people changed by each pair of methods.

    Parameters
    ----------
    frame : DataFrame
        Columns ``label, other, rank, other_rank, overlap``.
    """
    tooltip = [
        alt.Tooltip("label:N", title="One"),
        alt.Tooltip("other:N", title="Other"),
        alt.Tooltip("overlap:Q", title="People changed by both, of those by either", format=".0%"),
    ]
    places = alt.EncodingSortField("other_rank", op="min"), alt.EncodingSortField("rank", op="min")
    return _squares(frame, ("other", "label", "overlap"), places, tooltip, most=1.0, white_from=0.5, room=130)


def plot_share_by_group(frame: pd.DataFrame, *, most: float) -> alt.LayerChart:
    """Share of each of many groups whose decision changed, by method, as numbers on squares.

    Parameters
    ----------
    frame : DataFrame
        Columns ``label, rank`` (of the method), ``group, group_rank``, ``share`` and ``better, worse, count`` (people).
    most : float
        The share at which a square is darkest.
    """
    tooltip = [
        alt.Tooltip("label:N", title="Method"),
        alt.Tooltip("group:N", title="Group"),
        alt.Tooltip("share:Q", title="Changed, of the group", format=".1%"),
        alt.Tooltip("better:Q", title="Better off (people)", format=","),
        alt.Tooltip("worse:Q", title="Worse off (people)", format=","),
        alt.Tooltip("count:Q", title="Of", format=","),
    ]
    places = alt.EncodingSortField("rank", op="min"), alt.EncodingSortField("group_rank", op="min")
    return _squares(frame, ("label", "group", "share"), places, tooltip, most=most, white_from=0.7 * most, room=165)


def _squares(
    frame: pd.DataFrame,
    columns: tuple[str, str, str],
    places: tuple[alt.EncodingSortField, alt.EncodingSortField],
    tooltip: list[alt.Tooltip],
    *,
    most: float,
    white_from: float,
    room: int,
) -> alt.LayerChart:
    """Shares as numbers on squares, the darker the larger; `columns` are those of x, y and the share.

    `white_from` is the share from which a number is white, `room` that for the names of y, in pixels.
    """
    across, down, value = columns
    x = alt.X(
        f"{across}:N",
        title=None,
        sort=places[0],
        axis=alt.Axis(labelAngle=-40, labelLimit=130, labelOverlap=False),
    )
    y = alt.Y(f"{down}:N", title=None, sort=places[1], axis=alt.Axis(labelLimit=room))
    squares = (
        alt.Chart()
        .mark_rect(stroke="#88888855")
        .encode(
            x=x,
            y=y,
            color=alt.Color(f"{value}:Q", scale=alt.Scale(domain=[0, most], scheme="blues"), legend=None),
            tooltip=tooltip,
        )
    )
    numbers = (
        alt.Chart()
        .transform_calculate(shown=f"isValid(datum.{value}) ? format(datum.{value}, '.0%') : '–'")
        .mark_text(fontSize=12)
        .encode(
            x=x,
            y=y,
            text="shown:N",
            color=alt.condition(f"datum.{value} > {white_from:g}", alt.value("white"), alt.value("#1a1a1a")),
            tooltip=tooltip,
        )
    )
    return alt.layer(squares, numbers, data=frame).properties(height=alt.Step(34))
