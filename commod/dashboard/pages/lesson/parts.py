"""What a step of the lesson is made of, and the figures its questions are about, read from trained models."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.state.settings import Settings
from commod.explain import ShapComparison

# What is drawn of the conflict of two criteria.
DP, EO, TRUTH = "Trained for demographic parity", "Trained for equalized odds", "Always right"


class Models(Protocol):
    """Where a step gets its models from: the app's queue, or straight from the library."""

    def fit(self, settings: Settings) -> FitResult:
        """COMMOD at `settings`."""

    def shap(self, settings: Settings) -> ShapComparison:
        """SHAP beside it."""


@dataclass(frozen=True)
class Question:
    """What is asked before anything is moved: for a number, or, if there are options, for one of them."""

    text: str
    unit: str = ""
    most: int = 0
    options: tuple[str, ...] = ()

    def in_words(self, said: float | str) -> str:
        """A guess or an answer as it is read."""
        return said if isinstance(said, str) else f"{said:g} {self.unit}"


@dataclass(frozen=True)
class Answer:
    """What the model says: the number or the option, and the sentence that tells it.

    A number within `near` counts as right, and so do the options in `also`.
    """

    value: float | str
    words: str
    near: float = 0.0
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of the lesson.

    Attributes
    ----------
    name : str
        In links.
    title, minutes
        What it is called, and how long a class takes over it.
    start : Settings
        What the sliders show when the step is opened.
    goal : tuple of (name, value)
        What the learner sets after the guess; the check is made there.
    free : tuple of str
        Sliders to play with once the answer is known.
    text : callable
        Paragraphs before the question.
    question, answer : callable
        Made from the models.
    shows : tuple of str
        Parts of the Explore page, and of the lesson, that are drawn with the answer.
    told : callable
        Paragraphs after it.
    talk : tuple of str
        To be talked about.
    teacher : str
        What the step is for, and how to lead it.
    pages : tuple of str
        Where to look further.
    """

    name: str
    title: str
    minutes: int
    start: Settings
    text: Callable[[Stage], list[str]]
    question: Callable[[Stage], Question]
    answer: Callable[[Stage], Answer]
    told: Callable[[Stage], list[str]]
    talk: tuple[str, ...]
    teacher: str
    goal: tuple[tuple[str, Any], ...] = ()
    free: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def end(self) -> Settings:
        """The setting at which the answer is checked."""
        return replace(self.start, **dict(self.goal))


def check(answer: Answer, said: float | str) -> tuple[bool, str]:
    """Whether a guess is right, and a word on it."""
    if isinstance(answer.value, str) or isinstance(said, str):
        if said in answer.also:
            return True, f"You said: {said}. As far as so few people can tell, that is right, too."
        right = said == answer.value
        return right, "That is what you said." if right else f"You said: {said}."
    off = abs(float(said) - answer.value)
    if off <= 0.5:
        return True, "That is just what you said."
    if off <= answer.near:
        return True, f"You said {said:,.0f}: close."
    return False, f"You said {said:,.0f}: {off:,.0f} {'too many' if said > answer.value else 'too few'}."


class Stage:
    """A step with the models that belong to it."""

    def __init__(self, step: Step, models: Models) -> None:
        self.step = step
        self.models = models

    @cached_property
    def before(self) -> FitResult:
        """At the start of the step."""
        return self.models.fit(self.step.start)

    @cached_property
    def after(self) -> FitResult:
        """Where the learner is asked to go."""
        return self.models.fit(self.step.end)

    @cached_property
    def shap(self) -> ShapComparison:
        """SHAP beside `after`."""
        return self.models.shap(self.step.end)

    def instead(self, **changes: Any) -> FitResult:
        """`after`, but for some settings."""
        return self.models.fit(replace(self.step.end, **changes))


# ---- figures ----


def figure(result: FitResult, name: str, model: str = "g") -> float:
    """A figure of g, or of f, on test."""
    return float(result.figures.loc[name, model])


def group_table(result: FitResult) -> pd.DataFrame:
    """Each group on test: ``group, people, base_rate, positive, wrong`` (rates of 1 and of wrong decisions by f)."""
    test, decisions = result.scene.test, result.scene.decisions_test
    sensitive, y = test.sensitive.to_numpy(), test.y.to_numpy()
    rows = []
    for code, name in enumerate(result.task.groups):
        of = sensitive == code
        rows.append((name, int(of.sum()), y[of].mean(), decisions[of].mean(), (decisions[of] != y[of]).mean()))
    return pd.DataFrame(rows, columns=["group", "people", "base_rate", "positive", "wrong"])


def one_sided(result: FitResult, level: float) -> tuple[tuple[str, int], tuple[str, int]]:
    """How many flips reach a P-Rule: only new positives in the group with fewer, only fewer in the other one."""
    table = group_table(result)
    low, high = (table.loc[i] for i in table["positive"].sort_values().index)
    more = math.ceil(low["people"] * (level * high["positive"] - low["positive"]))
    fewer = math.ceil(high["people"] * (high["positive"] - low["positive"] / level))
    return (str(low["group"]), more), (str(high["group"]), fewer)


def losses(result: FitResult) -> int:
    """How many changes are to the disadvantage of whom they concern."""
    against = "lowered" if result.task.spec.favourable == 1 else "raised"
    return int(result.changes[against].sum())


def mistaken(result: FitResult) -> tuple[int, int]:
    """Changed decisions that are wrong now, by the label: in favour of the person, and against."""
    wrong = result.changed_test & (result.decisions != result.scene.test.y.to_numpy())
    better = result.decisions == result.task.spec.favourable
    return int((wrong & better).sum()), int((wrong & ~better).sum())


def strongest_concept(result: FitResult) -> str:
    """The concept whose people change most."""
    used = result.concepts[result.concepts["features"] > 0]
    return str(used["changed_activated"].astype(float).idxmax())


def level_share(result: FitResult, feature: str) -> tuple[float, float] | None:
    """Share of the second group among the test people of one level, and among all; None if it is no level."""
    column, found, level = feature.partition("=")
    if not found:
        return None
    test = result.scene.test
    second = test.sensitive.to_numpy() == 1
    of = (test.X[column].astype(str) == level).to_numpy()
    return (float(second[of].mean()), float(second.mean())) if of.any() else None


def conflict_paths(at: Stage) -> pd.DataFrame:
    """P-Rule and mistreatment along λ_fair for both criteria, and of the labels themselves.

    Columns ``criterion, lambda_fair, p_rule, dm``.
    """
    paths = [
        at.instead(fairness="demographic_parity").path.assign(criterion=DP),
        at.before.path.tail(1).assign(criterion=DP),  # lies between two points of the path above
        at.instead(fairness="equalized_odds").path.assign(criterion=EO),
        pd.DataFrame({"criterion": [TRUTH], "lambda_fair": [np.nan], "p_rule": [label_rule(at.before)], "dm": [0.0]}),
    ]
    columns = ["criterion", "lambda_fair", "p_rule", "dm"]
    return pd.concat([path[columns] for path in paths]).sort_values(columns[:2], ignore_index=True)


def label_rule(result: FitResult) -> float:
    """P-Rule of the labels themselves."""
    rates = group_table(result)["base_rate"]
    return float(rates.min() / rates.max())
