"""Everything that leans on what Streamlit, or the server below it, does not document, in one place.

A new version of either is tried against ``tests/dashboard/test_streamlit_internals.py``, which says for each piece what
breaks if it changes.
"""

from __future__ import annotations

import asyncio
import os
import re
import selectors
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit import config, runtime
from streamlit.runtime import app_session, get_instance
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile
from uvicorn.protocols.http.auto import AutoHTTPProtocol


def stop_if_stale() -> None:
    """End this run of the script if another has been asked for: Streamlit stops it where it touches the session."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        st.session_state.get("touch")


# Seconds between two looks whether all that a run has sent is on its way.
_LOOK_AGAIN = 0.01
_request_rerun = app_session.AppSession.request_rerun


def let_runs_end() -> None:
    """Have a part of a page that is drawn by itself wait until all is sent that the run before it has drawn.

    By itself Streamlit begins the part as soon as the script has ended, and drops what its loop has not come to yet: on
    a busy server the end of a page, or the answer to a click, would never appear.
    """

    def patient(session: Any, client_state: Any) -> None:
        runner = session._scriptrunner
        is_part = client_state is not None and client_state.fragment_id
        if is_part and runner is not None and runner._requests._state is ScriptRequestType.STOP:
            session._event_loop.call_later(_LOOK_AGAIN, patient, session, client_state)
        else:
            _request_rerun(session, client_state)

    app_session.AppSession.request_rerun = patient  # type: ignore[method-assign, assignment]


# Seconds that a run must last to be told of.
_TOLD_AFTER = 0.2
_enqueue = app_session.AppSession._enqueue_forward_msg


def tell_of_long_runs_only() -> None:
    """Tell a browser that a script runs when it has run for a moment.

    For this news alone a browser goes over the whole page, before it looks at the first element that the run has sent.
    """

    def late(session: Any, message: Any) -> None:
        if not (message.HasField("session_status_changed") and message.session_status_changed.script_is_running):
            _enqueue(session, message)
            return

        def tell() -> None:
            if session._state is app_session.AppSessionState.APP_IS_RUNNING:
                _enqueue(session, message)

        session._event_loop.call_later(_TOLD_AFTER, tell)

    app_session.AppSession._enqueue_forward_msg = late  # type: ignore[method-assign, assignment]


def hand_over_together() -> None:
    """Have the server's loop take all at once that a script has drawn since it last came to that.

    By itself Streamlit hands it every element singly, which takes as long as drawing it does.
    """
    element = ScriptRunnerEvent.ENQUEUE_FORWARD_MSG

    def hand_over(session: Any, sender: Any, event: Any, forward_msg: Any = None, **more: Any) -> None:
        handed = vars(session).setdefault("handed", deque())
        handed.append((sender, event, forward_msg, more))
        if not vars(session).get("is_told"):
            session.is_told = True
            session._call_soon_on_event_loop(lambda: take(session))

    def take(session: Any) -> None:
        session.is_told = False  # before it: what comes from now on is told anew
        try:
            while session.handed:
                sender, event, message, more = session.handed.popleft()
                if event is not element:
                    session._handle_scriptrunner_event_on_event_loop(sender, event, message, **more)
                elif sender is session._scriptrunner:  # else the session has another by now
                    session._enqueue_forward_msg(message)
        finally:
            if session.handed:  # one of them has raised
                session._event_loop.call_soon(take, session)

    app_session.AppSession._on_scriptrunner_event = hand_over  # type: ignore[method-assign, assignment]


def make_theme_once() -> None:
    """Have the theme, which every run is told, made from all settings once for each of its sections."""
    made: dict[str, Any] = {}
    make = app_session._populate_theme_msg

    def copy(message: Any, section: str = "theme") -> None:
        if section not in made:
            theme = type(message)()
            make(theme, section)
            made[section] = theme
        message.MergeFrom(made[section])

    app_session._populate_theme_msg = copy  # type: ignore[assignment]


def wake_loop_once(loop: Any) -> None:
    """Have threads that send something to the server's loop wake it up only where nobody else just has.

    Streamlit's scripts do so with every element that they draw. Each time, asyncio writes to a socket and lets another
    thread run meanwhile: with sixty pages at once, the one that draws waits for all others after each element.
    """
    write, read, is_woken = loop._write_to_self, loop._read_from_self, Event()

    def wake() -> None:
        if not is_woken.is_set():
            is_woken.set()
            write()

    def hear() -> None:
        read()
        # After it: else a sign that was given in between would be read, and nobody would give another. What was sent
        # until now is in the loop's line, which it looks at before it sleeps.
        is_woken.clear()

    loop.remove_reader(loop._ssock.fileno())
    loop._write_to_self, loop._read_from_self = wake, hear
    loop._add_reader(loop._ssock.fileno(), hear)


_register_widget = SessionState.register_widget


def tell_values_until_known() -> None:
    """Have a widget told its value for as long as its browser has not said that it shows it.

    By itself Streamlit tells it once. Who clicks on a slow machine before a slider is drawn would find it at its first
    option, and so would the session at the next click.
    """

    def register(state: Any, metadata: Any, user_key: str | None) -> Any:
        known = user_key is None or user_key not in state or metadata.id in state._new_widget_state.states
        found = _register_widget(state, metadata, user_key)
        return found if known else replace(found, value_changed=True)

    SessionState.register_widget = register  # type: ignore[method-assign, assignment]


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


def ignore_pages_folder() -> None:
    """Have Streamlit ask app.py for the page, from the first visit on.

    By itself it takes the files in pages/ for all there is until somebody's script has called ``st.navigation``: who
    comes first, with the address of a page, would find no menu.
    """
    PagesManager.uses_pages_directory = False


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

# Streamlit adds an entry to the browser's history whenever the address changes, and Back would lead to the same page
# again: what is changed on a page takes the place of its entry. And who reads the page out is told its language.
ON_EVERY_PAGE = (
    "if (!history.oneEntryAPage) { history.oneEntryAPage = true; const push = history.pushState.bind(history);"
    "history.pushState = (state, unused, url) => new URL(url, location).pathname === location.pathname"
    " ? history.replaceState(state, unused, url) : push(state, unused, url); }"
    "document.documentElement.lang = document.querySelector('[data-language]').dataset.language;"
)

# The hint of the tour comes into sight, and is read out with its first button in focus.
TO_HINT = (
    "{ const hint = document.querySelector('.st-key-tour_hint'), button = hint && hint.querySelector('button');"
    "if (button) { hint.scrollIntoView({block: 'center'}); button.focus({preventScroll: true}); } }"
)

# What has happened in a room is read out once. Streamlit puts new elements in the place of old ones, and a screen
# reader speaks of a change only in an element that was there before: this one outlives them.
SAY_ALOUD = (
    "{ let live = document.getElementById('commod-aloud'); const said = document.querySelector('[data-aloud]');"
    "if (!live) { live = document.createElement('div'); live.id = 'commod-aloud'; live.setAttribute('role', 'status');"
    "live.setAttribute('aria-live', 'polite'); live.style.cssText ="
    "'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)'; document.body.append(live); }"
    "if (said && live.textContent !== said.dataset.aloud) { live.textContent = said.dataset.aloud; } }"
)

# For the keyboard: Streamlit only tints links and the buttons over a chart when they are in focus, and hides the button
# that closes the sidebar from all who cannot point at it. For the eye: its white text on the dark theme's blue is hard
# to read, and it does not break long words of code in a table.
STYLE = """
<style>
[data-testid="stElementContainer"]:has(> .stHtml > :is([data-language], [data-aloud])) { display: none; }
[data-testid="stTopNavLink"]:focus-visible,
[data-testid="stPageLink-NavLink"]:focus-visible,
[data-testid="stBaseButton-elementToolbar"]:focus-visible,
[data-testid="stMain"]:focus-visible { outline: 2px solid currentColor; outline-offset: -2px; }
[data-testid="stSidebar"] [data-testid="stSidebarCollapseButton"] { visibility: visible; }
[data-testid="stMain"] td code { overflow-wrap: anywhere; white-space: normal; }
[data-testid="stApp"] button[kind^="primary"]:enabled { color: light-dark(white, black); }
</style>
"""


# ---- sessions that are open, and those that may come back ----


def is_known_session(session_id: str) -> bool:
    """Whether a session of this name is open, or kept for who may come back."""
    return get_instance()._session_mgr.get_session_info(session_id) is not None


def address_of_session(session_id: str) -> str:
    """Where the browser of a session that is open is, as the server was told."""
    opened: Any = get_instance()._session_mgr.get_active_session_info(session_id)
    return "" if opened is None else opened.client.client_context.remote_ip or ""


def values_held_by(session: Any) -> list[Any]:
    """Everything that a session's script has put into ``st.session_state``; may be asked while the script runs."""
    state = session.session_state
    return [*state._old_state.values(), *state._new_session_state.values()]


