"""The best accuracy at each K and fairness, against trying all decisions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.metrics import MIN_GROUP
from commod.theory import best_accuracy, mistreatment_curve, p_rule_curve
from tests.theory.brute import WHOM, crowd, four_cells, mistreatments, p_rules, ratio, reachable, several_groups

PARITY, ODDS = "demographic_parity", "equalized_odds"
PLACES = st.floats(0, 1)
CELL_COUNTS = st.lists(st.integers(0, 3), min_size=8, max_size=8).map(lambda c: np.reshape(c, (2, 2, 2)))
LARGER_COUNTS = st.lists(st.integers(0, 7), min_size=8, max_size=8).map(lambda c: np.reshape(c, (2, 2, 2)))
TINY = 1e-9


def at(place, values):
    """A limit that can be met exactly: of all values that occur, the one at a place between the first and the last."""
    found = np.unique(np.round(values, 12))
    return float(found[int(place * (len(found) - 1))])


def best_of(flips, right, fair, most):
    """Highest share of right decisions with at most 0 … most flips among the fair ones; missing if there are none."""
    values = np.where(fair, right, -np.inf)
    best = [values[flips <= k].max() for k in range(most + 1)]
    return np.where(np.isfinite(best), best, np.nan)


def answered(y, d, s, limit, fairness=PARITY, **given_):
    """For all K."""
    table = best_accuracy(
        y, d, sensitive_features=s, changes=range(len(d) + 1), limit=limit, fairness=fairness, **given_
    )
    assert table["changes"].tolist() == list(range(len(d) + 1))
    np.testing.assert_allclose(table["change_rate"], table["changes"] / len(d))
    return table["accuracy"].to_numpy()


# ---- All sets of flips ----


@given(four_cells(), PLACES, WHOM)
@settings(deadline=None, max_examples=54)
def test_parity_in_hindsight_is_the_best_of_all_sets_of_flips(people, place, acts_on):
    y, d, s = people
    tried = reachable(d, acts_on)
    flips, right, parity = (tried != d).sum(axis=1), (tried == y).mean(axis=1), p_rules(tried, s)
    limit = at(place, parity)
    expected = best_of(flips, right, parity >= limit - TINY, len(d))
    np.testing.assert_allclose(answered(y, d, s, limit, acts_on=acts_on), expected, atol=1e-12)


@given(four_cells(), PLACES, WHOM, st.data())
@settings(deadline=None, max_examples=54)
def test_parity_in_foresight_is_the_best_of_all_sets_of_flips(people, place, acts_on, data):
    y, _, s = people
    scores = np.array(data.draw(st.lists(st.integers(0, 20), min_size=len(s), max_size=len(s)))) / 20
    threshold = data.draw(st.sampled_from([0.5, 0.32, 0.8]))
    d = (scores > threshold).astype(int)
    tried = reachable(d, acts_on)
    flips, parity = (tried != d).sum(axis=1), p_rules(tried, s)
    cost = np.where(
        tried == 1, threshold * (1 - scores), (1 - threshold) * scores
    )  # of being wrong, as the line has it
    limit = at(place, parity)
    expected = best_of(flips, 1 - 2 * cost.mean(axis=1), parity >= limit - TINY, len(d))
    found = answered(y, d, s, limit, scores=scores, threshold=threshold, acts_on=acts_on)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(four_cells(), PLACES, WHOM)
@settings(deadline=None, max_examples=54)
def test_odds_are_the_best_of_all_sets_of_flips(people, place, acts_on):
    y, d, s = people
    tried = reachable(d, acts_on)
    flips, right, unfair = (tried != d).sum(axis=1), (tried == y).mean(axis=1), mistreatments(tried, y, s)
    limit = at(place, unfair)
    expected = best_of(flips, right, unfair <= limit + TINY, len(d))
    np.testing.assert_allclose(answered(y, d, s, limit, ODDS, acts_on=acts_on), expected, atol=1e-12)


@given(several_groups(), PLACES, WHOM, st.data())
@settings(deadline=None, max_examples=24)
def test_of_several_groups_all_three_are_the_best_of_all_sets_of_flips(people, place, acts_on, data):
    y, d, s = people
    tried = reachable(d, acts_on)
    flips, right = (tried != d).sum(axis=1), (tried == y).mean(axis=1)
    parity, unfair = p_rules(tried, s), mistreatments(tried, y, s)
    limit = at(place, parity)
    expected = best_of(flips, right, parity >= limit - TINY, len(d))
    np.testing.assert_allclose(answered(y, d, s, limit, acts_on=acts_on), expected, atol=1e-12)
    most = at(place, unfair)
    expected = best_of(flips, right, unfair <= most + TINY, len(d))
    np.testing.assert_allclose(answered(y, d, s, most, ODDS, acts_on=acts_on), expected, atol=1e-12)
    distances = np.array(data.draw(st.lists(st.integers(1, 10), min_size=len(s), max_size=len(s)))) / 20
    scores = np.where(d == 1, 0.5 + distances, 0.5 - distances)
    chance = np.where(tried == 1, scores, 1 - scores).mean(axis=1)
    expected = best_of(flips, chance, parity >= limit - TINY, len(d))
    np.testing.assert_allclose(answered(y, d, s, limit, scores=scores, acts_on=acts_on), expected, atol=1e-12)


def test_people_of_a_group_that_is_too_small_to_be_compared_may_be_decided_rightly():
    rng = np.random.default_rng(0)
    s = np.repeat([0, 1, 2], [MIN_GROUP, MIN_GROUP + 20, 9])
    y, d = rng.integers(0, 2, (2, len(s)))
    d[s == 2] = 1 - y[s == 2]  # nine errors that no limit forbids to mend
    ks = range(0, 60, 3)
    for fairness, limit in ((PARITY, 0.99), (ODDS, 0.02)):

        def right(kept, changes, fairness=fairness, limit=limit):
            asked = {"sensitive_features": s[kept], "changes": changes, "limit": limit, "fairness": fairness}
            return np.nan_to_num(best_accuracy(y[kept], d[kept], **asked)["accuracy"] * kept.sum(), nan=-np.inf)

        both = right(s < 2, range(60))
        expected = [max(both[k - m] + m for m in range(min(k, 9) + 1)) for k in ks]
        np.testing.assert_allclose(right(s < 3, ks), expected)
        assert np.isfinite(expected).any()


# ---- All numbers of flips by group, label and decision ----


def outcomes(counts):
    """Flips, share of right decisions, P-Rule and mistreatment of every number of flips of every cell."""
    flipped = np.array(np.meshgrid(*(np.arange(c + 1) for c in counts.ravel()), indexing="ij")).reshape(2, 2, 2, -1)
    positive = (counts[:, :, 1, None] - flipped[:, :, 1]) + flipped[:, :, 0]  # (group, label, case)
    sizes = counts.sum(axis=2)[:, :, None]
    right = positive[:, 1].sum(axis=0) + (sizes - positive)[:, 0].sum(axis=0)
    parity = ratio(*(positive.sum(axis=1) / sizes.sum(axis=1)))
    rates = positive / np.maximum(sizes, 1)
    return flipped.sum(axis=(0, 1, 2)), right / counts.sum(), parity, np.abs(rates[0] - rates[1]).sum(axis=0)


def check_parity(counts, limit):
    flips, right, parity, _ = outcomes(counts)
    expected = best_of(flips, right, parity >= limit - TINY, counts.sum())
    np.testing.assert_allclose(answered(*crowd(counts), limit), expected, atol=1e-12)


def check_odds(counts, limit):
    flips, right, _, unfair = outcomes(counts)
    expected = best_of(flips, right, unfair <= limit + TINY, counts.sum())
    np.testing.assert_allclose(answered(*crowd(counts), limit, ODDS), expected, atol=1e-12)


@given(CELL_COUNTS.filter(lambda c: c.sum(axis=(1, 2)).all()), PLACES)
@settings(deadline=None, max_examples=15)
def test_parity_in_hindsight_is_the_best_of_all_numbers_of_flips(counts, place):
    check_parity(counts, at(place, outcomes(counts)[2]))


@given(CELL_COUNTS.filter(lambda c: c.sum(axis=2).all()), PLACES)
@settings(deadline=None, max_examples=15)
def test_odds_are_the_best_of_all_numbers_of_flips(counts, place):
    check_odds(counts, at(place, outcomes(counts)[3]))


@pytest.mark.parametrize("groups", [[0, 1], [1, 0]])
def test_cases_that_are_easily_missed(groups):
    # The gain bends between two of its simple bends.
    check_parity(np.array([[[2, 0], [0, 1]], [[0, 4], [5, 0]]])[groups], 2 / 3)
    # Only one up in the small cell and one down in the large one close a gap, 0/2 and 3/4, by two flips.
    for label in (0, 1):
        counts = np.full((2, 2, 2), 2)
        counts[:, label] = [[2, 0], [1, 3]]
        check_odds(counts[groups], 0.0)
    # Both groups fall, and the best share of the flips lies above the point where their rates cross.
    check_odds(np.array([[[1, 6], [1, 1]], [[0, 2], [0, 3]]])[groups], 0.355)


def of_group(counts):
    """Positives, flips and most gained right decisions of one group: every way to flip its (label, decision) cells."""
    flipped = np.array(np.meshgrid(*(np.arange(c + 1) for c in counts.ravel()), indexing="ij")).reshape(2, 2, -1)
    positives = counts[:, 1].sum() + flipped[:, 0].sum(axis=0) - flipped[:, 1].sum(axis=0)
    gained = flipped[1, 0] + flipped[0, 1] - flipped[0, 0] - flipped[1, 1]
    best = np.full((counts.sum() + 1, counts.sum() + 1), -np.inf)
    np.maximum.at(best, (positives, flipped.sum(axis=(0, 1))), gained)
    possible = np.nonzero(np.isfinite(best))
    return *possible, best[possible]


@given(LARGER_COUNTS.filter(lambda c: c.sum(axis=(1, 2)).all()), PLACES)
@settings(deadline=None, max_examples=15)
def test_parity_in_hindsight_is_the_best_of_all_pairs_of_what_a_group_can_do(counts, place):
    y, d, s = crowd(counts)
    (u0, flips0, gain0), (u1, flips1, gain1) = (of_group(group) for group in counts)
    n0, n1 = counts.sum(axis=(1, 2))
    parity = ratio(u0[:, None] / n0, u1[None, :] / n1)
    limit = at(place, parity)
    fair = parity >= limit - TINY
    most = np.full(len(d) + 1, -np.inf)
    np.maximum.at(most, (flips0[:, None] + flips1)[fair], (gain0[:, None] + gain1)[fair])
    right = np.sum(y == d) + np.maximum.accumulate(most)
    expected = np.where(np.isfinite(right), right / len(d), np.nan)
    np.testing.assert_allclose(answered(y, d, s, limit), expected, atol=1e-12)


# ---- What must hold at any size ----


def many(n=60, seed=0):
    """Labels, decisions, groups and scores; f is wrong now and then and favours group 1."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, n)
    scores = np.clip(0.25 + 0.3 * s + rng.normal(0, 0.25, n), 0, 1)
    return (rng.random(n) < scores).astype(int), (scores > 0.5).astype(int), s, scores


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("foresight", [False, True], ids=["hindsight", "foresight"])
def test_a_limit_is_missing_just_where_no_flips_reach_it(foresight, seed):
    y, d, s, scores = many(seed=seed)
    known = {"scores": scores} if foresight else {}
    reached = p_rule_curve(d, sensitive_features=s)["p_rule"].to_numpy()
    for limit in (0.5, 0.8, 1.0):
        assert (np.isnan(answered(y, d, s, limit, **known)) == (reached < limit - TINY)).all()


