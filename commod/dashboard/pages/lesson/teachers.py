"""What the lesson offers to teachers: links that open a step with some controls only, and the notes."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.dashboard.jobs.service import get
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.pages.lesson.notes import notes
from commod.dashboard.pages.lesson.progress import progress
from commod.dashboard.pages.lesson.steps import STEPS
from commod.dashboard.state.link import FREEZABLE, Access, to_link
from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.download import offer
from commod.datasets import damaged_files


def draw_teachers_corner() -> None:
    """Links and notes, folded up."""
    with st.expander("For teachers: links and notes", icon=":material/school:"):
        left, right = st.columns(2, gap="large")
        with left:
            first = st.selectbox(
                "Open at step",
                range(len(STEPS)),
                index=progress().step,
                format_func=lambda i: f"{i + 1}. {STEPS[i].title}",
            )
            live = st.multiselect(
                "Controls that can be moved",
                FREEZABLE,
                default=["lambda_fair", "lambda_ratio", "k"],
                format_func=lambda name: CONTROLS[name].name,
            )
            hidden = st.toggle("Hide the others (else they are shown, but do not move)")
        step, access = STEPS[first], Access(frozenset(live), hidden).to_link()
        links = {
            "A link to this step of the lesson": ("lesson", {"step": step.name}),
            "The same, with these controls only": ("lesson", {"step": step.name} | access),
            "The Explore page where this step ends, with these controls only": ("", to_link(step.end) | access),
        }
        address = (st.context.url or "").split("?")[0].removesuffix("lesson").rstrip("/")
        with right:
            for title, (page, parameters) in links.items():
                st.markdown(title)
                st.code(f"{address}/{page}?{urlencode(parameters, safe=',')}", language=None, wrap_lines=True)
        _offer_notes(st.empty())
        st.caption(
            "The notes are written by the models when you ask for them, which takes some seconds. A link freezes "
            "controls for a class that wants to be led; it is no lock: whoever edits the address has them back."
        )


def _offer_notes(place: Any) -> None:
    """A button that has the notes written, with their progress in its place, and then one that downloads them."""
    lost = {sentence for name, sentence in damaged_files().items() if name in {step.start.data for step in STEPS}}
    if lost:
        place.warning(
            f"The notes cannot be written. {escape_markdown(' '.join(sorted(lost)))}", icon=":material/warning:"
        )
        return
    written = get(notes())
    if written is None and place.button(
        "Write the teacher's notes with the expected figures", icon=":material/edit_note:"
    ):
        written = result_of(notes(), place, "Writing the notes")
    if written is not None:
        label = "Teacher's notes with the expected figures"
        offer(label, written.encode(), "commod_teachers_notes.html", place=place)
