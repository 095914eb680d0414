"""Do these changes make sense? Four questions with a mark each, and a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.tasks import Task
from commod.dashboard.jobs.wait import Pending, in_line
from commod.dashboard.server.paint_order import deferred_paint
from commod.dashboard.text.escape import escape_markdown
from commod.explain.checks import CHECKS, MARKS, Answer, Mark
from commod.explain.concepts import in_percent

# Word and sign tell a mark; the colour only underlines it.
SHOWN: dict[Mark, str] = {
    "fine": ":green[:material/check_circle:] **fine**",
    "look": ":orange[:material/error:] **look**",
    "bad": ":red[:material/cancel:] **bad**",
    "open": ":gray[:material/do_not_disturb_on:] **open**",
}
assert set(SHOWN) == set(MARKS)


def begin_checks(result: FitResult) -> Callable[[], list[Pending]]:
    """The section with its four lines; what it gives sets out to find the two answers that take longer."""
    st.header("Do these changes make sense?")
    if not result.changes["changed"].any():
        st.info("Nobody's decision changes at this setting, so there is nothing to check.", icon=":material/info:")
        return list
    places = {name: st.empty() for name in CHECKS}
    answers = result.answers()
    for name, place in places.items():
        if name in answers:
            line(place, answers[name])
        else:
            place.markdown(_unanswered(name, "…"))
    st.page_link("pages/people.py", label="Each of them in detail: Who changed", icon=":material/groups:")

    def pending() -> list[Pending]:
        return [
            _pending(places["merit"], "merit", tasks.merit(result), lambda found: result.answers(merit=found)),
            _pending(places["again"], "again", tasks.refits(result), lambda found: result.answers(refits=found)),
        ]

    return pending


def in_a_cell(answer: Answer) -> str:
    """An answer in a cell of a table: sign, word, share and counts."""
    word, sign = MARKS[answer.mark]
    if answer.mark == "open":
        return f"{sign} {word}: {'no merit is declared' if answer.check.name == 'merit' else 'nobody changes'}"
    return f"{sign} {word} {share_of(answer)} ({answer.part:,} of {answer.whole:,})"


def share_of(answer: Answer) -> str:
    """The share behind an answer, as it is written."""
    return in_percent(answer.value, 1 if answer.check.bad < 0.1 else 0)


def _unanswered(name: str, told: str) -> str:
    return f":gray[:material/hourglass_empty:] **{CHECKS[name].title}** {told}"


def _pending(place: Any, name: str, task: Task, answers: Callable[[Any], dict[str, Answer]]) -> Pending:
    """A line that tells the progress until its answer is there."""
    told = ""

    def look(ticket: Ticket) -> None:
        nonlocal told
        text = in_line("Refits", ticket) if ticket.before else f"{10 * int(10 * ticket.progress)} %"
        if text != told:
            told = text
            place.markdown(_unanswered(name, told))

    def paint(ticket: Ticket) -> None:
        with deferred_paint():
            line(place, answers(ticket.result())[name])

    return Pending(submit(task), paint, look)


def line(place: Any, answer: Answer) -> None:
    """A mark, the question and the answer in a sentence."""
    check = answer.check
    text = f"{SHOWN[answer.mark]} · **{check.title}** {escape_markdown(answer.sentence)}"
    place.markdown(text, help=f"{check.meaning} {check.bounds}")
