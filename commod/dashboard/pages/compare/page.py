"""Compare: every method of the paper on one scene, and models of equal fairness and accuracy side by side."""

import streamlit as st

from commod.dashboard.jobs.service import scene_of
from commod.dashboard.pages.compare import match as matching
from commod.dashboard.pages.compare import sections as compare
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views import controls, frame
from commod.dashboard.views import methods as sweeps
from commod.experiments import Sweep


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/compare.py")
    st.title("Which method changes the fewest decisions?")
    settings = session.current()
    controls.scene_sidebar()
    controls.notices()
    top = st.container()
    st.caption(tip("compare_intro", scene=escape_markdown(compare.scene_in_words(settings))))
    names = sweeps.choose_methods(settings)
    st.expander("What COMMOD and the other methods do").markdown(tip("methods_told"))
    session.keep_link(**sweeps.link())
    if not names:
        st.info("Choose at least one method.", icon=":material/info:")
        st.stop()

    found = sweeps.known(settings, names, tuned=True)
    waits = len(found) < len(names)
    with top:
        place, progress, chart = sweeps.place(waits=waits), st.empty(), sweeps.place(waits=waits)
    st.header("Changes at the same fairness and accuracy")
    table, below = sweeps.place(waits=waits), sweeps.place(waits=waits)

    def paint(found: dict[str, Sweep], chosen: int | None = None, *, final: bool = False) -> compare.Compared:
        """Draw what there is."""
        spread = compare.known_spread(settings, found) if final else {}
        here = compare.Compared(settings, found, scene_of(settings), chosen, spread)
        claimed = compare.claims(here)
        compare.answer(here, claimed, [name for name in names if name not in found], place)
        compare.tradeoff(here, chart, final=final)
        compare.comparisons(here, claimed, table, final=final)
        return here

    found = sweeps.collect(settings, names, found, progress, paint, tuned=True)
    if not found:
        return
    chosen = sweeps.chosen_model(settings, found["commod"]) if "commod" in found else None
    here = paint(found, chosen, final=True)
    with below.container():
        charts, finish = matching.match(settings, found, chosen)
        st.header("Take it away")
        compare.downloads(here, charts)
    session.keep_link(**sweeps.link())
    finish()  # what may take a while comes last: the page above is complete without it
    compare.begin_spread(settings, here, progress)
