"""What a room guessed, tried and voted for: every person counts once, and a mean is never drawn alone."""

import json
from typing import Any

import altair as alt
import pandas as pd

from commod.charts import palette
from commod.charts.parts import coloured, line_at, outlined, tips
from commod.charts.people import names_above

# Default font size in pixels.
TYPE = 16
# Padding: the last label of an axis extends beyond it.
_ROOM_FOR_LABELS = {"top": 8, "bottom": 8, "left": 8, "right": 30}
# Size of one person's point, in square pixels.
DOT = 300
# Colour and shape of a point in `plot_models`.
ROLES = {
    "frontier": (palette.FRONTIER, "circle"),
    "f": (palette.F, "diamond"),
    "first": (palette.FIRST_VOTE, "circle"),
    "last": (palette.G, "circle"),
}


def _axis(font: int, **more: object) -> alt.Axis:
    return alt.Axis(labelFontSize=font, titleFontSize=font, titlePadding=14, labelFlush=False, labelLimit=0, **more)


def _figure(channel: Any, column: str, title: str, font: int, form: str, ticks: int, padding: int) -> Any:
    """The axis of a figure."""
    scale = alt.Scale(zero=False, padding=padding, nice=True)
    return channel(column, title=title, scale=scale, axis=_axis(font, format=form, tickCount=ticks))


def _people(title: str, font: int) -> alt.Axis:
    """For a count: no labels between whole numbers."""
    whole = "datum.value % 1 ? '' : format(datum.value, 'd')"
    return _axis(font, title=title, labelExpr=whole, tickMinStep=1, tickCount=5)


def _legend(font: int, **more: object) -> alt.Legend:
    return alt.Legend(title=None, orient="bottom", labelFontSize=font, labelLimit=0, symbolSize=160, **more)


def plot_guesses(
    frame: pd.DataFrame,
    *,
    title: str,
    people: str,
    guesses: str,
    answer: str,
    most: float | None = None,
    font: int = TYPE,
) -> alt.LayerChart:
    """A histogram of guessed numbers, and what the model says as a line.

    `frame`: a row for each bar, ``kind`` (`guesses`), ``low``, ``high``, ``people``; and one with ``kind`` (`answer`)
    and the answer as ``low``. `title`, `people`: of the axes. `most`: the end of an axis that begins at 0. `font`: size
    of letters in pixels, as in all charts here.
    """
    ends = {"zero": False, "nice": True} if most is None else {"domain": [0, most]}
    x = alt.X("low:Q", title=title, scale=alt.Scale(**ends, padding=12), axis=_axis(font, tickCount=6))
    color = coloured("kind:N", [guesses, answer], [palette.F, palette.G], _legend(font, symbolType="square"))
    base = alt.Chart().encode(x=x, color=color)
    bars = base.transform_filter(alt.datum.kind == guesses).mark_bar(binSpacing=1)
    bars = bars.encode(x2="high:Q", y=alt.Y("people:Q", axis=_people(people, font)), y2=alt.Y2Datum(0))
    bars = bars.encode(tooltip=tips(("low:Q", "≥"), ("high:Q", "<"), ("people:Q", people)))
    model = base.transform_filter(alt.datum.kind == answer)
    line = model.mark_rule(strokeWidth=5).encode(tooltip=tips(("low:Q", answer)))
    number = model.mark_text(dy=-10, fontSize=font, fontWeight="bold")
    number = number.encode(y=alt.value(0), text=alt.Text("low:Q", format=","))
    return alt.layer(bars, line, number, data=frame).properties(height=300, padding={**_ROOM_FOR_LABELS, "top": 28})


