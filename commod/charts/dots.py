"""People as dots: a hundred of each group, by what is decided about them now, those who changed marked."""

from __future__ import annotations

import altair as alt
import pandas as pd

from commod.charts import palette

__all__ = ["plot_hundred"]

# A hundred dots fill columns of four from the left: so they read as a bar, and fit a phone.
ROWS, COLUMNS = 4, 25
LINE = 15


def plot_hundred(frame: pd.DataFrame, *, good: bool = True, few: bool = True) -> alt.Chart:
    """A hundred dots for each group: filled where the decision is positive, triangles where it has changed.

    Parameters
    ----------
    frame : DataFrame
        One row for each group: ``label`` (its lines of text, parted by line feeds), ``rank``, and of a hundred people
        ``now`` (who get the positive decision), ``raised`` (who did not get it before) and ``lowered`` (who got it
        before, and do not now). The dots are made of these in the browser. ``state_0`` to ``state_3`` are what is said
        of a dot: positive as before, positive now, negative now, negative as before. (Names that somebody has chosen
        are data, and never part of an expression.)
    good : bool
        Whether the positive decision is the favourable one. Triangles point upwards to the favourable decision.
    few : bool
        Whether there are so few groups that the dots can be large and the label has three lines, not two.
    """
    pitch, lines = (14, 3) if few else (11, 2)
    top = LINE * lines + 4
    step = top + ROWS * pitch + 12
    better, worse = palette.BETTER, palette.WORSE
    up, down = "triangle-up", "triangle-down"
    kinds = list(range(4))
    colours = [better, better, worse, worse] if good else [worse, worse, better, better]
    shapes = ["circle", up, down, "circle"] if good else ["circle", down, up, "circle"]
    positive, changed = "datum.kind < 2", "datum.kind == 1 || datum.kind == 2"
    colour = alt.Scale(domain=kinds, range=colours)
    return (
        alt.Chart(frame)
        .transform_calculate(dot="sequence(100)")
        .transform_flatten(["dot"])
        .transform_calculate(
            column=f"floor(datum.dot / {ROWS})",
            row=f"datum.dot % {ROWS}",
            kind="datum.dot < datum.now - datum.raised ? 0 : datum.dot < datum.now ? 1 : "
            "datum.dot < datum.now + datum.lowered ? 2 : 3",
        )
        .transform_calculate(state="datum['state_' + datum.kind]")
        .mark_point(aria=False, opacity=1, strokeWidth=1.3)
        .encode(
            x=alt.X(
                "column:Q",
                axis=None,
                scale=alt.Scale(
                    domain=[-0.5, COLUMNS - 0.5],
                    range=[0, alt.ExprRef(f"min(width, {COLUMNS * pitch})")],
                    nice=False,
                    zero=False,
                ),
            ),
            y=alt.Y(
                "label:N",
                title=None,
                sort=alt.EncodingSortField("rank", op="min"),
                scale=alt.Scale(padding=0),
                axis=alt.Axis(
                    labelExpr="split(datum.label, '\\n')",
                    labelAlign="left",
                    labelBaseline="top",
                    labelPadding=0,
                    labelOffset=-step // 2,
                    labelLimit=alt.ExprRef("width"),
                    labelFontSize=13,
                    labelLineHeight=LINE,
                    labelOverlap=False,
                    ticks=False,
                    domain=False,
                    grid=False,
                    zindex=1,
                ),
            ),
            yOffset=alt.YOffset(
                "row:Q",
                scale=alt.Scale(
                    domain=[0, ROWS - 1], range=[top + pitch / 2, top + (ROWS - 0.5) * pitch], nice=False, zero=False
                ),
            ),
            stroke=alt.Stroke("kind:N", scale=colour, legend=None),
            fill=alt.Fill("kind:N", scale=colour, legend=None),
            fillOpacity=alt.condition(positive, alt.value(1), alt.value(0)),
            shape=alt.Shape("kind:N", scale=alt.Scale(domain=kinds, range=shapes), legend=None),
            size=alt.condition(changed, alt.value(0.62 * pitch**2), alt.value(0.34 * pitch**2)),
            tooltip=alt.Tooltip("state:N", title=" "),
        )
        .properties(
            height=alt.Step(step, **{"for": "position"}), padding={"left": 0, "right": 0, "top": 5, "bottom": 0}
        )
    )
