"""What all pages share: the page's set-up and the links between pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from threading import Lock
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from commod.dashboard import compute, session
from commod.dashboard.markup import plain
from commod.dashboard.serving import TO_TOP
from commod.dashboard.settings import sound_data
from commod.datasets import damaged_files

__all__ = ["PAGES", "back_to_the_top", "breathe", "first", "links", "one_by_one", "page", "stir"]

# Long enough for the browser to draw what it has been sent, short enough not to be felt.
BREATH = 0.06
# Seconds after which a page in line looks whether it is still wanted.
MOST_PATIENCE = 0.02
# Seconds for which the rest of a page makes way to first pictures, at the most.
LONGEST_WAY = 0.25
# A message from a browser becomes a picture that is being drawn within this; how often it is looked for.
ON_ITS_WAY = 0.012
GLANCE = 0.004
_rest_of_a_page = Lock()
_turns = Lock()
_first_pictures = 0  # that are being drawn
_expected_until = 0.0  # a message has come in that asks for one

# Script to its name and icon, in the order of the links.
PAGES = {
    "app.py": ("Explore", ":material/tune:"),
    "pages/lesson.py": ("Lesson", ":material/school:"),
    "pages/runs.py": ("Saved runs", ":material/push_pin:"),
    "pages/people.py": ("Who changed", ":material/groups:"),
    "pages/what_if.py": ("What if", ":material/person_edit:"),
    "pages/limits.py": ("Limits", ":material/fence:"),
    "pages/compare.py": ("Compare", ":material/compare_arrows:"),
    "pages/paper.py": ("Paper", ":material/article:"),
    "pages/your_data.py": ("Your data", ":material/upload_file:"),
    "pages/take_home.py": ("Take home", ":material/download:"),
    "pages/data.py": ("Words", ":material/menu_book:"),
}


# For the keyboard: Streamlit only tints links and the buttons over a chart when they are in focus, and hides the button
# that closes the sidebar from all who cannot point at it. For the eye: its white text on the dark theme's blue is hard
# to read, and it does not break long words of code in a table.
_STYLE = """
<style>
[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]:focus-visible,
[data-testid="stBaseButton-elementToolbar"]:focus-visible,
[data-testid="stMain"]:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
[data-testid="stSidebar"] [data-testid="stSidebarCollapseButton"] { visibility: visible; }
[data-testid="stMain"] td code { overflow-wrap: anywhere; white-space: normal; }
[data-testid="stApp"] button[kind^="primary"]:enabled { color: light-dark(white, black); }
</style>
"""


def page(script: str, *, links_later: bool = False) -> None:
    """Set a page up: title, width, and the links to the other pages, unless the page draws them itself."""
    st.set_page_config(page_title=f"{PAGES[script][0]} · COMMOD Explorer", page_icon=_icon(), layout="wide")
    compute.start()
    if not sound_data():
        st.error("No data file of this app can be used.", icon=":material/error:")
        for sentence in damaged_files().values():
            st.markdown(plain(sentence))
        st.stop()
    session.enter(script)
    if not links_later:
        links()


def links() -> None:
    """The links to all pages, at the top of the sidebar."""
    with st.sidebar:
        st.html(f"{_STYLE}<strong>COMMOD Explorer</strong>")
        # In two columns, so that the sliders stay on the first screen.
        columns = st.columns([11, 9], gap="xxsmall")
        for i, (path, (title, mark)) in enumerate(PAGES.items()):
            columns[2 * i // len(PAGES)].page_link(path, label=title, icon=mark)


@lru_cache(maxsize=1)
def _icon() -> Any:
    """Two points, f and g, as pixels: an icon by name would be fetched from elsewhere."""
    rows, columns = np.mgrid[:32, :32]
    icon = np.full((32, 32, 3), 255, dtype=np.uint8)
    icon[(rows - 10) ** 2 + (columns - 9) ** 2 < 40] = (0, 114, 178)
    icon[(rows - 21) ** 2 + (columns - 22) ** 2 < 70] = (213, 94, 0)
    file = BytesIO()
    Image.fromarray(icon).save(file, "PNG")
    return file.getvalue()


def back_to_the_top(turn: int) -> None:
    """Scroll up and read the heading out, once for every `turn`: Streamlit stays where it was."""
    st.html(f'<span data-turn="{turn}"></span><script>{TO_TOP}</script>', unsafe_allow_javascript=True)


def breathe() -> None:
    """Hold the script back while the browser draws: it does so only when no more messages come in."""
    time.sleep(BREATH)


def stir(session_id: str) -> None:
    """To be called with every message from the browser of a session.

    Its script, if it waits, looks whether it is still wanted, and the rest of other pages makes way for what comes now.
    """
    global _expected_until
    _expected_until = time.monotonic() + ON_ITS_WAY
    compute.queue().stir(session_id)


@contextmanager
def first() -> Iterator[None]:
    """Draw what somebody with a slider in hand is looking at; nothing in here may wait."""
    global _first_pictures
    with _turns:
        _first_pictures += 1
    try:
        yield
    finally:
        with _turns:
            _first_pictures -= 1


@contextmanager
def one_by_one() -> Iterator[None]:
    """Draw a part of the rest of a page, one session after the other, and after the first pictures of all.

    Python has one interpreter for all threads. If thirty pages are drawn at once, each takes as long as all of them; if
    what is below the first picture stands in line, the first pictures come at once. Nothing in here may wait, and a
    part should take a few milliseconds.
    """
    patient_until = time.monotonic() + LONGEST_WAY
    while time.monotonic() < patient_until and (_first_pictures or time.monotonic() < _expected_until):
        time.sleep(GLANCE)
    while not _rest_of_a_page.acquire(timeout=MOST_PATIENCE):
        compute.stop_if_stale()
    try:
        yield
    finally:
        _rest_of_a_page.release()
