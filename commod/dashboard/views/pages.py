"""The pages of the menu as Streamlit has them."""

from copy import copy
from functools import lru_cache

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from commod.dashboard.state import session
from commod.dashboard.text.language import FIRST
from commod.dashboard.text.menu import PAGES, page_name


def menu_page(script: str, language: str = "") -> StreamlitPage:
    """A page for ``st.navigation`` or ``st.page_link``, named in a language: that of the session, if none is said.

    Streamlit looks the file up whenever a page is named by its path, which takes longer than to draw the link.
    """
    return copy(_made(script, language or session.language()))  # Streamlit marks the one that it runs


@lru_cache(maxsize=100)
def _made(script: str, language: str = FIRST) -> StreamlitPage:
    icon = PAGES[script][1]
    return st.Page(script, title=page_name(script, language), icon=icon, default=script == "app.py")
