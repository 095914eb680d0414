"""What if the record is biased? Figures if it misses a share of one group's favourable outcomes.

Suppose that it misses each of them with the same chance m. In any part of the group, chosen without the record, r of n
people are recorded as favourable while t are in truth, and E[r] = (1 − m) t. So r / (1 − m), at most n, estimates t.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.metrics.counts import Counts, counts_of_codes
from commod.metrics.figures import key_figures_of

# The largest share on the slider, and its steps.
MOST, STEP = 0.5, 0.05


def disadvantaged(scene: Scene) -> int:
    """The group to which f gives the favourable decision least often on test."""
    good = scene.decisions_test == scene.task.spec.favourable
    rates = pd.Series(good).groupby(scene.test.sensitive.to_numpy()).mean()
    return int(rates.idxmin())


def shares_to_ask(scene: Scene) -> list[float]:
    """The shares that the record can have missed: f's decisions split the group, and no part can exceed its size."""
    counts = _counts(scene, scene.decisions_test)[disadvantaged(scene)].sum(axis=-1)  # (label, f)
    rates = counts[scene.task.spec.favourable] / np.maximum(counts.sum(axis=0), 1.0)
    most = min(MOST, 1.0 - float(rates.max()))
    return [round(step * STEP, 2) for step in range(int(most / STEP + 1e-9) + 1)]


def figures_if_missed(scene: Scene, decisions: Any, missed: float = 0.0) -> dict[str, float]:
    """The key figures of decisions on test, and ``right``, the share of the changes that are right."""
    counts = if_missed(_counts(scene, decisions), disadvantaged(scene), scene.task.spec.favourable, missed)
    changed = [counts[:, :, old, 1 - old].sum() for old in (0, 1)]
    right = sum(counts[:, 1 - old, old, 1 - old].sum() for old in (0, 1))
    share = float(right / sum(changed)) if sum(changed) else float("nan")
    return key_figures_of(counts, scene.group_sizes) | {"right": share}


def if_missed(counts: Counts, group: int, favourable: int, missed: float) -> Counts:
    """Counts (groups, label, …) if the record had not missed a share of a group's favourable labels."""
    found = counts.copy()
    people = counts[group].sum(axis=0)
    found[group, favourable] = np.minimum(counts[group, favourable] / (1.0 - missed), people)
    found[group, 1 - favourable] = people - found[group, favourable]
    return found


def scene_in_truth(scene: Scene) -> Scene | None:
    """The scene with the true test labels, if the data have them."""
    truth = scene.task.truth
    return None if truth is None else _with_labels(scene, truth.loc[scene.test.y.index].to_numpy())


def _with_labels(scene: Scene, y: np.ndarray) -> Scene:
    return replace(scene, test=replace(scene.test, y=pd.Series(y, scene.test.y.index)))


def _counts(scene: Scene, decisions: Any) -> Counts:
    test = scene.test
    return counts_of_codes(
        test.sensitive, len(scene.task.groups), test.y, scene.decisions_test, np.asarray(decisions), test.weight
    )
