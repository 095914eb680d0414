"""Many methods in one picture: trade-offs, and whom matched models change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from sklearn.isotonic import isotonic_regression

from commod.charts import palette
from commod.charts.parts import (
    by_rank,
    coloured,
    diagonal,
    legend_below,
    model_tips,
    outlined,
    read_out,
    tips,
    towards,
    x_axis,
    y_axis,
)

DEPLOYED = "f, as deployed"
# Pixels between the lines of two names, and those of a chart's height that its axis and the room around it take.
LINE, AROUND = 14.0, 66.0
# Whether the window is too narrow for names next to the frontiers; without a window, as in a file, it is not.
NARROW = "windowSize()[0] <= 640"
# Pixels by which the scales of a picture extend beyond their ends.
BEYOND = 8.0
# Shapes of methods that do not know the group; methods that do are drawn hollow.
SHAPES = ("circle", "square", "triangle-up", "triangle-down", "triangle-right", "triangle-left", "cross", "wedge")


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn."""

    label: str
    colour: str
    shape: str
    hollow: bool = False


DEPLOYED_STYLE = MethodStyle(DEPLOYED, palette.FRONTIER, "diamond")


def method_channels(styles: tuple[MethodStyle, ...], *, legend: bool) -> dict[str, Any]:
    """Stroke, fill and shape by method, for an encoding."""
    labels, colours, shapes = ([getattr(each, name) for each in styles] for name in ("label", "colour", "shape"))
    fills = ["transparent" if style.hollow else style.colour for style in styles]
    shown = legend_below(1, labelLimit=0, symbolSize=90) if legend else None
    return outlined("label:N", labels, colours, fills, shapes, shown)


def spread_labels(wanted: Sequence[float], room: float, gap: float) -> list[float]:
    """Places of labels in a column, as close to the wanted ones as a distance of `gap` between any two allows.

    Labels that would touch form a block around the mean of their wishes. `room`, from 0 on, may make `gap` smaller.
    """
    if not wanted:
        return []
    gap = min(gap, room / max(1, len(wanted) - 1))
    order, before = np.argsort(wanted, kind="stable"), gap * np.arange(len(wanted))
    # After subtracting the room of earlier labels, a label's wish only has to increase.
    levels = isotonic_regression(np.asarray(wanted)[order] - before, y_min=0.0, y_max=room - before[-1])
    places = np.empty(len(wanted))
    places[order] = levels + before
    return [float(place) for place in places]


def with_labels(frame: pd.DataFrame, *, x: str, y: str, ends: tuple[float, float], height: int) -> pd.DataFrame:
    """Rows of `plot_methods` with ``label_at``: the y (between `ends`) of the name where each frontier ends."""
    room, span = height - AROUND - 2 * BEYOND, (ends[1] - ends[0]) or 1.0  # 0: all models are equally good
    best = frame[frame["best"]].sort_values([x, y], kind="stable")
    last = best.drop_duplicates("label", keep="last").sort_index()
    wanted = (last[y].clip(*ends) - ends[0]) * (room / span)
    places = spread_labels(wanted.tolist(), room, LINE)
    at = pd.Series(np.nan, index=frame.index)
    at[last.index] = [ends[0] + place * span / room for place in places]
    return frame.assign(label_at=at)


