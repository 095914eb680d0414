"""The concepts behind r."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.jobs.results import FitResult


def draw_concepts(result: FitResult) -> None:
    """The concepts behind r."""
    st.header("Why: the concepts behind the change")
    st.caption(
        f"r(x) = {result.g.intercept_:.2f} plus, for each concept, its weight times how much a person shows of it. "
        "g multiplies the logit of f's score (0 at one half) by r; below 0 the decision changes. A concept “takes "
        "back” a decision by lowering r. k only decides how finely the same model is read."
    )
    st.html(result.cards)
