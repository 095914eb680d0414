"""Your data: upload a table, say what is what, and every other page works on it."""

import streamlit as st

from commod.dashboard import layout, session, your_data

layout.page("pages/your_data.py")
st.title("Use your own data")
your_data.in_use()
your_data.bring()
your_data.choose()
your_data.what_it_is()
session.keep_link()
