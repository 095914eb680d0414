"""Security headers of every response, and a cookie by which a session belongs to the browser that opened it."""

import re
import secrets
from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from commod.dashboard import streamlit_internals as internals


@lru_cache(maxsize=1)
def headers() -> dict[str, str]:
    """The headers by name.

    Scripts come only from this server; inline scripts, Streamlit's and four of ours, are allowed by their hash. Nothing
    is compiled from text: Streamlit has Vega interpret its expressions. Streamlit loads components from blobs, which
    only running scripts can make, and Streamlit and our tables use inline styles.
    """
    ours = internals.TO_TOP, internals.TO_HINT, internals.SAY_ALOUD, internals.ON_EVERY_PAGE
    allowed = [*internals.inline_scripts(), *ours]
    hashes = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in allowed)
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {hashes}".strip(),
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


def changing_headers(send: Any, change: Callable[[MutableHeaders], None]) -> Any:
    """The same `send`, which changes the headers of a response first."""

    async def send_changed(message: Any) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return send_changed


class SecurityHeaders:
    """ASGI middleware that adds the security headers to every HTTP response."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            send = changing_headers(send, lambda response: response.update(headers()))
        await self.app(scope, receive, send)


COOKIE = "commod_browser"
# We set this header on every websocket, whatever the browser sent under that name.
HEADER = "x-commod-browser"
_SECRET = re.compile(r"[\w-]{43}")  # 256 bits, as `secrets.token_urlsafe` writes them


def browser_of(scope: Any) -> str | None:
    """The requesting browser, as a hash of its secret; None without our cookie."""
    secret = HTTPConnection(scope).cookies.get(COOKIE, "")
    return sha256(secret.encode()).hexdigest() if _SECRET.fullmatch(secret) else None


class BrowserCookie:
    """ASGI middleware that gives every browser its secret with the first page, and binds its sessions to it.

    A session's id is part of its upload addresses, so it must not be a key. No script of a page can read the cookie,
    and the server stores nothing about it. Without the cookie, a session works but cannot be resumed.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            internals.bind_sessions(HEADER)
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
