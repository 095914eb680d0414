"""Everything that depends on undocumented parts of Streamlit or of the server below it.

Two places change other people's code at run time: `keep_uploads_in_memory` and `ON_EVERY_PAGE`; docs/upstream.md says
why. `App` overrides one method of Streamlit's. ``tests/dashboard/test_streamlit_internals.py`` says for everything in
here what breaks if Streamlit changes.
"""

import logging
import re
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import config, runtime
from streamlit.runtime.media_file_storage import MediaFileKind, MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile
from streamlit.web.cache_storage_manager_config import create_default_cache_storage_manager


def stop_if_stale() -> None:
    """End this script run if a newer one was requested: Streamlit stops a run where it touches the session."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.get("touch")


# ---- whose session it is ----

# Under this name, Streamlit keeps which browser opened a session.
_BROWSER = "browser"


def bind_sessions(header: str) -> None:
    """Let Streamlit resume a session only for a websocket with the same value of `header`."""
    trusted = config.get_option("server.trustedUserHeaders")
    if header not in trusted:
        config.set_option("server.trustedUserHeaders", {**trusted, header: _BROWSER})


def is_connected(session_id: str) -> bool:
    """Whether a browser has the session open. Without a server, as in a test of a page: always."""
    return not runtime.exists() or runtime.get_instance().is_active_session(session_id)


def is_known_session(session_id: str) -> bool:
    """Whether this session is open, or disconnected and can still be resumed."""
    return runtime.get_instance()._session_mgr.get_session_info(session_id) is not None


def sessions_of(browser: str | None) -> set[str]:
    """Ids of the sessions that this browser has open."""
    active = runtime.get_instance()._session_mgr.list_active_sessions()
    return {info.session.id for info in active if browser and info.session._user_info.get(_BROWSER) == browser}


def this_session() -> str:
    """Id of the session whose script runs in this thread; "" if there is none."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else ""


def state_of_this_session() -> Any:
    """Everything that the session of this thread keeps; its `clear` empties it for good.

    Streamlit's event loop and reference cycles hold on to sessions that have ended.
    """
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_state._state if context else None


# ---- files that a session uploads ----


def keep_uploads_in_memory(size: int) -> None:
    """Never write uploads of up to `size` bytes to disk. By default, starlette does so above 1 MB."""
    if hasattr(MultiPartParser, "spool_max_size"):
        MultiPartParser.spool_max_size = size
    else:
        text = "MultiPartParser has no spool_max_size: uploads of more than 1 MB may be written to disk."
        logging.getLogger(__name__).warning(text)


def upload_sizes() -> dict[str, list[int]]:
    """Sizes in bytes of the uploaded files that each session holds."""
    held: Any = runtime.get_instance().uploaded_file_mgr
    return {name: [len(file.data) for file in list(files.values())] for name, files in list(held.file_storage.items())}


def forget_uploads(session_id: str) -> None:
    """Drop all files that a session has uploaded."""
    runtime.get_instance().uploaded_file_mgr.remove_session_files(session_id)


def uploaded_file(key: str) -> tuple[str, bytes] | None:
    """Name and content of the file in the uploader with this key. The server then drops it; the page shows its name."""
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

# Files made for a download that are kept of each session.
_KEPT_OF_A_SESSION = 4
# The session whose download button was clicked, while its file is being made.
_asked_by: ContextVar[str] = ContextVar("asked_by", default="")


