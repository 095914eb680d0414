"""What the pages ask for of models and scenes, computed without Streamlit."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import pandas as pd

from commod.dashboard.jobs.fitted import EXPLAINED, FitResult
from commod.dashboard.jobs.queue import Report, tell
from commod.dashboard.state.settings import Settings
from commod.datasets import on_forget
from commod.decisions import Best, Requirements, best_under, collapse_of, data_hash
from commod.experiments import Model, Scene, Sweep, prepare, sweep_method
from commod.experiments.limits import (
    Limits,
    blind_limits_of,
    fewest_at_levels,
    interventions_of,
    limits_of,
    price_of,
)
from commod.experiments.match import Match, match_models
from commod.experiments.scene import SceneKey
from commod.experiments.start import Start, suited_start
from commod.experiments.sweep import Cell, Shared, fit_cell
from commod.experiments.target import Target, find_settings
from commod.explain import ChangeTree, ShapComparison, explain_tree, explain_with_shap
from commod.explain.people import Segments, explain_people, explain_segments, leaf_words
from commod.explain.shap_comparison import explain_person_with_shap
from commod.explain.what_if import FeatureRange, edit_row, feature_ranges
from commod.metrics import CRITERIA
from commod.models import Commod, WarmStart
from commod.models.collapse import judged_elsewhere

# What `WarmStart` has of a line.
Rungs = Mapping[Any, Any]
# Bytes that all lines of the λ_fair slider may hold together.
MAX_WARM_START_BYTES = 96 * 2**20

_warm_starts: OrderedDict[tuple[Any, ...], tuple[WarmStart, int]] = OrderedDict()
_warm_lock = Lock()


def _warm_start(scene: Scene, settings: Settings, rungs: Rungs | None = None) -> WarmStart:
    """What has been solved on one line of the λ_fair slider, here or (`rungs`) elsewhere: the next fit costs a quarter.

    For as many lines as fit into memory, those of the small data sets above all, since each holds its rows four times
    over; the one not used for longest goes first.
    """
    line = settings.line()
    with _warm_lock:
        if line not in _warm_starts:
            beside = next((one for (key, _), (one, _) in _warm_starts.items() if key == line[0]), None)
            _warm_starts[line] = (WarmStart(beside=beside), 4 * scene.encoded_train.nbytes)
        _warm_starts.move_to_end(line)
        while len(_warm_starts) > 1 and sum(held for _, held in _warm_starts.values()) > MAX_WARM_START_BYTES:
            _warm_starts.popitem(last=False)
        _warm_starts[line][0].rungs.update(rungs or {})
        return _warm_starts[line][0]


def forget_warm_starts(data: str) -> None:
    """Drop all that has been solved on a data set: it holds the data."""
    with _warm_lock:
        for line in [line for line in _warm_starts if line[0].data == data]:
            del _warm_starts[line]


on_forget(forget_warm_starts)


def _train(scene: Scene, settings: Settings, report: Report | None, warm_start: WarmStart | None = None) -> Commod:
    """Fit COMMOD at `settings`, reporting the share done."""

    def progress(step: int, n_steps: int, _: Any) -> None:
        if report is not None:
            report(step / (n_steps + 1))

    with judged_elsewhere():  # by the page
        return Commod(scene.f, threshold=scene.threshold, **settings.commod_arguments()).fit(
            **scene.train.fit_arguments, base_scores=scene.scores_train, callback=progress, warm_start=warm_start
        )


def fit_result(settings: Settings, report: Report | None = None) -> FitResult:
    """Train COMMOD at `settings`."""
    scene = prepare(*settings.scene())
    started = time.perf_counter()
    g = _train(scene, settings, report, _warm_start(scene, settings))
    seconds = time.perf_counter() - started
    ratio, shift = g.rescaler_.ratio_and_shift(scene.encoded_test, scene.logit_test)
    return FitResult(
        settings=settings.model(),
        scene=scene,
        g=g,
        seconds=seconds,
        path=_path(g, scene, settings.fairness),
        ratio_test=ratio,
        shift_test=shift,
        changed_train=(g.rescaler_.score(scene.encoded_train, scene.logit_train) > 0) != scene.decisions_train,
        changed_test=(ratio * scene.logit_test + shift > 0) != (scene.logit_test > 0),
    )


def fit_on_ladder(settings: Settings, rungs: Rungs | None, report: Report | None = None) -> tuple[FitResult, Rungs]:
    """The same, with what is known of the way there from models at other λ_fair, and with what is known of it then."""
    line = _warm_start(prepare(*settings.scene()), settings, rungs)
    return fit_result(settings, report), dict(line.rungs)


def climb(
    settings: Settings, lambda_fair: Sequence[float], rungs: Rungs | None, report: Report | None = None
) -> tuple[None, Rungs]:
    """What is known of the way once the models at these λ_fair have been trained; they themselves are not kept."""
    scene = prepare(*settings.scene())
    line = _warm_start(scene, settings, rungs)
    for done, value in enumerate(lambda_fair, start=1):
        _train(scene, replace(settings, lambda_fair=value), None, line)
        if report is not None:
            report(done / len(lambda_fair))
    return None, dict(line.rungs)


def _path(g: Commod, scene: Scene, fairness: str) -> pd.DataFrame:
    """Test figures at each point of the solver's path."""
    rows = []
    for lambda_fair, rescaler in zip(g.path_["lambda_fair"], g.path_rescalers_, strict=True):
        after = (rescaler.score(scene.encoded_test, scene.logit_test) > 0).astype(int)
        figures = scene.figures(after)
        rows.append(
            {
                "lambda_fair": float(lambda_fair),
                "fairness": figures[CRITERIA[fairness].figure_name],
                **figures,
            }
        )
    return pd.DataFrame(rows)


