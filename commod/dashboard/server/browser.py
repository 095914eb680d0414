"""Every browser has a secret in a cookie, and a session belongs to the browser that opened it.

A session's id is part of its upload addresses, so it must not be a key. No script of a page can read the cookie, and
the server stores nothing about it.
"""

import re
import secrets
from functools import partial
from hashlib import sha256
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from commod.dashboard.server.headers import changing_headers
from commod.dashboard.streamlit_internals import bind_sessions

COOKIE = "commod_browser"
# We set this header on every websocket, whatever the browser sent under that name.
HEADER = "x-commod-browser"
_SECRET = re.compile(r"[\w-]{43}")  # 256 bits, as `secrets.token_urlsafe` writes them


def browser_of(scope: Any) -> str | None:
    """The browser that asks, as a hash of its secret; None without our cookie."""
    secret = HTTPConnection(scope).cookies.get(COOKIE, "")
    return sha256(secret.encode()).hexdigest() if _SECRET.fullmatch(secret) else None


class BrowserCookie:
    """ASGI middleware that gives every browser its secret with the first page, and binds its sessions to it.

    Without the cookie, a session works but cannot be resumed.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            bind_sessions(HEADER)
            name, value = HEADER.encode(), (browser_of(scope) or secrets.token_hex()).encode()
            others = [(other, text) for other, text in scope["headers"] if other.lower() != name]
            scope = {**scope, "headers": [*others, (name, value)]}
        elif scope["type"] == "http" and browser_of(scope) is None:
            # The cookie comes with a page, and "not modified" is not one.
            conditions = (b"if-none-match", b"if-modified-since")
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0].lower() not in conditions]}
            send = changing_headers(send, partial(_set_cookie, scope["scheme"] == "https"))
        await self.app(scope, receive, send)


def _set_cookie(secure: bool, response: MutableHeaders) -> None:
    if response.get("content-type", "").startswith("text/html"):
        value = f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; SameSite=Lax"
        response.append("Set-Cookie", f"{value}; Secure" if secure else value)
        response["Cache-Control"] = "no-store"  # a proxy must not give it to someone else
