"""Take home: the current model as a report, as predictions, as a file that runs anywhere, and as code."""

import streamlit as st

from commod.dashboard import layout

layout.page("pages/take_home.py")
st.title("Take this model home")
