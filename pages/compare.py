"""Compare: every method of the paper on one scene, and models of equal fairness and accuracy side by side."""

import streamlit as st

from commod.dashboard import compare, controls, layout, matching, session, sweeps

layout.page("pages/compare.py")
st.title("Who gets there with the fewest changes?")
st.markdown(
    "Each method is trained over the whole range of its knob, on the same people and the same **f**. "
    "Compare them where they are equally fair and equally accurate."
)
controls.scene_sidebar()
controls.notices()
settings = session.current()
names = sweeps.choose_methods(settings)
session.keep_link(**sweeps.link())
if not names:
    st.info("Choose at least one method.", icon=":material/info:")
    compare.methods_table()
    st.stop()

progress = st.empty()
st.header("Fairness against accuracy")
words = st.empty()
chart = st.empty()
st.caption(
    "A point is a model; faint points are beaten by another of the same method. Hollow (○): needs the group at predict."
)
st.header("How many decisions change, at equal fairness")
parts = st.empty()


def paint(found, *, final=False):
    """Draw what there is."""
    words.markdown(compare.read_out(settings, found))
    compare.tradeoff(settings, found, chart, final=final)
    compare.segments(settings, found, parts, final=final)


found = sweeps.collect(settings, names, progress, paint)
if found:
    paint(found, final=True)
    matching.match(settings, found)
    matching.open_in_explore(settings, found)
    st.header("Take it away")
    compare.downloads(settings, found)
    session.keep_link(**sweeps.link())
compare.methods_table()
