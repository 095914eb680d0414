"""Everything that pages can ask for, each declared once."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd

from commod import monitoring
from commod.dashboard.jobs.computation import Step, Task, computation, is_large
from commod.dashboard.jobs.fitted import EXPLAINED, FitResult
from commod.dashboard.jobs.later import model_json
from commod.dashboard.jobs.queue import SILENT, Report
from commod.dashboard.jobs.scheduling import LIGHT_CELLS, Priority
from commod.dashboard.state.settings import GRIDS, Settings
from commod.datasets import Choice, add_task, forget_task, is_known, is_shipped, load_task, on_forget
from commod.datasets import Task as DataTask
from commod.decisions import Best, Requirements, best_under, collapse_of, data_hash, verify_record
from commod.experiments import Model, Scene, Sweep, prepare, sweep_method
from commod.experiments import limits as exact
from commod.experiments.checks import answer_of_merit
from commod.experiments.look import look_at
from commod.experiments.match import Match, match_models
from commod.experiments.refits import Ladders, Refits, n_refits, refit
from commod.experiments.scene import SceneKey
from commod.experiments.start import Start, suited_start
from commod.experiments.sweep import Cell, Shared, fit_cell, train_cell
from commod.experiments.target import Target, find_settings
from commod.explain import ChangeTree, ShapComparison, explain_tree, explain_with_shap
from commod.explain.checks import Answer
from commod.explain.merit import explain_merit
from commod.explain.people import Segments, explain_people, explain_segments, leaf_words
from commod.explain.proxies import explain_proxies
from commod.explain.shap_comparison import explain_person_with_shap
from commod.explain.what_if import FeatureRange, edit_row, feature_ranges
from commod.metrics import CRITERIA
from commod.metrics.calibration import calibration_by_group, reliability_table
from commod.models import Commod, WarmStart
from commod.models.collapse import judged_elsewhere
from commod.models.threshold import ONE_HALF
from commod.monitoring import Watched, batch_of, read_model
from commod.monitoring import watch as watch_batch
from commod.monitoring.change_tree import DEPTH

# Bytes of files after which the process that has read them ends, and gives its memory back.
LARGE_FILES = 5 * 2**20
# Refits of a part: a second or less of a core, and enough for a first answer.
PART = 10
# Arguments of `Commod` that a search for a setting leaves as they are.
FORM = ("update", "direction", "features")
# Of the people whom f scores above the median, one in so many stays in a batch that is shifted on purpose.
THINNED = 3
# Bytes that all warm starts of a process may hold together.
MAX_WARM_START_BYTES = 96 * 2**20

# What `WarmStart` has solved of a λ_fair path.
PathPoints = Mapping[Any, Any]
# Called with the share done.
Progress = Callable[[float], None]

# ---- an f, and strangers' files ----


def base(key: SceneKey) -> Task:
    """An f: trained once for everybody, whatever its threshold. One of uploaded data gets a process to itself."""
    key = key._replace(threshold=ONE_HALF)
    if is_shipped(key.data):
        step = Step("train", (key,), Priority.TRAIN, heavy=is_large(key.data))
    else:
        step = Step("train", (key,), Priority.SEARCH, heavy=load_task(key.data).X.size > LIGHT_CELLS, apart=True)
    return Task("base", key, (), (step,))


def look(draft: str, some: pd.DataFrame, of_each: pd.DataFrame, choice: Choice, rows: int) -> Task:
    """What should be known of a table before it is used; `draft` is a name that no other has."""
    return _apart("look", draft, (repr(choice), len(some)), look_at, some, of_each, choice, rows)


def about_model(token: str, digest: str, content: bytes) -> Task:
    """What the file of a model says of itself; `token` is a name that no other session has."""
    return _apart("about_model", token, (digest,), monitoring.about_model, content)


def watch(token: str, digests: tuple[str, str], model: bytes, batch: bytes, name: str) -> Task:
    """A later batch next to the people of a model, both from their files."""
    return _apart("watch", token, digests, monitoring.watch_files, model, batch, name)


def verify(record: Mapping[str, Any], task: DataTask) -> Task:
    """The model of a signed decision trained again: apart, since anybody may have written the record."""
    return _apart("verify", task.name, (record["sha256"],), verified, record, task)


def verified(record: Mapping[str, Any], task: DataTask) -> pd.DataFrame:
    """The model of a signed decision trained again, line by line."""
    if is_known(task.name):  # it ships, or there is no process for this and the data are here
        return verify_record(record, task)
    add_task(task)
    try:
        return verify_record(record, task)
    finally:
        forget_task(task.name)


def _apart(kind: str, token: str, about: tuple[Any, ...], function: Callable[..., Any], *arguments: Any) -> Task:
    """In a process to itself, which ends after large files."""
    heavy = sum(len(each) for each in arguments if isinstance(each, bytes)) > LARGE_FILES
    step = Step("call", (function, *arguments), Priority.SEARCH, heavy, apart=True)
    return Task(kind, SceneKey(token), about, (step,))


# ---- the model of the sliders ----


@lru_cache(maxsize=4096)  # a page looks at all models of a path
def fit(settings: Settings) -> Task:
    """A model, and what is said about it: one job with two results, both the same `FitResult`."""
    train = prefetch(settings, Priority.TRAIN).steps[0]
    explain = Step(explained, (), Priority.EXPLAIN, train.heavy, then=FitResult.fill)
    return Task("fit", settings.scene(), (settings.model(),), (train, explain))


on_forget(lambda data: fit.cache_clear())  # settings hold names of features, which are somebody's own


def prefetch(settings: Settings, priority: Priority = Priority.LINE) -> Task:
    """The same model before anybody has asked for it."""
    model, heavy = settings.model(), is_large(settings.task_name)
    step = Step(fit_on_path, (model,), priority, heavy, of_scene=True, path=settings.line())
    return Task("fit", settings.scene(), (model,), (step,))


def precompute(settings: Settings, *, wholly: bool, near: bool = False) -> Task:
    """Points of the λ_fair path up to its end, or of every λ_fair of the slider, from which its models are read.

    A path that is `near` may be wanted at the next move.
    """
    values, path = GRIDS["lambda_fair"], settings.line()
    arguments = (settings.model(), values if wholly else values[-1:])
    step = Step(solve_path, arguments, Priority.LINE if near else Priority.PATHS, of_scene=True, path=path)
    return Task("precompute", settings.scene(), (*path, wholly), (step,))


_warm_starts: OrderedDict[tuple[Any, ...], tuple[WarmStart, int]] = OrderedDict()
_warm_lock = Lock()


def _warm_start(scene: Scene, settings: Settings, points: PathPoints | None = None) -> WarmStart:
    """What has been solved on a λ_fair path, here or elsewhere (`points`): the next fit takes a quarter of the time.

    Each holds its rows four times over, so that memory bounds their number; the least recently used goes first.
    """
    path = settings.line()
    with _warm_lock:
        if path not in _warm_starts:
            beside = next((one for (key, _), (one, _) in _warm_starts.items() if key == path[0]), None)
            _warm_starts[path] = (WarmStart(beside=beside), 4 * scene.encoded_train.nbytes)
        _warm_starts.move_to_end(path)
        while len(_warm_starts) > 1 and sum(held for _, held in _warm_starts.values()) > MAX_WARM_START_BYTES:
            _warm_starts.popitem(last=False)
        _warm_starts[path][0].rungs.update(points or {})
        return _warm_starts[path][0]


def forget_warm_starts(data: str) -> None:
    """Drop all that has been solved on a data set: it holds the data."""
    with _warm_lock:
        for path in [path for path in _warm_starts if path[0].data == data]:
            del _warm_starts[path]


on_forget(forget_warm_starts)


def _train(scene: Scene, settings: Settings, warm_start: WarmStart, report: Progress) -> Commod:
    def progress(step: int, n_steps: int, _: Any) -> None:
        report(step / (n_steps + 1))

    with judged_elsewhere():  # by the page
        return Commod(scene.f, threshold=scene.threshold, **settings.commod_arguments()).fit(
            **scene.train.fit_arguments, base_scores=scene.scores_train, callback=progress, warm_start=warm_start
        )


def fit_result(settings: Settings, report: Progress = SILENT) -> FitResult:
    """Train COMMOD in this process."""
    return fit_on_path(prepare(*settings.scene()), settings, None, report)[0]


def fit_on_path(
    scene: Scene, settings: Settings, points: PathPoints | None, report: Progress = SILENT
) -> tuple[FitResult, PathPoints]:
    """Train COMMOD with what is known of its λ_fair path; the model, and what is known of the path then."""
    path = _warm_start(scene, settings, points)
    return train_model(scene, settings, path, report), dict(path.rungs)


def train_model(scene: Scene, settings: Settings, path: WarmStart, report: Progress) -> FitResult:
    """Train COMMOD."""
    started = time.perf_counter()
    g = _train(scene, settings, path, report)
    seconds = time.perf_counter() - started
    ratio, shift = g.rescaler_.ratio_and_shift(scene.encoded_test, scene.logit_test)
    return FitResult(
        settings=settings.model(),
        scene=scene,
        g=g,
        seconds=seconds,
        path=_figures_on_path(g, scene, settings.fairness),
        ratio_test=ratio,
        shift_test=shift,
        changed_train=(g.rescaler_.score(scene.encoded_train, scene.logit_train) > 0) != scene.decisions_train,
        changed_test=(ratio * scene.logit_test + shift > 0) != (scene.logit_test > 0),
    )


def _figures_on_path(g: Commod, scene: Scene, fairness: str) -> pd.DataFrame:
    """Test figures at each point of the solver's path."""
    rows = []
    for lambda_fair, rescaler in zip(g.path_["lambda_fair"], g.path_rescalers_, strict=True):
        figures = scene.figures((rescaler.score(scene.encoded_test, scene.logit_test) > 0).astype(int))
        fair = figures[CRITERIA[fairness].figure_name]
        rows.append({"lambda_fair": float(lambda_fair), "fairness": fair, **figures})
    return pd.DataFrame(rows)


