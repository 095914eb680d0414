"""The model of the sliders on other splits."""

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import get, submit
from commod.dashboard.jobs.wait import Pending
from commod.dashboard.model.fitted import FitResult
from commod.experiments import Refits


def known_splits(result: FitResult) -> Refits | None:
    """What is known of it; None until it is computed."""
    task = tasks.splits(result)
    found: Refits | None = None if task is None else get(task)
    return found


def begin_splits(result: FitResult, drawn: Refits | None) -> Pending | None:
    """Compute it in the background, unless it is `drawn` already, then draw the page again."""
    task = tasks.splits(result)
    if task is None or drawn is not None:
        return None
    return Pending(submit(task), lambda ticket: None if ticket.failed else st.rerun())
