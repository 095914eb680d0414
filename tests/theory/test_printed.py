"""The paper's two propositions at their word: right where they mean it, and each way in which that ends."""

import numpy as np
import pytest
from hypothesis import given, settings

from commod.theory import fails_from, mistreatment_curve, p_rule_curve, switching_point
from commod.theory.flips import mistreatment_as_printed, p_rule_as_printed
from tests.theory.brute import crowd, of_rates, sizes_and_positives

PARITY, ODDS = "demographic_parity", "equalized_odds"


def by_label(negatives, positives):
    """People whose groups have these (sizes, positives) under label 0 and 1."""
    counts = np.zeros((2, 2, 2), dtype=int)
    for label, (sizes, positive) in enumerate((negatives, positives)):
        counts[:, label, 1], counts[:, label, 0] = positive, np.subtract(sizes, positive)
    return crowd(counts)


# ---- Prop. 4.4 ----


@given(sizes_and_positives(low=1, high=30))
@settings(deadline=None, max_examples=42)
def test_the_p_rule_is_as_printed_before_the_switching_point(groups):
    d, s = of_rates(*groups)
    before = max(switching_point(d, sensitive_features=s) - 1, 0)
    limit = {"sensitive_features": s, "max_changes": before}
    np.testing.assert_allclose(
        p_rule_as_printed(d, **limit)["p_rule"], p_rule_curve(d, **limit)["p_rule"], rtol=0, atol=1e-12
    )
    assert fails_from(d, d, sensitive_features=s, fairness=PARITY, max_changes=before) is None
    first = fails_from(d, d, sensitive_features=s, fairness=PARITY, max_changes=len(d))
    assert first is None or first > before


@given(sizes_and_positives(low=1, high=30))
@settings(deadline=None, max_examples=24)
def test_the_p_rule_as_printed_is_never_above_the_best(groups):
    d, s = of_rates(*groups)
    limit = {"sensitive_features": s, "max_changes": len(d)}
    printed, best = p_rule_as_printed(d, **limit)["p_rule"], p_rule_curve(d, **limit)["p_rule"]
    assert (printed <= best + 1e-12).all()
    first = fails_from(d, d, fairness=PARITY, **limit)
    worse = np.flatnonzero(best - printed > 1e-9)
    assert first == (worse[0] if len(worse) else None)


@pytest.mark.parametrize(
    ("sizes", "positives", "switches", "fails", "printed", "best"),
    [
        # Capacity: the lower group is one person. Once raised, to 1 and 2/3, the three others would have to move.
        ((1, 3), (0, 2), 1, 2, 2 / 3, 1.0),
        # Overshoot: one flip raises the two from 1/2 to 1, beyond 6/10. Lowering one of the ten meets exactly.
        ((2, 10), (1, 6), 1, 1, 0.6, 1.0),
        # Overshoot by the second form: 3 > γ_high − γ_low, so three of 3/10 are lowered, to nothing, past 1/10.
        ((10, 10), (1, 3), 2, 3, 0.0, 1.0),
        # A split is better than either: one up and one down meet at 1/2; two up overshoot, to 1 and 3/4.
        ((2, 4), (0, 3), 2, 2, 0.75, 1.0),
    ],
    ids=["capacity", "overshoot", "overshoot downwards", "split"],
)
def test_where_the_p_rule_as_printed_ends(sizes, positives, switches, fails, printed, best):
    d, s = of_rates(sizes, positives)
    limit = {"sensitive_features": s, "max_changes": len(d)}
    assert switching_point(d, sensitive_features=s) == switches
    assert fails_from(d, d, fairness=PARITY, **limit) == fails
    assert p_rule_as_printed(d, **limit)["p_rule"][fails] == pytest.approx(printed)
    assert p_rule_curve(d, **limit)["p_rule"][fails] == pytest.approx(best)


# ---- Prop. 4.5 ----


