"""Everything that leans on what Streamlit does not document, in one place.

A new version of Streamlit is tried against ``tests/dashboard/test_streamlit_internals.py``, which says for each piece
what breaks if it changes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def stop_if_stale() -> None:
    """End this run of the script if another has been asked for: Streamlit stops it where it touches the session."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.get("touch")


@lru_cache(maxsize=1)
def inline_scripts() -> list[str]:
    """Scripts that stand in Streamlit's own page, which a Content-Security-Policy must name."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text()
    return re.findall(r"<script>(.*?)</script>", page, re.S)


def forget_widgets(held: str) -> None:
    """Drop the keys of all widgets, that is all that do not begin with `held`.

    Streamlit tells widgets of two pages apart even if they have one key, but the key is still there when the page
    changes: who finds it does not set the value, and the new widget then shows its first option.
    """
    for key in [key for key in st.session_state if not str(key).startswith(held)]:
        del st.session_state[key]


# The top of the page comes into sight, and its heading is read out: Streamlit stays where it was.
TO_TOP = (
    "{ const main = document.querySelector('[data-testid=\"stMain\"]'), heading = main && main.querySelector('h1');"
    "if (heading) { heading.tabIndex = -1; heading.focus({preventScroll: true}); main.scrollTo(0, 0); } }"
)

# For the keyboard: Streamlit only tints links and the buttons over a chart when they are in focus, and hides the button
# that closes the sidebar from all who cannot point at it. For the eye: its white text on the dark theme's blue is hard
# to read, and it does not break long words of code in a table.
STYLE = """
<style>
[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]:focus-visible,
[data-testid="stBaseButton-elementToolbar"]:focus-visible,
[data-testid="stMain"]:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
[data-testid="stSidebar"] [data-testid="stSidebarCollapseButton"] { visibility: visible; }
[data-testid="stMain"] td code { overflow-wrap: anywhere; white-space: normal; }
[data-testid="stApp"] button[kind^="primary"]:enabled { color: light-dark(white, black); }
</style>
"""
