"""What K flips can buy, against trying all of them."""

import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.metrics import MIN_GROUP, disparate_mistreatment, p_rule
from commod.theory import best_curve, mistreatment_curve, p_rule_curve, switching_point
from tests.theory.brute import (
    WHOM,
    apart,
    crowd,
    four_cells,
    mistreatments,
    moved,
    of_rates,
    p_rules,
    ratio,
    reachable,
    several_groups,
    sizes_and_positives,
    two_groups,
)

CELL_COUNTS = st.lists(st.integers(0, 3), min_size=8, max_size=8).map(lambda c: np.reshape(c, (2, 2, 2)))


def everyone_labelled(counts):
    return (counts.sum(axis=2) > 0).all()


# ---- P-Rule ----


@given(two_groups(), WHOM)
@settings(deadline=None, max_examples=54)
def test_the_p_rule_is_the_best_of_all_sets_of_flips(people, acts_on):
    d, s = people
    tried = reachable(d, acts_on)
    flips, fair = (tried != d).sum(axis=1), p_rules(tried, s)
    curve = p_rule_curve(d, sensitive_features=s, acts_on=acts_on)
    assert curve["changes"].tolist() == list(range(len(d) + 1))
    np.testing.assert_allclose(curve["change_rate"], curve["changes"] / len(d))
    expected = [fair[flips <= k].max() for k in curve["changes"]]
    np.testing.assert_allclose(curve["p_rule"], expected, atol=1e-12)


@given(sizes_and_positives(low=1, high=20))
@settings(deadline=None, max_examples=48)
def test_the_p_rule_is_the_best_of_all_numbers_of_positives(groups):
    (n0, n1), (p0, p1) = groups
    d, s = of_rates(*groups)
    u0, u1 = np.meshgrid(np.arange(n0 + 1), np.arange(n1 + 1))
    flips, fair = np.abs(u0 - p0) + np.abs(u1 - p1), ratio(u0 / n0, u1 / n1)
    curve = p_rule_curve(d, sensitive_features=s)
    expected = [fair[flips <= k].max() for k in range(n0 + n1 + 1)]
    np.testing.assert_allclose(curve["p_rule"], expected, atol=1e-12)
    assert curve["p_rule"].is_monotonic_increasing


@given(sizes_and_positives(low=1, high=25), WHOM)
@settings(deadline=None, max_examples=27)
def test_the_nets_of_the_p_rule_make_decisions_that_have_it(groups, acts_on):
    d, s = of_rates(*groups)
    curve = p_rule_curve(d, sensitive_features=s, acts_on=acts_on)
    for row in curve.itertuples():
        g = moved(d, {0: row.net_0, 1: row.net_1}, s)
        assert np.sum(g != d) <= row.changes
        assert p_rule(g, g, sensitive_features=s) == pytest.approx(row.p_rule, abs=1e-12)


def test_nets_are_of_the_groups_in_sorted_order_whatever_their_names():
    d, s = of_rates((4, 10), (4, 2))
    named = np.where(s == 0, "women", "men")
    numbers = p_rule_curve(d, sensitive_features=1 - s)
    text = p_rule_curve(pd.Series(d, index=range(14, 0, -1)), sensitive_features=pd.Series(named))
    pd.testing.assert_frame_equal(text, numbers)
    assert tuple(text.loc[1, ["net_0", "net_1"]]) == (1, 0)  # one of the ten men, 0.3 : 1, rather than 0.2 : 0.75


# ---- Where the groups change places ----


