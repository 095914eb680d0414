"""The Lesson page: one step at a time, a guess before a slider is moved, and the check from the model."""

import logging
from dataclasses import replace

import streamlit as st

from commod.dashboard.jobs.service import draw_pending
from commod.dashboard.pages.lesson.pictures import STILL, draw_figures_on_the_way, draw_pictures, with_slider
from commod.dashboard.pages.lesson.teachers import draw_teachers_corner
from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import with_tooltips
from commod.dashboard.text.html import html_table
from commod.dashboard.text.menu import PAGES, page_name
from commod.dashboard.views import controls, frame, room
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.asking import guess_at, live_stage
from commod.dashboard.views.lesson.progress import (
    Progress,
    arrived,
    carry,
    choose,
    follow_room,
    lesson,
    progress,
    stage,
    turn,
)
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.lesson.steps import LessonStep, StepModels
from commod.dashboard.views.widgets import button, choose_lesson
from commod.dashboard.views.words import say
from commod.datasets import damaged_files


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/lesson.py")
    follow_room()
    here, cover = progress(), st.empty()
    if here.staged is None:  # until this step is drawn, nothing of the one before stands below it
        cover.html("<style>[data-stale='true'] { display: none; }</style>")
    steps = lesson(here).steps
    lost = _lost(steps[here.step])
    step = steps[here.step] if lost else stage(here)
    _overview(here)
    carry(here)
    _head(here, step)
    session.keep_link()
    body = st.container()
    _turn_pages(here)
    notes = None if room.is_led() else draw_teachers_corner()
    with body:  # last, as it may wait for models
        if lost:
            others = ", ".join(str(place + 1) for place, other in enumerate(steps) if not _lost(other))
            text = f"{say('lesson.step_lost')} {escape_markdown(lost)}"
            st.warning(f"{text} {say('lesson.other_steps', steps=others) if others else ''}", icon=":material/warning:")
        else:
            _show_step(here, step)
    session.keep_link()
    cover.empty()
    draw_pending(notes)


def _lost(step: LessonStep) -> str:
    """The sentence about a step's data file, if it is missing or damaged."""
    return damaged_files().get(step.start.data, "")


def _show_step(here: Progress, step: LessonStep) -> None:
    """The step, or a sentence if its models could not be trained."""
    try:
        _work_through(here, live_stage(step, st.empty(), session.current()))
    except Exception:
        logging.getLogger(__name__).exception("A step of the lesson could not be shown.")
        st.error(say("lesson.failed"), icon=":material/error:")


def _overview(here: Progress) -> None:
    """The scenario and all its steps, in the sidebar."""
    taught = lesson(here)
    with st.sidebar:
        choose_lesson("lesson_choice", here.lesson, choose)
        st.markdown(f"**{say('lesson.hour')}** ({say('lesson.minutes', n=taught.minutes)})")
        if taught.language != session.language():
            st.caption(say("lesson.other_language"))
        if session.access().live is None:
            st.caption(say("lesson.sets_sliders"))
        led = room.is_led()
        for place, step in enumerate(taught.steps):
            answered = place in here.seen
            label = f"{place + 1}. {in_markdown(step.title)}" + (" ✓" if answered else "")
            icon = "check_circle" if answered else "radio_button_unchecked"
            kind = "secondary" if place == here.step else "tertiary"
            button(label, icon, turn, place, type=kind, disabled=led, key=f"step_{place}")
        if led:
            st.caption(say("room.led"))
        room.invite()


def _head(here: Progress, step: LessonStep) -> None:
    """Where one is."""
    st.title(f"{here.step + 1}. {in_markdown(step.title)}")
    if here.turned:
        frame.scroll_to(turn=here.turned)
    controls.notices()
    if here.notice:
        st.warning(escape_markdown(here.notice), icon=":material/link_off:")
    done, total = len(here.answers), len(lesson(here).steps)
    text = say("lesson.progress", step=here.step + 1, total=total, minutes=step.minutes, done=done)
    st.progress(done / total, text=text)


# ---- a step ----


