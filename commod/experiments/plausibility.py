"""Do changes make sense? What decisions alone tell, of any method, without its model."""

from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.explain.checks import Answer, check_certainty, check_record
from commod.explain.plausibility import SURE, explain_record

# The checks that decisions alone answer.
AT_HAND = ("right", "sure")


def answers_of_decisions(scene: Scene, decisions: Any, record: pd.DataFrame | None = None) -> dict[str, Answer]:
    """Answers to the checks of `AT_HAND` by name, of decisions on the test rows; `record` if it is at hand."""
    test, before, after = scene.test, scene.decisions_test, np.asarray(decisions).astype(int)
    if record is None:
        record = explain_record(scene.task, test.y, test.sensitive, before, after, scene.certainty_test)
    found = (check_record(record), check_certainty(scene.certainty_test, before, after))
    return {answer.check.name: answer for answer in found}


def shares_of_decisions(scene: Scene, decisions: Any) -> dict[str, float]:
    """The same as shares, for every model of a sweep: counted without what is told; NaN where nobody changed."""
    after = np.asarray(decisions).astype(int)
    changed = after != scene.decisions_test
    if not changed.any():
        return dict.fromkeys(AT_HAND, float("nan"))
    right = after[changed] == scene.test.y.to_numpy()[changed]
    return {"right": float(right.mean()), "sure": float((scene.certainty_test[changed] > SURE).mean())}
