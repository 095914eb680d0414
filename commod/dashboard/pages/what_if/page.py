"""What if: one test person, every feature to be edited, and what f and g make of it."""

from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import Pending, draw_pending, submit
from commod.dashboard.pages.what_if import accounts
from commod.dashboard.pages.what_if.person import choose, edit, person_of, state_of, suggest_edits
from commod.dashboard.state import session
from commod.dashboard.text.glossary import tip
from commod.dashboard.views import frame
from commod.dashboard.views.model import current_model


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/what_if.py")
    st.title("What if this person were different?", help=tip("edit"))
    result = current_model()
    state = state_of(result)
    choose(result, state)
    session.keep_link(person=str(state.person))
    person = person_of(result, state)
    accounts.read_aloud(person)
    left, right = st.columns(2, gap="large")
    with left:
        accounts.draw_sum(person)
    with right:
        edit(person, state)
    left, right = st.columns(2, gap="large")
    with left:
        suggest_edits(person, state)
    # What may take a while comes last: the page above is complete without it.
    with right:
        place: Any = st.empty()
        accounts.draw_person_shap(person)
    draw_pending(
        Pending(
            submit(tasks.refits(result)),
            lambda ticket: place.markdown(accounts.refits_in_words(person, ticket.result())),
        )
    )
