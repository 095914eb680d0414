"""Which models no other beats, against the definition written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commod.metrics.counts import undominated

pytestmark = pytest.mark.quick


def beats(a, b):
    """At least as good in everything and better in something."""
    return all(x >= y for x, y in zip(a, b, strict=True)) and any(x > y for x, y in zip(a, b, strict=True))


@pytest.mark.longer
@settings(max_examples=300, deadline=None)
@given(st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[st.integers(-3, 3)] * k), min_size=1, max_size=25)))
def test_agrees_with_the_definition(points):
    expected = [not any(beats(other, point) for other in points) for point in points]
    assert undominated(*zip(*points, strict=True)).tolist() == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=25))
def test_someone_always_stands_and_all_others_are_beaten_by_one_who_does(points):
    kept = undominated(*zip(*points, strict=True))
    assert kept.any()
    standing = [point for point, stands in zip(points, kept, strict=True) if stands]
    for point, stands in zip(points, kept, strict=True):
        assert stands or any(beats(other, point) for other in standing)


@pytest.mark.parametrize(
    ("fairness", "accuracy", "expected"),
    [
        ([0.5, 0.7, 0.9], [0.8, 0.75, 0.7], [True, True, True]),
        ([0.5, 0.7, 0.6], [0.8, 0.8, 0.7], [False, True, False]),
        ([0.5, 0.5], [0.8, 0.8], [True, True]),  # equal points stand together
        ([0.5, 0.5], [0.8, 0.7], [True, False]),  # as fair and less accurate
        ([0.5], [0.8], [True]),
    ],
)
def test_by_hand(fairness, accuracy, expected):
    found = undominated(fairness, accuracy)
    assert found.tolist() == expected
    assert found.dtype == bool


def test_what_is_to_be_small_is_passed_with_its_sign_turned():
    mistreatment, accuracy = np.array([0.3, 0.1, 0.2]), np.array([0.8, 0.8, 0.9])
    assert undominated(-mistreatment, accuracy).tolist() == [False, True, True]


def test_one_gain_keeps_the_best_and_none_keeps_none():
    assert undominated([1.0, 3.0, 3.0, 2.0]).tolist() == [False, True, True, False]
    assert undominated([], []).tolist() == []
