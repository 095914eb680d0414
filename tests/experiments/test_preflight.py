"""A look at a part of somebody's rows before they are used."""

import re

import numpy as np
import pandas as pd
import pytest

from commod.datasets import Choice
from commod.datasets.example import example_table
from commod.datasets.leaks import sample_rows
from commod.experiments.preflight import preview_data

pytestmark = pytest.mark.quick


@pytest.mark.slow
@pytest.mark.longer
def test_a_group_that_is_hardly_among_the_rows_looked_at_does_not_stop_the_look():
    table = example_table(4000)
    table["group"] = np.where(table.index % 200 == 7, "C", table["group"])  # 20 rows
    kinds = {"test_score": "number", "city": "category"}
    choice = Choice("hired", "yes", "group", ("A", "C", "B"), kinds)
    some, of_each = table.sample(1000, random_state=0), sample_rows(table, choice)
    assert (of_each["group"] == "C").sum() == 20
    look = preview_data(some, of_each, choice, len(table))
    assert look.task.groups == ("A", "B")
    whole = preview_data(table, of_each, choice, len(table))
    assert whole.task.groups == ("A", "C", "B")


@pytest.mark.longer
def test_how_much_a_split_of_rows_flatters_f():
    """People of five rows each, whose rows tell who they are: on new people f knows nothing."""
    rng = np.random.default_rng(0)
    people, place = 200, np.repeat(np.arange(200), 5)
    table = pd.DataFrame({f"x{i}": rng.normal(size=people)[place] for i in range(100)})
    table["iid"], table["sex"] = place, rng.choice(["f", "m"], people)[place]
    table["hired"] = rng.choice(["no", "yes"], people)[place]
    kinds = {f"x{i}": "number" for i in range(100)}
    choice = Choice("hired", "yes", "sex", ("f", "m"), kinds)
    *_, told = preview_data(table, sample_rows(table, choice), choice, len(table), {"iid": 1_000}).warnings
    seems, is_so = (float(each) for each in re.findall(r"AUC of (0\.\d+); on new people it has (0\.\d+)", told)[0])
    assert seems > is_so + 0.2
    assert is_so < 0.65
