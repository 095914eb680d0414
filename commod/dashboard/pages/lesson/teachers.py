"""What the lesson offers to teachers: links that open a step with some controls only, and the notes."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.dashboard.jobs.service import get
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.pages.lesson.notes import notes
from commod.dashboard.pages.lesson.progress import lesson, progress
from commod.dashboard.state import session
from commod.dashboard.state.link import FREEZABLE, Access, to_link
from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import FIRST as ENGLISH
from commod.dashboard.views.download import offer
from commod.dashboard.views.lesson.scenarios import FIRST, Scenario, all_scenarios
from commod.dashboard.views.lesson.script import in_markdown
from commod.dashboard.views.words import say
from commod.datasets import damaged_files


def draw_teachers_corner() -> None:
    """Links and notes, folded up."""
    taught = lesson(progress())
    steps = taught.steps
    with st.expander(say("lesson.for_teachers"), icon=":material/school:"):
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
                format_func=lambda name: CONTROLS[name].name,
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
        _offer_notes(st.empty(), taught)
        st.caption(say("lesson.notes_caption"))
        st.caption(say("lesson.own_scenario"))
        for problem in all_scenarios()[1]:
            st.warning(escape_markdown(problem), icon=":material/warning:")


def _offer_notes(place: Any, taught: Scenario) -> None:
    """A button that has the notes written, with their progress in its place, and then one that downloads them."""
    data = {step.start.data for step in taught.steps}
    if lost := {sentence for name, sentence in damaged_files().items() if name in data}:
        told = escape_markdown(" ".join(sorted(lost)))
        place.warning(f"{say('lesson.no_notes')} {told}", icon=":material/warning:")
        return
    task = notes(taught)
    written = get(task)
    if written is None and place.button(say("lesson.write_notes"), icon=":material/edit_note:"):
        written = result_of(task, place, say("lesson.writing_notes"))
    if written is not None:
        offer(say("lesson.notes"), written.encode(), "commod_teachers_notes.html", place=place)
