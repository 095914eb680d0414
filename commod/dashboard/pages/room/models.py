"""Models as a room is asked about them: in people's words."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.rooms import Question
from commod.dashboard.state import session
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import Settings, data_in_words, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.peoples_words import bullets, in_peoples_words
from commod.dashboard.views.words import say


def trained(settings: Settings) -> FitResult:
    """The model of a setting, waited for."""
    result: FitResult = result_of(tasks.fit(settings), st.empty(), "Training")
    return result


def draw_model(result: FitResult) -> None:
    """A model in people's words, and its setting."""
    told = result.keep(
        f"peoples_words_{session.language()}", lambda: bullets(in_peoples_words(result.scene, result.decisions))
    )
    st.markdown(told)
    st.caption(f"{escape_markdown(data_in_words(result.settings))}: {in_words(result.settings)}")


def draw_pair(question: Question) -> None:
    """The two models of a question, side by side."""
    for name, model, cell in zip("ab", (question.a, question.b), st.columns(2, gap="medium"), strict=True):
        if model is None:
            continue
        with cell, st.container(border=True):
            st.subheader(say(f"room.model_{name}"))
            draw_model(trained(model_of_link(model.link)))
