"""What can be reached with few changes, and what methods reach of it."""

from dataclasses import replace
from typing import Any

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.compare import DEPLOYED, MethodStyle, plot_methods
from commod.charts.parts import tips

BOUND = "#71808D"
BOUND_STYLE = MethodStyle("Limit", BOUND, "stroke")
BLIND_STYLE = MethodStyle("Limit, group not shown", BOUND, "dotted")


def plot_limits(
    frame: pd.DataFrame,
    *,
    styles: tuple[MethodStyle, ...],
    fairness_range: tuple[float, float],
    upward: bool,
    **more: Any,
) -> alt.LayerChart:
    """Fairness against changes: the limits, each method's fairest models as in `plot_methods`, and what is asked for.

    `frame`: the rows of `plot_methods` for f and models; those of the limits, with ``kind`` ("bound" or "blind", with
    ``low, high``) and the ``label`` of their style; and ``name`` with ``fairness`` ("level") or ``change_rate``
    ("budget"). `fairness_range`, `upward` and `more`: as for `plot_methods`.
    """
    more |= {"axes": ("change_rate", "fairness"), "fairness_range": fairness_range, "upward": upward}
    marked = tuple(replace(style, shape="stroke") for style in (BOUND_STYLE, BLIND_STYLE))
    methods = plot_methods(pd.DataFrame(), styles=(*marked, *styles), **more)
    x, y = methods.layer[0].encoding.x, methods.layer[0].encoding.y

    def of_kind(kind: str) -> alt.Chart:
        return alt.Chart().transform_filter(f"datum.kind == '{kind}'")

    tooltip = tips(("label:N", ""), ("change_rate:Q", "Decisions changed", ".1%"), ("fairness:Q", "Fairness", ".3f"))
    bound, blind = (of_kind(kind).encode(x=x, y=y) for kind in ("bound", "blind"))
    region = bound.mark_area(color=BOUND, opacity=0.12, clip=True, aria=False)
    region = region.encode(y2=alt.Y2Datum(fairness_range[0 if upward else 1]))
    edge = bound.mark_line(color=BOUND, strokeWidth=2.4, clip=True).encode(tooltip=tooltip)
    interval = blind.mark_area(color=BOUND, opacity=0.2, clip=True, aria=False)
    interval = interval.encode(y=alt.Y("low:Q", scale=y["scale"], axis=y["axis"], title=y["title"]), y2="high:Q")
    dotted = blind.mark_line(color=BOUND, strokeWidth=2.4, strokeDash=[2, 3], clip=True).encode(tooltip=tooltip)
    layers, said = [region, interval, edge, dotted], []
    level, budget = of_kind("level").encode(y=y), of_kind("budget").encode(x=x)
    for asked, place, dy in (
        (level, {"x": alt.value("width")}, 8),
        (budget, {"y": alt.value(0)}, 8),
    ):
        layers.append(asked.mark_rule(strokeDash=[5, 4], strokeWidth=1.4, color=palette.FRONTIER, aria=False))
        name = asked.mark_text(align="right", dx=-5, dy=dy, fontSize=12, color=palette.FRONTIER, aria=False)
        layers.append(name.encode(text="name:N", **place))
    for where, name, colour, place in (  # g may be f
        (f"datum.label == '{DEPLOYED}'", "f", palette.FRONTIER, {"dx": 13, "dy": 10}),
        ("datum.chosen", "g", palette.G, {"dy": -17}),
    ):
        here = alt.Chart().transform_filter(where).encode(x=x, y=y)
        said.append(here.mark_text(text=name, color=colour, fontSize=13, fontWeight=600, aria=False, **place))
    whole = {"params": methods.params, "height": methods.height, "padding": methods.padding}
    return alt.layer(*layers, *methods.layer, *said, data=frame).properties(**whole)
