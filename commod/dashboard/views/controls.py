"""The sidebars, and what was wrong with the link."""

from collections.abc import Collection, Iterable
from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS, controls_of, defaults
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared as in_language
from commod.dashboard.views.words import say, say_declared, tip
from commod.datasets import damaged_files

# What most visitors leave as it is.
_ADVANCED = ("update", "direction", "without", "reason", "max_changes", "f", "threshold", "seed")
# Explained in the fold: the first screen asks for one thing only.
_EXPLAINED_THERE = ("groups", "lambda_ratio", "lambda_concepts", "k")
# What is switched on where it matters, on Decide.
_ON_DECIDE = ("sealed",)


def sidebar(*, elsewhere: Collection[str] = ()) -> None:
    """The sidebar, but for controls that the page draws `elsewhere`, or does without."""
    with st.sidebar:
        _draw(name for name in controls_of("scene") if name not in elsewhere)
        _draw(name for name in controls_of("model") if name not in elsewhere)
        _steps()
        _end(name for name in _ADVANCED if name not in elsewhere)


def scene_sidebar() -> None:
    """What decides the scene, and nothing of COMMOD's own: for pages on which all methods are equal."""
    with st.sidebar:
        _draw(controls_of("scene"))
        _end(name for name in _ADVANCED if name in controls_of("scene"))


def _draw(names: Iterable[str]) -> None:
    for name in names:
        if name not in (*_ADVANCED, *_ON_DECIDE):
            draw_control(name)
        if name == "data":
            for sentence in damaged_files().values():
                st.caption(f":material/warning: {escape_markdown(sentence)}")


def _steps() -> None:
    state, here = session.state(), session.current()
    ways = {
        "undo": (session.undo, bool(state.past)),
        "redo": (session.redo, bool(state.future)),
        "reset": (session.reset, here != defaults(here.data, here.groups).looked_at_as(here)),
    }
    with st.container(horizontal=True, gap="small"):
        for name, (go, open_) in ways.items():
            if open_ and not state.frozen:
                st.button(say(f"controls.{name}"), on_click=go, help=tip("reset") if name == "reset" else None)


def _end(advanced: Iterable[str]) -> None:
    """What few ask for, open where something of it is set; and whose doing it is if not everything can be moved."""
    here, access = session.current(), session.access()
    usual = defaults(here.data, here.groups)
    shown = [name for name in advanced if access.allows(name) or not access.hidden]
    if shown:
        with st.expander(say("controls.advanced"), any(getattr(here, name) != getattr(usual, name) for name in shown)):
            for name in shown:
                if name != "reason" or here.without:
                    draw_control(name)
            others = [CONTROLS[name] for name in _EXPLAINED_THERE if "update" in shown or name == "groups"]
            st.caption(
                "\n\n".join(
                    f"**{say_declared(known.name)}**{say('standalone.colon')} {tip(known.word, update=here.update)}"
                    for known in others
                )
            )
    if access.live is not None:
        st.caption(say("room.frozen_says" if session.state().frozen else "controls.link_has_set"))


def draw_control(name: str) -> None:
    """The widget of a setting, unless a teacher's link hides it."""
    declared, access = CONTROLS[name], session.access()
    frozen = not access.allows(name)
    if frozen and access.hidden:
        if name == "data":  # whom all figures are about is never hidden
            st.markdown(say("frame.data_set", title=escape_markdown(session.options(name)[session.current().data])))
        return
    here = declared.word and name not in _EXPLAINED_THERE
    explained = tip(declared.word, update=session.current().update) if here else None
    why_frozen = say("room.frozen_says") if session.state().frozen else tip("frozen")
    about: dict[str, Any] = {
        "key": session.widget_key(name),
        "on_change": session.change,
        "args": (name,),
        "disabled": frozen,
        "help": why_frozen if frozen else explained,
    }
    label, titles = say_declared(declared.label), session.options(name)
    if declared.titles and len(titles) < 2 and name != "data":  # a choice of one is none
        return
    value = session.widget_value(name)
    if declared.text:
        st.text_input(label, value, max_chars=200, **about)
        return
    if declared.count:
        about["disabled"] = frozen or session.current().update != "decisions"
        st.text_input(label, value, max_chars=9, placeholder=say("controls.no_limit"), **about)
        return
    if declared.typed:
        whole = isinstance(declared.grid[0], int)
        shape: dict[str, Any] = {"step": 1} if whole else {"step": 0.01, "format": "%.3f"}
        st.number_input(label, declared.grid[0], declared.grid[-1], value, **shape, **about)
        return
    language = session.language()
    read = {option: in_language(language, title) for option, title in titles.items()}  # picture.js undoes the comma
    about["format_func"] = read.__getitem__
    if declared.several:
        most = len(titles) - 1  # one must be left
        st.multiselect(label, list(titles), value, max_selections=most, placeholder=say("controls.none"), **about)
    elif declared.titles:
        st.selectbox(label, list(titles), list(titles).index(value), **about)
    else:
        stops = sorted({*(declared.stops or declared.grid), value})  # an older link may be between them
        st.select_slider(label, stops, value, **about)


def notices() -> None:
    """What was wrong with the link."""
    for notice in session.state().notices:
        st.warning(escape_markdown(say_declared(notice)), icon=":material/link_off:")
