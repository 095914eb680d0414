"""Models on either side of what is required."""

import altair as alt
import pandas as pd

from commod.charts import palette

# Colour and shape of each verdict: either tells it.
VERDICTS = {"pass": palette.BETTER, "fail": palette.G, "cannot tell": palette.FRONTIER}
SHAPES = ["circle", "cross", "diamond"]


def plot_requirement(frame: pd.DataFrame, *, title: str, percent: bool) -> alt.LayerChart:
    """The value of each model with its intervals, and the limit as a line across them.

    `frame`: columns ``name`` (of the model), ``rank, value, low, high`` (over people), ``refits_low, refits_high``
    (missing without refits), ``limit`` (the same in every row) and ``verdict``. `title`: what is measured, without its
    unit. `percent`: whether it is a share.
    """
    form = ".1%" if percent else ".3f"
    x = alt.X(
        "value:Q",
        title=f"{title} (%)" if percent else title,
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(format=".0%" if percent else ".2~f", tickCount=5, labelFlush=False, grid=False),
    )
    y = alt.Y(
        "name:N",
        title=None,
        sort=alt.EncodingSortField("rank", op="min"),
        axis=alt.Axis(labelLimit=150, labelOverlap=False, ticks=False, domain=False, grid=False),
    )
    verdict = list(VERDICTS)
    legend = alt.Legend(title=None, orient="bottom", columns=3, symbolOpacity=1)
    color = alt.Color("verdict:N", scale=alt.Scale(domain=verdict, range=list(VERDICTS.values())), legend=legend)
    tooltip = [
        alt.Tooltip("name:N", title="Model"),
        alt.Tooltip("verdict:N", title="Verdict"),
        alt.Tooltip("value:Q", title=title, format=form),
        alt.Tooltip("limit:Q", title="Required", format=form),
        alt.Tooltip("low:Q", title="95 % over people from", format=form),
        alt.Tooltip("high:Q", title="to", format=form),
        alt.Tooltip("refits_low:Q", title="95 % of refits from", format=form),
        alt.Tooltip("refits_high:Q", title="to", format=form),
    ]
    rows = alt.Chart(frame).encode(y=y)
    limit = (
        alt.Chart(frame)
        .mark_rule(strokeDash=[5, 4], color="#777777", strokeWidth=1.5, aria=False)
        .encode(x="mean(limit):Q")
    )
    people = rows.mark_rule(strokeWidth=3, opacity=0.55, yOffset=-3, aria=False).encode(
        x="low:Q", x2="high:Q", color=color
    )
    refits = rows.mark_rule(strokeWidth=1.5, yOffset=5, aria=False).encode(
        x="refits_low:Q", x2="refits_high:Q", color=color
    )
    points = rows.mark_point(filled=True, size=90, opacity=1, yOffset=-3).encode(
        x=x,
        color=color,
        shape=alt.Shape("verdict:N", scale=alt.Scale(domain=verdict, range=SHAPES), legend=legend),
        tooltip=tooltip,
    )
    return alt.layer(limit, people, refits, points).properties(height=alt.Step(30))
