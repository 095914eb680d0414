"""f decides at any cut-off, and g keeps it: its decisions, its scores, and those of every method beside COMMOD."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from commod import Commod, evaluate
from commod.experiments.scene import prepare
from commod.experiments.sweep import Cell, Shared, fit_cell
from commod.experiments.target import find_settings
from commod.models.competitors import METHODS
from commod.models.export import portable_json
from commod.models.threshold import budget_threshold, check_threshold
from commod.portable import load
from tests.fitting import case, fit

LAW = case("law_school")


def fixed(threshold, f=LAW.f, **more):
    return FixedThresholdClassifier(f, threshold=threshold, **more).fit(LAW.train.X, LAW.train.y)


def unchanged(f, **settings):
    g = Commod(f, lambda_fair=0.0, **settings)
    return g.fit(LAW.train.X, LAW.train.y, sensitive_features=LAW.train.sensitive)


@pytest.mark.parametrize("threshold", [0.8, 0.3])
def test_without_fairness_g_is_f_at_its_own_threshold(threshold):
    f = fixed(threshold)
    g = unchanged(f)
    np.testing.assert_array_equal(g.predict(LAW.test.X), f.predict(LAW.test.X))
    np.testing.assert_allclose(g.predict_proba(LAW.test.X), f.predict_proba(LAW.test.X), atol=1e-12)
    assert g.threshold_ == pytest.approx(threshold)


def test_scores_on_the_line_are_decided_as_scikit_learn_decides_them():
    forest = LAW.task.base_model(RandomForestClassifier(10, random_state=0))
    f = fixed(0.8, forest)
    assert np.isclose(f.predict_proba(LAW.test.X)[:, 1], 0.8).sum() > 20
    np.testing.assert_array_equal(unchanged(f).predict(LAW.test.X), f.predict(LAW.test.X))


def test_the_line_of_a_tuned_of_a_turned_and_of_an_unscored_classifier():
    scored = TunedThresholdClassifierCV(LAW.f, thresholds=20, random_state=0).fit(LAW.train.X, LAW.train.y)
    turned = fixed(0.7, pos_label=0)
    margin = fixed(0.4, LAW.task.base_model(LinearSVC(random_state=0)))
    for f in (scored, turned, margin):
        np.testing.assert_array_equal(unchanged(f).predict(LAW.test.X), f.predict(LAW.test.X))


def test_a_threshold_of_the_decision_function_is_refused_where_there_are_probabilities():
    with pytest.raises(ValueError, match="pass threshold= as a probability"):
        unchanged(fixed(0.4, response_method="decision_function"))


def test_one_half_said_aloud_changes_no_digit():
    said, silent = fit(LAW, lambda_fair=2.0, threshold=0.5), fit(LAW, lambda_fair=2.0)
    np.testing.assert_array_equal(said.coef_, silent.coef_)


def test_a_budget_is_kept_on_the_training_rows():
    g = unchanged(LAW.f, threshold="budget:0.2")
    assert g.predict(LAW.train.X).mean() == pytest.approx(0.2, abs=0.002)
    g = unchanged(LAW.f, threshold="budget")
    assert g.predict(LAW.train.X).mean() == pytest.approx(LAW.train.y.mean(), abs=0.002)


def test_equal_scores_stay_on_one_side_of_a_budget():
    assert budget_threshold([0.1, 0.5, 0.5, 0.9], 0.5) in (pytest.approx(0.3), pytest.approx(0.7))
    assert budget_threshold([0.4, 0.4], 0.5) == pytest.approx(0.4)


@pytest.mark.parametrize("threshold", [0, 1, -0.5, True, "half", "budget:2", "budget:x", [0.5]])
def test_what_is_no_threshold_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold must be a probability"):
        check_threshold(threshold)


@pytest.mark.parametrize("update", ["ratio", "affine"])
def test_little_fairness_changes_little_wherever_the_line_is(update):
    """The label's loss is that of f's own scale: it does not pull decisions back to one half."""
    g = fit(LAW, lambda_fair=0.1, threshold=0.8, update=update)
    before = g.margin_of_f(LAW.test.X) > 0
    assert np.mean(before != g.predict(LAW.test.X)) < 0.02


def test_fairness_is_bought_at_another_line():
    g = fit(LAW, lambda_fair=5.0, threshold=0.8)
    found = evaluate(LAW.task, LAW.f, g, LAW.test)
    assert found.loc["p_rule", "difference"] > 0.2
    assert found.loc["change_rate", "g"] < 0.1
    sums = g.explain_prediction(LAW.test.X.iloc[[3]])
    assert sums["logit_after"].iloc[-1] == pytest.approx(g.decision_function(LAW.test.X.iloc[[3]])[0])


# Methods that decide as f does at the first value of their knob, or at the one named; AdvDebias is a model of its own,
# and the Bayes rule has an estimate of its own.
AT_F = {
    name: METHODS[name].knob.sweep[0]
    for name in "commod frappe oracle_roc hardt pleiss wass1 cfbc leaf_relabelling multiaccuracy_boost".split()
}
AT_F |= {"lpp": 1.0, "oracle_lpp": 1.0, "fst": 2.0, "fair_projection": 2.0}


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.is_written])
def test_every_method_decides_by_the_line(name):
    scene, method = prepare("law_school", threshold=0.8), METHODS[name]
    cell = Cell(name, AT_F.get(name, method.knob.sweep[0]), (("max_steps", 50),) if name == "adv_debias" else ())
    model = fit_cell(scene, cell, method.criteria[-1], Shared())
    if name in AT_F:
        np.testing.assert_array_equal(model.decisions_test, scene.decisions_test)
    assert abs(model.decisions_test.mean() - scene.decisions_test.mean()) < 0.1  # at one half, it is 0.47, not 0.27
    if model.scores_test is not None:
        apart = (model.scores_test > 0.8) != (model.decisions_test == 1)
        assert not (apart & (np.abs(model.scores_test - 0.8) > 1e-5)).any()


def test_a_scene_at_another_line_shares_all_but_the_decisions():
    usual, moved = prepare("law_school"), prepare("law_school", threshold=0.8)
    assert moved.f is usual.f
    np.testing.assert_allclose(moved.scores_test, usual.scores_test, atol=1e-12)
    np.testing.assert_array_equal(moved.decisions_test, usual.scores_test > 0.8)
    np.testing.assert_array_equal(moved.decisions_train, usual.scores_train > 0.8)
    assert moved.decisions_test.mean() < 0.7 * usual.decisions_test.mean()


@pytest.mark.slow
def test_a_target_is_searched_at_the_line():
    found = find_settings(LAW.task, LAW.f, min_fairness=0.4, max_change=0.1, threshold=0.8)
    assert found.met
    assert found.settings["threshold"] == 0.8
    assert found.model.threshold_ == pytest.approx(0.8)


def test_trained_here_f_has_a_line_too():
    g = Commod(lambda_fair=0.0, threshold=0.8).fit(LAW.train.X, LAW.train.y, sensitive_features=LAW.train.sensitive)
    np.testing.assert_array_equal(g.predict(LAW.test.X), g.predict_proba(LAW.test.X)[:, 1] > g.threshold_)
    assert isinstance(g.base_model_[-1], LogisticRegression)


@pytest.mark.parametrize("settings", [{}, {"update": "affine"}, {"direction": "improve"}])
def test_the_file_of_a_model_has_its_line(settings):
    g = Commod(fixed(0.8), lambda_fair=5.0, **settings)
    g.fit(LAW.train.X, LAW.train.y, sensitive_features=LAW.train.sensitive)
    model, rows = load(portable_json(g)), LAW.test.X.to_dict("records")
    assert model.content["line"]
    np.testing.assert_allclose(model.predict_proba(rows), g.predict_proba(LAW.test.X), atol=1e-9)
    np.testing.assert_array_equal(model.predict(rows), g.predict(LAW.test.X))
    np.testing.assert_allclose(model.scores_of_f(rows), LAW.f.predict_proba(LAW.test.X)[:, 1], atol=1e-9)
    sums = model.explain(rows[3])
    assert sums[-1]["logit"] == pytest.approx(g.decision_function(LAW.test.X.iloc[[3]])[0], abs=1e-9)
