"""What a model does to people, as a picture has it and in their own words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared
from commod.dashboard.text.stories import called, extremes, of_100
from commod.dashboard.text.verdicts import Changes
from commod.dashboard.views.words import say
from commod.experiments import Scene
from commod.explain.groups import count_hundred


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


def in_peoples_words(scene: Scene, decisions: Any) -> str:
    """`effect_of` a model in sentences, as a list in Markdown."""
    found = effect_of(scene, decisions)
    sentences = [
        say("room.of_100", who=who, now=now, before=before, yes=found.yes) for who, now, before in found.of_100
    ]
    better_worse = {"better": found.better, "worse": found.worse, "of": found.n, "people": found.people}
    now, before = found.right
    sentences += [say("room.better_worse", **better_worse), say("room.right_of_100", now=now, before=before)]
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)
