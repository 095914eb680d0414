"""Own data: what is guessed, what is refused, what is done to missing values, and what gives the answer away."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod import Commod, evaluate
from commod.datasets import Choice, ChoiceError, find_leaks, guess_columns, make_task, read_table
from commod.datasets.example import example_table
from commod.models.base_scores import base_logits

KINDS = {
    "experience_years": "number",
    "test_score": "number",
    "education": "category",
    "city": "category",
    "interview_language": "category",
}
CHOICE = Choice("hired", "yes", "group", ("A", "B"), KINDS, scores="model_score", title="Applicants")


@pytest.fixture(scope="module")
def table():
    return read_table(example_table().to_csv(index=False).encode()).frame


def test_types_are_guessed_and_say_why(table):
    guesses = guess_columns(table)
    assert guesses["kind"].to_dict() == {
        "applicant": "leave out",
        **KINDS,
        "group": "category",
        "hired": "category",
        "model_score": "number",
    }
    assert "code" in guesses.loc["applicant", "why"]
    assert guesses.loc["test_score", "missing"] == table["test_score"].isna().sum()


@pytest.mark.parametrize(
    ("values", "kind", "says"),
    [
        ([1.5, 2.5, np.nan, 3.5] * 20, "number", "numbers"),
        (["1", "2", "3", "many"] + ["4"] * 96, "number", "1 cells are none (“many”)"),
        (["67.8", "some", "12", "3", "4", "5"] * 20, "number", "20 cells are none (“some”)"),
        (["67.8", "unknown", "12", "?", "n/a", "5"] * 20, "number", "numbers"),
        (["a", "b"] * 40, "category", "texts"),
        ([True, False] * 40, "category", "texts"),
        (["x"] * 80, "leave out", "the same in every row"),
        ([f"name {i}" for i in range(100)], "leave out", "as many texts as rows"),
        ([f"level {i % 40}" for i in range(400)], "category", "become “other”"),
        ([None] * 50, "leave out", "the same"),
    ],
)
def test_a_guess(values, kind, says):
    row = guess_columns(pd.DataFrame({"a": values})).loc["a"]
    assert row["kind"] == kind
    assert says in row["why"]


def test_a_task_of_the_table(table):
    own = make_task(table, CHOICE)
    task = own.task
    assert task.groups == ("A", "B")
    assert task.y.mean() == pytest.approx((table["hired"] == "yes").mean())
    assert task.sensitive.mean() == pytest.approx((table["group"] == "B").mean())
    assert task.spec.outcomes == ("hired: no", "hired: yes")
    assert [feature.name for feature in task.spec.features] == list(KINDS)
    assert list(task.features(task.X).columns) == list(KINDS)
    assert "model_score" in task.X
    assert not task.X.isna().any().any()
    assert any("missing in “test_score” are set to its median" in sentence for sentence in own.done)
    assert any("missing in “education” become a level of their own" in sentence for sentence in own.done)


def test_rows_with_missing_features_can_be_left_out(table):
    own = make_task(table, replace(CHOICE, missing="drop"))
    whole = table[list(KINDS)].notna().all(axis=1)
    assert len(own.task.y) == whole.sum()
    assert own.task.y.tolist() == (table.loc[whole, "hired"] == "yes").astype(int).tolist()
    assert any("rows with a missing feature are left out" in sentence for sentence in own.done)


def test_other_groups_and_missing_outcomes_are_left_out_and_counted(table):
    odd = table.copy()
    odd.loc[:9, "group"] = "C"
    odd.loc[10:14, "hired"] = None
    own = make_task(odd, CHOICE)
    assert len(own.task.y) == len(table) - 15
    assert "10 rows of other groups of “group” are left out." in own.done
    assert "5 rows without an outcome in “hired” are left out." in own.done


def test_text_in_numbers_counts_as_missing(table):
    odd = table.astype({"test_score": object})
    odd.loc[0:2, "test_score"] = "many"
    own = make_task(odd, CHOICE)
    assert "3 cells of “test_score” are no numbers and count as missing." in own.done


def test_numbers_too_large_to_compute_with_count_as_missing(table):
    odd = table.astype({"test_score": float})
    odd.loc[0:2, "test_score"] = [1e308, -1e101, np.inf]
    own = make_task(odd, CHOICE)
    assert "3 cells of “test_score” are no numbers and count as missing." in own.done
    assert own.task.X["test_score"].abs().max() <= 100


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target": "nothing"}, "no column “nothing”"),
        ({"target": "group"}, "same column"),
        ({"target": "model_score"}, "is the outcome or the sensitive attribute"),
        ({"target": "applicant", "favourable": "1001"}, "1,500 different values"),
        ({"favourable": "maybe"}, "no value of"),
        ({"groups": ("A", "A")}, "two different groups"),
        ({"groups": ("A", "Z")}, "two different groups"),
        ({"kinds": {}}, "No feature is left"),
        ({"kinds": {"city": "number"}}, "holds no numbers"),
        ({"scores": "test_score"}, "divide them by 100"),
        ({"scores": "city"}, "no numbers"),
        ({"scores": "nothing"}, "no column"),
    ],
)
def test_a_choice_that_does_not_work_is_told_so(table, change, says):
    with pytest.raises(ChoiceError) as caught:
        make_task(table, replace(CHOICE, **change))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("hired", "yes", "one class only"),
        ("group", "A", "one group only"),
        ("model_score", 0.7, "one side of one half"),
        ("model_score", 3.0, "between 0 and 1"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_so(table, column, value, says):
    with pytest.raises(ChoiceError, match=says):
        make_task(table.assign(**{column: value}), CHOICE)


def test_a_group_that_is_too_small_is_named(table):
    few = pd.concat([table[table["group"] == "A"], table[table["group"] == "B"].head(25)])
    with pytest.raises(ChoiceError, match="Group “B” has .* at least 20"):
        make_task(few, CHOICE)


def test_leaks_are_pointed_out(table):
    copied = table.assign(outcome_code=(table["hired"] == "yes") * 1.0, side=np.where(table["group"] == "B", "l", "r"))
    kinds = KINDS | {"outcome_code": "number", "side": "category"}
    found = find_leaks(make_task(copied, replace(CHOICE, kinds=kinds)))
    assert len(found) == 2
    assert "“outcome_code” is the same as the outcome" in found[0]
    assert "“side” is the same as the sensitive attribute" in found[1]
    assert not find_leaks(make_task(table, CHOICE))


def test_a_model_that_is_never_seen_is_made_fairer(table):
    task = make_task(table, CHOICE).task
    train, test = task.split(seed=0)
    g = Commod("model_score", lambda_fair=3.0).fit(train.X, train.y, sensitive_features=train.sensitive)
    figures = evaluate(task, "model_score", g, test)
    assert figures.loc["p_rule", "g"] > figures.loc["p_rule", "f"]
    np.testing.assert_allclose(
        1 / (1 + np.exp(-base_logits("model_score", test.X))), test.X["model_score"].clip(1e-6, 1 - 1e-6)
    )
    assert task.without_scores().spec.scores == ""
    assert "model_score" not in task.without_scores().X


def test_the_recipe_makes_the_same_task(table, tmp_path, monkeypatch):
    task = make_task(table, CHOICE).task
    (tmp_path / "your_file.csv").write_bytes(example_table().to_csv(index=False).encode())
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(compile(task.recipe, "recipe", "exec"), made)
    pd.testing.assert_frame_equal(made["task"].X, task.X)
    assert made["task"].y.equals(task.y)
