"""What if: one person, every feature editable, and the sum that leads from f to g."""

import streamlit as st

from commod.dashboard import layout

layout.page("pages/what_if.py")
st.title("What if this person were different?")