@given(sizes_and_positives(low=1, high=20))
@settings(deadline=None, max_examples=48)
def test_the_switching_point_is_the_fewest_flips_that_lift_the_lower_rate_to_the_other(groups):
    (n0, n1), (p0, p1) = groups
    d, s = of_rates(*groups)
    u0, u1 = np.meshgrid(np.arange(n0 + 1), np.arange(n1 + 1))
    flips = np.abs(u0 - p0) + np.abs(u1 - p1)
    apart = (u0 * n1 - u1 * n0) * (1 if p0 * n1 >= p1 * n0 else -1)  # of the group that was higher, and the other
    fewest = flips[apart <= 0].min()
    assert switching_point(d, sensitive_features=s) == fewest

    # One flip less, and the lower group is still below: the rates are at most one flip apart.
    there = (apart <= 0) & (flips == fewest)
    gap = np.abs(u0 / n0 - u1 / n1)[there]
    one_flip = max(1 / n0, 1 / n1)
    assert fewest == 0 or (gap <= one_flip + 1e-12).all()
    high = np.maximum(u0 / n0, u1 / n1)[there]
    reached = p_rule_curve(d, sensitive_features=s)["p_rule"][fewest]
    assert reached >= max(1 - one_flip / rate if rate > 0 else 1.0 for rate in high) - 1e-12


def test_equal_rates_need_no_flip():
    assert switching_point([1, 0, 1, 1, 0, 0], sensitive_features=[0, 0, 1, 1, 1, 1]) == 0


# ---- Disparate mistreatment ----


@given(four_cells(), WHOM)
@settings(deadline=None, max_examples=54)
def test_mistreatment_is_the_least_of_all_sets_of_flips(people, acts_on):
    y, d, s = people
    tried = reachable(d, acts_on)
    flips, unfair = (tried != d).sum(axis=1), mistreatments(tried, y, s)
    curve = mistreatment_curve(y, d, sensitive_features=s, acts_on=acts_on)
    assert curve["changes"].tolist() == list(range(len(d) + 1))
    np.testing.assert_allclose(curve["change_rate"], curve["changes"] / len(d))
    expected = [unfair[flips <= k].min() for k in curve["changes"]]
    np.testing.assert_allclose(curve["dm"], expected, atol=1e-12)


@given(st.tuples(sizes_and_positives(low=1, high=9), sizes_and_positives(low=1, high=9)))
@settings(deadline=None, max_examples=30)
def test_mistreatment_is_the_least_of_all_numbers_of_positives(labels):
    counts = np.zeros((2, 2, 2), dtype=int)
    for label, (sizes, positives) in enumerate(labels):
        counts[:, label, 1] = positives
        counts[:, label, 0] = np.subtract(sizes, positives)
    y, d, s = crowd(counts)
    n = counts.sum(axis=2)
    a, b, c, e = np.ix_(*(np.arange(n[cell] + 1) for cell in ((0, 0), (1, 0), (0, 1), (1, 1))))
    unfair = np.abs(a / n[0, 0] - b / n[1, 0]) + np.abs(c / n[0, 1] - e / n[1, 1])
    start = [counts[cell][1] for cell in ((0, 0), (1, 0), (0, 1), (1, 1))]
    flips = sum(np.abs(u - p) for u, p in zip((a, b, c, e), start, strict=True))
    curve = mistreatment_curve(y, d, sensitive_features=s)
    least = np.full(len(d) + 1, np.inf)
    np.minimum.at(least, flips.ravel(), unfair.ravel())
    np.testing.assert_allclose(curve["dm"], np.minimum.accumulate(least), atol=1e-12)
    assert curve["dm"].is_monotonic_decreasing


@given(CELL_COUNTS.map(lambda c: 2 * c).filter(everyone_labelled))
@settings(deadline=None, max_examples=15)
def test_the_nets_of_mistreatment_make_decisions_that_have_it(counts):
    y, d, s = crowd(counts)
    for row in mistreatment_curve(y, d, sensitive_features=s).itertuples():
        g = moved(d, {0: row.net_00, 1: row.net_01, 2: row.net_10, 3: row.net_11}, 2 * s + y)
        assert np.sum(g != d) <= row.changes
        assert disparate_mistreatment(y, g, sensitive_features=s) == pytest.approx(row.dm, abs=1e-12)


