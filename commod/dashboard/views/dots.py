"""The people of a model: who is decided about, and a hundred of each group as dots that follow the hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.pareto import PATH, SWEEP, TRIED
from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import GRIDS
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.stories import called
from commod.dashboard.views.glance import FEW, frontier_of, glance, line_of, names_of, ordered
from commod.dashboard.views.methods import on_explore
from commod.dashboard.views.table import Table, fold
from commod.dashboard.views.words import say, say_declared
from commod.experiments import Sweep
from commod.metrics.figures import CRITERIA

_BROWSER = Path(__file__).parent / "browser"
_HTML = '<div class="hand"><dl class="figures"></dl><div class="groups"></div><div class="ghost" hidden></div></div>'
_hand = st.components.v2.component(
    "commod_hand",
    html=_HTML,
    css=(_BROWSER / "hand.css").read_text(),
    js=(_BROWSER / "hand.js").read_text(),
)


def draw_story(result: FitResult) -> None:
    """The data set by name, who decides what about whom in it, and which model is which."""
    title = escape_markdown(say_declared(result.task.spec.title))
    st.markdown(f"**{title}.** {escape_markdown(result.story(session.language()))} {say('explore.models')}")


def draw_dots(result: FitResult, known: list[FitResult], sweep: Sweep | None) -> Callable[[], None]:
    """A hundred people of each group, by what g decides about them; returns what draws caption and table below.

    `known` is of `known_line`.
    """
    language, spec, settings = session.language(), result.task.spec, result.settings
    here, names = glance(result, language), names_of(settings.fairness, language)
    yes, no = say_declared(spec.outcomes[1]), say_declared(spec.outcomes[0])
    said = (("stays", yes), ("now", yes), ("now", no), ("stays", no))
    line = line_of(known, language)
    _hand(
        key="hand",
        data={
            "here": here,
            "line": line,
            "frontier": [] if sweep is None else frontier_of(result, sweep, language),
            "names": names,
            "groups": len(here["groups"]),
            "many": len(here["groups"]) > FEW,
            "layout": "|".join([*names, str(len(here["groups"])), yes]),  # when it differs all is built anew
            "states": [say(f"dots.{state}", outcome=outcome) for state, outcome in said],
            "alt": say("dots.alt"),
            "good": spec.favourable == 1,
            "slider": session.widget_key("lambda_fair"),
            "fixed": not session.access().allows("lambda_fair"),
            "drawn": {"line": len(line), "frontier": 0 if sweep is None else len(sweep.models)},
            "marks": {"line": PATH, "frontier": SWEEP, "tried": TRIED},
        },
        on_go_change=lambda: _go(st.session_state.get("hand", {}).get("go"), sweep),
    )
    columns = {
        "called": (say("dots.group_column"), ""),
        "count": (say("dots.count_column"), ","),
        "before": (say("dots.before_column", yes=yes), ".1%"),
        "now": (say("dots.now_column", yes=yes), ".1%"),
        "better": (say("dots.better_column"), ".1%"),
        "worse": (say("dots.worse_column"), ".1%"),
    }

    def draw_table() -> None:
        told = say("dots.caption", people=say_declared(spec.people), yes=escape_markdown(yes))
        st.caption(told if not CRITERIA[settings.fairness].by_label else f"{told} {say('dots.errors')}")
        fold(Table(say("dots.table"), "dots_table", columns), lambda: _table(result, language))

    return draw_table


def _go(message: Any, sweep: Sweep | None) -> None:
    """Callback: a point of the curve or of the frontier was clicked."""
    kind, _, place = str(message).partition(" ")
    here, cells = session.current(), [] if sweep is None else [model.cell for model in sweep.models]
    number = int(place) if place.isdecimal() else -1
    if kind == "line" and 0 <= number < len(GRIDS["lambda_fair"]):
        session.go_to(replace(here, lambda_fair=GRIDS["lambda_fair"][number]))
    elif kind == "frontier" and 0 <= number < len(cells):
        session.go_to(on_explore(here, cells[number]).looked_at_as(here))


def _table(result: FitResult, language: str) -> pd.DataFrame:
    found, spec = result.hundred, result.task.spec
    found = found.loc[ordered(found.to_dict("index"))]
    better, worse = ("raised", "lowered") if spec.favourable == 1 else ("lowered", "raised")
    names = [called(language, spec, code) for code in found.index]
    return found.assign(called=names, better=found[better], worse=found[worse])
