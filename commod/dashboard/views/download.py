"""Files that a page hands out."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from commod.dashboard.streamlit_internals import for_this_session

_KINDS = {
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "md": "text/markdown",
    "png": "image/png",
    "py": "text/x-python",
    "svg": "image/svg+xml",
    "zip": "application/zip",
}


def offer(label: str, content: bytes | Callable[[], bytes], name: str, *, place: Any = st, **more: Any) -> None:
    """A button for a file, made when it is asked for; the ending of its name says what it is. The page is not rerun."""
    kind = _KINDS[name.rpartition(".")[2]]
    # Always made on request: a file made in advance would be out of reach while the page is drawn again.
    make = for_this_session(content if callable(content) else lambda: content)
    place.download_button(label, make, name, mime=kind, on_click="ignore", **{"icon": ":material/download:"} | more)