# ---- More than two groups ----


@given(several_groups(), WHOM)
@settings(deadline=None, max_examples=36)
def test_of_several_groups_both_are_the_best_of_all_sets_of_flips(people, acts_on):
    y, d, s = people
    tried = reachable(d, acts_on)
    flips, fair, unfair = (tried != d).sum(axis=1), p_rules(tried, s), mistreatments(tried, y, s)
    ks = range(len(d) + 1)
    found = p_rule_curve(d, sensitive_features=s, acts_on=acts_on)
    np.testing.assert_allclose(found["p_rule"], [fair[flips <= k].max() for k in ks], atol=1e-12)
    found = mistreatment_curve(y, d, sensitive_features=s, acts_on=acts_on)
    np.testing.assert_allclose(found["dm"], [unfair[flips <= k].min() for k in ks], atol=1e-12)


def every_number_of_positives(sizes, positives):
    """Flips and rates of whatever numbers of positive decisions groups can have."""
    counts = np.ix_(*(np.arange(n + 1) for n in sizes))
    flips = sum(np.abs(u - p) for u, p in zip(counts, positives, strict=True))
    return flips, np.broadcast_arrays(*(u / n for u, n in zip(counts, sizes, strict=True)))


def best_so_far(flips, values):
    """The largest of values with at most 0, 1, … flips."""
    best = np.full(flips.max() + 1, -np.inf)
    np.maximum.at(best, flips.ravel(), values.ravel())
    return np.maximum.accumulate(best)


@given(st.one_of(sizes_and_positives(high=14, groups=3), sizes_and_positives(high=8, groups=4)))
@settings(deadline=None, max_examples=24)
def test_of_several_groups_the_p_rule_is_the_best_of_all_numbers_of_positives(groups):
    d, s = of_rates(*groups)
    flips, rates = every_number_of_positives(*groups)
    expected = best_so_far(flips, ratio(*rates))
    found = p_rule_curve(d, sensitive_features=s)
    np.testing.assert_allclose(found["p_rule"][: len(expected)], expected, atol=1e-12)
    for row in found.itertuples():
        g = moved(d, {group: getattr(row, f"net_{group}") for group in range(len(groups[0]))}, s)
        assert np.sum(g != d) <= row.changes
        assert p_rule(g, g, sensitive_features=s) == pytest.approx(row.p_rule, abs=1e-12)


@given(st.tuples(sizes_and_positives(high=7, groups=3), sizes_and_positives(high=7, groups=3)))
@settings(deadline=None, max_examples=15)
def test_of_three_groups_mistreatment_is_the_least_of_all_numbers_of_positives(labels):
    counts = np.zeros((3, 2, 2), dtype=int)
    gaps = []
    for label, (sizes, positives) in enumerate(labels):
        counts[:, label, 1] = positives
        counts[:, label, 0] = np.subtract(sizes, positives)
        flips, rates = every_number_of_positives(sizes, positives)
        gaps.append(-best_so_far(flips, -apart(*rates)))
    y, d, s = crowd(counts)
    shared = np.add.outer(*gaps)
    expected = -best_so_far(np.add.outer(*(np.arange(len(gap)) for gap in gaps)), -shared)
    found = mistreatment_curve(y, d, sensitive_features=s)
    np.testing.assert_allclose(found["dm"][: len(expected)], expected, atol=1e-12)
    for row in found.itertuples():
        nets = {2 * group + label: getattr(row, f"net_{group}{label}") for group in range(3) for label in (0, 1)}
        g = moved(d, nets, 2 * s + y)
        assert np.sum(g != d) <= row.changes
        assert disparate_mistreatment(y, g, sensitive_features=s) == pytest.approx(row.dm, abs=1e-12)


