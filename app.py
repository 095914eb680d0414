"""COMMOD Explorer: the server and its Explore page. Start with ``streamlit run app.py``.

Streamlit imports this file once, for the server, and then runs it whenever somebody opens the page.
"""

import streamlit as st

from commod.dashboard.pages.explore.page import show
from commod.dashboard.server.startup import server_options

if __name__ == "__main__":
    show()
else:
    server = st.App(__file__, **server_options())
