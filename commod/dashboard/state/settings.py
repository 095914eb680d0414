"""The complete setting of the Explore page: every control of the app, declared once, and where a data set opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any

from commod.dashboard.state.controls import Control, control, split
from commod.datasets import TASKS, TaskSpec, damaged_files, data_of, is_shipped, load_task
from commod.datasets.load import SEALED
from commod.experiments.scene import SceneKey
from commod.experiments.search import LAMBDA_GRIDS
from commod.explain.concepts import in_a_sentence
from commod.metrics import compared_groups
from commod.metrics.figures import CRITERIA
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES
from commod.models.threshold import ONE_HALF
from commod.wording import with_capital

# Rows of either outcome that each group needs to compare errors: with fewer, a test part may have none.
LEAST_OF_AN_OUTCOME = 20
# Of λ_fair, in even steps; links and searches may be between them.
STOPS = tuple(0.5 * n for n in range(21))
# The prefix of uploaded data's names.
OWN_PREFIX = "own-"
_VIEWS = {"fairness": "Fairness and accuracy", "changes": "Accuracy and changes"}
_UPDATES = {"ratio": "multiply (the paper)", "affine": "multiply and shift", "decisions": "count changes"}
_SEALED = {"": "nobody", "half": "half of the test part"}
_DIRECTIONS = {
    "both": "both ways (the paper)",
    "improve": "nobody loses the better decision",
    "worsen": "nobody gains the better decision",
}


def sound_data() -> list[str]:
    """Names of the data sets whose files are as they were built."""
    damaged = damaged_files()
    return [name for name in TASKS if name not in damaged]


def first_data() -> str:
    """The data set that is shown by default."""
    return next(iter(sound_data()), Settings.data)


def titles_of_data(task: str) -> dict[str, str]:
    """Name to title of the data sets that can be shown: the sound ones, and the current task's."""
    here = data_of(task)
    # Without loading data that are not shown.
    return {name: TASKS[name].title for name in sound_data()} | {here: load_task(here).spec.title}


def groupings_of(task: str) -> dict[str, str]:
    """Name to title of the groupings of a data set: the usual one, which has no name, first."""
    spec = load_task(data_of(task)).spec
    return {grouping.name: grouping.title for grouping in spec.groupings} or {"": spec.sensitive}


def criteria_of(task: str) -> dict[str, str]:
    """Name to title of the criteria that can be measured on a task: error rates need people of either outcome."""
    loaded = load_task(task)
    counts = loaded.outcomes_by_group
    enough = (counts[compared_groups(loaded.test_share * counts.sum(axis=1))] >= LEAST_OF_AN_OUTCOME).all()
    return {name: criterion.label for name, criterion in CRITERIA.items() if enough or not criterion.by_label}


def base_models_of(task: str) -> dict[str, str]:
    """Name to title of the base models that a task can have: its own scores first."""
    titles = {name: title for name, (title, _) in BASE_MODELS.items()}
    column = load_task(task).spec.scores
    return {GIVEN_SCORES: f"Scores of the file ({column})"} | titles if column else titles


def features_of(task: str) -> dict[str, str]:
    """Name to title of the features of a task."""
    loaded = load_task(task)
    return {feature.name: loaded.label(feature.name) for feature in loaded.spec.features}


def task_name(data: str, groups: str) -> str:
    """Of a data set under one of its groupings."""
    return f"{data}.{groups}" if groups else data


def _weight(default: float, label: str, argument: str, stops: tuple[float, ...] = ()) -> Any:
    symbol, grid = argument.replace("lambda", "λ"), tuple(sorted({*LAMBDA_GRIDS[argument], *stops}))
    return control(
        default, f"{label} ({symbol})", name=symbol, grid=grid, stops=stops, argument=argument, word=argument
    )


