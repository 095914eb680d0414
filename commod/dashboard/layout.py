"""What all pages share: the page's set-up and the links between pages."""

from __future__ import annotations

import time

import streamlit as st

from commod.dashboard import compute

__all__ = ["PAGES", "breathe", "page"]

# Long enough for the browser to draw what it has been sent, short enough not to be felt.
BREATH = 0.06

# Script to its name and icon, in the order of the links.
PAGES = {
    "app.py": ("Explore", ":material/tune:"),
    "pages/data.py": ("Data and words", ":material/menu_book:"),
}


def page(script: str) -> None:
    """Set a page up: title, width, and the links to the other pages."""
    name, icon = PAGES[script]
    st.set_page_config(page_title=f"{name} · COMMOD Explorer", page_icon=icon, layout="wide")
    compute.start()
    with st.sidebar:
        st.markdown("**COMMOD Explorer**")
        for path, (title, mark) in PAGES.items():
            st.page_link(path, label=title, icon=mark)


def breathe() -> None:
    """Hold the script back while the browser draws: it does so only when no more messages come in."""
    time.sleep(BREATH)
