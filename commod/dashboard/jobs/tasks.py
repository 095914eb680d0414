"""What can be asked to be computed, each declared once: what it depends on, its function and its priority.

A task is computed in another process of this machine. Its function is one of a module (it is sent by name) and takes a
`Report` last.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import pandas as pd

from commod import monitoring
from commod.dashboard.jobs import checks, later, results
from commod.dashboard.jobs.cache import ResultCache
from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.jobs.processes import ProcessPool
from commod.dashboard.jobs.queue import Stage, Ticket
from commod.dashboard.jobs.scheduling import HEAVY_ROWS, LIGHT_CELLS, Priority
from commod.dashboard.state.settings import GRIDS, Settings
from commod.datasets import Choice, is_known, is_shipped, load_task, on_forget
from commod.datasets import Task as DataTask
from commod.decisions import Requirements
from commod.experiments import Sweep
from commod.experiments.look import look_at
from commod.experiments.refits import Refits
from commod.experiments.scene import SceneKey, has_trained
from commod.experiments.sweep import Cell
from commod.models.threshold import ONE_HALF

# Bytes of files after which the memory of the process that has read them is given back.
LARGE_FILES = 5 * 2**20
# Refits of a part: a second or less of a core, and enough for a first answer.
PART = 10
# Arguments of `Commod` that a search for a setting leaves as they are.
FORM = ("update", "direction", "features")


@dataclass(frozen=True)
class Step:
    """One stage of a task: called with the results of the stages before it, the arguments, and a `Report`."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    priority: Priority = Priority.EXPLAIN
    heavy: bool = False
    apart: bool = False  # a method of the pool: in a process to itself; its result is not kept
    then: Callable[..., Any] | None = None  # what the server makes of the earlier results and of what came back
    # Whose ladder it climbs: its last argument is what is known of that, and it returns what is known then, too.
    line: Hashable | None = None


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

    def stages(self, pool: Callable[[], ProcessPool]) -> list[Stage]:
        """For the queue."""
        large = _is_own_and_large(self.scene.data)
        return [
            Stage(self._work(step, pool), step.priority, step.heavy or large, step.apart, kept=not step.apart)
            for step in self.steps
        ]

    def joined(self, parts: Sequence[Ticket]) -> Stage:
        """For the queue, once the parts are done: what they give together, made in the server."""
        (step,) = self.steps
        return Stage(lambda report: step.function([part.result() for part in parts]), step.priority)

    def _work(self, step: Step, pool: Callable[[], ProcessPool]) -> Callable[..., Any]:
        def work(*parts: Any) -> Any:
            earlier, report = parts[:-1], parts[-1]
            known = () if step.line is None else (_ladders.get(step.line),)
            arguments = (*earlier, *step.arguments, *known)
            if step.apart:
                return step.function(pool(), *arguments, report=report, heavy=step.heavy)
            how = {
                "background": step.priority.in_background,
                "large": _is_own_and_large(self.scene.data),
            }
            found = pool().compute(self.scene, step.function, *arguments, report=report, **how)
            if step.line is not None:
                found, ladder = found
                if is_known(self.scene.data):  # else they were forgotten meanwhile
                    _ladders.put(step.line, {**(_ladders.get(step.line) or {}), **ladder})
            return found if step.then is None else step.then(*earlier, found)

        return work


def is_large(data: str) -> bool:
    """Whether work on a data set is mostly numpy's, and takes seconds."""
    return len(load_task(data).y) > HEAVY_ROWS


def _is_own_and_large(data: str) -> bool:
    """The same of data that somebody has brought; not of a draft, or of data that are forgotten by now."""
    return not is_shipped(data) and is_known(data) and is_large(data)


# ---- an f ----


def is_prepared(scene: SceneKey) -> bool:
    """Whether nothing has to be done before work on a scene can begin."""
    return is_shipped(scene.data) or has_trained(scene)


def base(scene: SceneKey) -> Task:
    """The f of data that somebody has brought: trained once, whatever its threshold."""
    key = scene._replace(threshold=ONE_HALF)
    heavy = load_task(key.data).X.size > LIGHT_CELLS
    return Task("base", key, (), (Step(ProcessPool.train, (key,), Priority.SEARCH, heavy, apart=True),))


def look(draft: str, some: pd.DataFrame, of_each: pd.DataFrame, choice: Choice, rows: int) -> Task:
    """What should be known of a table before it is used; `draft` is a name that no other has."""
    step = Step(ProcessPool.call, (look_at, some, of_each, choice, rows), Priority.SEARCH, apart=True)
    return Task("look", SceneKey(draft), (repr(choice), len(some)), (step,))


def about_model(token: str, digest: str, content: bytes) -> Task:
    """What the file of a model says of itself; `token` is a name that no other session has."""
    return _of_files("about_model", token, (digest,), monitoring.about_model, content)


