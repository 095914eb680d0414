"""Fairness against accuracy, or accuracy against changes, of everything tried so far."""

from __future__ import annotations

from typing import Literal

import altair as alt
import pandas as pd

from commod.charts import palette

__all__ = ["KINDS", "plot_pareto"]

# What a row of the frame may be, in drawing order, with its colour and shape.
KINDS = {
    "Frontier of a sweep": (palette.FRONTIER, "circle"),
    "Path from f to g": (palette.PATH, "circle"),
    "Tried before": (palette.TRAIL, "square"),
    "f, as deployed": (palette.F, "diamond"),
    "g, this setting": (palette.G, "circle"),
}
SWEEP, PATH, TRIED, DEPLOYED, CURRENT = KINDS


def plot_pareto(
    frame: pd.DataFrame,
    *,
    view: Literal["fairness", "changes"] = "fairness",
    fairness_title: str = "P-Rule (1 is fair)",
) -> alt.LayerChart:
    """Draw models as points.

    Parameters
    ----------
    frame : DataFrame
        Columns ``kind`` (a key of `KINDS`), ``fairness, accuracy, change_rate``, ``settings`` (words for the tooltip),
        ``id`` (what a click on a point tried before returns), ``order`` (along the path) and ``line`` (which line of
        the sweep a point belongs to).
    view : {"fairness", "changes"}
        Fairness against accuracy, or accuracy against the share of changed decisions.
    fairness_title : str
        Name of the fairness axis, with what is fair.
    """
    scale = alt.Scale(zero=False, padding=14, nice=True)
    accuracy = {"shorthand": "accuracy:Q", "scale": scale, "axis": alt.Axis(format=".1%", tickCount=5)}
    if view == "fairness":
        x = alt.X("fairness:Q", title=fairness_title, scale=scale, axis=alt.Axis(format=".2f", tickCount=6))
        y = alt.Y(**accuracy, title="Accuracy on test (%)")
    else:
        x = alt.X(**accuracy, title="Accuracy on test (%)")
        y = alt.Y(
            "change_rate:Q",
            title="Decisions changed (% of test)",
            scale=scale,
            axis=alt.Axis(format=".1%", tickCount=6),
        )
    names = list(KINDS)
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelLimit=0, symbolSize=90)
    color = alt.Color(
        "kind:N", scale=alt.Scale(domain=names, range=[colour for colour, _ in KINDS.values()]), legend=legend
    )
    shape = alt.Shape(
        "kind:N", scale=alt.Scale(domain=names, range=[shape for _, shape in KINDS.values()]), legend=legend
    )
    tooltip = [
        alt.Tooltip("kind:N", title="Model"),
        alt.Tooltip("settings:N", title="Setting"),
        alt.Tooltip("fairness:Q", title=fairness_title, format=".3f"),
        alt.Tooltip("accuracy:Q", title="Accuracy", format=".1%"),
        alt.Tooltip("change_rate:Q", title="Decisions changed", format=".1%"),
    ]
    base = alt.Chart().encode(x=x, y=y, tooltip=tooltip)

    def only(kind: str) -> alt.Chart:
        return base.transform_filter(alt.datum.kind == kind)

    pick = alt.selection_point(name="pick", fields=["id"], on="click", nearest=False, empty=False)
    layers = [
        only(SWEEP).mark_line(strokeWidth=1.5, opacity=0.55).encode(color=color, detail="line:N", order="order:Q"),
        only(SWEEP).mark_point(filled=True, size=22, opacity=0.55).encode(color=color, shape=shape),
        only(PATH).mark_line(strokeWidth=2, strokeDash=[5, 3]).encode(color=color, order="order:Q"),
        only(PATH).mark_point(filled=True, size=30).encode(color=color, shape=shape),
        only(TRIED)
        .mark_point(filled=True, size=90, cursor="pointer", opacity=0.9)
        .encode(color=color, shape=shape)
        .add_params(pick),
        only(DEPLOYED).mark_point(filled=True, size=190).encode(color=color, shape=shape),
        only(CURRENT).mark_point(filled=True, size=190).encode(color=color, shape=shape),
    ]
    return alt.layer(*layers, data=frame).properties(height=430)
