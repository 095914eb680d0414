"""Evidence about a model: how well calibrated it is, and what stands in for the group."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.explain.proxies import explain_proxies
from commod.metrics.calibration import calibration_by_group, reliability_table


@dataclass(frozen=True)
class Evidence:
    """Evidence about a model on test."""

    # Calibration error of f and g by group, see `calibration_by_group`; and the points of the picture behind it, see
    # `reliability_table`, with ``group`` (its name) and ``model`` ("f" or "g").
    calibration: pd.DataFrame
    reliability: pd.DataFrame
    proxies: pd.DataFrame  # how well features and concepts tell the group, see `explain_proxies`


def evidence_of(scene: Scene, scores: np.ndarray, activations: tuple[pd.DataFrame, pd.DataFrame]) -> Evidence:
    """Of g by its scores on test, and by what its concepts are on training and test rows."""
    test, models = scene.test, {"f": scene.scores_test, "g": scores}
    y, groups = test.y.to_numpy(), test.sensitive.to_numpy()
    pictures = [
        reliability_table(y[groups == code], values[groups == code]).assign(group=name, model=model)
        for code, name in enumerate(scene.task.groups)
        for model, values in models.items()
        if (groups == code).any()
    ]
    return Evidence(
        calibration_by_group(y, models["f"], models["g"], sensitive_features=groups),
        pd.concat(pictures, ignore_index=True),
        explain_proxies(scene.task, scene.train, test, activations),
    )
