"""The sidebars, what was wrong with its link, and how to take a setting away."""

from __future__ import annotations

from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.settings import FAIRNESS, GRIDS, base_models_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.datasets import damaged_files, load_task

SLIDERS = {
    "lambda_fair": "Fairness (λ_fair)",
    "lambda_ratio": "Stay near f (λ_ratio)",
    "lambda_concepts": "Sparse concepts (λ_concepts)",
    "k": "Number of concepts (k)",
    "depth": "Depth of the tree",
}


def sidebar() -> None:
    """The sidebar. Its widgets change the session's setting in their callbacks, before the page is drawn."""
    with st.sidebar:
        _scene_choices()
        undo, redo, reset = st.columns(3, gap="small")
        undo.button("Undo", on_click=session.undo, disabled=not session.can_undo(), width="stretch")
        redo.button("Redo", on_click=session.redo, disabled=not session.can_redo(), width="stretch")
        reset.button("Reset", on_click=session.reset, width="stretch", help=tip("reset"))
        for name in ("lambda_fair", "lambda_ratio", "lambda_concepts", "k"):
            slider(name)
        _seed()
        _say_what_is_frozen()


def scene_sidebar() -> None:
    """What decides the scene, and nothing of COMMOD's own: for pages on which all methods are equal."""
    with st.sidebar:
        _scene_choices()
        _seed()
        _say_what_is_frozen()


def _say_what_is_frozen() -> None:
    if session.access().live is not None:
        st.caption("The link you came with has set the other controls; they stay as they are.")


def _hidden(name: str) -> bool:
    access = session.access()
    return access.hidden and not access.allows(name)


def _about(name: str, help: str | None) -> dict[str, Any]:
    """What all controls have in common: their place in the session, and whether they can be moved."""
    frozen = not session.access().allows(name)
    return {
        "key": session.widget_key(name),
        "on_change": session.change,
        "args": (name,),
        "disabled": frozen,
        "help": tip("frozen") if frozen else help,
    }


def _scene_choices() -> None:
    _choice("data", "Data set", {name: load_task(name).spec.title for name in session.data_sets()})
    for sentence in damaged_files().values():
        st.caption(f":material/warning: {escape_markdown(sentence)}")
    _choice("fairness", "Fairness criterion", FAIRNESS)
    _choice("f", "Base model f", base_models_of(session.current().data))


def _seed() -> None:
    if _hidden("seed"):
        return
    low, *_, high = GRIDS["seed"]
    st.number_input("Seed of the split", low, high, step=1, **_about("seed", tip("seed")))


def _choice(name: str, label: str, options: dict[str, str]) -> None:
    if not _hidden(name):
        st.selectbox(label, list(options), format_func=options.__getitem__, **_about(name, None))


def slider(name: str) -> None:
    """The slider of a setting, unless a teacher's link hides it."""
    if not _hidden(name):
        st.select_slider(SLIDERS[name], GRIDS[name], format_func=lambda value: f"{value:g}", **_about(name, tip(name)))


def notices() -> None:
    """What was wrong with the link."""
    for notice in session.link_notices():
        st.warning(escape_markdown(notice), icon=":material/link_off:")
