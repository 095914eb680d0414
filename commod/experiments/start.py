"""Where a new data set opens: the least λ_fair that buys half of the fairness within reach, chosen on training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.experiments.scene import Scene
from commod.experiments.sweep import Report, concept_settings
from commod.explain.doubts import are_treated_alike
from commod.metrics.figures import CRITERIA
from commod.models import Commod, WarmStart
from commod.models.collapse import collapse_in_words, judged_elsewhere

__all__ = ["Start", "suited_start"]

# What is tried; all of it stands on the slider.
TRIED = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)
# In this order.
UPDATES = ("ratio", "affine")
# A start is no result: this many training rows tell enough.
ROWS = 5_000
# Under equalized odds, the share (1 is fair) at which f needs no correction; and the least part of what is unfair that
# counts as a gain.
FAIR_ENOUGH, LEAST_GAIN = 0.95, 0.1


@dataclass(frozen=True)
class Start:
    """A setting to begin with (arguments of `Commod`), and why."""

    settings: Mapping[str, Any]
    told: str


def suited_start(scene: Scene, fairness: str, report: Report | None = None) -> Start:
    """The least λ_fair at which COMMOD is half as much fairer than f as it can become without collapsing.

    The paper's update is tried first, and one that may also shift if that makes nothing fairer. Everything is judged on
    (at most `ROWS` of) the training rows; the test part is not looked at.
    """
    criterion = CRITERIA[fairness]
    name = criterion.figure.in_sentence

    def shown(share: float) -> str:
        return criterion.figure.show(criterion.share(share))

    start, touched = 0.0, None
    for i, update in enumerate(UPDATES):

        def share_of_all(share: float, i: int = i) -> None:
            if report is not None:
                report((i + share) / len(UPDATES))

        start, found, changing = _fairness_by_strength(scene, fairness, update, share_of_all)
        if not found:
            told = f"On the training rows f treats the groups alike, as far as can be told ({name} {shown(start)}): "
            return Start({"lambda_fair": 0.0}, told + "the pages open with f as it is.")
        if touched is None and changing:
            touched = changing[0], update
        best = max(found.values())
        if best - start < LEAST_GAIN * (1.0 - start):
            continue
        chosen = next(value for value, share in found.items() if share - start >= 0.5 * (best - start))
        shifts = "" if update == UPDATES[0] else " with an update that may also shift, since multiplying alone does not"
        return Start(
            {"lambda_fair": chosen, "update": update},
            f"It opens at λ_fair {chosen:g}{shifts}: the least that buys half of the fairness within reach on the "
            f"training rows ({name} {shown(start)} for f, {shown(found[chosen])} there, {shown(best)} at best).",
        )
    told = (
        f"No λ_fair up to {TRIED[-1]:g} makes f fairer on the training rows ({name} {shown(start)}) without ruining "
        "it: look at what other methods do on the page Compare."
    )
    if touched is None:
        return Start({}, f"{told} Nor does any change a single decision.")
    lambda_fair, update = touched
    return Start({"lambda_fair": lambda_fair, "update": update}, f"{told} It opens where the first decisions change.")


def _fairness_by_strength(
    scene: Scene, fairness: str, update: str, report: Report
) -> tuple[float, dict[float, float], list[float]]:
    """The fairness of f, that of each sound model by its λ_fair, f at 0, and the λ_fair of those that change decisions.

    1 is fair; there are no models, if f is.
    """
    rows = np.sort(np.random.default_rng(0).permutation(len(scene.train))[:ROWS])
    train, scores = scene.train.take(rows), scene.scores_train[rows]
    warm_start = WarmStart()
    before = (scene.logit_train[rows] > 0).astype(int)
    criterion = CRITERIA[fairness]

    def fairness_of(decided: np.ndarray) -> float:
        groups = len(scene.task.groups)
        figure = criterion.figure.of_decisions(train.sensitive, groups, train.y, decided, train.weight)
        return float(criterion.share(figure))

    start = fairness_of(before)
    if start >= FAIR_ENOUGH if criterion.by_label else are_treated_alike(train.sensitive, before):
        return start, {}, []
    found, changing = {0.0: start}, []
    for i, lambda_fair in enumerate(TRIED):
        g = Commod(
            scene.f,
            threshold=scene.threshold,
            lambda_fair=lambda_fair,
            fairness=fairness,
            update=update,
            **concept_settings(scene.task),
        )
        with judged_elsewhere():
            g.fit(**train.fit_arguments, base_scores=scores, warm_start=warm_start)
        margin = g.decision_function(train.X, base_scores=scores)
        if not collapse_in_words(train.y, g.margin_of_f(train.X, base_scores=scores), margin):
            found[lambda_fair] = fairness_of(margin > 0)
            if ((margin > 0) != before).any():
                changing.append(lambda_fair)
        report((i + 1) / len(TRIED))
    return start, found, changing
