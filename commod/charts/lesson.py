"""Pictures that only the Lesson has: what fairness costs, who pays for it, and two groups that differ."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.bars import by_direction
from commod.charts.parts import coloured, legend_below, shaped, tips, x_axis, y_axis
from commod.charts.people import stacked


def plot_curve(
    frame: pd.DataFrame, *, x_title: str, y_title: str, deployed: str, here: str, asked: str, setting: str
) -> alt.LayerChart:
    """Accuracy against fairness along λ_fair, with f and the model of the slider.

    `frame`: ``name`` (`deployed`, `here` or `asked`), ``lambda_fair, fairness, accuracy``. `deployed`, `here`, `asked`,
    `setting`: what f, the slider's model, the curve and λ_fair are called.
    """
    names, colours = [asked, deployed, here], [palette.PATH, palette.F, palette.G]
    x = x_axis("fairness:Q", x_title, ".2f", scale=alt.Scale(zero=False, padding=16))
    y = y_axis("accuracy:Q", y_title, ".0%", scale=alt.Scale(zero=False, padding=16))
    legend = legend_below(1, labelLimit=0, symbolSize=90, symbolOpacity=1)
    color = coloured("name:N", names, colours, legend)
    shape = shaped("name:N", names, ["circle", "diamond", "circle"], legend)
    size = alt.Size("name:N", scale=alt.Scale(domain=names, range=[30, 150, 260]), legend=None)
    base = alt.Chart().encode(x=x, y=y)
    line = base.transform_filter(alt.datum.name == asked).mark_line(strokeWidth=1.6, color=palette.PATH, aria=False)
    figures = ("fairness:Q", x_title, ".3f"), ("accuracy:Q", y_title, ".1%")
    points = base.mark_point(filled=True, opacity=0.95).encode(color=color, shape=shape, size=size)
    points = points.encode(tooltip=tips(("name:N", " "), ("lambda_fair:Q", setting), *figures))
    return alt.layer(line.encode(order="lambda_fair:Q"), points, data=frame).properties(height=380)


def plot_paying(frame: pd.DataFrame, *, better: str, worse: str, title: str) -> alt.Chart:
    """People to whom each model gives the better and the worse decision.

    `frame`: ``name`` (of the model, "|" where it may be broken), ``rank``, ``direction`` (`better` or `worse`),
    ``place`` (0 and 1 in that order) and ``people``.
    """
    x = x_axis("people:Q", title, ",d", ticks=6, tickMinStep=1)
    tooltip = tips(("name:N", " "), ("direction:N", " "), ("people:Q", title, ",d"))
    return stacked(frame, x, by_direction(better, worse, columns=2), tooltip)


# Dots in a row of a group's picture.
_ACROSS = 20


def plot_two_groups(frame: pd.DataFrame, *, right: str, wrong: str, no: str) -> alt.Chart:
    """100 people of each group as dots: filled if decided 1, and coloured by whether that is right.

    `frame`: one row per dot: ``group``, ``number`` (0 to 99) and ``what``, one of `right`, `wrong` and `no` (decided
    0).
    """
    said, colours = [right, wrong, no], [palette.F, palette.G, "#B8B8B8"]
    dots = alt.Chart(frame).mark_point(filled=True, size=62, opacity=1, strokeWidth=1).properties(height=230)
    dots = dots.transform_calculate(column=f"datum.number % {_ACROSS}", row=f"floor(datum.number / {_ACROSS})")
    return dots.encode(
        x=alt.X("column:O", axis=None),
        y=alt.Y("row:O", axis=None),
        color=coloured("what:N", said, colours, legend_below(1, labelLimit=0, symbolSize=80)),
        shape=shaped("what:N", said, ["circle", "triangle-up", "circle"], legend_below(1, labelLimit=0)),
        tooltip=tips(("group:N", " "), ("what:N", " ")),
    )
