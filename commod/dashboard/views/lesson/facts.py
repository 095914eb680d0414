"""The figures that the texts of a lesson name, read from trained models.

Without Streamlit: the Lesson page and the teacher's notes say the same. ``{before.changed}`` in a scenario is the entry
``changed`` of `MODEL`, of the model before the move; `known_names` lists all that can stand there, and nothing else is
filled in. A figure is computed, and its model trained, when a text asks for it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from operator import itemgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.settings import CONTROLS
from commod.dashboard.text.language import declared, fill, phrase
from commod.dashboard.text.verdicts import Changes
from commod.dashboard.views.lesson.steps import LessonStep, StepModels
from commod.experiments import Scene
from commod.explain import ShapComparison
from commod.explain.checks import SURE
from commod.metrics.counts import Counts
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.competitors import METHODS


class NamedFigures:
    """Named figures of something; it is made when one of them is first asked for."""

    def __init__(self, names: Mapping[str, Callable[[Any], Any]], make: Callable[[], Any]) -> None:
        self._names = names
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(name)
        value = self.__dict__[name] = self._names[name](self._make())
        return value


# ---- of one model, on test ----


def figure(model: FitResult, name: str, column: str = "g") -> float:
    """A figure of g, or of f."""
    return float(model.figures.loc[name, column])


def groups_of_model(model: FitResult) -> pd.DataFrame:
    """Each group: ``group, people, base_rate, positive, wrong, found`` and ``blamed``.

    Rates of 1 among labels and among f's decisions, of f's wrong decisions, and of f's 1 among those whose label is 1
    and among those whose label is 0.
    """
    test, decisions = model.scene.test, model.scene.decisions_test
    y = test.y.to_numpy()
    rows = pd.DataFrame(
        {
            "base_rate": y,
            "positive": decisions,
            "wrong": decisions != y,
            "found": np.where(y == 1, decisions, np.nan),
            "blamed": np.where(y == 0, decisions, np.nan),
        }
    )
    groups = rows.groupby(test.sensitive.to_numpy())
    return groups.mean().assign(group=list(model.task.groups), people=groups.size())


# Of each group; shares are in percent, all else is counted in people.
GROUP = tuple("name people share base_rate positive positives wrong found blamed changed raised lowered gained".split())


def _groups(model: FitResult, step: LessonStep) -> list[Any]:
    """Each group with its rates, and its changes; computed once for a whole class."""
    names = [step.called(group) for group in model.task.groups]

    def made() -> list[Any]:
        table = groups_of_model(model).join(model.changes[["changed", "raised", "lowered"]])
        rates = ["base_rate", "positive", "wrong", "found", "blamed"]
        return list(
            table.assign(
                name=names,
                share=100 * table["people"] / table["people"].sum(),
                positives=(table["positive"] * table["people"]).round().astype(int),
                gained=table["raised"] - table["lowered"],
                **100 * table[rates],
            )[list(GROUP)].itertuples()
        )

    return model.keep(f"groups {names}", made)


def _by_rate(model: FitResult, step: LessonStep) -> list[Any]:
    """The groups, that of which f decides 1 less often first."""
    return sorted(_groups(model, step), key=lambda group: group.positive)


def _one_sided(model: FitResult) -> tuple[int, int]:
    """How many flips reach g's P-Rule: only new positives in the group with fewer, only fewer in the other one."""
    level = figure(model, "p_rule")
    low, high = groups_of_model(model).sort_values("positive").itertuples()
    more = math.ceil(low.people * (level * high.positive - low.positive))
    return more, math.ceil(high.people * (high.positive - low.positive / level))


def mistaken(model: FitResult) -> tuple[int, int]:
    """Changed decisions that are wrong now, by the label: in favour of the person, and against."""
    wrong = model.changed_test & (model.decisions != model.scene.test.y.to_numpy())
    better = model.decisions == model.task.spec.favourable
    return int((wrong & better).sum()), int((wrong & ~better).sum())


def _share(part: float, whole: float) -> float:
    """In percent; 0 of nobody."""
    return 100 * part / max(whole, 1)


