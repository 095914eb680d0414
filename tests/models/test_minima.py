"""The search for the lowest minimum: what a jump promises, what is found, and that it is deterministic."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from commod.metrics import CRITERIA
from commod.models import WarmStart
from commod.models.best_response import LinearProblem, solve_linear
from commod.models.training import LossWeights, TrainingData, ratio_form
from commod.models.validation import loss_weights
from tests.fitting import case, fit
from tests.random_starts import lowest_loss, training_data


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    n = 400
    X = np.column_stack([rng.normal(size=n), rng.random(n) < 0.3, rng.random(n) < 0.6]).astype(float)
    s = (rng.random(n) < 0.3 + 0.4 * X[:, 1]).astype(float)
    logit = rng.normal(size=n) * 2 + X[:, 1]
    y = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(float)
    return TrainingData((X - X.mean(0)) / X.std(0), logit, y, s)


@pytest.mark.parametrize("by_label", [False, True])
@pytest.mark.parametrize("n_groups", [2, 4])
def test_a_jump_promises_the_loss_against_the_adversary_as_it_stands(rows, by_label, n_groups):
    if n_groups > 2:
        rng = np.random.default_rng(5)
        codes = rng.integers(-1, n_groups, len(rows.y)).astype(float)  # some are not known
        rows = replace(rows, sensitive=codes, n_groups=n_groups, weight=rng.exponential(size=len(codes)))
    data = rows.sorted_for(by_label)
    problem = LinearProblem(data, LossWeights(2.0, 0.05, 0.0, 0.0, by_label), ratio_form("identity", data))
    objective = problem.objective
    theta = np.array([0.8, 0.1, -0.2, 0.1])
    state = problem.objective.evaluate(problem.A.scores(theta))

    def fixed(z):
        """L_Y − 2·L_S of z, row by row, each adversary's weights held."""
        total = (np.logaddexp(0, z) - data.y * z) * (1.0 if objective.weight is None else objective.weight)
        for adversary, part, answer in zip(objective.adversaries, objective.strata, state.fits, strict=True):
            guess = adversary.guess(answer, z[part])
            told = adversary.counts_for @ (np.logaddexp(0, guess) - adversary.truth * guess)
            total[part] -= 2 * told * (1.0 if objective.asked_weight is None else objective.asked_weight[part])
        return total.mean()

    jumps = problem.levels.jumps(state, 2.0, problem.ratio(theta))
    assert {*(jumps.weight - 1)} == {1, 2}  # the first has more than two values
    penalties = problem.penalties_after(theta, jumps)
    for which, (column, gain) in enumerate(zip(jumps.weight - 1, jumps.gain, strict=True)):
        moved = jumps.after(theta, which)
        assert penalties[which] == pytest.approx(problem.penalties(moved))
        shift = problem.ratio(moved) - problem.ratio(theta)
        inside = data.X[:, column] == data.X[:, column].max()
        np.testing.assert_allclose(shift[~inside], 0, atol=1e-12)
        np.testing.assert_allclose(shift[inside], shift[inside][0])
        assert gain == pytest.approx(fixed(problem.A.scores(theta)) - fixed(problem.A.scores(moved)), abs=1e-4)
        # The adversaries' answer can only raise the loss (but for their ridge, which is small).
        answered = problem.objective.evaluate(problem.A.scores(moved)).value(2.0)
        assert state.value(2.0) - gain <= answered + 1e-3


def test_data_without_levels_have_nowhere_to_jump(rows):
    data = TrainingData(rows.X[:, :1], rows.logit, rows.y, rows.sensitive)
    problem = LinearProblem(data, LossWeights(2.0, 0.05, 0.0, 0.0, False), ratio_form("identity", data))
    assert len(problem.levels.jumps(problem.start, 2.0, problem.ratio(problem.identity))) == 0
    assert solve_linear(data, LossWeights(3.0, 0.05, 0.01, 0.0, False), "identity").converged


@pytest.mark.slow
def test_as_low_as_the_best_of_random_starts_nearly_everywhere():
    """The whole grid is in ``tests.benchmarks.minima``."""
    missed = []
    for name, fairness, lambda_fair in product(("law_school", "compas"), CRITERIA, (3.0,)):
        c = case(name)
        g = fit(c, lambda_fair=lambda_fair, fairness=fairness)
        if g.path_["objective"].iloc[-1] > lowest_loss(c, g, n_starts=6) + 1e-5:
            missed.append((name, fairness, lambda_fair))
    assert len(missed) <= 1, missed


def test_the_loss_of_the_model_is_the_one_of_its_path():
    """Computed again from the finished model, not read off the solver."""
    c = case("law_school")
    g = fit(c, lambda_fair=3.0)
    data = training_data(c, g)
    weights = loss_weights(g, g.classes_)
    problem = LinearProblem(data, weights, ratio_form("identity", data))
    theta = np.concatenate([[g.intercept_], g.coef_.to_numpy()])
    again = problem.terms(problem.objective.evaluate(problem.A.scores(theta)), theta, 3.0)
    assert again["objective"] == pytest.approx(g.path_["objective"].iloc[-1], abs=1e-8)


@pytest.mark.parametrize("order", [(4.2, 1.3, 2.6), pytest.param((1.3, 4.2, 2.6), marks=pytest.mark.slow)])
def test_a_path_resumed_from_memory_is_the_same_to_the_last_digit(order):
    c, warm_start = case("law_school"), WarmStart()
    for lambda_fair in order:
        warm = fit(c, lambda_fair=lambda_fair, warm_start=warm_start)
        alone = fit(c, lambda_fair=lambda_fair)
        assert warm.coef_.equals(alone.coef_)
        assert warm.path_.equals(alone.path_)
        assert warm.history_.equals(alone.history_)


def test_a_search_can_be_stopped_and_keeps_what_it_has():
    c = case("law_school")
    seen = []

    def stop(step, n_steps, terms):
        seen.append(terms)
        return len(seen) == 15

    g = fit(c, lambda_fair=4.0, callback=stop)
    assert g.stopped_
    assert len(seen) == 15
    whole = fit(c, lambda_fair=4.0)
    assert whole.converged_
