"""LPP against the full linear program of its paper, solved directly."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.postprocessing import ThresholdOptimizer
from scipy.optimize import linprog

from commod.models.competitors import LPP, METHODS, OracleLPP
from commod.models.competitors.hardt import _GivenScores
from tests.fitting import case
from tests.models.competitors.cases import GivenJoint, base, people, positive_rates, standardised

pytestmark = pytest.mark.quick

CRITERIA = ("demographic_parity", "equalized_odds")


def full_program(f, joint, fairness, alpha):
    """min (1/n) Σ π·r over π(x, ŷ) ≥ 0 for both ŷ and q ≥ 0, nothing simplified; its value and P(ŷ = 1 | x)."""
    n = len(f)
    risk = np.column_stack([f, 1 - f])  # 1 − P(Y = ŷ | x)
    rows = []  # (ŷ, weight of each person in each group)
    for decided in (0, 1):
        if fairness == "demographic_parity":
            rows.append((decided, joint.sum(axis=2)))
        else:
            rows += [(decided, joint[:, :, y]) for y in (0, 1)]
    constraints = []
    for i, (decided, density) in enumerate(rows):
        for group in range(joint.shape[1]):
            row = np.zeros(2 * n + len(rows))
            row[decided : 2 * n : 2] = density[:, group] / density[:, group].mean() / n
            row[2 * n + i] = -1.0
            constraints += [row, -row]
    one_decision = np.hstack([np.kron(np.eye(n), np.ones(2)), np.zeros((n, len(rows)))])
    result = linprog(
        np.concatenate([risk.ravel() / n, np.zeros(len(rows))]),
        A_ub=np.array(constraints),
        b_ub=np.full(len(constraints), alpha / 2),
        A_eq=one_decision,
        b_eq=np.ones(n),
        bounds=(0, None),
    )
    assert result.success
    return result.fun, result.x[1 : 2 * n : 2]


def weighted_rates(decisions, joint, fairness):
    """Positive rate of each group (under each label): shape (conditions, groups)."""
    densities = joint.sum(axis=2)[..., None] if fairness == "demographic_parity" else joint
    return np.einsum("n,nsc->cs", decisions, densities / densities.mean(axis=0)) / len(decisions)


@pytest.fixture
def without_noise(monkeypatch):
    """The noise that breaks ties is not part of the program."""
    monkeypatch.setattr("commod.models.competitors.lpp.NOISE", 0.0)


def small_case(seed, aware, groups=2):
    """60 rows whose f and P(S, Y | x) are formulas; the fitted model's arguments and the joint of the full program."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    s = rng.integers(0, groups, 60)
    f = 1 / (1 + np.exp(-(X @ rng.normal(size=3) + 1.2 * s / (groups - 1) - 0.5)))
    y = (rng.random(60) < f).astype(int)
    if aware:
        joint = np.eye(groups)[s][:, :, None] * np.column_stack([1 - f, f])[:, None, :]
        return X, y, s, f, {}, joint
    membership = GivenJoint(3, seed=seed + 100, groups=groups)
    return X, y, s, f, {"membership": membership}, membership.joint(standardised(X))


@pytest.mark.usefixtures("without_noise")
@pytest.mark.parametrize(("seed", "groups"), [(0, 2), (1, 2), (2, 2), (3, 2), (2, 3), (3, 4)])
@pytest.mark.parametrize("alpha", [0.15, 0.04])
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("method", [LPP, OracleLPP])
@pytest.mark.longer
def test_the_dual_rule_is_the_solution_of_the_full_program(method, fairness, alpha, seed, groups):
    aware = method is OracleLPP
    X, y, s, f, settings, joint = small_case(seed, aware, groups)
    value, chosen = full_program(f, joint, fairness, alpha)
    told = {"sensitive_features": s} if aware else {}
    g = method(alpha=alpha, fairness=fairness, **settings).fit(X, y, sensitive_features=s, base_scores=f)
    margin = g.decision_function(X, base_scores=f, **told)
    decided = g.predict(X, base_scores=f, **told)

    # Strong duality: Σ r is mean(f) − mean((2f − 1)·π), and the dual of the latter's maximum is this.
    dual_value = np.maximum(margin, 0).mean() + alpha / 2 * np.abs(g.shift_).sum()
    assert f.mean() - dual_value == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(g.shift_.sum(axis=1), 0, atol=1e-9)  # q is free

    fractional = np.abs(chosen - chosen.round()) > 1e-7
    assert fractional.sum() <= 2 * g.shift_.size
    np.testing.assert_array_equal(decided[~fractional], chosen[~fractional].round())
    np.testing.assert_allclose(margin[fractional], 0, atol=1e-9)

    # α bounds the groups' gap, but for the people on the threshold, who cannot be halved.
    rates = weighted_rates(decided, joint, fairness)
    weights = weighted_rates(fractional.astype(float), joint, fairness).sum(axis=1)
    assert (np.ptp(rates, axis=1) <= alpha + weights + 1e-9).all()
    unfair = weighted_rates((f > 0.5).astype(float), joint, fairness)
    if (np.ptp(unfair, axis=1) > alpha).any():
        assert (decided != (f > 0.5)).any()
        assert value > np.minimum(f, 1 - f).mean()
    else:
        np.testing.assert_array_equal(decided, f > 0.5)


