"""What can be reached with few changes, and what models reach of it."""

from typing import Any

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.compare import DEPLOYED_STYLE, MethodStyle, method_channels
from commod.charts.parts import tips, x_axis, y_axis

BOUND = "#5B6C8F"
# Around a picture: the last label of an axis ends beyond it.
ROOM = {"top": 10, "left": 5, "right": 12, "bottom": 5}
CURRENT_STYLE = MethodStyle("g, this setting", palette.G, "circle")
BLIND_STYLE = MethodStyle("Limit if the group is guessed, with interval", BOUND, "dotted")
BOUND_STYLE = MethodStyle("Limit of any rule", BOUND, "stroke")
OWN_STYLE = MethodStyle("Fairest {} model so far", palette.COMMOD, "steps")
ASKED_STYLE = MethodStyle("What you ask for", palette.FRONTIER, "dashed")
# By what is known when flips are chosen.
PRICES = {
    "labels": MethodStyle("Best in hindsight: group and record known", BOUND, "stroke"),
    "scores": MethodStyle("Best by f's scores: group known", BOUND, "dotted"),
}


def _changes(most: float) -> Any:
    return x_axis(
        "change_rate:Q", "Decisions changed (% of test)", ".0%", ticks=6, scale=alt.Scale(domain=[0, most], nice=False)
    )


def _tips(column: str, title: str, form: str) -> list[alt.Tooltip]:
    changed = "change_rate:Q", "Decisions changed", ".1%"
    return tips(("label:N", "Model"), ("settings:N", "Setting"), changed, (column, title, form))


def _of_kind(kind: str) -> alt.Chart:
    return alt.Chart().transform_filter(f"datum.kind == '{kind}'")


def _dashed(kind: str) -> alt.Chart:
    return _of_kind(kind).mark_rule(strokeDash=[5, 4], strokeWidth=1.4, color=palette.FRONTIER, aria=False)


def _points(x: Any, y: Any, styles: tuple[MethodStyle, ...], tooltip: list[Any]) -> alt.Chart:
    channels = method_channels((*styles, CURRENT_STYLE, DEPLOYED_STYLE), legend=False)
    points = _of_kind("model").transform_calculate(
        size=f"datum.label == '{CURRENT_STYLE.label}' ? 260 : (datum.label == '{DEPLOYED_STYLE.label}' ? 150 : 45)",
        words="datum.label + ', changed: ' + format(datum.change_rate, '.3f') + ', ' + datum.settings",
    )
    points = points.mark_point(strokeWidth=1.5, opacity=0.85).encode(x=x, y=y, tooltip=tooltip, description="words:N")
    return points.encode(**channels, size=alt.Size("size:Q", scale=None))


def plot_limits(
    frame: pd.DataFrame,
    *,
    styles: tuple[MethodStyle, ...],
    fairness_title: str,
    low: float,
    high: float,
    most: float,
    upward: bool,
) -> alt.LayerChart:
    """Fairness against changes: the exact bound, COMMOD's frontier, and models.

    `frame`: ``kind`` ("bound", "blind", "frontier", "model", "budget", "level"), ``label`` (of a model, that
    of its style), ``change_rate, fairness, settings`` and for "blind" ``low, high``. `low`, `high`, `most`: ends of the
    axes of fairness and changes. `upward`: whether more is fairer.
    """
    x = _changes(most)

    def fair(column: str) -> Any:
        return y_axis(f"{column}:Q", fairness_title, ".2f", ticks=6, scale=alt.Scale(domain=[low, high], nice=False))

    y = fair("fairness")
    tooltip = _tips("fairness:Q", fairness_title, ".3f")
    bound, blind = (_of_kind(kind).encode(x=x, y=y) for kind in ("bound", "blind"))
    region = bound.mark_area(color=BOUND, opacity=0.16, clip=True).encode(y2=alt.Y2Datum(low if upward else high))
    edge = bound.mark_line(color=BOUND, strokeWidth=2.4, clip=True).encode(tooltip=tooltip[2:])
    interval = blind.mark_area(color=BOUND, opacity=0.2, clip=True, aria=False).encode(y=fair("low"), y2="high:Q")
    untold = blind.mark_line(color=BOUND, strokeWidth=2.4, strokeDash=[2, 3], clip=True).encode(tooltip=tooltip[2:])
    steps = _of_kind("frontier").mark_line(color=palette.COMMOD, strokeWidth=2, interpolate="step-after", clip=True)
    frontier, level, budget = steps.encode(x=x, y=y), _dashed("level").encode(y=y), _dashed("budget").encode(x=x)
    layers = (region, interval, edge, untold, budget, level, frontier, _points(x, y, styles, tooltip))
    return alt.layer(*layers, data=frame).properties(height=430, padding=ROOM)


def plot_price(
    frame: pd.DataFrame, *, styles: tuple[MethodStyle, ...], low: float, high: float, most: float
) -> alt.LayerChart:
    """Accuracy against changes at one level of fairness: the best there is, and models that are fair enough.

    `frame`: ``kind`` (a key of `PRICES`, "model" or "budget"), ``label, change_rate, difference`` (of accuracy to f's),
    ``settings``. `low`, `high`: ends of the axis of accuracy.
    """
    x = _changes(most)
    points = "datum.value == 0 ? '0' : format(datum.value * 100, '+.0f')"
    scale = alt.Scale(domain=[low, high], nice=False)
    y = y_axis("difference:Q", "Accuracy minus f's (percentage points)", ticks=6, scale=scale, labelExpr=points)
    tooltip = _tips("difference:Q", "Accuracy minus f's", "+.1%")
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=list(PRICES), range=[[1, 0], [2, 2]]), legend=None)
    curves = alt.Chart().transform_filter("datum.kind == 'labels' || datum.kind == 'scores'")
    curves = curves.mark_line(color=BOUND, strokeWidth=2.4, clip=True)
    curves = curves.encode(x=x, y=y, strokeDash=dash, tooltip=tooltip[2:])
    zero = _of_kind("budget").mark_rule(color=palette.FRONTIER, opacity=0.6, aria=False).encode(y=alt.YDatum(0.0))
    layers = (zero, curves, _dashed("budget").encode(x=x), _points(x, y, styles, tooltip))
    return alt.layer(*layers, data=frame).properties(height=330, padding=ROOM)
