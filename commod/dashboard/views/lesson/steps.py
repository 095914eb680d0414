"""A step of a lesson as its scenario declares it, and the step with the models that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from msgspec import Meta, Struct

from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.settings import GRIDS, Settings, controls_of
from commod.experiments import Model
from commod.explain import ShapComparison

_MINUTES = Meta(ge=1, le=240)


class Paragraph(Struct, frozen=True, forbid_unknown_fields=True):
    """A text that is said only where its condition holds, an expression of Jinja."""

    text: str
    when: str = "true"


class LessonStep(Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a lesson, in one language."""

    name: str  # in links
    # What it is called, and how long a class takes over it.
    title: str
    minutes: Annotated[int, _MINUTES] | Annotated[float, _MINUTES]
    start: Settings  # what the sliders show when the step is opened
    # Before the question, and after the answer.
    text: tuple[Paragraph, ...]
    # What is asked before anything is moved, and of what the answer is a number.
    question: str
    answer: str | int | float  # the fact that is the answer: a number, or with options the place of the right one
    says: str  # the sentence that tells the answer, as ``{value}``
    explanation: tuple[Paragraph, ...]
    talk: tuple[str, ...]  # to be talked about
    teacher: str  # what the step is for, and how to lead it
    objective: str = ""  # what learners can do after it, for the teacher's notes
    unit: str = ""
    options: tuple[str, ...] = ()  # what can be answered, where that is no number
    most: str | int | float = ""  # the largest number that can be answered, or the fact that says it
    near: int | float = 0.0  # a number so near to the answer counts as right
    also: str | int | float = ""  # the fact that names the places of other options that are right, too
    goal: tuple[tuple[str, Any], ...] = ()  # what the learner sets after the guess; the check is made there
    # What differs from `start` in another model that the answer is compared with.
    beside: tuple[tuple[str, Any], ...] = ()
    free: tuple[str, ...] = ()  # sliders to play with once the answer is known
    rivals: tuple[tuple[str, float], ...] = ()  # other methods that the answer is compared with, about as fair
    shows: tuple[str, ...] = ()  # what is drawn with the answer: names of `SHOWS`
    pages: tuple[str, ...] = ()  # where to look further
    language: str = "en"
    # How groups, people and outcomes of the data are called in this language, where that is not as in the data.
    names: tuple[tuple[str, str], ...] = ()

    @property
    def end(self) -> Settings:
        """The setting at which the answer is checked."""
        return replace(self.start, **dict(self.goal))

    def called(self, name: str) -> str:
        """A group, the people or an outcome as this language calls them."""
        return dict(self.names).get(name, name)


# What a step can show; `commod.dashboard.pages.lesson.pictures` draws it.
SHOWS = tuple(
    "groups dots curve figures changes beside rivals conflict two_groups concepts shap record biased certainty".split()
)


@dataclass(frozen=True)
class StepModels:
    """A step with its models.

    `fit` gives COMMOD at a setting, `compare` SHAP next to it, and `train` another method on the scene of a setting,
    its knob at a value: from the app's queue, or straight from the library. They cache what they give. `here` is where
    the sliders stand.
    """

    step: LessonStep
    fit: Callable[[Settings], FitResult]
    compare: Callable[[FitResult], ShapComparison]
    train: Callable[[Settings, str, float], Model]
    here: Settings | None = None

    @property
    def before(self) -> FitResult:
        """At the start of the step."""
        return self.fit(self.step.start)

    @property
    def after(self) -> FitResult:
        """Where the learner is asked to go."""
        return self.fit(self.step.end)

    @property
    def shown(self) -> Settings:
        """Where the sliders stand, as long as they are on the step's scene: who has the answer may play on."""
        here, end = self.here, self.step.end
        if here is None or here.problem() != end.problem():
            return end
        return replace(end, **{name: getattr(here, name) for name in controls_of("model")})

    @property
    def live(self) -> FitResult:
        """The model of the sliders."""
        return self.fit(self.shown)

    @property
    def beside(self) -> FitResult:
        return self.fit(replace(self.step.start, **dict(self.step.beside)))

    @property
    def far(self) -> FitResult:
        """`after`, but as much fairness is asked for as can be."""
        return self.instead(lambda_fair=GRIDS["lambda_fair"][-1])

    @property
    def other(self) -> FitResult:
        """`far`, but trained for equalized odds."""
        return self.instead(lambda_fair=GRIDS["lambda_fair"][-1], fairness="equalized_odds")

    @property
    def shap(self) -> ShapComparison:
        return self.compare(self.after)

    @property
    def unbraked(self) -> FitResult:
        """`after`, but nothing holds it back: neither staying near f nor sparsity counts."""
        return self.instead(lambda_ratio=0.0, lambda_concepts=0.0)

    @property
    def rivals(self) -> dict[str, Model]:
        return {method: self.train(self.step.end, method, value) for method, value in self.step.rivals}

    def instead(self, **changes: Any) -> FitResult:
        """`after`, but for some settings."""
        return self.fit(replace(self.step.end, **changes))