@dataclass(frozen=True)
class Settings:
    """What the page shows is a function of this and nothing else.

    Each field is a control, under its name in links and files. A new field appears in the sidebar and in everything
    made from settings; `argument` says what `Commod` gets.
    """

    data: str = control("law_school", "Data set", titles=titles_of_data, decides="scene")
    groups: str = control("", "Groups", titles=groupings_of, decides="scene", word="groups", optional=True)
    fairness: str = control(
        "demographic_parity",
        "Criterion",
        name="fairness criterion",
        titles=criteria_of,
        decides="scene",
        argument="fairness",
    )
    f: str = control("logistic_regression", "Base model f", name="base model", titles=base_models_of, decides="scene")
    lambda_fair: float = _weight(3.0, "Fairness", "lambda_fair", STOPS)
    lambda_ratio: float = _weight(0.05, "Stay near f", "lambda_ratio")
    lambda_concepts: float = _weight(0.05, "Few features", "lambda_concepts")
    k: int = control(2, "Concepts (k)", name="k", grid=tuple(range(1, 11)), argument="n_concepts", word="k")
    update: str = control("ratio", "Update", titles=lambda _: _UPDATES, argument="update", word="update", optional=True)
    direction: str = control(
        "both", "Direction", titles=lambda _: _DIRECTIONS, argument="direction", word="direction", optional=True
    )
    without: str = control(
        "",
        "Kept out of the update",
        name="kept out",
        titles=features_of,
        several=True,
        argument="features",
        word="without",
        optional=True,
    )
    max_changes: str = control(
        "",
        "Change at most this many people",
        name="changes at most",
        count=True,
        argument="max_changes",
        word="max_changes",
        optional=True,
    )
    reason: str = control(
        "", "Why they are kept out", text=True, decides="note", word="reason", freezable=False, optional=True
    )
    threshold: float = control(
        ONE_HALF,
        "Cut-off of f",
        grid=tuple(round(0.001 * n, 3) for n in range(1, 1000)),
        typed=True,
        decides="scene",
        word="threshold",
        optional=True,
    )
    sealed: str = control(
        "",
        "Sealed until you decide",
        titles=lambda task: _SEALED if is_shipped(task) else {"": "as the data say"},
        decides="scene",
        word="sealed",
        optional=True,
    )
    seed: int = control(0, "Seed of the split", grid=tuple(range(100)), typed=True, decides="scene", word="seed")
    depth: int = control(3, "Depth of the tree", grid=tuple(range(1, 7)), decides="display", word="depth")
    view: str = control("fairness", "View", titles=lambda _: _VIEWS, decides="display", freezable=False)

    def __post_init__(self) -> None:
        if not self.without and self.reason:  # of nothing
            object.__setattr__(self, "reason", "")
        if self.update != "decisions":  # others have no budget
            object.__setattr__(self, "max_changes", "")

    @property
    def task_name(self) -> str:
        """The data set with its people grouped as chosen, as `load_task` has it."""
        return task_name(self.data, self.groups) + (SEALED if self.sealed else "")

    def model(self) -> Settings:
        """The part that decides the model; display and notes are set to their defaults."""
        return replace(self, **{name: getattr(_USUAL, name) for name in controls_of("display", "note")})

    def free(self) -> Settings:
        """The same without limits on the update: both directions, all features, any number of changes."""
        return replace(
            self, **{name: getattr(_USUAL, name) for name in ("direction", "without", "reason", "max_changes")}
        )

    def looked_at_as(self, other: Settings) -> Settings:
        """The same model, displayed as `other` is."""
        return replace(self, **{name: getattr(other, name) for name in controls_of("display")})

    def scene(self) -> SceneKey:
        """Data and groups, f, split and cut-off."""
        return SceneKey(self.task_name, self.f, self.seed, self.threshold)

    def problem(self) -> tuple[SceneKey, str]:
        """Scene and criterion: models can be compared in one picture only where these are equal."""
        return self.scene(), self.fairness

    def line(self) -> tuple[SceneKey, Settings]:
        """The same for all models that differ in λ_fair and k only: they share one path."""
        return self.scene(), replace(self.model(), lambda_fair=0.0, k=1)

    def commod_arguments(self) -> dict[str, Any]:
        """Keyword arguments of `Commod`; arguments of limits only if there are any."""
        declared = controls_of("model") | controls_of("scene")
        arguments = {known.argument: getattr(self, name) for name, known in declared.items() if known.argument}
        spec, kept_out = load_task(self.task_name).spec, split(arguments.pop("features"))
        if self.direction == _USUAL.direction:
            del arguments["direction"]
        else:
            arguments["favourable"] = spec.favourable
        if most := arguments.pop("max_changes"):
            arguments["max_changes"] = int(most)
        if kept_out:
            arguments["features"] = tuple(feature.name for feature in spec.features if feature.name not in kept_out)
        return arguments


