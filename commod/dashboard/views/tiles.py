"""The figures of a model as tiles: value, difference to f, interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.text.glossary import tip
from commod.experiments.scene import FAIRNESS_FIGURES


def draw_figures(result: FitResult) -> None:
    """Accuracy, fairness, changes: value, difference to f, interval."""
    for cell, tile in zip(st.columns(4, gap="small"), result.keep("tiles", lambda: _tiles(result)), strict=True):
        cell.metric(**tile)
    st.caption(
        "On test. Below each figure: the difference to f (in grey where it may be chance, or is neither good nor bad), "
        "and in [ ] the figure's 95 % interval."
    )


def _tiles(result: FitResult) -> list[dict[str, Any]]:
    """What `metric` shows of a model."""
    figures = result.figures.to_dict("index")
    name = FAIRNESS_FIGURES[result.settings.fairness]
    fair, changed = figures[name], figures["change_rate"]
    better = "normal" if name == "p_rule" else "inverse"
    low, high = f"{1000 * changed['g_low']:.0f}", f"{1000 * changed['g_high']:.0f}"
    return [
        _tile("Accuracy", figures["accuracy"], "accuracy", percent=True),
        _tile("P-Rule" if name == "p_rule" else "Disparate mistreatment", fair, name, color=better),
        _tile("Decisions changed", changed, "change_rate", percent=True, color=None),
        {
            "label": "Changed per 1,000",
            "value": f"{1000 * changed['g']:.0f}",
            "delta": f"{1000 * changed['g']:+.0f}",
            "delta_color": "off",
            "delta_arrow": "off",
            "help": _with_interval("per_1000", low, high),
            "border": True,
            "delta_description": f"[{low}, {high}]",
        },
    ]


def _tile(
    label: str, row: Mapping[Any, float], name: str, *, percent: bool = False, color: Any = "normal"
) -> dict[str, Any]:
    """One tile; `color` says which direction is good, None that neither is."""

    def show(value: float, sign: str = "") -> str:
        return f"{value:{sign}.1%}" if percent else f"{value:{sign}.3f}"

    chance = row["difference_low"] <= 0 <= row["difference_high"]
    return {
        "label": label,
        "value": show(row["g"]),
        "delta": f"{100 * row['difference']:+.1f} points" if percent else show(row["difference"], "+"),
        "delta_color": "off" if chance or color is None else color,
        "delta_arrow": "off" if chance or color is None else "auto",
        "help": _with_interval(name, show(row["g_low"]), show(row["g_high"])),
        "border": True,
        "delta_description": f"[{show(row['g_low'])}, {show(row['g_high'])}]".replace("%", ""),
    }


def _with_interval(name: str, low: str, high: str) -> str:
    return f"{tip(name)} {tip('interval_of', low=low, high=high)}"
