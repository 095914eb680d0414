"""FST and FairProjection against a direct solve of what they minimise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from commod.models.competitors import FST, FairProjection
from commod.models.competitors.projection import _tilted
from tests.fitting import case
from tests.models.competitors.cases import GivenJoint, base, people, standardised

pytestmark = pytest.mark.quick

CRITERIA = ("demographic_parity", "equalized_odds")
N = 12


def twelve(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    s, y = np.tile([0, 1], 6), np.repeat([0, 1], 6)
    membership = GivenJoint(3, seed=seed + 5, spread=1.5)
    # f goes with the group, so that the constraints bind.
    joint = membership.joint(standardised(X))
    f = 1 / (1 + np.exp(-(rng.normal(size=N) * 0.7 + 3 * (joint.sum(axis=2)[:, 1] - 0.5))))
    return X, y, s, f, membership, joint


def group_and_common_means(joint, fairness):
    """Rows of weights: the mean of a score under a group (and label), and under everyone (of that label)."""
    conditions = [joint.sum(axis=2)] if fairness == "demographic_parity" else [joint[:, :, y] for y in (0, 1)]
    pairs = []
    for density in conditions:
        common = density.sum(axis=1) / density.sum()
        pairs += [(density[:, group] / density[:, group].sum(), common) for group in (0, 1)]
    return pairs


def solve(objective, constraints, start):
    """The primal by SLSQP over the 12 scores."""
    result = minimize(
        objective,
        start,
        method="SLSQP",
        bounds=[(1e-6, 1 - 1e-6)] * N,
        constraints=[{"type": "ineq", "fun": constraint} for constraint in constraints],
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert result.success
    return result


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("epsilon", [0.1, 0.02])
@pytest.mark.parametrize("fairness", CRITERIA)
def test_fst_is_the_score_of_least_cross_entropy(fairness, epsilon, seed):
    X, y, s, f, membership, joint = twelve(seed)
    pairs = group_and_common_means(joint, fairness)

    def cross_entropy(g):
        return -np.mean(f * np.log(g) + (1 - f) * np.log(1 - g))

    def gaps(g):
        return np.array([group @ g - common @ g for group, common in pairs])

    oracle = solve(cross_entropy, [lambda g: epsilon - gaps(g), lambda g: epsilon + gaps(g)], np.full(N, f.mean()))
    g = FST(epsilon=epsilon, fairness=fairness, membership=membership).fit(X, y, sensitive_features=s, base_scores=f)
    p = g.predict_proba(X, base_scores=f)[:, 1]
    assert np.abs(gaps(f)).max() > epsilon
    assert np.abs(gaps(p)).max() == pytest.approx(epsilon, abs=1e-4)
    assert cross_entropy(p) == pytest.approx(oracle.fun, abs=1e-5)
    np.testing.assert_allclose(p, oracle.x, atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("epsilon", [0.2, 0.05])
@pytest.mark.parametrize("fairness", CRITERIA)
def test_fair_projection_is_the_score_of_least_divergence(fairness, epsilon, seed):
    X, y, s, f, membership, joint = twelve(seed)
    pairs = group_and_common_means(joint, fairness)

    def divergence(g):
        return np.mean(g * np.log(g / f) + (1 - g) * np.log((1 - g) / (1 - f)))

    def ratios(g):
        both = [(group @ p, common @ p) for group, common in pairs for p in (g, 1 - g)]
        return np.array([group / common - 1 for group, common in both])

    oracle = solve(divergence, [lambda g: epsilon - ratios(g), lambda g: epsilon + ratios(g)], np.full(N, f.mean()))
    g = FairProjection(epsilon=epsilon, fairness=fairness, membership=membership)
    p = g.fit(X, y, sensitive_features=s, base_scores=f).predict_proba(X, base_scores=f)[:, 1]
    assert np.abs(ratios(f)).max() > epsilon
    assert np.abs(ratios(p)).max() == pytest.approx(epsilon, abs=1e-3)
    assert divergence(p) == pytest.approx(oracle.fun, abs=1e-5)
    np.testing.assert_allclose(p, oracle.x, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize(("method", "epsilon"), [(FST, 1.0), (FairProjection, 10.0)])
def test_a_large_epsilon_gives_f(method, epsilon, fairness):
    c = case("law_school")
    g = method(c.f, epsilon=epsilon, fairness=fairness)
    g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    np.testing.assert_array_equal(g.multipliers_, 0)
    np.testing.assert_allclose(g.predict_proba(c.test.X), c.f.predict_proba(c.test.X), atol=1e-12)
    np.testing.assert_array_equal(g.predict(c.test.X), c.f.predict(c.test.X))


@pytest.mark.slow
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("method", [FST, FairProjection])
@pytest.mark.parametrize("data", ["law_school", pytest.param("compas", marks=pytest.mark.slow)])
@pytest.mark.longer
def test_the_constraints_are_met_on_the_training_rows(data, method, fairness):
    c = case(data)
    epsilon = 0.02 if method is FST else 0.05
    g = method(c.f, epsilon=epsilon, fairness=fairness)
    g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    joint = g.membership_.joint(g.encoder_.transform(c.train.X))
    p, f = g.predict_proba(c.train.X)[:, 1], c.f.predict_proba(c.train.X)[:, 1]
    for group, common in group_and_common_means(joint, fairness):
        if method is FST:
            assert abs(group @ p - common @ p) <= epsilon + 1e-4
        else:
            assert abs((group @ p) / (common @ p) - 1) <= epsilon + 1e-4
            assert abs((group @ (1 - p)) / (common @ (1 - p)) - 1) <= epsilon + 1e-4
    assert np.abs(p - f).max() > 0.05


def test_fst_at_epsilon_zero_makes_the_means_equal():
    X, y, s = people()
    f = base(X, y)
    g = FST(f, epsilon=0.0, membership=GivenJoint(4)).fit(X, y, sensitive_features=s)
    joint = GivenJoint(4).joint(standardised(X))
    p = g.predict_proba(X)[:, 1]
    for group, common in group_and_common_means(joint, "demographic_parity"):
        assert group @ p == pytest.approx(common @ p, abs=1e-4)


@settings(max_examples=300, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6), st.floats(-1e3, 1e3))
def test_the_tilted_score_is_the_root(score, tilt):
    g = _tilted(np.array([score]), np.array([tilt]))[0]
    assert 0 < g < 1
    # μg² − (1+μ)g + f, relative to the size of its terms.
    assert abs(tilt * g * g - (1 + tilt) * g + score) <= 1e-9 * (1 + abs(tilt))


def test_the_tilted_score_without_a_tilt_is_the_score():
    scores = np.array([1e-6, 0.2, 0.5, 0.9])
    np.testing.assert_array_equal(_tilted(scores, np.zeros(4)), scores)
    np.testing.assert_allclose(_tilted(scores, np.full(4, 1e-15)), scores)
    np.testing.assert_allclose(_tilted(np.array([0.25]), np.array([-1.0])), [0.5])  # g² = f


@pytest.mark.parametrize("method", [FST, FairProjection])
def test_bad_settings(method):
    X, y, s = people(60)
    f = base(X, y)
    with pytest.raises(ValueError, match="epsilon must be a number of 0 or more"):
        method(f, epsilon=-0.1).fit(X, y, sensitive_features=s)
    with pytest.raises(ValueError, match="fairness must be one of"):
        method(f, fairness="parity").fit(X, y, sensitive_features=s)
