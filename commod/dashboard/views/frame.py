"""What all pages share: the page's set-up and the links between pages."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from commod.dashboard.server.startup import start
from commod.dashboard.state import session
from commod.dashboard.state.settings import sound_data
from commod.dashboard.streamlit_internals import STYLE, TO_TOP
from commod.dashboard.text.escape import escape_markdown
from commod.datasets import damaged_files

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
    "pages/data.py": ("Data", ":material/dataset:"),
    "pages/glossary.py": ("Glossary", ":material/menu_book:"),
}


def page(script: str, *, links_later: bool = False) -> None:
    """Set a page up: title, width, and the links to the other pages, unless the page draws them itself."""
    st.set_page_config(page_title=f"{PAGES[script][0]} · COMMOD Explorer", page_icon=_icon(), layout="wide")
    start()
    if not sound_data():
        st.error("No data file of this app can be used.", icon=":material/error:")
        for sentence in damaged_files().values():
            st.markdown(escape_markdown(sentence))
        st.stop()
    session.enter(script)
    if not links_later:
        links()


def links() -> None:
    """The links to all pages, at the top of the sidebar."""
    with st.sidebar:
        st.html(f"{STYLE}<strong>COMMOD Explorer</strong>")
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