def watch(token: str, digests: tuple[str, str], model: bytes, batch: bytes, name: str) -> Task:
    """A later batch beside the people of a model; of both there are but their files."""
    return _of_files("watch", token, digests, monitoring.watch_files, model, batch, name)


def _of_files(kind: str, token: str, about: tuple[str, ...], function: Callable[..., Any], *files: Any) -> Task:
    """Strangers' files, read in a process to itself, which is replaced after large ones."""
    heavy = sum(len(each) for each in files) > LARGE_FILES
    step = Step(ProcessPool.call, (function, *files), Priority.SEARCH, heavy, apart=True)
    return Task(kind, SceneKey(token), about, (step,))


# ---- one model ----


@lru_cache(maxsize=4096)  # a page looks at all of a line
def fit(settings: Settings) -> Task:
    """A model, and what is said about it: one job with two results, both the same `FitResult`."""
    model = settings.model()
    heavy = is_large(settings.task_name)
    train = _train(settings, Priority.TRAIN)
    explain = Step(results.explained, (), Priority.EXPLAIN, heavy, then=FitResult.fill)
    return Task("fit", settings.scene(), (model,), (train, explain))


on_forget(lambda data: fit.cache_clear())  # settings hold names of features, which are somebody's own


def ahead(settings: Settings, priority: Priority = Priority.AHEAD) -> Task:
    """The same model before anybody has asked for it."""
    return Task("fit", settings.scene(), (settings.model(),), (_train(settings, priority),))


def _train(settings: Settings, priority: Priority) -> Step:
    heavy = is_large(settings.task_name)
    return Step(results.fit_on_ladder, (settings.model(),), priority, heavy, line=settings.line())


def climb(settings: Settings, *, wholly: bool) -> Task:
    """The ladder of a line up to its top, or wholly: every λ_fair of the slider, from which its models are read."""
    values, line = GRIDS["lambda_fair"], settings.line()
    step = Step(results.climb, (settings.model(), values if wholly else values[-1:]), Priority.LADDERS, line=line)
    return Task("climb", settings.scene(), (*line, wholly), (step,))


# What is known of a line: some 10 kB, of one that is wholly climbed 40, and of a part of its refits some 60.
_ladders = ResultCache(max_results=1000)
on_forget(lambda data: _ladders.forget(lambda line: isinstance(line, tuple) and line[0].data == data))


def _of(kind: str, result: FitResult, function: Callable[..., Any], *arguments: Hashable, **how: Any) -> Task:
    """Something about a model."""
    settings = result.settings
    return Task(kind, settings.scene(), (settings, *arguments), (Step(function, (result, *arguments), **how),))


def tree(result: FitResult, depth: int) -> Task:
    """The tree of the changes at one depth."""
    return _of("tree", result, results.tree_of_changes, depth)


def shap(result: FitResult) -> Task:
    """SHAP beside COMMOD's own account."""
    return _of("shap", result, results.shap_comparison, priority=Priority.BACKGROUND)


def evidence(result: FitResult) -> Task:
    """Calibration and proxies."""
    return _of("evidence", result, checks.evidence)


def merit(result: FitResult) -> Task:
    """For whom more merit hurts."""
    return _of("merit", result, checks.merit, priority=Priority.BACKGROUND)


def refits(result: FitResult) -> Task:
    """Whether the changes would happen again: in parts, so that all processes share them and the first tells early."""
    count, settings = checks.wanted_refits(result), result.settings
    parts = tuple(_some_refits(result, at, min(PART, count - at)) for at in range(0, count, PART))
    return Task("refits", settings.scene(), (_whatever_k(settings),), (Step(Refits.joined),), parts)


def _some_refits(result: FitResult, first: int, count: int) -> Task:
    """A part of them; what they pass on their way up serves those at every other λ_fair."""
    settings = result.settings
    line = (*settings.line(), first, count)
    priority = Priority.REFITS if first else Priority.FIRST_REFITS
    step = Step(checks.some_refits, (result, first, count), priority, line=line)
    return Task("some_refits", settings.scene(), (_whatever_k(settings), first, count), (step,))


def _whatever_k(settings: Settings) -> Settings:
    """What is the same for all k, since k does not decide about anybody."""
    return replace(settings, k=1)


def held_out(result: FitResult, shifted: bool) -> Task:
    """One half of the test people as a later batch beside the other."""
    return _of("held_out", result, later.watch_held_out, shifted, priority=Priority.SEARCH)


def segments(result: FitResult) -> Task:
    """Segments of people by how much they changed."""
    return _of("segments", result, results.segments_of_changes)


def people(result: FitResult, depth: int) -> Task:
    """The people who changed, one by one, with their leaf of the tree."""
    return _of("people", result, results.people_changed, depth)


def person_shap(result: FitResult, number: int, edits: tuple[tuple[str, Any], ...]) -> Task:
    """SHAP of one test person, as edited."""
    return _of("person_shap", result, results.person_shap, number, edits, priority=Priority.SEARCH)


