"""Information withholding by hand, and its mixing rates against aif360."""

import numpy as np
import pytest

from commod.models.competitors import InformationWithholding
from tests.fitting import case
from tests.models.competitors.cases import base, in_aif360, people

pytestmark = pytest.mark.quick

COSTS = ("fnr", "fpr", "weighted")

X = np.arange(8.0)[:, None]
Y = np.array([0, 1, 1, 1, 0, 0, 0, 1])
S = np.array([0, 0, 0, 0, 1, 1, 1, 1])
#                   y: 0    1    1    1  |  0    0    0    1
SCORES = np.array([0.2, 0.8, 0.9, 1.0, 0.4, 0.5, 0.6, 0.5])


def fitted(**settings):
    return InformationWithholding(**settings).fit(X, Y, sensitive_features=S, base_scores=SCORES)


@pytest.mark.parametrize(
    ("cost", "rate"),
    [
        ("fpr", (0.5 - 0.2) / (0.75 - 0.2)),  # group 0's negatives cost 0.2, withheld 0.75; group 1's 0.5
        ("fnr", 1.0),  # its positives cost 0.1, withheld 0.25; group 1's 0.5, which is out of reach
        ("weighted", (0.25 - 0.0625) / (0.1875 - 0.0625)),  # ½(¼·0.2 + ¾·0.1), ½(¼·¾ + ¾·¼); ½(¾·½ + ¼·½)
    ],
)
def test_eight_rows_by_hand(cost, rate):
    g = fitted(cost=cost)
    np.testing.assert_allclose(g.base_rates_, [0.75, 0.25])
    np.testing.assert_allclose(g.mix_rates_, [min(rate, 1.0), 0.0], atol=1e-5)  # a score of 1 counts as 1 − 1e-6


def test_strength_is_a_share_of_the_rate():
    np.testing.assert_allclose(fitted(cost="fpr", strength=0.25).mix_rates_, fitted(cost="fpr").mix_rates_ / 4)
    np.testing.assert_array_equal(fitted(strength=0.0).mix_rates_, 0)


@pytest.mark.longer
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("data", ["people", "swapped", "law_school", "compas"])
def test_mixing_rates_are_aif360s(data, cost):
    if data in ("people", "swapped"):
        features, y, s = people()
        f = base(features, y)
        s = 1 - s if data == "swapped" else s
    else:
        c = case(data)
        features, y, s, f = c.train.X, c.train.y.to_numpy(), c.train.sensitive.to_numpy(), c.f
    method, true, scored = in_aif360("CalibratedEqOddsPostprocessing", y, s, f.predict_proba(features)[:, 1])
    oracle = method([{"s": 0}], [{"s": 1}], cost_constraint=cost, seed=0).fit(true, scored)
    g = InformationWithholding(f, cost=cost).fit(features, y, sensitive_features=s)
    expected = np.minimum([oracle.unpriv_mix_rate, oracle.priv_mix_rate], 1.0)
    np.testing.assert_allclose(g.mix_rates_, expected, rtol=1e-9)
    np.testing.assert_allclose(g.base_rates_, [oracle.base_rate_unpriv, oracle.base_rate_priv], rtol=1e-12)
    assert 0 < g.mix_rates_.max() <= 1
    assert g.mix_rates_.min() == 0


@pytest.mark.parametrize(("data", "cost"), [("compas", "fnr"), ("german", "fpr"), ("law_school", "weighted")])
def test_costs_are_equal_in_expectation_and_scores_stay_calibrated(data, cost):
    c = case(data)
    y, s = c.train.y.to_numpy(), c.train.sensitive.to_numpy()
    g = InformationWithholding(c.f, cost=cost).fit(c.train.X, y, sensitive_features=s)
    f = c.f.predict_proba(c.train.X)[:, 1]
    rate, base_rate = g.mix_rates_[s], np.array([y[s == 0].mean(), y[s == 1].mean()])[s]
    expected = (1 - rate) * f + rate * base_rate  # mean of a person's score over the lots
    costs = []
    for group in (0, 1):
        here = s == group
        false_positive, false_negative = expected[here & (y == 0)].mean(), 1 - expected[here & (y == 1)].mean()
        share = y[here].mean()
        costs.append(
            {
                "fpr": false_positive,
                "fnr": false_negative,
                "weighted": false_positive * (1 - share) + false_negative * share,
            }[cost]
        )
    assert costs[0] == pytest.approx(costs[1], abs=1e-9)
    np.testing.assert_allclose(
        [expected[s == group].mean() - y[s == group].mean() for group in (0, 1)],
        [(1 - g.mix_rates_[group]) * (f[s == group].mean() - y[s == group].mean()) for group in (0, 1)],
        atol=1e-12,
    )


def test_a_cost_that_is_out_of_reach_withholds_all_and_is_not_overshot():
    c = case("law_school")
    y, s = c.train.y.to_numpy(), c.train.sensitive.to_numpy()
    g = InformationWithholding(c.f, cost="fnr").fit(c.train.X, y, sensitive_features=s)
    assert g.mix_rates_.tolist() == [0, 1]
    p = g.predict_proba(c.train.X, sensitive_features=s)[:, 1]
    np.testing.assert_allclose(p[s == 1], y[s == 1].mean())
    assert 1 - p[(s == 1) & (y == 1)].mean() < 1 - p[(s == 0) & (y == 1)].mean()


def test_scores_are_fs_or_the_base_rate_as_often_as_the_rate_says():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    g = InformationWithholding(c.f, strength=0.7).fit(c.train.X, c.train.y, sensitive_features=s)
    p = g.predict_proba(c.train.X, sensitive_features=s)[:, 1]
    f = c.f.predict_proba(c.train.X)[:, 1]
    kept = np.abs(p - f) < 1e-9
    np.testing.assert_allclose(p[~kept], g.base_rates_[s[~kept]])
    for group in (0, 1):
        n, rate = np.sum(s == group), g.mix_rates_[group]
        assert abs(np.mean(~kept[s == group]) - rate) <= 4 * np.sqrt(rate * (1 - rate) / n)


def test_a_group_whose_scores_are_worse_than_none_is_left_alone():
    scores = np.array([0.9, 0.1, 0.2, 0.1, 0.9, 0.9, 0.9, 0.1])
    g = InformationWithholding(cost="fpr").fit(X, Y, sensitive_features=S, base_scores=scores)
    np.testing.assert_array_equal(g.mix_rates_, 0)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"strength": 1.1}, "strength must be a number from 0 to 1"),
        ({"strength": -0.1}, "strength must be a number of 0 or more"),
        ({"cost": "fdr"}, "cost must be one of 'weighted', 'fnr', 'fpr'"),
        ({"fairness": "demographic_parity"}, "fairness must be one of 'equalized_odds'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        fitted(**setting)


def test_a_group_of_one_label_is_refused():
    with pytest.raises(ValueError, match="each group needs rows of both labels"):
        InformationWithholding().fit(X, S, sensitive_features=S, base_scores=SCORES)
