"""Everything that leans on what Streamlit does not document, in one place.

A new version of Streamlit is tried against ``tests/dashboard/test_streamlit_internals.py``, which says for each piece
what breaks if it changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import config, runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile


def stop_if_stale() -> None:
    """End this run of the script if another has been asked for: Streamlit stops it where it touches the session."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.get("touch")


# ---- whose session it is ----

# Under this name Streamlit keeps of each session which browser has opened it.
_BROWSER = "browser"


def bind_sessions(header: str) -> None:
    """Have Streamlit take up a session again only for a websocket that brings the same value of `header`.

    In code, not in the file of settings: a server that is started without that file must not do without it.
    """
    trusted = config.get_option("server.trustedUserHeaders")
    if header not in trusted:
        config.set_option("server.trustedUserHeaders", {**trusted, header: _BROWSER})


def is_connected(session_id: str) -> bool:
    """Whether a browser has the session open; outside a server (in a test of a page), always."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session_id)


def sessions_of(browser: str | None) -> set[str]:
    """Ids of the sessions that this browser has open."""
    active = runtime.get_instance()._session_mgr.list_active_sessions()
    return {info.session.id for info in active if browser and info.session._user_info.get(_BROWSER) == browser}


def this_session() -> str:
    """Id of the session whose script runs in this thread; "" if there is none."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def state_of_this_session() -> Any:
    """All that the session of this thread keeps; its `clear` empties it for good.

    Streamlit's own loop, and circles that only a search for garbage finds, hold on to sessions that have ended.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_state._state if context else None


# ---- files that a session uploads ----


def watch_uploads(issued: Callable[[str, str], None], most: int, in_memory: int) -> None:
    """Call `issued` with a session's id and each id of a file that Streamlit offers it, `most` at a time.

    Files of up to `in_memory` bytes are never written to disk on their way.
    """
    manager: Any = runtime.get_instance().uploaded_file_mgr
    urls_of = manager.get_upload_urls

    def watched(session_id: str, file_names: Any) -> Any:
        places = urls_of(session_id, file_names[:most])
        for place in places:
            issued(session_id, place.file_id)
        return places

    manager.get_upload_urls = watched
    MultiPartParser.spool_max_size = in_memory


def uploaded_bytes() -> dict[str, int]:
    """Bytes of the files that are held for each session."""
    held: Any = runtime.get_instance().uploaded_file_mgr
    return {
        session_id: sum(len(file.data) for file in list(files.values()))
        for session_id, files in list(held.file_storage.items())
    }


def forget_uploads(session_id: str) -> None:
    """Drop all files that a session has uploaded."""
    runtime.get_instance().uploaded_file_mgr.remove_session_files(session_id)


def uploaded_file(key: str) -> tuple[str, bytes] | None:
    """Name and content of the file in the uploader with this key, once: the server then holds it no longer.

    The uploader goes on to show the file's name.
    """
    found = st.session_state.get(key)
    context = get_script_run_ctx()
    if not isinstance(found, UploadedFile) or context is None:
        return None
    content = found.getvalue()
    if len(content) < found.size:  # taken before
        return None
    manager: Any = context.uploaded_file_mgr
    manager.remove_file(context.session_id, found.file_id)
    found.seek(0)
    found.truncate()  # Streamlit keeps this object until the next run
    return found.name, content


def missing_upload(key: str) -> str | None:
    """Id of the file that the uploader with this key shows, if the server does not hold it."""
    found = st.session_state.get(key)
    return found.file_id if isinstance(found, DeletedFile) else None


# ---- files that a session is handed ----

# How the places begin under which Streamlit finds files that were made for a download.
_MADE = "made for "


def keep_made_files() -> None:
    """Have Streamlit know whose a file is that was made when somebody asked for it: by itself, it forgets."""
    manager: Any = runtime.get_instance().media_file_mgr
    make = manager.execute_deferred

    def kept(asked: str) -> str:
        with manager._lock:
            entry = manager._deferred_callables.get(asked)
        url = make(asked)  # raises where there is no such entry
        if entry is not None:
            with manager._lock:
                made = os.path.splitext(url.rpartition("/")[2])[0]
                manager._files_by_session_and_coord[entry["session_id"]][_MADE + asked] = made
            if not is_connected(entry["session_id"]):  # closed meanwhile
                forget_made_files(entry["session_id"])
        return url

    manager.execute_deferred = kept


def shows_file(session_ids: set[str], name: str) -> bool:
    """Whether the page that one of these sessions shows now has the file of this name."""
    manager = runtime.get_instance().media_file_mgr
    with manager._lock:
        places = [manager._files_by_session_and_coord.get(session_id, {}) for session_id in session_ids]
        return any(os.path.splitext(name)[0] in files.values() for files in places)


def sessions_with_made_files() -> set[str]:
    """Ids of the sessions for which a file was made that is still kept."""
    manager = runtime.get_instance().media_file_mgr
    with manager._lock:
        places = manager._files_by_session_and_coord.items()
        return {session_id for session_id, files in places if any(place.startswith(_MADE) for place in files)}


def forget_made_files(session_id: str) -> None:
    """Drop the files that were made for a session, but for those that another shows, too."""
    manager = runtime.get_instance().media_file_mgr
    with manager._lock:
        files = manager._files_by_session_and_coord.get(session_id, {})
        made = {files.pop(place) for place in list(files) if place.startswith(_MADE)}
        for file_id in made & manager._get_inactive_file_ids():
            manager._delete_file(file_id)


def forget_files_that_nobody_shows() -> None:
    """Drop what was made for pages that were left: by itself, Streamlit waits for two more runs of a script."""
    runtime.get_instance().media_file_mgr.remove_orphaned_files()


# ---- the page ----


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
