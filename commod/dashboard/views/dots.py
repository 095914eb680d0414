"""A hundred people of each group as dots, with figures and verdict: the first picture, which follows the hand."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from commod.charts.pareto import CURRENT, DEPLOYED, PATH, SWEEP, TRIED
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.picture import AXES, FEW_GROUPS, group_order, names_of, picture_of, shown_figures
from commod.dashboard.server.startup import model_address
from commod.dashboard.state import session
from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import CONTROLS, GRIDS, SLIDERS, Settings
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import FIRST
from commod.dashboard.text.stories import called, story
from commod.dashboard.views.chart import Table, show
from commod.dashboard.views.methods import on_explore
from commod.dashboard.views.words import say, say_declared
from commod.experiments import Sweep
from commod.metrics.figures import CRITERIA

_BROWSER = Path(__file__).parent / "browser"
_picture = st.components.v2.component(
    "commod_picture",
    html=(_BROWSER / "picture.html").read_text(),
    css=(_BROWSER / "picture.css").read_text(),
    js=(_BROWSER / "picture.js").read_text(),
)
_MARKS = {"line": PATH, "frontier": SWEEP, "tried": TRIED, "current": CURRENT, "deployed": DEPLOYED}
_AXES = {"fairness": ("fairness", "accuracy"), "changes": ("accuracy", "change_rate")}


def draw_story(result: FitResult) -> None:
    """Who decides what about whom, and which model is which."""
    spec = result.task.spec
    title = "" if spec.story else f"**{escape_markdown(spec.title)}.** "
    st.markdown(f"{title}{escape_markdown(story(session.language(), spec))} {say('explore.models')}")


def draw_dots(
    result: FitResult, line: list[FitResult], sweep: Sweep | None, *, brief: bool = False
) -> Callable[[], None]:
    """Draw the first picture, with the trained models of its `line`; returns what draws its caption and table.

    In `brief`, the verdict keeps back what speaks against the changes: a lesson asks for that.
    """
    language, spec, settings = session.language(), result.task.spec, result.settings
    access = session.access()
    movable = access.allows("lambda_fair")
    here, names = picture_of(result, language, complete=True, movable=movable), names_of(settings.fairness, language)
    yes, no = say_declared(spec.outcomes[1]), say_declared(spec.outcomes[0])
    states = (("stays", yes), ("now", yes), ("now", no), ("stays", no))
    query = to_link(settings) | ({} if language == FIRST else {"lang": language})
    query |= {} if movable else {"movable": "0"}
    _picture(
        key="picture",
        data={
            "here": here,
            "route": model_address(),
            "query": query,
            "sliders": {name: session.widget_key(name) for name in SLIDERS if access.allows(name)},
            "symbols": {name: CONTROLS[name].name for name in SLIDERS},
            "points": _points(result, line, sweep),
            "axes": _AXES[session.current().view],
            "deployed": _point(result, 0),
            "names": names,
            "meaning": say(f"picture.{CRITERIA[settings.fairness].figure_name}"),
            "groups": len(here["groups"]),
            "many": len(here["groups"]) > FEW_GROUPS,
            "layout": "|".join([*names, str(len(here["groups"])), yes]),  # when it differs all is built anew
            "states": [say(f"dots.{state}", outcome=outcome) for state, outcome in states],
            "alt": say("dots.alt"),
            "legend": say("dots.legend", yes=yes),
            "training": say("picture.training"),
            "before": say("picture.before"),
            "good": spec.favourable == 1,
            "fixed": not movable,
            "brief": brief,
            "drawn": {"line": len(line), "frontier": len(sweep.models) if sweep else 0, "current": 1, "deployed": 1},
            "marks": {kind: say_declared(mark) for kind, mark in _MARKS.items()},
        },
        on_go_change=lambda: _go(st.session_state.get("picture", {}).get("go"), sweep),
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
        text = say("dots.caption", people=say_declared(spec.people), yes=escape_markdown(yes))
        st.caption(text if not CRITERIA[settings.fairness].by_label else f"{text} {say('dots.errors')}")
        show(Table(say("dots.table"), "dots_table", columns), _table(result, language))

    return draw_table


def _points(result: FitResult, line: list[FitResult], sweep: Sweep | None) -> list[dict[str, Any]]:
    """Models of the chart that can be pointed at: which mark each is, where it lies, and how its link differs."""
    points = []
    for mark, model in enumerate(line):
        place = GRIDS["lambda_fair"].index(model.settings.lambda_fair)
        query = _difference(to_link(result.settings), model.settings)
        points.append({"kind": "line", "mark": mark, "place": place, "at": _point(model, -1), "query": query})
    return points if sweep is None else [*points, *result.keep("frontier", lambda: _frontier(result, sweep))]


def _frontier(result: FitResult, sweep: Sweep) -> list[dict[str, Any]]:
    """The same of the best models of the sweep."""
    here, points = to_link(result.settings), []
    figures = shown_figures(result.settings.fairness)
    for place, row in enumerate(sweep.points.to_dict("records")):
        if row["best"]:
            there = on_explore(result.settings, sweep.models[place].cell)
            at = {axis: row[name] for axis, name in zip(AXES, figures, strict=True)}
            query = _difference(here, there)
            points.append({"kind": "frontier", "mark": place, "place": place, "at": at, "query": query})
    return points


def _point(result: FitResult, place: int) -> dict[str, float]:
    """Where f (the first of the path) or g (the last) lies on the trade-off."""
    return {axis: float(result.path[axis].to_numpy()[place]) for axis in AXES}


def _difference(here: dict[str, str], there: Settings) -> dict[str, str]:
    """Parameters by which a link differs; those that it lacks are empty."""
    link = to_link(there)
    return {name: link.get(name, "") for name in {*here, *link} if link.get(name, "") != here.get(name, "")}


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
    spec = result.task.spec
    found = pd.DataFrame.from_dict(result.hundred, orient="index").loc[group_order(result.hundred)]
    better, worse = ("raised", "lowered") if spec.favourable == 1 else ("lowered", "raised")
    names = [called(language, spec, code) for code in found.index]
    return found.assign(called=names, better=found[better], worse=found[worse])
