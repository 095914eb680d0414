"""What is possible on a scene's test rows: the exact bound with S known, and how close models come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.experiments.sweep import Report, fairness_gain
from commod.metrics.figures import CRITERIA
from commod.models.rescaler import acts_on_of
from commod.theory import (
    best_curve,
    blind_curve,
    chance_of_group,
    fails_from,
    fewest_to_reach,
    interventions_by_demand,
    switching_point,
)

# With fewer test rows of a group nothing of it can be learnt.
MIN_OF_GROUP = 20


@dataclass(frozen=True)
class Limits:
    """The exact bound of a scene under a criterion."""

    # ``changes, change_rate, fairness``: the best P-Rule, or the lowest mistreatment, that so many flips can reach; of
    # a weighted test part, flips of so much weight, in rows of mean weight.
    curve: pd.DataFrame
    # The first `changes` with a fairness beyond `Criterion.nearly_fair`: the fairest there is, rounding aside.
    fair_from: int | None
    switching_point: int | None  # K_s of the paper; for demographic parity of two groups
    printed_fails_from: int | None  # smallest K at which the paper's allocation is not the best; of two groups
    people: int

    def at(self, change_rate: float) -> float:
        allowed = self.curve["change_rate"].to_numpy() <= change_rate + 1e-12
        return float(self.curve["fairness"].to_numpy()[allowed][-1])


def limits_of(scene: Scene, fairness: str, direction: str = "both", *, most: float = 0.4) -> Limits:
    """The bound on the test rows, up to a share `most` of decisions changed.

    The switching point and the propositions are for both directions and two groups.
    """
    test, decided, n_groups = scene.test, scene.decisions_test, len(scene.task.groups)
    flips = int(most * len(test))
    criterion = CRITERIA[fairness]
    curve, free = _curve(scene, fairness, flips, direction), direction == "both" and n_groups == 2
    fair = criterion.gain(curve["fairness"]) > criterion.gain(criterion.nearly_fair)
    return Limits(
        curve,
        int(curve["changes"][fair].iloc[0]) if fair.any() else None,
        switching_point(decided, sensitive_features=test.sensitive) if free and not criterion.by_label else None,
        fails_from(test.y, decided, sensitive_features=test.sensitive, fairness=fairness, max_changes=flips)
        if free
        else None,
        len(test),
    )


def _given(scene: Scene) -> dict[str, Any]:
    test = scene.test
    others = {"sensitive_features": test.sensitive, "scores": scene.scores_test, "sample_weight": test.weight}
    return {"y_true": test.y, "y_pred": scene.decisions_test} | others


def fewest_at_levels(scene: Scene, fairness: str, levels: Sequence[float]) -> tuple[float | None, ...]:
    """The fewest changes on the test rows that reach each level of fairness in expectation, group and score known."""
    given = _given(scene)
    return tuple(fewest_to_reach(fairness=fairness, level=each, **given) for each in levels)


def interventions_of(scene: Scene) -> pd.DataFrame:
    """The fewest changes on the test rows for each sense of fairness and for several together, the group known."""
    return interventions_by_demand(**_given(scene))


def blind_limits_of(scene: Scene, fairness: str, direction: str = "both", report: Report | None = None) -> pd.DataFrame:
    """What rules that do not know the group can expect on the test rows: `commod.theory.blind_curve`.

    P(S | x) is learnt by gradient boosting; ``low, high`` also cover a logistic regression in its place. Empty for
    equalized odds, more than two groups, and groups of fewer than `MIN_OF_GROUP` test rows.
    """
    train, test = scene.train, scene.test
    sizes = scene.group_sizes
    if CRITERIA[fairness].by_label or len(sizes) != 2 or sizes.min() < MIN_OF_GROUP:
        return pd.DataFrame({name: [] for name in ("change_rate", "fairness", "low", "high", "counted")})
    known = train.sensitive.to_numpy() >= 0
    seen = np.column_stack([scene.encoded_train, scene.logit_train])[known]
    weight = None if train.weight is None else train.weight.to_numpy()[known]
    groups = test.sensitive.to_numpy()
    X, more = np.column_stack([scene.encoded_test, scene.logit_test]), (seen, train.sensitive.to_numpy()[known], weight)
    acts_on = acts_on_of(direction, scene.task.spec.favourable)
    curve, other = (
        blind_curve(
            scene.decisions_test,
            sensitive=groups,
            chance=chance_of_group(X, groups, more=more, weight=test.weight, learner=learner, report=told),
            weight=test.weight,
            acts_on=acts_on,
        )
        for learner, told in (("boosting", report), ("linear", None))
    )
    for end, further in (("low", np.minimum), ("high", np.maximum)):
        curve[end] = further(curve[end], np.interp(curve["change_rate"], other["change_rate"], other[end]))
    return curve


def _curve(scene: Scene, fairness: str, flips: int, direction: str) -> pd.DataFrame:
    test = scene.test
    curve = best_curve(
        test.y,
        scene.decisions_test,
        fairness=fairness,
        sensitive_features=test.sensitive,
        max_changes=flips,
        acts_on=acts_on_of(direction, scene.task.spec.favourable),
        sample_weight=test.weight,
    )
    return curve.rename(columns={CRITERIA[fairness].figure_name: "fairness"})[["changes", "change_rate", "fairness"]]


def best_within(points: pd.DataFrame, fairness: str, change_rate: float) -> pd.Series | None:
    """Of models, the fairest that changes at most this share of decisions; None if there is none."""
    near = points[points["change_rate"] <= change_rate + 1e-12]
    return None if near.empty else near.loc[fairness_gain(near, fairness).idxmax()]
