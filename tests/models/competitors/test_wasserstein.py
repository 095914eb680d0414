"""Wasserstein-1 post-processing: by hand, and against scipy's distances."""

import numpy as np
import pytest
from scipy.stats import ks_2samp, wasserstein_distance
from sklearn.tree import DecisionTreeClassifier

from commod.metrics import compare_groups
from commod.models.competitors import Wass1PostProcessing
from tests.fitting import case
from tests.models.competitors.cases import people, positive_rates

pytestmark = pytest.mark.quick

LARGE, SMALL = [0.1, 0.2, 0.3, 0.4, 0.5], [0.6, 0.7, 0.9]
S = np.array([0] * 5 + [1] * 3)
X = np.arange(8.0)[:, None]
Y = np.array([0, 1] * 4)


def moved(scores, s=S, new=None, new_s=None, **settings):
    """Scores of g after a fit on `scores`, of the same rows or of new ones."""
    scores = np.asarray(scores)
    rows = np.arange(float(len(scores)))[:, None]
    y = np.arange(len(scores)) % 2
    g = Wass1PostProcessing(**settings).fit(rows, y, sensitive_features=s, base_scores=scores)
    new, new_s = (scores, s) if new is None else (np.asarray(new), np.asarray(new_s))
    rows = np.zeros((len(new), 1))
    return g.predict_proba(rows, sensitive_features=new_s, base_scores=new)[:, 1]


def test_eight_rows_by_hand():
    np.testing.assert_allclose(moved(LARGE + SMALL), [*LARGE, 0.1, 0.3, 0.5])
    np.testing.assert_allclose(moved(LARGE + SMALL, strength=0.5), [*LARGE, 0.35, 0.5, 0.7])
    np.testing.assert_allclose(moved(LARGE + SMALL, strength=0.0), LARGE + SMALL)


def test_the_larger_group_keeps_its_scores_whichever_it_is():
    np.testing.assert_allclose(moved(LARGE + SMALL, s=1 - S), [*LARGE, 0.1, 0.3, 0.5])


def test_equal_scores_are_spread_over_their_ranks_and_new_ones_lie_between():
    np.testing.assert_allclose(moved([*LARGE, 0.6, 0.6, 0.9])[:5], LARGE)
    *tied, last = moved([*LARGE, 0.6, 0.6, 0.9])[5:]
    assert last == pytest.approx(0.5)
    assert all(0.1 - 1e-9 <= value <= 0.3 + 1e-9 for value in tied)
    new = moved(LARGE + SMALL, new=[0.65, 0.8, 0.33], new_s=[1, 1, 0])
    np.testing.assert_allclose(new, [0.2, 0.4, 0.33])


def test_groups_of_one_size_share_the_way():
    low, high = np.array([0.1, 0.2, 0.4, 0.5]), np.array([0.5, 0.6, 0.7, 0.9])
    expected = (low + high) / 2
    s = np.array([0, 1] * 4)
    found = moved(np.column_stack([low, high]).ravel(), s=s)
    np.testing.assert_allclose(found[s == 0], expected)
    np.testing.assert_allclose(found[s == 1], expected)


@pytest.fixture(scope="module")
def law():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    g = Wass1PostProcessing(c.f).fit(c.train.X, c.train.y, sensitive_features=s)
    return s, c.f.predict_proba(c.train.X)[:, 1], g.predict_proba(c.train.X, sensitive_features=s)[:, 1], c


def cost(scores, s, centre):
    """Σ P(s)·W₁(scores of s, centre)."""
    return sum(np.mean(s == group) * wasserstein_distance(scores[s == group], centre) for group in (0, 1))


def test_at_full_strength_the_distributions_are_equal(law):
    s, f, p, c = law
    assert ks_2samp(f[s == 0], f[s == 1]).statistic > 0.3
    assert ks_2samp(p[s == 0], p[s == 1]).statistic <= 2 / np.bincount(s).min()
    for threshold in (0.3, 0.5, 0.7):
        decided = (p > threshold).astype(int)
        rates = compare_groups(c.train.y, decided, sensitive_features=s)["rate"]
        assert rates.max() - rates.min() <= 2 / np.bincount(s).min()


def test_the_mean_move_is_the_distance_to_the_barycentre_and_no_other_centre_is_nearer(law):
    s, f, p, _ = law
    larger = int(np.bincount(s).argmax())
    np.testing.assert_allclose(p[s == larger], f[s == larger], atol=1e-12)
    least = cost(f, s, f[s == larger])
    assert np.abs(p - f).mean() == pytest.approx(least, rel=0.01)
    rng = np.random.default_rng(0)
    rank = np.linspace(0, 1, 2000)
    one, other = (np.quantile(f[s == group], rank) for group in (0, 1))
    for share in rng.uniform(0, 1, 10):
        between = share * one + (1 - share) * other
        mixture = np.where(rng.random(2000) < share, rng.choice(one, 2000), rng.choice(other, 2000))
        assert cost(f, s, between) >= least - 2e-3
        assert cost(f, s, mixture) >= least - 2e-3


def test_groups_of_one_size_move_as_little_as_can_be():
    rng = np.random.default_rng(1)
    low, high = rng.beta(2, 4, 200), rng.beta(4, 2, 200)
    s = np.repeat([0, 1], 200)
    f = np.concatenate([low, high])
    p = moved(f, s=s)
    np.testing.assert_allclose(np.sort(p[s == 0]), np.sort(p[s == 1]), atol=1e-12)
    assert np.abs(p - f).mean() == pytest.approx(0.5 * wasserstein_distance(low, high))


def test_order_within_a_group_is_kept(law):
    s, f, p, _ = law
    for group in (0, 1):
        order = np.argsort(f[s == group])
        assert (np.diff(p[s == group][order]) >= -1e-12).all()


def test_strength_is_the_share_of_the_way(law):
    s, f, p, c = law
    for strength in (0.0, 0.4):
        g = Wass1PostProcessing(c.f, strength=strength).fit(c.train.X, c.train.y, sensitive_features=s)
        part = g.predict_proba(c.train.X, sensitive_features=s)[:, 1]
        np.testing.assert_allclose(part, f + strength * (p - f), atol=1e-9)
    unchanged = Wass1PostProcessing(c.f, strength=0.0).fit(c.train.X, c.train.y, sensitive_features=s)
    np.testing.assert_array_equal(
        unchanged.predict(c.test.X, sensitive_features=c.test.sensitive), c.f.predict(c.test.X)
    )


def test_the_larger_group_keeps_scores_beyond_those_of_training():
    np.testing.assert_allclose(moved(LARGE + SMALL, new=[0.8, 0.05], new_s=[0, 0]), [0.8, 0.05])


def test_at_full_strength_decisions_are_equal_also_where_scores_are_few():
    X, y, s = people()
    f = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    g = Wass1PostProcessing(f).fit(X, y, sensitive_features=s)
    low, high = sorted(positive_rates(g.predict(X, sensitive_features=s), s))
    assert high - low < 0.1


def test_scores_of_exactly_zero_and_one():
    p = moved([0.0, 0.0, 0.2, 1.0, 1.0, 0.0, 1.0, 1.0])
    assert np.isfinite(p).all()
    assert ((p > 0) & (p < 1)).all()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"strength": 1.5}, "strength must be a number from 0 to 1"),
        ({"fairness": "equalized_odds"}, "fairness must be one of 'demographic_parity'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        moved(LARGE + SMALL, **setting)
