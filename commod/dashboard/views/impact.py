"""Adverse impact in words: the ratio beside four fifths, and Fisher's exact test."""

from typing import Any

import numpy as np

from commod.dashboard.state.settings import Settings
from commod.datasets import load_task
from commod.experiments.scene import Scene
from commod.metrics.fairness import adverse_impact, impact_table
from commod.metrics.figures import CRITERIA

FOUR_FIFTHS = 0.8
BEYOND = "more than chance explains"


def has_four_fifths(settings: Settings) -> bool:
    """Whether the fairness shown is the ratio that the rule is about: P-Rule of the better decision."""
    return CRITERIA[settings.fairness].upward and load_task(settings.task_name).spec.favourable == 1


def impact_in_words(scene: Scene, decisions: Any) -> dict[str, tuple[str, str]]:
    """Of decisions on the test rows: the ratio and the test, each in short and with what stands behind it."""
    task = scene.task
    favourable = np.asarray(decisions) == task.spec.favourable
    found = adverse_impact(impact_table(scene.test.sensitive, task.groups, favourable))
    if found is None:
        return dict.fromkeys(("Adverse impact ratio", "Fisher's exact test"), ("–", "nothing to compare"))
    side = "at or above 4/5" if found.ratio >= FOUR_FIFTHS else "below 4/5"
    p = "p < 0.001" if found.p_value < 0.001 else f"p = {found.p_value:.3f}"
    text = "chance may explain it" if found.p_value >= 0.05 else BEYOND
    return {
        "Adverse impact ratio": (f"{found.ratio:.3f}", f"{side}\n{found.lowest} to {found.highest}"),
        "Fisher's exact test": (p, text),
    }
