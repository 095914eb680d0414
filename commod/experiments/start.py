"""Where a new data set opens: the least λ_fair that buys half of the fairness within reach, chosen on training rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commod.experiments.scene import Scene
from commod.experiments.sweep import Report, concept_settings
from commod.metrics.figures import CRITERIA
from commod.models import Commod, WarmStart
from commod.models.collapse import collapse_in_words, judged_elsewhere

__all__ = ["Start", "suited_start"]

# What is tried; all of it stands on the slider.
TRIED = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)
# A start is no result: this many training rows tell enough.
ROWS = 5_000
# By criterion, the share (1 is fair) at which f needs no correction, and the least gain that is one.
FAIR_ENOUGH, LEAST_GAIN = 0.95, 0.02


@dataclass(frozen=True)
class Start:
    """A setting to begin with, and why."""

    lambda_fair: float
    told: str


def suited_start(scene: Scene, fairness: str, report: Report | None = None) -> Start:
    """The least λ_fair at which COMMOD is half as much fairer than f as it can become without collapsing.

    Everything is judged on (at most `ROWS` of) the training rows; the test part is not looked at.
    """
    rows = np.sort(np.random.default_rng(0).permutation(len(scene.train))[:ROWS])
    train, scores = scene.train.take(rows), scene.scores_train[rows]
    criterion, warm_start = CRITERIA[fairness], WarmStart()
    name = criterion.figure.in_sentence
    found: dict[float, float] = {}  # of sound models, the fairness, 1 being fair
    start = 0.0
    for i, lambda_fair in enumerate(TRIED):
        g = Commod(
            scene.f,
            threshold=scene.threshold,
            lambda_fair=lambda_fair,
            fairness=fairness,
            **concept_settings(scene.task),
        )
        with judged_elsewhere():
            g.fit(train.X, train.y, sensitive_features=train.sensitive, base_scores=scores, warm_start=warm_start)
        shares = criterion.share(g.path_[criterion.figure_name].to_numpy())
        start = float(shares[0])
        if start >= FAIR_ENOUGH:
            return Start(0.0, f"f needs no correction here ({name} {_shown(fairness, start)} on the training rows).")
        margins = (g.margin_of_f(train.X, base_scores=scores), g.decision_function(train.X, base_scores=scores))
        if not collapse_in_words(train.y, *margins):
            found[lambda_fair] = float(shares[-1])
        if report is not None:
            report((i + 1) / len(TRIED))
    best = max(found.values(), default=start)
    if best - start < LEAST_GAIN:
        return Start(
            Commod().lambda_fair,
            f"No λ_fair up to {TRIED[-1]:g} makes f fairer on the training rows ({name} {_shown(fairness, start)}) "
            "without ruining it: try an update that may also shift, or another method on the page Compare.",
        )
    chosen = next(value for value, share in found.items() if share - start >= 0.5 * (best - start))
    return Start(
        chosen,
        f"It opens at λ_fair {chosen:g}, the least that buys half of the fairness within reach on the training rows "
        f"({name} {_shown(fairness, start)} for f, {_shown(fairness, found[chosen])} there, "
        f"{_shown(fairness, best)} at best).",
    )


def _shown(fairness: str, share: float) -> str:
    criterion = CRITERIA[fairness]
    return criterion.figure.show(criterion.share(share))
