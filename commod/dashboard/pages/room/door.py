"""The door of a room: open one, or join one by its code."""

import re
from functools import lru_cache
from urllib.parse import urlsplit

import segno
import streamlit as st

from commod.dashboard.rooms import Room
from commod.dashboard.state import session
from commod.dashboard.text.html import piece, style
from commod.dashboard.views import frame
from commod.dashboard.views.lesson.scenarios import FIRST, all_scenarios, scenario
from commod.dashboard.views.room import act, attempt, caller, known, sit_down, who_asks
from commod.dashboard.views.widgets import button
from commod.dashboard.views.words import say


def show() -> None:
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
        warn_if_local()
        button(say("room.open"), "groups_2", _open)
    st.caption(say("room.kept"))
    with st.sidebar:
        frame.language_choice()


def _join() -> None:
    code, name = (st.session_state.get(key, "") for key in ("room_code", "room_name"))
    seat = attempt(lambda store: store.join(code, name, **who_asks()))
    if seat is not None:
        sit_down(seat)


def _open() -> None:
    """A new room, at the lesson's step that this session is at."""
    carried = session.state().carried
    lesson = carried.get("lesson", FIRST)
    lesson = lesson if lesson in all_scenarios()[0] else FIRST
    places = scenario(lesson, session.language()).places
    step = carried.get("step", "")
    opened = attempt(lambda store: store.open_room(lesson, caller=caller()))
    if opened is None:
        return
    seat = attempt(lambda store: store.take_lead(opened.secret, **who_asks()))
    if seat is not None:
        sit_down(seat)
        known().secret = opened.secret
        act(lambda store: store.lead(seat, step=step if step in places else next(iter(places))))


# ---- how others come in ----


def address() -> str:
    """Where this page is, without what stands behind the question mark."""
    return (st.context.url or "").split("?")[0]


def place_of(address: str) -> str:
    """An address as one types it."""
    return address.partition("://")[2]


def warn_if_local() -> None:
    """Say so while nobody else can open the address, before a class arrives."""
    host = urlsplit(address()).hostname or ""
    if host == "localhost" or host == "::1" or host.startswith("127."):
        st.warning(say("room.only_here", address=place_of(address())), icon=":material/wifi_off:")


def join_link(room: Room) -> str:
    """What everybody who takes part may have."""
    return f"{address()}?room={room.code}"


@lru_cache(maxsize=64)
def qr_code(link: str) -> str:
    """A picture of a link, as an address: black on white in either theme, with the margin that a camera needs."""
    return str(segno.make(link, micro=False).svg_data_uri(scale=6, border=4, dark="black", light="white"))


def draw_code(room: Room) -> None:
    """The code, the link and a picture of it, large: for the wall, until all have come."""
    warn_if_local()
    picture, code = qr_code(join_link(room)), " ".join(re.findall("...", room.code))
    st.html(style("room") + piece("join", picture, say("room.qr"), place_of(address()), code))
