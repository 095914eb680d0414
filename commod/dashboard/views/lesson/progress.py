"""How far a session is in the lesson: the step, the guesses, and what of it stands in the address."""

import math
from dataclasses import dataclass, field

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.views import room
from commod.dashboard.views.lesson.scenarios import FIRST, Scenario, all_scenarios, scenario
from commod.dashboard.views.lesson.script import LETTERS
from commod.dashboard.views.lesson.steps import LessonStep
from commod.dashboard.views.words import say


@dataclass
class Progress:
    """How far this session has come."""

    lesson: str = FIRST  # the scenario
    step: int = 0
    answers: dict[int, float | str] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)  # steps whose check was shown
    staged: int | None = None  # the step whose setting the sliders were put to
    turned: int = 0  # how often a step was opened
    pressed: bool = False  # whether the learner asked for the step; else opening it changes no other page
    notice: str = ""


def _first_seen() -> Progress:
    found = from_link(session.state().carried)
    # A link with a setting is one that was left: what had been moved stays.
    found.staged = found.step if "data" in st.query_params and found.answers else None
    steps = lesson(found).steps
    found.seen = {place for place in found.answers if place != found.step or not steps[place].goal}
    return found


# How far this session is.
progress = PageState("lesson", _first_seen)
# What was answered in other scenarios, by their names.
_others: PageState[dict[str, Progress]] = PageState("other_lessons", dict)


def lesson(here: Progress) -> Scenario:
    """The scenario that a session is in, in its language."""
    return scenario(here.lesson, session.language())


def choose(name: str) -> None:
    """Go to another scenario, to where it was left."""
    _others()[progress().lesson] = progress()
    progress.set(_others().get(name) or Progress(lesson=name))
    turn(progress().step)


def from_link(link: dict[str, str]) -> Progress:
    """Whatever the link holds, a valid state; a step is known by name or number, an answer that is none is dropped."""
    found = Progress()
    if (named := link.get("lesson", FIRST)) in all_scenarios()[0]:
        found.lesson = named
    else:
        found.notice = say("lesson.no_such_lesson", name=named[:20])
    places, asked = lesson(found).places, link.get("step", "")
    if asked in places:
        found.step = places[asked]
    elif asked.isascii() and asked.isdecimal() and 1 <= int(asked[:4]) <= len(places):
        found.step = int(asked[:4]) - 1
    elif asked:
        found.notice = say("lesson.no_such_step", name=asked[:20])
    for place, text in enumerate(link.get("answers", "")[:200].split(",")[: len(places)]):
        value = _answer_from(text)
        if value is not None:
            found.answers[place] = value
    return found


def _answer_from(text: str) -> float | str | None:
    if len(text) == 1 and text in LETTERS:
        return text
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number <= 1e6 else None


def carry(here: Progress) -> None:
    """Write step and answers into the address, of this page and of the others."""
    last = max(here.answers, default=-1)
    kept = (here.answers.get(place, "") for place in range(last + 1))
    texts = [text if isinstance(text, str) else f"{text:g}" for text in kept]
    named = "" if here.lesson == FIRST else here.lesson
    session.carry(lesson=named, step=lesson(here).steps[here.step].name, answers=",".join(texts))


def turn(step: int) -> None:
    """Open a step."""
    here = progress()
    here.step, here.notice, here.staged = step, "", None
    here.turned += 1
    here.pressed = True


def follow_room() -> None:
    """Open the step that the room of this session has come to together."""
    there = room.step_to_follow()
    if there is None or there[0] not in all_scenarios()[0]:
        return
    if there[0] != progress().lesson:
        choose(there[0])
    places = lesson(progress()).places
    if there[1] in places:
        turn(places[there[1]])
    progress().pressed = False


def stage(here: Progress) -> LessonStep:
    """Put the sliders to where the step begins, when it is opened; see whether the check can be shown."""
    step = lesson(here).steps[here.step]
    # Who comes back from another page with other data finds the step as it was left, too.
    answered = here.step in here.answers
    if here.staged != here.step or not session.is_staged(step.start, answered):
        here.staged = here.step
        # Who has answered already finds the step as it was left: at its end.
        start = step.end if answered else step.start
        session.stage(start.looked_at_as(session.current()))
        if here.pressed:
            session.take_stage()
    here.pressed = False
    if answered and arrived(step):
        here.seen.add(here.step)
    return step


def arrived(step: LessonStep) -> bool:
    """Whether the sliders stand where the check is made."""
    return not step.goal or session.current().model() == step.end.model()
