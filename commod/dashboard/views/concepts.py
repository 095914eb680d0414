"""The concepts behind r."""

from __future__ import annotations

import streamlit as st
from markupsafe import Markup

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import concept_cards


def draw_concepts(result: FitResult) -> None:
    """The concepts behind r, and behind the shift if there is one."""
    st.header("Why: the concepts behind the change")
    g = result.g
    shift, does = "", "by r; below 0 the decision changes"
    if g.has_shift:
        shift = (
            f"The shift s(x) = {g.shift_intercept_:.2f} plus the same for the cards “shift”, which have the same "
            "features to choose from. "
        )
        does = "by r and adds s; where the sum has another sign than f's logit, the decision changes"
    text = (
        f"{result.acts_only} r(x) = {g.intercept_:.2f} plus, for each concept, its weight times how much a person "
        f"shows of it. {shift}g multiplies the logit of f's score (0 at {result.line_in_words}) {does}. A concept "
        "“takes back” a decision by lowering r. k only decides how finely the same model is read."
    )
    st.caption(escape_markdown(text.strip().replace("= -", "= −")))
    st.html(cards_of(result))


def cards_of(result: FitResult) -> Markup:
    """A card for each concept."""
    made: Markup = result.keep(
        "cards", lambda: concept_cards(result.loadings, result.concepts, result.task.spec.people)
    )
    return made
