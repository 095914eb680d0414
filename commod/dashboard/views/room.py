"""The room that a session is in: who it is there, what it tells the others, and a line about it on every page."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from commod.dashboard import rooms
from commod.dashboard.jobs.service import while_waiting
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.rooms.contents import Here, Room, RoomError, Seat
from commod.dashboard.server.gate import network_of
from commod.dashboard.server.headers import HEADER
from commod.dashboard.state import session
from commod.dashboard.state.link import link_of_model
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings
from commod.dashboard.streamlit_internals import SAY_ALOUD
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import piece
from commod.dashboard.views.lesson.scenarios import scenario
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.pages import menu_page
from commod.dashboard.views.words import say

if TYPE_CHECKING:
    from commod.dashboard.rooms.room_store import RoomStore
from commod.datasets import TASKS
from commod.metrics.figures import CRITERIA
from commod.wording import with_capital

ROOM = "pages/room.py"
LESSON = "pages/lesson.py"

Result = TypeVar("Result")


@dataclass
class Known:
    """What a session knows of its room, and what it has told there."""

    led: bool = False  # whether they led when a page was last drawn
    shows_door: bool | None = None  # whether the board shows how to come in, large; None: nobody has said
    secret: str = ""  # of the leader's link; the store does not know it
    reason: str = ""  # what was written last about a vote, sent or not
    problem: str = ""  # what could not be done, in a sentence, told once
    followed: tuple[str, str] | None = None  # lesson and step gone to with the others
    goes_there: bool = False  # whether they asked to be led to the room's step
    stands_at: str = ""
    guesses: dict[tuple[str, str, str], str] = field(default_factory=dict)  # (room, lesson, step)


# What this session knows of its room.
known = PageState("room", Known)


# ---- who is who ----


def browser() -> str:
    """Whose browser this is; empty outside a server."""
    return _text(st.context.headers.get(HEADER))


def caller() -> str:
    """From where somebody calls, for the limits on tries: nobody without the server's secret can tell the address."""
    network = network_of(_text(st.context.ip_address))
    return sha256(f"{st.get_option('server.cookieSecret')} {network}".encode()).hexdigest()


def who_asks() -> dict[str, str]:
    """Who asks for a seat, from where, and the language of a nickname if they give none."""
    return {"browser": browser(), "caller": caller(), "language": session.language()}


def _text(found: object) -> str:
    """What a browser has sent; Streamlit's harness for tests gives something else."""
    return found if isinstance(found, str) else ""


def attempt(what: Callable[[RoomStore], Result]) -> Result | None:
    """Do something in the store; if it cannot be done, None, and the page will say why."""
    try:
        return what(rooms.store())
    except RoomError as error:
        known().problem = say(error.key, **error.facts)
        return None


def act(what: Callable[[RoomStore], object]) -> bool:
    """Do something in the store that gives nothing back; whether it was done."""
    return attempt(lambda store: (what(store),)) is not None


def tell_trouble() -> None:
    """What could not be done, once."""
    if problem := known().problem:
        known().problem = ""
        st.warning(escape_markdown(problem), icon=":material/warning:")


def sit_down(take: Callable[[RoomStore], Seat]) -> Seat | None:
    """Take a seat in a room, and be in it from now on; None if it cannot be had, and the page will say why."""
    if (seat := attempt(take)) is not None:
        known.set(Known())
        session.carry(room=seat.code, seat=seat.token)
    return seat


def leave() -> None:
    """Be in no room any more; the setting and the lesson stay as they are."""
    known.set(Known(problem=known().problem))
    session.carry(room="", seat="")
    session.state().frozen = False


def is_seated() -> bool:
    """Whether the address names a seat in a room, be it a good one or not."""
    return {"room", "seat"} <= set(session.state().carried)


def present() -> Here | None:
    """Who this session is in its room; None if it is in none, or the store cannot be asked."""
    if not is_seated():
        return None
    carried, mine = session.state().carried, known()
    try:
        here = rooms.store().present(carried["room"], carried["seat"], browser=browser())
    except RoomError as error:
        is_gone = error.reason == "no_room"
        mine.problem = say("room.is_gone") if is_gone else say(error.key, **error.facts)
        if is_gone:
            leave()
        elif error.reason == "no_seat":  # of another browser, or taken away
            session.carry(seat="")
            session.state().frozen = False
        return None
    if mine.led and not here.leads:
        mine.problem = say("room.no_longer_leads")
    mine.led = here.leads
    session.state().frozen = here.room.frozen and here.room.closed is None and not here.leads
    return here


