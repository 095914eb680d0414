"""Take home: the current model as a report, as predictions, as a file that runs anywhere, and as code."""

import streamlit as st

from commod.dashboard import compute, controls, explore, layout, session, take_home

layout.page("pages/take_home.py")
st.title("Take this model home")
st.markdown("The model of the sliders, as files: to be read, counted, run elsewhere, and made again.")
settings = session.current()
begun = compute.begin(settings)
controls.sidebar()
controls.notices()
session.keep_link()
result = explore.train(settings, begun)
if result is None:
    st.stop()
take_home.files(result, settings.depth)
take_home.how_to(result)
