"""The rule of fewest interventions against closed forms and grids over everything it could do."""

import numpy as np
import pytest

from commod.theory import fewest_interventions, fewest_to_reach, interventions_by_demand
from tests.theory.brute import crowd

PARITY, ODDS, PRECISION = "demographic_parity", "equalized_odds", "predictive_parity"
# Counts by (group, label, decision).
COUNTS = np.array([[[30, 10], [12, 18]], [[15, 15], [8, 42]]])
Y, D, S = crowd(COUNTS)
FINE = np.linspace(0, 1, 401)


def found(*demands, **more):
    rule = fewest_interventions(Y, D, sensitive_features=S, demands=demands, **more)
    assert rule is not None
    return rule


def cost_of_group(counts, raised, lowered):
    """Changes in a group of which so much of f's negatives is raised and of its positives lowered."""
    return raised * counts[:, 0].sum() + lowered * counts[:, 1].sum()


def test_demographic_parity_moves_the_smaller_group_all_the_way():
    """Closed form: to meet, the groups' rates take (smaller group) · (distance of the rates)."""
    sizes, rates = COUNTS.sum(axis=(1, 2)), COUNTS[:, :, 1].sum(axis=1) / COUNTS.sum(axis=(1, 2))
    assert found(PARITY).change_rate == pytest.approx(sizes.min() * np.ptp(rates) / sizes.sum())


def test_equalized_odds_is_the_best_of_all_pairs_of_rates():
    """For each (TPR, FPR) of a grid the two chances of a group are solved for; none is cheaper than ours."""
    fpr, tpr = np.meshgrid(FINE, FINE)
    total = np.zeros(fpr.shape)
    for counts in COUNTS:
        own = counts / counts.sum(axis=1, keepdims=True)  # (label, decision): rate = own₁·(1 − lowered) + own₀·raised
        inverse = np.linalg.inv(np.column_stack([own[:, 0], -own[:, 1]]))
        raised, lowered = np.einsum("ij,j...->i...", inverse, np.stack([fpr - own[0, 1], tpr - own[1, 1]]))
        possible = (raised >= -1e-9) & (raised <= 1 + 1e-9) & (lowered >= -1e-9) & (lowered <= 1 + 1e-9)
        total += np.where(possible, cost_of_group(counts, raised, lowered), np.inf)
    best = total.min() / COUNTS.sum()
    assert best - 0.004 < found(ODDS).change_rate <= best + 1e-9


def test_predictive_parity_is_the_best_of_all_precisions():
    """For each precision of a grid and each share of positives lowered, the share of negatives raised is solved for."""
    total = np.zeros(len(FINE))
    for counts in COUNTS:
        (tn, fp), (fn, tp) = counts
        precision, lowered = np.meshgrid(FINE, FINE, indexing="ij")
        slope = (1 - precision) * fn - precision * tn
        with np.errstate(divide="ignore", invalid="ignore"):
            raised = -((1 - precision) * tp - precision * fp) * (1 - lowered) / slope
        left = (1 - lowered) * (tp + fp) + raised * (tn + fn)
        possible = (raised >= 0) & (raised <= 1) & (left >= 1)
        total += np.where(possible, cost_of_group(counts, raised, lowered), np.inf).min(axis=1)
    best = total.min() / COUNTS.sum()
    assert best - 0.004 < found(PRECISION).change_rate <= best + 1e-6


def test_the_rule_does_what_is_demanded():
    rule = found(PARITY, ODDS)
    after = {}
    for s in (0, 1):
        raised, lowered = rule.chances[s, 0]
        positive = COUNTS[s, :, 1] * (1 - lowered) + COUNTS[s, :, 0] * raised  # by label
        after[s] = [positive.sum() / COUNTS[s].sum(), *(positive / COUNTS[s].sum(axis=1))]
    np.testing.assert_allclose(after[0], after[1], atol=1e-7)


def test_more_demands_take_more_changes_and_knowing_the_scores_fewer():
    table = interventions_by_demand(Y, D, sensitive_features=S).set_index("demands")["change_rate"]
    for demands, cost in table.dropna().items():
        for other, less in table.dropna().items():
            if set(other) < set(demands):
                assert less <= cost + 1e-6
    scores = np.clip(0.1 + 0.5 * D + 0.3 * Y * np.random.default_rng(0).random(len(Y)), 0, 1)
    assert found(ODDS, scores=scores).change_rate <= found(ODDS).change_rate + 1e-9


def test_what_cannot_be_had_together_is_none():
    """Different base rates and errors in every cell: equal errors and equal precision contradict each other."""
    assert fewest_interventions(Y, D, sensitive_features=S, demands=(ODDS, PRECISION)) is None
    assert fewest_interventions(Y, D, sensitive_features=S, demands=(PARITY, ODDS, PRECISION)) is None
    table = interventions_by_demand(Y, D, sensitive_features=S)
    assert table["change_rate"].isna().tolist() == [False] * 5 + [True] * 2


def test_equal_base_rates_allow_all_three():
    y, d, s = crowd([[[30, 10], [10, 30]], [[24, 16], [6, 34]]])
    assert fewest_interventions(y, d, sensitive_features=s, demands=(PARITY, ODDS, PRECISION)) is not None


def test_an_unknown_demand_is_refused():
    with pytest.raises(ValueError, match="demands"):
        fewest_interventions(Y, D, sensitive_features=S, demands=("merit",))


# ---- at a level, not fully fair ----


def reach(fairness, level, **more):
    return fewest_to_reach(Y, D, sensitive_features=S, fairness=fairness, level=level, **more)


def test_the_fairest_level_takes_what_the_exact_demand_takes():
    assert reach(PARITY, 1.0) == pytest.approx(found(PARITY).change_rate)
    assert reach(ODDS, 0.0) == pytest.approx(found(ODDS).change_rate)


@pytest.mark.parametrize("level", [0.55, 0.7, 0.8, 0.95])
def test_a_p_rule_takes_what_the_best_pair_of_rates_takes(level):
    """Over a grid of both groups' rates: the distance from f's rates, weighted by the groups' sizes."""
    sizes, rates = COUNTS.sum(axis=(1, 2)), COUNTS[:, :, 1].sum(axis=1) / COUNTS.sum(axis=(1, 2))
    one, other = np.meshgrid(np.r_[FINE, rates], np.r_[FINE, rates])
    fair = np.minimum(one, other) >= level * np.maximum(one, other)
    cost = (sizes[0] * abs(one - rates[0]) + sizes[1] * abs(other - rates[1])) / sizes.sum()
    best = cost[fair].min()
    assert best - 0.003 < reach(PARITY, level) <= best + 1e-9


def test_a_level_that_f_has_takes_nothing_and_a_fairer_one_more():
    rates = COUNTS[:, :, 1].sum(axis=1) / COUNTS.sum(axis=(1, 2))
    assert reach(PARITY, rates.min() / rates.max()) == pytest.approx(0.0, abs=1e-9)
    own = np.abs(np.diff(COUNTS[:, :, 1] / COUNTS.sum(axis=2), axis=0)).sum()
    costs = [reach(ODDS, level) for level in (own, 0.2, 0.1, 0.05, 0.0)]
    assert costs[0] == pytest.approx(0.0, abs=1e-9)
    assert costs == sorted(costs)
    assert costs[1] > 0