def _sure(model: FitResult) -> np.ndarray:
    return model.scene.certainty_test > SURE


def p_rule_of_labels(model: FitResult) -> float:
    """Of a model that is always right."""
    rates = groups_of_model(model)["base_rate"]
    return float(rates.min() / rates.max())


def _features_used(model: FitResult) -> int:
    loadings = model.loadings
    return int(loadings.loc[loadings["loading"] != 0, "feature"].str.partition("=")[0].nunique())


CONCEPT = ("name", "parts", "activated", "changed", "changed_others", "first", "second_group")


def _concept(model: FitResult, step: LessonStep) -> SimpleNamespace:
    """The concept whose people change most; of its first feature, if that is a level, who has it."""
    used = model.concepts[model.concepts["features"] > 0]
    name = used["changed_activated"].astype(float).idxmax()
    row, loadings = used.loc[name], model.loadings[model.loadings["concept"] == name]
    first, test = loadings.iloc[0], model.scene.test
    column, _, level = first["feature"].partition("=")
    second_group = (test.sensitive == 1)[test.X[column].astype(str) == level] if level else []
    parts = loadings.loc[loadings["loading"] > 0, "label"].head(3)
    return SimpleNamespace(
        name=name,
        parts=", ".join(declared(step.language, f"“{label}”") for label in parts),
        activated=row["activated"],
        changed=100 * float(row["changed_activated"]),
        changed_others=100 * float(row["changed_others"]),
        first=declared(step.language, first["label"]),
        second_group=100 * float(np.mean(second_group)) if len(second_group) else None,
    )


# Figures of f and of g, and the ends of the intervals of g's and of the difference: {before.g.p_rule}.
_FIGURES = ("f", "g", "g_low", "g_high", "difference_low", "difference_high")
# Shares are in percent; what has no unit in its name is counted in people.
MODEL: dict[str, Callable[[FitResult], Any]] = {
    **{of: lambda model, of=of: model.figures[of] for of in _FIGURES},  # type: ignore[misc]
    "n": lambda model: len(model.changed_test),
    "n_train": lambda model: len(model.task.y) - len(model.changed_test),  # that f learnt from
    "changed": lambda model: model.change_counts.count,
    "changed_fourfold": lambda model: 4 * model.change_counts.count,  # more than anybody would guess
    "change_rate": lambda model: 100 * model.changed_test.mean(),
    "better": lambda model: model.change_counts.better,
    "worse": lambda model: model.change_counts.worse,
    "worse_share": lambda model: _share(model.change_counts.worse, model.change_counts.count),
    "accuracy_lost": lambda model: -100 * model.figures.loc["accuracy", "difference"],
    "accuracy_gained": lambda model: 100 * model.figures.loc["accuracy", "difference"],
    "to_raise_low": lambda model: _one_sided(model)[0],
    "to_lower_high": lambda model: _one_sided(model)[1],
    "p_rule_of_labels": p_rule_of_labels,
    "f_in_hundredths": lambda model: 100 * model.figures.loc["p_rule", "f"],
    "labels_in_hundredths": lambda model: 100 * p_rule_of_labels(model),
    "mistaken": lambda model: model.change_counts.wrong,
    "mistaken_better": lambda model: mistaken(model)[0],
    "mistaken_worse": lambda model: mistaken(model)[1],
    "mended": lambda model: model.change_counts.right,
    "mended_better": lambda model: model.change_counts.better - mistaken(model)[0],
    "sure": lambda model: int((_sure(model) & model.changed_test).sum()),  # of the changed, those f was sure of
    "sure_share": lambda model: _share((_sure(model) & model.changed_test).sum(), model.change_counts.count),
    "sure_everyone": lambda model: 100 * _sure(model).mean(),
    "features": lambda model: len(model.task.spec.features),
    "features_used": _features_used,
}
# The same, but for the names that a language has for groups, people and features.
NAMED: dict[str, Callable[[FitResult, LessonStep], Any]] = {
    "people": lambda model, step: step.called(model.task.spec.people),  # what they are called
    "groups": _groups,
    "concept": _concept,
    "low": lambda model, step: _by_rate(model, step)[0],
    "high": lambda model, step: _by_rate(model, step)[1],
}


