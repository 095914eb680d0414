"""The queue and the process pool of this server, and where scripts wait: for results, and for their turn to draw."""

import os
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock, local
from typing import Any, TypeVar

import streamlit as st
from joblib import cpu_count

from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.processes import ProcessPool
from commod.dashboard.jobs.queue import JobStage, Ticket, WorkQueue
from commod.dashboard.jobs.scheduling import (
    CALL_BACK,
    LINE_POLL,
    LONGEST_LINE,
    PATIENCE,
    PICTURE_DRAWN,
    PICTURE_FIRST,
    POLL,
    SLOW_POLL,
    SOON,
    START_PAUSE,
    STEP,
)
from commod.dashboard.jobs.tasks import base
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.streamlit_internals import stop_if_stale, this_session
from commod.dashboard.text.language import declared
from commod.datasets import is_shipped, on_forget
from commod.experiments import Scene, prepare
from commod.experiments.scene import has_trained


def _asked(variable: str, usual: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else usual


def _foreground() -> int:
    """Processes for people who move sliders: COMMOD_PROCESSES, or one for two cores."""
    return _asked("COMMOD_PROCESSES", max(1, cpu_count() // 2))


def _background() -> int:
    """Processes for the background: COMMOD_BACKGROUND, or one for each core, at least three.

    They only get time that nobody else wants. Of three, two serve two people's searches, and one is left for short jobs
    (`WorkQueue`).
    """
    return max(1, _asked("COMMOD_BACKGROUND", max(3, cpu_count())))


def _large() -> int:
    """How many base models train on large uploaded data at a time, besides one on small data."""
    return max(1, cpu_count() // 4)


@st.cache_resource(show_spinner=False)
def process_pool() -> ProcessPool:
    """The processes that compute for this server."""
    return ProcessPool(_foreground(), _background(), apart=1 + 2 * _large(), after=START_PAUSE)


@st.cache_resource(show_spinner=False)
def queue() -> WorkQueue:
    """The one queue of this server: as many jobs at a time as there are processes for them."""
    return WorkQueue(max(1, _foreground()), _background(), heavy=max(1, cpu_count() - 1), apart=1 + _large())


def get(task: ComputeTask, stage: int = -1, *, used: bool = True) -> Any:
    """The cached result of a task's stage, the last by default, otherwise None; `used` as in `ResultCache.get`."""
    return queue().peek(task.key, stage % len(task.steps), used=used)


def submit(task: ComputeTask) -> Ticket:
    """A place in the queue; a cached result is there at once. Tasks that need f wait for it, trained once for all."""
    with ExitStack() as places:
        if task.parts:
            parts, step = [places.enter_context(submit(part)) for part in task.parts], task.steps[0]
            join = JobStage(lambda report: step.function([part.result() for part in parts]), step.priority)
            return queue().submit(task.key, join, after=parts)
        first = []
        if task.steps[0].needs_f and not has_trained(task.scene):
            f = base(task.scene)
            first = [places.enter_context(submit(f))]
            if this_session() and not is_shipped(task.scene.data):
                _keep(("trained",), f)  # until the session is closed or wants another
        return queue().submit(task.key, *task.stages(process_pool), after=first)


def _leave(tickets: Iterable[Ticket]) -> None:
    for ticket in tickets:
        ticket.leave()


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda kept: _leave(kept.values()))
def _kept() -> dict[tuple[Hashable, ...], Ticket]:
    """Places that this session keeps between runs of its script; given up when it is closed.

    Streamlit keeps the state of a closed session for minutes, in case its browser comes back.
    """
    return {}


def begin(task: ComputeTask) -> Ticket:
    """A place that this session keeps until it gives it up or is closed: for work that a button started."""
    kept = _kept()
    for key in [key for key, ticket in kept.items() if not ticket.is_held]:
        del kept[key]
    return _keep(("begun", *task.key), task)


def _keep(why: tuple[Hashable, ...], task: ComputeTask) -> Ticket:
    """Take a place for this session, instead of the one that it has for the same reason."""
    kept, ticket = _kept(), submit(task)
    _leave([kept.pop(why)] if why in kept else [])
    kept[why] = ticket
    return ticket


def go_on(*wanted: ComputeTask) -> None:
    """Compute these for this session, however often its script runs again, and nothing that was wanted before."""
    kept, tasks = _kept(), {("wanted", *task.key): task for task in wanted}
    _leave([kept.pop(key) for key in [*kept] if key[0] == "wanted" and key not in tasks])
    for key, task in tasks.items():
        if key not in kept:
            kept[key] = submit(task)


def can_prefetch() -> bool:
    """Whether a process is free for prefetching, and few prefetch jobs wait."""
    return bool(process_pool().workers) and not queue().is_crowded


def forget(data: str) -> None:
    """Drop everything that was computed on a data set, and nothing else."""
    queue().forget(lambda key: isinstance(key, tuple) and key[1].data == data)
    process_pool().forget(data)


on_forget(forget)


Name = TypeVar("Name")
_here = local()
_deferred = Lock()


def while_waiting(callback: Callable[[], None] | None) -> None:
    """Call `callback` now and then while this thread's script waits: no fragment runs then."""
    _here.callback = callback


def _call_back() -> None:
    callback, now = getattr(_here, "callback", None), time.monotonic()
    if callback is not None and now >= getattr(_here, "next_callback", 0.0):
        _here.next_callback = now + CALL_BACK
        callback()


@contextmanager
def first_paint() -> Iterator[None]:
    """Draw the first picture. Waiting inside would hold up others, so it raises an error."""
    depth = getattr(_here, "depth", 0)
    _here.depth = depth + 1
    try:
        yield
    finally:
        _here.depth = depth


@contextmanager
def deferred_paint() -> Iterator[None]:
    """Draw part of the rest of a page, one session after the other; waiting inside raises an error.

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
    tickets: Mapping[Name, Ticket], poll: Callable[[Mapping[Name, Ticket]], float] = lambda _: POLL, *, stage: int = -1
) -> Iterator[Name]:
    """Yields the name of each ticket as soon as its stage is done.

    `poll` is called repeatedly with the remaining tickets and returns how many seconds to wait. A script run that is no
    longer wanted ends in here.
    """
    if getattr(_here, "depth", 0):
        raise RuntimeError("A page cannot wait while it draws: wait before or after.")
    left = dict(tickets)
    while True:
        for name in [name for name, ticket in left.items() if ticket.has(stage)]:
            del left[name]
            yield name
        if not left:
            return
        pause = poll(left)
        _call_back()
        next(iter(left.values())).wait(pause, stage)
        stop_if_stale()


def let_picture_come(training: Ticket) -> None:
    """Draw nothing for a moment while the browser fetches the first picture of a new model (``GET /model``)."""
    if not training.has(0):
        training.wait(PICTURE_FIRST, 0)
        time.sleep(PICTURE_DRAWN)
        stop_if_stale()


def wait(ticket: Ticket, place: Any = None, what: str = "", *, stage: int = -1) -> Any:
    """The result of a job's stage, by default the last; a longer wait is shown at `place`, if given."""
    patient_until, drawn = time.monotonic() + PATIENCE, ("", 0.0)

    def poll(_: object) -> float:
        nonlocal drawn
        if place is None or time.monotonic() < patient_until:
            return POLL
        text, share = in_line(what, ticket), ticket.progress
        if text != drawn[0] or share >= drawn[1] + STEP:
            place.progress(share, text=text)
            drawn = (text, share)
        return SLOW_POLL

    for _ in watch({what: ticket}, poll, stage=stage):
        pass
    if drawn[0]:
        place.empty()
    return ticket.result(stage)


def result_of(task: ComputeTask, place: Any = None, what: str = "", *, stage: int = -1) -> Any:
    """The result of a task, computed once for all sessions."""
    found = get(task, stage)
    if found is not None:
        return found
    with submit(task) as ticket:
        return wait(ticket, place, what, stage=stage)


def scene_of(settings: Settings) -> Scene:
    """A split with its f; the queue trains f if needed."""
    if not has_trained(settings.scene()):
        result_of(base(settings.scene()))
    return prepare(*settings.scene())


@dataclass(frozen=True)
class Pending:
    """A part of a page that is drawn when its result arrives."""

    ticket: Ticket
    draw: Callable[[Ticket], Any]  # called when it is done; may return a list of parts that follow
    show_progress: Callable[[Ticket], None] | None = None  # while it is not
    held: bool = False  # whether the place in the queue outlives this run of the script


def draw_pending(*parts: Pending | None) -> None:
    """Draw the parts that wait for a result, in the order in which results arrive; call it last on a page."""
    waiting, following = {place: part for place, part in enumerate(parts) if part is not None}, list[Pending]()

    def poll(left: Mapping[int, Ticket]) -> float:
        for place, ticket in left.items():
            if show := waiting[place].show_progress:
                show(ticket)
        return SLOW_POLL

    with ExitStack() as places:
        for part in waiting.values():
            if not part.held:
                places.enter_context(part.ticket)
        for place in watch({place: part.ticket for place, part in waiting.items()}, poll):
            more = waiting[place].draw(waiting[place].ticket)
            following += more if isinstance(more, list) else []  # what others draw gives elements
    if following:
        draw_pending(*following)


def in_line(what: str, ticket: Ticket) -> str:
    """What a page waits for, how many jobs come first, and when it will be ready if that takes a while."""
    when = f"{before} before you" if (before := ticket.before) else ready_in(ticket)
    what = ticket.note or what
    return declared(session.language(), f"{what}: {when}" if when else f"{what} …")


def ready_in(ticket: Ticket) -> str:
    """When a result will be ready; empty if that is soon or not yet known."""
    seconds = ticket.seconds_left
    if seconds is None or seconds < SOON:
        return ""
    if seconds >= 90:
        return f"ready in about {round(seconds / 60)} min"
    return f"ready in about {round(seconds) if seconds < 10 else 5 * round(seconds / 5)} s"
