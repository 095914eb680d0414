"""The complete setting of the Explore page: its grids, its defaults, its link and its Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from commod.datasets import TASKS, damaged_files, load_task
from commod.datasets.task import MAX_TRAINING
from commod.experiments.scene import SceneKey
from commod.experiments.sweep import concept_settings
from commod.experiments.target import LAMBDA_GRIDS
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES

# How the names of uploaded data begin.
OWN_PREFIX = "own-"

FAIRNESS = {
    "demographic_parity": "Demographic parity (P-Rule)",
    "equalized_odds": "Equalized odds (mistreatment)",
}
VIEWS = {"fairness": "Fairness and accuracy", "changes": "Accuracy and changes"}

# Every slider moves on a grid, so that equal settings are equal to the last digit and train once for everybody.
GRIDS: dict[str, tuple[float, ...] | tuple[int, ...]] = {
    **LAMBDA_GRIDS,
    "k": tuple(range(1, 11)),
    "seed": tuple(range(100)),
    "depth": tuple(range(1, 7)),
}
_CHOICES: dict[str, Mapping[str, object]] = {"fairness": FAIRNESS, "f": BASE_MODELS, "view": VIEWS}
NAMES = {
    "data": "data set",
    "fairness": "fairness criterion",
    "f": "base model",
    "view": "view",
    "lambda_fair": "λ_fair",
    "lambda_ratio": "λ_ratio",
    "lambda_concepts": "λ_concepts",
    "k": "k",
    "seed": "seed of the split",
    "depth": "depth of the tree",
}


@dataclass(frozen=True)
class Settings:
    """What the page shows is a function of this and nothing else."""

    data: str = "law_school"
    fairness: str = "demographic_parity"
    f: str = "logistic_regression"
    lambda_fair: float = 3.0
    lambda_ratio: float = 0.05
    lambda_concepts: float = 0.05
    k: int = 2
    seed: int = 0
    depth: int = 3
    view: str = "fairness"

    def model(self) -> Settings:
        """The part that decides the model; how it is looked at is set to its default."""
        return replace(self, depth=Settings.depth, view=Settings.view)

    def scene(self) -> SceneKey:
        """Data, f and split."""
        return SceneKey(self.data, self.f, self.seed)

    def problem(self) -> tuple[SceneKey, str]:
        """Scene and criterion: models can be compared in one picture only where these are equal."""
        return self.scene(), self.fairness

    def commod_arguments(self) -> dict[str, Any]:
        """Keyword arguments of `Commod`."""
        return {
            "lambda_fair": self.lambda_fair,
            "lambda_ratio": self.lambda_ratio,
            "lambda_concepts": self.lambda_concepts,
            "n_concepts": self.k,
            "fairness": self.fairness,
        }


# Chosen on split 0 so that the first picture shows a clear gain in fairness, and what it costs.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "law_school": {"lambda_fair": 3.0},
    "law_school_full": {"lambda_fair": 4.0, "fairness": "equalized_odds"},
    "compas": {"lambda_fair": 4.0},
    "adult": {"lambda_fair": 4.0},
    # 300 test rows: no setting gains more than noise, and the page says so.
    "german": {"lambda_fair": 5.0},
}


# What a teacher's link can leave to a learner. How a model is looked at is always theirs.
CONTROLS = tuple(name for name in NAMES if name != "view")


@dataclass(frozen=True)
class Access:
    """Which controls can be moved: all of them, unless the session was opened by a teacher's link."""

    live: frozenset[str] | None = None
    hidden: bool = False  # whether the others are hidden, or shown as they stand

    def allows(self, *names: str) -> bool:
        """Whether all these controls can be moved."""
        return self.live is None or all(name in self.live or name not in CONTROLS for name in names)

    def keep(self, settings: Settings, here: Settings) -> Settings:
        """`settings`, but with what cannot be moved as it is `here`."""
        kept = replace(settings, **{name: getattr(here, name) for name in CONTROLS if not self.allows(name)})
        models = base_models_of(kept.data)
        return kept if kept.f in models else replace(kept, f=next(iter(models)))

    def to_link(self) -> dict[str, str]:
        """Query parameters of a teacher's link."""
        if self.live is None:
            return {}
        controls = {"controls": ",".join(name for name in CONTROLS if name in self.live)}
        return controls | ({"rest": "hidden"} if self.hidden else {})


def access_from_link(parameters: Mapping[str, str]) -> tuple[Access, list[str]]:
    """What a link leaves to whoever opens it, and a sentence for each name in it that is none of a control."""
    if "controls" not in parameters:
        return Access(), []
    asked = [name.strip() for name in parameters["controls"][:400].split(",") if name.strip()]
    notices = [
        f"The link names a control “{name[:20]}”, which is not known. Known are: {', '.join(CONTROLS)}."
        for name in asked
        if name not in CONTROLS
    ][:3]
    return Access(frozenset(asked) & frozenset(CONTROLS), parameters.get("rest") == "hidden"), notices


def sound_data() -> list[str]:
    """Names of the data sets whose files are as they were built."""
    damaged = damaged_files()
    return [name for name in TASKS if name not in damaged]


