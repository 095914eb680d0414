"""The 90-second tour: five hints over the live page, which outline what they speak of."""

from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.streamlit_internals import TO_HINT
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.words import say

# The parts of the page that it shows, in their order.
HINTS = ("slider", "verdict", "dots", "tradeoff", "why")

# Which hint is shown; none before the tour and after it.
_at: PageState[str] = PageState("tour", str)


def invite() -> None:
    """The tour, unless it is under way or somebody else leads."""
    if _at() or {"step", "room"} & set(session.state().carried):
        st.empty()  # in its place, so that it is gone at once
        return
    _step(say("tour.start"), HINTS[0], type="tertiary", icon=":material/explore:")


def is_on() -> bool:
    """Whether somebody takes it."""
    return bool(_at())


def hint(yes: str) -> None:
    """The hint that the tour has come to, what it speaks of outlined; `yes` is what filled dots mean."""
    part = _at()
    if not part:
        st.html(f'<span data-hint=""></span><script>{TO_HINT}</script>', unsafe_allow_javascript=True)
        return
    place = HINTS.index(part)
    following = HINTS[place + 1] if part != HINTS[-1] else ""
    with st.container(border=True, key="tour_hint"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(say(f"tour.{part}", yes=escape_markdown(yes)))
            st.caption(say("tour.step", step=place + 1, steps=len(HINTS)), width="content")
            _step(say("tour.next") if following else say("tour.done"), following, type="primary")
            if following:
                _step(say("tour.leave"), "")
        st.html(f'<span data-hint="{part}"></span><script>{TO_HINT}</script>', unsafe_allow_javascript=True)


def _step(label: str, to: str, **how: Any) -> None:
    st.button(label, on_click=_at.set, args=(to,), key=f"tour_to_{to}", **how)