def plot_methods(
    frame: pd.DataFrame,
    *,
    styles: tuple[MethodStyle, ...],
    strong: str,
    axes: tuple[str, str] = ("fairness", "accuracy"),
    fairness_title: str = "Fairness",
    most_changes: float | None = None,
    accuracy_range: tuple[float, float] | None = None,
    fairness_range: tuple[float, float] | None = None,
    lines: bool = True,
    height: int = 400,
    upward: bool = True,
    crosses: bool = False,
) -> alt.LayerChart:
    """Models of several methods as points, the frontier of each as a line, dominated models faded.

    `frame`: ``label`` (of a style, or "f, as deployed"), ``fairness, accuracy, change_rate, settings``, ``id`` (what a
    click on a COMMOD point returns, −1 for others), ``best`` (on its method's frontier), ``chosen``; where names stand
    beside the ends of the frontiers also ``name, label_at`` (see `with_labels`); a narrow window has no room for them.
    `styles`: in the order of the drawing. `strong`: label of the method to be seen first; the others are faint until
    the pointer is on them.

    `axes`: which two of ``fairness, accuracy, change_rate`` are x and y (`upward`: more is fairer). `most_changes`,
    `accuracy_range`, `fairness_range`: ends of these axes. `lines`: join the points of a frontier. `height`: in
    pixels. `crosses`: rows have ``_low`` and ``_high`` of both axes, which show where a model is on other splits.
    """
    changes = None if most_changes is None else (0.0, most_changes)
    ends = {"change_rate": changes, "accuracy": accuracy_range, "fairness": fairness_range}
    x, y = (
        _axis(name, make, fairness_title, ends[name], upward=upward)
        for name, make in zip(axes, (x_axis, y_axis), strict=True)
    )
    channels = method_channels((*styles, DEPLOYED_STYLE), legend=False)
    tooltip = model_tips(("label:N", "Method"), fairness_title)
    focus = _Focus(strong)
    base = alt.Chart().encode(x=x, y=y)
    frontiers = base.transform_filter(f"datum.best && datum.label != '{DEPLOYED}'")
    frontiers = frontiers.mark_line(strokeWidth=1.6, opacity=0.75)
    frontiers = frontiers.encode(stroke=channels["stroke"], order=f"{axes[0]}:Q", **focus.of_lines())
    size = f"datum.chosen ? 260 : (datum.label == '{DEPLOYED}' ? 150 : (datum.id >= 0 ? 70 : 50))"
    points = base.transform_filter("isValid(datum.accuracy)").mark_point(strokeWidth=1.5)  # a limit has none
    points = points.transform_calculate(size=size, words=read_out("label", fairness_title))
    points = points.encode(**channels, size=alt.Size("size:Q", scale=None), tooltip=tooltip, description="words:N")
    points = points.encode(**focus.of_points())
    if "fairness" in axes:
        points = points.add_params(alt.selection_point(name="pick", fields=["id"], on="click", empty=False))
    layers = [
        *(_crosses(axes, x, y, channels, focus) if crosses else ()),
        *([frontiers] if lines else ()),
        points.add_params(focus.on_points),
        *_names(x, y, channels, focus),
    ]
    # Room above, so that the axis' topmost label is not cut in half.
    room = {"top": 10, "left": 5, "right": 5, "bottom": 5}
    return alt.layer(*layers, data=frame).properties(height=height, padding=room)


def _axis(name: str, make: Any, fairness_title: str, ends: tuple[float, float] | None, *, upward: bool) -> Any:
    """An axis of `plot_methods`, made by `x_axis` or `y_axis`; the fairer to the right, or above."""
    domain = alt.Undefined if ends is None else list(ends)
    reverse = name == "fairness" and not upward
    scale = alt.Scale(domain=domain, zero=False, padding=BEYOND, nice=False, reverse=reverse)
    if name == "fairness":
        return make("fairness:Q", towards(fairness_title, "fairer →"), "f", scale=scale)
    if name == "accuracy":
        return make("accuracy:Q", "Accuracy on test (%)", "%", ticks=4, scale=scale)
    return make("change_rate:Q", "Decisions changed (%)", ".0%", scale=scale)


class _Focus:
    """The highlight: the `strong` method and the one under the pointer."""

    def __init__(self, strong: str) -> None:
        self.strong = f"datum.label == '{strong}'"
        self.on_points, self.on_names = (
            alt.selection_point(name=name, fields=["label"], on="pointerover", clear="pointerout", empty=False)
            for name in ("near", "named")
        )

    def by(self, pointed: float, strong: float, faint: float) -> Any:
        """A number that depends on it."""
        now = alt.when(self.on_points | self.on_names).then(alt.value(pointed))
        return now.when(self.strong).then(alt.value(strong)).otherwise(alt.value(faint))

    def of_lines(self) -> dict[str, Any]:
        return {"opacity": self.by(1.0, 1.0, 0.6), "strokeWidth": self.by(3.2, 3.0, 1.3)}

    def of_points(self) -> dict[str, Any]:
        shown = alt.when("datum.chosen").then(alt.value(1.0))
        shown = shown.when(self.on_points | self.on_names).then(alt.value(1.0))
        shown = shown.when(f"datum.best && {self.strong}").then(alt.value(1.0))
        return {"opacity": shown.when("datum.best").then(alt.value(0.85)).otherwise(alt.value(0.3))}