def solve_path(
    scene: Scene, settings: Settings, values: Sequence[float], points: PathPoints | None, report: Report = SILENT
) -> tuple[None, PathPoints]:
    """What is known of a path once the models at these λ_fair have been trained; the models are not kept."""
    path = _warm_start(scene, settings, points)
    for done, value in enumerate(values, start=1):
        _train(scene, replace(settings, lambda_fair=value), path, SILENT)
        report(done / len(values))
    return None, dict(path.rungs)


def explained(result: FitResult, report: Report = SILENT) -> dict[str, Any]:
    """What pages draw of a fit below the first picture, for `FitResult.fill`."""
    report(0.0)
    return {name: getattr(result, name) for name in EXPLAINED}


@computation()
def tree(result: FitResult, depth: int, report: Report = SILENT) -> ChangeTree:
    """The tree of the changes, fitted on the training rows and read out on the test rows."""
    report(0.0)  # the last chance to end it
    train, test = (result.scene.train.X, result.changed_train), (result.scene.test.X, result.changed_test)
    return explain_tree(result.task, result.g.encoder_, *train, *test, depth)


@computation(Priority.BACKGROUND)
def shap(result: FitResult, report: Report = SILENT) -> ShapComparison:
    """SHAP next to COMMOD's own account, on the test rows."""
    return explain_with_shap(result.g, result.task, result.scene.test.X, callback=report)


