"""The page of a room: its door, the board for its leader, and what everyone else can do."""

import streamlit as st

from commod.dashboard.pages.room import board, door, leading, taking_part
from commod.dashboard.state import session
from commod.dashboard.views import frame
from commod.dashboard.views.room import ROOM, attempt, is_seated, present, sit_down, tell_trouble, who_asks
from commod.dashboard.views.words import say


def show() -> None:
    """The page, from top to bottom."""
    _take_lead()
    frame.page(ROOM)
    here = present()
    session.keep_link()
    if here is None and is_seated():  # the store cannot be asked, as the line above says; it goes on trying
        return
    if here is None:
        st.title(say("room.title"))
        tell_trouble()
        door.show()
    elif here.leads:
        leading.sidebar(here)
        board.show(here)
    else:
        taking_part.show(here)
    session.keep_link()


def _take_lead() -> None:
    """Who comes by the leader's link leads, and the address forgets the secret before anything is drawn."""
    secret = st.query_params.get("lead")
    if secret is None:
        return
    del st.query_params["lead"]
    seat = attempt(lambda store: store.take_lead(secret[:100], **who_asks()))
    if seat is not None:
        sit_down(seat)