def keep_disconnected_in(storage: Any) -> None:
    """Have Streamlit put sessions that lost their browser into `storage` (get, save, delete, list)."""
    manager: Any = get_instance()._session_mgr
    manager._session_storage = storage


# ---- descriptors ----


class _SelectorOnDemand:
    """A selector that is made when it is first asked for anything but to close."""

    _made: selectors.BaseSelector | None = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            self._made = selectors.DefaultSelector()
        return getattr(self._made, name)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()


class LoopOnDemand(asyncio.SelectorEventLoop):
    """An event loop that takes its three descriptors when it is first run or asked to watch one."""

    def __init__(self) -> None:
        self._csock: Any = None  # which asyncio takes for a loop that need not be woken
        super().__init__(_SelectorOnDemand())  # type: ignore[arg-type]

    def _make_self_pipe(self) -> None:
        """Not yet."""

    def _close_self_pipe(self) -> None:
        if self._csock is not None:
            super()._close_self_pipe()  # type: ignore[misc]

    def run_forever(self) -> None:
        """As ever; `run_until_complete` comes through here, too."""
        if self._csock is None and not self.is_closed():
            super()._make_self_pipe()  # type: ignore[misc]
        super().run_forever()


def open_loops_on_demand() -> None:
    """Have every session open the event loop of its script when that needs one; ours never do."""
    if sys.platform == "win32":  # whose loops are of another kind
        return

    class Asyncio(ModuleType):
        new_event_loop = LoopOnDemand

        def __getattr__(self, name: str) -> Any:
            return getattr(asyncio, name)

    app_session.asyncio = Asyncio("asyncio")  # type: ignore[attr-defined]


