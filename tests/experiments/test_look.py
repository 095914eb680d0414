"""A look at a part of somebody's rows before they are used."""

import numpy as np
import pytest

from commod.datasets import Choice
from commod.datasets.example import example_table
from commod.datasets.leaks import sample_rows
from commod.experiments.look import look_at

pytestmark = pytest.mark.quick


def test_a_group_that_is_hardly_among_the_rows_looked_at_does_not_stop_the_look():
    table = example_table(4000)
    table["group"] = np.where(table.index % 200 == 7, "C", table["group"])  # 20 rows
    kinds = {"test_score": "number", "city": "category"}
    choice = Choice("hired", "yes", "group", ("A", "C", "B"), kinds)
    some, of_each = table.sample(1000, random_state=0), sample_rows(table, choice)
    assert (of_each["group"] == "C").sum() == 20
    look = look_at(some, of_each, choice, len(table))
    assert look.task.groups == ("A", "B")
    whole = look_at(table, of_each, choice, len(table))
    assert whole.task.groups == ("A", "C", "B")
