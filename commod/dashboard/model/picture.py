"""The first picture of a model as a JSON document: figures, dots per group, the Pareto point, and their words.

The page's script sends it, and ``GET /model`` while a slider moves; docs/picture.md describes every field.
"""

from typing import Any

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.language import declared, phrase, written
from commod.dashboard.text.stories import dots_label
from commod.metrics.figures import CRITERIA, FIGURES

# Increase it when a field changes its meaning or is removed.
SCHEMA = 2
# With more groups the dots are smaller and their labels shorter.
FEW_GROUPS = 3
# The axes of the trade-off.
AXES = ("fairness", "accuracy", "change_rate")
_INTERVALS = ("g_low", "g_high", "difference_low", "difference_high")
_FIELDS = ("f", "g", "difference", *_INTERVALS)


def picture_of(result: FitResult, language: str, *, complete: bool, movable: bool = True) -> dict[str, Any]:
    """The picture of a model, without intervals until it is `complete` (see also `FitResult.verdict_in`)."""
    key = f"picture_{language}_{complete}_{movable}"
    return result.keep(key, lambda: _picture(result, language, complete, movable))


def names_of(fairness: str, language: str) -> list[str]:
    """Names of the figures in `Words.figures`."""
    return [declared(language, FIGURES[name].short_title) for name in shown_figures(fairness)[:2]]


def group_order(rows: dict[int, dict[str, Any]]) -> list[int]:
    """Two groups in their order, more by f's rate of positive decisions, which stays the same while a slider moves."""
    return sorted(rows, key=lambda code: -rows[code]["before"]) if len(rows) > 2 else list(rows)


def _picture(result: FitResult, language: str, complete: bool, movable: bool) -> dict[str, Any]:
    task, rows, counts = result.task, result.hundred, result.change_counts
    figures, order = _figures(result, complete), group_order(rows)
    by_name = {figure["name"]: figure for figure in figures}
    shown = [by_name[name] for name in shown_figures(result.settings.fairness)]
    return {
        "schema": SCHEMA,
        "status": "ready",
        "complete": complete,
        "settings": to_link(result.settings),
        "figures": figures,
        "groups": [_group(code, task.groups[code], rows[code]) for code in order],
        "point": {axis: figure["g"] for axis, figure in zip(AXES, shown, strict=True)},
        "changes": {"count": counts.count, "of": len(result.decisions), "right": counts.right},
        "text": {
            "setting": declared(language, in_words(result.settings)),
            "figures": [_value(language, figure, "g") for figure in shown[:2]],
            "before": [phrase(language, "picture.was", value=_value(language, figure, "f")) for figure in shown[:2]],
            "groups": [dots_label(language, task.spec, code, rows[code]) for code in order],
            "verdict": result.verdict_in(language, movable=movable, complete=complete),
        },
    }


def _group(code: int, name: str, row: dict[str, Any]) -> dict[str, Any]:
    rates = ("before", "now", "raised", "lowered")
    of_100 = {rate: row[f"of_100_{rate}"] for rate in rates}
    return {"code": code, "name": name, "count": row["count"], **{rate: row[rate] for rate in rates}, "of_100": of_100}


def shown_figures(fairness: str) -> tuple[str, str, str]:
    """The figures of the axes; the first two are shown above the dots."""
    return CRITERIA[fairness].figure_name, "accuracy", "change_rate"


def _figures(result: FitResult, complete: bool) -> list[dict[str, Any]]:
    names = [figure.name for figure in CRITERIA[result.settings.fairness].key_figures]
    if complete:
        rows = result.figures.to_dict("index")
        values = {name: rows[name] for name in names if name in rows}
    else:
        f, g = (result.path.iloc[place].to_dict() for place in (0, -1))
        values = {
            name: {"f": f[name], "g": g[name], "difference": g[name] - f[name]} | dict.fromkeys(_INTERVALS)
            for name in names
            if name in g
        }
    return [{"name": name} | {field: _number(row[field]) for field in _FIELDS} for name, row in values.items()]


def _number(value: float | None) -> float | None:
    """JSON has no NaN."""
    return None if value is None or value != value else float(value)


def _value(language: str, figure: dict[str, Any], model: str) -> str:
    value = figure[model]
    return "–" if value is None else written(language, FIGURES[figure["name"]].show(value))
