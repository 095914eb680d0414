"""Where a script waits: for results, whose progress it shows, and for its turn to draw. A stale one ends there."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock, local
from typing import Any, TypeVar

from commod.dashboard.jobs import service
from commod.dashboard.jobs.computation import Task
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import (
    LINE_POLL,
    LONGEST_LINE,
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
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.streamlit_internals import stop_if_stale
from commod.dashboard.text.language import declared
from commod.experiments import Scene, prepare
from commod.experiments.scene import has_trained

Name = TypeVar("Name")
_here = local()
_deferred = Lock()


def while_waiting(look: Callable[[], None] | None) -> None:
    """Have `look` called now and then whenever this thread's script waits: no fragment runs meanwhile."""
    _here.look = look


def _look_around() -> None:
    look, now = getattr(_here, "look", None), time.monotonic()
    if look is not None and now >= getattr(_here, "next_look", 0.0):
        _here.next_look = now + LOOK_AROUND
        look()


@contextmanager
def first_paint() -> Iterator[None]:
    """Draw what somebody with a slider in hand is looking at; a wait in here would hold up others, and raises."""
    depth = getattr(_here, "depth", 0)
    _here.depth = depth + 1
    try:
        yield
    finally:
        _here.depth = depth


@contextmanager
def deferred_paint() -> Iterator[None]:
    """Draw a part of the rest of a page, one session after the other; a wait in here raises.

    Python runs one thread at a time. If thirty pages draw at once, each takes as long as all of them; if what is below
    the first picture waits, the first pictures come at once. A part should take a few milliseconds, and nobody waits
    for others for very long.
    """
    until = time.monotonic() + LONGEST_LINE
    while not (taken := _deferred.acquire(timeout=LINE_POLL)) and time.monotonic() < until:
        stop_if_stale()
    try:
        with first_paint():
            yield
    finally:
        if taken:
            _deferred.release()


def watch(
    tickets: Mapping[Name, Ticket], look: Callable[[Mapping[Name, Ticket]], float] = lambda _: POLL, *, stage: int = -1
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
    patient_until, drawn = time.monotonic() + PATIENCE, ("", 0.0)

    def look(_: object) -> float:
        nonlocal drawn
        if place is None or time.monotonic() < patient_until:
            return POLL
        text, share = in_line(what, ticket), ticket.progress
        if text != drawn[0] or share >= drawn[1] + STEP:
            place.progress(share, text=text)
            drawn = (text, share)
        return SLOW_POLL

    for _ in watch({what: ticket}, look, stage=stage):
        pass
    if drawn[0]:
        place.empty()
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


def in_line(what: str, ticket: Ticket) -> str:
    """What a page waits for, how many jobs run before it, and when it will be ready if that takes a while."""
    what = ticket.note or what
    if before := ticket.before:
        told = f"{what}: {before} before you"
    else:
        told = f"{what}: {ready}" if (ready := ready_in(ticket)) else f"{what} …"
    return declared(session.language(), told)


def ready_in(ticket: Ticket) -> str:
    """When a result will be there; empty if that is soon, or nobody knows yet."""
    seconds = ticket.seconds_left
    if seconds is None or seconds < SOON:
        return ""
    return f"ready in about {round(seconds) if seconds < 10 else 5 * round(seconds / 5)} s"
