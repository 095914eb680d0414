"""Models on either side of what is required."""

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import by_rank, coloured, legend_below, shaped, tips, x_axis

# Colour and shape of each verdict: either tells it.
VERDICTS = {"pass": palette.BETTER, "fail": palette.G, "cannot tell": palette.FRONTIER}
SHAPES = ["circle", "cross", "diamond"]


def plot_requirement(frame: pd.DataFrame, *, title: str, percent: bool) -> alt.LayerChart:
    """The value of each model with its intervals, and the limit as a line across them.

    `frame`: ``name`` (of the model), ``rank, value, low, high`` (over people), ``refits_low, refits_high`` (or
    missing), ``limit`` (the same in every row), ``verdict``. `title`: what is measured, without its unit.
    """
    form, ticks, shown = (".1%", ".0%", f"{title} (%)") if percent else (".3f", ".2~f", title)
    x = x_axis("value:Q", shown, ticks, scale=alt.Scale(zero=False, nice=True), grid=False)
    y = by_rank("name:N", labelLimit=150, labelOverlap=False, ticks=False, domain=False, grid=False)
    legend = legend_below(3, symbolOpacity=1)
    color = coloured("verdict:N", list(VERDICTS), list(VERDICTS.values()), legend)
    tooltip = tips(
        ("name:N", "Model"),
        ("verdict:N", "Verdict"),
        ("value:Q", title, form),
        ("limit:Q", "Required", form),
        ("low:Q", "95 % over people from", form),
        ("high:Q", "to", form),
        ("refits_low:Q", "95 % of refits from", form),
        ("refits_high:Q", "to", form),
    )
    limit = alt.Chart(frame).mark_rule(strokeDash=[5, 4], color="#777777", strokeWidth=1.5, aria=False)
    limit = limit.encode(x="mean(limit):Q")
    rows = alt.Chart(frame).encode(y=y, color=color)
    people = rows.mark_rule(strokeWidth=3, opacity=0.55, yOffset=-3, aria=False).encode(x="low:Q", x2="high:Q")
    refits = rows.mark_rule(strokeWidth=1.5, yOffset=5, aria=False).encode(x="refits_low:Q", x2="refits_high:Q")
    points = rows.mark_point(filled=True, size=90, opacity=1, yOffset=-3)
    points = points.encode(x=x, shape=shaped("verdict:N", list(VERDICTS), SHAPES, legend), tooltip=tooltip)
    return alt.layer(limit, people, refits, points).properties(height=alt.Step(30))