@given(sizes_and_positives(low=1, high=15), sizes_and_positives(low=1, high=15))
@settings(deadline=None, max_examples=42)
def test_mistreatment_is_as_printed_while_the_gap_of_the_smallest_cell_is_open(negatives, positives):
    y, d, s = by_label(negatives, positives)
    n, p = np.array([negatives[0], positives[0]]), np.array([negatives[1], positives[1]])  # (label, group)
    label, group = np.unravel_index(n.argmin(), (2, 2))
    other = 1 - group
    # |p/n − p'/n'| in flips of 1/n, rounded down: the flips that do not overshoot.
    open_for = abs(int(p[label, group] * n[label, other] - p[label, other] * n[label, group])) // int(n[label, other])
    limit = {"sensitive_features": s, "max_changes": open_for}
    printed, best = mistreatment_as_printed(y, d, **limit)["dm"], mistreatment_curve(y, d, **limit)["dm"]
    np.testing.assert_allclose(printed, best, rtol=0, atol=1e-12)
    assert fails_from(y, d, fairness=ODDS, **limit) is None


@given(sizes_and_positives(low=1, high=15), sizes_and_positives(low=1, high=15))
@settings(deadline=None, max_examples=24)
def test_mistreatment_as_printed_is_never_below_the_best(negatives, positives):
    y, d, s = by_label(negatives, positives)
    limit = {"sensitive_features": s, "max_changes": len(d)}
    printed, best = mistreatment_as_printed(y, d, **limit)["dm"], mistreatment_curve(y, d, **limit)["dm"]
    assert (printed >= best - 1e-12).all()
    worse = np.flatnonzero(printed - best > 1e-9)
    assert fails_from(y, d, fairness=ODDS, **limit) == (worse[0] if len(worse) else None)


@pytest.mark.parametrize(
    ("negatives", "positives", "fails", "printed", "best"),
    [
        # Capacity: the cell is one person. Once raised, to 1 and 2/3, the three others would have to move.
        (((1, 3), (0, 2)), ((4, 4), (2, 2)), 2, 1 / 3, 0.0),
        # Overshoot: one flip raises the two from 1/2 to 1, beyond 6/10. Lowering one of the ten meets exactly.
        (((2, 10), (1, 6)), ((20, 20), (4, 4)), 1, 0.4, 0.0),
        # The gap of the smallest cell is closed from the start, the other one is open: one flip of 1/4 closes some.
        (((2, 4), (1, 2)), ((4, 4), (1, 3)), 1, 0.5 + 0.5, 0.25),
        # The first flip closes it, 2/4 and 4/8; the second one opens it again, while the other gap is open.
        (((4, 8), (1, 4)), ((8, 8), (2, 6)), 2, 0.25 + 0.5, 0.5 - 1 / 8),
    ],
    ids=["capacity", "overshoot", "closed from the start", "closed on the way"],
)
def test_where_mistreatment_as_printed_ends(negatives, positives, fails, printed, best):
    y, d, s = by_label(negatives, positives)
    limit = {"sensitive_features": s, "max_changes": len(d)}
    assert fails_from(y, d, fairness=ODDS, **limit) == fails
    assert mistreatment_as_printed(y, d, **limit)["dm"][fails] == pytest.approx(printed)
    assert mistreatment_curve(y, d, **limit)["dm"][fails] == pytest.approx(best)


# ---- What cannot be answered ----


@pytest.mark.parametrize("fairness", [PARITY, ODDS])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sensitive_features": [0, 1, 2, 0, 1, 2]}, "two groups, found 3"),
        ({"y_pred": [0, 1, 2, 0, 1, 1]}, "y_pred must hold 0 and 1 only"),
        ({"max_changes": -1}, "whole number of flips"),
    ],
)
def test_bad_input_is_refused(fairness, change, sentence):
    good = {"y_true": [0, 1, 0, 1, 0, 1], "y_pred": [0, 1, 1, 0, 1, 0], "sensitive_features": [0, 0, 0, 1, 1, 1]}
    with pytest.raises(ValueError, match=sentence):
        fails_from(**{**good, "max_changes": 3, "fairness": fairness, **change})


def test_a_group_without_a_label_has_no_mistreatment():
    with pytest.raises(ValueError, match="one group has no row of some label"):
        fails_from([0, 1, 1, 1], [0, 1, 1, 0], sensitive_features=[0, 0, 1, 1], fairness=ODDS, max_changes=2)


def test_an_unknown_criterion_is_refused():
    y, d, s = by_label(((3, 3), (1, 2)), ((3, 3), (1, 2)))
    with pytest.raises(ValueError, match="fairness"):
        fails_from(y, d, sensitive_features=s, fairness="equal_opportunity", max_changes=2)
