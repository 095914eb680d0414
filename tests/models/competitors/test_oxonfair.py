"""OxonFair against every combination of thresholds on small cases."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from commod.models.competitors import OxonFair
from commod.models.competitors.oxonfair import _lines
from tests.models.competitors.cases import GivenJoint, base, people, standardised

DP, EO = "demographic_parity", "equalized_odds"


def small_case(seed, n=30, groups=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    s = np.r_[np.arange(2 * groups) % groups, rng.integers(0, groups, n - 2 * groups)]
    f = 1 / (1 + np.exp(-(X @ [1.0, 0.7, 0.2] + s)))
    y = (rng.random(n) < f).astype(int)
    y[: 2 * groups] = np.arange(2 * groups) // groups  # each group has both labels
    membership = GivenJoint(3, seed=seed + 50, groups=groups)
    return X, y, s, f, membership, membership.joint(standardised(X)).sum(axis=2)


def measured(decided, y, s, fairness, favourable=1):
    """Accuracy, largest difference of the groups' rates, lowest rate of favourable decisions."""
    gaps, lowest = [], 1.0
    for labels in [(0, 1)] if fairness == DP else [(0,), (1,)]:
        rates = [decided[(s == group) & np.isin(y, labels)].mean() for group in np.unique(s)]
        gaps.append(max(rates) - min(rates))
        if favourable in labels:
            lowest = min(rate if favourable else 1 - rate for rate in rates)
    return np.mean(decided == y), max(gaps), lowest


def guessed(chance, certainty=2 / 3):
    """The likeliest group; those of no likely one are a group more."""
    return np.array([row.argmax() if row.max() >= certainty else len(row) for row in chance])


@cache
def outcomes(fairness, favourable, seed, n, groups, certainty):
    """What every rule on a small case comes to."""
    _, y, s, f, _, chance = small_case(seed, n, groups)
    rules = every_rule(f, guessed(chance, certainty))
    return np.array([measured(rule, y, s, fairness, favourable) for rule in rules])


def every_rule(f, guess):
    cuts = [np.r_[-1.0, np.sort(f[guess == group])] for group in range(guess.max() + 1)]
    for chosen in product(*cuts):
        yield f > np.array(chosen)[guess]


@pytest.mark.parametrize(
    ("seed", "n", "groups", "certainty"), [(0, 30, 2, None), (1, 30, 2, 2 / 3), (2, 60, 2, 0.0), (3, 21, 3, 0.5)]
)
@pytest.mark.parametrize(("alpha", "least"), [(0.2, 0.0), (0.05, 0.0), (1.0, 0.7), (0.3, 0.5), (0.0, 1.0)])
@pytest.mark.parametrize("favourable", [1, pytest.param(0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("fairness", [DP, EO])
@pytest.mark.longer
def test_it_takes_the_best_of_all_thresholds(fairness, favourable, alpha, least, seed, n, groups, certainty):
    X, y, s, f, membership, _ = small_case(seed, n, groups)
    known = outcomes(fairness, favourable, seed, n, groups, 2 / 3 if certainty is None else certainty)
    broken = np.maximum(np.maximum(known[:, 1] - alpha, least - known[:, 2]), 0)
    setting = {"fairness": fairness, "certainty": certainty, "membership": membership}
    g = OxonFair(alpha=alpha, least_rate=least, favourable=favourable, **setting)
    g.fit(X, y, sensitive_features=s, base_scores=f)
    accuracy, gap, lowest = measured(g.predict(X, base_scores=f), y, s, fairness, favourable)
    assert max(gap - alpha, least - lowest, 0) == pytest.approx(broken.min(), abs=1e-9)
    assert accuracy == pytest.approx(known[broken <= broken.min() + 1e-9, 0].max())


@pytest.mark.quick
def test_everybody_is_judged_by_the_line_of_their_likeliest_group():
    X, y, s = people(600)
    membership = GivenJoint(4, seed=3)
    f = base(X, y)
    g = OxonFair(f, alpha=0.02, membership=membership).fit(X, y, sensitive_features=s)
    guess = guessed(membership.joint(standardised(X)).sum(axis=2))
    assert set(guess) == {0, 1, 2}
    assert len(set(g.lines_)) == 3
    np.testing.assert_array_equal(g.predict(X), f.decision_function(X) > g.lines_[guess])


def test_the_grid_is_refined_to_single_people(monkeypatch):
    X, y, s = people(1500)
    f = base(X, y)
    fine = OxonFair(f, alpha=0.1).fit(X, y, sensitive_features=s)
    monkeypatch.setattr("commod.models.competitors.oxonfair.GRID", 400)
    coarse = OxonFair(f, alpha=0.1).fit(X, y, sensitive_features=s)
    (one, gap, _), (other, wider, _) = (measured(g.predict(X), y, s, DP) for g in (fine, coarse))
    assert max(gap, wider) <= 0.1
    assert abs(one - other) < 0.01


def test_fs_own_line_stands_for_all_that_divide_people_as_it_does():
    logit = np.array([-2.0, 1.0, 1.0, -0.4, 3.0])
    lines, above = _lines(logit, np.ones((5, 1)))
    np.testing.assert_allclose(lines, [-3.0, -1.2, 0.0, 2.0, 4.0])
    assert above[:, 0].tolist() == [5, 4, 3, 1, 0]
    assert [value.tolist() for value in _lines(logit[:0], np.ones((0, 1)))] == [[0.0], [[0.0]]]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"alpha": -1}, "alpha must be a number of 0 or more"),
        ({"least_rate": 1.5}, "least_rate is a share, from 0 to 1"),
        ({"certainty": 67}, "certainty is a share, from 0 to 1"),
        ({"favourable": "yes"}, r"favourable must be one of the labels in y, \[0, 1\], got 'yes'"),
    ],
    ids=str,
)
def test_bad_settings(setting, message):
    X, y, s = people(60)
    with pytest.raises(ValueError, match=message):
        OxonFair(base(X, y), **setting).fit(X, y, sensitive_features=s)
