"""Precomputed λ_fair paths of the data on people's screens: a new setting then takes a third of its time.

For built-in data, the tasks of the pages about other methods follow the first path.

There is one path (`computation.path_points`) for each λ_ratio and λ_concepts. Their ends take a minute or two of a core
for a small data set, and every λ_fair of each three to six: a new setting then takes a fifth of its time.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from threading import Condition, Thread

import streamlit as st

from commod.dashboard.jobs import service, tasks
from commod.dashboard.jobs.computation import ComputeTask, has_many_rows
from commod.dashboard.jobs.scheduling import MOST_SCENES, QUIET, WANTED, prefetches
from commod.dashboard.state.settings import Settings, neighbours_of
from commod.datasets import is_shipped
from commod.experiments.scene import has_trained

_log = logging.getLogger(__name__)


class PathPrecomputer:
    """Threads that precompute paths of recently shown models: one always, the others when the server is quiet."""

    def __init__(self, threads: int = 1) -> None:
        self._changed = Condition()
        # By scene: the paths left, the time of the last visit, and the paths begun.
        self._wanted: OrderedDict[Settings, tuple[Iterator[ComputeTask], float, set[Hashable]]] = OrderedDict()
        for number in range(threads):
            Thread(target=self._serve, args=(number == 0,), name=f"paths-{number}", daemon=True).start()

    def want(self, settings: Settings, pages: Sequence[ComputeTask] = ()) -> None:
        """Somebody looks at a model: any other path on its data may be needed next, and other pages' tasks."""
        scene = replace(settings.model(), lambda_fair=0.0, lambda_ratio=0.0, lambda_concepts=0.0, k=1)
        with self._changed:
            begun = self._wanted[scene][2] if scene in self._wanted else set()
            here = replace(scene, lambda_ratio=settings.lambda_ratio, lambda_concepts=settings.lambda_concepts)
            left = (path for path in paths_from(here, pages) if path.key not in begun)
            self._wanted[scene] = left, time.monotonic(), begun
            self._wanted.move_to_end(scene)
            while len(self._wanted) > MOST_SCENES:
                self._wanted.popitem(last=False)
            self._changed.notify_all()

    def _next(self, always: bool) -> tuple[Settings, ComputeTask]:
        """The next path of the scene with the fewest so far, and that scene; waits until the server is quiet enough."""
        with self._changed:
            while True:
                if always or service.queue().idle_for >= QUIET:
                    latest_first = reversed([*self._wanted.items()])
                    for scene, (left, at, begun) in sorted(latest_first, key=lambda each: len(each[1][2])):
                        try:
                            path = next(left, None) if time.monotonic() - at < WANTED else None
                        except ValueError:  # a setting off the grid has no neighbours
                            del self._wanted[scene]
                            continue
                        if path is not None:
                            begun.add(path.key)
                            return scene, path
                self._changed.wait(None if always else QUIET / 4)

    def _serve(self, always: bool) -> None:
        while True:
            scene, path = self._next(always)
            try:
                with service.submit(path) as ticket:
                    while not ticket.wait(1.0):
                        pass
                    ticket.result()
            except Exception:  # for example, the data are gone; the next visitor will see the error
                _log.info("A path was not precomputed.", exc_info=True)
                with self._changed:
                    self._wanted.pop(scene, None)


def paths_from(settings: Settings, pages: Sequence[ComputeTask] = ()) -> Iterator[ComputeTask]:
    """The whole path of this setting, the end of every other path, and then each of those completely.

    The tasks of other `pages` come after the first path, the last and longest of them after the ends.
    """
    yield tasks.precompute(settings, wholly=True, near=True)
    yield from map(tasks.ahead, pages[:-1])
    for wholly in (False, True):
        if wholly:
            yield from map(tasks.ahead, pages[-1:])
        for there in neighbours_of(settings):
            near = settings.lambda_ratio == there.lambda_ratio or settings.lambda_concepts == there.lambda_concepts
            yield tasks.precompute(there, wholly=wholly, near=near and not wholly)


@st.cache_resource(show_spinner=False)
def _precomputer() -> PathPrecomputer:
    return PathPrecomputer(max(1, service.queue().places["background"] - 1))


def precompute_paths(settings: Settings, pages: Sequence[ComputeTask] = ()) -> None:
    """Precompute the paths of this screen, and what other `pages` need, unless each takes long."""
    if prefetches("paths") and has_trained(settings.scene()) and not has_many_rows(settings.task_name):
        _precomputer().want(settings, pages if is_shipped(settings.data) else ())
