"""Everything that pages can ask for, each declared once."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import pandas as pd

from commod.dashboard.jobs.computation import Computation, ComputeStep, ComputeTask, has_many_rows
from commod.dashboard.jobs.queue import SILENT, Report
from commod.dashboard.jobs.scheduling import BOUND, LIGHT_CELLS, Priority
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.standalone import models_of, parts_of_grid, settings_on_page
from commod.dashboard.model.training import fit_on_path, solve_path, some_refits, wanted_refits
from commod.dashboard.state.settings import STOPS, Settings
from commod.datasets import Choice, is_shipped, load_task, on_forget
from commod.decisions import best_under, open_sealed
from commod.decisions.record import hash_of_scene
from commod.decisions.rivals import collapses_of
from commod.experiments import Scene, sweep_method
from commod.experiments import limits as exact
from commod.experiments.checks import retrain
from commod.experiments.match import match_models
from commod.experiments.preflight import preview_data
from commod.experiments.refits import Drawn, Refits, points_on_splits, refit
from commod.experiments.scene import SceneKey, keep_trained, trained_parts
from commod.experiments.start import suited_start
from commod.experiments.sweep import fit_cell
from commod.experiments.target import Target, find_settings
from commod.explain.what_if import FeatureRange, feature_ranges
from commod.models.threshold import ONE_HALF

# Refits of a part: a second or less of a core, and enough for a first answer. Fewer of other splits: each trains an f.
PART: dict[Drawn, int] = {"rows": 10, "splits": 5}
# Arguments of `Commod` that a search for a setting does not change.
LEFT = ("update", "direction", "features", "lambda_concepts", "max_changes")

# ---- an f, and strangers' files ----


def base(key: SceneKey) -> ComputeTask:
    """An f, trained once for everybody, for any threshold. For uploaded data it gets a process of its own."""
    key = key._replace(threshold=ONE_HALF)
    if is_shipped(key.data):
        step = ComputeStep(trained_parts, (key, None), Priority.TRAIN, has_many_rows(key.data), note="Training f")
    else:
        task = load_task(key.data)
        share = f"{100 * (1 - task.test_share):.0f} % of {len(task.y):,} rows"
        note = f"Training f on {share}; the bar shows the time used of at most {BOUND}"
        heavy = task.X.size > LIGHT_CELLS
        step = ComputeStep(trained_parts, (key, task), Priority.SEARCH, heavy, apart=True, note=note)
    return ComputeTask("base", key, (), (replace(step, needs_f=False, then=partial(keep_trained, key)),))


def preview(
    draft: str, some: pd.DataFrame, of_each: pd.DataFrame, choice: Choice, rows: int, repeats: Any
) -> ComputeTask:
    """What to check about a table before it is used, in a process to itself; `draft` is a unique name."""
    arguments = (some, of_each, choice, rows, repeats)
    step = ComputeStep(preview_data, arguments, Priority.SEARCH, apart=True, needs_f=False)
    return ComputeTask("preview", SceneKey(draft), (repr(choice), len(some)), (step,))


# ---- the model of the sliders ----


@lru_cache(maxsize=4096)  # a page looks at all models of a path
def fit(settings: Settings) -> ComputeTask:
    """A model and its explanation: one job with two results, both the same `FitResult`."""
    train = prefetch(settings, Priority.TRAIN).steps[0]
    explain = ComputeStep(FitResult.explained, (), Priority.EXPLAIN, train.heavy, then=FitResult.fill)
    return ComputeTask("fit", settings.scene(), (settings.model(),), (train, explain))


def prefetch(settings: Settings, priority: Priority = Priority.LINE) -> ComputeTask:
    """The same model, computed before it is requested."""
    model, heavy = settings.model(), has_many_rows(settings.task_name)
    step = ComputeStep(fit_on_path, (model,), priority, heavy, of_scene=True, path=settings.line())
    return ComputeTask("fit", settings.scene(), (model,), (step,))


@lru_cache(maxsize=4096)  # after every move, a thread looks at all paths of the data
def precompute(settings: Settings, *, wholly: bool, near: bool = False) -> ComputeTask:
    """Points of the λ_fair path up to its end, or of every λ_fair; a `near` path may be wanted at the next move."""
    path, arguments = settings.line(), (settings.model(), STOPS if wholly else STOPS[-1:])
    step = ComputeStep(solve_path, arguments, Priority.LINE if near else Priority.PATHS, of_scene=True, path=path)
    return ComputeTask("precompute", settings.scene(), (*path, wholly), (step,))


def ahead(task: ComputeTask) -> ComputeTask:
    """The same, computed before it is requested."""
    return replace(task, steps=(replace(task.steps[0], priority=Priority.PATHS),))


# Settings name features of uploaded data.
on_forget(lambda _: fit.cache_clear())
on_forget(lambda _: precompute.cache_clear())


def refits(result: FitResult, drawn: Drawn = "rows") -> ComputeTask:
    """The model fitted again, in parts: all processes share them, and the first gives an early answer."""
    count, model = wanted_refits(result, drawn), replace(result.settings, k=1)  # k decides about nobody
    parts = []
    for first in range(0, count, PART[drawn]):
        some = (drawn, first, min(PART[drawn], count - first))
        priority = Priority.REFITS if first or drawn == "splits" else Priority.FIRST_REFITS
        step = ComputeStep(some_refits, (result, *some), priority, path=(*model.line(), *some))
        parts.append(ComputeTask("some_refits", model.scene(), (model, *some), (step,)))
    return ComputeTask("refits", model.scene(), (model, drawn), (ComputeStep(Refits.joined),), tuple(parts))


def splits(result: FitResult) -> ComputeTask | None:
    """The model on other splits; None if nobody changes or there are fewer than two splits."""
    if not result.changed_test.any() or wanted_refits(result, "splits") < 2:
        return None
    return refits(result, "splits")


def standalone(settings: Settings) -> ComputeTask:
    """Every model of a page without a server, in parts that all processes share."""
    parts = [
        ComputeTask(
            "models_of", settings.scene(), (part,), (ComputeStep(models_of, (part, grid), Priority.BACKGROUND),)
        )
        for part, grid in parts_of_grid(settings, settings_on_page(settings))
    ]
    return ComputeTask("standalone", settings.scene(), (settings.model(),), (ComputeStep(list),), tuple(parts))


tree = Computation(FitResult.tree)
shap = Computation(FitResult.shap, Priority.BACKGROUND)
person_shap = Computation(FitResult.person_shap, Priority.SEARCH)
evidence = Computation(FitResult.evidence)
merit = Computation(FitResult.merit, Priority.BACKGROUND)
segments = Computation(FitResult.segments)
people = Computation(FitResult.people)

# ---- a whole scene ----


def ranges_of(scene: Scene) -> dict[str, FeatureRange]:
    """The values that each feature can have."""
    return feature_ranges(scene.task.X, leave_out=scene.f)


def find_target(scene: Scene, fairness: str, wanted: tuple[tuple[str, Any], ...], report: Report = SILENT) -> Target:
    """The setting that meets the limits; `wanted` are further arguments of `find_settings`."""
    how: dict[str, Any] = {"seed": scene.seed, "threshold": scene.threshold, "report": report, "tell": report.tell}
    return find_settings(scene.task, scene.f, fairness, **how, **dict(wanted))


def target(settings: Settings, min_fairness: float, max_change: float, max_sure: float | None) -> ComputeTask:
    """A search for the setting that meets the limits."""
    wanted = {"min_fairness": min_fairness, "max_change": max_change, "max_sure": max_sure}
    given = settings.commod_arguments()
    wanted |= {name: given[name] for name in LEFT if name in given}
    return _target(settings, tuple(wanted.items()))


_target = Computation(find_target, Priority.SEARCH)
ranges = Computation(ranges_of)
opened = Computation(open_sealed, Priority.SEARCH)
hash_of_data = Computation(hash_of_scene, Priority.SEARCH)
start = Computation(suited_start, Priority.SEARCH)
limits = Computation(exact.limits_of)
blind_limits = Computation(exact.blind_limits_of, Priority.SEARCH)
interventions = Computation(exact.interventions_of)
fewest_at = Computation(exact.fewest_at_levels)

# ---- methods ----


rival = Computation(fit_cell, Priority.SEARCH)
sweep = Computation(sweep_method, Priority.BACKGROUND)
collapsed = Computation(collapses_of)
best = Computation(best_under)
match = Computation(match_models)
retrained = Computation(retrain, Priority.BACKGROUND)
refits_of_model = Computation(refit, Priority.REFITS)
on_splits = Computation(points_on_splits, Priority.REFITS)
