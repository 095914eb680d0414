"""A step with its models from the app's queue, its question and the guess: on the Lesson page and in a room."""

from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.views import room
from commod.dashboard.views.lesson.progress import Progress, carry, lesson
from commod.dashboard.views.lesson.script import StepQuestion, in_markdown
from commod.dashboard.views.lesson.steps import LessonStep, StepModels
from commod.dashboard.views.words import say
from commod.experiments.sweep import Cell


def live_stage(step: LessonStep, place: Any, here: Settings | None = None) -> StepModels:
    """The step with its models, each waited for when it is first asked for, its progress shown at `place`."""
    return StepModels(
        step,
        lambda settings: result_of(tasks.fit(settings), place, "Training"),
        lambda model: result_of(tasks.shap(model), place, "SHAP"),
        lambda settings, *rival: result_of(tasks.rival(settings, Cell(*rival)), place, "Training another method"),
        here,
    )


def guess_at(here: Progress, place: int, name: str, question: StepQuestion) -> float | str | None:
    """The guess at the step of this place and name, told to the room and shown; None as long as it is asked for."""
    said = here.answers.get(place)
    guess = None if said is None else question.guess(said)
    if guess is None:
        here.answers.pop(place, None)
        _ask(here, place, question)
        return None
    room.tell_guess(here.lesson, name, question.kept(guess))
    _show_guess(here, place, question, guess)
    return guess


def _ask(here: Progress, place: int, question: StepQuestion) -> None:
    """The question of the step at a place, with a form for the guess."""
    name = lesson(here).steps[place].name
    key = f"guess_at_{name}"

    def is_answer(guess: Any) -> bool:
        return guess is not None and (bool(question.options) or 0 <= guess <= question.most)

    def take() -> None:
        guess = st.session_state.get(key)
        if is_answer(guess):
            here.answers[place] = question.kept(guess)
            carry(here)
            session.take_stage()

    with st.form(f"guess_{name}"):
        st.markdown(f"**{say('lesson.first_guess')}** {in_markdown(question.text)}")
        if question.options:
            guess: Any = st.radio(
                say("lesson.your_guess"), question.options, index=None, format_func=in_markdown, key=key
            )
        else:
            # Without limits of its own, which would be told by a red mark only.
            guess = st.number_input(
                f"{say('lesson.your_guess')} ({in_markdown(question.unit)})", value=None, step=1, width=420, key=key
            )
        if not st.form_submit_button(say("lesson.guess"), type="primary", on_click=take):
            return
        if guess is None:
            st.warning(say("lesson.guess_first"), icon=":material/help:")
        elif not is_answer(guess):
            st.warning(say("lesson.number_please", most=question.most), icon=":material/help:")


def _show_guess(here: Progress, place: int, question: StepQuestion, guess: float | str) -> None:
    """The guess as it was made, and a way to make another."""

    def again() -> None:
        here.answers.pop(place, None)
        here.seen.discard(place)
        here.staged = None

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        said = say("lesson.guessed", guess=in_markdown(question.in_words(guess)))
        st.markdown(f"{in_markdown(question.text)} **{said}**")
        st.button(say("lesson.again"), icon=":material/undo:", type="tertiary", on_click=again)
