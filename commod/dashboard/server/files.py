"""Files of a session, uploaded or handed out: for its own browser alone, within bounds, and only while it is open."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response

from commod.dashboard import streamlit_internals as internals
from commod.dashboard.server.browser import browser_of
from commod.dashboard.state.uploads import refuse
from commod.uploads.limits import MAX_BYTES

# A file on its way is held twice: as it comes in, and as it is handed on. So a session can bring one of the largest at
# a time, and all of them together five.
SESSION_BYTES = 2 * MAX_BYTES
SERVER_BYTES = 10 * MAX_BYTES
# Offers of a place for a file that a session can have open: a page has one uploader.
MAX_OFFERS = 8

FULL = "The server holds as much as it can of other people's files right now: try again in a minute."
TOO_MANY = "Your last file is still on its way: wait until it has been read, and choose this one again."


@dataclass
class _Uploads:
    """Where a session may upload files to, and what it is uploading."""

    offered: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_OFFERS))
    on_the_way: int = 0  # bytes


_uploads: dict[str, _Uploads] = {}


class OwnFiles:
    """ASGI middleware before the addresses of uploads and downloads, which Streamlit answers to whoever asks.

    An upload goes to an id that was offered to the session, once, and comes from the browser that has it open. A
    download is a file of the page that this browser shows now. Both are gone when the session is closed.
    """

    def __init__(self, app: Any) -> None:
        self.app = app
        internals.watch_uploads(_offer, MAX_OFFERS, in_memory=SESSION_BYTES)
        internals.keep_made_files()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "").removeprefix(_base())
        if scope["type"] == "websocket":
            try:
                await self.app(scope, receive, send)
            finally:
                _forget_files_of_closed_sessions()
        elif scope["type"] != "http" or scope["method"] == "OPTIONS":
            await self.app(scope, receive, send)
        elif path.startswith("/media/"):
            await self._download(path.removeprefix("/media/"), scope, receive, send)
        elif path.startswith("/_stcore/upload_file/"):
            await self._upload(path.removeprefix("/_stcore/upload_file/"), scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _download(self, name: str, scope: Any, receive: Any, send: Any) -> None:
        async def send_unstored(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Cache-Control"] = "no-store"
            await send(message)

        shown = internals.shows_file(internals.sessions_of(browser_of(scope)), name)
        answer = self.app if shown else PlainTextResponse("File not found", 404)
        await answer(scope, receive, send_unstored)

    async def _upload(self, place: str, scope: Any, receive: Any, send: Any) -> None:
        session_id, _, file_id = place.partition("/")
        if session_id not in internals.sessions_of(browser_of(scope)):
            await PlainTextResponse("This place is for another browser.", 403)(scope, receive, send)
            return
        if scope["method"] != "PUT":
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if not re.fullmatch(r"\d{1,12}", length):
            await PlainTextResponse("An upload has to say how long it is.", 411)(scope, receive, send)
            return
        if int(length) > MAX_BYTES:
            await PlainTextResponse("The file is too large.", 413)(scope, receive, send)
            return
        mine = _uploads.get(session_id, _Uploads())
        if file_id not in mine.offered:
            await PlainTextResponse("No file was asked for under this name.", 404)(scope, receive, send)
            return
        mine.offered.remove(file_id)
        size = 2 * int(length)
        if why := _no_room(session_id, size):
            # Streamlit's uploader would show a number. It is told that all is well, and the page says what is not.
            refuse(file_id, why)
            await _drain(receive)
            await Response(status_code=204)(scope, receive, send)
            return
        mine.on_the_way += size
        try:
            await self.app(scope, receive, send)
        except ClientDisconnect:  # in the midst of it; there is nobody to be told
            pass
        finally:
            mine.on_the_way -= size
            if not internals.is_connected(session_id):
                _forget_files_of_closed_sessions()


def _base() -> str:
    """What stands before every path."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


def _offer(session_id: str, file_id: str) -> None:
    _uploads.setdefault(session_id, _Uploads()).offered.append(file_id)


def _no_room(session_id: str, size: int) -> str:
    """Why there is no room for so many bytes more; "" if there is."""
    held = internals.uploaded_bytes()
    if size + held.get(session_id, 0) + _uploads[session_id].on_the_way > SESSION_BYTES:
        return TOO_MANY
    on_the_way = sum(session.on_the_way for session in _uploads.values())
    return FULL if size + sum(held.values()) + on_the_way > SERVER_BYTES else ""


async def _drain(receive: Any) -> None:
    """Let a browser send what it has begun to: it would take an earlier answer for a broken line."""
    message = await receive()
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()


def _forget_files_of_closed_sessions() -> None:
    for session_id in {*_uploads, *internals.uploaded_bytes(), *internals.sessions_with_made_files()}:
        if not internals.is_connected(session_id):
            internals.forget_uploads(session_id)
            internals.forget_made_files(session_id)
            if session_id in _uploads and not _uploads[session_id].on_the_way:
                del _uploads[session_id]
    internals.forget_files_that_nobody_shows()
