"""Take home: the current model as a report, as predictions, as a file that runs anywhere, and as code."""

import streamlit as st

from commod.dashboard import explore, layout, session, take_home

layout.page("pages/take_home.py")
st.title("Take this model home")
st.markdown("The model of the sliders, as files: to be read, counted, run elsewhere, and made again.")
result = explore.current_model()
session.keep_link()
take_home.files(result, session.current().depth)
take_home.how_to(result)