# ---- of the move from one model to another ----


MOVE: dict[str, Callable[[StepModels], Any]] = {
    "fewer": lambda at: at.before.change_counts.count - at.after.change_counts.count,
    "kept": lambda at: int((at.after.changed_test & at.before.changed_test).sum()),  # changed before, too
    "played": lambda at: at.shown.model() != at.step.end.model(),  # whether the sliders are elsewhere by now
}


# ---- of the path for equal rates ----


# Of the point of `far`'s path with the least mistreatment.
TURN: dict[str, Callable[[pd.Series], float]] = {name: itemgetter(name) for name in ("lambda_fair", "p_rule", "dm")}


# ---- of other methods ----

RIVAL = ("title", "changed", "better", "worse", "worse_share", "p_rule", "accuracy")


def of_rival(at: StepModels, method: str) -> SimpleNamespace:
    """What another method of the step does to people, on test: its title and key figures, and changes in people."""
    return _effects(METHODS[method].title, at.after.scene, at.rivals[method].decisions_test.astype(int))


def _effects(title: str, scene: Scene, decisions: Any) -> SimpleNamespace:
    changes = Changes.of(scene, decisions)
    return SimpleNamespace(
        title=title,
        **scene.figures(decisions),
        changed=changes.count,
        better=changes.better,
        worse=changes.worse,
        worse_share=_share(changes.worse, changes.count),
    )


PAYING = ["title", "p_rule", "accuracy", "changed", "better", "worse"]


def rivals_paying(at: StepModels) -> pd.DataFrame:
    """Who pays: COMMOD with and without its brakes, and the step's other methods. Columns of `PAYING`."""
    brakes = phrase(at.step.language, "lesson.without_brakes")
    own = {"COMMOD": at.after, brakes: at.unbraked}
    rows = [_effects(title, model.scene, model.decisions) for title, model in own.items()]
    rows += [of_rival(at, method) for method, _ in at.step.rivals]
    return pd.DataFrame([vars(row) for row in rows])[PAYING]


def beside_paying(at: StepModels) -> pd.DataFrame:
    """Who pays: the model before the move, after it, and the other one of the step. Columns of `PAYING`."""
    moved = {name for name, _ in (*at.step.goal, *at.step.beside)}
    rows = []
    for model in (at.before, at.after, at.beside):
        values = {control.name: getattr(model.settings, name) for name, control in CONTROLS.items() if name in moved}
        named = [fill(at.step.language, "{of} {value:g}", of=name, value=value) for name, value in values.items()]
        rows.append(vars(_effects(", ".join(named), model.scene, model.decisions)))
    return pd.DataFrame(rows)[PAYING]


# ---- of SHAP ----

DISPUTED = ("label", "rank", "own_rank")


def _disputed(shap: ShapComparison, step: LessonStep) -> SimpleNamespace:
    """The feature that SHAP ranks highest above where the model has it."""
    features = shap.features
    ranks, own = (features[name].rank(ascending=False) for name in ("shap", "commod"))
    most = (own - ranks).idxmax()
    label = declared(step.language, features.loc[most, "label"])
    return SimpleNamespace(label=label, rank=ranks[most], own_rank=own[most])


SHAP: dict[str, Callable[[ShapComparison], Any]] = {
    "named": lambda shap: int((shap.features["shap"] > 1e-6).sum()),
    "agreement": lambda shap: shap.agreement,
    "redraws": lambda shap: shap.redraws,
}


# ---- all of them ----

# The models that a text can speak of, by their names in `StepModels`.
MODELS = ("before", "after", "live", "beside", "far", "other", "unbraked")
# The settings.
SETTINGS = ("start", "end", "here")


