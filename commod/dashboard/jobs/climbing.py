"""Ladders of the data on people's screens, climbed while nobody waits: a new setting then takes a third of its time.

Models that differ in λ_fair climb the same ladder (`tasks.Step.line`). There is one for each λ_ratio and λ_concepts, so
that all of a small data set are climbed in a minute or two of a core, the nearest to where somebody is first. Then
every λ_fair of each is solved, which takes three to six: a new setting then takes a fifth of its time. Who opens the
app some minutes before a class comes has it all.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from threading import Condition, Thread
from typing import Any

import streamlit as st

from commod.dashboard.jobs import service, tasks
from commod.dashboard.jobs.scheduling import MOST_CLIMBED, QUIET, WANTED, uses
from commod.dashboard.jobs.tasks import Task
from commod.dashboard.state.settings import GRIDS, Settings

_log = logging.getLogger(__name__)


class Climber:
    """Threads that have one ladder climbed after the other, of what was on a screen in the last minutes.

    One always does. The others, which leave a process for whatever is asked for next, do while nobody has asked for
    anything for a while.
    """

    def __init__(self, threads: int = 1) -> None:
        self._changed = Condition()
        self._wanted: OrderedDict[Settings, tuple[Iterator[Task], float]] = OrderedDict()
        for number in range(threads):
            Thread(target=self._climb, args=(number == 0,), name=f"climber-{number}", daemon=True).start()

    def want(self, settings: Settings) -> None:
        """Somebody looks at a model: the ladders of all others on its data may be needed next."""
        about = replace(settings.model(), lambda_fair=0.0, lambda_ratio=0.0, lambda_concepts=0.0, k=1)
        with self._changed:
            left = self._wanted[about][0] if about in self._wanted else climbs_from(settings.model())
            self._wanted[about] = left, time.monotonic()
            self._wanted.move_to_end(about)
            while len(self._wanted) > MOST_CLIMBED:
                self._wanted.popitem(last=False)
            self._changed.notify_all()

    def _next(self) -> tuple[Settings, Task]:
        """The next climb of what was wanted last, and what that is about; waits until there is one."""
        with self._changed:
            while True:
                for about, (left, at) in reversed(self._wanted.items()):
                    climb = next(left, None) if time.monotonic() - at < WANTED else None
                    if climb is not None:
                        return about, climb
                self._changed.wait()

    def _climb(self, always: bool) -> None:
        while True:
            while not always and service.queue().idle_for < QUIET:
                time.sleep(QUIET / 4)
            about, climb = self._next()
            try:
                with service.submit(climb) as ticket:
                    while not ticket.wait(1.0):
                        pass
                    ticket.result()
            except Exception:  # the data were forgotten meanwhile, say; whoever looks at them again is told
                _log.info("A ladder was not climbed.", exc_info=True)
                with self._changed:
                    self._wanted.pop(about, None)


def climbs_from(settings: Settings) -> Iterator[Task]:
    """Every ladder of these data, the nearest first, and then each of them wholly."""
    for wholly in (False, True):
        for line in lines_from(settings):
            yield tasks.climb(line, wholly=wholly)


def lines_from(settings: Settings) -> Iterator[Settings]:
    """A setting of every line of these data, the nearest first."""
    names = ("lambda_ratio", "lambda_concepts")
    here = [GRIDS[name].index(getattr(settings, name)) for name in names]
    places = product(*(range(len(GRIDS[name])) for name in names))
    for place in sorted(places, key=lambda there: sum(abs(a - b) for a, b in zip(here, there, strict=True))):
        values: dict[str, Any] = {name: GRIDS[name][at] for name, at in zip(names, place, strict=True)}
        yield replace(settings, **values)


@st.cache_resource(show_spinner=False)
def _climber() -> Climber:
    return Climber(max(1, service.queue().background - 1))


def want_ladders(settings: Settings) -> None:
    """Have the ladders of what is on this screen climbed, unless each of them takes long."""
    is_ready = tasks.is_prepared(settings.scene()) and not tasks.is_large(settings.task_name)
    if uses("ladders") and is_ready:
        _climber().want(settings)
