"""One person: the sum that leads from f's score to g's, and two accounts of it side by side."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.compare import MethodStyle
from commod.charts.parts import by_rank, coloured, tips, x_axis


def term_styles(outcomes: tuple[str, str], favourable: int = 1) -> tuple[MethodStyle, MethodStyle]:
    """Marks of the terms that raise the score and of those that lower it, for a legend beside the chart."""
    colours = (palette.BETTER, palette.WORSE) if favourable == 1 else (palette.WORSE, palette.BETTER)
    low, high = outcomes
    return MethodStyle(f"towards “{high}”", colours[0], "square"), MethodStyle(f"towards “{low}”", colours[1], "square")


def plot_waterfall(
    frame: pd.DataFrame, *, outcomes: tuple[str, str], favourable: int = 1, title: str = "Score as logit"
) -> alt.LayerChart:
    """The running sum on the scale of the logit, a row for each term.

    `frame`: ``label`` (two lines, parted by "|", with the term's value), ``rank``, ``kind`` ("f", "g", "up" or "down"),
    ``start, end`` (of the bar), ``ratio`` (what it adds to r, if anything). `outcomes`: what a score below and above 0
    decides. `favourable`: which of them is better for a person; terms that lead to it have its colour.
    """
    low, high = outcomes
    styles = term_styles(outcomes, favourable)
    names = {"labelLimit": 170, "labelPadding": 6, "labelLineHeight": 14, "labelOverlap": False}
    ratio = [("ratio:Q", "In r", "+.3f")] if "ratio" in frame else []
    colours = [palette.F, palette.G, *(style.colour for style in styles)]
    bars = alt.Chart().transform_calculate(line="replace(datum.label, '|', ', ')").mark_bar(height={"band": 0.62})
    bars = bars.encode(
        x=x_axis("start:Q", [title, f"above 0: “{high}”", f"below 0: “{low}”"], scale=alt.Scale(zero=True)),
        x2="end:Q",
        y=by_rank("label:N", labelExpr="split(datum.label, '|')", **names),
        color=coloured("kind:N", ["f", "g", "up", "down"], colours, None),
        tooltip=tips(("line:N", "Term"), *ratio, ("end:Q", "Sum so far", "+.2f")),
    )
    # Once, not for each row; its meaning is told beside the chart, so it is no symbol of its own.
    line = alt.Chart().transform_filter("datum.rank == 0").encode(x=alt.datum(0))
    line = line.mark_rule(strokeDash=[5, 4], color=palette.FRONTIER, strokeWidth=1.5, aria=False)
    return alt.layer(bars, line, data=frame).properties(height=alt.Step(36))
