"""A message from a browser wakes the script of its session, if that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from commod.dashboard.streamlit_internals import session_in_message


class WakeOnMessage:
    """ASGI middleware that tells of every message from a browser, once Streamlit has read it: in its own step.

    A script that waits finds out that another run of it is wanted only where it touches the session: this is when.
    Which session a connection belongs to is said in the first message that Streamlit sends for a run.
    """

    def __init__(self, app: Any, wake: Callable[[str], None]) -> None:
        self.app, self.wake = app, wake

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        session_id = ""

        async def receive_and_wake() -> Any:
            message = await receive()
            if session_id:
                asyncio.get_running_loop().call_soon(self.wake, session_id)
            return message

        async def send_and_read(message: Any) -> None:
            nonlocal session_id
            if not session_id and message.get("bytes"):
                session_id = session_in_message(message["bytes"])
            await send(message)

        await self.app(scope, receive_and_wake, send_and_read)
