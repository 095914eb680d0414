"""The page of a room: its door, the board for its leader, and what everyone else can do."""

import streamlit as st

from commod.dashboard.pages.room import board, leading, taking_part
from commod.dashboard.state import session
from commod.dashboard.views import frame
from commod.dashboard.views.lesson.scenarios import FIRST, all_scenarios, scenario
from commod.dashboard.views.room import (
    ROOM,
    act,
    attempt,
    caller,
    is_seated,
    known,
    present,
    sit_down,
    tell_trouble,
    who_asks,
)
from commod.dashboard.views.widgets import button
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
        _door()
    elif here.leads:
        leading.sidebar(here)
        board.show(here)
        leading.next_move(here)
    else:
        taking_part.show(here)
    session.keep_link()


def _take_lead() -> None:
    """Who comes by the leader's link leads, and the address forgets the secret before anything is drawn."""
    secret = st.query_params.get("lead")
    if secret is None:
        return
    del st.query_params["lead"]
    sit_down(lambda store: store.take_lead(secret[:100], **who_asks()))


# ---- the door ----


def _door() -> None:
    """For who is in no room: join one, or open one. Who came by a link with a code is asked for a name only."""
    code = session.state().carried.get("room", "")
    st.markdown(say("room.what_for"))
    left, right = st.columns(2, gap="large")
    with left, st.form("join"):
        st.header(say("room.join"))
        st.text_input(say("room.code"), code[:16], key="room_code", max_chars=16, placeholder="ABC DEF 234")
        # Without Streamlit's bound, which drops a longer one that is pasted: the store cuts it.
        st.text_input(say("room.nickname"), key="room_name", help=say("room.nickname_help"))
        st.form_submit_button(say("room.join"), type="primary", icon=":material/login:", on_click=_join)
    with right if not code else st.expander(say("room.open")), st.container(border=not code):
        st.header(say("room.open"))
        st.markdown(say("room.open_says"))
        board.warn_if_local()
        button(say("room.open"), "groups_2", _open)
    st.caption(say("room.kept"))


def _join() -> None:
    code, name = (st.session_state.get(key, "") for key in ("room_code", "room_name"))
    sit_down(lambda store: store.join(code, name, **who_asks()))


def _open() -> None:
    """A new room, at the first step of the lesson that this session is in."""
    lesson = session.state().carried.get("lesson", FIRST)
    lesson = lesson if lesson in all_scenarios()[0] else FIRST
    step = scenario(lesson, session.language()).steps[0].name
    opened = attempt(lambda store: store.open_room(lesson, caller=caller()))
    if opened is None:
        return
    seat = sit_down(lambda store: store.take_lead(opened.secret, **who_asks()))
    if seat is not None:
        known().secret = opened.secret
        act(lambda store: store.lead(seat, step=step))
