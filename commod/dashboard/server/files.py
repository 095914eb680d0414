"""A session's uploads and downloads: only for its own browser, within limits, and only while the session is open."""

import asyncio
import re
from collections import Counter
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from commod.dashboard import streamlit_internals as internals
from commod.dashboard.server.headers import browser_of, changing_headers
from commod.dashboard.state.uploads import refuse
from commod.uploads.limits import MAX_BYTES

# An upload is in memory twice while it arrives: in the request, and in the session. So one session can send one of the
# largest files at a time, and all sessions together five.
SESSION_BYTES = 2 * MAX_BYTES
SERVER_BYTES = 10 * MAX_BYTES
# Files of one session that wait to be read. A page has one uploader.
SESSION_FILES = 8
# Longest time for one upload: 50 MB at 700 kbit/s.
UPLOAD_SECONDS = 600.0

FULL = "The server holds as many files as it can right now. Try again in a minute."
TOO_MANY = "Your last file is still being read. Wait a moment, then choose this one again."

# Bytes that each session is uploading now.
_arriving: Counter[str] = Counter()


class OwnFiles:
    """ASGI middleware for uploads and downloads, which Streamlit would accept from and give to anyone.

    A browser can upload only to its own open sessions, and download only files made for them. When a session is closed,
    its files are forgotten.
    """

    def __init__(self, app: Any) -> None:
        self.app = app
        internals.keep_uploads_in_memory(SESSION_BYTES)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "").removeprefix(base_path())
        is_request = scope["type"] == "http" and scope["method"] != "OPTIONS"
        if scope["type"] == "websocket":
            try:
                await self.app(scope, receive, send)
            finally:
                _forget_files_of_closed_sessions()
        elif is_request and path.startswith("/media/"):
            await self._download(path.removeprefix("/media/"), scope, receive, send)
        elif is_request and path.startswith("/_stcore/upload_file/"):
            await self._upload(path.removeprefix("/_stcore/upload_file/"), scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _download(self, name: str, scope: Any, receive: Any, send: Any) -> None:
        allowed = internals.media.is_for(internals.sessions_of(browser_of(scope)), name)
        answer = self.app if allowed else PlainTextResponse("File not found", 404)
        await answer(scope, receive, changing_headers(send, lambda sent: sent.update({"Cache-Control": "no-store"})))

    async def _upload(self, place: str, scope: Any, receive: Any, send: Any) -> None:
        session_id, _, file_id = place.partition("/")
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        size = 2 * int(length) if re.fullmatch(r"\d{1,12}", length) else -1
        answer: Any = None
        if session_id not in internals.sessions_of(browser_of(scope)):
            answer = PlainTextResponse("This session belongs to another browser.", 403)
        elif scope["method"] != "PUT":
            answer = self.app
        elif st.get_option("server.enableXsrfProtection") and not headers.get("x-xsrftoken"):
            answer = PlainTextResponse("An upload needs the token of its page.", 403)  # Streamlit checks which one
        elif size < 0:
            answer = PlainTextResponse("An upload needs a Content-Length.", 411)
        elif size > 2 * MAX_BYTES:
            answer = PlainTextResponse("The file is too large.", 413)
        elif why := _no_room(session_id, size):
            # Streamlit's uploader would show only a status code. So it gets a success, and the page says why.
            refuse(file_id, why)
            await _drain(receive)
            answer = Response(status_code=204)
        if answer is not None:
            await answer(scope, receive, send)
            return
        _arriving[session_id] += size
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                await self.app(scope, receive, send)
        except TimeoutError:
            too_slow = PlainTextResponse("The upload took too long.", 408, {"connection": "close"})
            await too_slow(scope, receive, send)
        except ClientDisconnect:  # nobody is left to answer
            pass
        finally:
            _arriving[session_id] -= size
            if not internals.is_connected(session_id):
                _forget_files_of_closed_sessions()


def base_path() -> str:
    """The path prefix of all addresses of the app."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


def _no_room(session_id: str, size: int) -> str:
    """Why there is no room for `size` more bytes; "" if there is."""
    held = internals.upload_sizes()
    mine = held.get(session_id, [])
    if len(mine) >= SESSION_FILES or size + sum(mine) + _arriving[session_id] > SESSION_BYTES:
        return TOO_MANY
    everything = sum(map(sum, held.values())) + _arriving.total()
    return FULL if size + everything > SERVER_BYTES else ""


async def _drain(receive: Any) -> None:
    """Read the rest of a request: a browser that is answered too early reports a lost connection."""
    message = await receive()
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()


def _forget_files_of_closed_sessions() -> None:
    for session_id in [*internals.upload_sizes(), *_arriving]:
        if not internals.is_connected(session_id):
            internals.forget_uploads(session_id)
            if not _arriving[session_id]:
                del _arriving[session_id]
    internals.media.forget_closed()
