"""The sidebars, what was wrong with its link, and how to take a setting away."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from commod.dashboard import session
from commod.dashboard.glossary import tip
from commod.dashboard.settings import FAIRNESS, GRIDS, Settings, base_models_of, to_link, to_python
from commod.datasets import load_task

__all__ = ["notices", "scene_sidebar", "share", "sidebar"]


def sidebar() -> None:
    """The sidebar. Its widgets change the session's setting in their callbacks, before the page is drawn."""
    with st.sidebar:
        _scene_choices()
        undo, redo, reset = st.columns(3, gap="small")
        undo.button("Undo", on_click=session.undo, disabled=not session.can_undo(), width="stretch")
        redo.button("Redo", on_click=session.redo, disabled=not session.can_redo(), width="stretch")
        reset.button("Reset", on_click=session.reset, width="stretch", help=tip("reset"))
        _slider("lambda_fair", "Fairness (λ_fair)")
        _slider("lambda_ratio", "Stay near f (λ_ratio)")
        _slider("lambda_concepts", "Sparse concepts (λ_concepts)")
        _slider("k", "Number of concepts (k)")
        _seed()


def scene_sidebar() -> None:
    """What decides the scene, and nothing of COMMOD's own: for pages on which all methods are equal."""
    with st.sidebar:
        _scene_choices()
        _seed()


def _scene_choices() -> None:
    _choice("data", "Data set", {name: load_task(name).spec.title for name in session.data_sets()})
    _choice("fairness", "Fairness criterion", FAIRNESS)
    _choice("f", "Base model f", base_models_of(session.current().data))


def _seed() -> None:
    st.number_input(
        "Seed of the split",
        min_value=GRIDS["seed"][0],
        max_value=GRIDS["seed"][-1],
        step=1,
        key=session.widget_key("seed"),
        on_change=session.change,
        args=("seed",),
        help=tip("seed"),
    )


def _choice(name: str, label: str, options: dict[str, str]) -> None:
    st.selectbox(
        label,
        list(options),
        format_func=options.__getitem__,
        key=session.widget_key(name),
        on_change=session.change,
        args=(name,),
    )


def _slider(name: str, label: str) -> None:
    st.select_slider(
        label,
        GRIDS[name],
        format_func=lambda value: f"{value:g}",
        key=session.widget_key(name),
        on_change=session.change,
        args=(name,),
        help=tip(name),
    )


def notices() -> None:
    """What was wrong with the link."""
    for notice in session.link_notices():
        st.warning(notice, icon=":material/link_off:")


def share(settings: Settings) -> None:
    """Link and code of the current model."""
    with st.container(horizontal=True, gap="small"):
        with st.popover("Share this setting", icon=":material/share:"):
            query = urlencode(to_link(session.current()))
            st.caption("The address of this page holds the complete setting: whoever opens it sees the same picture.")
            st.code(f"{(st.context.url or '').split('?')[0]}?{query}", language=None, wrap_lines=True)
        with st.popover("Copy as Python", icon=":material/code:"):
            st.caption("The same model with the library:")
            st.code(to_python(settings), language="python")
