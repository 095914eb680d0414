"""What is wrong with a model though its figures look well, and what does better at the same sliders."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import Pending, deferred_paint
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.trouble import trouble_in_words
from commod.explain.trouble import does_better
from commod.metrics.figures import CRITERIA

# What else the update can be at the same sliders.
OTHERS: dict[str, dict[str, Any]] = {
    "Multiply and shift": {"update": "affine"},
    "Count changed decisions": {"update": "decisions"},
    "Nobody loses the better decision": {"direction": "improve"},
    "Multiply and shift, and nobody loses": {"update": "affine", "direction": "improve"},
}


def begin_trouble(settings: Settings, result: FitResult, place: Any) -> list[Pending]:
    """A warning at `place`, and below it what does better, as it is found; nothing for a sound model."""
    if not trouble_in_words(result):
        return []
    others = {label: replace(settings, **changed) for label, changed in OTHERS.items()}
    left = {label: other for label, other in others.items() if other != settings and session.can_go_to(other)}
    with place.container():
        st.warning(escape_markdown(" ".join(trouble_in_words(result))), icon=":material/warning:")
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            told = st.empty()
            buttons = {label: st.empty() for label in left}
            st.page_link("pages/compare.py", label="What other methods do", icon=":material/compare_arrows:")
    if left:
        told.markdown("Does another form of the update do better at the same sliders? …")
    better: list[str] = []

    def paint(label: str, ticket: Ticket) -> None:
        del left[label]
        with deferred_paint():
            if not ticket.failed and _does_better(ticket.result(), result):
                better.append(label)
                _offer(buttons[label], label, ticket.result())
            if better:
                told.markdown("At the same sliders, without that:")
            elif not left:
                told.markdown("No other form of the update does better at these sliders; a smaller λ_fair may.")

    return [Pending(submit(tasks.prefetch(other)), partial(paint, label)) for label, other in list(left.items())]


def _does_better(other: FitResult, result: FitResult) -> bool:
    figures, sound = (result.figures, other.figures), (not trouble_in_words(result), not trouble_in_words(other))
    return does_better(result.settings.fairness, *figures, sound=sound[0], other_sound=sound[1])


def _offer(place: Any, label: str, other: FitResult) -> None:
    """A button that leads to another model and says what it gives."""
    values = [
        f"{figure.short_in_sentence} {figure.show(other.figures.loc[figure.name, 'g'])}"
        for figure in CRITERIA[other.settings.fairness].key_figures
        if figure.name in other.figures.index
    ]
    there = other.settings.looked_at_as(session.current())
    place.button(f"{label}: {', '.join(values)}", on_click=session.go_to, args=(there,))
