"""For one COMMOD model, each rival's model closest in fairness and accuracy, and how the two differ."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.experiments.sweep import Model, Sweep, learns_from
from commod.explain import DEPTHS, explain_tree
from commod.explain.concepts import concept_redundancy, concept_size
from commod.metrics import calibration_table
from commod.metrics.calibration import compare_calibration
from commod.metrics.figures import CRITERIA, FIGURES, key_figures
from commod.metrics.report import compare_decisions

MEASURES = ("tree", "concepts", "scores", "checks")


def row_of(scene: Scene, model: Model, measures: Sequence[str]) -> dict[str, Any]:
    """Figures on test and the requested measures, as plain numbers; None if a model has none."""
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
    known, nan = model.concepts, float("nan")
    return {
        "concept_size": nan if known is None else float(concept_size(known)),
        "concept_redundancy": nan if known is None else concept_redundancy(known),
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
    """Mean |g − f| of the scores of people whose decision stays; NaN for a method without probabilities."""
    if model.scores_test is None:
        return float("nan")
    stays = model.decisions_test == scene.decisions_test
    return float(np.abs(model.scores_test - scene.scores_test)[stays].mean()) if stays.any() else float("nan")


# A rival further away than this in fairness or accuracy is not comparable: differences may be due to either.
NEAR_ACCURACY = 0.02


def near_fairness(fairness: str, of_f: float) -> float:
    """How far apart two models may be in fairness; f's own counts where people are compared by label."""
    return max(0.02, 0.1 * of_f) if CRITERIA[fairness].by_label else 0.05


@dataclass(frozen=True)
class Match:
    """Models of several methods side by side."""

    # One row per method, the chosen one first: ``method, title, needs_sensitive, settings, place`` (in its sweep), the
    # figures, those of `predictive_figures` and `concept_figures`, ``changed`` (people), ``better_0, worse_0, …``
    # (changed people by group and by what it did to them), ``tree_f1``, ``score_move``, ``overlap`` (Jaccard index of
    # the changed people with the chosen model's), ``comparable``, and of the criterion's figure, accuracy and change
    # rate the 95 % interval of how much more it is than the chosen model's: ``p_rule_more_low, p_rule_more_high, …``.
    table: pd.DataFrame
    # Share of the test people changed by at least one, and by all, of the comparable models, the chosen one included.
    by_one: float = math.nan
    by_all: float = math.nan


def nearest(points: pd.DataFrame, target: pd.Series, fairness: str, spread: tuple[float, float]) -> int:
    """Position in `points` of the model closest to `target` in fairness and accuracy, each in units of its spread."""
    figure = CRITERIA[fairness].figure_name
    distance = ((points[figure] - target[figure]) / spread[0]) ** 2
    distance += ((points["accuracy"] - target["accuracy"]) / spread[1]) ** 2
    return int(np.argmin(distance.to_numpy()))


def match_models(
    scene: Scene, sweeps: Mapping[str, Sweep], fairness: str, chosen: int, *, method: str = "commod", depth: int = 3
) -> Match:
    """Match one model of a method with the closest model of every other.

    `chosen`: place of the model in the sweep of `method`. `depth`: of the tree that describes the changes.
    """
    figure = CRITERIA[fairness].figure_name
    points = pd.concat([sweep.points for sweep in sweeps.values()])
    spread = (max(points[figure].std(), 1e-9), max(points["accuracy"].std(), 1e-9))
    target = sweeps[method].points.iloc[chosen]
    others = {name: sweep.points for name, sweep in sweeps.items() if name != method}
    found = {method: chosen} | {name: nearest(each, target, fairness, spread) for name, each in others.items()}
    models = {name: sweeps[name].models[i] for name, i in found.items()}
    before = scene.decisions_test
    near = near_fairness(fairness, scene.figures(before)[figure])
    changed = {name: model.decisions_test != before for name, model in models.items()}
    rows = []
    for name, i in found.items():
        row = sweeps[name].points.iloc[i]
        rows.append(
            {
                "method": name,
                "title": row["title"],
                "needs_sensitive": row["needs_sensitive"],
                "settings": row["settings"],
                "place": i,
                **{key.name: row[key.name] for key in key_figures()},
                **predictive_figures(scene, models[name]),
                "changed": int(changed[name].sum()),
                **_who(scene, models[name]),
                "tree_f1": tree_f1(scene, models[name])[depth],
                **concept_figures(models[name]),
                "score_move": score_move(scene, models[name]),
                "overlap": _jaccard(changed[name], changed[method]),
                **({} if name == method else _more(scene, figure, models[name], models[method])),
                "comparable": bool(
                    abs(row[figure] - target[figure]) <= near
                    and abs(row["accuracy"] - target["accuracy"]) <= NEAR_ACCURACY
                ),
            }
        )
    alike = np.array([changed[row["method"]] for row in rows if row["comparable"]])
    return Match(pd.DataFrame(rows), float(alike.any(axis=0).mean()), float(alike.all(axis=0).mean()))


def _who(scene: Scene, model: Model) -> dict[str, int]:
    before, after = scene.decisions_test, model.decisions_test
    good = scene.task.spec.favourable
    counts = {}
    for s in range(len(scene.task.groups)):
        group = scene.test.sensitive.to_numpy() == s
        counts[f"better_{s}"] = int(((before != after) & (after == good) & group).sum())
        counts[f"worse_{s}"] = int(((before != after) & (after != good) & group).sum())
    return counts


def _more(scene: Scene, figure: str, model: Model, own: Model) -> dict[str, float]:
    """Intervals of a model's figures minus another's on the same people."""
    test, before = scene.test, scene.decisions_test
    decided = [each.decisions_test for each in (own, model)]
    groups = {"sensitive_features": test.sensitive, "n_groups": len(scene.task.groups)}
    frame = compare_decisions(test.y, *decided, sample_weight=test.weight, **groups)
    # Both changes are counted on the same people, so only people in exactly one of the two sets matter.
    apart = (decided[1] != before).astype(float) - (decided[0] != before).astype(float)
    reach = 1.96 * float(apart.std()) / np.sqrt(len(apart))
    found = {"change_rate_more_low": float(apart.mean()) - reach, "change_rate_more_high": float(apart.mean()) + reach}
    for name in (figure, "accuracy"):
        for end in ("low", "high"):
            found[f"{name}_more_{end}"] = float(frame[f"difference_{end}"].get(name, np.nan))
    return found


def _jaccard(a: np.ndarray, b: np.ndarray) -> float:
    either = int((a | b).sum())
    return float((a & b).sum() / either) if either else float("nan")
