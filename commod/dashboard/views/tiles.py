"""The figures of a model as tiles: value, difference to f, interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.explain.groups import beyond_in_words
from commod.metrics.figures import CRITERIA, FIGURES, Figure


def draw_figures(result: FitResult) -> None:
    """The key figures, those of other criteria aside: value, difference to f, interval."""
    tiles = result.keep("tiles", lambda: _tiles(result))
    for cell, tile in zip(st.columns(len(tiles), gap="small"), tiles, strict=True):
        cell.metric(**tile)
    st.caption(result.keep("below_tiles", lambda: _below(result)))


def _below(result: FitResult) -> str:
    auc = FIGURES["auc"]
    f, g = (auc.show(result.figures.loc[auc.name, model]) for model in ("f", "g"))
    text = (
        "On test. Below each figure: the difference to f (in grey where it may be chance, or is neither good nor bad), "
        f"and in [ ] the figure's 95 % interval. Beside the accuracy, the {auc.title}: {g} (f: {f})."
    )
    if result.scene.basis:
        text += f" {escape_markdown(result.scene.basis)}"
    if result.scene.left_out:
        text += f"\n\n{escape_markdown(result.scene.left_out)}"
    if result.groups is not None and (beyond := beyond_in_words(result.groups)):
        text += f"\n\n:orange[{escape_markdown(beyond)}]"
    if FIGURES["p_rule"] not in CRITERIA[result.settings.fairness].key_figures:
        return text
    return f"{text}\n\n{other_p_rule(result)}"


def other_p_rule(result: FitResult) -> str:
    """P-Rule of the decision that the tile does not count, and which of the two the four-fifths rule is about."""
    spec, other = result.task.spec, FIGURES["p_rule_of_negative"]
    g, f = (other.show(result.figures.loc[other.name, model]) for model in ("g", "f"))
    negative, positive = (f"“{escape_markdown(outcome)}”" for outcome in spec.outcomes)
    if spec.favourable == 1:
        counted = f"P-Rule counts {positive}, the better decision, as the four-fifths rule does"
        return f"{counted}; of {negative} it is {g} (f: {f})."
    return (
        f"P-Rule counts {positive}, the worse decision; of {negative}, the better one, which the four-fifths rule is "
        f"about, it is {g} (f: {f})."
    )


def _tiles(result: FitResult) -> list[dict[str, Any]]:
    """What `metric` shows of a model."""
    rows = result.figures.to_dict("index")
    tiles = []
    for figure in CRITERIA[result.settings.fairness].key_figures:
        if figure.name in rows:
            tiles.append(_tile(figure, rows[figure.name]))
        if figure.name == "change_rate":
            tiles.append(_per_1000(rows[figure.name]))
    return tiles


def _tile(figure: Figure, row: Mapping[Any, float]) -> dict[str, Any]:
    chance = row["difference_low"] <= 0 <= row["difference_high"]
    color = "off" if chance else {1: "normal", -1: "inverse", 0: "off"}[figure.direction]
    value, low, high = (figure.show(row[column]) for column in ("g", "g_low", "g_high"))
    return _metric(figure.title, figure.meaning, value, figure.show_difference(row["difference"]), low, high, color)


def _per_1000(row: Mapping[Any, float]) -> dict[str, Any]:
    """The share of changes once more, as people."""
    value, low, high = (f"{1000 * row[column]:.0f}" for column in ("g", "g_low", "g_high"))
    return _metric("Changed per 1,000", tip("per_1000"), value, f"{1000 * row['g']:+.0f}", low, high, "off")


def _metric(title: str, meaning: str, value: str, difference: str, low: str, high: str, color: str) -> dict[str, Any]:
    return {
        "label": title,
        "value": value,
        "delta": difference.replace("−", "-"),  # by the hyphen Streamlit tells which way the arrow points
        "delta_color": color,
        "delta_arrow": "off" if color == "off" else "auto",
        "help": f"{meaning} {tip('interval_of', low=low, high=high)}",
        "border": True,
        "delta_description": f"[{low}, {high}]".replace("%", ""),
    }
