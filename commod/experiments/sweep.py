"""A method swept over its knob on a scene: every model's decisions and figures, the same wherever they are computed."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets import Split, Task
from commod.datasets.load import SEALED
from commod.experiments.scene import AT_HAND, Scene, is_large
from commod.metrics.counts import counts_of_codes, undominated
from commod.metrics.figures import CRITERIA, key_figures
from commod.models import WarmStart
from commod.models.competitors import METHODS, available_methods, make_method, weights_in_words
from commod.models.competitors.base import Memory
from commod.models.evaluation import judged_elsewhere

# Models in every method's sweep: all values of its knob, further settings and seeds together.
EFFORT = 36
# The same on a large table, with one seed and one further setting.
EFFORT_LARGE = 12
# No two values of a knob are closer than this share of its scale: a jump is not chased for ever.
FINEST = 1 / 64

Report = Callable[[float], None]
Settings = tuple[tuple[str, Any], ...]

ABOUT_POINT = "method title needs_sensitive fairness dataset base_model split knob value settings seed".split()
SYMBOLS = {"lambda_ratio": "λ_ratio", "lambda_concepts": "λ_concepts", "penalty": "C"}
# How strongly methods are regularised when compared; `python -m tests.benchmarks.tuned --choose` writes it.
STRENGTHS = Path(__file__).with_name("strengths.json")
# Arguments of `Commod` that limit its update, in words; which decision is favourable is not mentioned.
FORM: dict[str, Callable[[Any], str]] = {
    "direction": {"both": "", "improve": "nobody loses", "worsen": "nobody gains"}.__getitem__,
    "favourable": lambda value: "",
    "features": lambda names: f"{len(names)} features" if names else "",
}


def concept_settings(task: Task) -> dict[str, Any]:
    """COMMOD's λ_concepts and k for a task: in its sweeps, its targets, and the app's first picture."""
    return {name: task.spec.commod_settings[name] for name in ("lambda_concepts", "n_concepts")}


@cache
def _strengths() -> dict[str, dict[str, dict[str, float]]]:
    return json.loads(STRENGTHS.read_text(encoding="utf-8"))


def tuned_form(data: str, method: str, fairness: str) -> Settings:
    """The strength of a method's regulariser that training folds chose; empty if none did."""
    chosen = _strengths().get(data.removesuffix(SEALED), {}).get(fairness, {}).get(method)
    return () if chosen is None else ((METHODS[method].regulariser, chosen),)


@dataclass(frozen=True)
class Cell:
    """One model to be trained: a method, the value of its knob, its further settings, and its seed."""

    method: str
    value: float
    others: tuple[tuple[str, Any], ...] = ()
    seed: int = 0

    @property
    def words(self) -> str:
        method = METHODS[self.method]
        assert method.knob is not None
        parts = [f"{method.knob.label} {self.value:g}"]
        for name, value in self.others:
            if name in FORM:
                parts += [text] if (text := FORM[name](value)) else []
            else:
                parts.append(value if isinstance(value, str) else f"{SYMBOLS.get(name, name)} {value:g}")
        return ", ".join(parts + ([f"seed {self.seed}"] if method.seeds > 1 else []))


@dataclass(frozen=True)
class Model:
    """What is kept of a trained model."""

    cell: Cell
    decisions_train: np.ndarray  # (n,) int8, of the rows that it has learnt from
    decisions_test: np.ndarray
    scores_test: np.ndarray | None  # (n,) float32, where the method has probabilities
    concepts: pd.DataFrame | None = None  # feature × concept, where it has concepts


@dataclass(frozen=True)
class Sweep:
    """All models of a method on a scene, and a frame with a row for each."""

    method: str
    models: tuple[Model, ...]
    points: pd.DataFrame = field(repr=False)
    kept: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)  # derived from it once