def test_three_groups_of_which_one_stays_away_from_the_extremes_need_no_more_than_the_other_two():
    d, s = of_rates((30, 30, 30), (5, 15, 25))
    of_two = p_rule_curve(d[s != 1], sensitive_features=s[s != 1], max_changes=10)
    of_three = p_rule_curve(d, sensitive_features=s, max_changes=10)
    np.testing.assert_allclose(of_three["p_rule"], of_two["p_rule"], atol=1e-12)
    assert (of_three["net_1"] == 0).all()


def test_a_group_of_few_people_is_left_out_and_nobody_in_it_is_flipped():
    d, s = of_rates((MIN_GROUP + 30, MIN_GROUP, 9), (20, 40, 9))
    large = 2 * MIN_GROUP + 30
    without = p_rule_curve(d[s < 2], sensitive_features=s[s < 2])
    found = p_rule_curve(d, sensitive_features=s)
    assert len(found) == large + 10
    np.testing.assert_array_equal(found["p_rule"][: large + 1], without["p_rule"])
    np.testing.assert_allclose(found["change_rate"], found["changes"] / (large + 9))
    assert (found["net_2"] == 0).all()
    y = np.arange(large + 9) % 2
    dm = mistreatment_curve(y, d, sensitive_features=s)
    np.testing.assert_array_equal(
        dm["dm"][: large + 1], mistreatment_curve(y[s < 2], d[s < 2], sensitive_features=s[s < 2])["dm"]
    )
    assert (dm[["net_20", "net_21"]] == 0).all(axis=None)


def test_ten_groups_of_fifteen_thousand_people_take_a_moment():
    rng = np.random.default_rng(0)
    s = rng.choice(10, 15_000, p=[0.55, 0.28, 0.05, 0.05, 0.02, 0.01, 0.01, 0.01, 0.01, 0.01])
    y, d = rng.integers(0, 2, 15_000), (rng.random(15_000) < np.linspace(0.05, 0.4, 10)[s]).astype(int)
    began = time.thread_time()
    parity = p_rule_curve(d, sensitive_features=s)
    odds = mistreatment_curve(y, d, sensitive_features=s)
    assert time.thread_time() - began < 3.0  # 0.4 s on an idle core
    assert parity["p_rule"].is_monotonic_increasing
    assert odds["dm"].is_monotonic_decreasing
    assert parity["p_rule"][4_000] > 0.99
    assert odds["dm"][4_000] < 0.02


def test_people_whose_group_is_not_known_are_not_counted():
    d, s = of_rates((20, 30, 25), (5, 15, 20))
    known = p_rule_curve(d, sensitive_features=s)
    some = p_rule_curve(np.r_[d, 1, 0], sensitive_features=np.r_[s, np.nan, np.nan])
    pd.testing.assert_frame_equal(some, known)


def test_a_crossing_is_of_its_combinations():
    rng = np.random.default_rng(0)
    d, race, sex = rng.integers(0, 2, 40), rng.choice(["a", "b"], 40), rng.choice(["f", "m"], 40)
    joined = [f"{one} × {other}" for one, other in zip(race, sex, strict=True)]
    crossed = p_rule_curve(d, sensitive_features=pd.DataFrame({"race": race, "sex": sex}))
    pd.testing.assert_frame_equal(crossed, p_rule_curve(d, sensitive_features=joined))


# ---- Both ----


def test_without_flips_it_is_the_metric_of_f():
    rng = np.random.default_rng(0)
    y, d, s = rng.integers(0, 2, (3, 500))
    of_f = p_rule(y, d, sensitive_features=s), disparate_mistreatment(y, d, sensitive_features=s)
    curves = p_rule_curve(d, sensitive_features=s), mistreatment_curve(y, d, sensitive_features=s)
    assert curves[0]["p_rule"][0] == pytest.approx(of_f[0])
    assert curves[1]["dm"][0] == pytest.approx(of_f[1])