@computation(Priority.SEARCH)
def person_shap(
    result: FitResult, number: int, edits: tuple[tuple[str, Any], ...], report: Report = SILENT
) -> pd.DataFrame:
    """SHAP of one test person, as edited."""
    rows = result.scene.test.X
    edited = edit_row(rows.iloc[[number]], dict(edits))
    return explain_person_with_shap(result.g, result.task, rows, edited, callback=report)


@dataclass(frozen=True)
class Evidence:
    """Evidence about a model beyond what `FitResult` has, on test.

    Attributes
    ----------
    calibration, reliability : DataFrame
        Calibration error of f and g by group, see `calibration_by_group`; and the points of the picture behind it, see
        `reliability_table`, with ``group`` (its name) and ``model`` ("f" or "g").
    proxies : DataFrame
        How well features and concepts tell the group, see `explain_proxies`.
    """

    calibration: pd.DataFrame
    reliability: pd.DataFrame
    proxies: pd.DataFrame


@computation()
def evidence(result: FitResult) -> Evidence:
    """Calibration and proxies."""
    scene, task = result.scene, result.task
    test, scores = scene.test, {"f": scene.scores_test, "g": result.scores}
    y, groups = test.y.to_numpy(), test.sensitive.to_numpy()
    pictures = [
        reliability_table(y[groups == code], values[groups == code]).assign(group=name, model=model)
        for code, name in enumerate(task.groups)
        for model, values in scores.items()
        if (groups == code).any()
    ]
    activations = (result.activations(scene.encoded_train), result.activations(scene.encoded_test))
    return Evidence(
        calibration_by_group(y, scores["f"], scores["g"], sensitive_features=groups),
        pd.concat(pictures, ignore_index=True),
        explain_proxies(task, scene.train, test, activations),
    )


