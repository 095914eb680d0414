"""The models that can be decided for: that of the sliders, f as it is, and the best of every method."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.service import get, result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.methods import best_label, on_explore, own_method
from commod.dashboard.views.model import known_splits
from commod.decisions import (
    BestModel,
    Facts,
    Requirements,
    check_requirements,
    collapse_of,
    facts_of,
    facts_of_f,
    overall,
)
from commod.decisions.verdicts import Verdict
from commod.experiments import Sweep
from commod.experiments import checks as library
from commod.experiments.refits import Refits, n_refits
from commod.experiments.scene import SceneKey
from commod.experiments.sweep import Cell
from commod.models.competitors import METHODS

# Names of the two that are no method's best.
SCREEN, KEPT_F = "screen", "f"
# What is said of a model that changes nobody.
AS_F = "the same decisions as f"

# Scenes and criteria on which the others are refitted, too: it takes a minute and more, so somebody has to ask for it.
asked_refits: PageState[set[tuple[SceneKey, str]]] = PageState("decide_refits", set)

# The part of the page that is scrolled to next, by its anchor.
shown: PageState[str] = PageState("decide_shown", str)


def offer_setting(place: Any, label: str, there: Settings) -> None:
    """A button that goes to a setting and shows what is required of it."""

    def take() -> None:
        session.go_to(there)
        shown.set("verdict")

    why_not = None if session.can_go_to(there) else tip("frozen")
    place.button(label, icon=":material/tune:", on_click=take, disabled=bool(why_not), help=why_not)


@dataclass(frozen=True)
class Candidate:
    """A model that can be decided for, and how it stands under the requirements."""

    name: str  # `SCREEN`, `KEPT_F` or a method's
    # As it is called, and where its knobs stand.
    title: str
    setting: str
    cell: Cell | None  # None: f
    decisions: np.ndarray
    facts: Facts
    checked: pd.DataFrame
    collapse: str = ""  # why it counts as collapsed; empty for a sound model
    there: Settings | None = None  # where the sliders make it, if they do

    @property
    def verdict(self) -> Verdict:
        return "fail" if self.collapse else overall(self.checked)

    @property
    def subject(self) -> str:
        """As it is called in a sentence."""
        text = {SCREEN: "the model on your screen", KEPT_F: "f"}.get(self.name, self.title)
        text = text.replace(", best", "'s best")
        return f"{text} ({AS_F})" if self.is_as_f else text

    @property
    def is_as_f(self) -> bool:
        """Whether it is another model than f and decides as f does about everybody."""
        return self.name != KEPT_F and not self.facts.changed

    @property
    def in_full(self) -> str:
        """As it is called where nothing else says what is meant: method and setting."""
        return self.title if self.cell is None else f"{METHODS[self.cell.method].title} ({self.setting})"

    @property
    def met(self) -> int:
        """How many requirements it meets; one that does not apply is not met."""
        return int((self.checked["verdict"] == "pass").sum())


def on_screen(result: FitResult, required: Requirements) -> Candidate:
    """The model of the sliders, with its refits and other splits if they are there."""
    refits, splits = refits_of_screen(result), known_splits(result)
    name = f"facts {refits is not None} {splits is not None}"
    facts: Facts = result.keep(name, lambda: facts_of(result.scene, result.decisions, result.cell, refits, splits))
    collapse: str = result.keep("collapse", lambda: collapse_of(result.scene, result.decisions, result.scores))
    checked = check_requirements(required, facts)
    if refits is None and facts.changed:  # this page always asks for them
        checked = _refits_are_coming(checked)
    here = result.settings
    return Candidate(
        SCREEN, "On your screen", in_words(here), result.cell, result.decisions, facts, checked, collapse, here
    )


def _refits_are_coming(checked: pd.DataFrame) -> pd.DataFrame:
    """The same, where it takes refits to tell and they are being computed."""
    waits = (checked["requirement"] == "again") & checked["value"].isna()
    text = "It takes refits to tell, and they are being computed."
    return checked.assign(sentence=checked["sentence"].mask(waits, text))


def refits_of_screen(result: FitResult) -> Refits | None:
    """Refits of the model of the sliders, if they are there."""
    found: Refits | None = get(tasks.refits(result))
    return found


def f_as_it_is(result: FitResult, required: Requirements) -> Candidate:
    """f, left as it is."""
    facts: Facts = result.keep("facts of f", lambda: facts_of_f(result.scene))
    checked = check_requirements(required, facts)
    return Candidate(KEPT_F, "f, as it is", "", None, result.scene.decisions_test, facts, checked)


def best_of(settings: Settings, result: FitResult, sweep: Sweep, required: Requirements) -> Candidate:
    """The best model of a method, with its refits if they are there."""
    best: BestModel = result_of(tasks.best(settings, required, sweep))
    cell, decisions, facts, checked = best.model.cell, best.model.decisions_test, best.facts, best.checked
    found = [get(task) for task in again(settings, result, cell)]
    refits, splits = found[0], found[1] if len(found) > 1 else None
    if refits is not None:
        name = f"facts of {cell} {splits is not None}"
        facts = result.keep(name, lambda: facts_of(result.scene, decisions, cell, refits, splits))
        checked = check_requirements(required, facts)
    elif settings.problem() in asked_refits() and facts.changed:
        checked = _refits_are_coming(checked)
    there = on_explore(settings, cell) if METHODS[sweep.method].is_commod else None
    title = best_label(sweep.method, settings)
    return Candidate(sweep.method, title, cell.words, cell, decisions, facts, checked, best.collapse, there)


def again(settings: Settings, result: FitResult, cell: Cell) -> list[ComputeTask]:
    """The model of another method fitted again: on resampled training rows, and on other splits if there are any."""
    found = [tasks.refits_of_model(settings, cell, library.COMPARED_REFITS)]
    splits = n_refits(result.scene, "splits")
    return [*found, *([tasks.refits_of_model(settings, cell, splits, "splits")] if splits else [])]


def candidates_in_order(
    settings: Settings, result: FitResult, sweeps: dict[str, Sweep], required: Requirements
) -> list[Candidate]:
    """The model of the sliders and f, then COMMOD's best unless that is it, then the others in a fixed order."""
    here = [on_screen(result, required), f_as_it_is(result, required)]
    found = {name: best_of(settings, result, sweeps[name], required) for name in METHODS if name in sweeps}
    own = found.pop(own_method(settings), None)
    if own is not None and own.there is not None and own.there.model() == result.settings:
        here[0] = replace(here[0], title=f"On your screen: {own.title}")
    elif own is not None:
        here.append(own)
    return [*here, *found.values()]