def lines_of(
    name: str, models: int | None = None, *, task: Task | None = None, form: Settings = ()
) -> list[list[Cell]]:
    """The cells of a method's sweep, in lines that differ only in the knob.

    Every method gets the same number: `models`, with one seed, or `EFFORT`, or `EFFORT_LARGE` for a large `task`.
    Values are spaced evenly between the declared ones; `sweep_method` places them better. `form`: further arguments.
    """
    method = METHODS[name]
    if method.knob is None:
        raise ValueError(f"{method.title} is not implemented yet, so it cannot be swept: choose another method.")
    choices = [tuple(zip(method.others, chosen, strict=True)) for chosen in product(*method.others.values())]
    is_usual, seeds = models is None, method.seeds if models is None else 1
    if is_usual and task is not None and is_large(task):
        choices, seeds = [choices[(len(choices) - 1) // 2]], 1
        models = EFFORT_LARGE
    models = EFFORT if models is None else models
    count, rest = divmod(models, len(choices) * seeds)
    if rest:
        raise ValueError(f"{models} models of {method.title} cannot be shared among its {len(choices) * seeds} lines.")
    scale = method.knob.sweep
    values = [_value_at(scale, place) for place in np.linspace(0, len(scale) - 1, count)]
    if is_usual and not method.knob.placed:
        values = list(scale)
    return [
        [Cell(name, value, (*others, *form), seed) for value in values] for seed in range(seeds) for others in choices
    ]


def _value_at(scale: Sequence[float], place: float) -> float:
    """The value at a place between the first declared (0) and the last, with the digits that `Cell.words` writes."""
    return float(f"{np.interp(place, range(len(scale)), scale):.4g}")


def next_place(scale: Sequence[float], known: Mapping[float, np.ndarray]) -> float:
    """Where on a knob's scale the next models of a sweep go: its ends, its middle, then the widest gap.

    `known`: by place, how unfair the model of each line is (`_unfairness`). A gap is the mean distance of neighbours
    over the lines; of equal gaps, the longer one on the scale, then the one nearer to f.
    """
    length = len(scale) - 1
    for first in (0.0, float(length), length / 2):
        if first not in known:
            return first
    gaps = [(low, high) for low, high in pairwise(sorted(known)) if high - low > FINEST * length]

    def width(ends: tuple[float, float]) -> tuple[float, float, float]:
        low, high = ends
        # Rounded, so that the order of two equal gaps does not depend on a machine's last digit.
        return round(float(np.abs(known[low] - known[high]).mean()), 9), high - low, -low

    low, high = max(gaps, key=width)
    return (low + high) / 2


def _unfairness(scene: Scene, model: Model, fairness: str) -> float:
    """How far a model is from the fairest possible figure, on the rows that it learnt from.

    With two groups and demographic parity it is negative once the other group is favoured: a fair model lies between.
    """
    taught, criterion, n_groups = learns_from(scene, model.cell.method), CRITERIA[fairness], len(scene.task.groups)
    rows = taught.train
    counts = counts_of_codes(
        rows.sensitive, n_groups, rows.y, taught.decisions_train, model.decisions_train, rows.weight
    )
    with np.errstate(invalid="ignore"):  # 0 / 0: nobody is given 1, which is the same for all
        figure = float(criterion.figure.of_counts(counts.sum(axis=-2), scene.group_sizes))
    unfair = float(np.nan_to_num(abs(figure - (1.0 if criterion.upward else 0.0))))
    if n_groups > 2 or criterion.by_label:
        return unfair
    of_f, of_g = (counts.sum(axis=axes)[:, 1] / counts.sum(axis=(1, 2, 3)) for axes in ((1, 3), (1, 2)))
    return -unfair if of_f.argmax() != of_g.argmax() else unfair


def learns_from(scene: Scene, method: str) -> Scene:
    """The scene with the training rows that a method learns from: COMMOD all, others `Scene.sampled`."""
    return scene if METHODS[method].is_commod else scene.sampled


def rows_in_words(scene: Scene) -> str:
    """What each method learns from, if training rows or weights differ between methods; otherwise empty."""
    sentences = []
    if scene.sampled is not scene:
        sentences.append(
            f"COMMOD learns from {len(scene.train):,} training rows, the other methods from "
            f"{len(scene.sampled.train):,} of them, drawn at random, with one seed each; all are measured on all "
            f"{len(scene.test):,} test rows."
        )
    if scene.train.weight is not None:
        sentences.append(weights_in_words(available_methods("demographic_parity")))
    return " ".join(sentences)


class Shared:
    """What the models of a line have in common; `solved`: see `WarmStart`."""

    def __init__(self, solved: Mapping[Any, Any] | None = None) -> None:
        self.warm_start = WarmStart(solved)
        self.memory = Memory()


@dataclass(frozen=True)
class Trained:
    """A model of a sweep, ready to decide on any rows."""

    model: Any
    scene: Scene
    cell: Cell

    def margin(self, rows: Split) -> np.ndarray:
        """Logits of the positive decision; a method that decides by group leaves unknown groups to f."""
        method, X, scene = METHODS[self.cell.method], rows.X, self.scene
        if method.is_commod:  # which encodes rows as the scene has done
            if rows is scene.test:
                return self.model.rescaler_.score(scene.encoded_test, scene.logit_test)
            if rows is scene.train:
                return self.model.rescaler_.score(scene.encoded_train, scene.logit_train)
        if not method.edits:  # a model of its own does not see f's scores
            X = scene.task.features(X)
        if not method.needs_sensitive:
            return np.asarray(self.model.decision_function(X))
        known = (rows.sensitive >= 0).to_numpy()
        if known.all():
            return np.asarray(self.model.decision_function(X, sensitive_features=rows.sensitive))
        margin = scene.margin_of_f(X)
        margin[known] = self.model.decision_function(X[known], sensitive_features=rows.sensitive[known])
        return margin


def train_cell(scene: Scene, cell: Cell, fairness: str, shared: Shared | None = None) -> Trained:
    """Train one model of a sweep; sharing with others of its line makes it quicker but does not change it."""
    shared = shared or Shared()
    method, taught = METHODS[cell.method], learns_from(scene, cell.method)
    settings = dict(cell.others)
    if method.uses_membership:
        settings["membership"] = taught.membership(settings.pop("penalty", 1.0))
    if method.is_commod:
        settings = concept_settings(scene.task) | settings
    model = make_method(
        cell.method,
        scene.f,
        cell.value,
        threshold=scene.threshold,
        fairness=fairness,
        random_state=cell.seed,
        **settings,
    )
    arguments = taught.train.fit_arguments
    if method.edits:
        arguments["base_scores"] = taught.scores_train
        arguments |= {"warm_start": shared.warm_start} if method.is_commod else {"memory": shared.memory}
    else:  # a model of its own does not see f's scores
        arguments["X"] = scene.task.features(arguments["X"])
    if not method.weights:
        del arguments["sample_weight"]
    with judged_elsewhere():  # a point that could be improved is still a point
        model.fit(**arguments)
    return Trained(model, scene, cell)


def fit_cell(scene: Scene, cell: Cell, fairness: str, shared: Shared | None = None) -> Model:
    """Train one model of a sweep and keep its decisions."""
    trained = train_cell(scene, cell, fairness, shared)
    on_test = trained.margin(scene.test)
    scored = hasattr(trained.model, "predict_proba")
    scores = scene.probabilities(on_test).astype(np.float32) if scored else None
    return Model(
        cell,
        (trained.margin(learns_from(scene, cell.method).train) > 0).astype(np.int8),
        (on_test > 0).astype(np.int8),
        scores,
        getattr(trained.model, "shift_concepts_" if getattr(trained.model, "decides", False) else "concepts_", None),
    )


def as_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of one criterion on one scene as points, with ``best``: no model of the same method beats it.

    Columns `ABOUT_POINT`, the key figures on test, and those of `Scene.shares` that the rows have.
    """
    methods = [METHODS[name] for name in rows["method"]]
    points = rows.assign(
        title=[method.title for method in methods],
        needs_sensitive=[method.needs_sensitive for method in methods],
        knob=[method.knob.name if method.knob else "" for method in methods],
        best=False,
    )
    for _, group in points.groupby("method"):
        gain = fairness_gain(group, str(group["fairness"].iloc[0]))
        points.loc[group.index, "best"] = undominated(gain, group["accuracy"])
    measured = [name for name in (*(figure.name for figure in key_figures()), *AT_HAND) if name in points]
    points = points.astype({name: float for name in AT_HAND if name in points})  # None in rows that were kept as JSON
    return points[[*ABOUT_POINT, *measured, "best"]]


def fairness_gain(points: pd.DataFrame, fairness: str) -> pd.Series:
    """The fairness of points as a number, larger being fairer."""
    criterion = CRITERIA[fairness]
    gain: pd.Series = criterion.gain(points[criterion.figure_name])
    return gain


def sweep_method(
    scene: Scene, method: str, fairness: str, report: Report | None = None, *, form: Settings = ()
) -> Sweep:
    """Train every model of a method's sweep on a scene.

    Each value of the knob goes where neighbours are furthest apart in fairness on the training rows (`next_place`), the
    same for all further settings and seeds; COMMOD's values are as declared. `report` gets the share done after every
    model; an exception that it raises ends the sweep. `form`: see `lines_of`.
    """
    lines = lines_of(method, task=scene.task, form=form)
    knob, count = METHODS[method].knob, len(lines[0])
    assert knob is not None
    shared = [Shared() for _ in lines]
    tried: dict[float, list[Model]] = {}  # by place, a model of each line
    known: dict[float, np.ndarray] = {}
    while len(tried) < count:
        place = next_place(knob.sweep, known) if knob.placed else float(len(tried))
        value = _value_at(knob.sweep, place) if knob.placed else lines[0][len(tried)].value
        here = tried[place] = []
        for line, of_line in zip(lines, shared, strict=True):
            here.append(fit_cell(scene, replace(line[0], value=value), fairness, of_line))
            if report is not None:
                report(((len(tried) - 1) * len(lines) + len(here)) / (count * len(lines)))
        known[place] = np.array([_unfairness(scene, model, fairness) for model in here])
    models = [tried[place][i] for i in range(len(lines)) for place in sorted(tried)]
    rows = [
        about_cell(scene, model.cell, fairness)
        | scene.figures(model.decisions_test)
        | scene.shares(model.decisions_test)
        for model in models
    ]
    return Sweep(method, tuple(models), as_points(pd.DataFrame(rows)))


def about_cell(scene: Scene, cell: Cell, fairness: str) -> dict[str, Any]:
    """The identity of a model: its scene, criterion, method and settings."""
    return {
        "dataset": scene.task.name,
        "base_model": scene.base_model,
        "split": scene.seed,
        "fairness": fairness,
        "method": cell.method,
        "value": float(cell.value),
        "settings": cell.words,
        "seed": cell.seed,
    }


def points_of(sweeps: Iterable[Sweep]) -> pd.DataFrame:
    """The points of several sweeps in one table, in the registry's order."""
    by_method = {sweep.method: sweep.points for sweep in sweeps}
    frames = [by_method[name] for name in METHODS if name in by_method]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
