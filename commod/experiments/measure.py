"""What is measured of one model beside the figures."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.experiments.sweep import Model, learns_from
from commod.explain import DEPTHS, explain_tree
from commod.explain.concepts import concept_redundancy, concept_size
from commod.metrics import calibration_table
from commod.metrics.calibration import compare_calibration
from commod.metrics.figures import FIGURES

MEASURES = ("tree", "concepts", "scores", "checks")


def row_of(scene: Scene, model: Model, measures: Sequence[str]) -> dict[str, Any]:
    """Figures on test and the measures asked for, as plain numbers; what a model does not have is None."""
    row: dict[str, Any] = dict(scene.figures(model.decisions_test.astype(int)))
    if "tree" in measures:
        for name, class_weight in (("tree_f1", None), ("tree_f1_balanced", "balanced")):
            row |= {f"{name}_{depth}": f1 for depth, f1 in tree_f1(scene, model, class_weight).items()}
    if "concepts" in measures:
        row |= concept_figures(model)
    if "scores" in measures:
        row["score_move"] = score_move(scene, model)
    if "checks" in measures:
        row |= scene.shares(model.decisions_test)
    return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in row.items()}


def tree_f1(scene: Scene, model: Model, class_weight: str | None = None) -> dict[int, float]:
    """F1 of a tree on the changes, by its depth, `class_weight` as in `explain_tree`; NaN where nothing changed."""
    taught = learns_from(scene, model.cell.method)
    changed_train = model.decisions_train != taught.decisions_train
    changed_test = model.decisions_test != scene.decisions_test
    if not changed_train.any():
        return dict.fromkeys(DEPTHS, float("nan"))
    tree = explain_tree(
        scene.task,
        taught.encoder,
        taught.train.X,
        changed_train,
        scene.test.X,
        changed_test,
        1,
        class_weight=class_weight,
    )
    return dict(zip(tree.f1_by_depth["depth"], tree.f1_by_depth["f1"], strict=True))


def concept_figures(model: Model) -> dict[str, float]:
    """Size and redundancy of the concepts; NaN where the model has none."""
    if model.concepts is None:
        return {"concept_size": float("nan"), "concept_redundancy": float("nan")}
    return {
        "concept_size": float(concept_size(model.concepts)),
        "concept_redundancy": concept_redundancy(model.concepts),
    }


def calibration_of(scene: Scene, model: Model) -> pd.DataFrame | None:
    """Mean score of g by bin of f's score on test; None for a method without probabilities."""
    if model.scores_test is None:
        return None
    return calibration_table(scene.scores_test, np.clip(model.scores_test.astype(float), 0.0, 1.0))


def predictive_figures(scene: Scene, model: Model) -> dict[str, float]:
    """Predictive parity and calibration within groups; NaN without positive decisions, or without probabilities."""
    test, n_groups = scene.test, len(scene.task.groups)
    parity = FIGURES["predictive_parity_difference"]
    found = {parity.name: parity.of_decisions(test.sensitive, n_groups, test.y, model.decisions_test, test.weight)}
    found["calibration_within_groups"] = float("nan")
    if model.scores_test is not None:
        scores = np.clip(model.scores_test.astype(float), 0.0, 1.0)
        groups = {"sensitive_features": test.sensitive_features, "sample_weight": test.weight}
        error = compare_calibration(test.y, scene.scores_test, scores, **groups, n_bootstrap=1)["g"]
        found["calibration_within_groups"] = error
    return found


def score_move(scene: Scene, model: Model) -> float:
    """Mean |g − f| of the scores of those whose decision stays; NaN for a method without probabilities."""
    if model.scores_test is None:
        return float("nan")
    stays = model.decisions_test == scene.decisions_test
    return float(np.abs(model.scores_test - scene.scores_test)[stays].mean()) if stays.any() else float("nan")
