"""Who draws when: first pictures at once, the rest of all pages one part after the other.

Python runs one thread at a time. If thirty pages are drawn at once, each takes as long as all of them; if what is below
the first picture stands in line, the first pictures come at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from commod.dashboard.jobs import tasks as compute

# Long enough for the browser to draw what it has been sent, short enough not to be felt.
BREATH = 0.06
# Seconds after which a page in line looks whether it is still wanted.
MAX_PATIENCE = 0.02
# Seconds for which the rest of a page makes way to first pictures, at the most.
LONGEST_WAY = 0.25
# A message from a browser becomes a picture that is being drawn within this; how often it is looked for.
ON_ITS_WAY = 0.012
GLANCE = 0.004
_rest_of_a_page = Lock()
_turns = Lock()
_first_paints = 0  # that are being drawn
_expected_until = 0.0  # a message has come in that asks for one


def let_browser_draw() -> None:
    """Hold the script back while the browser draws: it does so only when no more messages come in."""
    time.sleep(BREATH)


def wake(session_id: str) -> None:
    """To be called with every message from the browser of a session.

    Its script, if it waits, looks whether it is still wanted, and the rest of other pages makes way for what comes now.
    """
    global _expected_until
    _expected_until = time.monotonic() + ON_ITS_WAY
    compute.queue().wake(session_id)


@contextmanager
def first_paint() -> Iterator[None]:
    """Draw what somebody with a slider in hand is looking at; nothing in here may wait."""
    global _first_paints
    with _turns:
        _first_paints += 1
    try:
        yield
    finally:
        with _turns:
            _first_paints -= 1


@contextmanager
def deferred_paint() -> Iterator[None]:
    """Draw a part of the rest of a page, one session after the other, and after the first pictures of all.

    Python has one interpreter for all threads. If thirty pages are drawn at once, each takes as long as all of them; if
    what is below the first picture stands in line, the first pictures come at once. Nothing in here may wait, and a
    part should take a few milliseconds.
    """
    patient_until = time.monotonic() + LONGEST_WAY
    while time.monotonic() < patient_until and (_first_paints or time.monotonic() < _expected_until):
        time.sleep(GLANCE)
    while not _rest_of_a_page.acquire(timeout=MAX_PATIENCE):
        compute.stop_if_stale()
    try:
        yield
    finally:
        _rest_of_a_page.release()
