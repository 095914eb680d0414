"""The best model of a method's sweep under requirements; if none meets them, the nearest and what it breaks.

Collapsed models, and models that change nobody and break what f breaks, come last.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import Facts, facts_of
from commod.decisions.requirements import RULES, Requirements
from commod.decisions.verdicts import Verdict, check_requirements, overall
from commod.experiments.scene import Scene
from commod.experiments.sweep import Model, Sweep
from commod.models.evaluation import collapse_in_words, overturned_in_words

# How many of the models that meet the requirements are checked, to find one that meets them beyond doubt.
LOOKED_AT = 10


@dataclass(frozen=True)
class BestModel:
    """The best model of a method under requirements."""

    model: Model
    facts: Facts
    checked: pd.DataFrame  # from `check_requirements`
    collapse: str = ""  # why it counts as collapsed, see `collapse_of`; empty for a sound model

    @property
    def verdict(self) -> Verdict:
        return "fail" if self.collapse else overall(self.checked)

    @property
    def is_f(self) -> bool:
        """Whether it decides about everybody as f does."""
        return not self.facts.changed


def collapse_of(scene: Scene, decisions: Any, scores: Any = None) -> str:
    """Why a model counts as collapsed, in a sentence; empty for a sound one.

    It decides everybody alike, changes more decisions than that would, or its scores no longer rank people. `decisions`
    and `scores` (its probabilities, if it has any) are of the test rows.
    """
    after = np.asarray(decisions).astype(int)
    if len(np.unique(after)) == 1 and len(np.unique(scene.decisions_test)) > 1:
        return "It decides everybody alike."
    if scores is None:  # decisions alone do not rank people
        return " ".join(overturned_in_words(scene.decisions_test, after, "It"))
    return " ".join(collapse_in_words(scene.test.y, scene.logit_test, np.asarray(scores) - scene.threshold, "It"))


def collapses_of(scene: Scene, sweep: Sweep) -> tuple[str, ...]:
    """Why each model of a sweep has collapsed; empty for a sound one."""
    return tuple(collapse_of(scene, model.decisions_test, model.scores_test) for model in sweep.models)


def shortfalls(requirements: Requirements, scene: Scene, sweep: Sweep) -> pd.DataFrame:
    """How far each model of a sweep is on the wrong side of each requirement that depends only on its decisions.

    One row per model; one column per limit except ``again``, which needs refits, and ``direction`` (the share of
    decisions that changed against it): 0 where it is met. All but P-Rule and mistreatment are shares.
    """
    of_f, columns = scene.figures(scene.decisions_test)["accuracy"], {}
    points = sweep.points.assign(accuracy_lost=of_f - sweep.points["accuracy"], changed=sweep.points["change_rate"])
    for name, limit in requirements.limits.items():
        if name != "again":
            values = share_against("improve", scene, sweep) if name == "worse_off" else points[name]
            short = RULES[name].sign * (limit - values)
            columns[name] = short.where(short > 1e-12, 0.0)  # NaN, where nobody changed, is no shortfall
    if requirements.direction:
        columns["direction"] = share_against(requirements.direction, scene, sweep)
    return pd.DataFrame(columns, index=points.index)


def share_against(direction: str, scene: Scene, sweep: Sweep) -> pd.Series:
    """For each model, the share of decisions that changed for the worse ("improve") or for the better ("worsen")."""
    good = scene.task.spec.favourable
    lost = good if direction == "improve" else 1 - good
    against = [(scene.decisions_test == lost) & (model.decisions_test != lost) for model in sweep.models]
    return pd.Series([np.average(each, weights=scene.test.weight) for each in against], index=sweep.points.index)


def best_under(requirements: Requirements, scene: Scene, sweep: Sweep) -> BestModel:
    """The best model of a sweep under requirements.

    Among models that meet them on test: the most accurate one that does so beyond doubt, otherwise the most accurate;
    of equal ones, the one with fewer changes. If none meets them: the smallest sum of `shortfalls` among models that
    change anybody. A model that changes nobody is chosen only if it meets requirements that apply to it, or no other is
    sound; a collapsed one only if all are. It is judged on the people it is chosen on, which flatters it a little.
    """
    short = shortfalls(requirements, scene, sweep)
    total = short.sum(axis=1).to_numpy()
    points = sweep.points
    collapse = collapses_of(scene, sweep)
    unsound = np.array([bool(reason) for reason in collapse])
    applies = bool(requirements.kept_out or requirements.direction)
    applies |= not all(RULES[name].of_changes for name in requirements.limits)
    idle = (points["change_rate"].to_numpy() == 0) & ((total > 0) | (not applies))
    order = np.lexsort((points["change_rate"].to_numpy(), -points["accuracy"].to_numpy(), total, idle, unsound))
    meeting = [int(place) for place in order if total[place] == 0 and not unsound[place]]
    found: list[BestModel] = []
    for place in (meeting or [int(order[0])])[:LOOKED_AT]:
        model = sweep.models[place]
        facts = facts_of(scene, model.decisions_test, model.cell)
        checked = check_requirements(requirements, facts)
        found.append(BestModel(model, facts, checked, collapse[place]))
        if not _doubts(found[-1]):
            break
    return min(found, key=_doubts)


def _doubts(best: BestModel) -> int:
    """How many of its verdicts are not a clear pass."""
    return int((best.checked["verdict"] != "pass").sum())
