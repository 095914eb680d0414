"""A model in people's words, for who has never heard of a P-Rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared
from commod.dashboard.text.stories import called, of_100, rows_of
from commod.dashboard.text.verdicts import changes_by_direction
from commod.dashboard.views.words import say
from commod.experiments import Scene
from commod.explain.hundred import explain_hundred
from commod.metrics import change_table, compared_groups


def in_peoples_words(scene: Scene, decisions: Any) -> list[str]:
    """What a model does to a hundred people of each group, who is better and who worse off, and how often it errs.

    `decisions` are of the test rows.
    """
    language, spec, test = session.language(), scene.task.spec, scene.test
    before, after = scene.decisions_test, np.asarray(decisions).astype(int)
    rows = rows_of(explain_hundred(scene.task, test, before, after))
    large = compared_groups([row["count"] for row in rows.values()])
    codes = sorted(
        (code for code, seen in zip(rows, large, strict=True) if seen), key=lambda code: -rows[code]["before"]
    )
    yes = declared(language, spec.outcomes[1])
    told = [
        say(
            "room.of_100",
            who=called(language, spec, code),
            now=of_100(language, rows[code]["of_100_now"], rows[code]["now"]),
            before=of_100(language, rows[code]["of_100_before"], rows[code]["before"]),
            yes=yes,
        )
        for code in dict.fromkeys((codes[0], codes[-1]))
    ]
    table = change_table(before, after, sensitive_features=test.sensitive, sample_weight=test.weight)
    changes = changes_by_direction(spec, table)
    better, worse = (sum(row["count"] for row in changes if row["place"] == place) for place in (0, 1))
    people = declared(language, spec.people)
    told.append(say("room.better_worse", better=better, worse=worse, of=len(test), people=people))
    right = [100 * scene.figures(decided)["accuracy"] for decided in (after, before)]
    told.append(say("room.right_of_100", now=right[0], before=right[1]))
    return told


def bullets(texts: list[str]) -> str:
    """Texts as a list in Markdown, whatever they hold."""
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)
