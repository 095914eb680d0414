"""What is sent too slowly is dropped: half a request must not hold a connection for ever.

The head of a request is watched below ASGI (`streamlit_internals.bound_connections`). All bounds go by the event loop's
own clock, which nobody can set.
"""

from __future__ import annotations

import asyncio
from typing import Any

# For the head of a request, from the first byte of the connection or from the end of the answer before.
HEAD_SECONDS = 15.0
# A body has this long, and longer the more of it has come: 50 MB pass on a line that carries 16 kB (128 kbit) a second.
BODY_SECONDS = 30.0
BODY_BYTES_PER_SECOND = 16_000
# A page says what it wants as soon as its websocket is open; a busy server may hear it later.
FIRST_MESSAGE_SECONDS = 30.0

_TOO_SLOW = b"The request came too slowly: send it again on a better line."


class SlowRequests:
    """ASGI middleware that hangs up on bodies that trickle and on websockets that never say anything."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self.app(scope, _first_message_in_time(receive, send), send)
        else:
            await self.app(scope, receive, send)

    async def _request(self, scope: Any, receive: Any, send: Any) -> None:
        begun = asyncio.get_running_loop().time()
        received, complete, too_slow, answered = 0, False, False, False

        async def receive_in_time() -> Any:
            nonlocal received, complete, too_slow
            if complete:  # what comes now is that the client has gone
                return await receive()
            try:
                async with asyncio.timeout_at(begun + BODY_SECONDS + received / BODY_BYTES_PER_SECOND):
                    message = await receive()
            except TimeoutError:
                complete = too_slow = True
                return {"type": "http.disconnect"}
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            return message

        async def note_answer(message: Any) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self.app(scope, receive_in_time, note_answer)
        except Exception:
            if not too_slow:  # else it has only noticed that the client is gone
                raise
        if too_slow and not answered:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 408, "headers": headers})
            await send({"type": "http.response.body", "body": _TOO_SLOW})


def _first_message_in_time(receive: Any, send: Any) -> Any:
    """`receive`, by which the client seems to be gone if its first message does not come."""
    heard = False

    async def receive_in_time() -> Any:
        nonlocal heard
        if heard:
            return await receive()
        try:
            async with asyncio.timeout(FIRST_MESSAGE_SECONDS):
                message = await receive()
        except TimeoutError:
            heard = True
            await send({"type": "websocket.close", "code": 1008})
            return {"type": "websocket.disconnect", "code": 1008}
        heard = message["type"] == "websocket.receive"
        return message

    return receive_in_time
