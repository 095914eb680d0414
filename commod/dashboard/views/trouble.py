"""What is wrong with a model though its figures look well, for pages and for the report."""

import numpy as np

from commod.dashboard.model.fitted import FitResult
from commod.explain.base_model_warnings import base_model_warnings
from commod.explain.model_warnings import model_warnings


def trouble_in_words(result: FitResult) -> list[str]:
    """What is wrong with a model, or with f, that fairness and accuracy do not show, on test."""

    def made() -> list[str]:
        scene, test, task = result.scene, result.scene.test, result.task
        doubts = base_model_warnings(task, test.y, test.sensitive, scene.scores_test, scene.threshold)
        alike = len(np.unique(scene.decisions_test)) == 1
        grave = [doubt.text for doubt in doubts if doubt.is_question or (alike and doubt.kind == "one-sided")]
        margins, frames = (scene.logit_test, result.logit), (result.figures, result.path)
        return grave + model_warnings(task, result.settings.fairness, test.y, test.sensitive, *margins, *frames)

    told: list[str] = result.keep("trouble", made)
    return told
