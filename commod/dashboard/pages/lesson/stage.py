"""A step of the lesson with the models that belong to it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

from commod.dashboard.jobs.results import FitResult
from commod.dashboard.pages.lesson.steps import Step
from commod.dashboard.state.settings import Settings
from commod.explain import ShapComparison


class Models(Protocol):
    """Where a step gets its models from: the app's queue, or straight from the library."""

    def fit(self, settings: Settings) -> FitResult:
        """COMMOD at `settings`."""

    def shap(self, settings: Settings) -> ShapComparison:
        """SHAP beside it."""


class Stage:
    """A step with its models; each is trained when it is first asked for."""

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
    def other(self) -> FitResult:
        """`after`, but trained for equalized odds."""
        return self.instead(fairness="equalized_odds")

    @cached_property
    def shap(self) -> ShapComparison:
        """SHAP beside `after`."""
        return self.models.shap(self.step.end)

    def instead(self, **changes: Any) -> FitResult:
        """`after`, but for some settings."""
        return self.models.fit(replace(self.step.end, **changes))
