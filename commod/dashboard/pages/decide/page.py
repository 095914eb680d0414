"""Decide: what is required of a model, whether it holds, and who signs it."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.pages.decide.required import draw_requirements
from commod.dashboard.state import session
from commod.dashboard.views import frame
from commod.dashboard.views.model import current_model


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/decide.py")
    st.title("Decide")
    st.markdown("Say what a model has to do before you would use it.")
    current_model()
    st.header("What do you require?", anchor="required")
    draw_requirements()
    session.keep_link()
