"""One line about its room at the top of every page, for whoever is in one."""

import time
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs.wait import while_waiting
from commod.dashboard.rooms import Here, Room
from commod.dashboard.rooms.contents import step_address
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.lesson.scenarios import FIRST, all_scenarios, scenario
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.pages import menu_page
from commod.dashboard.views.room import LESSON, ROOM, act, is_seated, known, present, say_aloud, tell_trouble
from commod.dashboard.views.words import say
from commod.wording import with_capital

# Seconds between two looks at the room.
EVERY = 3.0
# For so long it is said that a timer has run out.
OVER_SECONDS = 60
# Under this name a session keeps how the line was last drawn by the page.
_DRAWN = "room_drawn"


@dataclass(frozen=True)
class Drawn:
    """What the line of a page was drawn for, and where it stands."""

    script: str
    place: Any
    asked: tuple[object, ...] | None
    line: str


def strip(script: str) -> None:
    """At the top of a page, for whoever is in a room: what happens there. The board says it itself."""
    here = present()
    tell_trouble()
    st.session_state.pop(_DRAWN, None)
    while_waiting(None)
    if is_seated() and not (here is not None and here.leads and script == ROOM):
        while_waiting(look_in)
        place = st.empty()
        drawn_for = None if here is None else asked(script, here)
        st.session_state[_DRAWN] = Drawn(script, place, drawn_for, "" if here is None else _in_one_line(script, here))
        with place.container():
            _line(script, drawn_for)


def asked(script: str, here: Here) -> tuple[object, ...]:
    """What a page must be drawn anew for, when the leader changes it."""
    room, question = here.room, here.room.question
    found: tuple[object, ...] = (here.leads, room.closed is None, room.frozen)
    if script == LESSON:
        found += (room.together and (room.lesson, room.step), (room.lesson, room.step) in room.revealed)
    if script == ROOM:
        if here.leads:  # in the sidebar
            found += (room.door, room.most, len(room.waiting), bool(room.crowd))
        state = question and (question.number, question.rounds, question.open, question.shown)
        found += (room.lesson, room.step, (room.lesson, room.step) in room.revealed, state)
    return found


def look_in() -> None:
    """Keep the line as it should be while a page waits for something to be computed, and no fragment runs."""
    drawn: Drawn | None = st.session_state.get(_DRAWN)
    here = present()
    if drawn is None or here is None:
        return
    if asked(drawn.script, here) != drawn.asked:
        st.rerun()
    act(lambda store: store.seen(here.seat, _open_step(drawn.script)))
    if (line := _in_one_line(drawn.script, here)) != drawn.line:
        st.session_state[_DRAWN] = replace(drawn, line=line)
        with drawn.place.container():
            _draw_line(drawn.script, here)


@st.fragment(run_every=EVERY)
def _line(script: str, drawn_for: tuple[object, ...] | None) -> None:
    here = present()
    if here is None:
        if is_seated():
            st.caption(escape_markdown(known().trouble))
            return
        st.rerun()
    if drawn_for is None or asked(script, here) != drawn_for:
        st.rerun()
    act(lambda store: store.seen(here.seat, _open_step(script)))
    _draw_line(script, here)


def _draw_line(script: str, here: Here) -> None:
    room = here.room
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_in_one_line(script, here), width="content")
        if room.closed is None and room.question is not None and script != ROOM:
            st.page_link(menu_page(ROOM), label=say("room.answer"), icon=":material/how_to_vote:")
        elif script != ROOM:
            st.page_link(menu_page(ROOM), label=say("room.to_room"), icon=":material/groups_2:")
        if room.together and room.closed is None and script not in (LESSON, ROOM):
            st.page_link(
                menu_page(LESSON), label=say("room.class_is_at", step=_place(room) + 1), icon=":material/school:"
            )
    say_aloud(announcement(room))


def _in_one_line(script: str, here: Here) -> str:
    """What happens in the room; on its own page, what that does not say itself."""
    room = here.room
    parts = [] if script == ROOM else [f"**{say('room.room', code=room.code)}**"]
    parts.append(say("room.you_are", name=escape_markdown(here.person.name)))
    parts += _happening(script, room) if room.closed is None else [say("room.is_closed")]
    return with_capital(" · ".join(parts))


def _happening(script: str, room: Room) -> list[str]:
    """What happens in an open room."""
    parts = [say("room.here", n=len(room.taking_part))]
    if left := time_left(room):
        parts.append(f":material/timer: {left}")
    if room.frozen:
        parts.append(say("room.is_frozen"))
    if script == ROOM:
        return parts
    if room.question is not None and room.question.open:
        return [*parts, f"**{say(f'room.{room.question.kind}_open')}**"]
    if room.together and script != LESSON:  # as the link beside it says
        return parts
    return [*parts, in_markdown(step_in_words(room))]


def time_left(room: Room) -> str:
    """What the timer shows: minutes and seconds, or that the time is over; empty without one."""
    if room.timer_ends is None:
        return ""
    seconds = round(room.timer_ends - time.time())
    if seconds < -OVER_SECONDS:
        return ""
    return f"{seconds // 60}:{seconds % 60:02}" if seconds > 0 else say("room.time_over")


def step_in_words(room: Room) -> str:
    """Number and title of the step that a room is at."""
    place = _place(room)
    return say("room.at_step", step=place + 1, title=scenario(room.lesson, session.language()).steps[place].title)


def _place(room: Room) -> int:
    """Which of the lesson's steps a room is at."""
    return scenario(room.lesson, session.language()).places.get(room.step, 0)


def _open_step(script: str) -> str:
    """The step of a lesson that this page shows, for the room to know; empty if it shows none."""
    carried = session.state().carried
    lesson, step = carried.get("lesson", FIRST), carried.get("step", "")
    shown = script == LESSON and lesson in all_scenarios()[0] and step in scenario(lesson, session.language()).places
    return step_address(lesson, step) if shown else ""


def announcement(room: Room) -> str:
    """What has happened last, for those who cannot see it."""
    question = room.question
    if room.closed is not None:
        return say("room.is_closed")
    if question is not None and question.open:
        again = say("room.again_open") if question.rounds > 1 else ""
        return f"{say(f'room.{question.kind}_open')} {again}".strip()
    if question is not None and question.shown:
        return say("room.votes_shown")
    if (room.lesson, room.step) in room.revealed:
        return say("room.guesses_shown", step=step_in_words(room))
    return step_in_words(room)
