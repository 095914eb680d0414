"""Which column is what, guessed from names and values."""

import pandas as pd
import pytest

from commod.datasets import guess_columns
from commod.datasets.example import example_table
from commod.datasets.own import MAX_VALUES
from commod.datasets.roles import (
    columns_of_classes,
    guess_favourable,
    guess_scores,
    guess_sensitive,
    guess_target,
    possible_scores,
    values_of,
)


def of_values(**counts):
    """As `guess_columns` would tell it."""
    return pd.DataFrame({"values": counts, "kind": "category"})


def test_the_example():
    table = example_table()
    guesses = guess_columns(table)
    columns = columns_of_classes(guesses)
    assert guess_target(columns, guesses) == "hired"
    assert guess_favourable(values_of(table["hired"])) == "yes"
    assert guess_sensitive([column for column in columns if column != "hired"], guesses) == "group"
    assert guess_scores(possible_scores(table, guesses, ("hired", "group"))) == "model_score"


def test_classes_are_neither_constant_nor_too_many():
    guesses = of_values(a=1, b=2, c=MAX_VALUES, d=MAX_VALUES + 1)
    assert columns_of_classes(guesses) == ["b", "c"]


@pytest.mark.parametrize(
    ("counts", "target", "sensitive"),
    [
        ({"sex": 2, "city": 9, "label": 2}, "label", "sex"),  # by name
        ({"race": 5, "sex": 2, "class": 3, "recidivism": 2}, "recidivism", "sex"),  # two values before more
        ({"race": 5, "class": 3, "city": 2}, "class", "race"),  # a name before two values
        ({"a": 3, "b": 2, "c": 2, "d": 3}, "c", "b"),  # without a name: two values, the last and the first
        ({"a": 3, "b": 4}, "b", "a"),
    ],
)
def test_names_come_before_numbers_of_values(counts, target, sensitive):
    guesses = of_values(**counts)
    assert guess_target(list(counts), guesses) == target
    assert guess_sensitive(list(counts), guesses) == sensitive


@pytest.mark.parametrize(
    ("values", "good"),
    [(["no", "Yes"], "Yes"), (["0", "1"], "1"), (["bad", "good"], "good"), (["нет", "да"], "да"), (["b", "a"], "b")],
)
def test_the_favourable_value(values, good):
    assert guess_favourable(values) == good


def test_scores_are_numbers_between_0_and_1():
    frame = pd.DataFrame(
        {
            "p": [0.1, 0.5, 0.9] * 20,
            "margin": [-1.0, 0.5, 2.0] * 20,
            "flag": [0, 1, 1] * 20,
            "text": ["a", "b", "c"] * 20,
            "y": [0.0, 0.5, 1.0] * 20,
        }
    )
    assert possible_scores(frame, guess_columns(frame), taken=("y",)) == ["p"]
    assert guess_scores(["p"]) == ""
    assert guess_scores(["p", "predicted"]) == "predicted"


def test_values_as_text_the_most_common_first():
    assert values_of(pd.Series([2.0, 1.0, 1.0, None])) == ["1", "2"]
