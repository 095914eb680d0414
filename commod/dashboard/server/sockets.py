"""Small messages are sent at once."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from stat import S_ISSOCK
from typing import Any


@asynccontextmanager
async def send_at_once(_: Any) -> AsyncIterator[None]:
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
