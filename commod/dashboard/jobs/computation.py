"""How a computation is declared, and what a page asks the queue for.

A computation is one function with a decorator. Its first parameter is the ``scene`` or a ``result``. Parameters with
the name of a setting are read from the settings, and the caller gives the others::

    @computation(Priority.SEARCH)
    def blind_limits(scene: Scene, fairness: str, direction: str) -> pd.DataFrame: ...

    result_of(tasks.blind_limits(settings))

Calling it gives a `Task`. `Computation.compute` calls the function itself, in a worker or here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from commod.dashboard.jobs.cache import ResultCache
from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.jobs.queue import SILENT, Report, Stage, Ticket
from commod.dashboard.jobs.scheduling import HEAVY_ROWS, Kind, Priority
from commod.dashboard.state.settings import Settings
from commod.datasets import is_known, is_shipped, load_task, on_forget
from commod.experiments import Sweep, prepare
from commod.experiments.scene import SceneKey

# Points of λ_fair paths that workers have solved: some 10 kB a path, 40 for all λ_fair, 60 for a part of its refits.
path_points = ResultCache(max_results=1000)
on_forget(lambda data: path_points.forget(lambda key: isinstance(key, tuple) and key[0].data == data))


@dataclass(frozen=True)
class Step:
    """One stage of a task: a function, called with the results of earlier stages, the arguments, and a ``report``."""

    function: Callable[..., Any] | str  # or the name of a method of the pool; the cache does not keep its result
    arguments: tuple[Any, ...] = ()
    priority: Priority = Priority.EXPLAIN
    heavy: bool = False
    apart: bool = False  # in a process to itself
    of_scene: bool = False  # whether the scene comes before the arguments
    then: Callable[..., Any] | None = None  # what the server makes of earlier results and this one
    path: Hashable | None = None  # of `path_points`: the function gets these last, and returns them with its result


@dataclass(frozen=True)
class Task:
    """Something to be computed once for everybody who asks for it."""

    kind: str
    scene: SceneKey
    about: tuple[Hashable, ...]
    steps: tuple[Step, ...] = field(compare=False)
    parts: tuple[Task, ...] = field(default=(), compare=False)  # computed side by side, then joined by the only step

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Equal tasks have equal keys."""
        return (self.kind, self.scene, *self.about)

    def stages(self, pool: Callable[[], Any]) -> list[Stage]:
        """For the queue; `pool` gives a `ProcessPool`."""
        large = _is_uploaded_and_large(self.scene.data)
        return [
            Stage(self._work(step, pool), step.priority, step.heavy or large, step.apart, callable(step.function))
            for step in self.steps
        ]

    def joined(self, parts: Sequence[Ticket]) -> Stage:
        """For the queue, once the parts are done: what they give together, made in the server."""
        (step,) = self.steps
        assert callable(step.function)
        join = step.function
        return Stage(lambda report: join([part.result() for part in parts]), step.priority)

    def _work(self, step: Step, pool: Callable[[], Any]) -> Callable[..., Any]:
        def work(*parts: Any) -> Any:
            earlier, report = parts[:-1], parts[-1]
            if isinstance(step.function, str):
                return getattr(pool(), step.function)(*step.arguments, report=report, heavy=step.heavy)
            arguments = (*earlier, *((prepare(*self.scene),) if step.of_scene else ()), *step.arguments)
            if step.path is not None:
                arguments = (*arguments, path_points.get(step.path))
            kind = Kind.BACKGROUND if step.priority.in_background else Kind.FOREGROUND
            kind = Kind.APART if _is_uploaded_and_large(self.scene.data) else kind
            found = pool().compute(self.scene, step.function, *arguments, report=report, kind=kind)
            if step.path is not None:
                found, points = found
                if is_known(self.scene.data):  # otherwise somebody has dropped the data meanwhile
                    path_points.put(step.path, {**(path_points.get(step.path) or {}), **points})
            return found if step.then is None else step.then(*earlier, found)

        return work


def is_large(data: str) -> bool:
    """Whether work on a data set is mostly numpy's, and takes seconds."""
    return len(load_task(data).y) > HEAVY_ROWS


def _is_uploaded_and_large(data: str) -> bool:
    return not is_shipped(data) and is_known(data) and is_large(data)


_SETTINGS = {entry.name for entry in fields(Settings)}


class Computation:
    """A declared computation; see the module."""

    def __init__(self, function: Callable[..., Any], priority: Priority) -> None:
        self.function, self.priority = function, priority
        self.__name__, self.__module__, self.__doc__ = function.__name__, function.__module__, function.__doc__
        first, *names = inspect.signature(function).parameters
        self._reports = "report" in names
        self._of_scene = first == "scene"
        self._names = [name for name in names if name != "report"]

    def __call__(self, about: Settings | FitResult, *arguments: Any) -> Task:
        """The task for a setting's scene and criterion, or for a model."""
        settings = about if isinstance(about, Settings) else about.settings
        if not self._of_scene:
            key, given = (settings, *arguments), (about, *arguments)
        else:
            rest = iter(arguments)
            read = [getattr(settings, name) if name in _SETTINGS else next(rest, ...) for name in self._names]
            given = tuple(value for value in read if value is not ...)
            key = (settings.fairness, *map(_key_of, given))
        step = Step(self.compute, given, self.priority, of_scene=self._of_scene)
        return Task(self.__name__, settings.scene(), key, (step,))

    def compute(self, *arguments: Any, report: Report = SILENT) -> Any:
        """Call the function."""
        return self.function(*arguments, report=report) if self._reports else self.function(*arguments)

    def __reduce__(self) -> str:
        """It is sent by its name."""
        return self.__name__


def computation(priority: Priority = Priority.EXPLAIN) -> Callable[[Callable[..., Any]], Computation]:
    """Declare a computation."""
    return lambda function: Computation(function, priority)


def _key_of(value: Any) -> Hashable:
    """A sweep is told by its models: another sweep of the method has others."""
    if isinstance(value, Sweep):
        return tuple(model.cell for model in value.models)
    if isinstance(value, Mapping):
        return tuple((name, _key_of(each)) for name, each in value.items())
    key: Hashable = value
    return key
