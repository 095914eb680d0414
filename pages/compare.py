"""Compare: every method of the paper on one scene, and models of equal fairness and accuracy side by side."""

import streamlit as st

from commod.dashboard import compare, controls, layout, matching, session, sweeps
from commod.dashboard.markup import plain

layout.page("pages/compare.py")
st.title("Who gets there with the fewest changes?")
settings = session.current()
st.markdown(
    "Each method is trained over the whole range of its knob, on the same people and the same **f**. "
    f"Compare them where they are equally fair and equally accurate. Here: {plain(compare.scene_in_words(settings))}."
)
controls.scene_sidebar()
controls.notices()
names = sweeps.choose_methods(settings)
session.keep_link(**sweeps.link())
if not names:
    st.info("Choose at least one method.", icon=":material/info:")
    compare.methods_table()
    st.stop()

progress = st.empty()
st.header("Fairness against accuracy")
chart = st.empty()
st.header("How many decisions change, at equal fairness")
source = compare.choose_segments(settings, names)
parts = st.empty()
below = st.empty()


def paint(found):
    """Draw what there is; what belongs to another scene goes."""
    compare.tradeoff(settings, found, chart)
    compare.segments(settings, found, parts, source)


found = sweeps.collect(settings, names, progress, paint, stale=(chart, parts, below))
if found:
    chosen = sweeps.chosen_model(settings, found["commod"]) if "commod" in found else None
    compare.tradeoff(settings, found, chart, chosen=chosen, final=True)
    compare.segments(settings, found, parts, source, chosen=chosen, final=True)
    with below.container():
        charts = matching.match(settings, found, chosen)
        matching.open_in_explore(settings, found, chosen)
        st.header("Take it away")
        compare.downloads(settings, found, source, chosen, charts)
    session.keep_link(**sweeps.link())
compare.methods_table()
