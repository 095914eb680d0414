"""Saved runs: being built."""

import streamlit as st

from commod.dashboard import layout, session

layout.page("pages/runs.py")
st.title("Saved runs")
session.keep_link()
