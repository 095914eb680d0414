"""update="affine": g = σ(r·logit f + s), the shift solved, penalised and read as the ratio is."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from commod import Commod
from commod.models import WarmStart
from commod.models.base_models import base_logits
from commod.models.best_response import LinearProblem, _newton, _Point, solve_linear
from commod.models.export import portable_json, to_portable
from commod.models.training import LossWeights, TrainingData, ratio_form, shift_unit
from commod.models.validation import loss_weights
from commod.portable import load
from tests.fitting import case, fit
from tests.random_starts import training_data


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 300).astype(float)
    X = np.column_stack([rng.normal(size=300) + s, rng.normal(size=300)])
    logit = rng.normal(size=300) * 2 + s
    y = (rng.random(300) < 1 / (1 + np.exp(-logit))).astype(float)
    return TrainingData(X, logit, y, s)


def problem_of(data, weights):
    return LinearProblem(data.sorted_for(weights.by_label), weights, ratio_form("identity", data), shift_unit(data))


@pytest.fixture(scope="module", params=["law_school", pytest.param("compas", marks=pytest.mark.slow)])
def fitted(request):
    c = case(request.param)
    return c, fit(c, lambda_fair=3.0, lambda_concepts=0.05, n_concepts=3, update="affine")


# ---- the problem ----


@pytest.mark.parametrize("by_label", [False, True])
def test_the_gradient_is_that_of_finite_differences(rows, by_label):
    weights = LossWeights(2.0, 0.1, 0.0, 0.0, by_label, update="affine")
    problem = problem_of(rows, weights)
    theta = np.array([0.8, -0.2, 0.1, 0.3, 0.2, -0.1])

    def value(point):
        return problem.terms(problem.objective.evaluate(problem.A.scores(point)), point, 2.0)["objective"]

    state = problem.objective.evaluate(problem.A.scores(theta))
    newton = problem.objective.newton_terms(state, 2.0, problem.A)
    gradient = newton.gradient + problem.quadratic @ (theta - problem.identity)
    h = 1e-4
    numeric = [(value(theta + h * e) - value(theta - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(gradient, numeric, atol=1e-6)


@pytest.mark.parametrize("by_label", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_solver_cannot_be_improved_on_by_a_general_optimiser(rows, by_label):
    weights = LossWeights(1.5, 0.05, 0.02, 0.0, by_label, update="affine")
    problem = problem_of(rows, weights)
    found = solve_linear(rows, weights, "identity").path[-1]
    fit = found.rescaler
    start = np.concatenate([[fit.intercept], fit.coef, np.array([fit.shift_intercept, *fit.shift_coef]) / problem.unit])

    def loss(theta):
        return problem.terms(problem.objective.evaluate(problem.A.scores(theta)), theta, 1.5)["objective"]

    assert loss(start) == pytest.approx(found.terms["objective"], abs=1e-10)
    for begin in (start, problem.identity):
        better = minimize(loss, begin, method="Powell", options={"maxiter": 20_000, "xtol": 1e-6, "ftol": 1e-9})
        assert found.terms["objective"] <= better.fun + 1e-6
    assert np.abs(fit.shift_coef).max() > 0.01  # there is something to shift here


def test_without_its_shift_the_loss_is_that_of_the_ratio(rows):
    weights = LossWeights(2.0, 0.1, 0.0, 0.0, False)
    plain = LinearProblem(rows, weights, ratio_form("identity", rows))
    both = problem_of(rows, weights)
    theta = np.array([0.7, 0.2, -0.1])
    wide = np.concatenate([theta, np.zeros(3)])
    # Not to the last digit: on some processors BLAS adds up a wider product in another order.
    np.testing.assert_allclose(both.A.scores(wide), plain.A.scores(theta), rtol=1e-12)
    for name in ("objective", "ratio_loss", "adversary_loss"):
        assert both.terms(both.start, wide, 2.0)[name] == pytest.approx(plain.terms(plain.start, theta, 2.0)[name])
    np.testing.assert_allclose(both.pull, plain.pull, rtol=1e-12)


def test_one_lambda_ratio_means_the_same_for_ratio_and_shift(rows):
    """r − 1 = ε and s = ε·a lead equally far away from f, and cost the same."""
    problem = problem_of(rows, LossWeights(1.0, 0.3, 0.0, 0.0, False, update="affine"))
    moves = [problem.identity + 1e-3 * np.eye(6)[place] for place in (0, 3)]
    f = 1 / (1 + np.exp(-rows.logit))
    divergences = []
    for move in moves:
        g = 1 / (1 + np.exp(-(problem.A.scores(move))))
        divergences.append(np.mean(f * np.log(f / g) + (1 - f) * np.log((1 - f) / (1 - g))))
    assert divergences[0] == pytest.approx(divergences[1], rel=1e-2)
    costs = [problem.penalties(move) for move in moves]
    assert costs[0] == pytest.approx(costs[1]) == pytest.approx(0.3 * 1e-6, rel=1e-4)
    assert shift_unit(TrainingData(rows.X, 0 * rows.logit, rows.y, rows.sensitive)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
def test_other_starts_end_in_the_same_minimum(fairness):
    c = case("law_school")
    g = fit(c, lambda_fair=4.0, lambda_concepts=0.05, fairness=fairness, update="affine")
    data, weights = training_data(c, g), loss_weights(g, g.classes_)
    problem = problem_of(data, weights)
    plain = fit(c, lambda_fair=4.0, lambda_concepts=0.05, fairness=fairness)
    rng, phis = np.random.default_rng(0), tuple(answer.phi for answer in problem.start.fits)
    starts = [np.array([plain.intercept_, *plain.coef_, *np.zeros(problem.width)])]
    starts += [problem.identity + rng.normal(scale=0.3, size=len(problem.identity)) for _ in range(3)]
    for start in starts:
        found = _newton(problem, _Point(start, phis, {}), 4.0, 1e-9, lambda terms: False)
        assert g.path_["objective"].iloc[-1] <= found.terms["objective"] + 1e-5


# ---- the model ----


def test_the_papers_form_is_the_default_to_the_last_digit():
    c = case("law_school")
    usual, named = fit(c, lambda_fair=1.0), fit(c, lambda_fair=1.0, update="ratio")
    np.testing.assert_array_equal(usual.coef_, named.coef_)
    assert usual.intercept_ == named.intercept_
    assert not usual.has_shift
    assert usual.shift_concepts_.shape[1] == len(usual.shift_weights_) == usual.shift_intercept_ == 0
    assert not usual.shift_coef_.any()
    ratio, shift = usual.ratio_and_shift(c.test.X)
    assert not shift.any()
    np.testing.assert_array_equal(usual.decision_function(c.test.X), ratio * base_logits(c.f, c.test.X))


def test_a_decision_changes_where_the_sum_has_another_sign(fitted):
    c, g = fitted
    logit = base_logits(c.f, c.test.X)
    ratio, shift = g.ratio_and_shift(c.test.X)
    np.testing.assert_allclose(g.decision_function(c.test.X), ratio * logit + shift)
    changed = c.f.predict(c.test.X) != g.predict(c.test.X)
    np.testing.assert_array_equal(changed, (ratio * logit + shift > 0) != (logit > 0))
    assert changed[ratio > 0].any()  # which the paper's form cannot do
    assert g.has_shift
    np.testing.assert_array_equal(g.ratio(c.test.X), ratio)


def test_both_are_read_through_the_same_groups(fitted):
    c, g = fitted
    np.testing.assert_allclose(g.concepts_ @ g.concept_weights_, g.coef_, atol=1e-12)
    np.testing.assert_allclose(g.shift_concepts_ @ g.shift_weights_, g.shift_coef_, atol=1e-12)
    assert list(g.shift_concepts_) == [f"{name}, shift" for name in g.concepts_]
    assert (g.concept_weights_ <= 0).all()
    assert (g.shift_weights_ >= 0).all()
    assert list(g.concept_activations(c.test.X)) == [*g.concepts_, *g.shift_concepts_]
    encoded = g.encoder_.transform(c.test.X)
    ratio, shift = g.ratio_and_shift(c.test.X)
    np.testing.assert_allclose(encoded @ g.coef_ + g.intercept_, ratio)
    np.testing.assert_allclose(encoded @ g.shift_coef_ + g.shift_intercept_, shift)
    # A feature is in no second concept, neither of r nor of s; and the groups are those of the paper's form.
    groups = (g.concepts_ != 0).to_numpy() | (g.shift_concepts_ != 0).to_numpy()
    paper = fit(c, lambda_fair=3.0, lambda_concepts=0.05, n_concepts=3)
    assert ((groups | (paper.concepts_ != 0).to_numpy()).sum(axis=1) <= 1).all()


def test_the_lasso_makes_the_shift_sparse_too(fitted):
    c, g = fitted
    sparse = fit(c, lambda_fair=3.0, lambda_concepts=1.0, update="affine")
    assert len(g.shift_coef_) > (g.shift_coef_ != 0).sum() > (sparse.shift_coef_ != 0).sum()


def test_it_ends_at_f_where_it_must():
    c = case("law_school")
    for settings in ({"lambda_fair": 0.0}, {"lambda_fair": 2.0, "lambda_ratio": 1e6}):
        g = fit(c, update="affine", **settings)
        np.testing.assert_allclose(g.decision_function(c.test.X), base_logits(c.f, c.test.X), atol=1e-3)


def test_a_warm_start_of_the_other_form_is_not_taken():
    c = case("law_school")
    warm_start = WarmStart()
    fit(c, lambda_fair=1.0, warm_start=warm_start)
    after = fit(c, lambda_fair=1.0, warm_start=warm_start, update="affine")
    alone = fit(c, lambda_fair=1.0, update="affine")
    np.testing.assert_array_equal(after.shift_coef_, alone.shift_coef_)
    np.testing.assert_array_equal(
        fit(c, lambda_fair=0.8, warm_start=warm_start, update="affine").coef_,
        fit(c, lambda_fair=0.8, update="affine").coef_,
    )


@pytest.mark.parametrize("norm", ["fisher"])
def test_every_norm(norm):
    c = case("law_school")
    g = fit(c, lambda_fair=2.0, ratio_norm=norm, update="affine")
    assert g.converged_
    assert (g.predict(c.test.X) != c.f.predict(c.test.X)).any()


def test_a_model_fitted_again():
    c = case("law_school")
    g = fit(c, lambda_fair=1.0, update="affine")
    again = clone(g).set_params(update="ratio")
    again.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    assert not again.has_shift
    g.set_params(update="ratio").fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    assert not g.shift_coef_.any()
    pd.testing.assert_frame_equal(g.concepts_, again.concepts_)


@pytest.mark.parametrize("settings", [{"rescaler": "mlp"}, {"solver": "adversarial"}])
def test_what_cannot_shift_says_so(settings):
    c = case("law_school")
    with pytest.raises(ValueError, match="update='affine' is available for rescaler='linear' with solver='best_resp"):
        fit(c, update="affine", **settings)
    with pytest.raises(ValueError, match="update must be one of"):
        Commod(c.f, update="both").fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)


@pytest.mark.parametrize("by", ["concept", "feature"])
def test_the_sum_leads_from_f_to_g(fitted, by):
    c, g = fitted
    for place in range(5):
        x = c.test.X.iloc[[place]]
        table = g.explain_prediction(x, by=by)
        assert table.loc["f", "logit"] == pytest.approx(base_logits(c.f, x)[0])
        assert table["logit"].iloc[:-1].sum() == pytest.approx(table.loc["g", "logit"])
        assert table["logit_after"].iloc[-2] == pytest.approx(g.decision_function(x)[0])
        ratio, shift = g.ratio_and_shift(x)
        assert table.loc["g", ["ratio", "shift"]].tolist() == pytest.approx([ratio[0], shift[0]])
        assert table["shift"].iloc[:-1].sum() == pytest.approx(shift[0])


# ---- written down ----


def test_the_file_gives_the_model_back(fitted):
    c, g = fitted
    portable = load(portable_json(g))
    ratio, shift = g.ratio_and_shift(c.test.X)
    np.testing.assert_allclose(portable.ratio(c.test.X), ratio, rtol=0, atol=1e-9)
    np.testing.assert_allclose(portable.shift(c.test.X), shift, rtol=0, atol=1e-9)
    np.testing.assert_allclose(portable.predict_proba(c.test.X), g.predict_proba(c.test.X), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(portable.predict(c.test.X), g.predict(c.test.X))
    row = c.test.X.iloc[[4]]
    found = pd.DataFrame(portable.explain(row.iloc[0].to_dict())).set_index("term")
    expected = g.explain_prediction(row)
    assert list(found) == list(expected)
    np.testing.assert_allclose(found.to_numpy(dtype=float), expected.to_numpy(), rtol=0, atol=1e-9)


def test_a_model_without_a_shift_is_written_without_one(fitted):
    c, g = fitted
    content = to_portable(g)
    assert "s" in content
    plain = to_portable(fit(c))
    assert "s" not in plain
    assert not load(plain).shift(c.test.X).any()
    del content["s"]["concepts"][0]
    with pytest.raises(ValueError, match="This file is damaged: ValueError r and s"):
        load(content)
