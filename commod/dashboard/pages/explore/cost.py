"""What the limits on the update cost: the same sliders without them, beside the model."""

from typing import Any

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, deferred_paint, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.settings import Settings, limits_in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.words import say_declared


def begin_cost(settings: Settings, result: FitResult, place: Any) -> Pending | None:
    """A sentence about it at `place`, whole when the free model is there; nothing where nothing is limited."""
    limits = escape_markdown(say_declared(f"{limits_in_words(settings)} {result.expected}".strip()))
    if not limits:
        return None
    limited = f"**{say_declared('Limited.')}** {limits}"
    place.markdown(f"{limited} {say_declared('What that costs is being computed …')}")

    def paint(ticket: Ticket) -> None:
        with deferred_paint():
            place.markdown(f"{limited} {escape_markdown(say_declared(result.beside(ticket.result())))}")

    return Pending(submit(tasks.prefetch(settings.free())), paint)
