"""Where threads wait: for each other's imports, and for the event loop at the end of a script run."""

from __future__ import annotations

import asyncio
from threading import Event, Lock

# One thread at a time imports the modules of the pages. Two that import the same packages in different orders would
# deadlock, and Python raises.
one_at_a_time = Lock()
# Longest wait for the event loop. Only a stopped server does not answer in time.
SECONDS = 5.0
_loop: asyncio.AbstractEventLoop | None = None


def remember_loop() -> None:
    """Remember the server's event loop; call this inside it."""
    global _loop
    _loop = asyncio.get_running_loop()


def wait_until_handed_over() -> None:
    """Wait in a script thread until the event loop has handled every message drawn so far.

    If a fragment is due (``run_every``) after a script has ended but before the loop has handled its last messages,
    Streamlit drops those messages: the end of the page would be missing. While the script still runs, the fragment
    waits instead. The loop handles messages in order, so ours comes back after all others.
    """
    if _loop is not None and not _loop.is_closed():
        done = Event()
        _loop.call_soon_threadsafe(done.set)
        done.wait(SECONDS)
