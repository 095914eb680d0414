"""A model in people's words, for who has never heard of a P-Rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared
from commod.dashboard.text.stories import called, of_100
from commod.dashboard.text.verdicts import changes_by_direction
from commod.dashboard.views.words import say
from commod.experiments import Scene
from commod.explain.hundred import count_hundred
from commod.metrics import change_table, compared_groups


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
    large = compared_groups([row["count"] for row in rows.values()])
    codes = sorted(
        (code for code, seen in zip(rows, large, strict=True) if seen), key=lambda code: -rows[code]["before"]
    )
    table = change_table(before, after, sensitive_features=test.sensitive, sample_weight=test.weight)
    changes = changes_by_direction(spec, table)
    better, worse = (sum(row["count"] for row in changes if row["place"] == place) for place in (0, 1))
    now, then = (100 * scene.figures(decided)["accuracy"] for decided in (after, before))
    return Effect(
        declared(language, spec.outcomes[1]),
        declared(language, spec.people),
        [
            (
                called(language, spec, code),
                of_100(language, rows[code]["of_100_now"], rows[code]["now"]),
                of_100(language, rows[code]["of_100_before"], rows[code]["before"]),
            )
            for code in dict.fromkeys((codes[0], codes[-1]))
        ],
        better,
        worse,
        len(test),
        (now, then),
    )


def in_peoples_words(scene: Scene, decisions: Any) -> list[str]:
    """`effect_of` a model, in sentences."""
    found = effect_of(scene, decisions)
    told = [say("room.of_100", who=who, now=now, before=before, yes=found.yes) for who, now, before in found.of_100]
    better_worse = {"better": found.better, "worse": found.worse, "of": found.n, "people": found.people}
    now, before = found.right
    return [*told, say("room.better_worse", **better_worse), say("room.right_of_100", now=now, before=before)]


def bullets(texts: list[str]) -> str:
    """Texts as a list in Markdown, whatever they hold."""
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
