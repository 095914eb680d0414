"""More than two groups, weights, and groups known in part: what holds for every competitor that can."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, wasserstein_distance

from commod.metrics import disparate_mistreatment, p_rule
from commod.models.competitors import (
    METHODS,
    Wass1PostProcessing,
    available_methods,
    make_method,
    overview,
    two_groups_in_words,
    weights_in_words,
)
from commod.models.competitors.bayes import pull_of_many
from commod.models.competitors.membership import Membership
from tests.models.competitors.cases import COMPETITORS, GivenJoint, base, knowing, made, people
from tests.models.competitors.test_interface import class_of

DP, EO = "demographic_parity", "equalized_odds"
GROUPS = 4
MANY = [(name, fair) for name in COMPETITORS for fair in METHODS[name].criteria if METHODS[name].takes(GROUPS)]
FOR_TWO = [name for name in COMPETITORS if not METHODS[name].takes(3)]
WEIGHING = [name for name in COMPETITORS if METHODS[name].weights and METHODS[name].edits]


def unfairness(decisions, y, s, fairness):
    if fairness == DP:
        return 1 - p_rule(y, decisions, sensitive_features=s)
    return disparate_mistreatment(y, decisions, sensitive_features=s)


@cache
def several():
    X, y, s = people(500, groups=GROUPS)
    return X, y, s, base(X, y)


def rule(g, name, X, s):
    """What is compared of two models whose encoders differ in their last digits, which move lots."""
    if name == "pleiss":
        return g.mix_rates_
    return (
        g.positive_rates(g._aware_rows(X, s, None)) if name == "hardt" else g.decision_function(X, **knowing(name, s))
    )


def assert_the_same_rule(name, X, s, found, expected):
    # L-BFGS stops where it is flat; lots break ties.
    tolerance = (
        0.02
        if name.startswith(("frappe", "wass1_p", "rnf"))
        else 3e-3
        if name in ("lpp", "oracle_lpp", "bayes", "oracle")
        else 1e-5
    )
    one, other = (rule(g, name, X, s) for g in (found, expected))
    np.testing.assert_allclose(one, other, atol=tolerance * np.abs(other).max())


def given_joint(name, groups):
    """Who a person probably is, by a formula, for methods that would learn it."""
    return {"membership": GivenJoint(4, seed=5, groups=groups)} if METHODS[name].uses_membership else {}


# ---- Any number of groups ----


@pytest.mark.parametrize(
    ("name", "fairness"), [case for case in MANY if not METHODS[case[0]].aims_at and case[0] != "rnf"]
)
def test_four_groups_are_treated_more_alike(name, fairness):
    X, y, s, f = several()
    stronger = {
        "adv_debias": {"alpha": 3.0, "epochs": 5},
        "frappe": {"max_iter": 60},
        "frappe_mlp": {"max_iter": 40},
        "bayes": {"lambda_fair": 0.6},
        "oracle": {"lambda_fair": 0.3},
        "oxonfair": {"alpha": 0.1},
    }
    g = made(name, f, fairness=fairness).set_params(**stronger.get(name, {})).fit(X, y, sensitive_features=s)
    assert g.groups_.tolist() == [0, 1, 2, 3]
    before, after = f.predict(X), g.predict(X, **knowing(name, s))
    least = 0.95 if name == "adv_debias" else 0.85  # of a few steps of training
    assert unfairness(after, y, s, fairness) < least * unfairness(before, y, s, fairness)


@pytest.mark.parametrize("name", [name for name, fairness in MANY if METHODS[name].needs_sensitive and fairness == DP])
def test_groups_may_be_a_crossing_of_two_columns(name):
    X, y, s, f = several()
    crossed = pd.DataFrame({"race": np.where(s < 2, "Black", "White"), "sex": np.where(s % 2, "Male", "Female")})
    g = made(name, f).fit(X, y, sensitive_features=crossed)
    assert g.groups_.tolist() == ["Black × Female", "Black × Male", "White × Female", "White × Male"]
    expected = made(name, f).fit(X, y, sensitive_features=s).predict(X, sensitive_features=s)
    np.testing.assert_array_equal(g.predict(X, sensitive_features=crossed), expected)
    one = g.predict(X[s == 2], sensitive_features=crossed[s == 2])
    np.testing.assert_array_equal(one, expected[s == 2])
    with pytest.raises(ValueError, match=r"sensitive_features holds \['Black × Other'\], but the groups of fit were"):
        g.predict(X[:1], sensitive_features=[["Black", "Other"]])


@pytest.mark.parametrize("name", FOR_TWO)
def test_methods_for_two_groups_say_so(name):
    X, y, s, f = several()
    with pytest.raises(ValueError, match=r"is defined for two groups, but sensitive_features holds 4: .*\."):
        made(name, f).fit(X, y, sensitive_features=s)


# ---- Groups known in part ----


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in COMPETITORS if METHODS[name].edits])
def test_editors_learn_from_the_rows_whose_group_is_known(name):
    X, y, s = people(200)
    f = base(X, y)
    twice, unknown = np.concatenate([X, X]), np.concatenate([s.astype(float), np.full(200, np.nan)])
    some = made(name, f).fit(twice, np.concatenate([y, 1 - y]), sensitive_features=unknown)
    every = made(name, f).fit(X, y, sensitive_features=s)
    assert_the_same_rule(name, X, s, some, every)


def test_a_predictor_of_its_own_learns_from_all_rows_and_its_adversary_from_those():
    X, y, s = people(400)
    half = np.where(np.arange(400) < 200, s, np.nan)
    known = made("adv_debias", None).fit(X[:200], y[:200], sensitive_features=s[:200])
    some = made("adv_debias", None).fit(X, y, sensitive_features=half)
    nobody_asked = made("adv_debias", None).fit(X, np.where(np.arange(400) < 200, y, 1 - y), sensitive_features=half)
    assert not np.allclose(some.decision_function(X), known.decision_function(X))
    assert not np.allclose(some.decision_function(X), nobody_asked.decision_function(X))
    # Whatever stands where a group is not known.
    other = np.where(np.arange(400) < 200, s, None)
    np.testing.assert_array_equal(
        made("adv_debias", None).fit(X, y, sensitive_features=other).decision_function(X), some.decision_function(X)
    )


# ---- Weights ----


@pytest.mark.parametrize("name", WEIGHING)
def test_whole_weights_are_repeated_rows(name):
    groups = 3 if METHODS[name].takes(3) else 2
    X, y, s = people(150, groups=groups)
    f, more = base(X, y), given_joint(name, groups)
    weight = np.arange(150) % 3  # nobody with a weight of 0 counts
    fairness = METHODS[name].criteria[0]
    weighed = made(name, f, fairness=fairness, **more).fit(X, y, sensitive_features=s, sample_weight=weight)
    rows = np.repeat(np.arange(150), weight)
    repeated = made(name, f, fairness=fairness, **more).fit(X[rows], y[rows], sensitive_features=s[rows])
    assert_the_same_rule(name, X, s, weighed, repeated)
    plain = made(name, f, fairness=fairness, **more).fit(X, y, sensitive_features=s)
    apart = np.abs(rule(plain, name, X, s) - rule(repeated, name, X, s)).max()
    assert apart > 0.01 or name == "oracle_roc"  # which asks only which group is the lower


def test_a_predictor_of_its_own_is_trained_by_weights():
    X, y, s = people(300)
    plain, same, other = (
        made("adv_debias", None).fit(X, y, sensitive_features=s, sample_weight=weight).decision_function(X)
        for weight in (None, np.full(300, 2.0), 0.2 + 2.0 * y)
    )
    np.testing.assert_allclose(same, plain, atol=1e-4)
    assert other.mean() > plain.mean() + 0.1  # positive labels count for more


@pytest.mark.parametrize("name", [name for name in COMPETITORS if not METHODS[name].weights])
def test_methods_that_cannot_weigh_rows_say_so(name):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=r"takes no sample_weight: .*\."):
        made(name, base(X, y)).fit(X, y, sensitive_features=s, sample_weight=np.ones(60))


# ---- The Bayes rule of several groups ----


def charged(score, density, decided, price):
    """What decisions (n, cases) gain, less the price of the distance of the groups' rates."""
    rates = np.einsum("nk,ncs->kcs", decided, density) / len(score)
    return score @ decided / len(score) - price * np.ptp(rates, axis=2).sum(axis=1)


