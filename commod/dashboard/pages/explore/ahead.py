"""What is trained before anybody asks for it: every λ_fair, and the next step of each other slider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import Priority, uses
from commod.dashboard.jobs.service import can_work_ahead, get, go_on, submit
from commod.dashboard.jobs.tasks import Task
from commod.dashboard.jobs.wait import Pending
from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS, GRIDS, Settings


def begin_ahead(settings: Settings) -> list[Pending]:
    """Train them while nobody waits; once every λ_fair is known the page is drawn anew, and the picture follows it."""
    if not (uses("ahead") and can_work_ahead()):
        return []
    line = [task for task in (tasks.ahead(each, Priority.LINE) for each in _line(settings)) if get(task) is None]
    beside = [task for task in map(tasks.ahead, _neighbours(settings)) if get(task) is None]
    go_on(*line, *beside)
    left = {task.key for task in line}

    def arrived(task: Task, _: Ticket) -> None:
        left.discard(task.key)
        if not left:
            st.rerun()

    return [Pending(submit(task), partial(arrived, task)) for task in line]


def _line(settings: Settings) -> list[Settings]:
    """The same at every λ_fair, the nearest first."""
    values = GRIDS["lambda_fair"] if session.access().allows("lambda_fair") else ()
    here = GRIDS["lambda_fair"].index(settings.lambda_fair)
    nearest = sorted(range(len(values)), key=lambda place: abs(place - here))
    return [replace(settings, lambda_fair=values[place]) for place in nearest]


def _neighbours(settings: Settings) -> Iterator[Settings]:
    """The same one step to either side on each of the other sliders."""
    for name, declared in CONTROLS.items():
        if declared.decides == "model" and declared.grid and name != "lambda_fair" and session.access().allows(name):
            place = declared.grid.index(getattr(settings, name))
            for other in (place - 1, place + 1):
                if 0 <= other < len(declared.grid):
                    there: dict[str, Any] = {name: declared.grid[other]}
                    yield replace(settings, **there)