@pytest.mark.parametrize("alpha", [1.0, 1e6])
@pytest.mark.parametrize("fairness", CRITERIA)
@pytest.mark.parametrize("method", [LPP, OracleLPP])
def test_without_a_constraint_that_binds_nothing_changes(method, fairness, alpha):
    X, y, s = people()
    f = base(X, y)
    told = {"sensitive_features": s} if method is OracleLPP else {}
    g = method(f, alpha=alpha, fairness=fairness).fit(X, y, sensitive_features=s)
    np.testing.assert_array_equal(g.predict(X, **told), f.predict(X))
    np.testing.assert_allclose(g.shift_, 0, atol=1e-12)
    np.testing.assert_allclose(g.decision_function(X, **told), 2 * f.predict_proba(X)[:, 1] - 1, atol=1e-12)


@pytest.mark.parametrize("method", [LPP, OracleLPP])
def test_a_score_of_one_half_stays_negative_where_no_constraint_binds(method):
    X, y, s = people()
    scores = np.where(np.arange(400) % 2, 0.5, 0.8)
    told = {"sensitive_features": s} if method is OracleLPP else {}
    g = method(alpha=1.0).fit(X, y, sensitive_features=s, base_scores=scores)
    np.testing.assert_array_equal(g.predict(X, base_scores=scores, **told), scores > 0.5)


def test_demographic_parity_is_a_shift_by_probable_group():
    X, y, s = people()
    f, membership = base(X, y), GivenJoint(4)
    g = LPP(f, alpha=0.03, membership=membership).fit(X, y, sensitive_features=s)
    group = membership.joint(standardised(X)).sum(axis=2)
    expected = 2 * f.predict_proba(X)[:, 1] - 1 + (group / group.mean(axis=0)) @ g.shift_[0]
    np.testing.assert_allclose(g.decision_function(X), expected, atol=0.51e-4)


def test_known_groups_get_one_threshold_each():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    g = OracleLPP(c.f, alpha=0.05).fit(c.train.X, c.train.y, sensitive_features=s)
    decided, f = g.predict(c.train.X, sensitive_features=s), c.f.predict_proba(c.train.X)[:, 1]
    for group in (0, 1):
        here = s == group
        assert f[here & (decided == 0)].max() <= f[here & (decided == 1)].min() + 1e-4
    low, high = sorted(positive_rates(decided, s))
    assert high - low <= 0.05 + 2 / np.bincount(s).min()
    before = positive_rates(f > 0.5, s)
    assert max(before) - min(before) > 0.3


def test_a_smaller_alpha_is_fairer_and_costs_more():
    c = case("law_school")
    s = c.train.sensitive.to_numpy()
    membership = LPP(c.f).fit(c.train.X, c.train.y, sensitive_features=s).membership_
    gaps, changes = [], []
    for alpha in (0.3, 0.15, 0.05):
        g = LPP(c.f, alpha=alpha, membership=membership).fit(c.train.X, c.train.y, sensitive_features=s)
        decided = g.predict(c.train.X)
        low, high = sorted(positive_rates(decided, s))
        gaps.append(high - low)
        changes.append(np.mean(decided != c.f.predict(c.train.X)))
    assert gaps[0] > gaps[1] > gaps[2]
    assert changes[0] < changes[1] < changes[2]
    # P(S | x) is a model: the gap is met as far as it is right.
    assert gaps[2] < 0.1


