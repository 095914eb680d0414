"""The Lesson page: one step at a time, a guess before a slider is moved, and the check from the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.pages.lesson import script
from commod.dashboard.pages.lesson.pictures import draw_figures_on_the_way, draw_pictures
from commod.dashboard.pages.lesson.progress import Progress, arrived, carry, progress, stage, turn
from commod.dashboard.pages.lesson.script import Question
from commod.dashboard.pages.lesson.steps import STEPS, Stage, Step
from commod.dashboard.pages.lesson.teachers import draw_teachers_corner
from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import with_tooltips
from commod.dashboard.text.html import html_table
from commod.dashboard.views import controls, frame
from commod.datasets import damaged_files


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/lesson.py")
    here = progress()
    lost = _lost(STEPS[here.step])
    step = STEPS[here.step] if lost else stage(here)
    _overview(here)
    carry(here)
    _head(here, step)
    session.keep_link()
    if lost:
        others = [place + 1 for place, other in enumerate(STEPS) if not _lost(other)]
        st.warning(
            f"This step cannot be shown. {escape_markdown(lost)}"
            + (f" Go on with another: steps {', '.join(map(str, others))} can be shown." if others else ""),
            icon=":material/warning:",
        )
    else:
        _show_step(here, step)
    _turn_pages(here)
    draw_teachers_corner()
    session.keep_link()


def _lost(step: Step) -> str:
    """The sentence about a step's data file, if it is missing or damaged."""
    return damaged_files().get(step.start.data, "")


def _show_step(here: Progress, step: Step) -> None:
    """The step, or a sentence if its models could not be trained."""
    place = st.empty()
    at = Stage(
        step,
        lambda settings: result_of(tasks.fit(settings), place, "Training"),
        lambda model: result_of(tasks.shap(model), place, "SHAP"),
        lambda settings, *rival: result_of(tasks.rival(settings, *rival), place, "Training another method"),
    )
    try:
        _work_through(here, at)
    except Exception:
        st.error(
            "The models of this step could not be trained, for a reason of ours. Your answers are kept: go on with "
            "another step, and come back.",
            icon=":material/error:",
        )


def _overview(here: Progress) -> None:
    """All steps, in the sidebar."""
    with st.sidebar:
        st.markdown(f"**A guided hour** ({sum(step.minutes for step in STEPS)} minutes)")
        st.caption("Each step sets the sliders of the app. Undo on the Explore page brings yours back.")
        for place, step in enumerate(STEPS):
            answered = place in here.seen
            st.button(
                f"{place + 1}. {step.title}" + (" ✓" if answered else ""),
                key=f"step_{place}",
                icon=":material/check_circle:" if answered else ":material/radio_button_unchecked:",
                type="secondary" if place == here.step else "tertiary",
                on_click=turn,
                args=(place,),
            )
        frame.language_choice()


def _head(here: Progress, step: Step) -> None:
    """Where one is."""
    st.title(f"{here.step + 1}. {step.title}")
    if here.turned:
        frame.back_to_the_top(here.turned)
    controls.notices()
    if here.notice:
        st.warning(escape_markdown(here.notice), icon=":material/link_off:")
    done = len(here.seen)
    st.progress(
        done / len(STEPS),
        text=f"Step {here.step + 1} of {len(STEPS)}, about {step.minutes} minutes. {done} of {len(STEPS)} answered.",
    )


# ---- a step ----


def _work_through(here: Progress, at: Stage) -> None:
    """Text, question, slider, check."""
    st.html(with_tooltips(script.text(at)))
    question = script.question(at)
    said = here.answers.get(here.step)
    if said is not None and bool(question.options) != isinstance(said, str):
        here.answers.pop(here.step)  # of a link that was edited
        said = None
    if said is None:
        _ask(here, question)
        return
    guess = question.guess(said)
    _show_guess(here, question, guess)
    if at.step.goal:
        _move(at.step)
    if here.step in here.seen:
        _check(here, at, guess)
    else:
        draw_figures_on_the_way(at)


