"""Your data: upload a table, say what is what, and every other page works on it."""

import streamlit as st

from commod.dashboard import layout, session, your_data

layout.page("pages/your_data.py")
st.title("Use your own data")
if not session.access().allows("data"):
    st.info("The link you came with has set the data set, so no other can be brought.", icon=":material/lock:")
    session.keep_link()
    st.stop()
your_data.in_use()
your_data.bring()
your_data.choose()
your_data.what_it_is()
session.keep_link()
