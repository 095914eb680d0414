"""A method swept over its knob on a scene: every model's decisions and figures, the same wherever they are computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from commod.experiments.scene import FAIRNESS_FIGURES, Scene, prepare
from commod.metrics.pareto import undominated
from commod.models import Climb
from commod.models.competitors import METHODS, available_methods, make_method
from commod.models.competitors.membership import Membership

__all__ = ["Cell", "Model", "Sweep", "compare", "lines_of", "points_of", "sweep_method"]

Report = Callable[[float], None]

# Short names of constructor arguments, as they stand beside a point.
SYMBOLS = {"lambda_ratio": "λ_ratio", "lambda_concepts": "λ_concepts"}


@dataclass(frozen=True)
class Cell:
    """One model to be trained: a method, the value of its knob, its further settings, and its seed."""

    method: str
    value: float
    others: tuple[tuple[str, Any], ...] = ()
    seed: int = 0

    @property
    def words(self) -> str:
        """The settings as they stand beside a point."""
        method = METHODS[self.method]
        assert method.knob is not None
        parts = [f"{method.knob.label} {self.value:g}"]
        parts += [f"{SYMBOLS.get(name, name)} {value:g}" for name, value in self.others]
        return ", ".join(parts + ([f"seed {self.seed}"] if method.seeds > 1 else []))


@dataclass(frozen=True)
class Model:
    """What is kept of a trained model."""

    cell: Cell
    decisions_train: np.ndarray  # (n,) int8
    decisions_test: np.ndarray
    scores_test: np.ndarray | None  # (n,) float32, where the method has probabilities
    concepts: pd.DataFrame | None = None  # feature × concept, where it has concepts


@dataclass(frozen=True)
class Sweep:
    """All models of a method on a scene, and a frame with a row for each."""

    method: str
    models: tuple[Model, ...]
    points: pd.DataFrame = field(repr=False)


def lines_of(name: str) -> list[list[Cell]]:
    """The cells of a method's sweep, grouped by what can be shared: all that differs in a line is the knob."""
    method = METHODS[name]
    if method.knob is None:
        raise ValueError(f"{method.title} is not written yet and cannot be swept.")
    lines = []
    choices = [method.others[parameter] for parameter in method.others]
    for seed, chosen in product(range(method.seeds), product(*choices)):
        others = tuple(zip(method.others, chosen, strict=True))
        lines.append([Cell(name, value, others, seed) for value in method.knob.sweep])
    return lines


class _Shared:
    """What the models of a line have in common, made when it is first needed."""

    def __init__(self) -> None:
        self.climb = Climb()
        self.membership: Membership | None = None

    def settings(self, method: str, scene: Scene) -> dict[str, Any]:
        if method not in ("lpp", "fst", "fair_projection"):
            return {}
        if self.membership is None:
            train = scene.train
            self.membership = Membership().fit(scene.encoded_train, train.y, train.sensitive)
        return {"membership": self.membership}


def _fit(scene: Scene, cell: Cell, fairness: str, shared: _Shared) -> Model:
    method = METHODS[cell.method]
    settings = {**dict(cell.others), **shared.settings(cell.method, scene)}
    model = make_method(cell.method, scene.f, cell.value, fairness=fairness, random_state=cell.seed, **settings)
    train, test = scene.train, scene.test
    arguments: dict[str, Any] = {"base_scores": scene.scores_train} if method.edits else {}
    if cell.method == "commod":
        arguments["climb"] = shared.climb
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a point that may be improved on is a point all the same
        model.fit(train.X, train.y, sensitive_features=train.sensitive, **arguments)

    def margin(rows: Any) -> np.ndarray:
        known = {"sensitive_features": rows.sensitive} if method.needs_sensitive else {}
        return np.asarray(model.decision_function(rows.X, **known))

    on_test = margin(test)
    scores = (1.0 / (1.0 + np.exp(-on_test))).astype(np.float32) if hasattr(model, "predict_proba") else None
    return Model(
        cell,
        (margin(train) > 0).astype(np.int8),
        (on_test > 0).astype(np.int8),
        scores,
        getattr(model, "concepts_", None),
    )


def _fit_line(scene: Scene, line: Sequence[Cell], fairness: str, report: Report | None = None) -> list[Model]:
    shared = _Shared()
    models = []
    for i, cell in enumerate(line):
        models.append(_fit(scene, cell, fairness, shared))
        if report is not None:
            report((i + 1) / len(line))
    return models


