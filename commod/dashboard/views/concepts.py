"""The concepts behind the change."""

import streamlit as st
from markupsafe import Markup

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import concept_cards
from commod.dashboard.views.words import say_declared, say_in_html
from commod.explain.forms import form_in_words, guess_in_words


def draw_concepts(result: FitResult) -> None:
    """How g decides, its concepts, and how well they guess the group."""
    st.header(say_declared("Why: the concepts behind the change"))
    form = form_in_words(result.g, result.task.spec.outcomes, result.line_in_words)
    text = f"{result.acts_only} {form} k only decides how finely the same model is read."
    st.caption(escape_markdown(say_declared(text.strip())))
    st.html(say_in_html(cards_of(result)))
    if told := guess_in_words(result.concepts):
        st.caption(escape_markdown(say_declared(told)))


def cards_of(result: FitResult) -> Markup:
    """A card for each concept."""
    made: Markup = result.keep(
        "cards", lambda: concept_cards(result.loadings, result.concepts, result.task.spec.people)
    )
    return made
