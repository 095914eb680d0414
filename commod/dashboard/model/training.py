"""Training the model of the sliders, alone or along a λ_fair path."""

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from commod.dashboard.model.fitted import FitResult, Progress
from commod.dashboard.state.settings import Settings
from commod.datasets import on_forget
from commod.experiments import Scene, prepare
from commod.experiments.refits import Drawn, Refits, SolvedPaths, n_refits, refit
from commod.models import Commod, WarmStart
from commod.models.evaluation import judged_elsewhere

# Bytes that all warm starts of a process may take together.
MAX_WARM_START_BYTES = 96 * 2**20
# What `WarmStart` has solved of a λ_fair path.
PathPoints = Mapping[Any, Any]

_warm_starts: OrderedDict[tuple[Any, ...], tuple[WarmStart, int]] = OrderedDict()
_warm_lock = Lock()


def _warm_start(scene: Scene, settings: Settings, points: PathPoints | None = None) -> WarmStart:
    """The solved part of a λ_fair path, from here or elsewhere (`points`): the next fit takes a quarter of the time.

    Each holds its rows four times, so memory limits their number; the least recently used goes first.
    """
    path = settings.line()
    with _warm_lock:
        if path not in _warm_starts:
            beside = next((one for (key, _), (one, _) in _warm_starts.items() if key == path[0]), None)
            _warm_starts[path] = (WarmStart(beside=beside), 4 * scene.encoded_train.nbytes)
        _warm_starts.move_to_end(path)
        while len(_warm_starts) > 1 and sum(held for _, held in _warm_starts.values()) > MAX_WARM_START_BYTES:
            _warm_starts.popitem(last=False)
        _warm_starts[path][0].solved.update(points or {})
        return _warm_starts[path][0]


def forget_warm_starts(data: str) -> None:
    """Drop everything solved on a data set: it holds the data."""
    with _warm_lock:
        for path in [path for path in _warm_starts if path[0].data == data]:
            del _warm_starts[path]


on_forget(forget_warm_starts)


def _train(scene: Scene, settings: Settings, path: WarmStart, report: Progress | None) -> Commod:
    def progress(step: int, n_steps: int, _: Any) -> None:
        if report is not None:
            report(step / (n_steps + 1))

    with judged_elsewhere():  # by the page
        return Commod(scene.f, threshold=scene.threshold, **settings.commod_arguments()).fit(
            **scene.train.fit_arguments, base_scores=scene.scores_train, callback=progress, warm_start=path
        )


def train_model(scene: Scene, settings: Settings, path: WarmStart, report: Progress | None) -> FitResult:
    """Train COMMOD."""
    return FitResult.of(scene, settings, _train(scene, settings, path, report))


def fit_result(settings: Settings, report: Progress | None = None) -> FitResult:
    """Train COMMOD in this process."""
    return fit_on_path(settings, prepare(*settings.scene()), None, report)[0]


def fit_on_path(
    settings: Settings, scene: Scene, points: PathPoints | None, report: Progress | None = None
) -> tuple[FitResult, PathPoints]:
    """Train COMMOD using known points of its λ_fair path; returns the model and the points then known."""
    path = _warm_start(scene, settings, points)
    return train_model(scene, settings, path, report), dict(path.solved)


def solve_path(
    settings: Settings, values: Sequence[float], scene: Scene, points: PathPoints | None, report: Progress
) -> tuple[None, PathPoints]:
    """The points of a path after training the models at these λ_fair; the models are not kept."""
    path = _warm_start(scene, settings, points)
    for done, value in enumerate(values, start=1):
        _train(scene, replace(settings, lambda_fair=value), path, None)
        report(done / len(values))
    return None, dict(path.solved)


def wanted_refits(result: FitResult, drawn: Drawn) -> int:
    """How often a model is fitted again: at most COMMOD_REFITS times, if that is set."""
    count, most = n_refits(result.scene, drawn), os.environ.get("COMMOD_REFITS", "")
    return min(count, int(most)) if most.isdecimal() and int(most) > 0 else count


def some_refits(
    result: FitResult, drawn: Drawn, first: int, count: int, points: SolvedPaths | None, report: Progress | None = None
) -> tuple[Refits, SolvedPaths]:
    """The model fitted again, `count` times from number `first` on, and the paths of these refits."""
    points = {} if points is None else points
    how: dict[str, Any] = {"drawn": drawn, "first": first, "count": count, "solved": points, "report": report}
    return refit(result.scene, result.cell, result.settings.fairness, **how), points
