"""The optimal rule of small worlds, against all rules and the definitions."""

import numpy as np
import pytest

from tests.theory.brute import all_decisions, gains_of_one, risks
from tests.theory.world import make_world

PARITY, ODDS = "demographic_parity", "equalized_odds"
SETTINGS = [
    {"lambda_fair": fair, "lambda_ratio": ratio, "fairness": fairness, "tau": tau}
    for fairness in (PARITY, ODDS)
    for fair, ratio in ((0.0, 0.0), (0.1, 0.0), (0.1, 0.05), (0.4, 0.2), (2.0, 0.1), (0.0, 0.3))
    for tau in (1.0, 0.8, 0.3)
]


def named(setting):
    return "-".join(str(value) for value in setting.values())


@pytest.mark.parametrize("setting", SETTINGS, ids=named)
@pytest.mark.parametrize("seed", range(3))
def test_the_risk_is_that_of_the_definitions(seed, setting):
    world = make_world(7, seed)
    for rule in np.random.default_rng(seed).random((3, 7)):
        assert world.risk(rule, **setting) == pytest.approx(risks(world, rule[:, None], **setting)[0], abs=1e-12)


@pytest.mark.parametrize("setting", SETTINGS, ids=named)
@pytest.mark.parametrize("kinds", [3, 6, 10])
def test_no_rule_has_less_risk_than_the_optimal_one(kinds, setting):
    for seed in (1, 2):  # in world 0 of six kinds f is constant and favours nobody
        world = make_world(kinds, seed)
        chosen = world.optimal_rule(**setting)
        assert set(chosen.tolist()) <= {0, 1}
        least = world.risk(chosen, **setting)
        assert least == pytest.approx(risks(world, all_decisions(kinds).T, **setting).min(), abs=1e-12)
        lots = np.random.default_rng(seed).random((kinds, 500))
        assert risks(world, lots, **setting).min() >= least - 1e-12


@pytest.mark.parametrize("setting", SETTINGS, ids=named)
def test_a_decision_changes_just_where_the_fair_score_disagrees_by_more_than_lambda_ratio(setting):
    changed = 0
    for seed in range(6):
        world = make_world(9, seed)
        fair_score = gains_of_one(world, **{**setting, "lambda_ratio": 0.0})
        against_f = np.where(world.decided == 1, -fair_score, fair_score)
        flips = world.optimal_rule(**setting) != world.decided
        np.testing.assert_array_equal(flips, against_f > setting["lambda_ratio"])
        changed += flips.sum()
    assert changed or setting["lambda_fair"] == 0.0


@pytest.mark.parametrize("fairness", [PARITY, ODDS])
def test_a_large_lambda_ratio_leaves_f_alone_and_a_small_one_does_not(fairness):
    for seed in range(5):
        world = make_world(10, seed)
        setting = {"lambda_fair": 0.5, "fairness": fairness}
        largest = np.abs(gains_of_one(world, lambda_ratio=0.0, **setting)).max()
        kept = world.optimal_rule(lambda_ratio=1.001 * largest, **setting)
        np.testing.assert_array_equal(kept, world.decided)
        assert (world.optimal_rule(lambda_ratio=0.0, **setting) != world.decided).any()


def test_more_weight_of_the_changes_means_fewer_of_them_and_more_of_fairness_a_smaller_gap():
    for seed in range(5):
        world = make_world(12, seed)

        zero, one = world.rates(world.decided)[0]
        favour = np.array([-1, 1]) * np.sign(one - zero)  # the rate of the group that f favours, less the other
        rules = [world.optimal_rule(lambda_fair=0.3, lambda_ratio=r) for r in (0.0, 0.05, 0.1, 0.2, 0.4)]
        changed = [float(world.share @ (rule != world.decided)) for rule in rules]
        assert changed == sorted(changed, reverse=True)
        fairer = [world.optimal_rule(lambda_fair=fair, lambda_ratio=0.0) for fair in (0.0, 0.1, 0.3, 1.0)]
        gaps = [float(world.rates(rule)[0] @ favour) for rule in fairer]
        assert gaps == sorted(gaps, reverse=True)


def test_the_bayes_classifier_is_optimal_where_only_accuracy_counts():
    for seed in range(5):
        world = make_world(10, seed)
        likely = world.joint.sum(axis=1)[:, 1] > 0.5
        for fairness in (PARITY, ODDS):
            chosen = world.optimal_rule(lambda_fair=0.0, lambda_ratio=0.0, fairness=fairness)
            np.testing.assert_array_equal(chosen, likely)


@pytest.mark.parametrize("fairness", [PARITY, ODDS])
def test_rates_are_conditional_probabilities(fairness):
    world = make_world(6, 4)
    rule = np.random.default_rng(0).random(6)
    rates = world.rates(rule, fairness)
    for condition, labels in enumerate([(0, 1)] if fairness == PARITY else [(0,), (1,)]):
        for group in (0, 1):
            p = [world.share[x] * sum(world.joint[x, group, y] for y in labels) for x in range(6)]
            assert rates[condition, group] == pytest.approx(sum(a * b for a, b in zip(p, rule, strict=True)) / sum(p))


@pytest.mark.parametrize("seed", range(5))
def test_a_world_is_a_distribution_and_the_same_for_the_same_seed(seed):
    world = make_world(12, seed)
    assert world.share.sum() == pytest.approx(1)
    np.testing.assert_allclose(world.joint.sum(axis=(1, 2)), 1)
    assert (world.joint > 0).all()
    assert (world.share > 0).all()
    assert set(world.decided) <= {0.0, 1.0}
    for part in ("share", "joint", "decided"):
        np.testing.assert_array_equal(getattr(world, part), getattr(make_world(12, seed), part))


def test_f_favours_group_1_in_most_worlds():
    rates = np.array([world.rates(world.decided)[0] for world in (make_world(seed=seed) for seed in range(100))])
    assert np.mean(rates[:, 1] > rates[:, 0]) > 0.8


def test_a_sample_is_drawn_from_its_world():
    world, n = make_world(8, 2), 100_000
    people = world.sample(n, seed=3)
    assert list(people.columns) == ["kind", "sensitive", "y", "f"]
    kind = people["kind"].str.removeprefix("kind ").astype(int)
    for x in range(8):
        for s in (0, 1):
            for y in (0, 1):
                p = world.share[x] * world.joint[x, s, y]
                seen = ((kind == x) & (people["sensitive"] == s) & (people["y"] == y)).mean()
                assert abs(seen - p) < 5 * np.sqrt(p * (1 - p) / n)
    np.testing.assert_array_equal(people["f"], np.where(world.decided[kind] == 1, 0.9, 0.1))
    assert people.equals(world.sample(n, seed=3))
    assert not people.equals(world.sample(n, seed=4))
