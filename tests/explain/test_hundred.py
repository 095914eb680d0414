"""A hundred people of each group: rounded so that they add up, whatever the shares are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from commod.datasets.task import Split
from commod.explain import count_hundred

pytestmark = pytest.mark.quick

WHOLE = ["of_100_before", "of_100_now", "of_100_raised", "of_100_lowered"]


def hundred(sensitive, before, after, weight=None):
    groups = range(max(sensitive) + 1)
    y = pd.Series(0, index=range(len(sensitive)))
    rows = Split(pd.DataFrame(index=y.index), y, pd.Series(sensitive), None if weight is None else pd.Series(weight))
    found = count_hundred(SimpleNamespace(groups=groups), rows, np.array(before), np.array(after))
    return pd.DataFrame.from_dict(found, orient="index")


def test_four_people_counted_by_hand():
    found = hundred([0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 1], [0, 1, 1, 0, 0, 1])
    assert found.index.tolist() == [0, 1]
    assert found["count"].tolist() == [4, 2]
    assert found.loc[0, ["before", "now", "raised", "lowered"]].tolist() == [0.5, 0.5, 0.25, 0.25]
    assert found.loc[0, WHOLE].tolist() == [50, 50, 25, 25]
    assert found.loc[1, WHOLE].tolist() == [50, 50, 0, 0]


def test_a_row_stands_for_as_many_people_as_its_weight_says():
    found = hundred([0, 0, 0], [0, 1, 1], [1, 1, 0], weight=[3.0, 0.5, 0.5])
    assert found.loc[0, ["before", "now", "raised", "lowered"]].tolist() == [0.25, 0.875, 0.75, 0.125]
    assert found.loc[0, "count"] == 3


def test_a_group_without_people_is_left_out():
    assert hundred([0, 2], [0, 1], [0, 1]).index.tolist() == [0, 2]


def test_dots_add_up_and_are_near_to_their_shares():
    draw = np.random.default_rng(0)
    sensitive = np.repeat(np.arange(12), draw.integers(3, 900, 12))
    for changed in (0.0, 0.003, 0.2, 0.9):
        before = (draw.random(len(sensitive)) < draw.random(12)[sensitive]).astype(int)
        after = np.where(draw.random(len(sensitive)) < changed, 1 - before, before)
        found = hundred(list(sensitive), before, after)
        first, then, up, down = (found[name] for name in WHOLE)
        assert (then - first == up - down).all()
        assert (up >= 0).all()
        assert (down >= 0).all()
        assert (down <= first).all()  # nobody loses who had nothing
        assert (up <= 100 - first).all()
        assert ((first - 100 * found["before"]).abs() <= 0.5).all()
        assert ((then - 100 * found["now"]).abs() <= 0.5).all()
        assert ((up - 100 * found["raised"]).abs() < 1 + 1e-9).all()
        assert ((down - 100 * found["lowered"]).abs() < 1 + 1e-9).all()
