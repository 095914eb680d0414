"""The sidebars, and what was wrong with the link."""

from __future__ import annotations

from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS, controls_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.datasets import damaged_files


def sidebar() -> None:
    """The sidebar. Its widgets change the session's setting in their callbacks, before the page is drawn."""
    with st.sidebar:
        _scene("choice")
        undo, redo, reset = st.columns(3, gap="small")
        undo.button("Undo", on_click=session.undo, disabled=not session.can_undo(), width="stretch")
        redo.button("Redo", on_click=session.redo, disabled=not session.can_redo(), width="stretch")
        reset.button("Reset", on_click=session.reset, width="stretch", help=tip("reset"))
        for name in controls_of("model"):
            control(name)
        _scene("slider", "number")
        _say_what_is_frozen()


def scene_sidebar() -> None:
    """What decides the scene, and nothing of COMMOD's own: for pages on which all methods are equal."""
    with st.sidebar:
        _scene("choice", "slider", "number")
        _say_what_is_frozen()


def _say_what_is_frozen() -> None:
    if session.access().live is not None:
        st.caption("The link you came with has set the other controls; they stay as they are.")


def _scene(*widgets: str) -> None:
    """What decides the scene, as far as it is chosen by one of these widgets."""
    for name, declared in controls_of("scene").items():
        if declared.widget in widgets:
            control(name)
        if name == "data" and "choice" in widgets:
            for sentence in damaged_files().values():
                st.caption(f":material/warning: {escape_markdown(sentence)}")


def control(name: str) -> None:
    """The widget of a setting, unless a teacher's link hides it."""
    declared, access = CONTROLS[name], session.access()
    frozen = not access.allows(name)
    if frozen and access.hidden:
        return
    explained = tip(declared.word) if declared.word else None
    about: dict[str, Any] = {
        "key": session.widget_key(name),
        "on_change": session.change,
        "args": (name,),
        "disabled": frozen,
        "help": tip("frozen") if frozen else explained,
    }
    titles = session.options(name)
    if declared.widget == "number":
        st.number_input(declared.label, declared.grid[0], declared.grid[-1], step=1, **about)
    elif declared.widget == "slider":
        st.select_slider(declared.label, list(titles), format_func=titles.__getitem__, **about)
    else:
        st.selectbox(declared.label, list(titles), format_func=titles.__getitem__, **about)


def notices() -> None:
    """What was wrong with the link."""
    for notice in session.link_notices():
        st.warning(escape_markdown(notice), icon=":material/link_off:")
