"""What must hold of the default solver: smooth, no bad basin, limits, sparse, stable, few changes."""

from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from commod.metrics import p_rule
from commod.models import WarmStart
from tests.fitting import case, fit, test_change_rate

COARSE = (0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10)
FINE = np.round(np.arange(0, 5.001, 0.05), 2)
CRITERIA = ("demographic_parity", "equalized_odds")
MAX_CHANGES = {"law_school": 0.35, "compas": 0.30}
# The second one in the slow tests.
each_data_set = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n != "law_school")) for n in MAX_CHANGES]
)


@cache
def coarse_fits(name, fairness, seed):
    warm_start = WarmStart()
    return [fit(case(name, seed), lambda_fair=float(lam), fairness=fairness, warm_start=warm_start) for lam in COARSE]


@pytest.mark.parametrize("seed", [pytest.param(s, marks=pytest.mark.slow if s else ()) for s in range(5)])
@pytest.mark.parametrize("fairness", [CRITERIA[0], pytest.param(CRITERIA[1], marks=pytest.mark.slow)])
@each_data_set
class TestAlongTheSlider:
    def test_changes_grow_with_lambda_fair(self, name, fairness, seed):
        changes = [g.path_["change_rate"].iloc[-1] for g in coarse_fits(name, fairness, seed)]
        assert spearmanr(COARSE, changes).statistic >= 0.95

    def test_no_bad_basin(self, name, fairness, seed):
        c = case(name, seed)
        for g in coarse_fits(name, fairness, seed):
            assert g.path_["change_rate"].iloc[-1] < MAX_CHANGES[name]
            assert test_change_rate(c, g) < MAX_CHANGES[name]
            at_f = g.path_.iloc[0]
            objective_at_f = at_f["label_loss"] - g.lambda_fair * at_f["adversary_loss"]
            assert g.path_["objective"].iloc[-1] <= objective_at_f
            assert g.converged_

    def test_converged_and_adversary_is_fooled_more_and_more(self, name, fairness, seed):
        losses = [g.path_["adversary_loss"].iloc[-1] for g in coarse_fits(name, fairness, seed)]
        assert all(later >= earlier - 1e-4 for earlier, later in pairwise(losses))


def largest_step(name, fairness, seed, grid):
    c, warm_start = case(name, seed), WarmStart()
    changes = [
        test_change_rate(c, fit(c, lambda_fair=float(lam), fairness=fairness, warm_start=warm_start)) for lam in grid
    ]
    return max(abs(b - a) for a, b in pairwise(changes))


@pytest.mark.slow
@pytest.mark.parametrize("fairness", ["demographic_parity", "equalized_odds"])
def test_no_jump_from_one_slider_step_to_the_next(fairness):
    assert largest_step("law_school", fairness, seed=0, grid=FINE[::2]) <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("name", MAX_CHANGES)
def test_no_jump_in_finer_steps_on_any_split(name, fairness, seed):
    assert largest_step(name, fairness, seed, FINE) <= 0.03


