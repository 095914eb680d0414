"""What somebody does who takes part: answer what is asked, and see what the room said. On a phone, above all."""

from typing import Any

import streamlit as st

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.room import board
from commod.dashboard.pages.room.board import draw_models, draw_pair, trained
from commod.dashboard.pages.room.pictures import guessed
from commod.dashboard.rooms.contents import Here, RoomQuestion, Vote
from commod.dashboard.rooms.names import REASON_LENGTH
from commod.dashboard.state import session
from commod.dashboard.state.link import link_of_model, model_of_link
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.state.settings import data_in_words, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import with_tooltips
from commod.dashboard.views.lesson import script as lesson_script
from commod.dashboard.views.lesson.asking import guess_at
from commod.dashboard.views.lesson.progress import choose, progress
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.room import act, is_for_rooms, known, leave, place_of_step, room_figures, room_step_in_words
from commod.dashboard.views.widgets import button
from commod.dashboard.views.words import say, say_declared


def show(here: Here) -> None:
    """The page, from top to bottom: what is asked now first."""
    room, question = here.room, here.room.question
    st.title(say("room.room", code=room.code))
    votes = question is not None and question.kind == "sign" and room.closed is None
    # The field for a reason keeps its place from vote to vote: whatever is being written stays in it.
    above, model = st.container(), None
    if votes and question is not None:
        _reason()
        if not question.open:  # hidden and not gone: what was written in it stays for the next vote
            st.html("<style>.st-key-room_reason { display: none; }</style>")
    with above:
        if room.closed is not None:
            st.info(say("room.closed_says"), icon=":material/door_front:")
        elif question is not None and question.open:
            model = _answer(here, question)
        if question is not None and question.shown and not question.open:
            board.draw_question(room, question)
    if votes and question is not None and question.open:
        _send(here, question, model)
    if question is None or not question.open:  # else that is to be answered, and nothing beside it
        _step(here)
    button(say("room.leave"), "logout", leave, type="tertiary")
    st.caption(say("room.kept"))


def _step(here: Here) -> None:
    """Where the class is: its question, and, once they are revealed, what it guessed."""
    room = here.room
    step = board.step_of(room)
    if (room.lesson, room.step) in room.revealed:
        board.draw_guesses(room, step)
        _draw_own_guess(here, step)
    else:
        st.header(in_markdown(room_step_in_words(room)))
        if step is not None and room.closed is None:
            st.html(with_tooltips(step.about, session.language()))
            _guess(here, step.question)
    with st.container(horizontal=True, gap="small"):
        if st.button(say("room.to_step"), icon=":material/school:"):
            known().goes_there = True
            st.switch_page("pages/lesson.py")
        if st.button(say("room.to_explore"), icon=":material/tune:"):
            st.switch_page("app.py")


def _draw_own_guess(here: Here, step: board.BoardStep | None) -> None:
    """What this person guessed, if anything."""
    kept = here.person.guesses.get(here.room.lesson, {}).get(here.room.step)
    if kept is None or step is None or step.answer is None:
        return
    for guess in guessed([kept], step.question):
        st.markdown(f"**{in_markdown(say('standalone.you_said', guess=step.question.in_words(guess)))}**")


def _guess(here: Here, question: lesson_script.StepQuestion) -> None:
    """The guess at the room's step, made here or in the lesson."""
    room = here.room
    if progress().lesson != room.lesson:
        choose(room.lesson)
    mine = progress()
    if guess_at(mine, place_of_step(room), room.step, question) is not None:
        st.info(say("room.until_reveal"), icon=":material/hourglass_top:")


def _answer(here: Here, question: RoomQuestion) -> FitResult | None:
    """The open question, and whether this person's answer is there; gives the model that can be voted for."""
    mine = _mine(here, question)
    st.header(say(f"room.{question.kind}_open"))
    if question.rounds > 1:
        st.markdown(say("room.again_open"))
    elif question.kind == "sign":
        st.markdown(say("room.sign_says"))
    if question.kind == "pair":
        _choose(here, question, mine.choice if mine else "")
        return None
    if mine:
        sent = say_declared(in_words(model_of_link(mine.link)))
        st.success(say("room.vote_sent", setting=escape_markdown(sent)), icon=":material/check_circle:")
    settings, case = session.current(), board.case_of(here.room)
    if not is_for_rooms(settings):
        st.warning(say("room_refused.own_data"), icon=":material/warning:")
        return None
    if settings.data != case.data and here.is_led and is_for_rooms(case):

        def open_case() -> None:
            session.stage(case.looked_at_as(settings))
            session.take_stage()

        theirs, here_shown = (escape_markdown(say_declared(data_in_words(one))) for one in (case, settings))
        st.warning(say("room.other_case", data=theirs, mine=here_shown), icon=":material/swap_horiz:")
        button(say("room.open_case"), "folder_open", open_case, type="primary", width="stretch")
        return None
    st.markdown(f"**{say('room.on_your_screen')}**")
    result = trained(settings)
    draw_models({"g": result})
    return result


def _mine(here: Here, question: RoomQuestion) -> Vote | None:
    votes = question.of_round(question.rounds)
    return next((vote for vote in votes if vote.person_number == here.person.number), None)


def _reason() -> None:
    """A sentence for a vote. It is kept as soon as the field is left, also for the next vote and on other pages."""

    def take(text: str) -> None:
        known().reason = text

    # Streamlit's own bound drops a text that is pasted and too long, without a word.
    st.text_area(say("room.why"), height=80, **mirrored("room_reason", known().reason, take))


def _send(here: Here, question: RoomQuestion, model: FitResult | None) -> None:
    if model is not None:
        link, figures = link_of_model(model.settings), room_figures(model)

        def send() -> None:
            reason = str(st.session_state.get("room_reason", known().reason))
            if len(reason) > REASON_LENGTH:  # what was written stays in the field
                known().problem = say("room.reason_too_long", n=len(reason), most=REASON_LENGTH)
                return
            act(lambda store: store.send_vote(here.seat, link, figures, reason))

        label = say("room.send_again") if _mine(here, question) else say("room.send")
        button(label, "send", send, type="primary", width="stretch")
    st.page_link("app.py", label=say("room.another_setting"), icon=":material/tune:")


def _choose(here: Here, question: RoomQuestion, mine: str) -> None:
    names = {name: say(f"room.{name}") for name in ("model_a", "model_b", "neither")}
    if mine:
        chosen = names["neither" if mine == "neither" else f"model_{mine}"]
        st.success(say("room.choice_sent", choice=chosen), icon=":material/check_circle:")
    draw_pair(question)

    def choose(choice: Any) -> None:
        act(lambda store: store.choose(here.seat, choice))

    for name, label in names.items():
        choice = name.removeprefix("model_")
        label = label if choice == "neither" else say("room.choose", choice=label)
        how = {"type": "primary" if choice == mine else "secondary", "key": f"room_choose_{choice}"}
        button(label, "", choose, choice, width="stretch", **how)
