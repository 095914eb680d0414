"""What somebody does who takes part: answer what is asked, and see what the room said. On a phone, above all."""

import streamlit as st

from commod.dashboard.pages.room import board
from commod.dashboard.pages.room.models import draw_model, draw_pair, trained
from commod.dashboard.rooms import Here, Question
from commod.dashboard.rooms.names import REASON_LENGTH
from commod.dashboard.state import session
from commod.dashboard.state.link import link_of_model, model_of_link
from commod.dashboard.state.settings import in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views import frame
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.room import act, figures_of, is_for_rooms, known, leave
from commod.dashboard.views.room_line import step_in_words
from commod.dashboard.views.words import say


def show(here: Here) -> None:
    """The page, from top to bottom: what is asked now first."""
    room, question = here.room, here.room.question
    st.title(say("room.room", code=room.code))
    if room.closed is not None:
        st.info(say("room.closed_says"), icon=":material/door_front:")
    elif question is not None and question.open:
        _answer(here, question)
    if question is not None and question.shown and not question.open:
        board.draw_question(room, question)
    if question is None or not question.open:  # else that is to be answered, and nothing beside it
        _step(here)
    st.button(say("room.leave"), icon=":material/logout:", on_click=leave, type="tertiary")
    st.caption(say("room.kept"))
    with st.sidebar:
        frame.language_choice()


def _step(here: Here) -> None:
    """Where the class is, and, once they are revealed, what it guessed."""
    room = here.room
    if (room.lesson, room.step) in room.revealed:
        board.draw_guesses(room, board.step_of(room))
    else:
        st.header(in_markdown(step_in_words(room)))
        if room.closed is None:
            st.markdown(say("room.guess_there"))
    with st.container(horizontal=True, gap="small"):
        if st.button(say("room.to_step"), icon=":material/school:", type="primary"):
            known().goes_there = True
            st.switch_page("pages/lesson.py")
        if st.button(say("room.to_explore"), icon=":material/tune:"):
            st.switch_page("app.py")


def _answer(here: Here, question: Question) -> None:
    """The open question, and whether her answer is there."""
    mine = [vote for vote in question.of_round(question.rounds) if vote.person_number == here.person.number]
    st.header(say(f"room.{question.kind}_open"))
    if question.rounds > 1:
        st.markdown(say("room.again_open"))
    if question.kind == "pair":
        _choose(here, question, mine[0].choice if mine else "")
        return
    if mine:
        sent = in_words(model_of_link(mine[0].link))
        st.success(say("room.vote_sent", setting=escape_markdown(sent)), icon=":material/check_circle:")
    settings = session.current()
    if not is_for_rooms(settings):
        st.warning(say("room_refused.own_data"), icon=":material/warning:")
        st.page_link("app.py", label=say("room.to_explore"), icon=":material/tune:")
        return
    st.markdown(f"**{say('room.on_your_screen')}**")
    result = trained(settings)
    draw_model(result)

    key = f"room_reason_{question.number}_{question.rounds}"  # a second vote begins with an empty field

    def send() -> None:
        reason = str(st.session_state.get(key, ""))
        if len(reason) > REASON_LENGTH:  # what she wrote stays in the field
            known().trouble = say("room.reason_too_long", n=len(reason), most=REASON_LENGTH)
            return
        act(lambda store: store.send_vote(here.seat, link_of_model(settings), figures_of(result), reason))

    with st.form("vote", border=False):
        # Streamlit's own bound drops a text that is pasted and too long, without a word.
        st.text_area(say("room.why"), key=key, height=80)
        label = say("room.send_again") if mine else say("room.send")
        st.form_submit_button(label, type="primary", icon=":material/send:", on_click=send, width="stretch")
    st.page_link("app.py", label=say("room.another_setting"), icon=":material/tune:")


def _choose(here: Here, question: Question, mine: str) -> None:
    """One model or the other."""
    names = {name: say(f"room.{name}") for name in ("model_a", "model_b", "neither")}
    if mine:
        chosen = names["neither" if mine == "neither" else f"model_{mine}"]
        st.success(say("room.choice_sent", choice=chosen), icon=":material/check_circle:")
    draw_pair(question)
    for name, label in names.items():
        choice = name.removeprefix("model_")

        def choose(choice: str = choice) -> None:
            act(lambda store: store.choose(here.seat, choice))  # type: ignore[arg-type]

        st.button(
            say("room.choose", choice=label) if choice != "neither" else label,
            type="primary" if choice == mine else "secondary",
            on_click=choose,
            width="stretch",
            key=f"room_choose_{choice}",
        )
