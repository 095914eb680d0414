"""Take home: the current model as a report, as predictions, as a file that runs anywhere, and as code."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.pages.take_home import files as take_home
from commod.dashboard.state import session
from commod.dashboard.views import frame as layout
from commod.dashboard.views.model import current_model


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/take_home.py")
    st.title("Take this model home")
    st.markdown("The model of the sliders, as files: to be read, counted, run elsewhere, and made again.")
    result = current_model()
    session.keep_link()
    take_home.files(result, session.current().depth)
    take_home.how_to(result)