CONTROLS: dict[str, Control] = {field.name: field.metadata["control"] for field in fields(Settings)}
GRIDS = {name: known.grid for name, known in CONTROLS.items() if known.grid}
_USUAL = Settings()


def controls_of(*decides: str) -> dict[str, Control]:
    """The controls that decide these, in the order of their declaration."""
    return {name: known for name, known in CONTROLS.items() if known.decides in decides}


# Sliders of the model, which the first picture follows.
SLIDERS = tuple(name for name, known in controls_of("model").items() if known.grid)


def suited_to(spec: TaskSpec) -> dict[str, Any]:
    """The values of controls that are declared with a task."""
    suited = spec.commod_settings
    return {name: suited[known.argument] for name, known in CONTROLS.items() if known.argument in suited}


def defaults(data: str, groups: str = "") -> Settings:
    """Settings that suit a data set under one of its groupings."""
    spec, f = load_task(task_name(data, groups)).spec, next(iter(base_models_of(data)))
    return Settings(data=data, groups=groups, f=f, threshold=spec.threshold, **suited_to(spec))


def opening(data: str) -> Settings:
    """Settings in which a data set opens."""
    return defaults(data, load_task(data).spec.opens)


def offered(settings: Settings) -> Settings:
    """The same with each choice that its data do not offer (groups, f, features) set to its opening value."""
    if settings.groups not in groupings_of(settings.data):
        settings = replace(settings, groups=_USUAL.groups)
    start, values = defaults(settings.data, settings.groups), {}
    for name, known in CONTROLS.items():
        if known.titles and name != "data":
            found, _ = known.nearest(getattr(settings, name), settings.task_name)
            values[name] = getattr(start, name) if found is None else found
    return replace(settings, **values)


def described(settings: Settings, *decides: str) -> dict[str, str]:
    """Every setting that decides these (by default, that decides the model) in words."""
    declared = controls_of(*(decides or ("scene", "model")))
    return {name: known.in_words(getattr(settings, name), settings.task_name) for name, known in declared.items()}


def data_in_words(settings: Settings) -> str:
    """The data set, and its groups if they are not the usual ones."""
    words = described(settings, "scene")
    return f"{words['data']} ({in_a_sentence(words['groups'])})" if settings.groups else words["data"]


def limits_in_words(settings: Settings) -> str:
    """The limits on the update, as a sentence; empty if there are none."""
    words, parts = described(settings, "model"), []
    if settings.direction != _USUAL.direction:
        parts.append(words["direction"])
    if settings.without:
        why = f" ({settings.reason})" if settings.reason else ""
        parts.append(f"the update does not use {words['without']}{why}")
    if settings.max_changes:
        people = load_task(settings.task_name).spec.people
        parts.append(f"at most {int(settings.max_changes):,} of the training {people} change")
    text = "; ".join(parts)
    return text and f"{with_capital(text)}."


def in_words(settings: Settings) -> str:
    """The slider values in one line, and other choices that are not the usual ones."""
    words, scene = described(settings, "model"), described(settings, "scene")
    scene["groups"] = in_a_sentence(scene["groups"])
    words |= {name: scene[name] for name in ("threshold", "groups") if getattr(settings, name) != getattr(_USUAL, name)}
    return ", ".join(
        value if name == "direction" else f"{CONTROLS[name].name} {value}"  # its words say what it is
        for name, value in words.items()
        if CONTROLS[name].grid or getattr(settings, name) != getattr(_USUAL, name)
    )


def neighbours_of(settings: Settings) -> Iterator[Settings]:
    """A setting of every path of these data: first those that one slider leads to, the nearest first."""
    grids = GRIDS["lambda_ratio"], GRIDS["lambda_concepts"]
    here = settings.lambda_ratio, settings.lambda_concepts

    def order(there: tuple[float, ...]) -> tuple[int, int]:
        steps = [abs(grid.index(a) - grid.index(b)) for grid, a, b in zip(grids, here, there, strict=True)]
        return sum(step > 0 for step in steps), sum(steps)

    for ratio, concepts in sorted(product(*grids), key=order):
        yield replace(settings, lambda_ratio=ratio, lambda_concepts=concepts)
