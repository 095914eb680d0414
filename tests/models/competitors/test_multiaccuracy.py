"""MultiaccuracyBoost: auditors against scikit-learn's ridge, its end against auditors of ours, and a planted error."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import Ridge

from commod.models.competitors import MultiaccuracyBoost
from commod.models.competitors.multiaccuracy import audit, held_out_rows
from tests.fitting import case
from tests.models.competitors.cases import base, people, standardised

pytestmark = pytest.mark.quick


def ridge_of(X, residual, part, held_out, weight=None):
    """An auditor of scikit-learn's, and the mean of auditor times residual over the held-out rows."""
    here = part & ~held_out
    weight = np.ones(len(X)) if weight is None else weight
    h = Ridge(alpha=1.0).fit(X[here], residual[here], sample_weight=weight[here]).predict
    return h, (weight * h(X) * residual * part)[held_out].sum() / weight[held_out].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_an_auditor_is_a_ridge_judged_on_the_other_rows(weighted):
    rng = np.random.default_rng(0)
    X, residual = rng.normal(size=(200, 3)), rng.normal(size=200)
    part, held_out = rng.random(200) < 0.6, rng.random(200) < 0.5
    weight = rng.uniform(0.2, 3, 200) if weighted else np.ones(200)
    h, value = ridge_of(X, residual, part, held_out, weight)
    slope, intercept, found = audit(X, residual, weight, part, held_out)
    np.testing.assert_allclose(X @ slope + intercept, h(X), atol=1e-10)
    assert found == pytest.approx(value)
    nobody = audit(X, residual, weight, np.zeros(200, dtype=bool), held_out)
    assert (nobody[0] == 0).all()
    assert nobody[1:] == (0.0, 0.0)


def mistaken(X):
    """Scores that are right but for people with feature 2 above its mean, whom they put far too low."""
    return expit(1.5 * X[:, 0] - 1.0), expit(1.5 * X[:, 0] - 1.0 - 2.0 * (X[:, 2] > 0))


def drawn(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    truth, scores = mistaken(X)
    return X, (rng.random(n) < truth).astype(int), rng.integers(0, 2, n), scores


def test_one_round_by_the_publications_formula():
    X, y, s, f = drawn(1000)
    g = MultiaccuracyBoost(max_iter=1, step=0.7).fit(X, y, sensitive_features=s, base_scores=f)
    Z = standardised(X)
    held_out = held_out_rows(Z, 0)
    parts = [np.ones(1000, dtype=bool), f <= 0.5, f > 0.5]
    found = [ridge_of(Z, f - y, part, held_out) for part in parts]
    worst = int(np.argmax([value for _, value in found]))
    h = found[worst][0](Z) * parts[worst]
    expected = f * np.exp(-0.7 * h) / (f * np.exp(-0.7 * h) + 1 - f)
    np.testing.assert_allclose(g.predict_proba(X, base_scores=f)[:, 1], expected)
    assert g.n_iter_ == 1


@pytest.mark.parametrize("alpha", [0.005, 0.001, 0.0002])
def test_at_the_end_no_auditor_finds_more_than_alpha(alpha):
    X, y, s, f = drawn()
    g = MultiaccuracyBoost(alpha=alpha, max_iter=1000).fit(X, y, sensitive_features=s, base_scores=f)
    Z = standardised(X)
    held_out = held_out_rows(Z, 0)
    assert 0.45 < held_out.mean() < 0.55
    before, after = ([], [])
    for scores, values in ((f, before), (g.predict_proba(X, base_scores=f)[:, 1], after)):
        for part in (np.ones(len(X), dtype=bool), f <= 0.5, f > 0.5):
            values.append(ridge_of(Z, scores - y, part, held_out)[1])
    assert max(before) > 0.01
    assert max(after) == pytest.approx(g.left_)
    assert g.left_ <= alpha
    assert g.n_iter_ > 0


def test_a_planted_error_is_mended_for_new_people():
    X, y, s, f = drawn()
    g = MultiaccuracyBoost(alpha=0.0002, max_iter=1000).fit(X, y, sensitive_features=s, base_scores=f)
    new, label, _, scores = drawn(seed=1)
    mended = g.predict_proba(new, base_scores=scores)[:, 1]
    low = new[:, 2] > 0
    assert np.mean(scores[low] - label[low]) < -0.2
    assert abs(np.mean(mended[low] - label[low])) < 0.1  # a step, of which a linear auditor sees a slope
    assert np.mean((mended > 0.5) == label) > np.mean((scores > 0.5) == label) + 0.01
    assert np.mean((mended - label) ** 2) < np.mean((scores - label) ** 2) - 0.02


def test_another_seed_halves_the_people_in_another_way():
    X, y, s, f = drawn(800)
    one, same, other = (
        MultiaccuracyBoost(random_state=seed).fit(X, y, sensitive_features=s, base_scores=f).predict(X, base_scores=f)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_the_group_plays_no_part():
    X, y, s, f = drawn(800)
    one, other = (
        MultiaccuracyBoost().fit(X, y, sensitive_features=groups, base_scores=f).decision_function(X, base_scores=f)
        for groups in (s, np.roll(s, 7))
    )
    np.testing.assert_array_equal(one, other)


def test_the_parts_are_those_below_and_above_fs_own_line_and_scores_stay_probabilities():
    X, y, s, f = drawn(1500)
    g = MultiaccuracyBoost(alpha=0.0002, threshold=0.3).fit(X, y, sensitive_features=s, base_scores=f)
    Z = standardised(X)
    move = np.log(g.predict_proba(X, base_scores=f)[:, 1] / g.predict_proba(X, base_scores=f)[:, 0]) - np.log(
        f / (1 - f)
    )
    for part, place in ((f <= 0.3, 1), (f > 0.3, 2)):
        expected = Z @ (g.coef_[0] + g.coef_[place]) + g.intercept_[0] + g.intercept_[place]
        np.testing.assert_allclose(move[part], expected[part], atol=1e-8)
    np.testing.assert_array_equal(g.predict(X, base_scores=f), g.predict_proba(X, base_scores=f)[:, 1] > 0.3)


def test_on_law_school_it_ends_and_keeps_the_accuracy():
    c = case("law_school")
    changed = []
    for alpha in (1.0, 0.002, 0.0001):
        g = MultiaccuracyBoost(c.f, alpha=alpha).fit(c.train.X, c.train.y, sensitive_features=c.train.sensitive)
        assert g.left_ <= alpha
        decided = g.predict(c.test.X)
        changed.append(np.mean(decided != c.f.predict(c.test.X)))
        assert np.mean(decided == c.test.y) > np.mean(c.f.predict(c.test.X) == c.test.y) - 0.02
    assert changed[0] == 0
    assert changed[-1] > 0


def test_bad_settings():
    X, y, s = people(60)
    for setting, message in (
        ({"alpha": -1}, "alpha must be a number of 0 or more"),
        ({"step": -1}, "step must be a number of 0 or more"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
    ):
        with pytest.raises(ValueError, match=message):
            MultiaccuracyBoost(base(X, y), **setting).fit(X, y, sensitive_features=s)
