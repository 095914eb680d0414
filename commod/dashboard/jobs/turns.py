"""Whose script draws: a few at a time, each to its end or until it waits, and what is below the first pictures last.

Python runs one thread at a time. If sixty scripts run at once, each is done when all are; if they take turns, half of
them are done by half of that time. Parts that are drawn by themselves (the board of a room) need no turn.
"""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from threading import Event, Lock, local

from commod.dashboard.jobs.scheduling import DRAWING, LINE_POLL, LONGEST_LINE, uses
from commod.dashboard.streamlit_internals import stop_if_stale


class Part(IntEnum):
    """What of a page is drawn; the smaller goes first."""

    TOP = 0  # the first picture, and all that comes before it
    REST = 1  # what is below: one session at a time, and nobody while a first picture is in line


@dataclass(order=True)
class _Place:
    """In the line: by part, then by when the run of the script began."""

    part: Part
    run: int
    bell: Event = field(default_factory=Event, compare=False)  # rung when it is this one's turn


class _Turns:
    def __init__(self) -> None:
        self._lock = Lock()
        self._free = {Part.TOP: DRAWING, Part.REST: 1}
        self._line: list[_Place] = []

    def take(self, place: _Place) -> bool:
        """Wait for a turn; false if it did not come for very long."""
        with self._lock:
            insort(self._line, place)
            self._let_in()
        until = time.monotonic() + LONGEST_LINE
        try:
            while not place.bell.wait(LINE_POLL):
                stop_if_stale()
                if time.monotonic() > until:
                    return not self._leave_line(place)
        except BaseException:
            if not self._leave_line(place):
                self.give(place.part)
            raise
        return True

    def give(self, part: Part) -> None:
        with self._lock:
            self._free[part] += 1
            self._let_in()

    def _leave_line(self, place: _Place) -> bool:
        """Whether it still stood there."""
        with self._lock:
            if place not in self._line:
                return False
            self._line.remove(place)
            self._let_in()
            return True

    def _let_in(self) -> None:
        """Let those draw who can, in the order of the line. Called under the lock."""
        while self._line and self._free[self._line[0].part]:
            first = self._line.pop(0)
            self._free[first.part] -= 1
            first.bell.set()


_turns = _Turns()
_runs = count()
_here = local()


@contextmanager
def in_turn() -> Iterator[None]:
    """Draw when it is this script's turn: for a whole run of it."""
    if has_turn() or not uses("turns"):
        yield
        return
    _here.run = next(_runs)
    _take(Part.TOP)
    try:
        yield
    finally:
        give_turn()


@contextmanager
def in_turn_for_the_rest() -> Iterator[None]:
    """Draw a part below the first picture, one session after the other."""
    give_turn()  # for the rest of the page, which has turns of its own
    _take(Part.REST)
    try:
        yield
    finally:
        give_turn()


def has_turn() -> bool:
    """Whether it is this thread's turn."""
    return getattr(_here, "part", None) is not None


def give_turn() -> bool:
    """Let another draw, before this script waits for something; whether it had its turn, and needs it again."""
    had = has_turn()
    if had:
        part, _here.part = _here.part, None
        _turns.give(part)
    return had


def take_turn(needed: bool) -> None:
    """Go on drawing after a wait, if the turn was given for it."""
    if needed:
        _take(Part.TOP)


def _take(part: Part) -> None:
    """Wait for a turn; who has waited for very long draws without one, so that no page can hold up all others."""
    if not hasattr(_here, "run"):
        _here.run = next(_runs)
    if _turns.take(_Place(part, _here.run)):
        _here.part = part