def plot_answers(frame: pd.DataFrame, *, kinds: tuple[str, ...], people: str, font: int = TYPE) -> alt.LayerChart:
    """How many people gave each answer, as bars with their count; an answer's name is above its bar.

    `frame`: ``name`` (of the bar, "|" where it may be broken), ``rank``, ``kind`` (one of `kinds`, each in a colour of
    its own) and ``people``. `people`: title of the counts.
    """
    y = names_above(-12, size=font)
    x = alt.X("people:Q", scale=alt.Scale(domain=alt.DomainUnionWith(unionWith=[0, 1])), axis=_people(people, font))
    colours = [palette.F, palette.G][: len(kinds)]
    color = coloured("kind:N", list(kinds), colours, _legend(font))
    base = alt.Chart().encode(x=x, y=y, color=color)
    bars = base.mark_bar(size=20, yOffset=12).encode(tooltip=tips(("name:N", " "), ("people:Q", people)))
    counts = base.mark_text(align="left", dx=6, dy=12, fontSize=font, fontWeight="bold").encode(text="people:Q")
    return alt.layer(bars, counts, data=frame).properties(height=alt.Step(56), padding=_ROOM_FOR_LABELS)


def plot_models(
    frame: pd.DataFrame,
    *,
    kinds: tuple[tuple[str, str], ...],
    x_title: str,
    y_title: str,
    people: str,
    line: float | None = None,
    line_name: str = "",
    font: int = TYPE,
) -> alt.LayerChart:
    """Models that people chose or voted for, among all models: fairness against accuracy.

    A point grows with its number of people and shows it. Lines lead from first votes (rings) to second ones.

    `frame`: ``kind, fairness, accuracy, people`` (0 where nobody is), ``who`` (names and setting), ``line`` (empty for
    none), ``order`` (along it). Later rows are drawn on top. `kinds`: what ``kind`` may be, with its key of `ROLES`.
    `line`: at a value of fairness, with its name.
    """
    names, roles = zip(*kinds, strict=True)
    behind = next((name for name, role in kinds if role == "frontier"), "")
    x = _figure(alt.X, "fairness:Q", x_title, font, "f", 4, padding=24)
    y = _figure(alt.Y, "accuracy:Q", y_title, font, "%", 5, padding=24)
    ring = next(name for name, role in kinds if role == "first") if {"first", "last"} <= set(roles) else ""
    colours = [ROLES[role][0] for role in roles]
    legend = _legend(font, columns=2, symbolOpacity=1)
    filled = ["transparent" if name == ring else colour for name, colour in zip(names, colours, strict=True)]
    channels = outlined("kind:N", names, colours, filled, [ROLES[role][1] for role in roles], legend)
    area = f"datum.people ? {DOT} * sqrt(datum.people) : datum.kind == {json.dumps(behind)} ? 30 : 200"
    base = alt.Chart().encode(x=x, y=y)
    lines = base.transform_filter("datum.line != ''").mark_line(strokeWidth=2, opacity=0.6, aria=False)
    lines = lines.encode(stroke=channels["stroke"], detail="line:N", order="order:Q")
    figures = ("fairness:Q", x_title, ".3f"), ("accuracy:Q", y_title, ".1%")
    is_ring = f"datum.kind == {json.dumps(ring)}"
    points = base.transform_filter("datum.line == '' || datum.people == 0").mark_point(opacity=0.95)
    points = points.transform_calculate(size=f"({is_ring} ? 2.2 : 1) * ({area})")
    points = points.encode(**channels, size=alt.Size("size:Q", scale=None))
    points = points.encode(tooltip=tips(("kind:N", " "), ("who:N", " "), ("people:Q", people), *figures))
    points = points.encode(strokeWidth=alt.condition(is_ring, alt.value(3), alt.value(0)))
    counts = base.transform_filter("datum.people > 1 && datum.line == ''").encode(text="people:Q")
    number = {"fontSize": font, "fontWeight": "bold"}
    inside = counts.transform_filter(f"!({is_ring})").mark_text(color="white", **number)
    above = counts.transform_filter(is_ring).mark_text(dy=-24, color=ROLES["first"][0], **number)
    least = [] if line is None else line_at(line, f"{x_title} {line:g}", line_name)
    return alt.layer(*least, lines, points, inside, above, data=frame).properties(height=430, padding=_ROOM_FOR_LABELS)