def _ask(here: Progress, question: Question) -> None:
    """The question, and a guess that must be made before anything moves."""
    with st.form(f"guess_{STEPS[here.step].name}"):
        st.markdown(f"**First a guess.** {question.text}")
        if question.options:
            guess: Any = st.radio("Your guess", question.options, index=None)
        else:
            # Without limits of its own, which would be told by a red mark only.
            guess = st.number_input(f"Your guess ({question.unit})", value=None, step=1, width=420)
        if not st.form_submit_button("This is my guess", type="primary"):
            return
        if guess is None:
            st.warning("Guess first; any guess will do.", icon=":material/help:")
        elif not question.options and not 0 <= guess <= question.most:
            st.warning(f"A number from 0 to {question.most:,}, please.", icon=":material/help:")
        else:
            here.answers[here.step] = question.kept(guess)
            carry(here)
            st.rerun()


def _show_guess(here: Progress, question: Question, guess: float | str) -> None:
    """The guess as it was made, and a way to make another."""

    def again() -> None:
        here.answers.pop(here.step, None)
        here.seen.discard(here.step)
        here.staged = None

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{question.text} **Your guess: {question.in_words(guess)}.**")
        st.button("Guess again", icon=":material/undo:", type="tertiary", on_click=again)


def _move(step: Step) -> None:
    """The slider of the step."""
    ((name, value),) = step.goal
    here = session.current()
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        st.markdown(f"**Now move {CONTROLS[name].name} to {value:g}.**")
        controls.control(name)
    if arrived(step):
        return
    elsewhere = here.problem() != step.start.problem()
    right.button(
        "Back to this step's setting" if elsewhere else f"Set it to {value:g} for me",
        icon=":material/step_over:",
        on_click=session.stage,
        args=(step.end.looked_at_as(here),),
    )
    if not session.access().allows(name):
        st.caption(f"{CONTROLS[name].label} cannot be moved with the link you came with; the button moves it.")


def _check(here: Progress, at: Stage, guess: float | str) -> None:
    """What the model says, what is seen in it, and what to talk about."""
    step, answer = at.step, script.answer(at)
    right, word = script.check(answer, guess)
    box = st.success if right else st.info
    box(f"{answer.words} {word}", icon=":material/check_circle:" if right else ":material/lightbulb:")
    if not step.free:
        draw_pictures(at)
    st.html(with_tooltips(script.told(at)))
    if step.free:
        for name in step.free:
            controls.control(name)
        draw_pictures(at)
    if STEPS[-1] is step:
        _summary(here, at)
    st.subheader("Talk about it")
    st.markdown("\n".join(f"- {question}" for question in step.talk))
    with st.container(horizontal=True, gap="small"):
        for page in step.pages:
            title, icon = frame.PAGES[page]
            st.page_link(page, label=f"Look closer: {title}", icon=icon)


def _summary(here: Progress, at: Stage) -> None:
    """All guesses beside what the models said."""
    rows = []
    for place, said in sorted(here.answers.items()):
        if _lost(STEPS[place]):
            continue
        there = replace(at, step=STEPS[place])
        question = script.question(there)
        values = (question.guess(said), script.answer(there).value)
        rows.append([f"{place + 1}. {there.step.title}", *map(question.in_words, values)])
    st.subheader("Your hour")
    st.html(html_table(("Step", "You said", "The model said"), rows, caption="Your hour", text=(1, 2)))


def _turn_pages(here: Progress) -> None:
    """To the step before and the one after."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        before, after = here.step - 1, here.step + 1
        st.button(
            "Back", icon=":material/arrow_back:", disabled=before < 0, on_click=turn, args=(max(before, 0),), key="back"
        )
        if after == len(STEPS):
            st.page_link("app.py", label="To the Explore page, where all sliders are yours", icon=":material/tune:")
            return
        st.button(
            f"Next: {STEPS[after].title}",
            icon=":material/arrow_forward:",
            type="primary" if here.step in here.seen else "secondary",
            on_click=turn,
            args=(after,),
            key="next",
        )