def first_data() -> str:
    """The data set that is shown if none is asked for."""
    sound = sound_data()
    return Settings.data if Settings.data in sound else next(iter(sound), Settings.data)


def base_models_of(data: str) -> dict[str, str]:
    """Name to title of the base models that a data set can have: the scores that came with it first."""
    titles = {name: title for name, (title, _) in BASE_MODELS.items()}
    column = load_task(data).spec.scores
    return {GIVEN_SCORES: f"Scores of the file ({column})"} | titles if column else titles


def defaults(data: str) -> Settings:
    """Settings in which a data set opens."""
    concepts = concept_settings(load_task(data))
    names: dict[str, Any] = {"lambda_concepts": concepts["lambda_concepts"], "k": concepts["n_concepts"]}
    if data not in TASKS:
        names["f"] = next(iter(base_models_of(data)))
    return Settings(data=data, **names, **_DEFAULTS.get(data, {}))


def to_link(settings: Settings) -> dict[str, str]:
    """Query parameters that hold the complete setting."""
    return {name: f"{value:g}" if isinstance(value, float) else str(value) for name, value in asdict(settings).items()}


def from_link(parameters: Mapping[str, str], own: str | None = None) -> tuple[Settings, list[str]]:
    """Settings from query parameters, and a sentence for each one that could not be used as it stands.

    Whatever the link holds, the result is valid: an unknown choice or something that is no number falls back to the
    default, a number beside the grid to the nearest on it. Parameters that are not ours are left alone. `own` is the
    name of the data that this session has uploaded; those of another session are nobody else's.
    """
    notices: list[str] = []
    first = first_data()
    data = parameters.get("data", first)
    if data.startswith(OWN_PREFIX) and data != own:
        notices.append(
            "The link is about uploaded data, which stay in the session of whoever uploaded them: "
            f"{TASKS[first].title} is shown. To see the same, upload the file on the page “Your data”."
        )
        data = first
    elif data not in TASKS and data != own:
        notices.append(_notice("data", data, TASKS[first].title))
        data = first
    elif data in damaged_files():
        notices.append(f"{damaged_files()[data]} {TASKS[first].title} is shown.")
        data = first
    start = defaults(data)
    values: dict[str, Any] = {}
    for field in fields(Settings):
        name = field.name
        if name == "data" or name not in parameters:
            continue
        text, fallback = parameters[name], getattr(start, name)
        if name in _CHOICES:
            known = text in (base_models_of(data) if name == "f" else _CHOICES[name])
            values[name] = text if known else fallback
            if not known:
                notices.append(_notice(name, text, fallback))
            continue
        number = _number(text)
        if number is None:
            values[name] = fallback
            notices.append(_notice(name, text, fallback))
            continue
        grid = GRIDS[name]
        nearest = min(grid, key=lambda option, number=number: abs(option - number))
        values[name] = nearest
        if not math.isclose(nearest, number, abs_tol=1e-9):
            notices.append(_notice(name, text, nearest, beside=True))
    return replace(start, **values), notices


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _notice(name: str, text: str, used: object, *, beside: bool = False) -> str:
    shown = text if len(text) <= 20 else text[:20] + "…"
    why = "is not on its slider" if beside else "is not known"
    used = f"{used:g}" if isinstance(used, float) else used
    return f"The link asks for {NAMES[name]} = “{shown}”, which {why}: {used} is used."


def in_words(settings: Settings) -> str:
    """The slider values in one line."""
    return (
        f"λ_fair {settings.lambda_fair:g}, λ_ratio {settings.lambda_ratio:g}, "
        f"λ_concepts {settings.lambda_concepts:g}, k {settings.k}"
    )


def to_python(settings: Settings) -> str:
    """Code that makes the same model with the library."""
    task = load_task(settings.data)
    arguments = "\n".join(f"    {name}={value!r}," for name, value in settings.commod_arguments().items())
    imports = "from commod import Commod, evaluate" + ("" if task.recipe else ", load_task") + "\n"
    make_task = f"{task.recipe}" if task.recipe else f'task = load_task("{settings.data}")\n'
    if settings.f == GIVEN_SCORES:
        make_f = f"f = {task.spec.scores!r}  # the column of its scores\n"
    else:
        classifier = BASE_MODELS[settings.f][1]()
        module = type(classifier).__module__.rsplit("._", 1)[0]
        imports = f"from {module} import {type(classifier).__name__}\n\n{imports}"
        make_task += "task = task.without_scores()  # f is trained here\n" if task.spec.scores else ""
        make_f = f"f = task.base_model({' '.join(repr(classifier).split())}).fit(train.X, train.y)\n"
    many = 0.7 * len(task.y) > MAX_TRAINING
    sample = "train = train.sample()  # as many rows as an edit needs\n" if many else ""
    return (
        f"{imports}\n{make_task}"
        f"train, test = task.split(seed={settings.seed})\n"
        f"{make_f}"
        f"{sample}"
        f"g = Commod(\n    f,\n{arguments}\n)\n"
        "g.fit(train.X, train.y, sensitive_features=train.sensitive)\n"
        "print(evaluate(task, f, g, test).to_string())\n"
    )
