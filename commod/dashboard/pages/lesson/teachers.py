"""What the lesson offers to teachers: links that open a step with some controls only, and the notes."""

import logging
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, begin, get, in_line
from commod.dashboard.pages.lesson.notes import notes
from commod.dashboard.state import session
from commod.dashboard.state.link import FREEZABLE, Access, to_link
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import FIRST as ENGLISH
from commod.dashboard.views.chart import offer
from commod.dashboard.views.lesson.progress import lesson, progress
from commod.dashboard.views.lesson.scenarios import FIRST, Scenario, all_scenarios
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.widgets import button
from commod.dashboard.views.words import say, say_declared
from commod.datasets import damaged_files


def draw_teachers_corner() -> Pending | None:
    """Links and notes, folded up; the notes, if they are being written."""
    taught = lesson(progress())
    steps = taught.steps
    with st.expander(say("lesson.for_teachers"), icon=":material/school:"):
        with st.container():
            writing = _offer_notes(taught)
        left, right = st.columns(2, gap="large")
        with left:
            first = st.selectbox(
                say("lesson.open_at"),
                range(len(steps)),
                index=progress().step,
                format_func=lambda i: f"{i + 1}. {in_markdown(steps[i].title)}",
            )
            live = st.multiselect(
                say("lesson.movable"),
                FREEZABLE,
                default=["lambda_fair", "lambda_ratio", "k"],
                format_func=lambda name: say_declared(CONTROLS[name].label),
                placeholder=say("lesson.movable"),
            )
            hidden = st.toggle(say("lesson.hide"))
        step, access = steps[first], Access(frozenset(live), hidden).to_link()
        here = ({} if taught.name == FIRST else {"lesson": taught.name}) | {"step": step.name}
        spoken = {"lang": session.language()} if session.language() != ENGLISH else {}
        links = {
            say("lesson.link_step"): ("lesson", here | spoken),
            say("lesson.link_same"): ("lesson", here | access | spoken),
            say("lesson.link_explore"): ("", to_link(step.end) | access | spoken),
        }
        address = (st.context.url or "").split("?")[0].removesuffix("lesson").rstrip("/")
        with right:
            for title, (page, parameters) in links.items():
                st.markdown(title)
                st.code(f"{address}/{page}?{urlencode(parameters, safe=',')}", language=None, wrap_lines=True)
        st.caption(say("lesson.notes_caption"))
        st.caption(say("lesson.own_scenario"))
        for problem in all_scenarios()[1]:
            st.warning(escape_markdown(problem), icon=":material/warning:")
    return writing


@dataclass
class _Writing:
    """The notes that are being written for this session, whatever step it turns to meanwhile."""

    task: ComputeTask | None = None
    ticket: Ticket | None = None
    message: str = ""  # why they are not there


_writing = PageState("notes", _Writing)


def _write(task: ComputeTask) -> None:
    """Callback of the button."""
    _stop()
    _writing.set(_Writing(task, begin(task)))


def _stop(message: str = "") -> None:
    """Callback of the other: end the work."""
    ticket = _writing().ticket
    if ticket is not None:
        ticket.leave()
    _writing.set(_Writing(message=message))


def _offer_notes(taught: Scenario) -> Pending | None:
    """A button that has the notes written, their progress with one that stops it, and then one that downloads them."""
    data = {step.start.data for step in taught.steps}
    if lost := {sentence for name, sentence in damaged_files().items() if name in data}:
        text = escape_markdown(" ".join(sorted(lost)))
        st.warning(f"{say('lesson.no_notes')} {text}", icon=":material/warning:")
        return None
    task, here = notes(taught), _writing()
    written: str | None = get(task)
    if written is not None:
        _hand_out(written)
        return None
    if here.ticket is None or here.task != task:
        button(say("lesson.write_notes"), "edit_note", _write, task)
        if here.message:
            st.caption(here.message)
        return None
    place = st.empty()  # for the notes themselves; what need not make way stays, and with it the focus
    with place.container():
        bar = st.empty()
        button(say("lesson.stop_notes"), "stop_circle", _stop, say("lesson.notes_stopped"))

    def show_progress(ticket: Ticket) -> None:
        step, of = (ticket.found or 0) + 1, len(taught.steps)
        waits = ticket.before or ticket.note
        what = say("lesson.writing_notes") if waits else say("lesson.writing_step", step=step, of=of)
        bar.progress(ticket.progress, text=in_line(what, ticket))

    show_progress(here.ticket)
    return Pending(here.ticket, partial(_take, place), show_progress, held=True)


def _take(place: Any, ticket: Ticket) -> None:
    """The notes are there, or cannot be written."""
    try:
        with place:
            _hand_out(ticket.result())
        _stop()
    except Exception:  # also Abandoned: the browser was gone for a while, and nobody waited
        logging.getLogger(__name__).exception("The teacher's notes could not be written.")
        _stop(say("lesson.no_notes"))
        st.rerun()


def _hand_out(written: str) -> None:
    offer(say("lesson.notes"), written.encode(), "commod_teachers_notes.html")
