"""What is trained before anybody asks for it: every λ_fair, and the next step of each other slider."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.climbing import want_ladders
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import Priority, uses
from commod.dashboard.jobs.service import can_work_ahead, get, go_on, submit
from commod.dashboard.jobs.tasks import Task
from commod.dashboard.jobs.wait import Pending
from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS, Settings


def begin_ahead(settings: Settings) -> list[Pending]:
    """Train them while nobody waits; once every λ_fair is known the page is drawn anew, and the picture follows it."""
    if not can_work_ahead():
        return []
    want_ladders(settings)
    if not uses("ahead"):
        return []
    missing = [task for task in all_ahead(settings, session.access().allows) if get(task, used=False) is None]
    go_on(*missing)
    line = [task for task in missing if task.steps[0].priority is Priority.LINE]
    left = {task.key for task in line}

    def arrived(task: Task, _: Ticket) -> None:
        left.discard(task.key)
        if not left:
            st.rerun()

    return [Pending(submit(task), partial(arrived, task)) for task in line]


def all_ahead(settings: Settings, allows: Callable[[str], bool]) -> list[Task]:
    """Every λ_fair, the nearest first, then one step to either side on each other slider that may be moved."""
    found = []
    for name, declared in CONTROLS.items():
        if declared.decides != "model" or not declared.grid or not allows(name):
            continue
        here = declared.grid.index(getattr(settings, name))
        near = sorted(range(len(declared.grid)), key=lambda place: abs(place - here))
        whole = name == "lambda_fair"
        for place in near[1:] if whole else near[1:3]:
            there: dict[str, Any] = {name: declared.grid[place]}
            found.append(tasks.ahead(replace(settings, **there), Priority.LINE if whole else Priority.AHEAD))
    return found
