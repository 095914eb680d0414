"""How a computation is declared, and how a page asks the queue for it.

A computation is a function; calling it gives a `ComputeTask`. It is a method of a `FitResult`, or works on a ``scene``:
then parameters named after a setting are read from the settings. The caller gives the other arguments::

    blind_limits = Computation(blind_limits_of, Priority.SEARCH)  # blind_limits_of(scene, fairness, direction)
    result_of(blind_limits(settings))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from commod.dashboard.jobs.queue import JobStage, Report, ResultCache
from commod.dashboard.jobs.scheduling import HEAVY_ROWS, Kind, Priority
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.settings import Settings
from commod.datasets import is_known, is_shipped, load_task, on_forget
from commod.experiments import Sweep, prepare
from commod.experiments.scene import SceneKey

# Points of λ_fair paths that workers have solved: about 10 kB per path, 40 for all λ_fair, 60 for part of its refits.
path_points = ResultCache(max_results=1000)
on_forget(lambda data: path_points.forget(lambda key: isinstance(key, tuple) and key[0].data == data))


@dataclass(frozen=True)
class ComputeStep:
    """One stage of a task: a function of the results of earlier stages and the arguments."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    priority: Priority = Priority.EXPLAIN
    heavy: bool = False
    apart: bool = False  # in a process of its own
    needs_f: bool = True  # whether f has to be trained first; otherwise the cache does not keep the result
    of_scene: bool = False  # whether the function gets the ``scene``
    then: Callable[..., Any] | None = None  # how the server combines earlier results with this one
    path: Hashable | None = None  # of `path_points`: the function gets these ``points``, and returns them, too
    note: str = ""  # shown while waiting, instead of the usual text


@dataclass(frozen=True)
class ComputeTask:
    """Something that is computed once for everybody who asks for it."""

    kind: str
    scene: SceneKey
    about: tuple[Hashable, ...]
    steps: tuple[ComputeStep, ...] = field(compare=False)
    parts: tuple[ComputeTask, ...] = field(default=(), compare=False)  # computed in parallel; the only step joins them

    @property
    def key(self) -> tuple[Hashable, ...]:
        return (self.kind, self.scene, *self.about)

    def stages(self, pool: Callable[[], Any]) -> list[JobStage]:
        """For the queue; `pool` gives a `ProcessPool`."""
        large = _is_uploaded_and_large(self.scene.data)
        return [
            JobStage(partial(self._work, step, pool), step.priority, step.heavy or large, step.apart, step.needs_f)
            for step in self.steps
        ]

    def _work(self, step: ComputeStep, pool: Callable[[], Any], *parts: Any) -> Any:
        *earlier, report = parts
        report.say(step.note)
        more = {"scene": prepare(*self.scene)} if step.of_scene else {}
        more |= {"points": path_points.get(step.path)} if step.path else {}
        reports = "report" in inspect.signature(step.function).parameters
        function = step.function if reports else partial(without_report, step.function)
        call = partial(function, *earlier, *step.arguments, **more)
        kind = Kind.BACKGROUND if step.priority.in_background else Kind.FOREGROUND
        kind = Kind.APART if step.apart or _is_uploaded_and_large(self.scene.data) else kind
        scene, ends = self.scene if step.needs_f else None, step.apart and step.heavy
        found = pool().compute(call, report, kind=kind, scene=scene, ends=ends)
        if step.path:
            found, points = found
            if is_known(self.scene.data):  # the data may have been dropped meanwhile
                path_points.put(step.path, {**(path_points.get(step.path) or {}), **points})
        return found if step.then is None else step.then(*earlier, found)


def without_report(function: Callable[..., Any], *arguments: Any, report: Report, **more: Any) -> Any:
    """Call a function that takes no `report` as if it did."""
    return function(*arguments, **more)


def has_many_rows(data: str) -> bool:
    """Whether work on a data set takes seconds, mostly inside numpy."""
    return len(load_task(data).y) > HEAVY_ROWS


def _is_uploaded_and_large(data: str) -> bool:
    return not is_shipped(data) and is_known(data) and has_many_rows(data)


_SETTINGS = {entry.name for entry in fields(Settings)}


class Computation:
    """A declared computation (see the module)."""

    def __init__(self, function: Callable[..., Any], priority: Priority = Priority.EXPLAIN) -> None:
        self.function, self.priority = function, priority
        parameters = inspect.signature(function).parameters
        self._of_scene = "scene" in parameters
        given = [name for name in parameters if name not in ("self", "scene", "report")]
        self._defaults = {name: parameters[name].default for name in given}

    def __call__(self, about: Settings | FitResult, *arguments: Any) -> ComputeTask:
        """The task for a setting's scene and criterion, or for a model."""
        settings = about if isinstance(about, Settings) else about.settings
        read, rest = _SETTINGS if self._of_scene else set(), iter(arguments)
        given = {
            name: getattr(settings, name) if name in read else next(rest, default)
            for name, default in self._defaults.items()
        }
        first, of = (settings.fairness, ()) if self._of_scene else (settings, (about,))
        step = ComputeStep(partial(self.function, **given), of, self.priority, of_scene=self._of_scene)
        return ComputeTask(self.function.__name__, settings.scene(), (first, *map(_key_of, given.values())), (step,))


def _key_of(value: Any) -> Any:
    """Hashable arguments; a sweep is identified by its models."""
    if isinstance(value, Sweep):
        return tuple(model.cell for model in value.models)
    if isinstance(value, Mapping):
        return tuple((name, _key_of(each)) for name, each in value.items())
    return value
