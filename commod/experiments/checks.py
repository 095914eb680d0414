"""Do the changes of a model make sense? Every check of any method's model on a scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from commod.experiments.refits import Refits
from commod.experiments.scene import Scene
from commod.experiments.sweep import Trained
from commod.explain.checks import Answer, check_again, check_certainty, check_merit, check_record
from commod.explain.merit import explain_merit
from commod.explain.sense import explain_record
from commod.models.base_scores import base_logits

__all__ = ["answers_of", "merit_of_model"]


def merit_of_model(scene: Scene, trained: Trained) -> pd.DataFrame:
    """For whom one more step of merit hurts, see `explain_merit`."""
    test = scene.test

    def margin(X: pd.DataFrame) -> np.ndarray:
        at = test.X.index.get_indexer(X.index)
        return trained.margin(replace(test.take(at), X=X))

    return explain_merit(scene.task, test.X, lambda X: base_logits(scene.f, X), margin)


def answers_of(scene: Scene, trained: Trained, refits: Refits | None = None) -> dict[str, Answer]:
    """Answers to the checks by name; whether it would happen again only where `refits` are given."""
    test, before = scene.test, scene.decisions_test
    after = (trained.margin(test) > 0).astype(int)
    record = explain_record(scene.task, test.y, test.sensitive, before, after)
    found = [
        check_record(record),
        check_certainty(scene.logit_test, before, after),
        check_merit(scene.task, merit_of_model(scene, trained)),
    ]
    if refits is not None:
        found.append(check_again(before != after, refits.share, len(refits)))
    return {answer.check.name: answer for answer in found}
