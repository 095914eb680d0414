"""Fairness against accuracy, or accuracy against changes, of everything tried so far."""

import json
from typing import Literal

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import coloured, line_at, model_tips, read_out, shaped, towards, x_axis, y_axis

# What a row of the frame may be, in drawing order, with its colour, shape and size in square pixels.
KINDS = {
    "Other settings": (palette.FRONTIER, "circle", 20),
    "Other splits": (palette.SPLITS, "circle", 60),
    "Every λ_fair": (palette.PATH, "circle", 30),
    "Tried before": (palette.TRAIL, "square", 100),
    "g, this setting": (palette.G, "circle", 240),
    "f, as deployed": (palette.F, "diamond", 130),
}
SWEEP, SPLITS, PATH, TRIED, CURRENT, DEPLOYED = KINDS


def plot_pareto(
    frame: pd.DataFrame,
    *,
    view: Literal["fairness", "changes"] = "fairness",
    fairness_title: str = "Fairness",
    fairer: str = "",
    line: float | None = None,
    called: tuple[tuple[str, str], ...] = (),
) -> alt.LayerChart:
    """Draw models as points.

    `frame`: ``kind`` (a key of `KINDS`), ``fairness, accuracy, change_rate, settings`` (words for the tooltip), ``id``
    (what a click on a point tried before returns), ``line`` (which line the point belongs to, empty for none) and
    ``order`` (along it). Later rows are drawn over earlier ones. `view`: fairness against accuracy, or accuracy against
    changes. `fairness_title`, `fairer`: of its axis, and which way is fairer, with an arrow. `line`: a dashed one, at a
    value of fairness. `called`: what kinds are called in another language.
    """
    scale = alt.Scale(zero=False, padding=14, nice=True)
    accuracy = "accuracy:Q", "Accuracy", "%"
    if view == "fairness":
        x = x_axis("fairness:Q", towards(fairness_title, fairer), "f", ticks=3, scale=scale)
        y = y_axis(*accuracy, ticks=3, scale=scale, labelFlush=False)
    else:
        x = x_axis(*accuracy, ticks=3, scale=scale)
        y = y_axis("change_rate:Q", "Decisions changed", "%", ticks=3, scale=scale)
    # A legend stands below the chart; it has only what is drawn.
    color = coloured("kind:N", list(KINDS), [colour for colour, _, _ in KINDS.values()], None)
    shape = shaped("kind:N", list(KINDS), [shape for _, shape, _ in KINDS.values()], None)
    tooltip = model_tips(("called:N", "Model"), fairness_title)
    # Two layers, not one per kind: the browser runs each layer's whole dataflow at every move of a slider.
    sizes = json.dumps({kind: size for kind, (_, _, size) in KINDS.items()})
    names = json.dumps({kind: kind for kind in KINDS} | dict(called))
    pick = alt.selection_point(name="pick", fields=["id"], on="click", empty=False)
    base = alt.Chart().encode(x=x, y=y)
    lines = base.transform_filter("datum.line != ''").mark_line(strokeWidth=1.6)
    lines = lines.encode(color=color, detail="line:N", order="order:Q")
    lines = lines.encode(opacity=alt.condition(alt.datum.kind == SWEEP, alt.value(0.5), alt.value(1)))
    points = base.transform_calculate(size=f"({sizes})[datum.kind]", called=f"({names})[datum.kind]")
    points = points.transform_calculate(words=read_out("called", fairness_title))
    points = points.mark_point(filled=True, opacity=0.95).add_params(pick)
    points = points.encode(color=color, shape=shape, size=alt.Size("size:Q", scale=None))
    points = points.encode(tooltip=tooltip, description="words:N")
    layers = [lines, points]
    # g on the side that is fairer, or less accurate where accuracy is across: f seldom lies there.
    side = 1 if fairer.endswith("→") and view == "fairness" else -1
    for kind, name, at in ((CURRENT, "g", side), (DEPLOYED, "f", -side)):
        how = {"align": "left" if at > 0 else "right", "dx": 9 * at, "dy": -11, "fontSize": 16, "fontWeight": "bold"}
        named = base.transform_filter(alt.datum.kind == kind).mark_text(
            text=name, color=KINDS[kind][0], aria=False, **how
        )
        layers.append(named)
    if line is not None and view == "fairness":
        layers[:0] = line_at(line, f"{fairness_title} {line:g}")
    return alt.layer(*layers, data=frame).properties(height=470, padding={"top": 8, "bottom": 0, "left": 0, "right": 0})
