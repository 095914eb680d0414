"""The pages of the menu as Streamlit has them."""

from copy import copy
from functools import lru_cache

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from commod.dashboard.state import session
from commod.dashboard.text.language import phrase
from commod.dashboard.text.menu import MENU, PAGES, page_name


def navigation(language: str) -> list[StreamlitPage]:
    """All pages for ``st.navigation``: the first of each entry stands in the menu, under the name of the entry."""
    return [
        copy(_made(script, page_name(script, language) if i else phrase(language, f"frame.{entry}"), hidden=i > 0))
        for entry, pages in MENU.items()
        for i, script in enumerate(pages)
    ]


def menu_page(script: str) -> StreamlitPage:
    """A page for ``st.page_link``, named in the language of the session.

    Streamlit looks the file up whenever a page is named by its path, which takes longer than to draw the link.
    """
    return copy(_made(script, page_name(script, session.spoken())))  # Streamlit marks the one that it runs


@lru_cache(maxsize=100)
def _made(script: str, title: str, hidden: bool = False) -> StreamlitPage:
    return st.Page(
        script,
        title=title,
        icon=PAGES[script][1],
        default=script == "app.py",
        visibility="hidden" if hidden else "visible",
    )
