"""Groups of somebody's own table: all of a column, put together, in bands, crossed, not known, weighted."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.datasets import Choice, ChoiceError, find_leaks, guess_columns, make_task, read_table, roles
from commod.datasets.from_file import complete_choice, task_of_file
from commod.datasets.leaks import sample_rows
from commod.datasets.own_groups import check_groups, count_groups, small_together

pytestmark = pytest.mark.quick

RACES = ["White", "Black", "Hispanic", "Asian", "Other"]


@pytest.fixture(scope="module")
def survey():
    """As people have them: five races in two spellings of "unknown", two of them rare, and a weight."""
    rng = np.random.default_rng(3)
    race = rng.choice([*RACES, "Unknown", ""], 1200, p=[0.55, 0.2, 0.12, 0.03, 0.03, 0.05, 0.02])
    sex = rng.choice(["F", "M"], 1200)
    age, income = rng.integers(18, 80, 1200), rng.gamma(4, 10_000, 1200).round()
    approved = rng.random(1200) < 0.25 + 0.3 * (income > 35_000) + 0.15 * (race == "White")
    frame = pd.DataFrame(
        {
            "race": race,
            "sex": sex,
            "age": age,
            "income": income,
            "region": rng.choice(["N", "S", "E"], 1200),
            "approved": np.where(approved, "yes", "no"),
            "wt": rng.gamma(2, 100, 1200).round(2),
        }
    )
    return read_table(frame.to_csv(index=False).encode()).frame


CHOICE = Choice("approved", "yes", "race", (), {"income": "number", "region": "category"})


def sizes(task):
    return {name: int((task.sensitive == code).sum()) for code, name in enumerate(task.groups)}


def test_all_groups_of_a_column(survey):
    task = make_task(survey, CHOICE).task
    assert task.groups == ("Asian", "Black", "Hispanic", "Other", "White")
    assert sizes(task) == survey["race"].value_counts()[list(task.groups)].to_dict()
    in_order = make_task(survey, replace(CHOICE, groups=("White", "Black", "Asian"))).task
    assert in_order.groups == ("White", "Black", "Asian")
    assert in_order.sensitive.tolist() == [
        in_order.groups.index(race) for race in survey["race"] if race in in_order.groups
    ]


def test_two_groups_are_what_they_were(survey):
    """A choice of two groups, as recipes and commands of earlier versions have it."""
    own = make_task(survey, replace(CHOICE, groups=("White", "Black")))
    rows = survey[survey["race"].isin(["White", "Black"])]
    assert own.task.X.index.equals(rows.index)
    assert own.task.sensitive.tolist() == (rows["race"] == "Black").astype(int).tolist()
    others = survey["race"].isin(["Hispanic", "Asian", "Other"]).sum()
    assert f"“race”: {others} rows of other groups, left out." in map(str, own.done)
    assert any("rows without a value, left out" in str(step) for step in own.done if step.column == "race")


def test_groups_that_are_not_known_are_trained_on_and_told(survey):
    own = make_task(survey, replace(CHOICE, unknown="train"))
    nobody = ~survey["race"].isin(RACES)
    told = f"“race”: {nobody.sum()} rows without a value: trained on, never measured on."
    assert told in map(str, own.done)
    assert own.task.X.index.equals(survey.index)
    assert (own.task.sensitive == -1).tolist() == nobody.tolist()
    _, test = own.task.split()
    assert (test.sensitive >= 0).all()
    assert len(test) + own.task.n_unknown_test() == 360


def test_levels_are_put_together_by_hand_and_by_size(survey):
    own = make_task(survey, replace(CHOICE, merge={"race": {"Asian": "Other", "Hispanic": "Hisp."}}))
    assert own.task.groups == ("Black", "Hisp.", "Other", "White")
    assert sizes(own.task)["Other"] == survey["race"].isin(["Asian", "Other"]).sum()
    assert "“race”: 1 value called “Other”: “Asian”." in map(str, own.done)
    assert small_together({"a": 90, "b": 30, "c": 20}, 50) == {"b": "other", "c": "other"}
    assert small_together({"a": 90, "b": 30}, 50) == {}, "one alone is put together with nobody"
    assert small_together({"a": 90, "other": 60, "c": 20}, 50) == {"c": "other"}


def test_numbers_are_cut_into_bands(survey):
    task = make_task(survey, replace(CHOICE, sensitive="age", cuts={"age": (25, 45, 65)})).task
    assert task.groups == ("age: < 25", "age: 25 to < 45", "age: 45 to < 65", "age: ≥ 65")
    assert task.sensitive.tolist() == np.digitize(survey["age"], [25, 45, 65]).tolist()


def test_two_columns_are_crossed(survey):
    choice = replace(CHOICE, sensitive=("race", "sex"), merge={"race": {"Asian": "Other"}}, unknown="train")
    task = make_task(survey, choice).task
    assert task.groups[:3] == ("Black × F", "Black × M", "Hispanic × F")
    assert len(task.groups) == 8
    assert task.spec.sensitive == "race × sex"
    margins = task.margins()
    codes, names = margins["sex"]
    assert names == ("F", "M")
    known = task.sensitive >= 0
    assert [names[code] for code in codes[known]] == survey["sex"][known].tolist()
    assert (codes[~known] == -1).all()
    bands = make_task(survey, replace(CHOICE, sensitive=("sex", "age"), cuts={"age": (40,)})).task
    assert bands.groups == ("F × age: < 40", "F × age: ≥ 40", "M × age: < 40", "M × age: ≥ 40")
    assert bands.spec.filter == "“age” is cut at 40."
    assert task.spec.filter == "“race”: 1 value called “Other”: “Asian”."
    some = make_task(survey, replace(choice, groups=("White × M", "White × F", "Black × F"))).task
    assert some.groups == ("White × M", "White × F", "Black × F")
    assert some.margins()["race"][1] == ("Black", "Hispanic", "Other", "White")


def test_rows_are_weighted(survey):
    own = make_task(survey, replace(CHOICE, weight="wt", kinds={**CHOICE.kinds, "wt": "number"}))
    weight = survey.loc[own.task.X.index, "wt"]
    np.testing.assert_allclose(own.task.weight / own.task.weight.mean(), weight / weight.mean())
    assert "wt" not in own.task.X
    assert any(str(step).startswith("“wt”: says for how many people a row stands, ") for step in own.done)
    train, test = own.task.split()
    assert train.weight.index.equals(train.X.index)
    assert test.weight.index.equals(test.X.index)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (lambda wt: wt.where(wt.index != 5), "“wt” has no weight for 1 row:"),
        (lambda wt: wt.where(wt.index > 2, -1.0), "“wt” holds 3 weights below 0"),
        (lambda wt: 0.0 * wt, "All weights in “wt” are 0"),
        (lambda wt: wt.astype(object).where(wt.index != 7, "many"), "1 cell of “wt” cannot be read as a weight"),
    ],
)
def test_weights_that_are_none_are_refused(survey, weights, says):
    with pytest.raises(ChoiceError, match=says):
        make_task(
            survey.assign(wt=weights(survey["wt"]), race="A").assign(race=survey["sex"]), replace(CHOICE, weight="wt")
        )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"sensitive": ("race", "sex", "region")}, "at most two"),
        ({"sensitive": ("race", "race")}, "at most two"),
        ({"sensitive": ("race", "approved")}, "same column"),
        ({"sensitive": ("race", "none")}, "no column “none” for the sensitive attribute"),
        ({"sensitive": ("region", "race")}, "“region × race” has 15 groups; at most 12 can be compared: merge some"),
        ({"groups": ("White",)}, "Choose two different groups of “race”"),
        ({"groups": ("White", "Green", "Black")}, "Choose two different groups of “race”"),
        ({"sensitive": "age", "cuts": {"age": (45, 25)}}, "not in rising order: 45, 25"),
        ({"sensitive": "age", "cuts": {"age": (20, 30, 40, 50, 60, 70)}}, "into 7 bands, at most 6"),
        ({"cuts": {"age": (40,)}}, "“age” is to be cut, but is no sensitive attribute"),
        ({"merge": {"sex": {"F": "x"}}}, "“sex” is to be merged, but is no sensitive attribute"),
        ({"weight": "race"}, "column of weights is outcome, sensitive attribute"),
        ({"weight": "nothing"}, "no column “nothing” for the weights"),
    ],
)
def test_groups_that_do_not_work_are_told_so(survey, change, says):
    with pytest.raises(ChoiceError, match=says):
        make_task(survey, replace(CHOICE, **change))


def test_a_group_of_some_is_used_and_one_of_hardly_anybody_is_not(survey):
    """Twelve people are reported, and need no twenty of each label; nine could not be tested on."""
    few = pd.concat([survey[survey["race"] != "Asian"], survey[survey["race"] == "Asian"].head(12)])
    assert sizes(make_task(few, CHOICE).task)["Asian"] == 12
    with pytest.raises(ChoiceError, match=r"Group “Asian” has 9 rows; at least 10 .* merge it or"):
        make_task(few.drop(few.index[few["race"] == "Asian"][:3]), CHOICE)
    small = survey[survey["race"].isin(["Asian", "Other"]) | (survey["race"] == "White") & (survey.index < 60)]
    with pytest.raises(ChoiceError, match="Two groups at least need 20 rows"):
        make_task(small, CHOICE)


def test_what_is_counted_before_training(survey):
    counted = count_groups(survey, CHOICE)
    assert counted.index.tolist() == survey["race"].value_counts()[RACES].sort_values(ascending=False).index.tolist()
    white = survey[survey["race"] == "White"]
    assert counted.loc["White"].tolist() == [len(white), (white["approved"] == "yes").sum()]


def test_guesses_of_groups(survey):
    guesses = guess_columns(survey)
    choice = complete_choice(survey, guesses, "survey.csv", {"sensitive": "race"})
    assert choice.groups[:3] == ("White", "Black", "Hispanic")
    assert len(choice.groups) == 5
    assert (choice.unknown, choice.merge) == ("train", {})
    assert complete_choice(survey, guesses, "", {"sensitive": "race", "only_named": True}).unknown == "drop"
    assert complete_choice(survey, guesses, "", {"sensitive": "age"}).cuts == {"age": (survey["age"].median(),)}
    crossed = complete_choice(survey, guesses, "", {"sensitive": ("race", "sex"), "small_together": 60})
    assert crossed.merge["race"] == {"Asian": "other", "Other": "other"}
    assert len(crossed.groups) == 8
    many = survey.assign(race=[f"level {number % 15}" for number in range(len(survey))])
    guessed = complete_choice(many, guess_columns(many), "", {"sensitive": "race"})
    check_groups(many, guessed)
    assert set(guessed.merge["race"].values()) == {"other"}
    rare = survey.assign(race=survey["race"].where(survey.index > 3, "Rare"))
    assert "Rare" not in complete_choice(rare, guess_columns(rare), "", {"sensitive": "race"}).groups
    assert roles.guess_merge(rare, replace(CHOICE, sensitive="race")) == {}


def test_a_file_with_all_of_it_from_words_and_back(survey, tmp_path):
    path = tmp_path / "survey.csv"
    survey.to_csv(path, index=False)
    given = {"sensitive": ("race", "sex"), "merge": {"race": {"Asian": "Other"}}, "weight": "wt", "target": "approved"}
    task, told = task_of_file(path, given)
    assert len(task.groups) == 8
    assert any("trained on, never measured on" in sentence for sentence in told)
    assert {"weight", "merge", "unknown"} <= set(task.roles)
    made = {}
    exec(compile(task.recipe.replace("Path('survey.csv')", f"Path({str(path)!r})"), "recipe", "exec"), made)
    again = made["task"]
    assert (again.groups, again.roles) == (task.groups, task.roles)
    assert again.sensitive.equals(task.sensitive)
    assert again.weight.equals(task.weight)


@pytest.mark.slow
@pytest.mark.longer
def test_a_column_that_names_one_part_of_a_crossing_is_a_leak(survey):
    choice = replace(CHOICE, sensitive=("race", "sex"), merge={"race": {"Asian": "Other"}}, unknown="train")
    telling = survey.assign(salutation=survey["sex"].map({"F": "Ms", "M": "Mr"}))
    own = make_task(telling, replace(choice, kinds={**CHOICE.kinds, "salutation": "category"}))
    assert [leak.columns for leak in find_leaks(own) if "sensitive" in leak] == [("salutation",)]
    assert not [text for text in find_leaks(make_task(survey, choice)) if "sensitive" in text]
    coded = survey.assign(code=survey["race"].map(dict(zip(RACES, range(5), strict=True))).fillna(9.0))
    own = make_task(coded, replace(CHOICE, kinds={**CHOICE.kinds, "code": "number"}))
    assert [leak.columns for leak in find_leaks(own) if "sensitive" in leak] == [("code",)]
    sample = sample_rows(survey, choice, 160)
    assert len(sample) == 160
    assert sample["race"].isin(RACES).all()
