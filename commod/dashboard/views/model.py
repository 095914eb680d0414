"""The model of the sliders: trained with a picture of the progress, or one sentence why not."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.jobs import tasks as compute
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views import controls


def train(settings: Settings, begun: FitResult | Ticket) -> FitResult | None:
    """The fit of `settings`, or, if it fails, one sentence and the last good one."""
    place = st.empty()
    first = session.last_good() is None
    if first:
        place.skeleton(height=600)
    try:
        result = compute.finish(begun, place)
    except ValueError as error:
        place.empty()
        st.error(f"This setting could not be trained: {escape_markdown(error)}", icon=":material/error:")
        return session.last_good()
    except Exception:
        place.empty()
        st.error(
            "Training failed for a reason of ours, not of yours. The last picture is kept; choose another setting.",
            icon=":material/error:",
        )
        return session.last_good()
    if first:
        place.empty()
    if not result.converged:
        st.warning(
            "The solver did not settle at this setting, so the model shown may be improved on. "
            "A larger λ_ratio or a smaller λ_fair helps.",
            icon=":material/warning:",
        )
    session.remember(settings, result.path.iloc[-1].to_dict(), result)
    return result


def current_model() -> FitResult:
    """The model of the sliders, with the sidebar beside it; the page ends here if there is none."""
    settings = session.current()
    begun = compute.begin(settings)
    controls.sidebar()
    controls.notices()
    result = train(settings, begun)
    if result is None:
        session.keep_link()
        st.stop()
    return result
