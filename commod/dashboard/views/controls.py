"""The sidebars, and what was wrong with the link."""

from collections.abc import Collection
from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS, controls_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.language import declared as in_language
from commod.dashboard.views import frame
from commod.dashboard.views.words import say, say_declared
from commod.datasets import damaged_files
from commod.models.estimator import COUNTING

# Choices that stand with the numbers of the scene, so that the sliders stay on the first screen.
_OF_F = ("f",)
# What few ask for.
_ADVANCED = ("max_changes",)


def sidebar(*, elsewhere: Collection[str] = ()) -> None:
    """The sidebar. Its widgets change the session's setting in their callbacks, before the page is drawn.

    `elsewhere` are controls that the page draws itself, or does without.
    """
    with st.sidebar:
        _scene_choices()
        state = session.state()
        with st.container(horizontal=True, gap="small"):
            st.button(say("controls.undo"), on_click=session.undo, disabled=state.frozen or not state.past)
            st.button(say("controls.redo"), on_click=session.redo, disabled=state.frozen or not state.future)
            st.button(say("controls.reset"), on_click=session.reset, disabled=state.frozen, help=tip("reset"))
        for name in controls_of("model"):
            if name not in (*elsewhere, *_ADVANCED):
                control(name)
        if session.current().without:
            control("reason")
        with st.expander(say("controls.advanced")):
            for name in _ADVANCED:
                control(name)
        _rest_of_scene(elsewhere)


def scene_sidebar() -> None:
    """What decides the scene, and nothing of COMMOD's own: for pages on which all methods are equal."""
    with st.sidebar:
        _scene_choices()
        _rest_of_scene()


def _scene_choices() -> None:
    for name, declared in controls_of("scene").items():
        if declared.titles and name not in _OF_F:
            control(name)
        if name == "data":
            for sentence in damaged_files().values():
                st.caption(f":material/warning: {escape_markdown(sentence)}")


def _rest_of_scene(elsewhere: Collection[str] = ()) -> None:
    """The rest of the scene, f above all, and whose doing it is if not everything can be moved."""
    for name, declared in controls_of("scene").items():
        if (declared.grid or name in _OF_F) and name not in elsewhere:
            control(name)
    if session.access().live is not None:
        st.caption(say("room.frozen_says" if session.state().frozen else "controls.link_has_set"))
    frame.language_choice()


def control(name: str) -> None:
    """The widget of a setting, unless a teacher's link hides it."""
    declared, access = CONTROLS[name], session.access()
    frozen = not access.allows(name)
    if frozen and access.hidden:
        if name == "data":  # whom all figures are about is never hidden
            st.markdown(say("frame.data_set", title=escape_markdown(session.options(name)[session.current().data])))
        return
    explained = tip(declared.word, update=session.current().update) if declared.word else None
    about: dict[str, Any] = {
        "key": session.widget_key(name),
        "on_change": session.change,
        "args": (name,),
        "disabled": frozen,
        "help": _why_frozen() if frozen else explained,
    }
    label, titles = say_declared(declared.label), session.options(name)
    if declared.titles and len(titles) < 2 and name != "data":  # a choice of one is none
        return
    value = session.widget_value(name)
    if declared.text:
        st.text_input(label, value, max_chars=200, **about)
        return
    if declared.count:
        about["disabled"] = frozen or session.current().update not in COUNTING
        st.text_input(label, value, max_chars=9, placeholder=say("controls.no_limit"), **about)
        return
    if declared.typed:
        whole = isinstance(declared.grid[0], int)
        shape: dict[str, Any] = {"step": 1} if whole else {"step": 0.01, "format": "%.3f"}
        st.number_input(label, declared.grid[0], declared.grid[-1], value, **shape, **about)
        return
    language = session.language()
    read = {option: in_language(language, title) for option, title in titles.items()}
    about["format_func"] = read.__getitem__
    if declared.several:
        most = len(titles) - 1  # one must be left
        st.multiselect(label, list(titles), value, max_selections=most, placeholder=say("controls.none"), **about)
    elif declared.titles:
        st.selectbox(label, list(titles), list(titles).index(value), **about)
    else:
        st.select_slider(label, list(titles), value, **about)


def _why_frozen() -> str:
    return say("room.frozen_says") if session.state().frozen else tip("frozen")


def notices() -> None:
    """What was wrong with the link."""
    for notice in session.state().notices:
        st.warning(escape_markdown(notice), icon=":material/link_off:")
