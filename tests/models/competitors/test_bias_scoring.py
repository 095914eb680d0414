"""Bias scoring against its definition, person by person, and every rule there is on a small case."""

from itertools import combinations, product

import numpy as np
import pytest

from commod.models.competitors import LPP, BiasScoring
from tests.models.competitors.cases import GivenJoint, base, people, standardised

DP, EO = "demographic_parity", "equalized_odds"


def small_case(seed, n=40):
    """People, f's scores, and P(S, Y | x) by a formula."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    s = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    f = 1 / (1 + np.exp(-(X @ [1.0, 0.7, 0.2] + 0.6 * s)))
    y = (rng.random(n) < f).astype(int)
    membership = GivenJoint(3, seed=seed + 50)
    return X, y, s, f, membership, membership.joint(standardised(X))


def bias_scores(f, joint, fairness):
    """Of each person: what f's decision adds to each gap, over f's confidence."""
    scores = []
    for i in range(len(f)):
        decided, row = f[i] > 0.5, []
        for labels in [(0, 1)] if fairness == DP else [(0,), (1,)]:
            ratio = [
                sum(joint[i, s, y] for y in labels) / joint[:, s][:, list(labels)].sum(axis=1).mean() for s in (0, 1)
            ]
            row.append((1 if decided else -1) * (ratio[1] - ratio[0]) / abs(2 * f[i] - 1))
        scores.append(row)
    return np.array(scores)


def figures(decided, y, s, fairness):
    """Accuracy, and the largest difference of the groups' rates."""
    parts = [np.ones(len(y), dtype=bool)] if fairness == DP else [y == 0, y == 1]
    gaps = [abs(decided[part & (s == 1)].mean() - decided[part & (s == 0)].mean()) for part in parts]
    return np.mean(decided == y), max(gaps).round(12)


def fitted(X, y, s, f, membership, alpha, fairness):
    g = BiasScoring(alpha=alpha, fairness=fairness, membership=membership)
    return g.fit(X, y, sensitive_features=s, base_scores=f)


@pytest.mark.quick
@pytest.mark.parametrize("fairness", [DP, EO])
def test_decisions_flip_where_the_weighed_scores_pass_one(fairness):
    X, y, s, f, membership, joint = small_case(0, n=200)
    g = fitted(X, y, s, f, membership, 0.05, fairness)
    assert g.shift_.any()
    flipped = bias_scores(f, joint, fairness) @ g.shift_[:, 0] > 1
    assert flipped.any()
    np.testing.assert_array_equal(g.predict(X, base_scores=f), (f > 0.5) != flipped)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.3, 0.1, 0.0])
def test_parity_takes_the_best_of_all_thresholds(alpha, seed):
    X, y, s, f, membership, joint = small_case(seed)
    score = bias_scores(f, joint, DP)[:, 0]
    if (f[s == 1] > 0.5).mean() < (f[s == 0] > 0.5).mean():
        score = -score
    rules = [(f > 0.5) != (score > t) for t in np.r_[np.inf, score[score > 0] - 1e-12]]
    known = [figures(rule, y, s, DP) for rule in rules]
    accuracy, gap = figures(fitted(X, y, s, f, membership, alpha, DP).predict(X, base_scores=f), y, s, DP)
    allowed = [each for each in known if each[1] <= alpha]
    if allowed:
        assert gap <= alpha
        assert accuracy == max(each[0] for each in allowed)
    else:
        assert gap == pytest.approx(min(each[1] for each in known))


def all_lines(score):
    """Whom every line flips that leaves people of score (0, 0) alone: each pair of people gives four."""
    yield np.zeros(len(score), dtype=bool)
    for i, j in combinations(range(len(score)), 2):
        matrix = score[[i, j]]
        if abs(np.linalg.det(matrix)) > 1e-12:
            beyond = score @ np.linalg.solve(matrix, np.ones(2)) > 1
            for both in product((False, True), repeat=2):
                beyond[[i, j]] = both
                yield beyond.copy()


@pytest.mark.parametrize("seed", range(3))
def test_odds_come_close_to_the_best_of_all_lines(seed):
    X, y, s, f, membership, joint = small_case(seed)
    rules = [(f > 0.5) != flipped for flipped in all_lines(bias_scores(f, joint, EO))]
    known = np.array([figures(rule, y, s, EO) for rule in rules])
    for alpha in (0.4, 0.25, 0.15):
        best = known[known[:, 1] <= alpha, 0].max()
        accuracy, gap = figures(fitted(X, y, s, f, membership, alpha, EO).predict(X, base_scores=f), y, s, EO)
        assert gap <= alpha
        assert best - 1 / len(y) <= accuracy + 1e-12 <= best + 2e-12


def test_the_rules_are_those_of_lpp():
    X, y, s, f, membership, _ = small_case(5, n=300)
    lpp = LPP(alpha=0.05, membership=membership).fit(X, y, sensitive_features=s, base_scores=f)
    g = fitted(X, y, s, f, membership, 0.05, DP)
    g.shift_ = lpp.shift_
    margin = g.decision_function(X, base_scores=f)
    sure = np.abs(margin) > 1e-4  # LPP breaks ties by noise
    assert sure.mean() > 0.98
    np.testing.assert_array_equal(margin[sure] > 0, lpp.predict(X[sure], base_scores=f[sure]))


def test_a_scale_of_alphas_is_a_scale_of_gaps_and_shares_its_rules():
    X, y, s = people(2000)
    f = base(X, y)
    gaps = []
    for alpha in (0.4, 0.2, 0.1, 0.02):
        g = BiasScoring(f, alpha=alpha).fit(X, y, sensitive_features=s)
        gaps.append(figures(g.predict(X), y, s, DP)[1])
        assert gaps[-1] <= alpha
    assert gaps == sorted(gaps, reverse=True)
    new, _, new_s = people(2000, seed=9)
    assert figures(g.predict(new), y, new_s, DP)[1] < 0.1 < figures(f.predict(new), y, new_s, DP)[1]


def test_it_is_for_two_groups():
    X, y, s = people(groups=3)
    with pytest.raises(ValueError, match="BiasScoring is defined for two groups"):
        BiasScoring(base(X, y)).fit(X, y, sensitive_features=s)
