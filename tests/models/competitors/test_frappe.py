"""FRAPPE: the MMD against its double sum, the fit against a general optimiser, and the two ends of its knob."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from commod.metrics import disparate_mistreatment, p_rule
from commod.models.competitors import Frappe
from commod.models.competitors.base import Rows
from commod.models.competitors.frappe import _contrasts
from commod.models.competitors.frappe import mmd as mmd_of
from tests.fitting import case
from tests.models.competitors.cases import base, people, standardised

pytestmark = pytest.mark.quick

ARCHITECTURES = ("linear", "mlp")
CRITERIA = ("demographic_parity", "equalized_odds")


def mmd(u, v):
    """The double sum, with kernel exp(−(a−b)²/0.1²)."""

    def mean_kernel(a, b):
        return np.exp(-(np.subtract.outer(a, b) ** 2) / 0.1**2).mean()

    return mean_kernel(u, u) + mean_kernel(v, v) - 2 * mean_kernel(u, v)


def two(u, v):
    """The same of ours, and its slopes in u and in v."""
    contrast = np.r_[np.full(len(u), 1 / len(u)), np.full(len(v), -1 / len(v))]
    value, slope = mmd_of(np.r_[u, v], contrast[:, None])
    return value, slope[: len(u)], slope[len(u) :]


scores = st.lists(st.floats(0, 1), min_size=1, max_size=8).map(np.array)


@settings(max_examples=200, deadline=None)
@given(scores, scores)
def test_mmd_is_the_double_sum(u, v):
    assert two(u, v)[0] == pytest.approx(mmd(u, v), abs=1e-8)  # as its docstring says


@pytest.mark.parametrize("seed", range(5))
def test_slopes_of_the_mmd(seed):
    rng = np.random.default_rng(seed)
    u, v = rng.beta(2, 3, 7), rng.beta(3, 2, 11)
    _, by_u, by_v = two(u, v)
    h = 1e-5
    numeric_u = [(mmd(u + h * e, v) - mmd(u - h * e, v)) / (2 * h) for e in np.eye(7)]
    numeric_v = [(mmd(u, v + h * e) - mmd(u, v - h * e)) / (2 * h) for e in np.eye(11)]
    np.testing.assert_allclose(by_u, numeric_u, atol=1e-6)
    np.testing.assert_allclose(by_v, numeric_v, atol=1e-6)


@pytest.mark.parametrize("seed", range(2))
def test_each_group_against_everyone_is_the_sum_of_their_mmd(seed):
    rng = np.random.default_rng(seed)
    u, s = rng.beta(2, 3, 15), np.arange(15) % 3
    rows = Rows(u[:, None], u, s)
    contrasts = _contrasts(rows, np.arange(15))
    value, slope = mmd_of(u, contrasts)

    def expected(scores):
        return sum(mmd(scores[s == group], scores) for group in range(3))

    assert value == pytest.approx(expected(u), abs=1e-7)
    h = 1e-5
    numeric = [(expected(u + h * e) - expected(u - h * e)) / (2 * h) for e in np.eye(15)]
    np.testing.assert_allclose(slope, numeric, atol=1e-6)
    # Of two groups it is the distance of the two, and weights are repeated rows.
    one, other = u[s == 0], u[s > 0]
    of_two = Rows(u[:, None], u, (s > 0).astype(int))
    assert mmd_of(u, _contrasts(of_two, np.arange(15)))[0] == pytest.approx(two(one, other)[0], abs=1e-12)
    weight = np.arange(15) % 2 + 1
    weighed = Rows(u[:, None], u, (s > 0).astype(int), weight.astype(float))
    twice = np.repeat(u, weight)
    expected_twice = two(twice[np.repeat(s, weight) == 0], twice[np.repeat(s, weight) > 0])[0]
    assert mmd_of(u, _contrasts(weighed, np.arange(15)))[0] == pytest.approx(expected_twice, abs=1e-12)


def test_mmd_by_hand():
    far, near = two(np.array([0.0]), np.array([1.0])), two(np.array([0.4]), np.array([0.5]))
    assert far[0] == pytest.approx(2, abs=1e-7)
    assert near[0] == pytest.approx(2 - 2 / np.e, abs=1e-7)
    assert two(np.array([0.2, 0.9]), np.array([0.9, 0.2]))[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("fairness", CRITERIA)
def test_without_weight_g_is_f_exactly(architecture, fairness):
    c = case("law_school")
    g = Frappe(c.f, lambda_mmd=0.0, architecture=architecture, fairness=fairness)
    g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    p = c.f.predict_proba(c.test.X)[:, 1]
    np.testing.assert_array_equal(g.decision_function(c.test.X), np.log(p / (1 - p)))
    np.testing.assert_array_equal(g.predict(c.test.X), c.f.predict(c.test.X))


@pytest.mark.parametrize("fairness", CRITERIA)
def test_the_linear_fit_cannot_be_improved_on_by_a_general_optimiser(fairness):
    X, y, s = people(120)
    X = X[:, :2]
    f = base(X, y)
    p, x, weight = f.predict_proba(X)[:, 1], standardised(X), 2.0
    strata = [np.ones(120, dtype=bool)] if fairness == "demographic_parity" else [y == 0, y == 1]

    def loss(q):
        kl = np.mean(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
        return kl + weight * sum(mmd(q[here & (s == 0)], q[here & (s == 1)]) for here in strata)

    def of_line(theta):
        return loss(1 / (1 + np.exp(-(np.log(p / (1 - p)) + theta[0] + x @ theta[1:]))))

    g = Frappe(f, lambda_mmd=weight, fairness=fairness).fit(X, y, sensitive_features=s)
    found = loss(g.predict_proba(X)[:, 1])
    options = {"maxiter": 500, "xatol": 1e-6, "fatol": 1e-9}
    better = minimize(
        of_line, np.r_[g.correction_.intercept, g.correction_.coef], method="Nelder-Mead", options=options
    )
    assert found <= better.fun + 1e-6
    assert found < loss(p) - 0.01
    assert of_line(np.r_[g.correction_.intercept, g.correction_.coef]) == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_loss_and_slope_handed_to_the_optimiser(monkeypatch, architecture, fairness):
    X, y, s = people(60)
    X = X[:, :2]
    f = base(X, y)
    p, x, weight = f.predict_proba(X)[:, 1], standardised(X), 1.5
    strata = [np.ones(60, dtype=bool)] if fairness == "demographic_parity" else [y == 0, y == 1]

    def expected(theta):
        if architecture == "linear":  # two concepts, their weights, a constant
            correction = (x @ theta[:4].reshape(2, 2).T) @ theta[4:6] + theta[6]
        else:  # three hidden units
            hidden = np.maximum(x @ theta[:6].reshape(3, 2).T + theta[6:9], 0)
            correction = hidden @ theta[9:12] + theta[12]
        q = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + correction)))
        kl = np.mean(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
        return kl + weight * sum(mmd(q[here & (s == 0)], q[here & (s == 1)]) for here in strata)

    seen = []

    def look(loss, start, args, **options):
        if args == (weight,):  # the last value
            nothing = start.copy()
            nothing[-3 if architecture == "linear" else -4 :] = 0  # T ≡ 0
            at_f, _ = loss(nothing, weight)
            for seed in range(3):
                theta = start + np.random.default_rng(seed).normal(size=len(start))
                seen.append((theta, *loss(theta, weight), at_f))
        return minimize(loss, start, args=args, **options)

    monkeypatch.setattr("commod.models.competitors.frappe.minimize", look)
    Frappe(f, lambda_mmd=weight, fairness=fairness, architecture=architecture, width=3, max_iter=5).fit(
        X, y, sensitive_features=s
    )
    assert len(seen) == 3
    for theta, value, slope, at_f in seen:
        zero = np.zeros_like(theta)
        assert value - at_f == pytest.approx(expected(theta) - expected(zero), abs=1e-7)  # KL but for f's own entropy
        numeric = [(expected(theta + 1e-6 * e) - expected(theta - 1e-6 * e)) / 2e-6 for e in np.eye(len(theta))]
        np.testing.assert_allclose(slope, numeric, atol=1e-6)


@pytest.mark.parametrize("architecture", ["linear", pytest.param("mlp", marks=pytest.mark.slow)])
@pytest.mark.longer
def test_a_larger_weight_is_fairer(architecture):
    c = case("law_school")
    s = c.train.sensitive
    for fairness, unfairness in zip(CRITERIA, (lambda *a, **k: -p_rule(*a, **k), disparate_mistreatment), strict=True):
        measured = []
        for weight in (0.0, 0.5, 30.0):
            g = Frappe(c.f, lambda_mmd=weight, architecture=architecture, fairness=fairness, width=16, max_iter=60)
            g.fit(c.train.X, c.train.y, sensitive_features=s)
            measured.append(unfairness(c.train.y, g.predict(c.train.X), sensitive_features=s))
        assert all(later < earlier - 0.02 for earlier, later in pairwise(measured)), measured


def test_concepts_are_unit_directions_that_add_up_to_the_correction():
    c = case("law_school")
    g = Frappe(c.f, lambda_mmd=3.0, n_concepts=3).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    np.testing.assert_allclose(np.linalg.norm(g.concepts_.to_numpy(), axis=0), 1.0)
    product = g.concepts_ @ g.concept_weights_
    np.testing.assert_allclose(product.to_numpy(), g.correction_.coef, atol=1e-12)
    assert list(g.concepts_.columns) == ["Concept 1", "Concept 2", "Concept 3"]
    assert list(g.concepts_.index) == g.encoder_.feature_names_out_
    p = c.f.predict_proba(c.test.X)[:, 1]
    expected = np.log(p / (1 - p)) + g.correction_.intercept + g.encoder_.transform(c.test.X) @ product.to_numpy()
    np.testing.assert_allclose(g.decision_function(c.test.X), expected, atol=1e-9)
    assert 1 <= g.n_iter_ <= 300


def test_a_hidden_layer_has_no_concepts():
    X, y, s = people(100)
    f = base(X, y)
    g = Frappe(f, architecture="mlp", width=4, max_iter=5).fit(X, y, sensitive_features=s)
    assert not hasattr(g, "concepts_")
    assert g.correction_.hidden.shape == (4, 4)
    assert g.n_iter_ == 5


def test_a_refit_with_a_hidden_layer_leaves_no_old_concepts_behind():
    X, y, s = people(100)
    g = Frappe(base(X, y), max_iter=5).fit(X, y, sensitive_features=s)
    g.set_params(architecture="mlp").fit(X, y, sensitive_features=s)
    assert not hasattr(g, "concepts_")
    assert not hasattr(g, "concept_weights_")


def test_the_sensitive_column_is_no_input_unless_x_holds_it():
    X, y, s = people(200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    g = Frappe(base(frame, y)).fit(frame, y, sensitive_features=s)
    assert list(g.concepts_.index) == list("abcd")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"lambda_mmd": -1.0}, "lambda_mmd must be a number of 0 or more"),
        ({"architecture": "tree"}, "architecture must be one of 'linear', 'mlp'"),
        ({"n_concepts": 0}, "n_concepts must be a whole number of 1 or more"),
        ({"architecture": "mlp", "width": 0}, "width must be a whole number"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"fairness": "parity"}, "fairness must be one of"),
        ({"random_state": None}, "random_state must be a whole number"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(100)
    with pytest.raises(ValueError, match=message):
        Frappe(base(X, y), **setting).fit(X, y, sensitive_features=s)
