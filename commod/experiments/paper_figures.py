"""Figures of the paper that look into single models: each a tidy frame."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from commod.experiments.match import calibration_of, nearest, score_move
from commod.experiments.paper_numbers import FIGURE2
from commod.experiments.scene import Scene, prepare
from commod.experiments.sweep import Cell, fit_cell, lines_of
from commod.explain import DEPTHS, explain_concepts, explain_loadings
from commod.metrics.figures import CRITERIA
from commod.models import Commod, WarmStart
from commod.models.competitors import make_method

DP = "demographic_parity"
# Models of each method on a split of Table 1: 8 λ_fair × 3 λ_ratio of COMMOD, 24 values of the one knob of the others.
MODELS = 24
# Fairness at which models are matched: in the middle of what the paper's segments hold.
TARGETS = {"law_school": 0.7, "compas": 0.77}
POSTHOC_DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10)
# In the files of the results, whatever else is declared.
COLUMNS = ("p_rule", "accuracy", "change_rate")


def matched(models: pd.DataFrame, data: str, split: int, methods: tuple[str, ...]) -> pd.DataFrame:
    """For one split, the COMMOD model nearest to the target fairness, and of other methods the one nearest to that."""
    figure = CRITERIA[DP].figure_name
    here = models[(models["dataset"] == data) & (models["split"] == split) & (models["fairness"] == DP)]
    here = here[here["error"] == ""].reset_index(drop=True)
    spread = (float(here[figure].std()), float(here["accuracy"].std()))
    own = here[here["method"] == "commod"]
    chosen = own.loc[(own[figure] - TARGETS[data]).abs().idxmin()]
    rows = [chosen]
    for method in methods:
        rivals = here[here["method"] == method]
        rows.append(rivals.iloc[nearest(rivals, chosen, DP, spread)])
    return pd.DataFrame(rows).reset_index(drop=True)


def tree_f1_by_depth(models: pd.DataFrame, data: str) -> pd.DataFrame:
    """Figure 4: F1 of a tree on the changes of matched models by depth; ``f1_balanced``: of class-weighted trees."""
    rows: list[dict[str, Any]] = []
    for split in sorted(models.loc[models["dataset"] == data, "split"].unique()):
        for row in matched(models, data, int(split), ("frappe", "adv_debias")).to_dict("records"):
            about = {name: row[name] for name in ("split", "method", "settings", *COLUMNS)}
            for depth in DEPTHS:
                f1 = {kind: row[f"tree_{kind}_{depth}"] for kind in ("f1", "f1_balanced")}
                rows.append(about | {"depth": depth} | f1)
    return pd.DataFrame(rows)


def _cell(row: dict[str, Any]) -> Cell:
    for line in lines_of(row["method"], MODELS):
        for cell in line:
            if cell.words == row["settings"]:
                return cell
    raise ValueError(f"The sweep of {row['method']} has no model {row['settings']!r}: make the result anew.")


def calibration(models: pd.DataFrame, data: str = "law_school", split: int = 0) -> pd.DataFrame:
    """Figure 9: mean score of g by score of f, of a COMMOD model and the AdvDebias model nearest to it."""
    scene = prepare(data, seed=split)
    frames = []
    for row in matched(models, data, split, ("adv_debias",)).to_dict("records"):
        model = fit_cell(scene, _cell(row), DP)
        table = calibration_of(scene, model)
        assert table is not None
        about = {"method": row["method"], "settings": row["settings"], "score_move": score_move(scene, model)}
        frames.append(table.assign(**about))
    return pd.concat(frames, ignore_index=True)


def posthoc_trees(models: pd.DataFrame, data: str = "law_school") -> pd.DataFrame:
    """Figure 10: P-Rule of f + a tree that imitates FRAPPE's correction, by depth, beside COMMOD's own."""
    rows: list[dict[str, Any]] = []
    for split in sorted(models.loc[models["dataset"] == data, "split"].unique()):
        scene = prepare(data, seed=int(split))
        own, rival = matched(models, data, int(split), ("frappe",)).to_dict("records")
        for name, row in (("COMMOD", own), ("FRAPPE", rival)):
            figures = {figure: row[figure] for figure in COLUMNS}
            rows.append({"split": split, "model": name, "depth": 0, **figures})
        frappe = make_method("frappe", scene.f, rival["value"], random_state=int(rival["seed"]))
        frappe.fit(**scene.train.fit_arguments)
        correction = frappe.correction_(scene.encoded_train)
        for depth in POSTHOC_DEPTHS:
            tree = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(scene.encoded_train, correction)
            decided = (scene.logit_test + tree.predict(scene.encoded_test) > 0).astype(int)
            figures = {figure: scene.figures(decided)[figure] for figure in COLUMNS}
            rows.append({"split": split, "model": "FRAPPE + tree", "depth": depth, **figures})
    return pd.DataFrame(rows)


def example_with_two_concepts(split: int = 0) -> pd.DataFrame:
    """Figure 2: COMPAS with k = 2, the model nearest to the printed P-Rule, in parts."""
    scene = prepare("compas", seed=split)
    g, figures = _nearest_model(scene)
    of_f = scene.figures(scene.decisions_test)
    rows: list[tuple[str, str, str, float]] = [
        ("figure", "", "p_rule_f", of_f["p_rule"]),
        ("figure", "", "accuracy_f", of_f["accuracy"]),
        *(("figure", "", name, figures[name]) for name in COLUMNS),
        ("figure", "", "lambda_fair", float(g.lambda_fair)),
    ]
    activations = g.concept_activations(scene.test.X)
    concepts = explain_concepts(g, scene.task, activations, scene.decisions_test, g.predict(scene.test.X).astype(int))
    for concept, row in concepts.iterrows():
        rows.append(("weight", str(concept), "weight in r", float(row["weight"])))
        for column, name in (("changed_activated", "who show it most"), ("changed_others", "others")):
            if not pd.isna(row[column]):
                rows.append(("changed", str(concept), name, float(row[column])))
    for row in explain_loadings(g, scene.task).to_dict("records"):
        rows.append(("loading", row["concept"], row["label"], float(row["loading"])))
    return pd.DataFrame(rows, columns=["part", "concept", "name", "value"])


def _nearest_model(scene: Scene) -> tuple[Commod, dict[str, float]]:
    """The COMMOD model with two concepts whose P-Rule on test is nearest to the printed one."""
    found, warm_start = [], WarmStart()  # all differ in λ_fair only
    for value in np.arange(1.0, 6.01, 0.25):
        g = Commod(scene.f, lambda_fair=float(value), lambda_ratio=0.05, lambda_concepts=0.2, n_concepts=2)
        g.fit(**scene.train.fit_arguments, warm_start=warm_start)
        found.append((g, scene.figures(g.predict(scene.test.X).astype(int))))
    return min(found, key=lambda each: abs(each[1]["p_rule"] - FIGURE2["p_rule"]))
