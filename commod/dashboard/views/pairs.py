"""Models that are asked about in pairs, on Decide and in a room, and what each does in people's words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.dashboard.jobs.service import result_of, scene_of
from commod.dashboard.state import session
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared
from commod.dashboard.text.stories import called, extremes, of_100
from commod.dashboard.text.verdicts import Changes
from commod.dashboard.views.methods import Form, on_explore, own_sweep
from commod.dashboard.views.words import say
from commod.decisions import Interview, models_to_choose_from
from commod.experiments import Scene, Sweep
from commod.explain.groups import count_hundred


@dataclass(frozen=True)
class Offer:
    """What there is to choose from on a scene."""

    settings: Settings  # of whoever asks: their scene and criterion
    scene: Scene
    sweep: Sweep
    interview: Interview

    def decisions(self, place: int) -> np.ndarray:
        """Of a model of the sweep, on test."""
        return self.sweep.models[place].decisions_test

    def there(self, place: int) -> Settings:
        """The settings under which Explore trains a model of the sweep."""
        return on_explore(self.settings, self.sweep.models[place].cell)


def offer_of(settings: Settings, place: Any, form: Form = ()) -> Offer:
    """The models to choose from, waited for with a progress bar at `place`; `form` is what limits their update."""
    sweep: Sweep = result_of(own_sweep(settings, form), place, "Training models to choose from")
    scene = scene_of(settings)
    return Offer(settings, scene, sweep, Interview(models_to_choose_from(scene, sweep)))


@dataclass(frozen=True)
class Effect:
    """What a model does to people: a hundred of each group, who is better and who worse off, how often it is right."""

    yes: str  # the outcome that is counted
    people: str
    of_100: list[tuple[str, str, str]]  # whom, of how many of them it says yes now, and of how many f did
    better: int
    worse: int
    n: int  # people whom it was tested on
    right: tuple[float, float]  # of 100, now and before


def effect_of(scene: Scene, decisions: Any) -> Effect:
    """What a model does to people; `decisions` are of the test rows."""
    language, spec, test = session.language(), scene.task.spec, scene.test
    before, after = scene.decisions_test, np.asarray(decisions).astype(int)
    rows = count_hundred(scene.task, test, before, after)
    codes = sorted(set(extremes(spec, rows)), key=lambda code: -rows[code]["before"])
    changes = Changes.of(scene, after)
    now, then = (100 * scene.figures(decided)["accuracy"] for decided in (after, before))
    return Effect(
        declared(language, spec.outcomes[1]),
        declared(language, spec.people),
        [
            (called(language, spec, code), of_100(language, rows[code], "now"), of_100(language, rows[code], "before"))
            for code in codes
        ],
        changes.better,
        changes.worse,
        len(test),
        (now, then),
    )


def in_peoples_words(scene: Scene, decisions: Any) -> list[str]:
    """`effect_of` a model, in sentences."""
    found = effect_of(scene, decisions)
    sentences = [
        say("room.of_100", who=who, now=now, before=before, yes=found.yes) for who, now, before in found.of_100
    ]
    better_worse = {"better": found.better, "worse": found.worse, "of": found.n, "people": found.people}
    now, before = found.right
    return [*sentences, say("room.better_worse", **better_worse), say("room.right_of_100", now=now, before=before)]


def bullets(texts: list[str]) -> str:
    """Texts as a list in Markdown, whatever they hold."""
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
