"""A guided hour: being built."""

import streamlit as st

from commod.dashboard import layout, session

layout.page("pages/lesson.py")
st.title("A guided hour")
session.keep_link()
