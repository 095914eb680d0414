"""The bound for rules that are not told the group, against a linear programme and against the group known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from commod.metrics.calibration import reliability_table
from commod.theory import blind_curve, chance_of_group, fewest_blind_changes, p_rule_curve
from tests.theory.brute import WHOM

pytestmark = pytest.mark.quick


@pytest.fixture
def few_models(monkeypatch):
    monkeypatch.setattr("commod.theory.blind.FOLDS", 2)
    monkeypatch.setattr("commod.theory.blind.CALIBRATION_FOLDS", 2)


def crowd(seed, n=40):
    """Decisions, groups, chances and weights; group 1 is decided positively more often."""
    rng = np.random.default_rng(seed)
    chance = rng.uniform(0.02, 0.98, n)
    groups = (rng.random(n) < chance).astype(int)
    groups[:2] = 0, 1
    decided = (rng.random(n) < 0.2 + 0.6 * chance).astype(int)
    decided[1] = 1
    return decided, groups, chance, rng.uniform(0.5, 2.0, n)


def solved(p_rule, decided, groups, chance, weight, acts_on):
    """The fewest changes by scipy's solver: δ⁺ and δ⁻ of everybody, both orders of the groups' rates allowed for."""
    n = len(decided)
    of = np.stack([1 - chance, chance])
    size = np.array([weight[groups == s].sum() for s in (0, 1)])
    rate = np.array([(weight * decided)[groups == s].sum() for s in (0, 1)]) / size
    move = of * weight / size[:, None]
    rows, room = [], []
    for s in (0, 1):  # rate_s + move_s·(up − down) ≥ ρ·(the same of the other)
        row = move[s] - p_rule * move[1 - s]
        rows.append(-np.r_[row, -row])
        room.append(rate[s] - p_rule * rate[1 - s])
    up = (decided == 0) & (acts_on != "positive")
    down = (decided == 1) & (acts_on != "negative")
    bounds = [(0, float(free)) for free in np.r_[up, down]]
    found = linprog(np.tile(weight, 2), A_ub=rows, b_ub=room, bounds=bounds)
    assert len(found.x if found.success else [0] * 2 * n) == 2 * n
    return found.fun if found.success else None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 1.0), WHOM, st.booleans())
def test_nobody_needs_fewer_changes_by_linear_programming(seed, p_rule, acts_on, weighted):
    decided, groups, chance, weight = crowd(seed)
    weight = weight if weighted else np.ones(len(decided))
    ours = fewest_blind_changes(
        p_rule, decided, sensitive=groups, chance=chance, weight=weight if weighted else None, acts_on=acts_on
    )
    best = solved(p_rule, decided, groups, chance, weight, acts_on)
    assert (ours is None) == (best is None)
    if best is not None:
        assert ((ours >= 0) & (ours <= 1)).all()
        assert ours @ weight == pytest.approx(best, abs=1e-7)


def test_who_is_sure_of_every_group_reaches_the_bound_with_the_group_known():
    decided, groups, _, _ = crowd(3, n=300)
    curve = blind_curve(decided, sensitive=groups, chance=groups.astype(float))
    known = p_rule_curve(decided, sensitive_features=groups, sample_weight=np.ones(300))
    at = np.interp(curve["change_rate"], known["change_rate"], known["p_rule"])
    # The known bound is told in whole people, and so is where it becomes 1.
    np.testing.assert_allclose(curve["fairness"][:-1], at[:-1], atol=2e-3)
    np.testing.assert_allclose(curve["counted"], curve["fairness"], atol=1e-9)


def test_who_knows_nothing_of_the_group_pays_more():
    decided, groups, chance, _ = crowd(5, n=300)
    share = np.full(300, groups.mean())
    sharp = fewest_blind_changes(0.9, decided, sensitive=groups, chance=chance)
    dull = fewest_blind_changes(0.9, decided, sensitive=groups, chance=share)
    assert dull is None or dull.sum() > sharp.sum()


def test_the_curve_starts_at_f_rises_and_has_its_interval(monkeypatch):
    monkeypatch.setattr("commod.theory.blind.DRAWS", 40)
    decided, groups, chance, _ = crowd(7, n=400)
    curve = blind_curve(decided, sensitive=groups, chance=chance)
    rates = [decided[groups == s].mean() for s in (0, 1)]
    assert curve["change_rate"].iloc[0] == 0
    assert curve["fairness"].iloc[0] == pytest.approx(min(rates) / max(rates))
    assert curve["change_rate"].is_monotonic_increasing
    assert curve["fairness"].iloc[-1] == 1.0
    assert (curve["low"] <= curve["fairness"] + 1e-9).all()
    assert (curve["high"] >= curve["fairness"] - 0.02).all()  # nobody draws a P-Rule above 1
    assert (curve["high"] - curve["low"]).iloc[0] > 0.02
    assert blind_curve(decided, sensitive=groups, chance=chance).equals(curve)


def test_the_chance_of_a_group_is_learnt_and_calibrated(few_models):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 2))
    truth = 1 / (1 + np.exp(-2 * X[:, 0]))
    groups = (rng.random(1600) < truth).astype(int)
    asked, more = slice(0, 600), slice(600, None)
    chance = chance_of_group(X[asked], groups[asked], more=(X[more], groups[more], None))
    assert np.abs(chance - truth[asked]).mean() < 0.08
    table = reliability_table(groups[asked], chance)
    assert np.average(abs(table["rate"] - table["mean_score"]), weights=table["count"]) < 0.08


def test_nobodys_own_group_is_used_for_their_chance(few_models):
    rng = np.random.default_rng(1)
    X, groups = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    more = (rng.normal(size=(300, 2)), rng.integers(0, 2, 300), None)
    chance = chance_of_group(X, groups, more=more)
    turned = groups.copy()
    turned[7] = 1 - turned[7]
    again = chance_of_group(X, turned, more=more)
    assert again[7] == chance[7]
    assert (again != chance).any()  # that of others it is used for
