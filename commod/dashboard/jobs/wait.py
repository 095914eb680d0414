"""The only place where a script waits for computing: it shows the progress and ends as soon as it is stale."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import local
from typing import Any, TypeVar

from commod.dashboard.jobs import service
from commod.dashboard.jobs.computation import Task
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import (
    LOOK_AROUND,
    PATIENCE,
    PICTURE_DRAWN,
    PICTURE_FIRST,
    POLL,
    SLOW_POLL,
    SOON,
    STEP,
)
from commod.dashboard.jobs.tasks import base
from commod.dashboard.state.settings import Settings
from commod.dashboard.streamlit_internals import stop_if_stale
from commod.experiments import Scene, prepare
from commod.experiments.scene import has_trained

Name = TypeVar("Name")
_here = local()


def while_waiting(look: Callable[[], None] | None) -> None:
    """Have `look` called now and then whenever this thread's script waits: no fragment runs meanwhile."""
    _here.look = look


def _look_around() -> None:
    look, now = getattr(_here, "look", None), time.monotonic()
    if look is not None and now >= getattr(_here, "next_look", 0.0):
        _here.next_look = now + LOOK_AROUND
        look()


@contextmanager
def no_waiting() -> Iterator[None]:
    """A wait in here would hold up what others draw, and raises."""
    depth = getattr(_here, "depth", 0)
    _here.depth = depth + 1
    try:
        yield
    finally:
        _here.depth = depth


def watch(
    tickets: Mapping[Name, Ticket],
    look: Callable[[Mapping[Name, Ticket]], float] = lambda left: POLL,
    *,
    stage: int = -1,
) -> Iterator[Name]:
    """The name of each ticket, as soon as its stage is done.

    `look` is called with those that are left, again and again, and says for how many seconds not to look. A run of the
    script that is no longer wanted ends in here.
    """
    if getattr(_here, "depth", 0):
        raise RuntimeError("A page cannot wait while it paints: wait before or after it.")
    left = dict(tickets)
    while True:
        for name in [name for name, ticket in left.items() if ticket.has(stage)]:
            del left[name]
            yield name
        if not left:
            return
        pause = look(left)
        _look_around()
        next(iter(left.values())).wait(pause, stage)
        stop_if_stale()


def let_picture_come(training: Ticket) -> None:
    """Draw nothing for a moment while the browser fetches the first picture of a new model (``GET /model``)."""
    if not training.has(0):
        training.wait(PICTURE_FIRST, 0)
        time.sleep(PICTURE_DRAWN)
        stop_if_stale()


def wait(ticket: Ticket, place: Any = None, what: str = "", *, stage: int = -1) -> Any:
    """The result of a stage of a job, the last by default; a longer wait is shown at `place`, if there is one."""
    bar = _Bar(place, what)
    for _ in watch({what: ticket}, bar.look, stage=stage):
        pass
    bar.clear()
    return ticket.result(stage)


def result_of(task: Task, place: Any = None, what: str = "", *, stage: int = -1) -> Any:
    """What a task gives, computed once for all sessions."""
    found = service.get(task, stage)
    if found is not None:
        return found
    with service.submit(task) as ticket:
        return wait(ticket, place, what, stage=stage)


def scene_of(settings: Settings) -> Scene:
    """A split with its f, which the queue trains if nobody has."""
    if not has_trained(settings.scene()):
        result_of(base(settings.scene()))
    return prepare(*settings.scene())


@dataclass(frozen=True)
class Pending:
    """A part of a page that is drawn when its result is there."""

    ticket: Ticket
    draw: Callable[[Ticket], None]  # when it is done
    look: Callable[[Ticket], None] | None = None  # while it is not, to show the progress
    held: bool = False  # whether the place in the queue outlives this run of the script


def draw_pending(*parts: Pending | None) -> None:
    """Draw the parts that wait for a result, in the order in which the results come; to be called last on a page."""
    waiting = {place: part for place, part in enumerate(parts) if part is not None}

    def look(left: Mapping[int, Ticket]) -> float:
        for place, ticket in left.items():
            show = waiting[place].look
            if show is not None:
                show(ticket)
        return SLOW_POLL

    with ExitStack() as places:
        for part in waiting.values():
            if not part.held:
                places.enter_context(part.ticket)
        for place in watch({place: part.ticket for place, part in waiting.items()}, look):
            waiting[place].draw(waiting[place].ticket)


class _Bar:
    """A progress bar for longer waits: how many jobs run before, then the share done."""

    def __init__(self, place: Any, what: str) -> None:
        self._place, self._what = place, what
        self._patient_until = time.monotonic() + PATIENCE
        self._drawn: tuple[str, float] | None = None

    def look(self, left: Mapping[str, Ticket]) -> float:
        if self._place is None or time.monotonic() < self._patient_until:
            return POLL
        (ticket,) = left.values()
        text, share = in_line(self._what, ticket), ticket.progress
        if self._drawn is None or text != self._drawn[0] or share >= self._drawn[1] + STEP:
            self._place.progress(share, text=text)
            self._drawn = (text, share)
        return SLOW_POLL

    def clear(self) -> None:
        if self._drawn:
            self._place.empty()


def in_line(what: str, ticket: Ticket) -> str:
    """What a page waits for, how many jobs run before it, and when it will be ready if that takes a while."""
    what = ticket.note or what
    if before := ticket.before:
        return f"{what}: {before} before you"
    ready = ready_in(ticket)
    return f"{what}: {ready}" if ready else f"{what} …"


def ready_in(ticket: Ticket) -> str:
    """When a result will be there; empty if that is soon, or nobody knows yet."""
    seconds = ticket.seconds_left
    if seconds is None or seconds < SOON:
        return ""
    return f"ready in about {round(seconds) if seconds < 10 else 5 * round(seconds / 5)} s"