def _work_through(here: Progress, at: StepModels) -> None:
    """Text, question, slider, check."""
    st.html(with_tooltips(script.text(at), session.language()))
    question = script.question(at)
    guess = guess_at(here, here.step, at.step.name, question)
    if guess is None:
        return
    if room.is_late(here.lesson, at.step.name, question.kept(guess)):
        st.caption(say("room.late_guess"))
    if room.holds_answer(here.lesson, at.step.name):
        st.info(say("room.until_reveal"), icon=":material/hourglass_top:")
        return
    pictures = with_slider(at)
    if at.step.goal and pictures:
        left, right = st.columns(2, gap="medium")
        with right:
            pictures.pop(0)(at)
    else:
        left = st.container()
    with left:
        if at.step.goal:
            _move(at.step)
        if here.step in here.seen:
            _say_answer(at, guess)
        for draw in pictures:
            draw(at)
    if here.step in here.seen:
        _check(here, at)
    else:
        draw_figures_on_the_way(at)


def _move(step: LessonStep) -> None:
    """The slider of the step."""
    ((name, value),) = step.goal
    there = arrived(step)
    asked = say("lesson.moved" if there else "lesson.move", control=CONTROLS[name].name, value=value)
    st.markdown(f"**{asked}**")
    controls.draw_control(name)
    if there:
        return
    end, frozen = step.end.looked_at_as(session.current()), session.state().frozen

    def set_it() -> None:
        session.stage(end)
        session.take_stage()

    button(say("lesson.set_for_me", value=value), "step_over", set_it, disabled=frozen)
    if frozen:
        st.caption(say("room.frozen_says"))
    elif not session.access().allows(name):
        st.caption(say("lesson.frozen", control=CONTROLS[name].name))


def _say_answer(at: StepModels, guess: float | str) -> None:
    """What the model says, and what to make of the guess."""
    answer = script.answer(at)
    right, word = script.check(answer, guess, session.language())
    box = st.success if right else st.info
    icon = ":material/check_circle:" if right else ":material/lightbulb:"
    box(f"{in_markdown(answer.words)} {in_markdown(word)}", icon=icon)


def _check(here: Progress, at: StepModels) -> None:
    """What is seen in the model, and what to talk about."""
    step, paragraphs = at.step, script.explanation(at, rivals=False)
    shows = [name for name in step.shows if name != "rivals"]
    still = [name for name in shows if not step.free or name in STILL]
    if step.free and still:  # the first paragraph leads to them
        st.html(with_tooltips([paragraphs.pop(0)], session.language()))
    draw_pictures(at, still)
    st.html(with_tooltips(paragraphs, session.language()))
    for name in step.free:
        controls.draw_control(name)
    draw_pictures(at, [name for name in shows if name not in still])
    beside = st.container()
    if here.step == len(lesson(here).steps) - 1:
        _summary(here, at)
    st.subheader(say("lesson.talk"))
    st.markdown("\n".join(f"- {in_markdown(question)}" for question in step.talk))
    with st.container(horizontal=True, gap="small"):
        for page in step.pages:
            title = page_name(page, session.language())
            st.page_link(page, label=f"{say('lesson.closer')} {title}", icon=PAGES[page][1])
    if "rivals" in step.shows or step.rivals:
        with beside:  # last, as they may have to be trained, which shows where they will stand
            at = live_stage(step, st.empty(), at.here)
            st.html(with_tooltips(script.explanation(at, rivals=True), session.language()))
            draw_pictures(at, [name for name in step.shows if name == "rivals"])


def _summary(here: Progress, at: StepModels) -> None:
    """All guesses beside what the models said."""
    rows, steps = [], lesson(here).steps
    for place, said in sorted((place, here.answers[place]) for place in here.seen & here.answers.keys()):
        there = replace(at, step=steps[place], here=None)
        if _lost(steps[place]) or (guess := (question := script.question(there)).guess(said)) is None:
            continue
        values = (guess, script.answer(there).value)
        rows.append([f"{place + 1}. {there.step.title}", *map(question.in_words, values)])
    headings = [say(f"lesson.{name}") for name in ("step", "you_said", "model_said")]
    st.subheader(say("lesson.your_hour"))
    st.html(html_table(headings, rows, caption=say("lesson.your_hour"), text=(1, 2)))


def _turn_pages(here: Progress) -> None:
    """To the step before and the one after."""
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        before, after, steps, led = here.step - 1, here.step + 1, lesson(here).steps, room.is_led()
        button(say("lesson.back"), "arrow_back", turn, max(before, 0), disabled=before < 0 or led, key="back")
        if after == len(steps):
            st.page_link("app.py", label=say("lesson.to_explore"), icon=":material/tune:")
            return
        label = f"{say('lesson.next')} {in_markdown(steps[after].title)}"
        kind = "primary" if here.step in here.seen else "secondary"
        button(label, "arrow_forward", turn, after, type=kind, disabled=led, key="next")
