"""Curves over a whole number."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import tips, y_axis


def plot_f1_by_depth(frame: pd.DataFrame) -> alt.LayerChart:
    """F1 of the tree of the changes by its depth, the depth shown marked.

    Parameters
    ----------
    frame : DataFrame
        Columns ``depth, f1, leaves, shown``.
    """
    base = alt.Chart().encode(
        x=alt.X("depth:O", title="Depth (questions asked)", axis=alt.Axis(labelAngle=0)),
        y=y_axis("f1:Q", "F1 on test", scale=alt.Scale(domain=[0, 1])),
        tooltip=tips(("depth:O", "Depth"), ("f1:Q", "F1", ".2f"), ("leaves:Q", "Leaves")),
    )
    line = base.mark_line(color=palette.G, point=alt.OverlayMarkDef(color=palette.G, size=45))
    shown = base.transform_filter("datum.shown").mark_point(color=palette.F, size=230, strokeWidth=3)
    return alt.layer(line, shown, data=frame).properties(height=230)
