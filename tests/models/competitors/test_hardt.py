"""EO post-processing against fairlearn used directly, and the fairness it promises."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from scipy.stats import kstest

from commod.models.competitors import EOPostProcessing
from commod.models.competitors.base import Rows, chance_of_rows
from tests.fitting import case
from tests.models.competitors.cases import base, people

CRITERIA = ("demographic_parity", "equalized_odds")


def chances(g, X, s):
    """P(ŷ = 1) of each row."""
    return g.positive_rates(g._aware_rows(X, s, None))


@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("seed", range(2))
def test_chances_are_those_of_fairlearn(fairness, seed):
    X, y, s = people(300, seed)
    new, _, new_s = people(200, seed + 10)
    f = base(X, y)
    oracle = ThresholdOptimizer(estimator=f, constraints=fairness, prefit=True, predict_method="predict_proba")
    oracle.fit(X, y, sensitive_features=s)
    g = EOPostProcessing(f, fairness=fairness).fit(X, y, sensitive_features=s)
    for rows, groups in ((X, s), (new, new_s)):
        expected = oracle._pmf_predict(rows, sensitive_features=groups)[:, 1]
        np.testing.assert_allclose(chances(g, rows, groups), expected, atol=1e-9)
    half = EOPostProcessing(f, fairness=fairness, strength=0.5).fit(X, y, sensitive_features=s)
    np.testing.assert_allclose(chances(half, rows, groups), 0.5 * expected + 0.5 * f.predict(rows), atol=1e-9)


@pytest.mark.parametrize("fairness", CRITERIA)
def test_decisions_are_drawn_by_those_chances(fairness):
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    g = EOPostProcessing(c.f, fairness=fairness, strength=0.8).fit(c.train.X, c.train.y, sensitive_features=s)
    chance, decided = chances(g, c.train.X, s), g.predict(c.train.X, sensitive_features=s)
    np.testing.assert_array_equal(decided[chance == 0], 0)
    np.testing.assert_array_equal(decided[chance == 1], 1)
    unsure = (chance > 0) & (chance < 1)
    assert unsure.sum() > 100
    spread = np.sqrt((chance * (1 - chance))[unsure].sum())
    assert abs(decided[unsure].sum() - chance[unsure].sum()) <= 4 * spread


@pytest.mark.parametrize("fairness", CRITERIA)
def test_full_strength_meets_the_criterion_in_expectation_and_the_gap_shrinks_with_strength(fairness):
    c = case("compas")
    y, s = c.train.y.to_numpy(), c.train.sensitive.to_numpy()
    labels = [np.ones(len(y), dtype=bool)] if fairness == "demographic_parity" else [y == 0, y == 1]

    def gaps(strength):
        g = EOPostProcessing(c.f, fairness=fairness, strength=strength).fit(c.train.X, y, sensitive_features=s)
        chance = chances(g, c.train.X, s)
        return np.array([chance[here & (s == 0)].mean() - chance[here & (s == 1)].mean() for here in labels])

    np.testing.assert_allclose(gaps(1.0), 0, atol=1e-9)
    assert np.abs(gaps(0.0)).max() > 0.1
    np.testing.assert_allclose(gaps(0.3), 0.7 * gaps(0.0), atol=1e-9)


@pytest.mark.parametrize("fairness", CRITERIA)
def test_strength_zero_is_f(fairness):
    c = case("law_school")
    g = EOPostProcessing(c.f, strength=0.0, fairness=fairness)
    g.fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    np.testing.assert_array_equal(g.predict(c.test.X, sensitive_features=c.test.sensitive), c.f.predict(c.test.X))
    assert not hasattr(g, "predict_proba")


def lots(n=5000, seed=0, sensitive=True, constant=False):
    rng = np.random.default_rng(1)
    X = np.zeros((n, 2)) if constant else rng.normal(size=(n, 2))
    s = rng.integers(0, 2, n) if sensitive else None
    return chance_of_rows(Rows(X, rng.normal(size=n), s), seed)


def test_lots_are_uniform_and_of_different_seeds_unrelated():
    by_seed = [lots(seed=seed) for seed in range(4)]
    for drawn in (*by_seed, lots(sensitive=False)):
        assert ((drawn >= 0) & (drawn < 1)).all()
        assert kstest(drawn, "uniform").pvalue > 0.001
    correlation = np.corrcoef(by_seed) - np.eye(4)
    assert np.abs(correlation).max() < 0.06


def test_lots_go_by_a_persons_content_not_by_the_place_in_the_table():
    X, _, s = people(50)
    rows = Rows(X, X[:, 0], s)
    order = np.random.default_rng(0).permutation(50)
    shuffled = Rows(X[order], X[order, 0], s[order])
    np.testing.assert_array_equal(chance_of_rows(shuffled, 3), chance_of_rows(rows, 3)[order])
    twins = Rows(np.ones((2, 3)), np.ones(2), np.zeros(2, dtype=int))
    assert len(set(chance_of_rows(twins, 0))) == 1


def test_a_table_with_its_index_out_of_order():
    c = case("law_school")
    g = EOPostProcessing(c.f, strength=0.9).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    assert isinstance(c.test.sensitive, pd.Series)
    assert not (c.test.X.index == np.arange(len(c.test.X))).all()
    by_series = g.predict(c.test.X, sensitive_features=c.test.sensitive)
    np.testing.assert_array_equal(by_series, g.predict(c.test.X, sensitive_features=c.test.sensitive.to_numpy()))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"strength": 2.0}, "strength must be a number from 0 to 1"),
        ({"strength": -1}, "strength must be a number of 0 or more"),
        ({"fairness": "parity"}, "fairness must be one of"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=message):
        EOPostProcessing(base(X, y), **setting).fit(X, y, sensitive_features=s)
