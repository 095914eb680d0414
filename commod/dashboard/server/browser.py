"""Who is who: every browser has a secret of its own, and a session belongs to the browser that opened it.

The id of a session stands in the addresses to which it uploads, so it must not be a key. The secret stands in a cookie
alone, which no script of a page can read. Nothing about it is stored here: who brings the same secret is the same
browser.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from commod.dashboard.streamlit_internals import bind_sessions

COOKIE = "commod_browser"
# Set by us on every websocket, whatever came in under that name.
HEADER = "x-commod-browser"
_SECRET = re.compile(r"[\w-]{43}")  # 256 bits, as `secrets.token_urlsafe` writes them


def browser_of(scope: Any) -> str | None:
    """Who asks: a hash of the browser's secret; None if it brings no cookie of ours."""
    secret = HTTPConnection(scope).cookies.get(COOKIE, "")
    return sha256(secret.encode()).hexdigest() if _SECRET.fullmatch(secret) else None


class BrowserCookie:
    """ASGI middleware that gives every browser its secret with the first page, and binds its sessions to it.

    A websocket without the cookie has a session like any other, which nobody can take up again.
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
            # "Not modified" would not be a page: the cookie has to come with one.
            conditions = (b"if-none-match", b"if-modified-since")
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0].lower() not in conditions]}
            send = _with_cookie(scope, send)
        await self.app(scope, receive, send)


def _with_cookie(scope: Any, send: Any) -> Any:
    secure = "; Secure" if scope["scheme"] == "https" else ""

    async def send_with_cookie(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type", "").startswith("text/html"):
                text = f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; SameSite=Lax{secure}"
                headers.append("Set-Cookie", text)
                headers["Cache-Control"] = "no-store"  # or a proxy might hand it to somebody else
        await send(message)

    return send_with_cookie