@each_data_set
class TestLimits:
    @pytest.mark.parametrize("fairness", CRITERIA)
    def test_without_fairness_or_under_an_infinite_anchor_g_is_f(self, name, fairness):
        c = case(name)
        rows = pd.concat([c.train.X, c.test.X])
        for settings in ({"lambda_fair": 0.0}, {"lambda_fair": 2.0, "lambda_ratio": 1e6}):
            g = fit(c, fairness=fairness, **settings)
            assert (g.predict(rows) == c.f.predict(rows)).all()
        np.testing.assert_array_equal(fit(c, lambda_fair=0.0).ratio(rows), 1.0)

    def test_a_larger_lambda_ratio_never_changes_more(self, name):
        c = case(name)
        changes = [test_change_rate(c, fit(c, lambda_fair=3.0, lambda_ratio=lam)) for lam in (0, 0.05, 0.5)]
        assert all(later <= earlier + 0.01 for earlier, later in pairwise(changes))

    def test_sparsity_falls_to_exact_zeros(self, name):
        c = case(name)
        grid = (0, 0.01, 0.1, 1.0)
        fits = [fit(c, lambda_fair=2.0, lambda_concepts=lam) for lam in grid]
        counts = [int((g.coef_.abs() > 0.01).sum()) for g in fits]
        zeros = [int((g.coef_ == 0).sum()) for g in fits]
        assert all(later <= earlier for earlier, later in pairwise(counts)), counts
        assert counts[-1] <= counts[0] / 2
        assert zeros[0] == 0
        assert zeros[-1] > zeros[1] > 0

    def test_concepts_are_diverse_and_add_up(self, name):
        warm_start = WarmStart()  # k is how the model is read
        for k in (1, 2, 5, 10):
            g = fit(case(name), n_concepts=k, warm_start=warm_start)
            W = g.concepts_.to_numpy()
            cosines = np.abs(W.T @ W - np.diag(np.diag(W.T @ W)))
            assert cosines.max() < 0.3
            assert (g.concept_weights_ <= 0).all()
            norms = np.linalg.norm(W, axis=0)
            np.testing.assert_allclose(norms[norms > 0], 1)
            np.testing.assert_allclose(W @ g.concept_weights_.to_numpy(), g.coef_.to_numpy(), atol=1e-12)

    def test_one_more_concept_splits_one(self, name):
        warm_start = WarmStart()
        fits = [fit(case(name), n_concepts=k, lambda_concepts=0.0, warm_start=warm_start) for k in range(1, 9)]
        fits.append(fit(case(name), n_concepts=9, lambda_concepts=0.0))
        supports = [{frozenset(np.flatnonzero(column)) for column in g.concepts_.to_numpy().T} for g in fits]
        for coarser, finer in pairwise(supports):
            assert len(coarser & finer) == len(coarser) - 1
            assert frozenset().union(*coarser) == frozenset().union(*finer)
        for g in fits[1:]:
            pd.testing.assert_series_equal(g.coef_, fits[0].coef_, check_exact=True)  # k is a reading, not a model


@each_data_set
def test_the_seed_moves_nothing(name):
    c = case(name)
    fits = [fit(c, lambda_fair=3.0, random_state=seed) for seed in range(2)]
    rules = [p_rule(c.test.y, g.predict(c.test.X), sensitive_features=c.test.sensitive) for g in fits]
    assert np.std(rules) <= 0.002
    for g in fits[1:]:
        pd.testing.assert_frame_equal(g.concepts_, fits[0].concepts_, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("lambda_concepts", [0.01, 0.2])
@pytest.mark.parametrize(("name", "k"), [("law_school", 2), ("law_school", 6), ("compas", 2), ("compas", 5)])
def test_concepts_keep_their_identity_along_a_slider(name, k, lambda_concepts):
    c, warm_start = case(name), WarmStart()
    kept = []
    for earlier, later in pairwise(
        fit(c, lambda_fair=float(lam), n_concepts=k, lambda_concepts=lambda_concepts, warm_start=warm_start).concepts_
        for lam in np.arange(0.5, 5.01, 0.1)
    ):
        cosines = (earlier.to_numpy() * later.to_numpy()).sum(axis=0)  # same place, same sign: the bars do not dance
        in_both = earlier.any().to_numpy() & later.any().to_numpy()
        kept.append((cosines[in_both] >= 0.9).all())
    assert np.mean(kept) >= 0.9  # a jump to a lower minimum may turn a concept


def mean_over_splits(name, lambda_fair, warm_starts):
    rules, changes = [], []
    for seed, warm_start in enumerate(warm_starts):
        c = case(name, seed)
        g = fit(c, lambda_fair=lambda_fair, warm_start=warm_start)
        rules.append(p_rule(c.test.y, g.predict(c.test.X), sensitive_features=c.test.sensitive))
        changes.append(test_change_rate(c, g))
    return np.mean(rules), np.mean(changes)


@pytest.mark.slow  # up to twenty fits on five splits
@pytest.mark.parametrize(
    ("name", "fair_enough", "most_changes"),
    [("law_school", 0.72, 0.115), pytest.param("compas", 0.77, 0.05, marks=pytest.mark.slow)],
)
def test_few_changes_at_the_fairness_of_the_paper(name, fair_enough, most_changes):
    # One setting for all splits: the smallest λ_fair, in steps of 0.1, that is fair enough on average.
    warm_starts = [WarmStart() for _ in range(5)]
    for lambda_fair in np.arange(3.0, 5.0, 0.1):
        rule, changes = mean_over_splits(name, float(lambda_fair), warm_starts)
        if rule >= fair_enough:
            break
    assert rule >= fair_enough
    assert changes <= most_changes, f"{changes:.4f} at λ_fair = {lambda_fair:.1f}, P-Rule {rule:.4f}"
