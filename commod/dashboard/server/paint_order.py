"""Who draws when: first pictures at once, the rest of all pages one part after the other.

Python runs one thread at a time. If thirty pages are drawn at once, each takes as long as all of them; if what is below
the first picture stands in line, the first pictures come at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from commod.dashboard.jobs.scheduling import BROWSER_PAUSE, uses
from commod.dashboard.jobs.turns import give_turn, in_turn_for_the_rest, take_turn
from commod.dashboard.jobs.wait import no_waiting


def let_browser_draw() -> None:
    """Hold the script back while the browser draws: it does so only when no more messages come in."""
    if uses("browser_pause"):
        gave = give_turn()
        time.sleep(BROWSER_PAUSE)
        take_turn(gave)


def first_paint() -> AbstractContextManager[None]:
    """Draw what somebody with a slider in hand is looking at; a wait in here raises."""
    return no_waiting()


@contextmanager
def deferred_paint() -> Iterator[None]:
    """Draw a part of the rest of a page, one session after the other.

    A part should take a few milliseconds; a wait in here raises.
    """
    with in_turn_for_the_rest() if uses("deferred_paint") else nullcontext(), no_waiting():
        yield
