"""Beside the model that data open with: another form of the update, in one line and one click."""

from dataclasses import replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import Pending, deferred_paint
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings, controls_of, defaults, described
from commod.dashboard.text.escape import escape_markdown
from commod.datasets import is_shipped
from commod.experiments.start import Start


def begin_other_form(settings: Settings, place: Any) -> Pending | None:
    """The line at `place` once it is computed; nothing where the sliders have left the opening model."""
    opening = defaults(settings.data, settings.groups)
    if any(getattr(settings, name) != getattr(opening, name) for name in controls_of("model")):
        return None
    task = tasks.other_form(settings) if is_shipped(settings.task_name) else tasks.start(settings)

    def paint(ticket: Ticket) -> None:
        if not ticket.failed:
            with deferred_paint(), place.container():
                draw_other_form(settings, ticket.result())

    return Pending(submit(task), paint)


def draw_other_form(settings: Settings, start: Start) -> None:
    """What the other form does, and the button that opens it."""
    if start.other is None:
        return
    there = replace(settings, **start.other)
    if not session.can_go_to(there):
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(escape_markdown(start.other_told), width="stretch")
        label = f"Open: {described(there, 'model')['update']}"
        st.button(label, key="other_form", on_click=session.go_to, args=(there.looked_at_as(session.current()),))
