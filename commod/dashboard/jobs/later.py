"""The model of the sliders as a file, without Streamlit."""

from __future__ import annotations

import numpy as np

from commod import __version__
from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.state.settings import data_in_words, in_words
from commod.explain import ChangeTree
from commod.models.base_models import BASE_MODELS
from commod.models.export import portable_json
from commod.monitoring import reference_of


def base_model_in_words(result: FitResult) -> str:
    """What f is."""
    if isinstance(result.scene.f, str):
        return f"scores in the column “{result.scene.f}”"
    name = result.settings.f
    return BASE_MODELS[name][0] if name in BASE_MODELS else name


def model_json(result: FitResult, tree: ChangeTree | None, rows: np.ndarray | None = None) -> str:
    """The model for `commod.portable`, with what it was like on the test people, or on those at `rows`.

    `tree` is that of the changes, or None where no decision of the training part changes.
    """
    spec, scene = result.task.spec, result.scene
    about = {
        "data": data_in_words(result.settings),
        "positive class": spec.outcomes[1],
        "f": base_model_in_words(result),
        "settings": in_words(result.settings),
        "made by": f"commod {__version__}",
    }
    rows = np.arange(len(scene.test)) if rows is None else rows
    margins = scene.logit_test[rows], result.logit[rows]
    tested_on = reference_of(result.task, scene.test.take(rows), *margins, line=scene.line, tree=tree)
    return portable_json(result.g, about=about, contract=result.task.contract, reference=tested_on)