def test_a_fitted_membership_is_used_as_it_is_and_an_unfitted_one_is_learnt_anew():
    from commod.models.competitors.membership import Membership

    X, y, s = people()
    f = base(X, y)
    given = GivenJoint(4)
    assert LPP(f, membership=given).fit(X, y, sensitive_features=s).membership_ is given
    blank = Membership()
    learnt = LPP(f, membership=blank).fit(X, y, sensitive_features=s)
    assert not hasattr(blank, "model_")
    np.testing.assert_array_equal(
        learnt.decision_function(X), LPP(f).fit(X, y, sensitive_features=s).decision_function(X)
    )


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_where_a_whole_group_is_tied_the_noise_decides_and_value_and_constraint_hold(seed):
    # With S known, equalized odds weighs a person by f alone: γ is linear in f, and a small α makes one group's margin
    # the same for everyone in it, 0. The program is met by lots.
    X, y, s, f, _, joint = small_case(seed, aware=True)
    alpha = 0.01
    value, _ = full_program(f, joint, "equalized_odds", alpha)
    g = OracleLPP(alpha=alpha, fairness="equalized_odds").fit(X, y, sensitive_features=s, base_scores=f)
    margin = g.decision_function(X, sensitive_features=s, base_scores=f)
    tied = np.abs(margin) < 2e-4
    assert tied.sum() >= np.bincount(s).min()
    dual_value = np.maximum(margin, 0).mean() + alpha / 2 * np.abs(g.shift_).sum()
    assert f.mean() - dual_value == pytest.approx(value, abs=1e-4)
    rates = weighted_rates(margin > 0, joint, "equalized_odds")
    on_threshold = weighted_rates((np.abs(margin) < 1e-12).astype(float), joint, "equalized_odds").sum(axis=1)
    assert (np.abs(rates[:, 0] - rates[:, 1]) <= alpha + on_threshold + 1e-9).all()


def calibrated(seed):
    """Two groups of different scores; of every 20 people with a score of k/20 in a group, k have label 1."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, 20)
    X, y, s, f = [], [], [], []
    low, high = np.sort(rng.integers(1, 9, (2, 19)))
    for group, twenties in enumerate([low[::-1], high]):
        share = np.repeat(shares, twenties)
        y.append((np.arange(20) < share[:, None]).ravel())
        f.append(np.repeat(share / 20, 20))
        s.append(np.full(len(f[-1]), group))
        X.append(rng.normal(size=(len(f[-1]), 3)))
    return np.concatenate(X), np.concatenate(y).astype(int), np.concatenate(s), np.concatenate(f)


@pytest.mark.parametrize("alpha", [0.08, 0.04, 0.01])
@pytest.mark.parametrize("seed", range(3))
def test_known_groups_are_decided_as_well_as_by_fairlearns_relaxed_thresholds(seed, alpha):
    """Where f is calibrated in each group, the accuracy that it expects is the one that fairlearn counts."""
    X, y, s, f = calibrated(seed)
    oracle = ThresholdOptimizer(estimator=_GivenScores(), prefit=True, predict_method="predict", tol=alpha)
    oracle.fit(pd.DataFrame({"f": f}), y, sensitive_features=s)
    theirs = oracle._pmf_predict(pd.DataFrame({"f": f}), sensitive_features=s)[:, 1]
    g = OracleLPP(alpha=alpha).fit(X, y, sensitive_features=s, base_scores=f)
    ours = g.predict(X, sensitive_features=s, base_scores=f)

    def accuracy_and_gap(chance):
        rates = [chance[s == group].mean() for group in (0, 1)]
        return np.mean(chance * f + (1 - chance) * (1 - f)), abs(rates[0] - rates[1])

    before = accuracy_and_gap((f > 0.5).astype(float))
    (accuracy, gap), (best, limit) = accuracy_and_gap(ours), accuracy_and_gap(theirs)
    assert alpha < 0.1 < before[1]
    assert max(gap, limit) <= alpha + 0.002
    assert accuracy == pytest.approx(best, abs=0.0005)  # fairlearn tries rates of a grid of 1,000
    assert before[0] - accuracy > 0.001


def test_lots_of_the_tied_group_are_declared():
    X, y, s, f, _, _ = small_case(0, aware=True)
    by_seed = [
        OracleLPP(alpha=0.01, fairness="equalized_odds", random_state=seed)
        .fit(X, y, sensitive_features=s, base_scores=f)
        .predict(X, sensitive_features=s, base_scores=f)
        for seed in (0, 1)
    ]
    assert METHODS["oracle_lpp"].randomised or np.mean(by_seed[0] != by_seed[1]) < 0.05


def test_a_program_on_which_presolve_fails_is_solved():
    """HiGHS's presolve takes this one for infeasible, though everybody may get the same decision."""
    c = case("compas")
    g = OracleLPP(c.f, alpha=0.005696).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
    assert np.isfinite(g.decision_function(c.test.X, sensitive_features=c.test.sensitive)).all()