def _names(x: Any, y: Any, channels: dict[str, Any], focus: _Focus) -> list[alt.Chart]:
    """The mark and name of each method at the right edge, with a thin line to the end of its frontier."""
    named = alt.Chart().transform_filter(f"isValid(datum.label_at) && !({NARROW})")
    right = alt.value("width")
    beside = named.encode(x=right, y=_on_axis(y, "label_at:Q"))
    colour = alt.Color("label:N", scale=channels["stroke"]["scale"], legend=None)
    leaders = named.mark_rule(strokeDash=[2, 3], aria=False, tooltip=False)
    leaders = leaders.encode(x=x, y=y, x2=right, y2="label_at:Q", color=colour)
    leaders = leaders.encode(opacity=focus.by(1.0, 0.7, 0.3), strokeWidth=focus.by(1.8, 1.2, 0.7))
    marks = beside.mark_point(size=42, strokeWidth=1.5, xOffset=8, opacity=1.0, aria=False, tooltip=False)
    size = alt.condition(focus.strong, alt.value(13), alt.value(12))
    names = beside.mark_text(align="left", dx=16, fontWeight=500)
    names = names.encode(text="name:N", color=colour, tooltip=alt.Tooltip("label:N", title="Method"), size=size)
    return [leaders, marks.encode(**channels), names.add_params(focus.on_names)]


def _on_axis(channel: Any, column: str) -> Any:
    """Another column on the same axis."""
    return type(channel)(column, scale=channel["scale"], axis=channel["axis"], title=channel["title"])


def _crosses(axes: tuple[str, str], x: Any, y: Any, channels: dict[str, Any], focus: _Focus) -> list[alt.Chart]:
    """Where models are on other splits, for the strong method and the one under the pointer."""
    across, up = axes
    shown = alt.Chart().transform_filter(f"datum.best && isValid(datum.{across}_low)")
    means = {f"{name}_mean": f"(datum.{name}_low + datum.{name}_high) / 2" for name in axes}
    rule = shown.transform_calculate(**means).mark_rule(strokeWidth=1.5, aria=False, tooltip=False, clip=True)
    rule = rule.encode(stroke=channels["stroke"], opacity=focus.by(0.7, 0.35, 0.0))
    return [
        rule.encode(x=_on_axis(x, f"{across}_low:Q"), x2=f"{across}_high:Q", y=_on_axis(y, f"{up}_mean:Q")),
        rule.encode(x=_on_axis(x, f"{across}_mean:Q"), y=_on_axis(y, f"{up}_low:Q"), y2=f"{up}_high:Q"),
    ]


def plot_who_changed(frame: pd.DataFrame, *, groups: tuple[str, ...]) -> alt.LayerChart:
    """People whose decision changed, by method and group: to their favour to the right, against it to the left.

    `frame`: ``label, rank`` (of the method), ``group`` (one of two `groups`), ``better, worse`` (people).
    """
    bars = alt.Chart().transform_fold(["better", "worse"], as_=["direction", "size"])
    bars = bars.transform_calculate(people="datum.direction == 'better' ? datum.size : -datum.size")
    bars = bars.mark_bar(height={"band": 0.7})
    bars = bars.encode(
        y=by_rank("label:N", labelLimit=170, labelPadding=8),
        x=x_axis("people:Q", "← worse off · people · better off →", ticks=6, labelExpr="abs(datum.value)"),
        color=coloured("group:N", list(groups), [palette.F, palette.TRAIL], legend_below(1, labelLimit=0)),
        tooltip=tips(("label:N", "Method"), ("group:N", "Group"), ("direction:N", "Direction"), ("size:Q", "People")),
    )
    zero = alt.Chart().mark_rule(color="#777777", aria=False).encode(x=alt.datum(0))
    return alt.layer(bars, zero, data=frame).properties(height=alt.Step(24))


