"""The Bayes-optimal rule on samples of a world where it is known, by hand, and on law_school."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from commod.experiments import prepare
from commod.models.competitors.bayes import BayesOptimal, OracleBayes
from commod.models.competitors.membership import Membership
from tests.models.competitors.cases import GivenJoint, base, people, standardised
from tests.theory.brute import gains_of_one
from tests.theory.world import World, make_world

CRITERIA = ("demographic_parity", "equalized_odds")
KINDS, ROWS, SEEDS = 10, 20_000, (1, 2, 3)
WEIGHTS = [(0.0, 0.0), (0.1, 0.05), (0.3, 0.0), (0.3, 0.1)]
# How far 20,000 rows may lead astray: the margins of such a sample's own frequencies differ by less from the world's.
CLEAR = 0.07


@cache
def sampled(seed):
    """A world, the world of a sample's frequencies, the sample, and what is learnt of P(S, Y | x) from it."""
    world = make_world(KINDS, seed)
    sample = world.sample(ROWS, seed)
    rows = np.zeros((KINDS, 2, 2))
    np.add.at(rows, (sample["kind"].str.removeprefix("kind ").astype(int), sample["sensitive"], sample["y"]), 1)
    of_kind = rows.sum(axis=(1, 2))
    seen = World(of_kind / ROWS, rows / of_kind[:, None, None], world.decided)
    g = BayesOptimal("f").fit(sample[["kind", "f"]], sample["y"], sensitive_features=sample["sensitive"])
    return world, seen, sample, g.membership_


def told_the_group(world):
    """The world whose kinds are pairs of a kind and a group, kind 0 group 0, kind 0 group 1, kind 1 group 0, …"""
    of_group = world.joint.sum(axis=2)
    label = world.joint / of_group[:, :, None]
    joint = np.zeros((len(of_group), 2, 2, 2))
    for group in (0, 1):
        joint[:, group, group] = label[:, group]
    return World((world.share[:, None] * of_group).ravel(), joint.reshape(-1, 2, 2), np.repeat(world.decided, 2))


def one_of_each(world):
    scores = np.where(world.decided == 1, 0.9, 0.1)
    return pd.DataFrame({"kind": [f"kind {k:02d}" for k in range(KINDS)], "f": scores})


# ---- Where the answer is known ----


@pytest.mark.slow
@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])])
@pytest.mark.parametrize(("lambda_fair", "lambda_ratio"), WEIGHTS)
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("method", [BayesOptimal, OracleBayes])
def test_the_rule_of_the_world_is_found_from_a_sample(method, fairness, lambda_fair, lambda_ratio, seed):
    world, seen, sample, membership = sampled(seed)
    setting = {"lambda_fair": lambda_fair, "lambda_ratio": lambda_ratio, "fairness": fairness}
    g = method("f", membership=membership, **setting)
    g.fit(sample[["kind", "f"]], sample["y"], sensitive_features=sample["sensitive"])
    everyone, told = one_of_each(world), {}
    if method is OracleBayes:
        everyone, told = everyone.loc[np.repeat(range(KINDS), 2)], {"sensitive_features": np.tile([0, 1], KINDS)}
        world, seen = told_the_group(world), told_the_group(seen)
    np.testing.assert_allclose(g.decision_function(everyone, **told), gains_of_one(seen, **setting), atol=0.01)

    clear = np.abs(gains_of_one(world, **setting)) > CLEAR
    assert clear.mean() >= 0.5
    decided, best = g.predict(everyone, **told), world.optimal_rule(**setting)
    np.testing.assert_array_equal(decided[clear], best[clear])
    assert world.risk(decided, **setting) <= world.risk(best, **setting) + 0.005


@pytest.mark.parametrize("method", [BayesOptimal, OracleBayes])
def test_scores_may_be_a_column_or_given_and_labels_and_groups_may_have_names(method):
    sample = sampled(1)[2][:3000]
    X, s, y = sample[["kind", "f"]], sample["sensitive"], sample["y"]
    names, answers = s.map({0: "green", 1: "blue"}), y.map({0: "no", 1: "yes"})  # blue, the favoured one, comes first
    told, told_names = {"sensitive_features": s}, {"sensitive_features": names}
    if method is BayesOptimal:
        told = told_names = {}
    g = method("f", lambda_fair=0.2).fit(X, y, sensitive_features=s)
    named = method(lambda_fair=0.2).fit(X[["kind"]], answers, sensitive_features=names, base_scores=X["f"])
    assert (g.favoured_.tolist(), named.favoured_.tolist()) == ([1], [0])
    expected = g.predict(X, **told)
    assert set(expected) == {0, 1}
    np.testing.assert_array_equal(named.predict(X[["kind"]], base_scores=X["f"], **told_names) == "yes", expected == 1)


# ---- By hand ----


