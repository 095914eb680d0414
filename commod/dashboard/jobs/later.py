"""The model of the sliders as a file, and later people set beside those it was tested on, without Streamlit."""

from __future__ import annotations

import numpy as np

from commod import __version__
from commod.dashboard.jobs.fitted import FitResult
from commod.dashboard.jobs.queue import Report
from commod.dashboard.jobs.results import tree_of_changes
from commod.dashboard.state.settings import data_in_words, in_words
from commod.explain import ChangeTree
from commod.models.base_models import BASE_MODELS
from commod.models.export import portable_json
from commod.monitoring import Watched, batch_of, read_model, reference_of, watch
from commod.monitoring.change_tree import DEPTH

# Of the people whom f scores above the median, one in so many is left in a batch that is shifted on purpose.
THINNED = 3


def base_model_in_words(result: FitResult) -> str:
    """What f is."""
    if isinstance(result.scene.f, str):
        return f"scores in the column “{result.scene.f}”"
    name = result.settings.f
    return BASE_MODELS[name][0] if name in BASE_MODELS else name


def model_json(result: FitResult, tree: ChangeTree | None, rows: np.ndarray | None = None) -> str:
    """The model for `commod.portable`, with what it was like on the test people, or on those at `rows`.

    `tree` is that of the changes at `DEPTH`; there is none where no decision of the training part changes.
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


def watch_held_out(result: FitResult, shifted: bool, report: Report | None = None) -> Watched:
    """The model as if it had been tested on one half of the test people, and the other half as a later batch.

    Both are drawn from the same people, and nobody is in both. With `shifted`, most of those are left out of the batch
    whom f scores above its median.
    """
    tree = tree_of_changes(result, DEPTH, report) if result.changed_train.any() else None
    order = np.random.default_rng(0).permutation(len(result.scene.test))
    old, new = (np.sort(part) for part in np.array_split(order, 2))
    if shifted:
        above = result.scene.logit_test[new] > np.median(result.scene.logit_test[new])
        new = new[~above | (np.cumsum(above) % THINNED == 0)]
    model = read_model(model_json(result, tree, old).encode())
    batch = batch_of(result.task, result.scene.test.take(new))
    return watch(model, batch)
