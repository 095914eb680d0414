"""Which column is what, guessed from names and values; see test_guesses.py for whole tables."""

import numpy as np
import pandas as pd
import pytest

from commod.datasets import guess_columns, roles
from commod.datasets.example import example_table
from commod.datasets.own_groups import MAX_VALUES
from commod.datasets.roles import guess_favourable, guess_sensitive, guess_target, possible_scores, values_of

pytestmark = pytest.mark.quick


def of_values(**counts):
    """As `guess_columns` would tell it."""
    return pd.DataFrame({"values": counts, "kind": "category", "special": ""})


def test_the_example():
    table = example_table()
    guesses = guess_columns(table)
    columns = roles.columns_of_roles(guesses)
    assert guess_target(columns, guesses) == "hired"
    assert guess_favourable(values_of(table["hired"])) == "yes"
    assert guess_sensitive([column for column in columns if column != "hired"], guesses) == "group"
    possible = possible_scores(table, guesses, ("hired", "group"))
    assert possible == {"test_score": 100, "model_score": 1}
    assert roles.guess_scores(possible) == "model_score"


def test_classes_are_neither_constant_nor_too_many():
    guesses = of_values(a=1, b=2, c=MAX_VALUES, d=MAX_VALUES + 1)
    assert roles.columns_of_roles(guesses) == ["b", "c"]


@pytest.mark.parametrize(
    ("counts", "target", "sensitive"),
    [
        ({"sex": 2, "city": 9, "label": 2}, "label", "sex"),  # by name
        ({"race": 5, "sex": 2, "class": 3, "recidivism": 2}, "recidivism", "sex"),  # two values before more
        ({"race": 5, "class": 3, "city": 2}, "class", "race"),  # a name before two values
        ({"a": 7, "b": 2, "c": 2, "d": 7}, "c", "b"),  # without a name: two values, the last and the first
        ({"a": 3, "b": 4}, "b", "a"),
        ({"income": 2, "sex": 2, "prior_arrests": 2, "city": 2}, "income", "sex"),  # what came before is no outcome
    ],
)
def test_names_come_before_numbers_of_values(counts, target, sensitive):
    guesses = of_values(**counts)
    assert guess_target(list(counts), guesses) == target
    assert guess_sensitive(list(counts), guesses) == sensitive


@pytest.mark.parametrize(
    ("values", "target", "good"),
    [
        (["no", "Yes"], "", "Yes"),
        (["0", "1"], "", "1"),
        (["bad", "good"], "", "good"),
        (["нет", "да"], "", "да"),
        (["b", "a"], "", "b"),
        (["0", "1"], "loan_default", "0"),
        (["1", "0"], "isRecid", "0"),
        (["NO", ">30", "<30"], "readmitted", "NO"),
        (["<=50K", ">50K"], "income", ">50K"),
        ([">50K.", "<=50K."], "income", ">50K."),
        (["- 50000.", "50000+."], "income", "50000+."),
        (["Charged Off", "Fully Paid"], "loan_status", "Fully Paid"),
        (["Not approved", "Approved"], "status", "Approved"),
        (["2", "1"], "credit", "1"),
        (["< 150", "≥ 150"], "LSAT", "≥ 150"),
        (["≥ 0.2", "< 0.2"], "ViolentCrimesPerPop", "< 0.2"),
        (["ill", "not ill"], "state", "not ill"),
    ],
)
def test_the_favourable_value(values, target, good):
    assert guess_favourable(values, target) == good


def test_the_field_tells_what_1_is():
    assert guess_favourable(["0", "1"], "target", ["age", "glucose", "bmi"]) == "0"
    assert guess_favourable(["0", "1"], "target", ["age", "loan_amount", "credit_history"]) == "0"
    assert guess_favourable(["1", "0"], "target", ["age", "loan_amount", "credit_history"]) == "1"  # most get it
    assert guess_favourable(["0", "1"], "approved", ["age", "loan_amount", "credit_history"]) == "1"


