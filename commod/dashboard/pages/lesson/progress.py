"""How far a session is in the lesson: the step, the guesses, and what of it stands in the address."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import streamlit as st

from commod.dashboard.pages.lesson.script import LETTERS
from commod.dashboard.pages.lesson.steps import STEPS, Step
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState

_PLACES = {step.name: place for place, step in enumerate(STEPS)}


@dataclass
class Progress:
    """How far this session has come."""

    step: int = 0
    answers: dict[int, float | str] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)  # steps whose check was shown
    staged: int | None = None  # the step whose setting the sliders were put to
    turned: int = 0  # how often a step was opened
    notice: str = ""


def _first_seen() -> Progress:
    """As the link has it."""
    found = from_link(session.state().carried)
    # A link with a setting is one that was left: what had been moved stays.
    found.staged = found.step if "data" in st.query_params and found.answers else None
    found.seen = {place for place in found.answers if place != found.step or not STEPS[place].goal}
    return found


# How far this session is.
progress = PageState("lesson", _first_seen)


def from_link(link: dict[str, str]) -> Progress:
    """Whatever the link holds, a valid state; a step is known by name or number, an answer that is none is dropped."""
    found = Progress()
    asked = link.get("step", "")
    if asked in _PLACES:
        found.step = _PLACES[asked]
    elif asked.isascii() and asked.isdecimal() and 1 <= int(asked[:4]) <= len(STEPS):
        found.step = int(asked[:4]) - 1
    elif asked:
        found.notice = f"The link asks for a step “{asked[:20]}”, which is not known: the lesson begins at step 1."
    for place, text in enumerate(link.get("answers", "")[:200].split(",")[: len(STEPS)]):
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
    session.carry(step=STEPS[here.step].name, answers=",".join(texts))


def turn(step: int) -> None:
    """Open a step."""
    here = progress()
    here.step, here.notice, here.staged = step, "", None
    here.turned += 1


def stage(here: Progress) -> Step:
    """Put the sliders to where the step begins, when it is opened; see whether the check can be shown."""
    step = STEPS[here.step]
    if here.staged != here.step or not session.is_staged(step.start):
        here.staged = here.step
        # Who has answered already finds the step as it was left: at its end.
        start = step.end if here.step in here.answers else step.start
        session.stage(start.looked_at_as(session.current()))
    if here.step in here.answers and arrived(step):
        here.seen.add(here.step)
    return step


def arrived(step: Step) -> bool:
    """Whether the sliders stand where the check is made."""
    return not step.goal or session.current().model() == step.end.model()
