"""What the leader of a room does, in the sidebar: the board is for all."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard import rooms
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.pages.room.board import case_of, join_link, room_address, shows_door
from commod.dashboard.pages.room.tables import zipped_tables
from commod.dashboard.rooms.contents import DOORS, MOST_PEOPLE, Here, RoomError, Seat, SharedModel
from commod.dashboard.rooms.room_store import RoomStore
from commod.dashboard.state import session
from commod.dashboard.state.link import link_of_model, model_of_link
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.state.saved_runs import shelf
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.views.chart import offer
from commod.dashboard.views.lesson.scenarios import scenario
from commod.dashboard.views.room import act, attempt, browser, is_for_rooms, known, leave, place_of_step, room_figures
from commod.dashboard.views.widgets import button, choose_lesson, select
from commod.dashboard.views.words import say, say_declared
from commod.wording import with_capital

MINUTES = (1, 2, 3, 5, 10, 15)
# Buttons that all others notice: under the pointer they say what they do.
EXPLAINED = ("reveal", "show_votes", "ask_again", "end_question")


def sidebar(here: Here) -> None:
    """Everything that only the leader can do."""
    with st.sidebar:
        _link(here)
        if here.room.closed is None:
            _show_join(here)
            _step(here)
            _question(here)
            _timer(here)
        st.subheader(say("room.more"))
        _people(here)
        _take_home(here)
        _end(here)


def _lead(here: Here, **changes: Any) -> None:
    act(lambda store: store.lead(here.seat, **changes))


def _go_on(here: Here, **there: str) -> None:
    """To another step: a question whose votes were shown would stay in its way."""
    if here.room.question is not None and not here.room.question.open:
        act(lambda store: store.end_question(here.seat))
    _lead(here, **there)


def _button(label: str, here: Here, what: Any, icon: str, **how: Any) -> None:
    """A button that does something in the store, called with it and the leader's seat."""

    def clicked() -> None:
        act(lambda store: what(store, here.seat))

    does = say(f"room.{label}_does") if label in EXPLAINED else None
    button(say(f"room.{label}"), icon, clicked, width="stretch", help=does, **how)


def _show_join(here: Here) -> None:
    def show(on: bool) -> None:
        known().shows_door = on

    st.toggle(say("room.show_join"), **mirrored("room_show_join", shows_door(here.room), show))


def _door(here: Here) -> None:
    doors = {name: say(f"room.door_{name}") for name in DOORS}
    select(say("room.door"), doors, **mirrored("room_door", here.room.door, lambda name: _lead(here, door=name)))
    size = mirrored("room_size", here.room.most, lambda most: _lead(here, most=most))
    st.number_input(say("room.size"), 1, MOST_PEOPLE, **size)


# ---- the step ----


def next_move(here: Here) -> None:
    """What the leader does next, below the board: on a phone the sidebar is closed."""
    room, question = here.room, here.room.question
    if room.closed is not None:
        return
    steps, place = scenario(room.lesson, session.language()).steps, place_of_step(room)
    if question is not None and question.open:
        _button("show_votes", here, RoomStore.show_result, "bar_chart", type="primary", key="room_now_show")
    elif question is None and (room.lesson, room.step) not in room.revealed:
        _reveal(here, "primary", key="room_now_reveal")
    elif place + 1 < len(steps):
        go = partial(_go_on, here, step=steps[place + 1].name)
        button(say("room.step_after"), "arrow_forward", go, type="primary", width="stretch", key="room_now_next")
    st.caption(say("room.more_in_menu"))


def _reveal(here: Here, kind: str, **how: Any) -> None:
    at = (here.room.lesson, here.room.step)
    _button("reveal", here, lambda store, seat: store.reveal(seat, *at), "visibility", type=kind, **how)


