"""The figures that the texts of the lesson name, read from trained models.

Without Streamlit: the Lesson page and the teacher's notes say the same. ``{before.changed}`` in steps.toml is the entry
``changed`` of `MODEL`, of the model before the move; `names_at` lists what else can stand there. A figure is computed,
and its model trained, when a text asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.pages.lesson.steps import Stage
from commod.dashboard.text.verdicts import directions
from commod.explain import ShapComparison
from commod.metrics.figures import FIGURES
from commod.models.competitors import METHODS

# Below this, two figures of mistreatment are called the same.
SAME = 0.01


class Facts:
    """Named figures of something, beside its own attributes; it is made when one of them is first asked for."""

    def __init__(self, names: Mapping[str, Callable[[Any], Any]], make: Callable[[], Any]) -> None:
        self._names = names
        self._make = make

    def __getattr__(self, name: str) -> Any:
        compute = self._names.get(name, attrgetter(name))
        value = self.__dict__[name] = compute(self._make())
        return value


# ---- of one model, on test ----


def figure(model: FitResult, name: str, column: str = "g") -> float:
    """A figure of g, or of f."""
    return float(model.figures.loc[name, column])


def group_table(model: FitResult) -> pd.DataFrame:
    """Each group: ``group, people, base_rate, positive, wrong`` (rates of 1 and of wrong decisions by f)."""
    test, decisions = model.scene.test, model.scene.decisions_test
    y = test.y.to_numpy()
    rows = pd.DataFrame({"base_rate": y, "positive": decisions, "wrong": decisions != y})
    groups = rows.groupby(test.sensitive.to_numpy())
    return groups.mean().assign(group=list(model.task.groups), people=groups.size())


def _groups(model: FitResult) -> list[Any]:
    """Each group with its rates in percent, and its changes in people."""
    table = group_table(model).join(model.changes[["changed", "raised", "lowered"]])
    return list(
        table.assign(
            name=table["group"],
            share=100 * table["people"] / table["people"].sum(),
            positives=(table["positive"] * table["people"]).round().astype(int),
            gained=table["raised"] - table["lowered"],
            **100 * table[["base_rate", "positive"]],
        ).itertuples()
    )


def _by_rate(model: FitResult) -> list[Any]:
    """The groups, that of which f decides 1 less often first."""
    return sorted(_groups(model), key=lambda group: group.positive)


def _one_sided(model: FitResult) -> tuple[int, int]:
    """How many flips reach g's P-Rule: only new positives in the group with fewer, only fewer in the other one."""
    level = figure(model, "p_rule")
    low, high = group_table(model).sort_values("positive").itertuples()
    more = math.ceil(low.people * (level * high.positive - low.positive))
    return more, math.ceil(high.people * (high.positive - low.positive / level))


def _changed(model: FitResult) -> int:
    return int(model.changed_test.sum())


def _in_direction(model: FitResult, place: int) -> int:
    """How many changes favour whom they concern (0), or do not (1)."""
    return int(model.changes[directions(model.task.spec)[place][1]].sum())


def mistaken(model: FitResult) -> tuple[int, int]:
    """Changed decisions that are wrong now, by the label: in favour of the person, and against."""
    wrong = model.changed_test & (model.decisions != model.scene.test.y.to_numpy())
    better = model.decisions == model.task.spec.favourable
    return int((wrong & better).sum()), int((wrong & ~better).sum())


def _worse_share(worse: int, changed: int) -> float:
    """In percent; 0 where nothing changed."""
    return 100 * worse / max(changed, 1)


def _p_rule_of_labels(model: FitResult) -> float:
    rates = group_table(model)["base_rate"]
    return float(rates.min() / rates.max())


def _features_used(model: FitResult) -> int:
    """How many features have a weight in r."""
    loadings = model.loadings
    return int(loadings.loc[loadings["loading"] != 0, "feature"].str.partition("=")[0].nunique())


def _concept(model: FitResult) -> SimpleNamespace:
    """The concept whose people change most; of its first feature, if that is a level, who has it."""
    used = model.concepts[model.concepts["features"] > 0]
    name = used["changed_activated"].astype(float).idxmax()
    row, loadings = used.loc[name], model.loadings[model.loadings["concept"] == name]
    first, test = loadings.iloc[0], model.scene.test
    column, _, level = first["feature"].partition("=")
    second_group = (test.sensitive == 1)[test.X[column].astype(str) == level] if level else []
    return SimpleNamespace(
        name=name,
        parts=", ".join(f"“{label}”" for label in loadings.loc[loadings["loading"] > 0, "label"].head(3)),
        activated=row["activated"],
        changed=100 * float(row["changed_activated"]),
        changed_others=100 * float(row["changed_others"]),
        first=first["label"],
        second_group=100 * float(np.mean(second_group)) if len(second_group) else None,
    )