# ---- of a scene and a criterion ----


def figures_of_base(scene: SceneKey) -> dict[str, float]:
    """Figures of f on test."""
    prepared = prepare(*scene)
    return prepared.figures(prepared.decisions_test)


def sweep(
    scene: SceneKey, fairness: str, method: str, form: tuple[tuple[str, Any], ...] = (), report: Report | None = None
) -> Sweep:
    """All models of a method; `form` is what limits COMMOD's update."""
    return sweep_method(prepare(*scene), method, fairness, report, form=form)


def collapsed(scene: SceneKey, fairness: str, sweep: Sweep, report: Report | None = None) -> tuple[str, ...]:
    """Why each model of a sweep is hardly one any more; empty for a sound one."""
    prepared = prepare(*scene)
    return tuple(collapse_of(prepared, model.decisions_test, model.scores_test) for model in sweep.models)


def fewest_at(
    scene: SceneKey, fairness: str, levels: tuple[float, ...], report: Report | None = None
) -> tuple[float | None, ...]:
    """The fewest changes that reach each level of fairness, the group known."""
    return fewest_at_levels(prepare(*scene), fairness, levels)


def best(
    scene: SceneKey, fairness: str, sweep: Sweep, requirements: Requirements, report: Report | None = None
) -> Best:
    """The best model of a sweep under requirements."""
    return best_under(requirements, prepare(*scene), sweep)


def hash_of_data(scene: SceneKey, report: Report | None = None) -> str:
    """What a signed decision says of its data."""
    return data_hash(prepare(*scene).task)


def rival(scene: SceneKey, fairness: str, method: str, value: float, report: Report | None = None) -> Model:
    """One model of another method, its knob at `value`."""
    return fit_cell(prepare(*scene), Cell(method, value), fairness, Shared())


def target(
    scene: SceneKey,
    fairness: str,
    min_fairness: float,
    max_change: float,
    max_sure: float | None,
    lambda_concepts: float,
    form: tuple[tuple[str, Any], ...],
    report: Report | None = None,
) -> Target:
    """The setting that meets the limits; `form` is of the models that are tried."""
    prepared = prepare(*scene)
    return find_settings(
        prepared.task,
        prepared.f,
        fairness,
        min_fairness=min_fairness,
        max_change=max_change,
        max_sure=max_sure,
        seed=scene.seed,
        threshold=scene.threshold,
        lambda_concepts=lambda_concepts,
        report=report,
        tell=lambda so_far: tell(report, so_far),
        **dict(form),
    )