@computation(Priority.BACKGROUND)
def merit(result: FitResult) -> pd.DataFrame:
    """For whom more merit hurts."""
    return explain_merit(result.task, result.scene.test.X, result.scene.margin_of_f, result.g.decision_function)


def refits(result: FitResult) -> Task:
    """Whether the changes would happen again: in parts, so that all processes share them and the first tells early."""
    count, model = wanted_refits(result), replace(result.settings, k=1)  # k decides about nobody
    parts = []
    for first in range(0, count, PART):
        size, priority = min(PART, count - first), Priority.REFITS if first else Priority.FIRST_REFITS
        step = Step(some_refits, (result, first, size), priority, path=(*model.line(), first, size))
        parts.append(Task("some_refits", model.scene(), (model, first, size), (step,)))
    return Task("refits", model.scene(), (model,), (Step(Refits.joined),), tuple(parts))


def wanted_refits(result: FitResult) -> int:
    """How often a model is fitted again: at most as often as COMMOD_REFITS in the environment says."""
    count, most = n_refits(result.scene), os.environ.get("COMMOD_REFITS", "")
    return min(count, int(most)) if most.isdecimal() and int(most) > 0 else count


def some_refits(
    result: FitResult, first: int, count: int, points: Ladders | None, report: Report = SILENT
) -> tuple[Refits, Ladders]:
    """The model fitted again on resampled training rows, `count` times from number `first` on, and their paths."""
    points = {} if points is None else points
    how: dict[str, Any] = {"first": first, "count": count, "ladders": points, "report": report}
    return refit(result.scene, result.cell, result.settings.fairness, **how), points


@computation()
def segments(result: FitResult) -> Segments:
    """Segments of the test people by how much they changed."""
    test = result.scene.test
    return explain_segments(result.task, test.X, test.sensitive, result.scene.decisions_test, result.decisions)


@computation()
def people(result: FitResult, depth: int, report: Report = SILENT) -> pd.DataFrame:
    """The test people who changed, numbered as on the page What if, with their leaf of the tree."""
    scene = result.scene
    leaves = tree.compute(result, depth, report=report)
    frame = explain_people(
        result.g,
        result.task,
        scene.test,
        encoded=scene.encoded_test,
        logit=scene.logit_test,
        ratio=result.ratio_test,
        shift=result.shift_test,
        before=scene.decisions_test,
        after=result.decisions,
        leaf=leaves.ends,
    )
    frame.index = scene.test.X.index.get_indexer(frame.index)
    return frame.assign(leaf=frame["leaf"].map(leaf_words(leaves)))


@computation(Priority.SEARCH)
def held_out(result: FitResult, shifted: bool, report: Report = SILENT) -> Watched:
    """The model as if it had been tested on one half of the test people, and the other half as a later batch.

    With `shifted`, the batch leaves out most of those whom f scores above its median.
    """
    leaves = tree.compute(result, DEPTH, report=report) if result.changed_train.any() else None
    order = np.random.default_rng(0).permutation(len(result.scene.test))
    old, new = (np.sort(part) for part in np.array_split(order, 2))
    if shifted:
        above = result.scene.logit_test[new] > np.median(result.scene.logit_test[new])
        new = new[~above | (np.cumsum(above) % THINNED == 0)]
    model = read_model(model_json(result, leaves, old).encode())
    return watch_batch(model, batch_of(result.task, result.scene.test.take(new)))


# ---- a whole scene ----


@computation()
def ranges(scene: Scene) -> dict[str, FeatureRange]:
    """What values each feature can have."""
    return feature_ranges(scene.task.X, leave_out=scene.f)


@computation(Priority.SEARCH)
def hash_of_data(scene: Scene) -> str:
    """What a signed decision says of its data."""
    return data_hash(scene.task)


@computation(Priority.SEARCH)
def start(scene: Scene, fairness: str, report: Report = SILENT) -> Start:
    """Where a data set opens."""
    return suited_start(scene, fairness, report)


@computation(Priority.BACKGROUND)
def other_form(scene: Scene, fairness: str, report: Report = SILENT) -> Start:
    """Where a data set that ships opens, and the form that does better there."""
    return suited_start(scene, fairness, report)


