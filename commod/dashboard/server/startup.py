"""What `streamlit.App` is told at the start of the server."""

from __future__ import annotations

from typing import Any

from starlette.middleware import Middleware

from commod.dashboard.jobs import tasks as compute
from commod.dashboard.server import paint_order
from commod.dashboard.server.headers import SecurityHeaders
from commod.dashboard.server.sockets import send_at_once
from commod.dashboard.server.wake import WakeOnMessage


def server_options() -> dict[str, Any]:
    """Keyword arguments of `streamlit.App`."""
    compute.name_damaged_files()
    return {
        "lifespan": send_at_once,
        "middleware": [Middleware(SecurityHeaders), Middleware(WakeOnMessage, wake=paint_order.wake)],
    }