@pytest.mark.parametrize("conditions", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_pull_is_the_dual_of_the_best_of_all_decisions(seed, conditions):
    rng = np.random.default_rng(seed)
    n, groups, lambda_fair = 10, 3, 0.3
    score, density = rng.normal(0, 0.3, n), rng.dirichlet(np.ones(groups), (n, conditions))
    density /= density.mean(axis=0)
    pull = pull_of_many(score, density, lambda_fair)
    assert np.abs(pull).sum() > 0.1
    np.testing.assert_allclose(pull.sum(axis=1), 0, atol=1e-9)
    assert (np.abs(pull).sum(axis=1) <= 1 + 1e-9).all()

    def dual(pull):
        return np.maximum(score - lambda_fair * (density * pull).sum(axis=(1, 2)), 0).mean()

    # No decisions, with lots or without, are worth more, and no other pull has a smaller dual.
    every = np.array(list(product((0, 1), repeat=n))).T
    best = charged(score, density, every, lambda_fair / 2).max()
    assert best <= dual(pull) + 1e-9
    assert dual(pull) - best < 0.02  # a person or two on the line
    for other in rng.normal(size=(200, conditions, groups)):
        other -= other.mean(axis=1, keepdims=True)
        other *= rng.uniform(0, 1) / np.abs(other).sum(axis=1, keepdims=True)
        assert dual(other) >= dual(pull) - 1e-9


def test_of_two_groups_the_many_rule_is_the_papers_while_the_favoured_group_stays_so():
    X, y, s = people()
    f = base(X, y)
    g = make_method("oracle", f, 0.05, lambda_ratio=0.0).fit(X, y, sensitive_features=s)
    rows = g._aware_rows(X, s, None)
    joint = g._joint(rows)
    density = joint.sum(axis=2)[:, None] / g.means_
    found = pull_of_many(joint[:, :, 1].sum(axis=1) - 0.5, density, 0.05)
    np.testing.assert_allclose(found, g.pull_, atol=1e-9)


def test_a_larger_price_is_never_less_fair_on_the_training_rows():
    X, y, s, f = several()
    gaps = []
    membership = Membership().fit((X - X.mean(axis=0)) / X.std(axis=0), y, s)
    for value in (0.0, 0.05, 0.1, 0.2, 0.4, 1.0):
        decided = make_method("oracle", f, value, lambda_ratio=0.0, membership=membership)
        decided.fit(X, y, sensitive_features=s)
        rates = [decided.predict(X[s == k], sensitive_features=s[s == k]).mean() for k in range(GROUPS)]
        gaps.append(np.ptp(rates))
    assert (np.diff(gaps) < 0.02).all()
    assert gaps[0] > 0.4
    assert gaps[-1] < 0.03


# ---- The barycentre of several groups ----


def test_several_groups_meet_in_their_barycentre():
    rng = np.random.default_rng(0)
    s = np.repeat([0, 1, 2], [300, 200, 100])
    f = np.concatenate([rng.beta(2, 5, 300), rng.beta(3, 3, 200), rng.beta(5, 2, 100)])
    rows, y = np.arange(600.0)[:, None], np.arange(600) % 2
    g = Wass1PostProcessing().fit(rows, y, sensitive_features=s, base_scores=f)
    p = g.predict_proba(rows, sensitive_features=s, base_scores=f)[:, 1]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert ks_2samp(p[s == one], p[s == other]).statistic < 0.03

    def cost(centre):
        return sum(np.mean(s == group) * wasserstein_distance(f[s == group], centre) for group in range(3))

    least = cost(p)
    assert np.abs(p - f).mean() == pytest.approx(least, rel=0.02)
    rank = np.linspace(0, 1, 1000)
    quantiles = np.array([np.quantile(f[s == group], rank) for group in range(3)])
    for share in rng.dirichlet(np.ones(3), 20):
        assert cost(share @ quantiles) >= least - 1e-3


# ---- The registry ----


def test_the_registry_says_which_methods_take_several_groups_and_weights():
    for name in COMPETITORS:
        assert class_of(name).for_two == (METHODS[name].groups == 2)
        assert class_of(name).weights == METHODS[name].weights
    assert FOR_TWO == ["oracle_roc", "pleiss", "cfbc", "leaf_relabelling", "mnb", "mbs"]
    for fairness in (DP, EO):
        assert set(available_methods(fairness)) - set(available_methods(fairness, 3)) == {
            name for name in FOR_TWO if fairness in METHODS[name].criteria
        }
    table = overview()
    assert table["groups"].to_dict() == {name: "any" if METHODS[name].groups is None else "two" for name in METHODS}
    assert not table.loc["hardt", "weights"]


def test_what_is_said_of_methods_that_cannot():
    assert two_groups_in_words([]) == weights_in_words(["lpp"]) == ""
    assert (
        two_groups_in_words(["cfbc"])
        == "CFBC is a method for two groups, as published, and cannot be asked about more."
    )
    assert two_groups_in_words(FOR_TWO[:3]).startswith(
        "Oracle ROC, Information withholding and CFBC are methods for two"
    )
    assert weights_in_words(["lpp", "hardt", "wass1"]) == (
        "Hardt post-processing and Wass-1 post-processing cannot weigh rows when learning: to them all count alike."
    )