def start(scene: SceneKey, fairness: str, report: Report | None = None) -> Start:
    """Where a data set opens."""
    return suited_start(prepare(*scene), fairness, report)


def limits(scene: SceneKey, fairness: str, direction: str, report: Report | None = None) -> Limits:
    """The exact bound."""
    return limits_of(prepare(*scene), fairness, direction)


def blind_limits(scene: SceneKey, fairness: str, direction: str, report: Report | None = None) -> pd.DataFrame:
    """The bound for rules that are not told the group."""
    return blind_limits_of(prepare(*scene), fairness, direction)


def interventions(scene: SceneKey, fairness: str, report: Report | None = None) -> pd.DataFrame:
    """The fewest changes for each sense of fairness and for several together, whatever the criterion is."""
    return interventions_of(prepare(*scene))


def price(
    scene: SceneKey, fairness: str, level: float, most: float, direction: str, report: Report | None = None
) -> pd.DataFrame:
    """The best accuracy at a level of fairness, by changes."""
    return price_of(prepare(*scene), fairness, level, most, direction)


def match(
    scene: SceneKey, fairness: str, sweeps: dict[str, Sweep], chosen: int, depth: int, report: Report | None = None
) -> Match:
    """A COMMOD model beside its rivals'."""
    return match_models(prepare(*scene), sweeps, fairness, chosen, depth=depth)


def feature_ranges_of(scene: SceneKey, report: Report | None = None) -> dict[str, FeatureRange]:
    """What values each feature can have."""
    prepared = prepare(*scene)
    return feature_ranges(prepared.task.X, leave_out=prepared.f)


# ---- of a model ----


def explained(result: FitResult, report: Report | None = None) -> dict[str, Any]:
    """What is said about a fit below the Pareto view, for `FitResult.fill`."""
    if report is not None:
        report(0.0)
    return {name: getattr(result, name) for name in EXPLAINED}


def tree_of_changes(result: FitResult, depth: int, report: Report | None = None) -> ChangeTree:
    """The tree of `explain_tree`, fitted on the training rows and read out on the test rows."""
    if report is not None:
        report(0.0)  # the last chance to end it
    scene = result.scene
    return explain_tree(
        result.task,
        result.g.encoder_,
        scene.train.X,
        result.changed_train,
        scene.test.X,
        result.changed_test,
        depth,
    )


def shap_comparison(result: FitResult, report: Report | None = None) -> ShapComparison:
    """SHAP beside COMMOD on the test rows."""
    return explain_with_shap(result.g, result.task, result.scene.test.X, callback=report)


def person_shap(
    result: FitResult, number: int, edits: tuple[tuple[str, Any], ...], report: Report | None = None
) -> pd.DataFrame:
    """SHAP of one test person, as edited."""
    rows = result.scene.test.X
    edited = edit_row(rows.iloc[[number]], dict(edits))
    return explain_person_with_shap(result.g, result.task, rows, edited, callback=report)


def segments_of_changes(result: FitResult, report: Report | None = None) -> Segments:
    """Segments of the test people by how much they changed."""
    test = result.scene.test
    return explain_segments(result.task, test.X, test.sensitive, result.scene.decisions_test, result.decisions)


def people_changed(result: FitResult, depth: int, report: Report | None = None) -> pd.DataFrame:
    """The test people who changed, numbered as on the page What if, with their leaf of the tree."""
    scene = result.scene
    tree = tree_of_changes(result, depth, report)
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
        leaf=tree.ends,
    )
    frame.index = scene.test.X.index.get_indexer(frame.index)
    return frame.assign(leaf=frame["leaf"].map(leaf_words(tree)))