@pytest.mark.parametrize("foresight", [False, True], ids=["hindsight", "foresight"])
def test_a_p_rule_above_one_is_out_of_reach(foresight):
    y, d, s, scores = many(20)
    assert np.isnan(answered(y, d, s, 1.01, **({"scores": scores} if foresight else {}))).all()


@pytest.mark.parametrize("seed", range(2))
def test_a_mistreatment_is_missing_just_where_no_flips_reach_it(seed):
    y, d, s, _ = many(seed=seed)
    reached = mistreatment_curve(y, d, sensitive_features=s)["dm"].to_numpy()
    for limit in (0.6, 0.2, 0.05, 0.0):
        assert (np.isnan(answered(y, d, s, limit, ODDS)) == (reached > limit + TINY)).all()
    assert np.isnan(answered(y, d, s, -0.01, ODDS)).all()


@pytest.mark.parametrize(
    ("fairness", "foresight", "looser_first"),
    [
        (PARITY, False, (0.0, 0.5, 0.8, 0.95, 1.0)),
        (PARITY, True, (0.0, 0.5, 0.8, 0.95, 1.0)),
        (ODDS, False, (2.0, 0.5, 0.2, 0.1, 0.0)),
    ],
)
def test_more_flips_never_hurt_and_a_tighter_limit_never_helps(fairness, foresight, looser_first):
    y, d, s, scores = many(seed=3)
    known = {"scores": scores} if foresight else {}
    table = np.array([answered(y, d, s, limit, fairness, **known) for limit in looser_first])
    table = np.where(np.isnan(table), -1, table)
    assert (np.diff(table, axis=1) >= -1e-12).all()
    assert (np.diff(table, axis=0) <= 1e-12).all()


