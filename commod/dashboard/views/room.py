"""The room that a session is in: who it is there, and what it tells the others."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeVar

import streamlit as st

from commod.dashboard import rooms
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.rooms import Here, RoomError, RoomStore, Seat
from commod.dashboard.server.browser import HEADER
from commod.dashboard.server.gate import network_of
from commod.dashboard.state import session
from commod.dashboard.state.link import link_of_model
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings
from commod.dashboard.streamlit_internals import SAY_ALOUD
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import piece
from commod.dashboard.text.verdicts import changes_by_direction
from commod.dashboard.views.words import say
from commod.datasets import TASKS
from commod.metrics.figures import CRITERIA

ROOM = "pages/room.py"
LESSON = "pages/lesson.py"

Result = TypeVar("Result")


@dataclass
class Known:
    """What a session knows of its room, and what it has told there."""

    led: bool = False  # whether she did when a page was last drawn
    shows_door: bool = True  # whether the board shows how to come in, large
    secret: str = ""  # of the leader's link; the store does not know it
    link_shown: bool = False  # whether that link was shown when the room opened
    reason: str = ""  # what was written last about a vote, sent or not
    trouble: str = ""  # what could not be done, in a sentence, told once
    followed: tuple[str, str] | None = None  # lesson and step gone to with the others
    goes_there: bool = False  # whether she has asked to be led to the room's step
    stands_at: str = ""
    frontier: tuple[object, Ticket] | None = None  # the sweep that was asked for, of which problem
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
    """Who asks for a seat, from where, and in which language she is named if she gives no name."""
    return {"browser": browser(), "caller": caller(), "language": session.language()}


def _text(found: object) -> str:
    """What a browser has sent; Streamlit's harness for tests gives something else."""
    return found if isinstance(found, str) else ""


def attempt(what: Callable[[RoomStore], Result]) -> Result | None:
    """Do something in the store; if it cannot be done, None, and the page will say why."""
    try:
        return what(rooms.store())
    except RoomError as error:
        known().trouble = say(error.key, **error.facts)
        return None


def act(what: Callable[[RoomStore], object]) -> bool:
    """Do something in the store that gives nothing back; whether it was done."""
    return attempt(lambda store: (what(store),)) is not None


def tell_trouble() -> None:
    """What could not be done, once."""
    if trouble := known().trouble:
        known().trouble = ""
        st.warning(escape_markdown(trouble), icon=":material/warning:")


def sit_down(seat: Seat) -> None:
    """Be in a room from now on."""
    known.set(Known())
    session.carry(room=seat.code, seat=seat.token)


def leave() -> None:
    """Be in no room any more; the setting and the lesson stay as they are."""
    known.set(Known(trouble=known().trouble))
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
        mine.trouble = say("room.is_gone") if is_gone else say(error.key, **error.facts)
        if is_gone:
            leave()
        elif error.reason == "no_seat":  # of another browser, or taken away
            session.carry(seat="")
            session.state().frozen = False
        return None
    if mine.led and not here.leads:
        mine.trouble = say("room.no_longer_leads")
    mine.led = here.leads
    session.state().frozen = here.room.frozen and here.room.closed is None and not here.leads
    return here


# ---- figures, as a room has them ----


def figures_of(result: FitResult) -> dict[str, float]:
    """What a room is told of a model, on test: shares, how many people are better and worse off, and the same of f."""
    found: dict[str, float] = result.keep("room_figures", lambda: _figures_of(result))
    return found


def _figures_of(result: FitResult) -> dict[str, float]:
    fairness = CRITERIA[result.settings.fairness].figure_name
    values = result.figures[["f", "g"]].to_dict("index")
    changes = changes_by_direction(result.task.spec, result.changes)
    found = {
        "better": sum(row["count"] for row in changes if row["place"] == 0),
        "worse": sum(row["count"] for row in changes if row["place"] == 1),
    }
    # One that cannot be told of these groups has no row.
    for name, row in {"fairness": fairness, "p_rule": "p_rule", "accuracy": "accuracy"}.items():
        if row in values:
            found |= {name: values[row]["g"], f"f_{name}": values[row]["f"]}
    return found | {"change_rate": values["change_rate"]["g"]}


def is_for_rooms(settings: Settings) -> bool:
    """Whether a room may be told of a setting: nothing of data that somebody has brought is stored."""
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
    figures = figures_of(result)
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
        mine.followed = None  # when all go together again, she goes along, be it to the same step
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
