"""Impact ratios and Fisher's test against counts written out by hand."""

from math import comb

import numpy as np
import pytest

from commod.metrics.fairness import adverse_impact, impact_table

pytestmark = pytest.mark.quick
GROUPS = ("Female", "Male", "Other")


def people(*rows):
    """Codes and decisions of groups with so many people, so many of them selected."""
    codes = np.concatenate([np.full(n, code) for code, n, _ in rows])
    return codes, np.concatenate([np.arange(n) < chosen for _, n, chosen in rows])


def test_rates_and_ratios_to_the_highest_rate():
    codes, selected = people((0, 40, 10), (1, 50, 25), (-1, 5, 5), (2, 10, 1))
    table = impact_table(codes, GROUPS, selected)
    assert table["applicants"].tolist() == [40, 50, 10]
    assert table["selected"].tolist() == [10, 25, 1]
    np.testing.assert_allclose(table["rate"], [0.25, 0.5, 0.1])
    np.testing.assert_allclose(table["ratio"], [0.5, 1.0, 0.2])


def test_a_category_under_two_percent_is_printed_but_not_compared():
    codes, selected = people((0, 100, 20), (1, 100, 40), (2, 4, 4))
    table = impact_table(codes, GROUPS, selected)
    assert table.loc["Other", "rate"] == 1.0
    np.testing.assert_allclose(table["ratio"], [0.5, 1.0, np.nan])
    assert adverse_impact(table).highest == "Male"
    codes, selected = people((0, 100, 20), (1, 92, 40), (2, 4, 4))  # 4 of 196 are just over 2 %
    assert impact_table(codes, GROUPS, selected).loc["Other", "ratio"] == 1.0


def test_fishers_test_adds_up_the_tables_that_are_as_unlikely():
    codes, selected = people((0, 12, 2), (1, 10, 7))
    found = adverse_impact(impact_table(codes, GROUPS[:2], selected))
    # Hypergeometric: of 22 people 9 are selected, x of them among the 12.
    chance = [comb(12, x) * comb(10, 9 - x) / comb(22, 9) for x in range(10)]
    assert found.p_value == pytest.approx(sum(each for each in chance if each <= chance[2] * (1 + 1e-7)))
    assert (found.ratio, found.lowest, found.highest) == (pytest.approx(2 / 12 / 0.7), "Female", "Male")


def test_of_three_groups_the_p_value_counts_all_three_pairs():
    two = adverse_impact(impact_table(*_with(GROUPS[:2], (0, 30, 8), (1, 30, 17))))
    three = adverse_impact(impact_table(*_with(GROUPS, (0, 30, 8), (1, 30, 17), (2, 30, 12))))
    assert three.p_value == pytest.approx(3 * two.p_value)


def _with(groups, *rows):
    codes, selected = people(*rows)
    return codes, groups, selected


def test_nothing_is_compared_where_nobody_is_selected_or_one_group_is_left():
    assert adverse_impact(impact_table(*_with(GROUPS, (0, 5, 0), (1, 5, 0)))) is None
    assert adverse_impact(impact_table(*_with(GROUPS, (0, 5, 3)))) is None
    assert impact_table(np.array([], dtype=int), GROUPS, []).isna()["rate"].all()
