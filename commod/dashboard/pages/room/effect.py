"""What a model does to people, in words that everybody knows."""

from typing import Any

import numpy as np

from commod.dashboard.state import session
from commod.dashboard.text.language import declared
from commod.dashboard.text.stories import called, extremes, of_100
from commod.dashboard.text.verdicts import Changes
from commod.dashboard.views.words import say, say_declared
from commod.experiments import Scene
from commod.explain.groups import count_hundred


def effects_of(scene: Scene, decisions: Any) -> list[tuple[str, str]]:
    """Headings and cells: a hundred of each group, who is better or worse off, how often it is right, and f before.

    `decisions` are of the test rows.
    """
    language, spec, test = session.language(), scene.task.spec, scene.test
    before, after = scene.decisions_test, np.asarray(decisions).astype(int)
    rows = count_hundred(scene.task, test, before, after)
    codes = sorted(set(extremes(spec, rows)), key=lambda code: -rows[code]["before"])
    changes, yes = Changes.of(scene, after), declared(language, spec.outcomes[1])
    now, then = (100 * scene.figures(decided)["accuracy"] for decided in (after, before))
    found = []
    for code in codes:
        shares = {when: of_100(language, rows[code], when) for when in ("now", "before")}
        found.append(
            (say("room.pair_of_100", who=called(language, spec, code), yes=yes), say("room.pair_was", **shares))
        )
    whom = {"of": len(test), "people": declared(language, spec.people)}
    return [
        *found,
        (say("room.pair_better", **whom), say_declared(f"{changes.better:,}")),
        (say("room.pair_worse", **whom), say_declared(f"{changes.worse:,}")),
        (say("room.pair_right", **whom), say("room.pair_was_right", now=now, before=then)),
    ]