def for_this_session(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """The same function, whose file belongs to the session that draws the button now."""
    session_id = this_session()

    def made() -> bytes:
        content = make()
        _asked_by.set(session_id)  # `OwnMedia` stores the content next, in the same context
        return content

    return made


class OwnMedia(MemoryMediaFileStorage):
    """Knows which session each file was made for, and keeps it until that session leaves the page or is closed.

    By default Streamlit serves a file to anyone, and deletes it after two more script runs of anybody: with many people
    at work, before the browser has fetched it.
    """

    def __init__(self) -> None:
        super().__init__("/media")
        self._made: dict[str, list[str]] = {}  # session to the ids of its files, the newest last
        self._made_lock = Lock()

    def load_and_get_id(
        self, path_or_data: str | bytes, mimetype: str, kind: MediaFileKind, filename: str | None = None
    ) -> str:
        with self._made_lock:
            file_id = super().load_and_get_id(path_or_data, mimetype, kind, filename)
            session_id = _asked_by.get()
            if session_id and is_connected(session_id):  # not if the tab was closed meanwhile
                before = [other for other in self._made.get(session_id, []) if other != file_id]
                self._made[session_id] = [*before, file_id][-_KEPT_OF_A_SESSION:]
                for other in before:
                    self._delete_unless_made(other)
            return file_id

    def delete_file(self, file_id: str) -> None:
        with self._made_lock:
            self._delete_unless_made(file_id)

    def _delete_unless_made(self, file_id: str) -> None:
        if not any(file_id in files for files in self._made.values()):
            super().delete_file(file_id)

    def forget(self, session_id: str) -> None:
        """Drop the files made for a session, except those made for another session as well."""
        with self._made_lock:
            for file_id in self._made.pop(session_id, []):
                self._delete_unless_made(file_id)

    def forget_closed(self) -> None:
        """Drop the files of all sessions that are not open any more."""
        for session_id in list(self._made):
            if not is_connected(session_id):
                self.forget(session_id)

    def is_for(self, session_ids: set[str], name: str) -> bool:
        """Whether one of these sessions may have the file: pictures are for everyone, downloads for their owner."""
        try:
            kind = self.get_file(name).kind
        except MediaFileStorageError:
            return False
        file_id = name.partition(".")[0]
        return kind is MediaFileKind.MEDIA or any(file_id in self._made.get(one, []) for one in session_ids)


media = OwnMedia()

# Disconnected sessions that can be resumed. Streamlit's 128 are too few for a class of sixty who reload their pages.
_RESUMABLE = 500


class App(st.App):
    """Streamlit's app, which keeps files in `media` and more disconnected sessions."""

    def _create_runtime(self) -> runtime.Runtime:
        return runtime.Runtime(
            runtime.RuntimeConfig(
                script_path=str(self._resolve_script_path()),
                media_file_storage=media,
                uploaded_file_manager=MemoryUploadedFileManager("/_stcore/upload_file"),
                cache_storage_manager=create_default_cache_storage_manager(),
                session_storage=MemorySessionStorage(_RESUMABLE, config.get_option("server.disconnectedSessionTTL")),
            )
        )


# ---- the page ----


@lru_cache(maxsize=1)
def inline_scripts() -> list[str]:
    """Inline scripts of Streamlit's own page, which the Content-Security-Policy must allow."""
    page = (Path(st.__file__).parent / "static" / "index.html").read_text()
    return re.findall(r"<script>(.*?)</script>", page, re.S)


def forget_widgets(held: str) -> None:
    """Drop the keys of all widgets, which are all that do not begin with `held`.

    Two pages can have widgets with the same key. Streamlit tells the widgets apart but keeps the key when the page
    changes, so the new page would not set its value.
    """
    for key in [key for key in st.session_state if not str(key).startswith(held)]:
        del st.session_state[key]


_FILES = Path(__file__).parent / "views" / "browser"
# Scripts that pages run in the browser. The Content-Security-Policy names them by their hash (server/headers.py).
TO_TOP, ON_EVERY_PAGE, TO_HINT, SAY_ALOUD = (
    (_FILES / f"{name}.js").read_text() for name in ("to_top", "on_every_page", "to_hint", "say_aloud")
)
STYLE = f"<style>{(_FILES / 'page.css').read_text()}</style>"


# ---- settings ----


def settings_files() -> list[Path]:
    """Files from which Streamlit reads its settings, the last one wins; some may not exist."""
    return [Path(name) for name in config.get_config_files("config.toml")]


def where_set(option: str) -> str:
    """Where an option was set, a file or another place in words; empty if nobody set it."""
    return config.get_where_defined(option) if config.is_manually_set(option) else ""
