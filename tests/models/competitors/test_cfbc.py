import numpy as np
import pytest

from commod.metrics import accuracy
from commod.models.competitors.group_thresholds import CFBC
from tests.fitting import case

pytestmark = pytest.mark.quick

KNOWN = {"sensitive_features": np.array([0, 0, 0, 0, 1, 1, 1, 1])}
SCORES = np.array([0.2, 0.4, 0.45, 0.7, 0.3, 0.6, 0.8, 0.9])
Y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
ROWS = np.arange(8.0)[:, None]


def test_thresholds_by_hand():
    """θ between −0.1 and 0: masses are 1.75/8 and 2.6/8; the groups' rates cross where 0.45 joins or 0.6 leaves."""
    g = CFBC().fit(ROWS, Y, **KNOWN, base_scores=SCORES)
    mass = np.array([1.75, 2.6]) / 8
    expected = 1 / np.array([2 + g.theta_ / mass[0], 2 - g.theta_ / mass[1]])
    np.testing.assert_allclose(g.thresholds_, expected)
    assert g.theta_ > 0  # group 1 has the higher rate: its threshold rises, the other's falls
    assert g.thresholds_[0] < 0.5 < g.thresholds_[1]


def rates(scores, s, decided):
    return [scores[(s == k) & decided].sum() / scores[s == k].sum() for k in (0, 1)]


@pytest.mark.parametrize("data", ["law_school", "compas"])
def test_rates_are_equal_as_f_estimates_them_and_nothing_fair_is_more_accurate(data):
    c = case(data)
    s = c.train.sensitive.to_numpy()
    score = c.f.predict_proba(c.train.X)[:, 1]
    g = CFBC(c.f).fit(c.train.X, c.train.y, sensitive_features=s)
    decided = g.predict(c.train.X, sensitive_features=s) == 1
    found = rates(score, s, decided)
    assert found[0] == pytest.approx(found[1], abs=0.002)

    def value(chosen):
        return np.where(chosen, score, 1 - score).mean()

    best = value(decided)
    for first in np.linspace(0.3, 0.7, 21):  # every other pair of thresholds with equal rates
        one = (s == 0) & (score > first)
        target = score[one].sum() / score[s == 0].sum()
        others = np.sort(score[s == 1])[::-1]
        count = np.searchsorted(np.cumsum(others) / others.sum(), target)
        pair = one | ((s == 1) & (score >= others[min(count, len(others) - 1)]))
        assert value(pair) <= best + 0.002


def test_strength_0_is_f_and_labels_play_no_part():
    c = case("law_school")
    s = c.train.sensitive
    f = c.f.predict(c.train.X)
    g = CFBC(c.f, strength=0).fit(c.train.X, c.train.y, sensitive_features=s)
    np.testing.assert_array_equal(g.predict(c.train.X, sensitive_features=s), f)
    one = CFBC(c.f).fit(c.train.X, c.train.y, sensitive_features=s)
    other = CFBC(c.f).fit(c.train.X, np.random.default_rng(0).permutation(c.train.y), sensitive_features=s)
    assert one.theta_ == other.theta_
    assert accuracy(c.train.y, one.predict(c.train.X, sensitive_features=s), sensitive_features=s) > 0.7
