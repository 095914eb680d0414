"""Who changed: group sizes first, what it did to each group, the segments, and the people one by one."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.pages.people import sections as people
from commod.dashboard.pages.people import table as people_table
from commod.dashboard.state import session
from commod.dashboard.views import frame
from commod.dashboard.views.model import current_model


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/people.py")
    st.title("Whose decision changes?")
    st.markdown(
        "**g** decides otherwise than **f** for some people. See how large the groups are, what it did to each of "
        "them, where the changes are, and who these people are, one by one."
    )
    result = current_model()
    session.keep_link()

    st.markdown(people.verdict(result))
    people.groups(result)
    people.outcomes(result)
    if not result.changes["changed"].any():
        st.info("Nobody's decision changes at this setting, so there is nobody to list.", icon=":material/info:")
        st.stop()
    people.segments(result)
    people_table.people(result, session.current().depth)