@computation()
def limits(scene: Scene, fairness: str, direction: str) -> exact.Limits:
    """The exact bound."""
    return exact.limits_of(scene, fairness, direction)


@computation(Priority.SEARCH)
def blind_limits(scene: Scene, fairness: str, direction: str) -> pd.DataFrame:
    """The bound for rules that do not know the group."""
    return exact.blind_limits_of(scene, fairness, direction)


@computation()
def interventions(scene: Scene) -> pd.DataFrame:
    """The fewest changes for each sense of fairness and for several together, whatever the criterion is."""
    return exact.interventions_of(scene)


@computation()
def price(scene: Scene, fairness: str, level: float, most: float, direction: str) -> pd.DataFrame:
    """The best accuracy at a level of fairness, by changes."""
    return exact.price_of(scene, fairness, level, most, direction)


@computation()
def fewest_at(scene: Scene, fairness: str, levels: tuple[float, ...]) -> tuple[float | None, ...]:
    """The fewest changes that reach each level of fairness, the group known."""
    return exact.fewest_at_levels(scene, fairness, levels)


def target(settings: Settings, min_fairness: float, max_change: float, max_sure: float | None) -> Task:
    """A search for the setting that meets the limits."""
    form = tuple((name, value) for name, value in settings.commod_arguments().items() if name in FORM)
    return find_target(settings, min_fairness, max_change, max_sure, form)


@computation(Priority.SEARCH)
def find_target(
    scene: Scene,
    fairness: str,
    min_fairness: float,
    max_change: float,
    max_sure: float | None,
    lambda_concepts: float,
    form: tuple[tuple[str, Any], ...],
    report: Report = SILENT,
) -> Target:
    """The setting that meets the limits; `form` is of the models that are tried."""
    return find_settings(
        scene.task,
        scene.f,
        fairness,
        min_fairness=min_fairness,
        max_change=max_change,
        max_sure=max_sure,
        seed=scene.seed,
        threshold=scene.threshold,
        lambda_concepts=lambda_concepts,
        report=report,
        tell=report.tell,
        **dict(form),
    )


# ---- methods ----


@computation(Priority.BACKGROUND)
def sweep(
    scene: Scene, fairness: str, method: str, form: tuple[tuple[str, Any], ...] = (), report: Report = SILENT
) -> Sweep:
    """All models of a method; `form` is what limits COMMOD's update."""
    return sweep_method(scene, method, fairness, report, form=form)


@computation()
def collapsed(scene: Scene, sweep: Sweep) -> tuple[str, ...]:
    """Why each model of a sweep has collapsed; empty for a sound one."""
    return tuple(collapse_of(scene, model.decisions_test, model.scores_test) for model in sweep.models)


@computation()
def best(scene: Scene, sweep: Sweep, requirements: Requirements) -> Best:
    """The best model of a sweep under requirements."""
    return best_under(requirements, scene, sweep)


@computation(Priority.SEARCH)
def rival(scene: Scene, fairness: str, method: str, value: float) -> Model:
    """One model of another method, its knob at `value`."""
    return fit_cell(scene, Cell(method, value), fairness, Shared())


@computation()
def match(scene: Scene, fairness: str, sweeps: dict[str, Sweep], chosen: int, depth: int) -> Match:
    """A COMMOD model next to its rivals'."""
    return match_models(scene, sweeps, fairness, chosen, depth=depth)


@dataclass(frozen=True)
class Retrained:
    """What a model of a sweep tells when it is trained once more: its merit, and how many seconds that took."""

    merit: Answer
    seconds: float


@computation(Priority.BACKGROUND)
def retrained(scene: Scene, fairness: str, cell: Cell, report: Report = SILENT) -> Retrained:
    """Whether more merit ever hurts under a model of a sweep."""
    started = time.perf_counter()
    trained = train_cell(scene, cell, fairness, Shared())
    seconds = time.perf_counter() - started
    report(0.5)
    return Retrained(answer_of_merit(scene, trained), seconds)


@computation(Priority.BACKGROUND)
def refits_of_model(scene: Scene, fairness: str, cell: Cell, count: int, report: Report = SILENT) -> Refits:
    """A model of a sweep fitted again on resampled training rows."""
    return refit(scene, cell, fairness, count=count, report=report)
