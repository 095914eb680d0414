"""Each of many groups against everyone, the extremes by name, and a crossing beside its margins."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.datasets import load_task
from commod.datasets.task import Split
from commod.explain.groups import beyond_in_words, explain_groups, extremes_in_words, margins_in_words
from commod.metrics import compare_decisions

pytestmark = pytest.mark.quick

TASK = load_task("law_school.race_sex")  # Non-White × Female, Non-White × Male, White × Female, White × Male
DP, EO = "demographic_parity", "equalized_odds"


def people(positive, size=100, weight=None):
    """Rows of four groups; so many of each are decided 1 by g, and half of each by f. Every second label is 1."""
    sensitive = pd.Series(np.repeat(np.arange(4), size))
    place = np.tile(np.arange(size), 4)
    y = pd.Series(place % 2)
    after = (place < np.repeat(positive, size)).astype(int)
    return Split(pd.DataFrame(index=y.index), y, sensitive, weight), (place < size // 2).astype(int), after


def look(positive, fairness=DP, **more):
    rows, before, after = people(positive, **more)
    return explain_groups(TASK, rows, fairness, before, after)


def figures(positive):
    rows, before, after = people(positive)
    return compare_decisions(rows.y, before, after, sensitive_features=rows.sensitive)


def test_each_group_against_everyone():
    found = look([20, 60, 40, 80])
    table = found.table.set_index("group")
    assert list(table.index) == ["White × Male", "Non-White × Male", "White × Female", "Non-White × Female"]
    assert table["rate"].tolist() == [0.8, 0.6, 0.4, 0.2]
    assert (table["before"] == 0.5).all()
    assert found.everyone == pytest.approx(0.5)
    assert table["difference"].tolist() == pytest.approx([0.3, 0.1, -0.1, -0.3])
    assert table["ratio"].tolist() == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert table["compared"].all()
    assert ((table["low"] < table["rate"]) & (table["rate"] < table["high"])).all()


def test_the_extremes_are_named():
    found = look([20, 60, 40, 80])
    assert extremes_in_words(found, DP, "g") == "lowest: Non-White × Female 20.0%, highest: White × Male 80.0%"
    by_label = extremes_in_words(look([20, 60, 40, 80], EO), EO, "g")
    assert by_label == (
        "true positive rates: lowest: Non-White × Female 20.0%, highest: White × Male 80.0%; "
        "false positive rates: lowest: Non-White × Female 20.0%, highest: White × Male 80.0%"
    )


def test_fair_on_each_margin_and_unfair_to_a_crossing():
    found = look([20, 80, 80, 20])
    assert found.margins.index.tolist() == ["race", "sex", "race × sex"]
    assert found.margins["g"].tolist() == pytest.approx([1.0, 1.0, 0.25])
    assert found.margins["f"].tolist() == pytest.approx([1.0, 1.0, 1.0])
    told = margins_in_words(found, DP, figures([20, 80, 80, 20]))
    assert told.startswith("P-Rule by race 1.000 (f: 1.000), by sex 1.000 (f: 1.000), by race × sex 0.250 (f: 1.000).")
    assert "fair on each margin and unfair to a crossing" in told
    assert told.endswith("Here it is so: Non-White × Female gets the positive decision least often.")
    assert "Here" not in margins_in_words(look([20, 60, 40, 80]), DP, figures([20, 60, 40, 80]))
    # Where the crossing is no worse than a margin, nothing is said of that.
    assert "fair on each margin" not in margins_in_words(look([20, 20, 80, 80]), DP, figures([20, 20, 80, 80]))
    near = margins_in_words(look([40, 52, 52, 40]), DP, figures([40, 52, 52, 40]))
    assert near.endswith(
        "Here it seems so, which may be chance: Non-White × Female gets the positive decision least often."
    )
    by_label = margins_in_words(look([20, 80, 80, 20], EO), EO, figures([20, 80, 80, 20]))
    assert by_label.endswith("Here it is so: Non-White × Female has the lowest true positive rate.")


def test_one_attribute_has_no_margins():
    task = load_task("compas.race")
    rows, before, after = people([20, 60, 40, 80])
    found = explain_groups(task, rows, DP, before, after)
    assert found.margins.empty
    assert margins_in_words(found, DP, figures([20, 60, 40, 80])) == ""


def test_a_small_group_is_shown_and_is_no_extreme():
    rows, before, after = people([20, 60, 40, 80])
    few = np.flatnonzero((rows.sensitive != 0) | (np.arange(400) < 49))
    found = explain_groups(TASK, rows.take(few), DP, before[few], after[few])
    assert found.table.set_index("group")["compared"].to_dict()["Non-White × Female"] is False
    assert extremes_in_words(found, DP, "g").startswith("lowest: White × Female 40.0%")


def test_weights_count_as_repeated_rows():
    rows, before, after = people([20, 60, 40, 80])
    weight = pd.Series(1 + np.arange(400) % 3)
    again = np.repeat(np.arange(400), weight)
    once = explain_groups(TASK, replace(rows, weight=weight), DP, before, after)
    repeated = explain_groups(TASK, rows.take(again), DP, before[again], after[again])
    np.testing.assert_allclose(once.table[["rate", "before"]], repeated.table[["rate", "before"]], atol=1e-12)
    np.testing.assert_allclose(once.margins, repeated.margins, atol=1e-12)


def test_a_small_group_that_is_clearly_beyond_is_named():
    rows, before, after = people([0, 60, 40, 80])
    few = np.flatnonzero((rows.sensitive != 0) | (np.arange(400) < 49))
    found = explain_groups(TASK, rows.take(few), DP, before[few], after[few])
    assert "Non-White × Female (0.0% [0.0, 7.3] of 49)" in beyond_in_words(found)
    told = margins_in_words(found, DP, figures([0, 60, 40, 80]))
    assert "The last compares 3 of 4 combinations" in told
    assert beyond_in_words(look([0, 60, 40, 80])) == ""  # it is one of the extremes
