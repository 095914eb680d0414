"""Axes, legends and tooltips that most charts share."""

import re
from collections.abc import Sequence
from io import BytesIO, StringIO
from typing import Any, Literal

import altair as alt

from commod.charts import palette
from commod.installation import needs_extra


def tips(*columns: tuple[str, Any] | tuple[str, Any, str]) -> list[alt.Tooltip]:
    """Tooltips, each with a column, its title and its number format."""
    return [alt.Tooltip(name, title=title, format=form[0] if form else alt.Undefined) for name, title, *form in columns]


def interval_tips(low: str = "low:Q", high: str = "high:Q") -> tuple[tuple[str, str, str], ...]:
    """The ends of a 95 % interval of a share, for `tips`."""
    return (low, "95 % interval from", ".1%"), (high, "to", ".1%")


def model_tips(name: tuple[str, str], fairness_title: str) -> list[alt.Tooltip]:
    """Tooltips of a model: its name, its setting, and its figures."""
    figures = ("accuracy:Q", "Accuracy", ".1%"), ("change_rate:Q", "Decisions changed", ".1%")
    return tips(name, ("settings:N", "Setting"), ("fairness:Q", fairness_title, ".3f"), *figures)


def read_out(name: str, fairness_title: str) -> str:
    """What a screen reader says about a model: its name (from a column), its figures and its setting."""
    return (
        f"datum.{name} + ', {fairness_title}: ' + format(datum.fairness, '.3f') + ', accuracy: ' + "
        "format(datum.accuracy, '.3f') + ', changed: ' + format(datum.change_rate, '.3f') + ', ' + datum.settings"
    )


def _numbers(title: Any, form: Any, axis: dict[str, Any]) -> dict[str, Any]:
    """How an axis writes its numbers: without "%" if the title has it.

    The format loses its decimals: ticks then have enough to tell them apart, and never read 0.74, 0.74, 0.75.
    """
    form = re.sub(r"\.\d+~?(?=[f%]$)", "", form) if isinstance(form, str) else form
    unsigned = {"labelExpr": "format(100 * datum.value, ',~f')"} if "(%" in title else {}
    return {"format": form} | unsigned | axis


def towards(title: str, fairer: str) -> str:
    """The title of an axis with the fairer direction, "fairer →" or "← fairer", on its side."""
    return f"{fairer} · {title}" if fairer.startswith("←") else f"{title} · {fairer}" if fairer else title


def line_at(value: float, tooltip: str, name: str = "") -> list[alt.Chart]:
    """A dashed line across a chart at a value of x, with a name at its top, if any; what it is, under the pointer."""
    once = alt.Chart().transform_aggregate(rows="count()").encode(x=alt.XDatum(value, type="quantitative"))
    rule = once.mark_rule(strokeDash=[3, 4], strokeWidth=1.5, color=palette.FRONTIER, aria=False)
    named = once.mark_text(align="right", dx=-5, dy=6, fontSize=12, color=palette.FRONTIER, aria=False)
    return [
        rule.encode(tooltip=alt.value(tooltip)),
        *([named.encode(y=alt.value(0), text=alt.value(name))] if name else []),
    ]


def low_to_high(y: Any, offset: int, **mark: Any) -> alt.Chart:
    """A line from ``low`` to ``high`` in each row, `offset` pixels below its middle."""
    rule = alt.Chart().mark_rule(**{"strokeWidth": 2.5, "yOffset": offset, "y2Offset": offset} | mark)
    return rule.encode(x=alt.X("low:Q"), x2="high:Q", y=y)


def diagonal() -> alt.Chart:
    """A dashed line from (0, 0) to (1, 1)."""
    rule = alt.Chart().mark_rule(strokeDash=[4, 4], color="#777777", aria=False)
    return rule.encode(x=alt.datum(0), y=alt.datum(0), x2=alt.datum(1), y2=alt.datum(1))


def x_axis(
    column: str, title: Any, form: Any = alt.Undefined, *, ticks: Any = 5, scale: Any = alt.Undefined, **axis: Any
) -> alt.X:
    """An x-axis whose numbers are written in a format; its last label may reach beyond its end."""
    how = alt.Axis(tickCount=ticks, labelFlush=False, **_numbers(title, form, axis))
    return alt.X(column, title=title, scale=scale, axis=how)


def y_axis(
    column: str, title: Any, form: Any = alt.Undefined, *, ticks: Any = 5, scale: Any = alt.Undefined, **axis: Any
) -> alt.Y:
    """A y-axis whose numbers are written in a format."""
    how = alt.Axis(tickCount=ticks, **_numbers(title, form, axis))
    return alt.Y(column, title=title, scale=scale, axis=how)


def by_rank(column: str, rank: str = "rank", **axis: Any) -> alt.Y:
    """A row for each name in a column, in the order of the column `rank`."""
    return alt.Y(column, title=None, sort=alt.EncodingSortField(rank, op="min"), axis=alt.Axis(**axis))


def across_by_rank(column: str, title: str, angle: int) -> alt.X:
    """A column for each name, in the order of the column ``rank``; the names are at an angle."""
    axis = alt.Axis(labelAngle=angle, labelOverlap=False)
    return alt.X(column, title=title, sort=alt.EncodingSortField("rank", op="min"), axis=axis)


def legend_below(columns: Any = alt.Undefined, **legend: Any) -> alt.Legend:
    """A legend below the chart."""
    return alt.Legend(title=None, orient="bottom", columns=columns, **legend)


def coloured(column: str, names: Sequence[Any], colours: Sequence[Any], legend: Any = alt.Undefined) -> alt.Color:
    """A colour for each name in a column."""
    return alt.Color(column, scale=alt.Scale(domain=names, range=colours), legend=legend)


def shaped(column: str, names: Sequence[Any], shapes: Sequence[Any], legend: Any = alt.Undefined) -> alt.Shape:
    """A shape for each name in a column."""
    return alt.Shape(column, scale=alt.Scale(domain=names, range=shapes), legend=legend)


def outlined(
    column: str, names: Sequence[Any], colours: Sequence[Any], fills: Sequence[Any], shapes: Sequence[Any], legend: Any
) -> dict[str, Any]:
    """Stroke, fill and shape for each name in a column, for an encoding."""
    return {
        "stroke": alt.Stroke(column, scale=alt.Scale(domain=names, range=colours), legend=legend),
        "fill": alt.Fill(column, scale=alt.Scale(domain=names, range=fills), legend=legend),
        "shape": shaped(column, names, shapes, legend),
    }


def export_chart(chart: Any, kind: Literal["png", "svg"], *, width: int | None = 900) -> bytes:
    """A chart as PNG (double resolution) or SVG, on white; `width` in pixels, None to keep the chart's own."""
    with needs_extra("A chart as a file", "app"):
        import vl_convert  # noqa: F401 - altair saves with it
    sized = chart.properties(background="white")
    if width is not None:
        sized = sized.properties(width=width)
    if kind == "svg":
        text = StringIO()
        sized.save(text, format="svg")
        return text.getvalue().encode()
    image = BytesIO()
    sized.save(image, format="png", scale_factor=2)
    return image.getvalue()