# ---- connections ----


UNREADABLE = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@lru_cache(maxsize=1)
def bound_connections(at_most: int, header_seconds: float, refusal: bytes) -> None:
    """Bound how many connections are open, and how long each may take to send the head of a request.

    One beyond `at_most` is answered `refusal` and closed. uvicorn itself closes what is silent after an answer, but
    waits for ever for the rest of a head, and after a head that cannot begin a websocket though it asks for one.
    """
    protocol: Any = AutoHTTPProtocol
    made, received, lost = protocol.connection_made, protocol.data_received, protocol.connection_lost

    def connection_made(self: Any, transport: asyncio.Transport) -> None:
        made(self, transport)
        self.head_timer = None
        if len(self.connections) > at_most:
            transport.write(refusal)
            transport.close()
        else:
            begin_head(self)

    def data_received(self: Any, data: bytes) -> None:
        before = self.cycle
        if self.head_timer is None and (before is None or before.response_complete):
            begin_head(self)
        received(self, data)
        now = self.transport.get_protocol()
        if self.cycle is not before or now is not self:  # a request is there, or a websocket
            end_head(self)
        if now is not self and not getattr(now, "handshake_initiated", True):
            # uvicorn hands over a whole head; what its websockets cannot read (too long, a body), they never answer.
            self.transport.write(UNREADABLE)
            self.transport.close()

    def connection_lost(self: Any, exc: Exception | None) -> None:
        end_head(self)
        lost(self, exc)

    def begin_head(self: Any) -> None:
        self.head_timer = self.loop.call_later(header_seconds, self.transport.close)

    def end_head(self: Any) -> None:
        if self.head_timer is not None:
            self.head_timer.cancel()
            self.head_timer = None

    protocol.connection_made, protocol.data_received = connection_made, data_received
    protocol.connection_lost = connection_lost


def accept_few_at_once(connections: int) -> None:
    """Have the loop that runs here accept a few connections and look at them before it accepts more.

    asyncio would accept thousands in one go, and be out of descriptors before any of them can be refused.
    """
    loop: Any = asyncio.get_running_loop()
    accept = getattr(loop, "_accept_connection", None)
    if accept is not None:  # which Windows' loops and others do not have

        def accept_few(factory: Any, sock: Any, ssl: Any, server: Any, backlog: int, *more: Any) -> None:
            accept(factory, sock, ssl, server, min(backlog, connections), *more)

        loop._accept_connection = accept_few


# ---- settings ----


def settings_files() -> list[Path]:
    """The files that Streamlit reads its settings from, the last one winning; not all need be there."""
    return [Path(name) for name in config.get_config_files("config.toml")]


def where_set(option: str) -> str:
    """The file, or in words the other place, where somebody has set an option; empty if nobody has."""
    return config.get_where_defined(option) if config.is_manually_set(option) else ""
