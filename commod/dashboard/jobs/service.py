"""The one queue and the one pool of processes of this server, and a session's places in the queue."""

from __future__ import annotations

import os
from collections.abc import Hashable
from contextlib import ExitStack
from typing import Any

import streamlit as st
from joblib import cpu_count

from commod.dashboard.jobs.processes import ProcessPool
from commod.dashboard.jobs.queue import Ticket, WorkQueue
from commod.dashboard.jobs.scheduling import START_PAUSE
from commod.dashboard.jobs.tasks import Task, base, is_prepared
from commod.datasets import on_forget


def _foreground() -> int:
    """Processes for those who have a slider in hand: as many as COMMOD_PROCESSES says, else one for two cores."""
    asked = os.environ.get("COMMOD_PROCESSES", "")
    return int(asked) if asked.isdecimal() else max(1, cpu_count() // 2)


def _background() -> int:
    """Processes for the background: as many as COMMOD_BACKGROUND says, else one for each core, and three at least.

    They get only time that nobody else wants, so that they take no core from those who have a slider in hand. Of three,
    two are for the searches of two people, and one is left for what is short (`WorkQueue`).
    """
    asked = os.environ.get("COMMOD_BACKGROUND", "")
    return max(1, int(asked)) if asked.isdecimal() else max(3, cpu_count())


def _large() -> int:
    """How many computations on somebody's own large data run at a time."""
    return max(1, cpu_count() // 4)


def _apart() -> int:
    """How many f of somebody's own data are trained at a time; large data leave one place for small data."""
    return 1 + _large()


@st.cache_resource(show_spinner=False)
def process_pool() -> ProcessPool:
    """The processes that compute for this server."""
    # Those apart are for other work on large data, too. The first picture needs the cores more than they do.
    return ProcessPool(_foreground(), _background(), _apart() + _large(), after=START_PAUSE)


@st.cache_resource(show_spinner=False)
def queue() -> WorkQueue:
    """The one queue of this server: as many jobs at a time as there are processes for them."""
    small, background, heavy = max(1, _foreground()), _background(), max(1, cpu_count() - 1)
    return WorkQueue(small + background, small=small, background=background, heavy=heavy, apart=_apart())


def get(task: Task, stage: int = -1, *, used: bool = True) -> Any:
    """The result of a task if it is kept, else None; of one of its stages, the last by default.

    What is only looked at, and not `used`, goes no later for that when there is no more room.
    """
    return queue().peek(task.key, stage % len(task.steps), used=used)


def submit(task: Task) -> Ticket:
    """A place in the queue for this session; if the result is kept, it is there at once."""
    if task.parts:
        with ExitStack() as places:
            parts = [places.enter_context(submit(part)) for part in task.parts]
            return queue().submit(task.key, task.joined(parts), after=parts)
    first = () if task.steps[0].apart or is_prepared(task.scene) else (_begin_f(base(task.scene)),)
    return queue().submit(task.key, *task.stages(process_pool), after=first)


def _begin_f(task: Task) -> Ticket:
    """Have the f of own data trained, for as long as this session is open and wants no other."""
    ticket = queue().submit(task.key, *task.stages(process_pool))
    kept = _trained_for()
    _leave(kept)
    kept[:] = [ticket]
    return ticket


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda tickets: _leave(tickets))
def _trained_for() -> list[Ticket]:
    """The f that is trained for this session, whatever page it looks at meanwhile."""
    return []


def _leave(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        ticket.leave()


@st.cache_resource(scope="session", show_spinner=False, on_release=_leave)
def held() -> list[Ticket]:
    """Places that this session keeps from one run of its script to the next; given up when it is closed.

    Streamlit keeps the state of a closed session for minutes, in case its browser comes back.
    """
    return []


def begin(task: Task) -> Ticket:
    """A place that this session keeps until it gives it up, or is closed: for what a button has begun."""
    ticket, kept = submit(task), held()
    kept[:] = [*(one for one in kept if one.is_held), ticket]
    return ticket


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda kept: _leave([*kept.values()]))
def _going_on() -> dict[tuple[Hashable, ...], Ticket]:
    return {}


def go_on(*wanted: Task) -> None:
    """Have these computed for this session, however often its script runs anew; what was to go on before, no longer.

    A page whose controls do not change what it waits for would else begin it again at every move.
    """
    kept, tasks = _going_on(), {task.key: task for task in wanted}
    _leave([kept.pop(key) for key in [*kept] if key not in tasks])
    for key, task in tasks.items():
        if key not in kept:
            kept[key] = submit(task)


def can_work_ahead() -> bool:
    """Whether there is a process for what nobody has asked for, and not too much of it in line."""
    return bool(process_pool().workers) and not queue().is_crowded


def forget(data: str) -> None:
    """Drop everything that was computed on a data set, and nothing else."""
    queue().forget(lambda key: isinstance(key, tuple) and key[1].data == data)
    process_pool().forget(data)


on_forget(forget)