@pytest.mark.quick
@pytest.mark.parametrize("fairness", CRITERIA)
def test_the_margin_is_the_sum_of_its_three_terms(fairness):
    X, y, s = people()
    scores = base(X, y).predict_proba(X)[:, 1]
    membership = GivenJoint(4, seed=5)
    joint = membership.joint(standardised(X))
    g = BayesOptimal(lambda_fair=0.3, lambda_ratio=0.07, fairness=fairness, membership=membership)
    g.fit(X, y, sensitive_features=s, base_scores=scores)
    assert g.membership_ is membership

    expected = joint[:, 0, 1] + joint[:, 1, 1] - 0.5 + np.where(scores > 0.5, 0.07, -0.07)
    for labels in [(0, 1)] if fairness == "demographic_parity" else [(0,), (1,)]:
        here = np.isin(y, labels)
        rate = [np.mean(scores[here & (s == group)] > 0.5) for group in (0, 1)]
        favoured = int(rate[1] > rate[0])
        weight = [sum(joint[:, group, label] for label in labels) for group in (0, 1)]
        weight = [w / w.mean() for w in weight]
        expected += 0.3 * (weight[1 - favoured] - weight[favoured]) / 2
    np.testing.assert_allclose(g.decision_function(X, base_scores=scores), expected, atol=1e-12)
    np.testing.assert_array_equal(g.predict(X, base_scores=scores), expected > 0)


def test_told_the_group_parity_is_one_threshold_for_each_and_one_more_for_each_decision_of_f():
    X, y, s = people()
    scores = base(X, y).predict_proba(X)[:, 1]
    membership = GivenJoint(4, seed=5)
    joint = membership.joint(standardised(X))[np.arange(len(X)), s]
    g = OracleBayes(lambda_fair=0.1, lambda_ratio=0.2, membership=membership)
    g.fit(X, y, sensitive_features=s, base_scores=scores)
    assert g.membership_ is membership
    assert g.favoured_.tolist() == [1]
    shift = np.where(s == 1, -0.05 / np.mean(s == 1), 0.05 / np.mean(s == 0))
    expected = joint[:, 1] / joint.sum(axis=1) - 0.5 + shift + np.where(scores > 0.5, 0.2, -0.2)
    margin = g.decision_function(X, sensitive_features=s, base_scores=scores)
    np.testing.assert_allclose(margin, expected, atol=1e-12)


@pytest.mark.parametrize("method", [BayesOptimal, OracleBayes])
def test_a_fitted_membership_is_reused_and_an_unfitted_one_is_learnt_anew(method):
    X, y, s = people()
    f = base(X, y)
    told = {} if method is BayesOptimal else {"sensitive_features": s}
    first = method(f).fit(X, y, sensitive_features=s)
    again = method(f, membership=first.membership_).fit(X, y, sensitive_features=s)
    assert again.membership_ is first.membership_
    blank = Membership()
    learnt = method(f, membership=blank).fit(X, y, sensitive_features=s)
    assert not hasattr(blank, "model_")
    for g in (again, learnt):
        np.testing.assert_array_equal(g.decision_function(X, **told), first.decision_function(X, **told))


@pytest.mark.parametrize("method", [BayesOptimal, OracleBayes])
@pytest.mark.parametrize("fairness", CRITERIA)
def test_half_of_lambda_ratio_keeps_every_decision_where_fairness_does_not_count(fairness, method):
    X, y, s = people()
    f = base(X, y)
    told = {} if method is BayesOptimal else {"sensitive_features": s}
    g = method(f, lambda_fair=0.0, lambda_ratio=0.5, fairness=fairness).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(g.predict(X, **told), f.predict(X))


@pytest.mark.parametrize("method", [BayesOptimal, OracleBayes])
@pytest.mark.parametrize("weight", ["lambda_fair", "lambda_ratio"])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "much", None])
def test_a_weight_is_a_number_of_0_or_more(method, weight, value):
    X, y, s = people()
    with pytest.raises(ValueError, match=f"{weight} must be a number of 0 or more, got "):
        method(**{weight: value}).fit(X, y, sensitive_features=s)


# ---- On law_school ----


@cache
def along_lambda_fair(lambda_ratio):
    scene = prepare("law_school")
    s, figures, membership = scene.test.sensitive.to_numpy(), [], None
    for lambda_fair in np.linspace(0, 0.4, 41):
        g = OracleBayes(scene.f, lambda_fair=lambda_fair, lambda_ratio=lambda_ratio, membership=membership)
        g.fit(scene.train.X, scene.train.y, sensitive_features=scene.train.sensitive)
        membership = g.membership_
        figures.append(scene.figures(g.predict(scene.test.X, sensitive_features=s)))
    return pd.DataFrame(figures)


@pytest.mark.parametrize("lambda_ratio", [0.1, *(pytest.param(value, marks=pytest.mark.slow) for value in (0.0, 0.2))])
def test_law_school_can_be_made_fair(lambda_ratio):
    figures = along_lambda_fair(lambda_ratio)
    assert figures["p_rule"][0] < 0.3
    assert figures["p_rule"].max() > 0.9


@pytest.mark.longer
@pytest.mark.parametrize("lambda_ratio", [0.1, pytest.param(0.2, marks=pytest.mark.slow)])
def test_a_price_on_changes_saves_changes_at_equal_fairness(lambda_ratio):
    without, with_price = along_lambda_fair(0.0), along_lambda_fair(lambda_ratio)
    for p_rule in (0.5, 0.7, 0.9):
        changed = [figures.loc[figures["p_rule"] >= p_rule, "change_rate"].min() for figures in (without, with_price)]
        assert changed[0] > changed[1], p_rule
