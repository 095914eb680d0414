"""Reject option classification by hand, and row by row against aif360."""

import numpy as np
import pytest

from commod.models.competitors import OracleROC
from tests.fitting import case
from tests.models.competitors.cases import base, in_aif360, people, positive_rates

pytestmark = pytest.mark.quick

X = np.arange(8.0)[:, None]
Y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
S = np.array([0, 0, 0, 0, 1, 1, 1, 1])
SCORES = np.array([0.20, 0.45, 0.55, 0.40, 0.45, 0.55, 0.62, 0.90])  # positive: 1 of 4, and 3 of 4


def decided(margin, s=S):
    g = OracleROC(margin=margin).fit(X, Y, sensitive_features=s, base_scores=SCORES)
    return g.predict(X, sensitive_features=s, base_scores=SCORES)


@pytest.mark.parametrize(
    ("margin", "expected"),
    [
        (0.0, [0, 0, 1, 0, 0, 1, 1, 1]),  # f
        (0.06, [0, 1, 1, 0, 0, 0, 1, 1]),
        (0.15, [0, 1, 1, 1, 0, 0, 0, 1]),
        (0.5, [1, 1, 1, 1, 0, 0, 0, 0]),
    ],
)
def test_eight_rows_by_hand(margin, expected):
    assert decided(margin).tolist() == expected


def test_it_is_the_group_with_the_lower_rate_that_is_raised_whatever_its_name():
    swapped = OracleROC(margin=0.15).fit(X, Y, sensitive_features=1 - S, base_scores=SCORES)
    assert swapped.raised_ == 1
    assert swapped.predict(X, sensitive_features=1 - S, base_scores=SCORES).tolist() == decided(0.15).tolist()


def test_a_score_of_one_half_is_negative_without_a_margin():
    g = OracleROC(margin=0.0).fit(X, Y, sensitive_features=S, base_scores=SCORES)
    assert g.predict(X[:2], sensitive_features=[0, 1], base_scores=[0.5, 0.5]).tolist() == [0, 0]
    g = OracleROC(margin=0.01).fit(X, Y, sensitive_features=S, base_scores=SCORES)
    assert g.predict(X[:2], sensitive_features=[0, 1], base_scores=[0.5, 0.5]).tolist() == [1, 0]


def test_sure_scores_keep_fs_logit():
    g = OracleROC(margin=0.06).fit(X, Y, sensitive_features=S, base_scores=SCORES)
    margin = g.decision_function(X, sensitive_features=S, base_scores=SCORES)
    sure = np.abs(SCORES - 0.5) > 0.06
    np.testing.assert_allclose(margin[sure], np.log(SCORES / (1 - SCORES))[sure])
    assert not hasattr(g, "predict_proba")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("margin", [0.0, 0.03, 0.1, 0.25, 0.4, 0.5])
def test_agrees_with_aif360_row_by_row(margin):
    features, y, s = people()
    f = base(features, y)
    scores = f.predict_proba(features)[:, 1]
    rates = positive_rates(scores > 0.5, s)
    low = int(rates[1] < rates[0])
    method, _, scored = in_aif360("RejectOptionClassification", y, s, scores)
    oracle = method(unprivileged_groups=[{"s": low}], privileged_groups=[{"s": 1 - low}])
    oracle.classification_threshold, oracle.ROC_margin = 0.5, margin
    expected = oracle.predict(scored).labels.ravel()
    g = OracleROC(f, margin=margin).fit(features, y, sensitive_features=s)
    np.testing.assert_array_equal(g.predict(features, sensitive_features=s), expected)
    assert margin == 0 or (expected != (scores > 0.5)).any()


def test_a_wider_margin_never_changes_less_and_only_towards_the_disfavoured():
    c = case("law_school")
    s, f = c.train.sensitive.to_numpy(), c.f.predict(c.train.X)
    changed = np.zeros(len(f), dtype=bool)
    for margin in (0.0, 0.05, 0.1, 0.2, 0.3):
        g = OracleROC(c.f, margin=margin).fit(c.train.X, c.train.y, sensitive_features=s)
        d = g.predict(c.train.X, sensitive_features=s)
        assert (d != f)[changed].all()
        changed = d != f
        assert (d[changed & (s == g.raised_)] == 1).all()
        assert (d[changed & (s != g.raised_)] == 0).all()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"margin": 0.6}, "margin must be a number from 0 to 0.5, got 0.6"),
        ({"margin": -0.1}, "margin must be a number of 0 or more"),
        ({"fairness": "equalized_odds"}, "fairness must be one of 'demographic_parity'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    with pytest.raises(ValueError, match=message):
        OracleROC(**setting).fit(X, Y, sensitive_features=S, base_scores=SCORES)