def _step(here: Here) -> None:
    room, place = here.room, place_of_step(here.room)
    taught = scenario(room.lesson, session.language())
    names = [step.name for step in taught.steps]
    st.subheader(say("room.leading"))
    st.caption(say("room.leading_says"))

    def choose(name: str) -> None:
        _go_on(here, lesson=name, step=scenario(name, session.language()).steps[0].name)

    choose_lesson("room_lesson", taught.name, choose)
    titles = {step.name: f"{number}. {step.title}" for number, step in enumerate(taught.steps, start=1)}
    select(say("room.step"), titles, **mirrored("room_step", names[place], lambda name: _go_on(here, step=name)))
    with st.container(horizontal=True, gap="small"):
        for label, to, icon in (("before", place - 1, "arrow_back"), ("after", place + 1, "arrow_forward")):
            go = partial(_go_on, here, step=names[max(0, min(to, len(names) - 1))])
            button(say(f"room.step_{label}"), icon, go, disabled=not 0 <= to < len(names))
    if (room.lesson, room.step) not in room.revealed:
        _reveal(here, "secondary" if room.question else "primary")
    else:
        st.caption(f":material/visibility: {say('room.is_revealed')}")
    st.toggle(say("room.together"), **mirrored("room_together", room.together, lambda on: _lead(here, together=on)))
    st.caption(say("room.answer_together" if room.together else "room.answer_freely"))
    shown = mirrored("room_frozen", room.frozen, lambda on: _lead(here, frozen=on))
    st.toggle(say("room.freeze"), help=say("room.freeze_does"), **shown)


# ---- questions ----


def _question(here: Here) -> None:
    question = here.room.question
    st.subheader(say("room.ask"))
    if question is None:
        _button("ask_sign", here, RoomStore.ask_to_sign, "how_to_vote")
        _pair(here)
        return
    st.caption(say(f"room.{question.kind}_open"))
    if question.open:
        _button("show_votes", here, RoomStore.show_result, "bar_chart", type="primary")
    elif question.rounds == 1:
        _button("ask_again", here, RoomStore.ask_again, "replay", type="primary")
    _button("end_question", here, RoomStore.end_question, "close")


def models_for_a_pair(here: Here) -> dict[Settings, str]:
    """Models for a pair, with their titles: the leader's own, one that harms nobody, saved runs, where people stand.

    Where the lesson's step is about other data than the leader's page, its model stands for the leader's own.
    """
    own, end = session.current(), case_of(here.room)
    own = own if end.data == own.data else end
    found = [(own, say("room.own_setting", setting=say_declared(in_words(own))))]
    found += [(replace(own, direction="improve"), with_capital(say("next.improve")))]
    found += [(run.settings, run.name) for run in shelf().runs]
    for person in here.room.people:
        if person.link and not person.leads:
            settings = model_of_link(person.link)
            found.append((settings, f"{person.name}: {say_declared(in_words(settings))}"))
    titles: dict[Settings, str] = {}
    for settings, title in found:
        if is_for_rooms(settings):
            titles.setdefault(settings.model(), title)
    return titles


def _pair(here: Here) -> None:
    """A dialog: below the edge of a small screen, half of a popover in the sidebar could not be seen."""
    if st.button(say("room.ask_pair"), icon=":material/compare_arrows:", width="stretch", key="room_pair"):
        st.dialog(say("room.ask_pair"), icon=":material/compare_arrows:")(_choose_pair)(here)


def _choose_pair(here: Here) -> None:
    place, titles = st.empty(), models_for_a_pair(here)
    if len(titles) < 2:
        st.markdown(say("room.two_needed"))
        return
    pair = [select(say(f"room.model_{name}"), titles, index=i, key=f"room_pair_{name}") for i, name in enumerate("ab")]
    if pair[0] == pair[1]:
        st.caption(say("room.two_different"))
    elif st.button(say("room.ask_it"), type="primary", key="room_ask_pair"):
        results = [result_of(tasks.fit(settings), place, "Training") for settings in pair]
        models = [SharedModel(link_of_model(result.settings), room_figures(result)) for result in results]
        if act(lambda store: store.ask_pair(here.seat, *models)):
            st.rerun()


# ---- the timer ----


def _timer(here: Here) -> None:
    def start() -> None:
        minutes = st.session_state.get("room_minutes")
        if minutes in MINUTES:  # or a message is forged
            _lead(here, timer_ends=time.time() + 60 * minutes)

    st.subheader(say("room.timer"))
    if here.room.timer_ends is not None:
        button(say("room.stop_timer"), "timer_off", partial(_lead, here, timer_ends=None))
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(say("room.minutes"), MINUTES, index=2, key="room_minutes", width=120)
        button(say("room.start_timer"), "timer", start)


