"""Tiles: the figures of a model, with difference to f and interval, and the sizes of the groups."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import picture, tip
from commod.dashboard.text.html import html_table
from commod.dashboard.text.language import declared, phrase, written
from commod.datasets import Task
from commod.explain.groups import beyond_in_words
from commod.metrics.figures import CRITERIA, FIGURES, Figure


def draw_figures(result: FitResult, splits: str = "") -> None:
    """The key figures, those of other criteria aside: value, difference to f, interval, and on other `splits`."""
    language = session.language()
    tiles = result.keep(f"tiles_{language}", lambda: _tiles(result, language))
    for cell, tile in zip(st.columns(len(tiles), gap="small"), tiles, strict=True):
        cell.metric(**tile)
    text = f" ({escape_markdown(splits)})" if splits else ""
    st.caption(result.keep(f"below_tiles_{language}{text}", lambda: _below(result, language, text)))


def _below(result: FitResult, language: str, splits: str) -> str:
    auc = FIGURES["auc"]
    f, g = (written(language, auc.show(result.figures.loc[auc.name, model])) for model in ("f", "g"))
    text = phrase(language, "tiles.below", auc=declared(language, auc.title), f=f, g=g, splits=splits)
    if result.scene.basis:
        text += f" {escape_markdown(declared(language, result.scene.basis))}"
    if result.scene.left_out:
        text += f"\n\n{escape_markdown(declared(language, result.scene.left_out))}"
    if result.groups is not None and (beyond := beyond_in_words(result.groups)):
        text += f"\n\n:orange[{escape_markdown(declared(language, beyond))}]"
    if FIGURES["p_rule"] not in CRITERIA[result.settings.fairness].key_figures:
        return text
    return f"{text}\n\n{_other_p_rule(result, language)}"


def _other_p_rule(result: FitResult, language: str) -> str:
    """P-Rule of the decision that the tile does not count, and which of the two the four-fifths rule is about."""
    spec, other = result.task.spec, FIGURES["p_rule_of_negative"]
    g, f = (written(language, other.show(result.figures.loc[other.name, model])) for model in ("g", "f"))
    no, yes = (escape_markdown(declared(language, outcome)) for outcome in spec.outcomes)
    counted = "tiles.counts_better" if spec.favourable == 1 else "tiles.counts_worse"
    return phrase(language, counted, yes=yes, no=no, f=f, g=g)


def _tiles(result: FitResult, language: str) -> list[dict[str, Any]]:
    rows = result.figures.to_dict("index")
    figures = CRITERIA[result.settings.fairness].key_figures
    return [tile_of(figure, rows[figure.name], language) for figure in figures if figure.name in rows]


def tile_of(figure: Figure, row: Mapping[Any, float], language: str) -> dict[str, Any]:
    """What `metric` shows of a figure: a value, a difference, and the intervals of both."""
    chance = row["difference_low"] <= 0 <= row["difference_high"]
    color = "off" if chance else {1: "normal", -1: "inverse", 0: "off"}[figure.direction]
    value, low, high = (figure.show(row[column]) for column in ("g", "g_low", "g_high"))
    interval = tip("interval_of", language, low=written(language, low), high=written(language, high))
    return {
        "label": declared(language, figure.title),
        "value": written(language, value),
        # By the hyphen Streamlit tells which way the arrow points.
        "delta": written(language, figure.show_difference(row["difference"]).replace("−", "-")),
        "delta_color": color,
        "delta_arrow": "off" if color == "off" else "auto",
        "help": f"{picture(figure.name)}{tip(figure.name, language)} {interval}",
        "border": True,
        "delta_description": declared(language, f"[{low}, {high}]").replace("%", ""),
    }


# More tiles than this stand in rows that nobody can compare.
MAX_TILES = 4


def draw_group_sizes(task: Task) -> None:
    """The groups of a data set; below each its rate of positive labels."""
    if len(task.groups) > MAX_TILES:
        _draw_table(task)
        return
    cells = st.container(horizontal=True, gap="small")
    for code, group in enumerate(task.groups):
        y = task.y[task.sensitive == code]
        label, outcome = escape_markdown(group), escape_markdown(task.spec.outcomes[1])
        said = f"{y.mean():.1%}: “{outcome}”"  # neither good nor bad
        cells.metric(label, f"{len(y):,}", said, delta_color="off", delta_arrow="off", border=True)


def _draw_table(task: Task) -> None:
    """Many groups, the largest first."""
    labels = task.y.groupby(task.sensitive).agg(["size", "mean"]).sort_values("size", ascending=False, kind="stable")
    rows = [
        [task.groups[int(code)], f"{row['size']:,.0f}", f"{row['mean']:.1%}"]
        for code, row in labels[labels.index >= 0].iterrows()
    ]
    headings = ["Group", task.spec.people.capitalize(), task.spec.outcomes[1]]
    st.html(html_table(headings, rows, caption="Sizes of the groups"))