# ---- a whole scene ----


def _on(kind: str, settings: Settings, function: Callable[..., Any], *arguments: Any, **how: Any) -> Task:
    """Something about a scene and a criterion, whatever the sliders say."""
    scene, fairness = settings.scene(), settings.fairness
    step = Step(function, (scene, fairness, *arguments), **how)
    return Task(kind, scene, (fairness, *arguments), (step,))


def sweep(method: str, settings: Settings, form: tuple[tuple[str, Any], ...] = ()) -> Task:
    """All models of a method; `form` is what limits COMMOD's update."""
    return _on("sweep", settings, results.sweep, method, form, priority=Priority.BACKGROUND)


def _cells(sweep: Sweep) -> tuple[Cell, ...]:
    """The models of a sweep, for the key of what is computed from them: another sweep of the method has others."""
    return tuple(model.cell for model in sweep.models)


def collapsed(settings: Settings, sweep: Sweep) -> Task:
    """Which models of a sweep are hardly models any more."""
    scene, fairness = settings.scene(), settings.fairness
    step = Step(results.collapsed, (scene, fairness, sweep))
    return Task("collapsed", scene, (fairness, _cells(sweep)), (step,))


def fewest_at(settings: Settings, levels: tuple[float, ...]) -> Task:
    """The fewest changes that reach each level of fairness, the group known."""
    return _on("fewest_at", settings, results.fewest_at, levels)


def best(settings: Settings, sweep: Sweep, requirements: Requirements) -> Task:
    """The best model of a sweep under requirements."""
    scene, fairness = settings.scene(), settings.fairness
    step = Step(results.best, (scene, fairness, sweep, requirements))
    return Task("best", scene, (fairness, _cells(sweep), requirements), (step,))


def hash_of_data(settings: Settings) -> Task:
    """What a signed decision says of its data."""
    scene = settings.scene()
    return Task("hash_of_data", scene, (), (Step(results.hash_of_data, (scene,), Priority.SEARCH),))


def rival(settings: Settings, method: str, value: float) -> Task:
    """One model of another method."""
    return _on("rival", settings, results.rival, method, value, priority=Priority.SEARCH)


def target(settings: Settings, min_fairness: float, max_change: float, max_sure: float | None) -> Task:
    """A search for the setting that meets the limits."""
    form = tuple((name, value) for name, value in settings.commod_arguments().items() if name in FORM)
    arguments = (min_fairness, max_change, max_sure, settings.lambda_concepts, form)
    return _on("target", settings, results.target, *arguments, priority=Priority.SEARCH)


def start(settings: Settings) -> Task:
    """Where a data set opens."""
    return _on("start", settings, results.start, priority=Priority.SEARCH)


def limits(settings: Settings) -> Task:
    """The exact bound."""
    return _on("limits", settings, results.limits, settings.direction)


def blind_limits(settings: Settings) -> Task:
    """The bound for rules that are not told the group."""
    return _on("blind_limits", settings, results.blind_limits, settings.direction, priority=Priority.SEARCH)


def interventions(settings: Settings) -> Task:
    """The fewest changes for each sense of fairness and for several together."""
    return _on("interventions", settings, results.interventions)


def price(settings: Settings, level: float, most: float) -> Task:
    """The best accuracy at a level of fairness, by changes."""
    return _on("price", settings, results.price, level, most, settings.direction)


def match(settings: Settings, sweeps: dict[str, Sweep], chosen: int) -> Task:
    """A COMMOD model beside its rivals'."""
    scene, fairness, depth = settings.scene(), settings.fairness, settings.depth
    step = Step(results.match, (scene, fairness, sweeps, chosen, depth))
    return Task("match", scene, (fairness, *map(_cells, sweeps.values()), chosen, depth), (step,))


def retrained(settings: Settings, cell: Cell) -> Task:
    """Whether more merit ever hurts under a model of a sweep."""
    return _on("retrained", settings, checks.retrained, cell, priority=Priority.BACKGROUND)


def refits_of_model(settings: Settings, cell: Cell, count: int) -> Task:
    """Whether the changes of a model of a sweep would happen again."""
    return _on("refits_of_model", settings, checks.refits_of_model, cell, count, priority=Priority.BACKGROUND)


def verify(record: Mapping[str, Any], task: DataTask) -> Task:
    """The model of a signed decision trained again: in a process to itself, since anybody may have written it."""
    step = Step(ProcessPool.call, (checks.verified, record, task), Priority.SEARCH, apart=True)
    return Task("verify", SceneKey(task.name), (record["sha256"],), (step,))


def ranges(result: FitResult) -> Task:
    """What values the features of a scene can have."""
    scene = result.settings.scene()
    return Task("ranges", scene, (), (Step(results.feature_ranges_of, (scene,)),))
