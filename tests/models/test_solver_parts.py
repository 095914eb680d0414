"""The pieces of the solver against independent oracles: autograd, scipy, scikit-learn, finite differences."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from commod import Commod
from commod.models.adversary import ScoreAdversary, cross_entropy
from commod.models.best_response import SAMPLE_FEATURES, LinearProblem
from commod.models.concepts import feature_distances, group_features, unit_concepts
from commod.models.networks import ConceptNetwork, diversity_loss, sparsity_loss
from commod.models.objective import DesignMatrix, ScoreObjective
from commod.models.prices import WIDE, lasso_step
from commod.models.training import LossWeights, TrainingData, ratio_form

pytestmark = pytest.mark.quick


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, 300).astype(float)
    z = rng.normal(size=300) * 3 + s
    y = (rng.random(300) < 1 / (1 + np.exp(-z))).astype(float)
    return z, y, s


def test_cross_entropy_at_any_size_of_score():
    z = np.array([-800.0, -1.0, 0.0, 1.0, 800.0])
    y = np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    loss, p = cross_entropy(z, y)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor(z), torch.tensor(y)).item()
    assert loss == pytest.approx(expected)
    np.testing.assert_allclose(p, torch.sigmoid(torch.tensor(z)).numpy(), atol=1e-15)


def test_adversary_is_the_ridge_logistic_regression_on_its_basis(rows):
    z, _, s = rows
    adversary = ScoreAdversary(s)
    found = adversary.fit(z)
    # C = 1/(n·ridge); the constant is penalised too, so it enters as a column.
    oracle = LogisticRegression(C=1 / (len(z) * adversary.ridge), fit_intercept=False, tol=1e-10, max_iter=10_000)
    ((_, basis),) = found.bases
    oracle.fit(basis.T, s)
    np.testing.assert_allclose(found.phi[0], oracle.coef_[0], atol=1e-3)
    np.testing.assert_allclose(found.probability[0], oracle.predict_proba(basis.T)[:, 1], atol=1e-4)


@pytest.mark.parametrize("factor", [0.01, 1, 30, 1000])
def test_adversary_is_solved_from_any_start_at_any_scale(rows, factor):
    z, _, s = rows
    adversary = ScoreAdversary(s)
    cold = adversary.fit(factor * z)
    warm = adversary.fit(factor * z, start=np.random.default_rng(0).normal(size=cold.phi.shape) * 20)
    assert warm.loss == pytest.approx(cold.loss, abs=1e-9)
    assert cold.loss <= np.log(2) + 1e-9


def test_basis_is_the_gaussian_bumps_it_says(rows):
    z, _, s = rows
    adversary = ScoreAdversary(s)
    ((_, basis),) = adversary.fit(z).bases
    t, centers = np.tanh(z / adversary.scale), np.linspace(-1, 1, adversary.n_centers)
    np.testing.assert_allclose(basis[1:], np.exp(-0.5 * ((t - centers[:, None]) / adversary.width) ** 2), atol=1e-12)
    assert (basis[0] == 1).all()


@pytest.mark.parametrize("by_label", [False, True])
@pytest.mark.parametrize(("n_groups", "weighted"), [(2, False), (2, True), (4, False), (4, True)])
def test_gradient_and_hessian_are_those_of_the_solved_problem(rows, by_label, n_groups, weighted):
    z, y, s = rows
    rng = np.random.default_rng(2)
    order = ScoreObjective.order(y, by_label=by_label)
    weight = rng.exponential(size=300) if weighted else None
    if n_groups > 2:
        s = rng.integers(-1, n_groups, 300).astype(float)  # some are not known
    y, s, design = y[order], s[order], DesignMatrix(rng.normal(size=(300, 2)), [z[order]])
    A = design.of(slice(0, 300))
    objective = ScoreObjective(y, s, n_groups, weight, by_label=by_label)
    theta, lam = np.array([0.8, -0.3, 0.2]), 2.0

    def value(point):
        return objective.evaluate(point @ A).value(lam)

    terms = objective.newton_terms(objective.evaluate(theta @ A), lam, design)
    eye, h = np.eye(3), 1e-4
    numeric = [(value(theta + h * e) - value(theta - h * e)) / (2 * h) for e in eye]
    np.testing.assert_allclose(terms.gradient, numeric, atol=1e-6)
    by_z = A @ objective.gradient(objective.evaluate(theta @ A), lam)
    np.testing.assert_allclose(by_z, terms.gradient, atol=1e-10)

    def gradient(point):
        return objective.newton_terms(objective.evaluate(point @ A), lam, design).gradient

    numeric = [(gradient(theta + h * e) - gradient(theta - h * e)) / (2 * h) for e in eye]
    # Of more than two groups it is summed over bins of the score: it only steers.
    near = 1e-3 if n_groups == 2 else 0.01
    np.testing.assert_allclose(terms.hessian, numeric, rtol=near, atol=near)
    moved = np.array(
        [
            (objective.evaluate((theta + h * e) @ A).fits[0].phi - objective.evaluate((theta - h * e) @ A).fits[0].phi)
            / (2 * h)
            for e in eye
        ]
    )
    off = terms.responses[0] - np.moveaxis(moved, 0, -1)
    assert np.linalg.norm(off) < (0.005 if n_groups == 2 else 0.1) * np.linalg.norm(moved)


@pytest.mark.parametrize("seed", range(20))
def test_lasso_step_is_the_exact_minimum(seed):
    rng = np.random.default_rng(seed)
    d = 8
    root = rng.normal(size=(d, d))
    H, g = root @ root.T + 0.1 * np.eye(d), rng.normal(size=d) * 3
    start = np.where(rng.random(d) < 0.5, 0.0, rng.normal(size=d))
    penalty = np.where(np.arange(d) == 0, 0.0, rng.uniform(0.5, 3))
    x = lasso_step(g, H, start, penalty)
    slope = g + H @ (x - start)
    at_zero = x == 0
    np.testing.assert_allclose(slope[~at_zero], -penalty[~at_zero] * np.sign(x[~at_zero]), atol=1e-8)
    assert (np.abs(slope[at_zero]) <= penalty[at_zero] + 1e-8).all()
    # The same problem, split into positive and negative parts, by another solver.

    def split(parts):
        p, q = parts[:d], parts[d:]
        move = p - q - start
        grad = g + H @ move
        return g @ move + 0.5 * move @ H @ move + penalty @ (p + q), np.concatenate([grad + penalty, penalty - grad])

    oracle = minimize(split, np.ones(2 * d), jac=True, bounds=[(0, None)] * (2 * d), method="L-BFGS-B", tol=1e-12)
    assert split(np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)]))[0] <= oracle.fun + 1e-7


def test_many_weights_in_few_steps():
    """Of more weights than `WIDE`, each step leads down, and step after step to the minimum."""
    rng = np.random.default_rng(0)
    d = WIDE + 44
    root = rng.normal(size=(2 * d, d))
    H, g = root.T @ root / d + 0.1 * np.eye(d), rng.normal(size=d)
    penalty = np.where(np.arange(d) == 0, 0.0, 0.6)

    def value(x):
        return g @ x + 0.5 * x @ H @ x + penalty @ np.abs(x)

    x, values = np.zeros(d), [0.0]
    for _ in range(8):
        x = lasso_step(g + H @ x, H, x, penalty)
        values.append(value(x))
    assert (np.diff(values) <= 1e-12).all()
    slope, at_zero = g + H @ x, x == 0
    assert 0 < at_zero.sum() < d
    np.testing.assert_allclose(slope[~at_zero], -penalty[~at_zero] * np.sign(x[~at_zero]), atol=1e-8)
    assert (np.abs(slope[at_zero]) <= penalty[at_zero] + 1e-8).all()


@pytest.mark.parametrize("update", ["ratio", "affine"])
@pytest.mark.longer
def test_more_features_than_the_ladder_is_solved_on(update):
    rng = np.random.default_rng(0)
    n, d = 600, SAMPLE_FEATURES + 14
    s = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d))
    X[:, 7] += s
    y = (X[:, 7] + X[:, 8] + rng.normal(size=n) > 0.5).astype(int)
    scores = 1 / (1 + np.exp(-(X[:, 7] + X[:, 8] - 0.5)))
    models = [
        Commod(lambda_fair=2.5, lambda_concepts=0.3, update=update).fit(X, y, sensitive_features=s, base_scores=scores)
        for _ in range(2 if update == "ratio" else 1)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[-1].coef_)
    g = models[0]
    assert g.converged_
    assert len(g.coef_) == d
    assert g.path_rescalers_[1].coef.shape == (d,)
    assert g.path_["objective"].iloc[-1] < g.path_["objective"].iloc[0]
    assert abs(g.coef_["x7"]) + abs(g.shift_coef_["x7"]) > 0


def joined_one_by_one(mass, distance, k):
    """`group_features`, with all costs looked at before every join."""
    groups = [[i] for i in range(len(mass))]
    mass = mass + 1e-9 * (mass.max(initial=0.0) or 1.0)
    near = distance + np.diag(np.full(len(mass), np.inf))
    while len(groups) > k:
        cost = near * (mass[:, None] * mass / (mass[:, None] + mass))
        a, b = sorted(np.unravel_index(int(np.argmin(cost)), cost.shape))
        near[a] = near[:, a] = (mass[a] * near[a] + mass[b] * near[b]) / (mass[a] + mass[b])
        near[a, a] = np.inf
        mass[a] += mass[b]
        groups[a] += groups.pop(b)
        mass, near = np.delete(mass, b), np.delete(np.delete(near, b, axis=0), b, axis=1)
    return [sorted(group) for group in groups]


@pytest.mark.parametrize("seed", range(12))
def test_groups_are_those_of_the_cheapest_joins(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(4, 40))
    X = rng.normal(size=(60, d))
    if seed % 3 == 0:
        X = (X > 0.8) * 1.0
        X[:, 0] = X[:, 1]  # ties
    mass = rng.random(d) * (rng.random(d) < 0.7)
    distances = feature_distances(X, rng.integers(0, 5, d).tolist())
    for k in (1, 3):
        assert [g.tolist() for g in group_features(mass, distances, k)] == joined_one_by_one(mass, distances, k)


def test_ratio_form_is_the_weighted_square_of_r_minus_1(rows):
    z, y, s = rows
    X = np.random.default_rng(3).normal(size=(300, 4))
    data = TrainingData(X, z, y, s)
    theta = np.array([0.7, 0.1, -0.2, 0.3, 0.05])
    move = theta - np.eye(5)[0]
    r = theta[0] + X @ theta[1:]
    assert move @ ratio_form("identity", data) @ move == pytest.approx(np.mean((r - 1) ** 2))
    weights = np.linspace(0, 1, 300)
    expected = np.mean(weights / weights.mean() * (r - 1) ** 2)
    assert move @ ratio_form(weights, data) @ move == pytest.approx(expected)
    # KL(f‖g) ≈ ½·f(1−f)·logit²·(r−1)² near r = 1: the Fisher form is proportional to it.
    near = 1e-3 * move
    form = ratio_form("fisher", data)
    f = 1 / (1 + np.exp(-z))
    g = 1 / (1 + np.exp(-(1 + 1e-3 * (r - 1)) * z))
    divergence = np.mean(f * np.log(f / g) + (1 - f) * np.log((1 - f) / (1 - g)))
    scale = np.mean(f * (1 - f) * z**2)
    assert near @ form @ near * scale / 2 == pytest.approx(divergence, rel=1e-2)


def test_the_solver_cannot_be_improved_on_by_a_general_optimiser(rows):
    z, y, s = rows
    X = np.random.default_rng(4).normal(size=(300, 3))
    data, weights = TrainingData(X, z, y, s), LossWeights(1.5, 0.05, 0.0, 0.0, False)
    problem = LinearProblem(data, weights, ratio_form("identity", data))
    from commod.models.best_response import solve_linear

    found = solve_linear(data, weights, "identity").path[-1]

    def loss(theta):
        return problem.terms(problem.objective.evaluate(problem.A.scores(theta)), theta, 1.5)["objective"]

    start = np.concatenate([[found.rescaler.intercept], found.rescaler.coef])
    better = minimize(loss, start, method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-8, "fatol": 1e-12})
    assert found.terms["objective"] <= better.fun + 1e-7


def test_groups_follow_correlation_and_category():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=500), rng.normal(size=500)
    X = np.column_stack([a, a + 0.1 * rng.normal(size=500), b, b + 0.1 * rng.normal(size=500)])
    groups = group_features(np.ones(4), feature_distances(X, list("pqrs")), 2)
    assert [g.tolist() for g in groups] == [[0, 1], [2, 3]]
    independent = rng.normal(size=(500, 4))
    groups = group_features(np.ones(4), feature_distances(independent, ["p", "q", "p", "q"]), 2)
    assert [g.tolist() for g in groups] == [[0, 2], [1, 3]]
    directions, strengths = unit_concepts(np.array([3.0, 0, 4.0, 0]), groups, 2)
    assert strengths.tolist() == [5.0, 0.0]
    assert directions[:, 1].tolist() == [0, 0, 0, 0]


def test_concept_losses_do_what_the_corrections_say():
    network = ConceptNetwork(3, 2)
    with torch.no_grad():
        network.concepts.weight.copy_(torch.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
        network.output.weight.copy_(torch.tensor([[0.5, -2.0]]))
    assert sparsity_loss(network).item() == pytest.approx(0.5 * 3 + 2 * 3)
    assert diversity_loss(network).item() == 0
    before = sparsity_loss(network).item()
    with torch.no_grad():
        network.concepts.weight *= 10
        network.output.weight /= 10
    assert sparsity_loss(network).item() == pytest.approx(before)  # the scale is no way out
    with torch.no_grad():
        network.concepts.weight.copy_(torch.ones(2, 3))
    assert diversity_loss(network).item() == pytest.approx(1)
    assert diversity_loss(ConceptNetwork(3, 1)).item() == 0


@pytest.mark.parametrize("group", [0.0, 1.0])
def test_an_adversary_of_one_group_alone_starts_somewhere(group):
    adversary = ScoreAdversary(np.full(20, group))
    assert np.isfinite(adversary.start).all()
    assert 0 < adversary.ceiling < 1
