"""Saved runs: models pinned with a name, up to four side by side, and one small file of them all."""

from __future__ import annotations

import streamlit as st

from commod.dashboard.pages.runs import compare as runs_compare
from commod.dashboard.pages.runs import sections as runs
from commod.dashboard.state import saved_runs, session
from commod.dashboard.views import controls
from commod.dashboard.views import frame as layout
from commod.dashboard.views.pin import pin_here


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/runs.py")
    st.title("Saved runs")
    controls.sidebar()
    controls.notices()
    session.carry(**saved_runs.link())
    session.keep_link()
    if not saved_runs.shelf().runs:
        st.markdown(
            "Pin a model here or on the Explore page and give it a name. Pin another, and the two are shown side by "
            "side."
        )
        runs.tell()
        pin_here(session.current())
        runs.put_back()
        runs.take_along()
        st.stop()

    st.markdown(
        "Models pinned with a name, here or on the Explore page. Compare up to four of them, and take them along."
    )
    runs.tell()
    checked = st.empty()
    pin_here(session.current())
    st.header("All runs")
    table = st.empty()
    runs.overview(table)
    progress = st.empty()
    runs.manage()

    st.header("Side by side")
    chosen = runs_compare.choose()
    shown = runs_compare.train(chosen)
    if shown:
        runs_compare.comparable(shown)
        runs_compare.picture(shown)
        runs_compare.settings(shown)
        runs_compare.figures(shown)
        runs_compare.overlap(shown)
        runs_compare.concepts(shown)
        runs_compare.trees(shown)
    elif not chosen:
        st.info("Choose up to four runs.", icon=":material/info:")

    # What may take a while comes last: the page above is complete without it.
    runs.train_rest(progress)
    runs.overview(table)
    runs.check(checked)
    runs.take_along()