def _fit_line_here(data: str, base_model: str, seed: int, line: Sequence[Cell], fairness: str) -> list[Model]:
    """In a process of its own, which prepares the scene for itself."""
    return _fit_line(prepare(data, base_model, seed), line, fairness)


def _rows(scene: Scene, models: Iterable[Model], fairness: str) -> pd.DataFrame:
    """One row per model: its settings and its figures on test, and whether another of the method beats it."""
    rows = []
    for model in models:
        cell, method = model.cell, METHODS[model.cell.method]
        assert method.knob is not None
        rows.append(
            {
                "method": cell.method,
                "title": method.title,
                "needs_sensitive": method.needs_sensitive,
                "fairness": fairness,
                "dataset": scene.task.name,
                "base_model": scene.base_model,
                "split": scene.seed,
                "knob": method.knob.name,
                "value": float(cell.value),
                "settings": cell.words,
                "seed": cell.seed,
                **scene.figures(model.decisions_test.astype(int)),
            }
        )
    frame = pd.DataFrame(rows)
    gain = fairness_gain(frame, fairness)
    return frame.assign(best=undominated(gain, frame["accuracy"]))


def fairness_gain(points: pd.DataFrame, fairness: str) -> pd.Series:
    """The fairness of points as a number that is to be large."""
    figure = points[FAIRNESS_FIGURES[fairness]]
    return figure if fairness == "demographic_parity" else -figure


def sweep_method(scene: Scene, method: str, fairness: str, report: Report | None = None) -> Sweep:
    """Train every model of a method's sweep on a scene.

    Parameters
    ----------
    scene : Scene
    method : str
        A key of `METHODS`.
    fairness : {"demographic_parity", "equalized_odds"}
    report : callable, optional
        Called with the share done after every model; what it raises ends the sweep.
    """
    lines = lines_of(method)
    models: list[Model] = []
    for i, line in enumerate(lines):

        def share_of_all(share: float, i: int = i) -> None:
            if report is not None:
                report((i + share) / len(lines))

        models += _fit_line(scene, line, fairness, share_of_all)
    return Sweep(method, tuple(models), _rows(scene, models, fairness))


def points_of(sweeps: Iterable[Sweep]) -> pd.DataFrame:
    """The points of several sweeps under one another, in the registry's order."""
    by_method = {sweep.method: sweep.points for sweep in sweeps}
    frames = [by_method[name] for name in METHODS if name in by_method]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def compare(
    data: str,
    *,
    methods: Sequence[str] | None = None,
    fairness: str = "demographic_parity",
    base_model: str = "logistic_regression",
    seed: int = 0,
    n_jobs: int = -1,
    callback: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Sweep methods on a data set, on all cores.

    Parameters
    ----------
    data : str
        Name of a task.
    methods : sequence of str, optional
        Keys of `METHODS`; default, all that are defined for the criterion.
    n_jobs : int
        Processes; −1, one per core. The result does not depend on it.
    callback : callable, optional
        ``callback(done, total)`` after each line of a sweep.

    Returns
    -------
    DataFrame
        One row per model: ``method, title, needs_sensitive, fairness, dataset, base_model, split, knob, value,
        settings, seed, accuracy, p_rule, dm, change_rate`` (test) and ``best``, whether no other model of the same
        method is fairer and at least as accurate, or the other way round.
    """
    names = available_methods(fairness) if methods is None else list(methods)
    defined = available_methods(fairness)
    for name in names:
        if name not in defined:
            raise ValueError(
                f"There is no method {name!r} for {fairness.replace('_', ' ')}: choose from {', '.join(defined)}."
            )
    scene = prepare(data, base_model, seed)
    lines = [line for name in names for line in lines_of(name)]
    # The slow ones first, so that no core waits for one at the end.
    order = sorted(range(len(lines)), key=lambda i: not METHODS[lines[i][0].method].slow)
    jobs = (delayed(_fit_line_here)(data, base_model, seed, lines[i], fairness) for i in order)
    found: dict[int, list[Model]] = {}
    for i, models in zip(order, Parallel(n_jobs=n_jobs, return_as="generator")(jobs), strict=True):
        found[i] = models
        if callback is not None:
            callback(len(found), len(lines))
    sweeps = []
    for name in names:
        models = [model for i in range(len(lines)) if lines[i][0].method == name for model in found[i]]
        sweeps.append(Sweep(name, tuple(models), _rows(scene, models, fairness)))
    return points_of(sweeps)