@pytest.mark.parametrize(
    ("name", "values", "kind", "special"),
    [
        ("customerID", [f"{i:04}-XYZ" for i in range(100)], "leave out", "code"),
        ("patient_nbr", [10_000_001 + 7 * (i // 2) for i in range(100)], "leave out", "code"),  # comes back
        ("Case Number", list(range(500, 600)), "leave out", "code"),
        ("admission_type_id", [i % 8 for i in range(100)], "category", ""),
        ("zip", [10_000 + 37 * i for i in range(100)], "leave out", "code"),
        ("amount", [(1_777 * i) % 4_001 * 100 for i in range(100)], "number", ""),  # all different, and no code
        ("reference", [90_000_001 + (7_919 * i) % 1_000_003 for i in range(100)], "leave out", "code"),
        ("admitted", [f"2014-0{1 + i % 9}-1{i % 10}" for i in range(100)], "leave out", "date"),
        ("seen", [f"{1 + i % 28}/{1 + i % 12}/2014 10:00" for i in range(100)], "leave out", "date"),
        ("paid", [i % 2 for i in range(100)], "number", ""),  # no id, though it ends like one
    ],
)
def test_codes_and_dates_are_recognised(name, values, kind, special):
    row = guess_columns(pd.DataFrame({name: values})).loc[name]
    assert (row["kind"], row["special"]) == (kind, special)


def test_the_last_of_two_values_is_no_outcome_by_its_place_alone():
    frame = pd.DataFrame({"income": range(100), "habit": ["a", "b"] * 50, "urban": ["yes", "no"] * 50})
    guesses = guess_columns(frame)
    guess = roles.guess_target(["habit", "urban"], guesses)
    assert (guess, guess.is_sure) == ("urban", False)


def test_numbers_are_shown_short():
    frame = pd.DataFrame({"sex": [1.0, 2.0, np.nan], "x": [0.7274798447902704, 12.5, 1e6]})
    assert guess_columns(frame)["examples"].tolist() == ["1, 2", "0.7275, 12.5, 1000000"]


def test_people_who_come_back_and_times():
    frame = pd.DataFrame(
        {"person_id": [i // 2 for i in range(100)], "day": ["2020-01-01", "2021-01-01"] * 50, "x": 0.5}
    )
    guesses = guess_columns(frame)
    assert roles.possible_people(frame, guesses) == {"person_id": 100}
    assert roles.possible_times(guesses) == ["day"]
    assert roles.possible_people(frame.iloc[::2], guesses) == {}
    firms = pd.DataFrame({"employer_id": [i % 40 for i in range(2_000)], "zip": [i % 400 for i in range(2_000)]})
    assert roles.possible_people(firms, guess_columns(firms)) == {}


def test_where_numbers_are_cut():
    assert roles.guess_cut(pd.Series(np.arange(11.0))) == 5
    assert roles.guess_cut(pd.Series([0, 0, 0, 0, 3, 4])) == 3  # so that there is something below
    assert values_of(pd.Series([1, 2, 3, None]), 2) == ["≥ 2", "< 2"]


def test_words_for_missing_are_no_values():
    assert values_of(pd.Series(["White", "?", "unknown", "NA", " - ", "", "Black", "White"])) == ["White", "Black"]
    assert guess_columns(pd.DataFrame({"race": ["White", "?", "Black", "n/a"]})).loc["race", "missing"] == 2


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
    frame["risk"], frame["decile"], frame["age"] = [0, 50, 100] * 20, [1, 5, 10] * 20, [20, 50, 70] * 20
    assert possible_scores(frame, guess_columns(frame), taken=("y",)) == {"p": 1, "risk": 100, "decile": 10}
    assert roles.guess_scores({"p": 1.0}) == ""
    assert roles.guess_scores({"p": 1.0, "risk": 100.0, "predicted": 1.0}) == "predicted"


def test_values_as_text_the_most_common_first():
    assert values_of(pd.Series([2.0, 1.0, 1.0, None])) == ["1", "2"]


def test_weights_of_a_survey_are_no_features_unless_they_may_be_what_people_weigh():
    rng = np.random.default_rng(0)
    names = ["income", "weight", "fnlwgt", "sample_weight", "PERWT", "birth_weight"]
    guesses = guess_columns(pd.DataFrame({name: rng.gamma(2.0, 100.0, 200) for name in names}))
    named = ["fnlwgt", "sample_weight", "PERWT"]
    assert list(guesses.index[guesses["special"] == "weight"]) == named
    assert set(guesses.loc[named, "kind"]) == {"leave out"}
    assert "choose them as such" in guesses.loc["weight", "why"]
    assert guesses.loc["birth_weight", "why"] == "numbers"
    assert roles.possible_weights(guesses) == [*named, "income", "weight", "birth_weight"]


HARMS = [
    "deny",
    "denied",
    "arrested",
    "is_recid",
    "left",
    "Attrition",
    "died",
    "death",
    "default",
    "evicted",
    "removed",
]


@pytest.mark.parametrize("name", HARMS)
@pytest.mark.parametrize("values", [["yes", "no"], ["1", "0"], ["True", "False"], ["Y", "N"]])
def test_a_harm_is_never_good(name, values):
    for in_order in (values, values[::-1]):
        assert guess_favourable(in_order, name) == values[1]


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (["0", "1"], "y"),
        (["1", "0"], "not_approved"),
        (["yes", "no"], "default_paid"),
        (["1", "2"], "approved"),
        (["M", "L", "H"], "Class"),
        (["high", "low"], "severity"),
        (["0", "1"], "b17"),
    ],
)
def test_what_cannot_be_told_is_asked(values, target):
    assert not guess_favourable(values, target).is_sure


@pytest.mark.parametrize(
    ("values", "target"),
    [(["no", "yes"], "deny"), (["0", "1"], "approved"), (["Denied", "Certified"], "status"), (["DIE", "LIVE"], "c")],
)
def test_what_can_be_told_is_not_asked(values, target):
    assert guess_favourable(values, target).is_sure


def test_good_values_are_guessed_only_if_each_says_what_it_is():
    assert roles.guess_good_values(["Pass", "Fail", "Distinction"]) == ["Pass", "Distinction"]
    assert roles.guess_good_values(["Graduate", "Dropout", "Enrolled"]) == []


def test_values_that_say_nothing_are_offered():
    values = ["White", "XXX", "Black", "Race Not Available", "prefer not to say", "Unspecified", "unemployed"]
    assert roles.guess_blanks(values) == ["XXX", "Race Not Available", "prefer not to say", "Unspecified"]
    assert roles.guess_blanks(["known", "unknown"]) == []  # nothing else would be left


@pytest.mark.parametrize("name", ["iid", "pid", "userID", "subjid", "participant", "patient", "MRN"])
def test_people_are_known_by_name_and_repetition(name):
    frame = pd.DataFrame({name: np.repeat(np.arange(100), 10)})
    assert roles.possible_people(frame, guess_columns(frame)) == {name: 1_000}


@pytest.mark.parametrize("name", ["paid", "valid", "covid", "bid", "age", "students"])
def test_words_that_only_look_like_ids_are_none(name):
    frame = pd.DataFrame({name: np.repeat(np.arange(100), 10)})
    assert roles.possible_people(frame, guess_columns(frame)) == {}
