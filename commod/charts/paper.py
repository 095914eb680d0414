"""Charts of the paper's figures."""

import altair as alt
import pandas as pd

from commod.charts.compare import MethodStyle, method_channels
from commod.charts.parts import tips, x_axis, y_axis


def plot_scatter(
    frame: pd.DataFrame,
    *,
    styles: tuple[MethodStyle, ...],
    x_title: str,
    y_title: str,
    percent: bool = True,
    zero: bool = True,
    joined: bool = False,
    columns: int = 2,
) -> alt.Chart | alt.LayerChart:
    """One point per model.

    `frame`: ``label`` (of a style), ``x, y, settings``. `percent`: x is a share. `zero`: the axis of y begins at 0.
    `joined`: the points of a label are joined, by ``order``. `columns`: of the legend.
    """
    # Padding would also begin below 0, where no figure can be.
    around, from_zero = alt.Scale(zero=False, padding=12), alt.Scale(zero=True, nice=True)
    channels = method_channels(styles, legend=True, columns=columns)
    points = alt.Chart().mark_point(size=90 if joined else 45, strokeWidth=1.5, opacity=0.85 if joined else 0.7)
    figures = ("x:Q", x_title, ".3f"), ("y:Q", y_title, ".3f")
    points = points.encode(
        x=x_axis("x:Q", x_title, ".0%" if percent else ".2f", scale=around),
        y=y_axis("y:Q", y_title, scale=from_zero if zero else around),
        **channels,
        tooltip=tips(("label:N", "Method"), ("settings:N", "Setting"), *figures),
    )
    if not joined:
        return points.properties(height=340, data=frame)
    lines = alt.Chart().mark_line(strokeWidth=1.5, aria=False)
    lines = lines.encode(x="x:Q", y="y:Q", stroke=channels["stroke"], order="order:Q")
    return alt.layer(lines, points, data=frame).properties(height=340 if columns > 1 else 430)


def plot_by_depth(frame: pd.DataFrame, *, styles: tuple[MethodStyle, ...], y_title: str) -> alt.LayerChart:
    """Means by depth of a tree, with one standard deviation to either side: ``label, depth, mean, low, high``."""
    channels = method_channels(styles, legend=True)
    x = alt.X("depth:O", title="Depth of the tree (questions asked)", axis=alt.Axis(labelAngle=0))
    y = y_axis("mean:Q", y_title, scale=alt.Scale(domain=[0, 1]))
    tooltip = tips(("label:N", "Method"), ("depth:O", "Depth"), ("mean:Q", y_title, ".2f"))
    base = alt.Chart().encode(x=x, y=y, stroke=channels["stroke"])
    spread = base.mark_rule(strokeWidth=1.5, aria=False).encode(y=alt.Y("low:Q", title=y_title), y2="high:Q")
    lines = base.mark_line(strokeWidth=1.6).encode(order="depth:Q")
    points = base.mark_point(size=55, strokeWidth=1.5).encode(**channels, tooltip=tooltip)
    return alt.layer(spread, lines, points, data=frame).properties(height=340)