def names_at(at: StepModels) -> dict[str, Any]:
    """What the texts of a step can name."""
    of_model = MODEL | {name: lambda model, fact=fact: fact(model, at.step) for name, fact in NAMED.items()}
    return {
        "start": at.step.start,
        "end": at.step.end,
        "here": at.shown,
        **{which: NamedFigures(of_model, partial(getattr, at, which)) for which in MODELS},
        "rivals": NamedFigures({name: partial(of_rival, method=name) for name, _ in at.step.rivals}, lambda: at),
        "move": NamedFigures(MOVE, lambda: at),
        "turn": NamedFigures(TURN, lambda: at.far.path.loc[at.far.path["dm"].idxmin()]),
        "shap": NamedFigures(SHAP | {"disputed": partial(_disputed, step=at.step)}, lambda: at.shap),
    }


def known_names(step: LessonStep) -> set[str]:
    """Everything that `names_at` gives, as it is written in a text: all that a text may name."""
    rivals = _with_parts([name for name, _ in step.rivals], {name: RIVAL for name, _ in step.rivals})
    return {*_known_of_every_step(), *(f"rivals.{name}" for name in rivals)}


@cache
def _known_of_every_step() -> frozenset[str]:
    figures = [name for name, known in FIGURES.items() if not known.by_group]
    parts: dict[str, Iterable[str]] = {
        **dict.fromkeys(_FIGURES, figures),
        **dict.fromkeys(("groups[0]", "groups[1]", "low", "high"), GROUP),
        "concept": CONCEPT,
    }
    model = {*MODEL, *NAMED, *parts} - {"groups"}
    found = {f"{which}.{name}" for which in MODELS for name in _with_parts(model, parts)}
    found |= {f"{which}.{name}" for which in SETTINGS for name, known in CONTROLS.items() if known.grid}
    found |= {f"move.{name}" for name in MOVE} | {f"turn.{name}" for name in TURN}
    found |= {f"shap.{name}" for name in _with_parts(SHAP, {"disputed": DISPUTED})}
    return frozenset(found)


def _with_parts(names: Iterable[str], parts: Mapping[str, Iterable[str]]) -> list[str]:
    return [f"{name}.{part}" for name in parts for part in parts[name]] + [n for n in names if n not in parts]


# ---- the picture of two criteria ----

# What a point of it is, in the order of drawing.
DP, EO, TRUTH, BEGAN, HERE = "dp", "eo", "truth", "began", "here"


def conflict_paths(at: StepModels) -> pd.DataFrame:
    """P-Rule and mistreatment (``p_rule, dm``) along ``lambda_fair``, a path or a point for each ``kind``."""
    columns = ["kind", "lambda_fair", "p_rule", "dm"]
    points = [
        at.far.path.assign(kind=DP),
        at.other.path.assign(kind=EO),
        pd.DataFrame([{"kind": TRUTH, "lambda_fair": np.nan, "p_rule": p_rule_of_labels(at.before), "dm": 0.0}]),
        at.before.path.tail(1).assign(kind=BEGAN),
    ]
    if at.shown.model() != at.step.start.model():  # or one would hide the other
        points.append(at.live.path.tail(1).assign(kind=HERE))
    return pd.concat([path[columns] for path in points], ignore_index=True)


# ---- the picture of two groups ----


def two_groups(base_rates: Sequence[float], quality: float, fair_by: str) -> Counts:
    """100 people of each of two groups as a model of that quality would decide them, fair by one criterion.

    In the group with the larger base rate it finds the share `quality` of those whose label is 1, and as many of the
    others it decides 0. In the other group it does the same (equalized odds), or decides 1 as often there as in the
    first, missing as many whose label is 1 (demographic parity).

    Returns an array (groups, label, decision).
    """
    high = max(base_rates)
    rate = quality * high + (1 - quality) * (1 - high)
    counts = np.zeros((len(base_rates), 2, 2))
    for group, base_rate in enumerate(base_rates):
        falsely = 1 - quality
        if not CRITERIA[fair_by].by_label:
            falsely = (rate - quality * base_rate) / (1 - base_rate)
        counts[group] = [
            [(1 - base_rate) * (1 - falsely), (1 - base_rate) * falsely],
            [base_rate * (1 - quality), base_rate * quality],
        ]
    return 100 * counts
