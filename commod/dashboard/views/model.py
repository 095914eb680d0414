"""The model of the sliders: trained with a picture of the progress, on other splits, as a file, and its warnings."""

from collections.abc import Collection

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, get, submit, wait
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings, limits_in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views import controls
from commod.dashboard.views.words import say
from commod.experiments import Refits


def train(settings: Settings, training: Ticket) -> FitResult | None:
    """The model of `settings` once it is trained, or, if it cannot be, one sentence and the last good one."""
    place = st.empty()
    first = session.state().last_good is None
    if first:
        place.skeleton(height=600)
    try:
        result: FitResult = wait(training, place, "Training", stage=0)
    except Exception as error:
        place.empty()
        is_known = isinstance(error, ValueError)
        why = say("training.not_trained", why=escape_markdown(error)) if is_known else say("training.failed")
        st.error(why, icon=":material/error:")
        return session.state().last_good
    if first:
        place.empty()
    if not result.converged:
        st.warning(say("training.not_settled"), icon=":material/warning:")
    session.remember(settings, result.path.iloc[-1].to_dict(), result)
    return result


def explain(training: Ticket) -> None:
    """Wait for the intervals and concepts of a model that could be trained."""
    if not training.failed:
        wait(training)


def current_model(*, without: Collection[str] = ()) -> FitResult:
    """The model of the sliders, with the sidebar beside it but for some controls; the page ends if there is none."""
    settings = session.current()
    with submit(tasks.fit(settings)) as training:
        controls.sidebar(elsewhere=without)
        controls.notices()
        result = train(settings, training)
        if result is None:
            session.keep_link()
            st.stop()
        explain(training)
    if limits := limits_in_words(settings):
        st.caption(escape_markdown(f"{limits} {result.acts_only} {result.expected}"))
    return result


def known_splits(result: FitResult) -> Refits | None:
    """What is known of it; None until it is computed."""
    task = tasks.splits(result)
    return None if task is None else get(task)


def begin_splits(result: FitResult, drawn: Refits | None) -> Pending | None:
    """Compute it in the background, unless it is `drawn` already, then draw the page again."""
    task = tasks.splits(result)
    if task is None or drawn is not None:
        return None
    return Pending(submit(task), lambda ticket: None if ticket.failed else st.rerun())
