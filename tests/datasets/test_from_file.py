"""A task of a file: the page's guesses, and a sentence for each wrong name."""

import json

import pandas as pd
import pytest

from commod.datasets.choice import read_roles, roles_json
from commod.datasets.example import example_table
from commod.datasets.from_file import task_of_file


@pytest.fixture
def path(tmp_path):
    example_table(500).to_csv(tmp_path / "applicants.csv", index=False)
    return tmp_path / "applicants.csv"


def test_all_is_guessed_as_on_the_page_and_told(path):
    task, told = task_of_file(path, {})
    spec = task.spec
    assert (spec.target, spec.sensitive, spec.groups, spec.scores) == ("hired", "group", ("A", "B"), "model_score")
    assert [feature.name for feature in spec.features] == [
        "experience_years",
        "test_score",
        "education",
        "city",
        "interview_language",
    ]
    guessed = {
        "target": "hired",
        "favourable": "yes",
        "sensitive": "group",
        "groups": ["A", "B"],
        "scores": "model_score",
    }
    assert told[0] == f"Guessed: {json.dumps(guessed)[1:-1]}."
    assert told[3].startswith("Left out: applicant (a different whole number in ")
    assert "“test_score”: 12 cells missing, set to the median, 60." in told


def test_what_is_given_is_not_guessed(path):
    given = {
        "favourable": "no",
        "sensitive": "city",
        "kinds": {"test_score": "leave out", "experience_years": "category"},
    }
    task, told = task_of_file(path, given)
    assert task.spec.target_label == "hired is no"
    groups = json.dumps(task.groups)
    assert told[0] == f'Guessed: "target": "hired", "groups": {groups}, "scores": "model_score".'
    assert [feature.name for feature in task.spec.features] == [
        "experience_years",
        "education",
        "interview_language",
        "group",
    ]
    assert not any("test_score" in sentence for sentence in told)
    only, _ = task_of_file(
        path, {"kinds": {"city": "category", "test_score": "number"}, "only_named": True, "scores": ""}
    )
    assert [feature.name for feature in only.spec.features] == ["test_score", "city"]
    assert only.spec.scores == ""


def test_the_same_words_make_the_same_task(path):
    own, _ = task_of_file(path, {})
    assert own.command == ["applicants.csv", "--roles", "roles.json"]
    for other in (own, task_of_file(path, read_roles(roles_json(own.roles)))[0]):
        assert other.roles == own.roles
        pd.testing.assert_frame_equal(other.X, own.X)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": "hire"}, "There is no column “hire” in the file: choose from applicant, experience_years"),
        ({"kinds": {"hire": "number"}}, "There is no column “hire”"),
        ({"merits": {"hire": 1}}, "There is no column “hire”"),
        ({"favourable": "maybe"}, "“maybe” is not a value of “hired”"),
        ({"groups": ("A", "C")}, "Choose two different groups of “group”"),
        ({"target": "applicant"}, "“applicant” has 500 different values"),
        ({"scores": "city"}, "500 cells of “city” cannot be read as a number"),
    ],
)
def test_a_wrong_choice_is_one_sentence(path, given, message):
    with pytest.raises(ValueError, match=message):
        task_of_file(path, given)


def test_a_wrong_file_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be read \(No such file or directory\)"):
        task_of_file(tmp_path / "none.csv", {})
    with pytest.raises(ValueError, match=r"cannot be read \(Is a directory\)"):
        task_of_file(tmp_path, {})
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG....")
    with pytest.raises(ValueError, match=r"picture.csv: The file is a PNG picture"):
        task_of_file(tmp_path / "picture.csv", {})
    pd.DataFrame({name: ["the same"] * 60 for name in "abc"}).to_csv(tmp_path / "constant.csv", index=False)
    with pytest.raises(ValueError, match="No column of 2 to 50 values is left for --outcome"):
        task_of_file(tmp_path / "constant.csv", {})


def test_a_command_asks_where_a_guess_would_often_be_wrong(path):
    table = pd.read_csv(path).rename(columns={"hired": "y"})
    table.to_csv(path, index=False)
    with pytest.raises(ValueError, match="Which value of the outcome is good for a person. Say --favourable yes or"):
        task_of_file(path, {"target": "y"})
    task, _ = task_of_file(path, {"target": "y", "favourable": "yes"})
    assert task.spec.outcomes[1] == "y: yes"
