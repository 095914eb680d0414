"""Marks: do these changes make sense, and are the requirements met? A mark for each, and a sentence."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import SOON
from commod.dashboard.jobs.service import Pending, deferred_paint, ready_in, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import words
from commod.dashboard.views.next_step import begin_merit_step, begin_next_steps, draw_for_checks
from commod.dashboard.views.words import say, say_declared
from commod.decisions import VERDICTS
from commod.experiments.refits import Refits
from commod.explain.checks import CHECKS, MARKS, Answer, Mark
from commod.wording import with_capital

_sort = st.components.v2.component(
    "commod_sort", html="", js=(Path(__file__).parent / "browser" / "sort.js").read_text()
)


def let_tables_sort() -> None:
    """Call it once on a page, anywhere: it draws nothing."""
    _sort(key="sort", height="content")


# Word and sign tell a mark; the colour only underlines it.
SHOWN: dict[Mark, str] = {
    "fine": ":green[:material/check_circle: Fine.]",
    "predicted": ":gray[:material/drag_handle:]",  # the sentence says what is expected
    "look": ":orange[:material/error: Look closer.]",
    "bad": ":red[:material/cancel: A problem.]",
    "open": ":gray[:material/do_not_disturb_on: Not known.]",
}
assert set(SHOWN) == set(MARKS)


def begin_checks(result: FitResult) -> Callable[[], list[Pending]]:
    """The section with its four lines; what it gives sets out to find the two answers that take longer."""
    st.header(say_declared("Do these changes make sense?"), help=checks_in_words())
    if not result.changes["changed"].any():
        st.info(say("checks.nothing"), icon=":material/info:")
        return list
    # All lines in one element: each one more is one more message for every move of everybody.
    place, answers, notes = st.empty(), result.answers(), dict.fromkeys(CHECKS, "")
    steps, untried = st.empty(), {name: st.empty() for name in CHECKS if name not in result.at_hand}
    _paint(place, answers, notes)

    asked = time.monotonic()

    def waiting(name: str, task: ComputeTask, take: Callable[[Any], dict[str, Answer]]) -> Pending:
        def show_progress(ticket: Ticket) -> None:
            text = say_declared(ticket.note or ", ".join(filter(None, (how_far(ticket, asked), ready_in(ticket)))))
            if text != notes[name]:
                notes[name] = text
                # A first answer, which says by how many refits; once the job has ended, the parts are gone.
                if task.parts and (parts := ticket.parts):
                    answers.update(take(Refits.joined(parts)))
                _paint(place, answers, notes)

        def paint(ticket: Ticket) -> list[Pending] | None:
            notes[name] = ""
            answers.update(take(ticket.result()))
            with deferred_paint():
                _paint(place, answers, notes)
            if answers[name].mark != "bad":
                return None
            if name == "merit":
                return begin_merit_step(result, answers[name], untried[name])
            untried[name].caption(f"{say_declared(CHECKS[name].title)} {say('next.not_tried')}")
            return None

        return Pending(submit(task), paint, show_progress)

    return lambda: [
        *begin_next_steps(result.settings, result, steps, draw_for_checks),
        waiting("merit", tasks.merit(result), lambda found: result.answers(merit=found)),
        waiting("again", tasks.refits(result), lambda found: result.answers(refits=found)),
    ]


def how_far(ticket: Ticket, asked: float) -> str:
    """How far a job has come; not its place in the line, which changes with every move of everybody."""
    if ticket.progress:
        return f"{10 * int(10 * ticket.progress)} % computed"
    return "starts when the server is less busy" if ticket.before and time.monotonic() - asked > SOON else "…"


def _paint(place: Any, answers: dict[str, Answer], notes: dict[str, str]) -> None:
    """All lines; one that is not fully answered yet says how far it has come, and has no mark."""
    lines = [_in_words(answers[name], notes[name]) if name in answers else _waits(name, notes) for name in CHECKS]
    place.markdown("\n\n".join([*lines, f":gray[{say('checks.more')}]"]))


def _waits(name: str, notes: dict[str, str]) -> str:
    return f":gray[:material/hourglass_empty:] **{say_declared(CHECKS[name].title)}** {notes[name] or '…'}"


def _in_words(answer: Answer, so_far: str = "") -> str:
    """With its mark or, where more is being computed, with how far that has come."""
    title, text = say_declared(answer.check.title), escape_markdown(say_declared(answer.sentence))
    if so_far:
        return f":gray[:material/hourglass_empty:] **{title}** {text} :gray[({so_far})]"
    return f"**{title}** {say_declared(SHOWN[answer.mark])} {text}"


def checks_in_words() -> str:
    """What all checks count."""
    return "\n\n".join(f"**{say_declared(check.title)}** {_meaning(name)}" for name, check in CHECKS.items())


def _meaning(name: str) -> str:
    word = words(session.language())[f"check_{name}"]
    return f"{word.tip} {word.more}"


def line(answer: Answer) -> None:
    """A mark, the question and the answer in a sentence."""
    st.markdown(_in_words(answer), help=_meaning(answer.check.name))


def changing_table(place: Any, table: Markup) -> Any:
    """Draw a table at `place`, and give the place to draw it again when it is filled further.

    It goes through Markdown, of which the browser changes only the cells that differ. `st.html` would put in a new
    table each time, and who is in the old one with the keyboard would lose the focus.
    """
    whole = re.sub(r"[\r\n]\s*[\r\n]", "\n", table)  # at an empty line Markdown would end it
    return place.markdown(whole, unsafe_allow_html=True)


def in_a_cell(answer: Answer) -> str:
    """An answer in a cell of a table: sign, word, share, counts, and below them what it rests on."""
    word, sign = answer.word_and_sign
    if answer.mark == "open":
        return f"{sign} {word}: {answer.why_open}"
    basis = f"\n{answer.basis}" if answer.basis else ""
    return f"{sign} {word} {answer.share} ({answer.part:,} of {answer.whole:,}){basis}"


# Word and sign tell a verdict; the colour only underlines it.
SIGNS = {
    "pass": ":green[:material/check_circle:] **pass**",
    "fail": ":red[:material/cancel:] **fail**",
    "cannot tell": ":orange[:material/help:] **cannot tell**",
    "does not apply": ":gray[:material/do_not_disturb_on:] **does not apply**",
}
assert set(SIGNS) == set(VERDICTS)


def lines_of_verdicts(checked: pd.DataFrame) -> str:
    """Markdown: a line for each requirement, from `check_requirements`; what chance leaves open is gray."""
    lines = []
    for row in checked.to_dict("records"):
        text, mark, chance = row["sentence"].partition(" With other ")
        splits = f" Other splits: {row['splits'].partition(', ')[2]}." if row["splits"] else ""
        lines.append(f"{SIGNS[row['verdict']]} · **{escape_markdown(first_capital(row['wanted']))}.** ")
        gray = escape_markdown((mark + chance + splits).strip())
        lines[-1] += escape_markdown(text) + (f" :gray[{gray}]" if gray else "")
    return "\n\n".join(lines)


def first_capital(wanted: str) -> str:
    """A requirement at the beginning of a line; f stays f."""
    return wanted if wanted.startswith("f ") else with_capital(wanted)
