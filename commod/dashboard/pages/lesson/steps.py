"""The steps of the lesson as steps.toml declares them, and a step with the models that belong to it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.state.settings import Settings, defaults
from commod.experiments import Model
from commod.explain import ShapComparison


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
    text, told : tuple of paragraphs
        Before the question, and after the answer. A paragraph is a text, or a mapping of ``text`` and ``when``: the
        name of a fact without which it is not said.
    question, answer : mapping
        Texts that make a `script.Question` and a `script.Answer`.
    talk : tuple of str
        To be talked about.
    teacher : str
        What the step is for, and how to lead it.
    goal : tuple of (name, value)
        What the learner sets after the guess; the check is made there.
    free : tuple of str
        Sliders to play with once the answer is known.
    rivals : tuple of (method, value of its knob)
        Other methods that the answer is compared with, about as fair.
    shows : tuple of str
        Parts of the Explore page, and of the lesson, that are drawn with the answer.
    pages : tuple of str
        Where to look further.
    """

    name: str
    title: str
    minutes: int
    start: Settings
    text: tuple[str | Mapping[str, str], ...]
    question: Mapping[str, Any]
    answer: Mapping[str, Any]
    told: tuple[str | Mapping[str, str], ...]
    talk: tuple[str, ...]
    teacher: str
    goal: tuple[tuple[str, Any], ...] = ()
    free: tuple[str, ...] = ()
    rivals: tuple[tuple[str, float], ...] = ()
    shows: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @property
    def end(self) -> Settings:
        """The setting at which the answer is checked."""
        return replace(self.start, **dict(self.goal))


def _read(entry: dict[str, Any]) -> Step:
    start = replace(defaults(entry.pop("data")), **entry.pop("start", {}))
    goal, rivals = (tuple(entry.pop(name, {}).items()) for name in ("goal", "rivals"))
    fixed: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    return Step(start=start, goal=goal, rivals=rivals, **fixed)


STEPS = tuple(_read(entry) for entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["step"])


@dataclass(frozen=True)
class Stage:
    """A step with its models, each made when it is first asked for.

    `fit` gives COMMOD at a setting, `compare` SHAP beside it, and `train` another method on the scene of a setting, its
    knob at a value: from the app's queue, or straight from the library.
    """

    step: Step
    fit: Callable[[Settings], FitResult]
    compare: Callable[[FitResult], ShapComparison]
    train: Callable[[Settings, str, float], Model]

    @cached_property
    def before(self) -> FitResult:
        """At the start of the step."""
        return self.fit(self.step.start)

    @cached_property
    def after(self) -> FitResult:
        """Where the learner is asked to go."""
        return self.fit(self.step.end)

    @cached_property
    def other(self) -> FitResult:
        """`after`, but trained for equalized odds."""
        return self.instead(fairness="equalized_odds")

    @cached_property
    def shap(self) -> ShapComparison:
        """SHAP beside `after`."""
        return self.compare(self.after)

    @cached_property
    def unbraked(self) -> FitResult:
        """`after`, but nothing holds it back: neither staying near f nor sparsity counts."""
        return self.instead(lambda_ratio=0.0, lambda_concepts=0.0)

    @cached_property
    def rivals(self) -> dict[str, Model]:
        """The models of the step's other methods."""
        return {method: self.train(self.step.end, method, value) for method, value in self.step.rivals}

    def instead(self, **changes: Any) -> FitResult:
        """`after`, but for some settings."""
        return self.fit(replace(self.step.end, **changes))
