"""Who draws when: first pictures at once, the rest of all pages one part after the other.

Python runs one thread at a time. If thirty pages are drawn at once, each takes as long as all of them; if what is below
the first picture stands in line, the first pictures come at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from commod.dashboard.jobs import service
from commod.dashboard.jobs.scheduling import BROWSER_PAUSE, GLANCE, LINE_POLL, MAX_WAY, ON_ITS_WAY, uses
from commod.dashboard.jobs.wait import no_waiting
from commod.dashboard.streamlit_internals import stop_if_stale

_rest_of_a_page = Lock()
_counting = Lock()
_first_paints = 0  # that are going on
_expected_until = 0.0  # a message has come in that asks for one


def let_browser_draw() -> None:
    """Hold the script back while the browser draws: it does so only when no more messages come in."""
    if uses("browser_pause"):
        time.sleep(BROWSER_PAUSE)


def wake(session_id: str) -> None:
    """To be called with every message from the browser of a session.

    Its script, if it waits, looks whether it is still wanted, and the rest of other pages makes way for what comes now.
    """
    global _expected_until
    _expected_until = time.monotonic() + ON_ITS_WAY
    if uses("wake"):
        service.wake(session_id)


@contextmanager
def first_paint() -> Iterator[None]:
    """Draw what somebody with a slider in hand is looking at; a wait in here raises."""
    global _first_paints
    with _counting:
        _first_paints += 1
    try:
        with no_waiting():
            yield
    finally:
        with _counting:
            _first_paints -= 1


@contextmanager
def deferred_paint() -> Iterator[None]:
    """Draw a part of the rest of a page, one session after the other, and after the first pictures of all.

    A part should take a few milliseconds; a wait in here raises.
    """
    patient_until = time.monotonic() + (MAX_WAY if uses("first_paint") else 0.0)
    while time.monotonic() < patient_until and (_first_paints or time.monotonic() < _expected_until):
        time.sleep(GLANCE)
    in_line = uses("deferred_paint")
    while in_line and not _rest_of_a_page.acquire(timeout=LINE_POLL):
        stop_if_stale()
    try:
        with no_waiting():
            yield
    finally:
        if in_line:
            _rest_of_a_page.release()
