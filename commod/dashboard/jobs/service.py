"""The one queue and the one process pool of this server, and a session's places in the queue."""

import os
from collections.abc import Hashable, Iterable
from contextlib import ExitStack
from typing import Any

import streamlit as st
from joblib import cpu_count

from commod.dashboard.jobs.computation import Task
from commod.dashboard.jobs.processes import ProcessPool
from commod.dashboard.jobs.queue import Stage, Ticket, WorkQueue
from commod.dashboard.jobs.scheduling import START_PAUSE
from commod.dashboard.jobs.tasks import base
from commod.dashboard.streamlit_internals import this_session
from commod.datasets import is_shipped, on_forget
from commod.experiments.scene import has_trained


def _asked(variable: str, usual: int) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else usual


def _foreground() -> int:
    """Processes for those who have a slider in hand: COMMOD_PROCESSES, or one for two cores."""
    return _asked("COMMOD_PROCESSES", max(1, cpu_count() // 2))


def _background() -> int:
    """Processes for the background: COMMOD_BACKGROUND, or one for each core, and three at least.

    They only get time that nobody else wants. Of three, two serve the searches of two people, and one is left for what
    is short (`WorkQueue`).
    """
    return max(1, _asked("COMMOD_BACKGROUND", max(3, cpu_count())))


def _large() -> int:
    """How many f are trained on large uploaded data at a time, beside one on small data; and how much else is done."""
    return max(1, cpu_count() // 4)


@st.cache_resource(show_spinner=False)
def process_pool() -> ProcessPool:
    """The processes that compute for this server."""
    return ProcessPool(_foreground(), _background(), apart=1 + 2 * _large(), after=START_PAUSE)


@st.cache_resource(show_spinner=False)
def queue() -> WorkQueue:
    """The one queue of this server: as many jobs at a time as there are processes for them."""
    return WorkQueue(max(1, _foreground()), _background(), heavy=max(1, cpu_count() - 1), apart=1 + _large())


def get(task: Task, stage: int = -1, *, used: bool = True) -> Any:
    """The cached result of a task's stage, the last by default, otherwise None; `used` as in `ResultCache.get`."""
    return queue().peek(task.key, stage % len(task.steps), used=used)


def submit(task: Task) -> Ticket:
    """A place in the queue; a cached result is there at once. What needs an f waits for that, trained once for all."""
    with ExitStack() as places:
        if task.parts:
            parts, step = [places.enter_context(submit(part)) for part in task.parts], task.steps[0]
            join = Stage(lambda report: step.function([part.result() for part in parts]), step.priority)
            return queue().submit(task.key, join, after=parts)
        first = []
        if task.steps[0].needs_f and not has_trained(task.scene):
            f = base(task.scene)
            first = [places.enter_context(submit(f))]
            if this_session() and not is_shipped(task.scene.data):
                _keep(("trained",), f)  # as long as the session is open and wants no other
        return queue().submit(task.key, *task.stages(process_pool), after=first)


def _leave(tickets: Iterable[Ticket]) -> None:
    for ticket in tickets:
        ticket.leave()


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda kept: _leave(kept.values()))
def _kept() -> dict[tuple[Hashable, ...], Ticket]:
    """Places that this session keeps from one run of its script to the next; given up when it is closed.

    Streamlit keeps the state of a closed session for minutes, in case its browser comes back.
    """
    return {}


def begin(task: Task) -> Ticket:
    """A place that this session keeps until it leaves it, or is closed: for what a button has begun."""
    kept = _kept()
    for key in [key for key, ticket in kept.items() if not ticket.is_held]:
        del kept[key]
    return _keep(("begun", *task.key), task)


def _keep(why: tuple[Hashable, ...], task: Task) -> Ticket:
    """Take a place for this session in place of the one that it has for the same reason."""
    kept, ticket = _kept(), submit(task)
    _leave([kept.pop(why)] if why in kept else [])
    kept[why] = ticket
    return ticket


def go_on(*wanted: Task) -> None:
    """Have these computed for this session, however often its script runs again, and nothing that was wanted before."""
    kept, tasks = _kept(), {("wanted", *task.key): task for task in wanted}
    _leave([kept.pop(key) for key in [*kept] if key[0] == "wanted" and key not in tasks])
    for key, task in tasks.items():
        if key not in kept:
            kept[key] = submit(task)


def can_prefetch() -> bool:
    """Whether there is a process for what nobody has asked for, and not too much of it in the queue."""
    return bool(process_pool().workers) and not queue().is_crowded


def forget(data: str) -> None:
    """Drop everything that was computed on a data set, and nothing else."""
    queue().forget(lambda key: isinstance(key, tuple) and key[1].data == data)
    process_pool().forget(data)


on_forget(forget)