@pytest.mark.parametrize("most", [0, 1, 7, 60, 10**6])
def test_max_changes_cuts_the_curve_and_changes_nothing_in_it(most):
    rng = np.random.default_rng(1)
    y, d, s = rng.integers(0, 2, (3, 60))
    for curve, given_ in ((p_rule_curve, (d,)), (mistreatment_curve, (y, d))):
        whole = curve(*given_, sensitive_features=s)
        cut = curve(*given_, sensitive_features=s, max_changes=most)
        value = whole.columns[2]
        assert len(cut) == min(most, 60) + 1
        np.testing.assert_array_equal(cut[value], whole[value][: most + 1])


def shortest(curve, n):
    """Time of this thread for n people, the least of three; not that of others, which may keep it waiting."""
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, (2, n))
    d = (rng.random(n) < 0.3 + 0.3 * s).astype(int)
    given_ = (d,) if curve is p_rule_curve else (y, d)
    times = []
    for _ in range(3):
        began = time.thread_time()
        curve(*given_, sensitive_features=s)
        times.append(time.thread_time() - began)
    return min(times)


@pytest.mark.slow  # it compares times
def test_four_times_as_many_people_take_about_four_times_as_long():
    assert shortest(p_rule_curve, 200_000) < 8 * shortest(p_rule_curve, 50_000)


def test_four_times_as_many_people_take_about_four_times_as_long_for_mistreatment_too():
    assert shortest(mistreatment_curve, 32_000) < 8 * shortest(mistreatment_curve, 8_000)


# ---- What cannot be answered ----

Y, D, S = np.array([[0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]])


def test_the_switching_point_is_of_two_groups():
    with pytest.raises(ValueError, match=r"are of two groups, found 3: .*\. Choose"):
        switching_point(D, sensitive_features=[0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    "ask",
    [
        lambda d, s: p_rule_curve(d, sensitive_features=s),
        lambda d, s: switching_point(d, sensitive_features=s),
        lambda d, s: mistreatment_curve(Y, d, sensitive_features=s),
    ],
    ids=["p_rule_curve", "switching_point", "mistreatment_curve"],
)
@pytest.mark.parametrize(
    ("d", "s", "sentence"),
    [
        (D, [0] * 6, "holds one group only"),
        (D + 1, S, r"y_pred must hold 0 and 1 only, found .*2.*: encode"),
        (D * 0.4, S, "y_pred must hold 0 and 1 only"),
        (D, S[:5], "differ in length"),
        ([], [], "one group only|no rows|differ in length"),
    ],
)
def test_a_crowd_of_another_shape_is_refused(ask, d, s, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(d, s)


@pytest.mark.parametrize("most", [-1, 2.5, "3"])
def test_max_changes_is_a_whole_number(most):
    for curve, given_ in ((p_rule_curve, (D,)), (mistreatment_curve, (Y, D))):
        with pytest.raises(ValueError, match=r"whole number of flips, 0 or more, got .*\."):
            curve(*given_, sensitive_features=S, max_changes=most)


@pytest.mark.parametrize("label", [0, 1])
def test_mistreatment_needs_both_labels_in_both_groups(label):
    y = np.where(S == 1, label, Y)
    with pytest.raises(ValueError, match=r"one group has no row of some label: choose .*\."):
        mistreatment_curve(y, D, sensitive_features=S)


def test_the_curve_of_a_criterion():
    limit = {"sensitive_features": S, "max_changes": 3}
    found = best_curve(Y, D, fairness="demographic_parity", **limit)
    pd.testing.assert_frame_equal(found, p_rule_curve(D, **limit))
    found = best_curve(Y, D, fairness="equalized_odds", **limit)
    pd.testing.assert_frame_equal(found, mistreatment_curve(Y, D, **limit))
    with pytest.raises(ValueError, match="fairness must be one of 'demographic_parity', 'equalized_odds', got 'calm'"):
        best_curve(Y, D, fairness="calm", **limit)
