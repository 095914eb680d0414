"""What the server says with every answer: nobody may frame the app or bring in code from elsewhere."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Any

from starlette.datastructures import MutableHeaders

from commod.dashboard.streamlit_internals import ON_EVERY_PAGE, SAY_ALOUD, TO_HINT, TO_TOP, inline_scripts


@lru_cache(maxsize=1)
def headers() -> dict[str, str]:
    """Name to value of the security headers.

    Vega compiles its expressions (unsafe-eval). Streamlit hands the script of a component to the browser as one that
    the page itself has made (blob:), which only somebody can do whose scripts run already. Streamlit and our own
    tables bring styles in the page (unsafe-inline). Scripts come from this server alone, but for those that stand in
    Streamlit's own page and four of ours.
    """
    allowed = [*inline_scripts(), TO_TOP, TO_HINT, SAY_ALOUD, ON_EVERY_PAGE]
    hashes = " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in allowed)
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' 'unsafe-eval' blob: {hashes}".strip(),
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
