"""Compare: every method of the paper on one scene, and models of equal fairness and accuracy side by side."""

import streamlit as st

from commod.dashboard.jobs.service import scene_of
from commod.dashboard.pages.compare import match as matching
from commod.dashboard.pages.compare import sections as compare
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views import controls, frame
from commod.dashboard.views import methods as sweeps
from commod.experiments import Sweep
from commod.models.competitors import overview, overview_in_words


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/compare.py")
    st.title("Which method changes the fewest decisions?")
    settings = session.current()
    controls.scene_sidebar()
    controls.notices()
    top = st.container()
    scene = escape_markdown(compare.scene_in_words(settings))
    st.caption(tip("compare_intro", scene=scene))
    names = sweeps.choose_methods(settings)
    session.keep_link(**sweeps.link())
    if not names:
        st.info("Choose at least one method.", icon=":material/info:")
        methods_table()
        st.stop()

    found = sweeps.known(settings, names, tuned=True)
    waits = len(found) < len(names)
    with top:
        place = sweeps.place(waits=waits)
        st.expander("COMMOD is ours: what it and the other methods do").markdown(tip("methods_told"))
        progress = st.empty()
        chart = sweeps.place(waits=waits)
    st.header("How many decisions change, at equal fairness")
    parts = sweeps.place(waits=waits)
    with st.expander("How the cells are cut"):
        source = compare.choose_segments(settings, names)
    below = sweeps.place(waits=waits)

    def paint(found: dict[str, Sweep], chosen: int | None = None, *, final: bool = False) -> compare.Compared:
        """Draw what there is."""
        spread = compare.known_spread(settings, found) if final else {}
        here = compare.Compared(settings, found, scene_of(settings), source, chosen, spread)
        claimed = compare.claims(here)
        if final or claimed:  # else “no method gets there” would be said before the methods are in
            compare.answer(here, claimed, place, sweeps.form_to_add(names), final=final)
        compare.tradeoff(here, chart, final=final)
        compare.segments(here, claimed, parts, final=final)
        return here

    found = sweeps.collect(settings, names, found, progress, paint, tuned=True)
    if found:
        chosen = sweeps.chosen_model(settings, found["commod"]) if "commod" in found else None
        here = paint(found, chosen, final=True)
        with below.container():
            charts, finish = matching.match(settings, found, chosen)
            st.header("Take it away")
            compare.downloads(here, charts)
        session.keep_link(**sweeps.link())
    methods_table()
    if found:
        finish()  # what may take a while comes last: the page above is complete without it
        compare.begin_spread(settings, here, progress)


def methods_table() -> None:
    """The paper's overview of methods, with what runs here."""
    with st.expander("The methods, and what each needs", key="methods_overview", on_change="rerun") as opened:
        if not opened.open:
            return
        st.markdown(tip("methods_overview", overview=overview_in_words()))
        table = overview()
        for name in ("needs_sensitive", "weights", "minimises_changes", "randomised"):
            table[name] = table[name].map({True: "yes", False: "–"})
        rows = table.assign(knob=table["knob"].replace("", "–")).to_numpy().tolist()
        names = (
            "Method, Reference, Runs here, Any model, Needs the group, Criterion, Groups, Weights, Minimises changes, "
            "Randomised, Knob, Note"
        )
        st.html(html_table(dict.fromkeys(names.split(", "), ""), rows, caption="Methods", text={1, 3, 11}))
