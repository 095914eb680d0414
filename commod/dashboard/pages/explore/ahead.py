"""Prefetching: every stop of the slider beside the setting on the screen."""

from dataclasses import replace
from functools import partial

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.paths import precompute_paths
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import prefetches
from commod.dashboard.jobs.service import Pending, can_prefetch, get, go_on, submit
from commod.dashboard.state import session
from commod.dashboard.state.settings import STOPS, Settings


def begin_ahead(settings: Settings) -> list[Pending]:
    """Train the line while nobody waits; once all of it is known, the page is drawn again and the picture follows."""
    if not can_prefetch():
        return []
    precompute_paths(settings)
    if not prefetches("line") or not session.access().allows("lambda_fair"):
        return []
    missing = [task for task in prefetched_path(settings) if get(task, used=False) is None]
    go_on(*missing)
    left = {task.key for task in missing}

    def arrived(task: ComputeTask, _: Ticket) -> None:
        left.discard(task.key)
        if not left:
            st.rerun()

    return [Pending(submit(task), partial(arrived, task)) for task in missing]


def prefetched_path(settings: Settings) -> list[ComputeTask]:
    """Every other λ_fair, the nearest first."""
    here = settings.lambda_fair
    near = sorted((value for value in STOPS if value != here), key=lambda value: abs(value - here))
    return [tasks.prefetch(replace(settings, lambda_fair=value)) for value in near]