# Shares are in percent; what has no unit in its name is counted in people.
MODEL: dict[str, Callable[[FitResult], Any]] = {
    # Figures of f and of g, and the ends of the intervals of g's: {before.g.p_rule}.
    **{of: lambda model, of=of: model.figures[of] for of in ("f", "g", "g_low", "g_high")},  # type: ignore[misc]
    "people": lambda model: model.task.spec.people,  # what they are called
    "n": lambda model: len(model.changed_test),
    "n_train": lambda model: len(model.task.y) - len(model.changed_test),  # that f learnt from
    "changed": _changed,
    "changed_fourfold": lambda model: 4 * _changed(model),  # more than anybody would guess
    "change_rate": lambda model: 100 * model.changed_test.mean(),
    "better": lambda model: _in_direction(model, 0),
    "worse": lambda model: _in_direction(model, 1),
    "worse_share": lambda model: _worse_share(_in_direction(model, 1), _changed(model)),
    "accuracy_lost": lambda model: -100 * model.figures.loc["accuracy", "difference"],
    "groups": _groups,
    "low": lambda model: _by_rate(model)[0],
    "high": lambda model: _by_rate(model)[1],
    "to_raise_low": lambda model: _one_sided(model)[0],
    "to_lower_high": lambda model: _one_sided(model)[1],
    "p_rule_of_labels": _p_rule_of_labels,
    "mistaken": lambda model: sum(mistaken(model)),
    "mistaken_better": lambda model: mistaken(model)[0],
    "mistaken_worse": lambda model: mistaken(model)[1],
    "mended": lambda model: _changed(model) - sum(mistaken(model)),
    "features": lambda model: len(model.task.spec.features),
    "features_used": _features_used,
    "concept": _concept,
}


# ---- of the move from one model to another ----


def _kept(at: Stage) -> str:
    """How many of those who are changed after the move were so before."""
    same = int((at.after.changed_test & at.before.changed_test).sum())
    return "All" if same == _changed(at.after) else f"{same} of the"


def _mistreatment(at: Stage) -> int:
    """0 if it falls, 1 if it stays the same, 2 if it rises: the place of an option."""
    before, after = (figure(model, "dm") for model in (at.before, at.after))
    return 0 if after < before - SAME else 2 if after > before + SAME else 1


def _may_be_same(at: Stage) -> str:
    """The place of "stays the same", too, where the difference may be chance."""
    return "1" if figure(at.after, "dm", "g_low") <= figure(at.before, "dm") <= figure(at.after, "dm", "g_high") else ""


def _began_better(at: Stage) -> bool:
    """Whether the first model is better by both figures than the one that is trained for equalized odds."""
    return all(FIGURES[name].is_better(figure(at.before, name), figure(at.other, name)) for name in ("dm", "p_rule"))


MOVE: dict[str, Callable[[Stage], Any]] = {
    "fewer": lambda at: _changed(at.before) - _changed(at.after),
    "kept": _kept,
    "mistreatment": _mistreatment,
    "mistreatment_may_be": _may_be_same,
    "began_better": _began_better,
}


# ---- of other methods ----


def of_rival(at: Stage, method: str) -> SimpleNamespace:
    """What another method of the step does to people, on test: its title and key figures, and changes in people."""
    scene, after = at.after.scene, at.rivals[method].decisions_test.astype(int)
    changed = after != scene.decisions_test
    worse = int((changed & (after != scene.task.spec.favourable)).sum())
    return SimpleNamespace(
        title=METHODS[method].title,
        **scene.figures(after),
        changed=int(changed.sum()),
        better=int(changed.sum()) - worse,
        worse=worse,
        worse_share=_worse_share(worse, int(changed.sum())),
    )


def people_paying(at: Stage) -> pd.DataFrame:
    """COMMOD with and without its brakes and the step's other methods: ``title, p_rule, changed, better, worse``."""
    own = [
        SimpleNamespace(
            title=title,
            p_rule=figure(model, "p_rule"),
            changed=_changed(model),
            better=_in_direction(model, 0),
            worse=_in_direction(model, 1),
        )
        for title, model in (("COMMOD", at.after), ("COMMOD without brakes", at.unbraked))
    ]
    rows = [*own, *(of_rival(at, method) for method, _ in at.step.rivals)]
    return pd.DataFrame([vars(row) for row in rows])[["title", "p_rule", "changed", "better", "worse"]]


# ---- of SHAP ----


def _disputed(shap: ShapComparison) -> SimpleNamespace:
    """The feature that SHAP ranks highest above where the model has it."""
    features = shap.features
    ranks, own = (features[name].rank(ascending=False) for name in ("shap", "commod"))
    most = (own - ranks).idxmax()
    return SimpleNamespace(label=features.loc[most, "label"], rank=ranks[most], own_rank=own[most])


SHAP: dict[str, Callable[[ShapComparison], Any]] = {
    "named": lambda shap: int((shap.features["shap"] > 1e-6).sum()),
    "disputed": _disputed,
}


def names_at(at: Stage) -> dict[str, Any]:
    """What the texts of a step can name."""
    return {
        "start": at.step.start,
        "end": at.step.end,
        "before": Facts(MODEL, lambda: at.before),
        "after": Facts(MODEL, lambda: at.after),
        "other": Facts(MODEL, lambda: at.other),
        "unbraked": Facts(MODEL, lambda: at.unbraked),
        "rivals": Facts({name: partial(of_rival, method=name) for name, _ in at.step.rivals}, lambda: at),
        "move": Facts(MOVE, lambda: at),
        "shap": Facts(SHAP, lambda: at.shap),
    }


# ---- the picture of two criteria ----

# Its lines and its point.
DP, EO, TRUTH = "Trained for demographic parity", "Trained for equalized odds", "Always right"


def conflict_paths(at: Stage) -> pd.DataFrame:
    """P-Rule and mistreatment along λ_fair for both criteria, and of the labels themselves.

    Columns ``label, lambda_fair, p_rule, dm``.
    """
    paths = [
        at.after.path.assign(label=DP),
        at.before.path.tail(1).assign(label=DP),  # lies between two points of the path above
        at.other.path.assign(label=EO),
        pd.DataFrame([{"label": TRUTH, "lambda_fair": np.nan, "p_rule": _p_rule_of_labels(at.before), "dm": 0.0}]),
    ]
    columns = ["label", "lambda_fair", "p_rule", "dm"]
    return pd.concat([path[columns] for path in paths]).sort_values(columns[:2], ignore_index=True)
