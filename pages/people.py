"""Who changed: the changed people, the segments they come from, and what it did to each group."""

import streamlit as st

from commod.dashboard import layout

layout.page("pages/people.py")
st.title("Whose decision changes?")
