"""Own data: what is guessed, what is refused, what is done to missing values, and what gives the answer away."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod import Commod, evaluate
from commod.datasets import Choice, ChoiceError, guess_columns, make_task, own, read_table
from commod.datasets.example import example_table
from commod.models.base_models import base_logits

pytestmark = pytest.mark.quick

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
        (["1", "2", "3", "many"] + ["4"] * 96, "number", "read as missing: 1 cell (“many”)"),
        (["67.8", "some", "12", "3", "4", "5"] * 20, "number", "read as missing: 20 cells (“some”)"),
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
    assert any("cells missing, set to the median" in str(step) for step in own.done if step.column == "test_score")
    assert any("cells missing, now a level" in str(step) for step in own.done if step.column == "education")


def test_rows_with_missing_features_can_be_left_out(table):
    own = make_task(table, replace(CHOICE, missing="drop"))
    whole = table[list(KINDS)].notna().all(axis=1)
    assert len(own.task.y) == whole.sum()
    assert own.task.y.tolist() == (table.loc[whole, "hired"] == "yes").astype(int).tolist()
    assert any("rows with a missing feature, left out" in str(step) for step in own.done)


def test_other_groups_and_missing_outcomes_are_left_out_and_counted(table):
    odd = table.copy()
    odd.loc[:9, "group"] = "C"
    odd.loc[10:14, "hired"] = None
    own = make_task(odd, CHOICE)
    assert len(own.task.y) == len(table) - 15
    assert "“group”: 10 rows of other groups, left out." in map(str, own.done)
    assert "“hired”: 5 rows without an outcome, left out." in map(str, own.done)


def test_text_in_numbers_counts_as_missing(table):
    odd = table.astype({"test_score": object})
    odd.loc[0:2, "test_score"] = "many"
    own = make_task(odd, CHOICE)
    assert "“test_score”: 3 cells without a number, counted as missing." in map(str, own.done)


def test_numbers_too_large_to_compute_with_count_as_missing(table):
    odd = table.astype({"test_score": float})
    odd.loc[0:2, "test_score"] = [1e308, -1e101, np.inf]
    own = make_task(odd, CHOICE)
    assert "“test_score”: 3 cells without a number, counted as missing." in map(str, own.done)
    assert own.task.X["test_score"].abs().max() <= 100


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"target": "nothing"}, "no column “nothing”"),
        ({"target": "group"}, "same column"),
        ({"target": "model_score"}, "is the outcome or the sensitive attribute"),
        ({"target": "applicant", "favourable": "1001"}, "1,500 different values"),
        ({"favourable": "maybe"}, "not a value of"),
        ({"groups": ("A", "A")}, "two different groups"),
        ({"groups": ("A", "Z")}, "two different groups"),
        ({"kinds": {}}, "No feature is left"),
        ({"kinds": {"city": "number"}}, "has no numbers"),
        ({"scores": "test_score"}, "say that they are out of 100"),
        ({"scores": "city"}, "cannot be read as a number"),
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
        ("model_score", 0.7, "are the same, so f treats everybody alike"),
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


# ---- numbers that are cut, scores that are divided ----


def test_numbers_are_cut_into_outcomes_and_groups(table):
    kinds = {"education": "category", "city": "category"}
    cut = Choice("test_score", "≥ 60", "experience_years", ("< 5", "≥ 5"), kinds, target_cut=60, sensitive_cut=5.0)
    task = make_task(table, cut).task
    known = table[table["test_score"].notna() & table["experience_years"].notna()]
    assert task.y.tolist() == (known["test_score"] >= 60).astype(int).tolist()
    assert task.sensitive.tolist() == (known["experience_years"] >= 5).astype(int).tolist()
    assert task.spec.outcomes == ("test_score: < 60", "test_score: ≥ 60")
    assert task.groups == ("experience_years: < 5", "experience_years: ≥ 5")
    with pytest.raises(ChoiceError, match="All numbers of “test_score” are on one side of 1000"):
        make_task(table, replace(cut, target_cut=1000))
    with pytest.raises(ChoiceError, match="choose a number"):
        make_task(table, replace(cut, target_cut=float("nan")))


def test_scores_out_of_100_are_divided(table):
    percent = table.assign(model_score=100 * table["model_score"])
    task = make_task(percent, replace(CHOICE, scores_out_of=100.0)).task
    np.testing.assert_allclose(task.X["model_score"], make_task(table, CHOICE).task.X["model_score"], rtol=1e-12)
    with pytest.raises(ChoiceError, match="are the same"):
        make_task(percent.assign(model_score=12), replace(CHOICE, scores_out_of=100.0))
    with pytest.raises(ChoiceError, match="choose 1, 10 or 100"):
        make_task(percent, replace(CHOICE, scores_out_of=0.0))


# ---- who is trained on and who is tested on ----


def test_all_rows_of_a_person_are_on_one_side(table):
    visits = table.assign(person=np.arange(len(table)) // 3)
    visits.loc[:9, "person"] = np.nan  # whoever has no number is a person alone
    task = make_task(visits, replace(CHOICE, person="person")).task
    train, test = task.split(seed=3)
    assert len(train) + len(test) == len(table)
    assert len(test) == pytest.approx(0.3 * len(table), rel=0.05)
    whose = visits["person"]
    assert not set(whose[train.X.index].dropna()) & set(whose[test.X.index].dropna())
    again, other = task.split(seed=3)[1], task.split(seed=4)[1]
    assert test.X.index.equals(again.X.index)
    assert not test.X.index.equals(other.X.index)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y %H:%M"])
def test_the_latest_rows_are_tested_on(table, form):
    order = np.random.default_rng(0).permutation(len(table))
    days = pd.Timestamp("2019-01-01") + pd.to_timedelta(order, "D")
    dated = table.assign(day=days.strftime(form))
    task = make_task(dated, replace(CHOICE, time="day")).task
    train, test = task.split(seed=1)
    assert len(test) == np.ceil(0.3 * len(table))
    assert order[train.X.index].max() < order[test.X.index].min()
    assert task.split(seed=2)[1].X.index.equals(test.X.index)
    assert make_task(dated.assign(day=order), replace(CHOICE, time="day")).task.split()[1].X.index.equals(test.X.index)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"person": "nobody"}, "no column “nobody” for the people"),
        ({"time": "never"}, "no column “never” for the times"),
        ({"person": "applicant", "time": "applicant"}, "choose one of the two"),
        ({"time": "city"}, "no dates and no numbers"),
        ({"person": "hired"}, "cannot be split by the outcome"),
        ({"person": "nation"}, "Too few people are left"),
        ({"person": "group"}, "lack an outcome in a group"),
        ({"time": "group_code"}, "lack an outcome in a group"),
    ],
)
def test_a_split_that_does_not_work_is_told_so(table, change, says):
    coded = table.assign(group_code=(table["group"] == "B") * 1, nation="one for all")
    with pytest.raises(ChoiceError, match=says):
        make_task(coded, replace(CHOICE, **change))


def test_the_recipe_names_what_was_chosen_and_no_more(table):
    assert "cut" not in make_task(table, CHOICE).task.recipe
    recipe = make_task(table, replace(CHOICE, person="applicant", scores_out_of=1.25)).task.recipe
    assert "person='applicant'" in recipe
    assert "scores_out_of=1.25" in recipe


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


def test_rows_keep_their_numbers_in_the_file(table):
    """Whoever finds a changed decision in the predictions has to find the person in the file."""
    some = table.assign(group=table["group"].where(table.index % 3 > 0))  # a third have no group
    task = make_task(some, CHOICE).task
    assert (task.X.index % 3 > 0).all()
    assert task.X["experience_years"].tolist() == some.loc[task.X.index, "experience_years"].tolist()
    for part in task.split():
        assert part.y.tolist() == (some.loc[part.X.index, "hired"] == "yes").astype(int).tolist()


@pytest.mark.parametrize(("values", "names"), [(("0", "1"), ("group: 0", "group: 1")), (("A", "B"), ("A", "B"))])
def test_groups_that_say_nothing_by_themselves_get_the_name_of_their_column(table, values, names):
    named = table.assign(group=table["group"].map(dict(zip("AB", values, strict=True))))
    assert make_task(named, replace(CHOICE, groups=values)).task.groups == names


def test_only_numbers_among_the_features_are_merits(table):
    with pytest.raises(ChoiceError, match="“city” is not a number among the features"):
        make_task(table, replace(CHOICE, merits={"city": 1}))


def test_a_table_that_would_not_fit_once_encoded_is_refused_with_what_to_do(table, monkeypatch):
    rows = len(make_task(table, CHOICE).task.y)
    monkeypatch.setattr(own, "MAX_ENCODED", 5 * rows)
    with pytest.raises(ChoiceError, match=rf"become \d+ columns of {rows:,} rows; .* leave out categories"):
        make_task(table, CHOICE)


def test_several_values_can_be_good():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "sex": rng.choice(["f", "m"], 300)})
    frame["result"] = rng.choice(["Pass", "Distinction", "Fail", "Withdrawn"], 300)
    choice = Choice("result", ("Pass", "Distinction"), "sex", ("f", "m"), {"x": "number"})
    task = make_task(frame, choice).task
    assert task.y.tolist() == frame["result"].isin(["Pass", "Distinction"]).astype(int).tolist()
    assert task.spec.outcomes == ("result: not Pass or Distinction", "result: Pass or Distinction")
    assert "Good values of “result”: Pass, Distinction." in task.spec.filter
    with pytest.raises(ChoiceError, match="All values of “result” are chosen as good"):
        make_task(frame, replace(choice, favourable=("Pass", "Distinction", "Fail", "Withdrawn")))
    with pytest.raises(ChoiceError, match="“Merit” is not a value of “result”"):
        make_task(frame, replace(choice, favourable=("Pass", "Merit")))
    with pytest.raises(ChoiceError, match="“” is not a value"):
        make_task(frame, replace(choice, favourable=()))


def test_blanks_are_neither_outcome_nor_group():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": rng.choice(["f", "m", "XXX"], 400)})
    frame["y"] = rng.choice(["yes", "no", "not stated"], 400)
    choice = Choice("y", "yes", "sex", (), {"x": "number"}, blanks=("XXX", "not stated"))
    own = make_task(frame, choice)
    assert own.task.groups == ("f", "m")
    assert len(own.task.y) == ((frame["y"] != "not stated") & (frame["sex"] != "XXX")).sum()
    with pytest.raises(ChoiceError, match="is not a value of “y”"):
        make_task(frame, replace(choice, favourable="not stated"))
