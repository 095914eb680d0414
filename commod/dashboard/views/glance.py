"""A model at a glance, as the browser shows it while the hand moves: a few figures, and a hundred people of each group.

What is known of other models comes with the page, so that the picture follows the pointer without asking the server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.jobs.service import get
from commod.dashboard.state import session
from commod.dashboard.state.settings import GRIDS, Settings
from commod.dashboard.text.language import declared, phrase
from commod.dashboard.text.stories import label_of
from commod.experiments import Scene, Sweep
from commod.explain.hundred import count_hundred
from commod.metrics.figures import CRITERIA, FIGURES

# With more groups the dots are smaller.
FEW = 3


def names_of(fairness: str, language: str) -> list[str]:
    """What the figures of a glance are."""
    fair, accuracy, changed = CRITERIA[fairness].figure, FIGURES["accuracy"], FIGURES["change_rate"]
    titles = [declared(language, figure.short_title) for figure in (fair, accuracy, changed)]
    return [*titles, phrase(language, "glance.right")]


def glance(result: FitResult, language: str) -> dict[str, Any]:
    """At the model of a fit; ``at`` is what the slider reads there, ``place`` how far along it is."""

    def made() -> dict[str, Any]:
        figures = {name: result.path[name].iloc[-1] for name in ("fairness", "accuracy", "change_rate")}
        at = session.options("lambda_fair")[result.settings.lambda_fair]
        place = GRIDS["lambda_fair"].index(result.settings.lambda_fair)
        return {"at": at, "place": place, "words": f"λ_fair {at}"} | _of(
            result.scene, result.settings.fairness, result.decisions, figures, language
        )

    found: dict[str, Any] = result.keep(f"glance_{language}", made)
    return found


def line_of(known: list[FitResult], language: str) -> list[dict[str, Any]]:
    """At the models of `known_line`; ``mark`` is which mark of the chart it is."""
    return [glance(result, language) | {"mark": mark} for mark, result in enumerate(known)]


def known_line(settings: Settings) -> list[FitResult]:
    """The models at every λ_fair beside a setting that have been trained so far."""
    line = (tasks.fit(replace(settings, lambda_fair=value)) for value in GRIDS["lambda_fair"])
    found = (get(task, 0, used=False) for task in line)
    return [result for result in found if result is not None]


def frontier_of(result: FitResult, sweep: Sweep, language: str) -> list[dict[str, Any]]:
    """At the models on the frontier of a sweep."""

    def made() -> list[dict[str, Any]]:
        fairness = result.settings.fairness
        points = sweep.points.assign(fairness=sweep.points[CRITERIA[fairness].figure_name])
        return [
            {"place": place, "mark": place, "words": sweep.models[place].cell.words}
            | _of(result.scene, fairness, sweep.models[place].decisions_test, row, language)
            for place, row in enumerate(points.to_dict("records"))
            if row["best"]
        ]

    if language not in sweep.kept:
        sweep.kept[language] = made()
    found: list[dict[str, Any]] = sweep.kept[language]
    return found


def _of(scene: Scene, fairness: str, decisions: np.ndarray, figures: Any, language: str) -> dict[str, Any]:
    task, test, before = scene.task, scene.test, scene.decisions_test
    rows = count_hundred(task, test, before, decisions)
    codes = ordered(rows)
    lines = 3 if len(rows) <= FEW else 2
    changed = decisions != before
    right = int((changed & (decisions == test.y.to_numpy())).sum())
    shown = [
        figure.show(figures[name])
        for name, figure in (
            ("fairness", CRITERIA[fairness].figure),
            ("accuracy", FIGURES["accuracy"]),
            ("change_rate", FIGURES["change_rate"]),
        )
    ]
    told = phrase(language, "glance.of", right=right, changed=int(changed.sum())) if changed.any() else "–"
    return {
        "figures": [*shown, told],
        "groups": [[rows[code][f"of_100_{name}"] for name in ("now", "raised", "lowered")] for code in codes],
        "labels": [label_of(language, task.spec, code, rows[code], lines=lines) for code in codes],
    }


def ordered(rows: dict[int, dict[str, Any]]) -> list[int]:
    """Two groups in their order, more by how often f says yes, which stays while a slider moves."""
    return sorted(rows, key=lambda code: -rows[code]["before"]) if len(rows) > 2 else list(rows)