# ---- figures, as a room has them ----


def room_figures(result: FitResult) -> dict[str, float]:
    """What a room is told of a model, on test: shares, how many people are better and worse off, and the same of f."""
    return result.keep("room_figures", lambda: _figures_of(result))


def _figures_of(result: FitResult) -> dict[str, float]:
    fairness = CRITERIA[result.settings.fairness].figure_name
    values = result.figures[["f", "g"]].to_dict("index")
    found: dict[str, float] = {"better": result.change_counts.better, "worse": result.change_counts.worse}
    # One that cannot be measured for these groups has no row.
    for name, row in {"fairness": fairness, "p_rule": "p_rule", "accuracy": "accuracy"}.items():
        if row in values:
            found |= {name: values[row]["g"], f"f_{name}": values[row]["f"]}
    return found | {"change_rate": values["change_rate"]["g"]}


def is_for_rooms(settings: Settings) -> bool:
    """Whether a room may be told of a setting: nothing of uploaded data is stored."""
    return settings.data in TASKS


# ---- telling the room ----


def tell_setting(result: FitResult) -> None:
    """Tell the room which model is on the screen, if that is another than before."""
    here = present()
    if here is None or here.room.closed is not None or not is_for_rooms(result.settings):
        return
    link = link_of_model(result.settings)
    if link == known().stands_at:
        return
    figures = room_figures(result)
    if act(lambda store: store.stand(here.seat, link, figures)):
        known().stands_at = link


def tell_guess(lesson: str, step: str, kept: float | str) -> None:
    """Tell the room a guess."""
    here = present()
    if here is None or here.room.closed is not None or (lesson, step) in here.room.revealed:
        return
    said, place = _as_sent(kept), (here.room.code, lesson, step)
    if known().guesses.get(place) == said:
        return
    if act(lambda store: store.guess(here.seat, lesson, step, said)):
        known().guesses[place] = said


def holds_answer(lesson: str, step: str) -> bool:
    """Whether the room waits for its leader to reveal the guesses: whoever saw the answer would guess it."""
    here, there = present(), (lesson, step)
    if here is None or not here.is_led:
        return False
    return there == (here.room.lesson, here.room.step) and there not in here.room.revealed


def is_led() -> bool:
    """Whether somebody else turns the pages of the lesson for this session."""
    here = present()
    return here is not None and here.is_led


def is_late(lesson: str, step: str, kept: float | str) -> bool:
    """Whether a guess was made after the room had seen all of them: it is not counted."""
    here = present()
    if here is None or (lesson, step) not in here.room.revealed:
        return False
    return known().guesses.get((here.room.code, lesson, step)) != _as_sent(kept)


def _as_sent(kept: float | str) -> str:
    """A guess as a room keeps it; a number as links write it, so that equal guesses are equal."""
    return kept if isinstance(kept, str) else f"{kept:g}"


def step_to_follow() -> tuple[str, str] | None:
    """Lesson and step to open: where somebody asked to be led, or where all go together, once for each step."""
    here, mine = present(), known()
    asked, mine.goes_there = mine.goes_there, False
    if here is None or not (asked or (here.room.together and here.room.closed is None)):
        mine.followed = None  # when all go together again, this session follows, even to the same step
        return None
    there = (here.room.lesson, here.room.step)
    if mine.followed == there and not asked:
        return None
    mine.followed = there
    return there


def say_aloud(text: str) -> None:
    """Have a screen reader say something, when it is another thing than before."""
    st.html(f"{piece('aloud', text)}<script>{SAY_ALOUD}</script>", unsafe_allow_javascript=True)


def invite() -> None:
    """A way to open a room, for whoever is in none."""
    if not is_seated():
        st.page_link(ROOM, label=say("room.open_for_class"), icon=":material/groups_2:")


# Seconds between two looks at the room.
EVERY = 3.0
# For so long it is said that a timer has run out.
OVER_SECONDS = 60


def strip(script: str) -> None:
    """At the top of a page, for whoever is in a room: what happens there. The board says it itself."""
    here = present()
    tell_trouble()
    while_waiting(None)
    if not is_seated() or (here is not None and here.leads and script == ROOM):
        return
    place, drawn_for = st.empty(), None if here is None else asked(script, here)
    line = "" if here is None else _in_one_line(script, here)

    def look_in() -> None:
        """Keep the line as it should be while the page waits for something to be computed, and no fragment runs."""
        nonlocal line
        here = look_around(script, drawn_for)
        if here is not None and (now := _in_one_line(script, here)) != line:
            line = now
            with place.container():
                _draw_line(script, here)

    while_waiting(look_in)
    with place.container():
        _line(script, drawn_for)