def plot_calibration(frame: pd.DataFrame, *, styles: tuple[MethodStyle, ...], strong: str) -> alt.LayerChart:
    """Mean score of g where f's score falls into each bin; on the diagonal g leaves f's confidence as it was.

    `frame`: ``label, mean_f, mean_g, sd_g, count``.
    """
    channels, focus = method_channels(styles, legend=False), _Focus(strong)
    unit = alt.Scale(domain=[0, 1], padding=BEYOND)
    x, y = x_axis("mean_f:Q", "Score of f", scale=unit), y_axis("mean_g:Q", "Mean score of g", scale=unit)
    tooltip = tips(
        ("label:N", "Method"),
        ("mean_f:Q", "Score of f", ".2f"),
        ("mean_g:Q", "Mean score of g", ".2f"),
        ("sd_g:Q", "Standard deviation", ".2f"),
        ("count:Q", "People"),
    )
    base = alt.Chart().encode(x=x, y=y)
    lines = base.mark_line(strokeWidth=1.6, opacity=0.8)
    lines = lines.encode(stroke=channels["stroke"], order="mean_f:Q", **focus.of_lines())
    points = base.mark_point(size=45, strokeWidth=1.5).encode(**channels, tooltip=tooltip)
    points = points.encode(opacity=focus.by(1.0, 1.0, 0.5)).add_params(focus.on_points)
    return alt.layer(diagonal(), lines, points, data=frame).properties(height=380)


def plot_share_by_group(frame: pd.DataFrame, *, most: float) -> alt.LayerChart:
    """Percentage of each of many groups whose decision changed, by method, on squares that are darker if it is larger.

    `frame`: ``label, rank`` (of the method), ``group, group_rank, share`` and ``better, worse, count`` (people).
    `most`: the share where a square is darkest.
    """
    tooltip = tips(
        ("label:N", "Method"),
        ("group:N", "Group"),
        ("share:Q", "Changed, of the group", ".1%"),
        ("better:Q", "Better off (people)", ","),
        ("worse:Q", "Worse off (people)", ","),
        ("count:Q", "Of", ","),
    )
    methods = alt.Axis(labelAngle=-40, labelLimit=130, labelOverlap=False)
    base = alt.Chart().encode(
        x=alt.X("label:N", title=None, sort=alt.EncodingSortField("rank", op="min"), axis=methods),
        y=by_rank("group:N", "group_rank", labelLimit=165),
        tooltip=tooltip,
    )
    blue = alt.Scale(domain=[0, most], range=["#EAF2FA", palette.F])
    squares = base.mark_rect(stroke="#88888855").encode(color=alt.Color("share:Q", scale=blue, legend=None))
    # Without "%": on a phone nine of these numbers have to stand in one row.
    shown = base.transform_calculate(shown="isValid(datum.share) ? format(100 * datum.share, '.0f') : '–'")
    ink = alt.condition(f"datum.share > {0.7 * most:g}", alt.value("white"), alt.value("#1a1a1a"))
    shown = shown.mark_text(fontSize=12).encode(text="shown:N", color=ink)
    return alt.layer(squares, shown, data=frame).properties(height=alt.Step(34))


def plot_scatter(frame: pd.DataFrame, *, styles: tuple[MethodStyle, ...], x_title: str, y_title: str) -> alt.LayerChart:
    """One point per model, those of a label joined by ``order``: ``label`` (of a style), ``x, y, order, settings``."""
    # Padding would also begin below 0, where no figure can be.
    around, from_zero = alt.Scale(zero=False, padding=12), alt.Scale(zero=True, nice=True)
    channels = method_channels(styles, legend=True)
    figures = ("x:Q", x_title, ".3f"), ("y:Q", y_title, ".3f")
    points = (
        alt.Chart()
        .mark_point(size=90, strokeWidth=1.5, opacity=0.85)
        .encode(
            x=x_axis("x:Q", x_title, ".2f", scale=around),
            y=y_axis("y:Q", y_title, scale=from_zero),
            **channels,
            tooltip=tips(("label:N", "Method"), ("settings:N", "Setting"), *figures),
        )
    )
    lines = alt.Chart().mark_line(strokeWidth=1.5, aria=False)
    lines = lines.encode(x="x:Q", y="y:Q", stroke=channels["stroke"], order="order:Q")
    room = {"top": 5, "left": 5, "right": 15, "bottom": 5}  # for the last number of the axis
    return alt.layer(lines, points, data=frame).properties(height=430, padding=room)
