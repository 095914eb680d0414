"""Who draws when: first pictures at once, the rest of all pages one session after the other.

Python runs one thread at a time. If thirty pages draw at once, each takes as long as all of them; if what is below the
first picture waits, the first pictures come at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock

from commod.dashboard.jobs.scheduling import LINE_POLL, LONGEST_LINE
from commod.dashboard.jobs.wait import no_waiting
from commod.dashboard.streamlit_internals import stop_if_stale

_deferred = Lock()


def first_paint() -> AbstractContextManager[None]:
    """Draw what somebody with a slider in hand is looking at; a wait in here raises."""
    return no_waiting()


@contextmanager
def deferred_paint() -> Iterator[None]:
    """Draw a part of the rest of a page, one session after the other; a wait in here raises.

    A part should take a few milliseconds. Nobody waits for others for very long, and a stale run ends here.
    """
    until = time.monotonic() + LONGEST_LINE
    while not (taken := _deferred.acquire(timeout=LINE_POLL)) and time.monotonic() < until:
        stop_if_stale()
    try:
        with no_waiting():
            yield
    finally:
        if taken:
            _deferred.release()