def look_around(script: str, drawn_for: tuple[object, ...] | None) -> Here | None:
    """Say that this session is there, and who it is; what has changed since the page was drawn draws it anew."""
    here = present()
    if here is not None:
        if asked(script, here) != drawn_for:
            st.rerun()
        act(lambda store: store.seen(here.seat))
    return here


def asked(script: str, here: Here) -> tuple[object, ...]:
    """What a page must be drawn anew for, when the leader changes it."""
    room, question = here.room, here.room.question
    found: tuple[object, ...] = (here.leads, room.closed is None, room.frozen)
    if script == LESSON:
        found += (room.together and (room.lesson, room.step), (room.lesson, room.step) in room.revealed)
    if script == ROOM:
        if here.leads:  # in the sidebar
            found += (room.door, room.most, len(room.waiting))
        state = question and (question.number, question.rounds, question.open, question.shown)
        found += (room.lesson, room.step, (room.lesson, room.step) in room.revealed, state)
    return found


@st.fragment(run_every=EVERY)
def _line(script: str, drawn_for: tuple[object, ...] | None) -> None:
    if (here := look_around(script, drawn_for)) is not None:
        _draw_line(script, here)
    elif is_seated():
        st.caption(escape_markdown(known().problem))
    else:
        st.rerun()


def _draw_line(script: str, here: Here) -> None:
    room = here.room
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(_in_one_line(script, here), width="content")
        if here.leads:
            st.page_link(menu_page(ROOM), label=say("room.to_board"), icon=":material/groups_2:")
            return
        if room.closed is None and room.question is not None and script != ROOM:
            st.page_link(menu_page(ROOM), label=say("room.answer"), icon=":material/how_to_vote:")
        elif script != ROOM:
            st.page_link(menu_page(ROOM), label=say("room.to_room"), icon=":material/groups_2:")
        if room.together and room.closed is None and script not in (LESSON, ROOM):
            st.page_link(
                menu_page(LESSON), label=say("room.class_is_at", step=place_of_step(room) + 1), icon=":material/school:"
            )
    say_aloud(announcement(room))


def _in_one_line(script: str, here: Here) -> str:
    """What happens in the room; on its own page, what that does not say itself."""
    room = here.room
    if here.leads:
        parts = [f"**{say('room.you_lead', code=room.code)}**"]
    else:
        parts = [] if script == ROOM else [f"**{say('room.room', code=room.code)}**"]
        parts.append(say("room.you_are", name=escape_markdown(here.person.name)))
    parts += _happening(script, here) if room.closed is None else [say("room.is_closed")]
    return with_capital(" · ".join(parts))


def _happening(script: str, here: Here) -> list[str]:
    room = here.room
    parts = [say("room.here", n=len(room.taking_part))]
    if left := time_left(room):
        parts.append(f":material/timer: {left}")
    if room.frozen:
        parts.append(say("room.is_frozen"))
    if script == ROOM:
        return parts
    if room.question is not None and room.question.open:
        return [*parts, f"**{say(f'room.{room.question.kind}_open')}**"]
    if here.is_led and script != LESSON:  # as the link beside it says
        return parts
    return [*parts, in_markdown(room_step_in_words(room))]


def time_left(room: Room) -> str:
    """What the timer shows: minutes and seconds, or that the time is over; empty without one."""
    if room.timer_ends is None:
        return ""
    seconds = round(room.timer_ends - time.time())
    if seconds < -OVER_SECONDS:
        return ""
    return f"{seconds // 60}:{seconds % 60:02}" if seconds > 0 else say("room.time_over")


def room_step_in_words(room: Room) -> str:
    """Number and title of the step that a room is at."""
    place = place_of_step(room)
    return say("room.at_step", step=place + 1, title=scenario(room.lesson, session.language()).steps[place].title)


def place_of_step(room: Room) -> int:
    """Where the step that a room is at stands in its lesson; of a step that is not known, the first."""
    return scenario(room.lesson, session.language()).places.get(room.step, 0)


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
        return say("room.guesses_shown", step=room_step_in_words(room))
    return room_step_in_words(room)