# ---- the leader's link, what is taken home, and the end ----


def _link(here: Here) -> None:
    """The secret link: sent to the browser only while its leader has it open, as the class may see this screen."""
    label = say("room.leaders_link")
    with st.popover(label, icon=":material/key:", width="stretch", key="room_link", on_change="rerun") as opened:
        if opened.open:
            _show_link(here)
    if known().secret:  # nobody else has it, and a browser can be lost
        st.caption(say("room.keep_link"))


def _show_link(here: Here) -> None:
    def renew() -> None:
        known().secret = attempt(lambda store: store.new_secret(here.seat)) or known().secret

    st.markdown(say("room.link_says"))
    if known().secret:
        st.code(f"{room_address()}?lead={known().secret}", language=None, wrap_lines=True)
    else:
        st.caption(say("room.link_unknown"))
    others = sum(person.leads and person.here for person in here.room.people if person.number != here.person.number)
    st.markdown(say("room.new_link_says", n=others))
    button(say("room.new_link"), "autorenew", renew)


def _people(here: Here) -> None:
    """Let people in who wait; send out whoever disturbs a room, or wrote what does not belong on a wall."""
    waiting = [person.number for person in here.room.waiting]
    label = say("room.people_waiting", n=len(waiting)) if waiting else say("room.people_door")
    with st.popover(label, icon=":material/group:", width="stretch", key="room_people", on_change="rerun") as opened:
        if not opened.open:
            return
        if here.room.closed is None:
            st.markdown(say("room.join_link_says"))
            st.code(join_link(here.room), language=None, wrap_lines=True)
            _door(here)
        others = {
            person.number: f"{person.name} ({say('room.waits')})" if person.waiting else person.name
            for person in here.room.people
            if not person.leads
        }
        if not others:
            st.markdown(say("room.nobody_here"))
            return

        def do(what: Callable[[RoomStore, Seat, list[int]], None]) -> None:
            numbers = [number for number in st.session_state.get("room_chosen", ()) if number in others]
            if act(lambda store: what(store, here.seat, numbers)):
                choose([])

        def choose(numbers: Iterable[int]) -> None:
            st.session_state["room_chosen"] = list(numbers)

        # Who has left meanwhile cannot stay chosen.
        choose(number for number in st.session_state.get("room_chosen", ()) if number in others)
        if waiting:
            button(say("room.choose_waiting", n=len(waiting)), "", choose, waiting)
        chosen = st.multiselect(
            say("room.who"),
            list(others),
            format_func=others.__getitem__,
            placeholder=say("room.choose_person"),
            key="room_chosen",
        )
        if waiting:
            nobody = not set(chosen) & set(waiting)
            button(say("room.let_in"), "login", do, RoomStore.let_in, type="primary", disabled=nobody)
        button(say("room.send_out_now"), "person_remove", do, RoomStore.remove, disabled=not chosen)
        st.caption(say("room.send_out_says"))


def _take_home(here: Here) -> None:
    language, seat, whose = session.language(), here.seat, browser()

    def tables() -> bytes:
        """As they are when the file is asked for, not when the button was drawn, and only for a leader."""
        found = rooms.store().present(seat.code, seat.token, browser=whose)
        if not found.leads:
            raise RoomError("not_leading")
        return zipped_tables(found.room, language)

    offer(say("room.take_home"), tables, f"commod_room_{seat.code}.zip", width="stretch")


def _end(here: Here) -> None:
    def close() -> None:
        act(lambda store: store.close(here.seat))

    def delete() -> None:
        if act(lambda store: store.delete(here.seat)):
            leave()

    if here.room.closed is None:
        _confirm("close", "door_front", close)
    _confirm("delete", "delete_forever", delete)


def _confirm(what: str, icon: str, do: Callable[[], None]) -> None:
    """What all would notice is asked about once more, with what it means."""
    with st.popover(say(f"room.{what}"), icon=f":material/{icon}:", width="stretch"):
        st.markdown(say(f"room.{what}_says"))
        button(say(f"room.{what}_now"), icon, do)
