"""What flips of so much weight can buy, against a fine grid of rates and against whole people."""

from itertools import product

import numpy as np
import pytest

from commod.metrics import disparate_mistreatment, p_rule
from commod.theory import best_curve, mistreatment_curve, p_rule_curve
from commod.theory.bands import Shares, best_of_both_labels
from commod.theory.flips import GAP, LACK_OF_P_RULE

DP, EO = "demographic_parity", "equalized_odds"


def people(n, groups, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, groups, n)
    d = (rng.random(n) < 0.15 + 0.6 * s / (groups - 1)).astype(int)
    return rng.integers(0, 2, n), d, s, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("acts_on", ["everybody", "negative", "positive"])
@pytest.mark.parametrize("measure", [LACK_OF_P_RULE, GAP], ids=["ratio", "gap"])
@pytest.mark.parametrize("seed", range(3))
def test_a_fine_grid_of_rates_has_nothing_better_and_comes_near(measure, acts_on, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.uniform(5, 40, 3)
    positives = sizes * rng.uniform(0.1, 0.9, 3)
    start = positives / sizes
    grid = [np.unique(np.r_[np.linspace(0.0, 1.0, 61), rate]) for rate in start]
    kept = {"everybody": lambda r, s: r >= 0, "negative": lambda r, s: r >= s, "positive": lambda r, s: r <= s}[acts_on]
    rates = np.array(list(product(*(r[kept(r, s)] for r, s in zip(grid, start, strict=True)))))
    spent = np.abs(rates - start) @ sizes
    unfair = measure.of_band(rates.min(axis=1), rates.max(axis=1))
    shares = Shares(positives, sizes, acts_on, measure.of_band)
    budgets = np.linspace(0.0, 20.0, 25)
    found, low, high = shares.bands(budgets)
    for budget, bound in zip(budgets, found, strict=True):
        best = unfair[spent <= budget + 1e-9].min()
        assert bound <= best + 1e-9
        assert best <= bound + 0.12
    nets = shares.nets(low, high)
    assert (np.abs(nets).sum(axis=1) <= budgets + 1e-9).all()
    after = (positives + nets) / sizes
    np.testing.assert_allclose(measure.of_band(after.min(axis=1), after.max(axis=1)), found, atol=1e-9)


def test_the_labels_share_a_budget_as_well_as_any_way_to_share_it():
    rng = np.random.default_rng(3)
    labels = []
    for _ in range(2):
        sizes = rng.uniform(10, 40, 4)
        labels.append(Shares(sizes * rng.uniform(0.1, 0.9, 4), sizes, "everybody", GAP.of_band))
    budgets = np.linspace(0.0, 30.0, 40)
    total, spent = best_of_both_labels(labels, budgets)
    own = labels[0].bands(spent)[0] + labels[1].bands(budgets - spent)[0]
    np.testing.assert_allclose(total, own, atol=1e-9)
    for share in np.linspace(0.0, 1.0, 101):
        tried = labels[0].bands(share * budgets)[0] + labels[1].bands((1 - share) * budgets)[0]
        assert (total <= tried + 1e-9).all()


@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("fairness", [DP, EO])
def test_of_equal_weights_it_is_the_exact_limit_but_for_whole_people(fairness, groups):
    y, d, s, _ = people(400, groups)
    exact = best_curve(y, d, fairness=fairness, sensitive_features=s)
    bound = best_curve(y, d, fairness=fairness, sensitive_features=s, sample_weight=np.full(400, 2.5))
    assert list(bound.columns) == list(exact.columns)
    np.testing.assert_array_equal(bound["changes"], exact["changes"])
    figure = exact.columns[2]
    sign = 1 if fairness == DP else -1
    ahead = sign * (bound[figure] - exact[figure]).to_numpy()
    assert (ahead >= -1e-9).all()
    assert ahead.max() < 0.1
    later = sign * (bound[figure].to_numpy()[:-10] - exact[figure].to_numpy()[10:])  # a few flips make up for it
    assert later.max() < 0.04


@pytest.mark.parametrize("groups", [2, 4])
def test_it_starts_at_the_weighted_figures_and_nobody_gets_beyond(groups):
    y, d, s, w = people(300, groups)
    told = {"sensitive_features": s, "sample_weight": w}
    parity, odds = p_rule_curve(d, **told), mistreatment_curve(y, d, **told)
    assert parity["p_rule"][0] == pytest.approx(p_rule(y, d, **told))
    assert odds["dm"][0] == pytest.approx(disparate_mistreatment(y, d, **told))
    rng = np.random.default_rng(1)
    for flips in (5, 20, 60):
        for _ in range(20):
            g = d.copy()
            g[rng.choice(300, flips, replace=False)] ^= 1
            k = int(np.ceil(300 * w[g != d].sum() / w.sum()))
            assert p_rule(y, g, **told) <= parity["p_rule"][k] + 1e-9
            assert disparate_mistreatment(y, g, **told) >= odds["dm"][k] - 1e-9


def test_whole_weights_are_repeated_rows():
    y, d, s, _ = people(200, 3)
    w = np.arange(200) % 3  # twice as many rows as people on average, some of weight 0
    rows = np.repeat(np.arange(200), w)
    for fairness in (DP, EO):
        weighed = best_curve(y, d, fairness=fairness, sensitive_features=s, sample_weight=w)
        again = best_curve(
            y[rows], d[rows], fairness=fairness, sensitive_features=s[rows], sample_weight=np.ones(len(rows))
        )
        figure = weighed.columns[2]
        found = np.interp(weighed["change_rate"], again["change_rate"], again[figure])
        np.testing.assert_allclose(weighed[figure], found, atol=2e-3)
