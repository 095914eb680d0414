"""Your data: upload a table, say what is what, and every other page works on it."""

import streamlit as st

from commod.dashboard import layout

layout.page("pages/your_data.py")
st.title("Use your own data")
