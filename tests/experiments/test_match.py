from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.experiments import prepare, sweep_method
from commod.experiments.match import match_models, nearest
from commod.explain.concepts import concept_redundancy, concept_size
from commod.models.competitors import METHODS

DP = "demographic_parity"
MATCHED = 1  # of COMMOD's models


@pytest.fixture(scope="module")
def scene():
    return prepare("law_school")


@pytest.fixture(scope="module")
def sweeps(scene):
    """Few models of each method."""
    short = {"commod": (0.0, 4.0, 8.0), "frappe": (0.0, 2.0), "oracle_lpp": (0.2, 0.1, 0.02)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("commod.experiments.sweep.EFFORT", 3)
        for name, values in short.items():
            method = METHODS[name]
            others = {"lambda_ratio": (0.05,)} if name == "commod" else method.others
            quick = method.settings | ({"max_iter": 15} if name == "frappe" else {})
            few = replace(method, seeds=1, settings=quick, knob=replace(method.knob, sweep=values), others=others)
            patch.setitem(METHODS, name, few)
        return {name: sweep_method(scene, name, DP) for name in short}


@pytest.fixture(scope="module")
def found(scene, sweeps):
    return match_models(scene, sweeps, DP, MATCHED)


def test_nearest_counts_each_figure_in_its_own_spread():
    points = pd.DataFrame({"p_rule": [0.5, 0.6, 0.9], "accuracy": [0.70, 0.60, 0.70]})
    target = pd.Series({"p_rule": 0.6, "accuracy": 0.70})
    assert nearest(points, target, DP, (1.0, 1.0)) in (0, 1)
    assert nearest(points, target, DP, (0.1, 1.0)) == 1
    assert nearest(points, target, DP, (1.0, 0.1)) == 0


@pytest.mark.slow
def test_the_rival_shown_is_the_nearest(sweeps, found):
    target = sweeps["commod"].points.iloc[MATCHED]
    everyone = pd.concat([sweep.points for sweep in sweeps.values()])
    for row in found.table.iloc[1:].to_dict("records"):
        points = sweeps[row["method"]].points
        away = ((points["p_rule"] - target["p_rule"]) / everyone["p_rule"].std()) ** 2 + (
            (points["accuracy"] - target["accuracy"]) / everyone["accuracy"].std()
        ) ** 2
        assert points.loc[away.idxmin(), "settings"] == row["settings"]


@pytest.mark.slow
def test_figures_of_a_row_are_those_of_its_model(scene, sweeps, found):
    own = found.table.iloc[0]
    model = sweeps["commod"].models[MATCHED]
    changed = model.decisions_test != scene.decisions_test
    assert own["method"] == "commod"
    assert own["changed"] == changed.sum() == round(own["change_rate"] * len(scene.test))
    assert own[["better_0", "worse_0", "better_1", "worse_1"]].sum() == own["changed"]
    group = scene.test.sensitive.to_numpy() == 0
    assert own["better_0"] == (changed & group & (model.decisions_test == scene.task.spec.favourable)).sum()
    assert own["overlap"] == 1.0
    assert own["comparable"]
    assert own["concept_size"] == concept_size(model.concepts)
    assert own["concept_redundancy"] == concept_redundancy(model.concepts) == 0
    scores = scene.f.predict_proba(scene.test.X)[:, 1]
    assert own["score_move"] == pytest.approx(np.abs(model.scores_test - scores)[~changed].mean(), abs=1e-6)


def test_the_overlap_counts_people(sweeps, scene, found):
    row = found.table.set_index("method").loc["frappe"]
    a = sweeps["commod"].models[MATCHED].decisions_test != scene.decisions_test
    b = sweeps["frappe"].models[row["place"]].decisions_test != scene.decisions_test
    assert row["overlap"] == (a & b).sum() / (a | b).sum()


def test_what_a_method_does_not_have_is_missing(found):
    table = found.table.set_index("method")
    assert np.isnan(table.loc["oracle_lpp", "score_move"])
    assert np.isnan(table.loc["oracle_lpp", "concept_size"])
    assert table.loc["frappe", "concept_redundancy"] > 0


def test_a_model_that_changes_nobody_can_be_matched(scene, sweeps):
    table = match_models(scene, sweeps, DP, 0).table
    assert table.iloc[0]["changed"] == 0
    assert np.isnan(table.iloc[0]["tree_f1"])


def test_changes_of_commod_are_easier_to_describe(found):
    """The paper's Figure 4 in one point."""
    f1 = found.table.set_index("method")["tree_f1"]
    assert f1["commod"] > f1["frappe"] + 0.2
