"""Groups of rows, crossings, rows of unknown group, weights; and the rule for small groups."""

import numpy as np
import pandas as pd
import pytest

from commod.dashboard.text import glossary
from commod.metrics.counts import (
    MIN_GROUP,
    SCARCE,
    codes_of_groups,
    compared_groups,
    counts_of_codes,
    left_out_in_words,
    tally,
)

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("given", "codes", "groups"),
    [
        ([3, 1, 3], [1, 0, 1], [1, 3]),
        (["b", None, "a"], [1, -1, 0], ["a", "b"]),
        (np.array([1.0, np.nan, 0.0]), [1, -1, 0], [0.0, 1.0]),
        (pd.Series([True, pd.NA, False], dtype="boolean"), [1, -1, 0], [False, True]),
        (pd.Series(["x", "y", None], dtype="category"), [0, 1, -1], ["x", "y"]),
        (np.array([["a"], ["b"]]), [0, 1], ["a", "b"]),
        (np.array([[1, 0], [0, 0], [1, 1]]), [1, 0, 2], ["0 × 0", "1 × 0", "1 × 1"]),
        (
            pd.DataFrame({"race": ["White", "Black", None, "Black"], "sex": ["Male", "Female", "Male", pd.NA]}),
            [1, 0, -1, -1],
            ["Black × Female", "White × Male"],
        ),
    ],
)
def test_groups_and_crossings(given, codes, groups):
    found, names = codes_of_groups(given)
    assert found.tolist() == codes
    assert names == groups


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((2, 2, 2)), "a row for each person"),
        (pd.DataFrame(index=[0, 1]), "no column"),
        (pd.DataFrame({"a": ["x", "x"], "b": ["y", None]}), "one group only"),
        ([None, np.nan], "no group that is known"),
    ],
)
def test_what_holds_no_two_groups_is_told(given, message):
    with pytest.raises(ValueError, match=message):
        codes_of_groups(given)


def test_counts_of_codes_are_those_of_the_checked_way():
    rng = np.random.default_rng(0)
    y, f, g = rng.integers(0, 2, (3, 500))
    codes, weight = rng.integers(-1, 4, 500), rng.random(500)
    values = np.where(codes < 0, np.nan, codes)
    np.testing.assert_array_equal(counts_of_codes(codes, 4, y, f), tally(y, {"f": f}, values).counts)
    np.testing.assert_array_equal(
        counts_of_codes(codes, 4, y == 1, f == 1, g == 1, weight=weight),
        tally(y, {"f": f, "g": g}, values, weight).counts,
    )
    assert counts_of_codes(codes, 6, y, f, g).shape == (6, 2, 2, 2)  # groups without rows have their place
    assert counts_of_codes(codes, 6, y, f).sum() == (codes >= 0).sum()


def test_integer_weights_are_repeated_rows_and_0_is_nobody():
    rng = np.random.default_rng(1)
    y, f, s = rng.integers(0, 2, 60), rng.integers(0, 2, 60), rng.integers(0, 4, 60)
    weight = np.where(s == 3, 0, rng.integers(0, 4, 60))  # nobody of group 3
    found = tally(y, {"f": f}, s, weight)
    again = tally(np.repeat(y, weight), {"f": np.repeat(f, weight)}, np.repeat(s, weight))
    np.testing.assert_array_equal(found.counts, again.counts)
    assert found.groups == again.groups == [0, 1, 2]


def test_a_tally_knows_rows_and_squares():
    found = tally([0, 1, 1, 0, 1], {"y_pred": [0, 1, 0, 1, 1]}, [0, 1, None, 1, 0], [2.0, 3.0, 4.0, 0.0, 1.0])
    assert found.sizes.tolist() == [2, 1]
    assert found.kept.tolist() == [True, True, False, False, True]
    assert found.counts.sum(axis=(1, 2)).tolist() == [3, 3]
    assert found.squares.sum(axis=(1, 2)).tolist() == [5, 9]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -1], r"1 row\(s\) do not \(the first has -1\)"),
        ([1, np.nan], "finite numbers of 0 or more"),
        ([0, 0], "All weights are zero"),
        (["a", "b"], "must hold numbers"),
        ([[1], [1]], "one value per row"),
        ([1, 1, 1], "sample_weight has 3 rows"),
    ],
)
def test_bad_weights_are_one_clear_sentence(weight, message):
    with pytest.raises(ValueError, match=message):
        tally([0, 1], {"f": [0, 1]}, [0, 1], weight)


def test_small_groups_are_left_out_where_two_are_large_enough():
    few = MIN_GROUP - 1
    assert compared_groups([few, MIN_GROUP, 500]).tolist() == [False, True, True]
    assert compared_groups([few, 500]).tolist() == [True, True]  # never one of two
    assert compared_groups([few, few, 500]).tolist() == [True, True, True]  # one that is large enough has no other
    assert compared_groups([SCARCE - 1, few, 500]).tolist() == [False, True, True]
    assert compared_groups([SCARCE - 1, 5, 500]).tolist() == [True, True, True]
    assert compared_groups([0, few, few]).tolist() == [False, True, True]
    assert compared_groups([0, 1, 9]).tolist() == [False, True, True]
    assert compared_groups([0, 0, 9]).tolist() == [True, True, True]


def test_who_is_left_out_is_told():
    assert left_out_in_words(("a", "b", "c"), (100, 100, 100)) == ""
    one = left_out_in_words(("a", "b", "c"), (100, 100, 1))
    assert "compare 2 of 3 groups and leave out c (1 person): of fewer than 100 people" in one
    assert "leave out c (9 people): of fewer than 30 people" in left_out_in_words(("a", "b", "c"), (200, 40, 9))
    assert one.endswith("Its rate is shown with an interval.")
    two = left_out_in_words(("a", "b", "c", "d"), (100, 12, 100, 49))
    assert "b (12 people), d (49 people)" in two
    assert two.endswith("Their rates are shown with an interval.")


def test_the_glossary_names_the_bound():
    assert f"fewer than {MIN_GROUP} test people" in glossary.tip("small_group")
