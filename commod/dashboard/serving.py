"""What the server says with every answer (nobody may frame the app or bring in code from elsewhere), and how soon."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from stat import S_ISSOCK
from typing import Any

import streamlit
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

__all__ = ["TO_TOP", "at_once", "headers", "middleware"]

# The one script of ours: the top of the page comes into sight, and its heading is read out.
TO_TOP = (
    "{ const main = document.querySelector('[data-testid=\"stMain\"]'), heading = main && main.querySelector('h1');"
    "if (heading) { heading.tabIndex = -1; heading.focus({preventScroll: true}); main.scrollTo(0, 0); } }"
)


@lru_cache(maxsize=1)
def headers() -> dict[str, str]:
    """Name to value of the security headers.

    Vega compiles its expressions (unsafe-eval), and Streamlit and our own tables bring styles in the page
    (unsafe-inline); scripts come from this server alone, but for those that stand in Streamlit's own page and the one
    above.
    """
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()
    inline = [*re.findall(r"<script>(.*?)</script>", page, re.S), TO_TOP]
    hashes = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in inline)
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' 'unsafe-eval' {hashes}".strip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'self'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


class SecurityHeaders:
    """ASGI middleware that adds them to every answer over HTTP."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers())
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class Stir:
    """ASGI middleware that tells of every message from a browser, once Streamlit has read it: in its own step.

    A script that waits finds out that another run of it is wanted only where it touches the session: this is when.
    Which session a connection belongs to is said in the first message that Streamlit sends for a run.
    """

    def __init__(self, app: Any, stir: Callable[[str], None]) -> None:
        self.app, self.stir = app, stir

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        session_id = ""

        async def receive_and_stir() -> Any:
            message = await receive()
            if session_id:
                asyncio.get_running_loop().call_soon(self.stir, session_id)
            return message

        async def send_and_read(message: Any) -> None:
            nonlocal session_id
            if not session_id and message.get("bytes"):
                session_id = ForwardMsg.FromString(message["bytes"]).new_session.initialize.session_id
            await send(message)

        await self.app(scope, receive_and_stir, send_and_read)


def middleware(stir: Callable[[str], None]) -> list[Middleware]:
    """For `streamlit.App`; `stir` is called soon after every message from the browser of a session."""
    return [Middleware(SecurityHeaders), Middleware(Stir, stir=stir)]


@asynccontextmanager
async def at_once(_: Any) -> AsyncIterator[None]:
    """For `streamlit.App`, while the server runs: small messages are sent at once.

    asyncio asks for that on sockets that were made for TCP by name; Streamlit's is not, so the system would hold a
    message back until the browser has acknowledged the one before, which it takes 40 ms to do. What is set on a socket
    that listens holds for the connections that it accepts.
    """
    for number in _open_sockets():
        with socket.socket(fileno=os.dup(number)) as found:
            tcp = found.family in (socket.AF_INET, socket.AF_INET6) and found.type == socket.SOCK_STREAM
            if tcp and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    yield


def _open_sockets() -> list[int]:
    """Numbers of the sockets that this process has open, where the system lists them."""
    found = []
    with suppress(OSError):  # Windows has no such list
        for number in map(int, os.listdir("/dev/fd")):
            with suppress(OSError):  # the list itself, closed by now
                if S_ISSOCK(os.fstat(number).st_mode):
                    found.append(number)
    return found