def test_without_a_limit_hindsight_mends_an_error_by_every_flip_and_foresight_leaves_f_alone():
    y, d, s, scores = many()
    errors = int(np.sum(y != d))
    mended = (len(y) - errors + np.minimum(np.arange(len(y) + 1), errors)) / len(y)
    np.testing.assert_allclose(answered(y, d, s, 0.0), mended)
    np.testing.assert_allclose(answered(y, d, s, 2.0, ODDS), mended)
    np.testing.assert_allclose(answered(y, d, s, 0.0, scores=scores), np.maximum(scores, 1 - scores).mean())


def test_each_k_is_answered_in_the_order_asked():
    y, d, s, scores = many()
    for known in ({}, {"scores": scores}, {"fairness": ODDS}):
        ask = {"sensitive_features": s, "limit": 0.8, **known}
        whole = best_accuracy(y, d, changes=range(41), **ask)
        some = best_accuracy(y, d, changes=[30, 2, 40, 2], **ask)
        assert some["changes"].tolist() == [30, 2, 40, 2]
        np.testing.assert_array_equal(some["accuracy"], whole["accuracy"].to_numpy()[[30, 2, 40, 2]])
        assert best_accuracy(y, d, changes=[], **ask).empty


# ---- What cannot be answered ----

GOOD = {
    "y_true": np.array([0, 1, 0, 1, 0, 1, 0, 1]),
    "y_pred": np.array([0, 1, 1, 0, 1, 1, 0, 0]),
    "sensitive_features": np.array([0, 0, 0, 0, 1, 1, 1, 1]),
    "changes": [0, 1, 2],
    "limit": 0.8,
}
SCORES = np.where(GOOD["y_pred"] == 1, 0.7, 0.2)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"changes": [0, -1]}, "changes must be whole numbers of flips, 0 or more."),
        ({"changes": [1.5]}, "changes must be whole numbers"),
        ({"y_pred": GOOD["y_pred"] + 1}, "y_pred must hold 0 and 1 only"),
        ({"y_true": GOOD["y_true"] * 2}, "y_true must hold 0 and 1 only"),
        ({"y_true": GOOD["y_true"][:7]}, "differ in length"),
        ({"scores": SCORES[:7]}, "scores must be f's probabilities of the same rows"),
        ({"scores": 1 - SCORES}, "y_pred is 1 where they exceed 0.5"),
        ({"scores": SCORES * 3 - 0.9}, "probabilities"),
        ({"scores": SCORES, "fairness": ODDS}, "leave scores out"),
        ({"fairness": "equalised_odds"}, "fairness"),
        ({"limit": np.nan}, "limit"),
        ({"fairness": ODDS, "y_true": [0, 1, 0, 1, 1, 1, 1, 1]}, "no row of some label"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        best_accuracy(**{**GOOD, **change})


def test_a_limit_next_to_nothing_is_no_limit():
    almost, none = (best_accuracy(**{**GOOD, "limit": limit})["accuracy"] for limit in (1e-30, 0.0))
    assert almost.tolist() == none.tolist()
