"""Logistic regression with a Wasserstein-1 penalty: against scipy's distance, differences and a search of the plane."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, brute
from scipy.special import expit
from scipy.stats import wasserstein_distance
from sklearn.linear_model import LogisticRegression

from commod.models.competitors import Wass1LogisticRegression
from commod.models.competitors.wasserstein import distance_to_barycentre
from tests.fitting import case
from tests.models.competitors.cases import base, people, positive_rates, standardised

pytestmark = pytest.mark.quick


def scores_of(groups, n=60, seed=0):
    rng = np.random.default_rng(seed)
    s = np.append(np.arange(groups), rng.integers(0, groups, n))
    return rng.beta(2 + s, 3), s, rng.uniform(0.2, 3.0, len(s))


def nearest_centre(p, s, weight):
    """Σ_s P(s)·W₁(scores of s, centre) at the best centre that has one score in each of 4,000 ranks."""
    rank = (np.arange(4000) + 0.5) / 4000
    quantiles, shares = [], []
    for group in np.unique(s):
        order = np.argsort(p[s == group])
        below = np.cumsum(weight[s == group][order]) / weight[s == group].sum()
        quantiles.append(p[s == group][order][np.searchsorted(below, rank)])
        shares.append(weight[s == group].sum() / weight.sum())
    each = np.array(quantiles)
    costs = [np.array(shares) @ np.abs(each - candidate) for candidate in each]  # the best centre is one of them
    centre = np.choose(np.argmin(costs, axis=0), each)
    return sum(
        share * wasserstein_distance(p[s == group], centre, weight[s == group])
        for share, group in zip(shares, np.unique(s), strict=True)
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("groups", [2, 3, 5])
def test_the_distance_is_scipys_to_the_nearest_centre(groups, weighted):
    p, s, weight = scores_of(groups)
    weight = weight if weighted else np.ones(len(p))
    found, _ = distance_to_barycentre(p, s, weight, rounding=0.0)
    assert found == pytest.approx(nearest_centre(p, s, weight), abs=2e-3)
    if groups == 2:
        between = wasserstein_distance(p[s == 0], p[s == 1], weight[s == 0], weight[s == 1])
        share = weight[s == 1].sum() / weight.sum()
        assert found == pytest.approx(min(share, 1 - share) * between)
    assert distance_to_barycentre(p, s, weight)[0] == pytest.approx(found, abs=1.1e-3)


@pytest.mark.parametrize("groups", [2, 4])
def test_the_derivative_by_differences(groups):
    p, s, weight = scores_of(groups, n=30, seed=3)
    _, slope = distance_to_barycentre(p, s, weight)
    numeric = approx_fprime(p, lambda q: distance_to_barycentre(q, s, weight)[0], 1e-8)
    np.testing.assert_allclose(slope, numeric, atol=1e-6)
    assert np.abs(slope).max() > 1e-3


def test_whole_weights_are_repeated_scores():
    p, s, _ = scores_of(3)
    weight = 1 + np.arange(len(p)) % 3
    rows = np.repeat(np.arange(len(p)), weight)
    found, slope = distance_to_barycentre(p, s, weight)
    repeated, each = distance_to_barycentre(p[rows], s[rows], np.ones(len(rows)))
    assert found == pytest.approx(repeated)
    np.testing.assert_allclose(slope, np.bincount(rows, each), atol=1e-12)


def test_equal_distributions_are_at_no_distance():
    p, s = np.tile([0.2, 0.5, 0.9], 2), np.repeat([0, 1], 3)
    value, slope = distance_to_barycentre(p, s, np.ones(6))
    assert value == pytest.approx(0)
    np.testing.assert_allclose(slope, 0, atol=1e-12)


def test_without_the_penalty_it_is_scikit_learns_regression():
    X, y, s = people()
    g = Wass1LogisticRegression(beta=0.0).fit(X, y, sensitive_features=s)
    expected = LogisticRegression(tol=1e-8).fit(standardised(X), y)
    np.testing.assert_allclose(g.coef_, expected.coef_[0], atol=1e-3)
    np.testing.assert_allclose(g.predict_proba(X), expected.predict_proba(standardised(X)), atol=1e-3)
    weight = np.random.default_rng(0).uniform(0.1, 4, len(y))
    g = Wass1LogisticRegression(beta=0.0).fit(X, y, sensitive_features=s, sample_weight=weight)
    Z = g.encoder_.transform(X)
    expected = LogisticRegression(tol=1e-8).fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(g.coef_, expected.coef_[0], atol=1e-3)


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_no_point_of_the_plane_has_a_smaller_loss(beta):
    X, y, s = people(120)
    X = X[:, [0]]
    g = Wass1LogisticRegression(beta=beta).fit(X, y, sensitive_features=s)
    z = standardised(X)[:, 0]
    share = min(np.mean(s), 1 - np.mean(s))

    def loss(theta):
        p = expit(theta[0] * z + theta[1])
        entropy = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
        apart = share * wasserstein_distance(p[s == 0], p[s == 1])
        return entropy + beta * apart + theta[0] ** 2 / (2 * len(y))

    _, least, _, _ = brute(loss, ((-2, 3), (-2, 2)), Ns=41, full_output=True)
    assert loss([g.coef_[0], g.intercept_]) < least + 1e-3
    assert loss([0.0, 0.0]) > least + 0.001


@pytest.mark.longer
def test_more_weight_draws_the_groups_together_on_law_school():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    penalties, apart = [], []
    for beta in (0.0, 10.0):
        g = Wass1LogisticRegression(c.f, beta=beta).fit(c.train.X, c.train.y, sensitive_features=s)
        p = g.predict_proba(c.train.X)[:, 1]
        share = min(np.mean(s), 1 - np.mean(s))
        assert g.penalty_ == pytest.approx(share * wasserstein_distance(p[s == 0], p[s == 1]), abs=1.1e-3)
        penalties.append(g.penalty_)
        low, high = sorted(positive_rates(g.predict(c.train.X), s))
        apart.append(high - low)
    assert (np.diff(penalties) < 0).all()
    assert (np.diff(apart) < 0).all()
    assert apart[0] > 0.35
    assert apart[-1] < 0.1


def test_the_line_is_moved_with_the_threshold_and_with_a_budget():
    X, y, s = people()
    f = base(X, y)
    strict = Wass1LogisticRegression(f, threshold=0.8, beta=1.0).fit(X, y, sensitive_features=s)
    p = Wass1LogisticRegression(f, beta=1.0).fit(X, y, sensitive_features=s).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(strict.predict(X), p > 0.8)
    few = Wass1LogisticRegression(f, threshold="budget:0.2", beta=1.0).fit(X, y, sensitive_features=s)
    assert few.predict(X).mean() == pytest.approx(0.2, abs=0.005)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"beta": -0.1}, "beta must be a number of 0 or more"),
        ({"max_iter": 0}, "max_iter must be a whole number of 1 or more"),
        ({"fairness": "equalized_odds"}, "fairness must be one of 'demographic_parity'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=message):
        Wass1LogisticRegression(**setting).fit(X, y, sensitive_features=s)
