"""Security headers of every response: no foreign frames, and no code from elsewhere."""

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any

from starlette.datastructures import MutableHeaders

from commod.dashboard.streamlit_internals import ON_EVERY_PAGE, SAY_ALOUD, TO_HINT, TO_TOP, inline_scripts


@lru_cache(maxsize=1)
def headers() -> dict[str, str]:
    """The headers by name.

    Scripts come only from this server; inline scripts, Streamlit's and four of ours, are allowed by their hash. Nothing
    is compiled from text: Streamlit has Vega interpret its expressions. Streamlit loads components from blobs, which
    only running scripts can make, and Streamlit and our tables use inline styles.
    """
    allowed = [*inline_scripts(), TO_TOP, TO_HINT, SAY_ALOUD, ON_EVERY_PAGE]
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
    """ASGI middleware that adds them to every HTTP response."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            send = changing_headers(send, lambda response: response.update(headers()))
        await self.app(scope, receive, send)
