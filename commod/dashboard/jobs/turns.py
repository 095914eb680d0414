"""Whose script draws: a few at a time, each to its end or until it waits.

Python runs one thread at a time. If sixty scripts run at once, each is done when all are; if they take turns, half of
them are done by half of that time. Parts that are drawn by themselves (the board of a room) need no turn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore, local

from commod.dashboard.jobs.scheduling import DRAWING, LINE_POLL, LONGEST_LINE, uses
from commod.dashboard.streamlit_internals import stop_if_stale

_turns = Semaphore(DRAWING)
_here = local()


@contextmanager
def in_turn() -> Iterator[None]:
    """Draw when it is this script's turn."""
    if has_turn() or not uses("turns"):
        yield
        return
    _take()
    try:
        yield
    finally:
        give_turn()


def has_turn() -> bool:
    """Whether it is this thread's turn."""
    return getattr(_here, "turn", False)


def give_turn() -> bool:
    """Let another draw, before this script waits for something; whether it had its turn, and needs it again."""
    had = has_turn()
    if had:
        _here.turn = False
        _turns.release()
    return had


def take_turn(needed: bool) -> None:
    """Go on drawing after a wait, if the turn was given for it."""
    if needed:
        _take()


def _take() -> None:
    """Wait for a turn; who has waited for very long draws without one, so that no page can hold up all others."""
    until = time.monotonic() + LONGEST_LINE
    while not _turns.acquire(timeout=LINE_POLL):
        stop_if_stale()
        if time.monotonic() > until:
            return
    _here.turn = True
