"""Roles of columns as a file and as options of a command."""

import json
import shlex
from dataclasses import fields

import pytest

from commod.datasets import Choice
from commod.datasets.choice import (
    _PLACES,
    read_roles,
    roles_in,
    roles_json,
    roles_of,
)

pytestmark = pytest.mark.quick

ODD = Choice(
    target="out come",
    favourable="-1",
    sensitive='it\'s "race"',
    groups=("-A", "b $HOME `id`"),
    kinds={
        "a": "number",
        "-n": "number",
        "$x": "number",
        "Größe; é": "category",
        "--scores": "category",
        "=1": "category",
    },
    missing="drop",
    title="file.csv",
    merits={"a": 1, "$x": -1},
    target_cut=-0.1,
    sensitive_cut=40.0,
    scores="",
    scores_out_of=100.0,
    person="per\nson",
    time="t",
    turned=True,
)


def test_every_field_but_the_title_has_an_option():
    """In lessons and older records. The threshold is an option of any data set; some have a shorter way, too."""
    named = {entry.name for entry in fields(Choice)} - {"title", "threshold"}
    assert {place.partition(":")[0] for place in _PLACES.values()} == {*named, "sensitive_cut", "small_together"}


CROSSED = Choice(
    target="y",
    favourable="1",
    sensitive=("a,ge", "-race"),
    groups=("< 30 × -x", "≥ 45 × all, but “some”"),
    kinds={"x": "category"},
    title="file.csv",
    cuts={"a,ge": (-1.5, 30.0, 45.0)},
    merge={"-race": {"x, y": 'all, but “some"', "": 'all, but “some"', "-z": "-x", "line\nbreak": "-x"}},
    unknown="train",
    weight="w",
)


@pytest.mark.parametrize(
    "choice",
    [ODD, CROSSED, Choice("y", "1", "s", ("a", "b"), {"x": "category", "z": "number"}, scores="p", title="file.csv")],
)
def test_roles_are_read_back(choice):
    given = read_roles(roles_json(roles_of(choice)))
    assert given.pop("only_named")
    assert Choice(title="file.csv", **given) == choice
    assert list(given["kinds"]) == list(choice.kinds)


# What versions before 18 November 2026 wrote into the record of a decision.
OLD_WORDS = (
    "--outcome 'out come' --outcome-cut=-0.1 --favourable=-1 --sensitive 'it'\"'\"'s \"race\"' --cut "
    '\'"it\'"\'"\'s ""race""",40.0\' --groups=-A --groups \'b $HOME `id`\' --scores= '
    "--scores-of other --scores-out-of 100.0 --number a --number=-n --number '$x' "
    "--category 'Größe; é' --category=--scores --category =1 --missing drop "
    "--more-is-merit a --less-is-merit '$x' --person 'per\nson' --time t --only-named"
)


def test_options_in_older_records_say_the_same():
    assert json.loads(json.dumps(roles_in(shlex.split(OLD_WORDS)))) == roles_of(ODD)


def test_options_come_on_top_of_a_file_of_roles(tmp_path):
    path = tmp_path / "roles.json"
    path.write_text(roles_json(roles_of(CROSSED)), encoding="utf-8")
    found = roles_in(["--roles", str(path), "--outcome", "z", "--number", "n"])
    assert (found["target"], found["kinds"]) == ("z", {"x": "category", "n": "number"})
    assert found["cuts"] == CROSSED.cuts
    with pytest.raises(ValueError, match="cannot be read"):
        roles_in(["--roles", str(tmp_path / "none.json")])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "should be one JSON object"),
        (b'{"kind": {}}', "There is no field `kind`"),
        (b'{"kinds": {"x": "text"}}', "damaged: kinds"),
        (b'{"target": 1}', "damaged: target: Expected `str`, got `int`"),
    ],
)
def test_a_file_that_has_no_roles_is_refused(content, message):
    with pytest.raises(ValueError, match=message):
        read_roles(content)


def test_a_cut_in_two_has_a_shorter_way():
    assert roles_in(["--sensitive", "age", "--sensitive-cut", "40"]) == {"sensitive": "age", "sensitive_cut": 40.0}
    assert Choice("y", "1", "age", (), {}, sensitive_cut=40.0).cuts == {"age": (40.0,)}
    with pytest.raises(ValueError, match="say which of them it cuts"):
        Choice("y", "1", ("age", "sex"), (), {}, sensitive_cut=40.0)


def test_what_goes_without_saying_is_not_written():
    roles = roles_of(Choice("y", "1", "s", ("a", "b"), {"x": "number", "id": "leave out"}))
    said = {"target": "y", "favourable": "1", "sensitive": "s", "groups": ["a", "b"], "scores": ""}
    assert roles == said | {"kinds": {"x": "number"}, "only_named": True}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--merge", "race"], "'race' should be a column and its values, with commas between"),
        (["--cut", "age,young"], "--cut: .*Expected `float`, got `str`"),
        (["--unknown", "keep"], "--unknown: Invalid enum value 'keep'"),
        (["--outcome-cut", "high"], "--outcome-cut: Expected `float"),
        (["--confirm", "some"], "--confirm: Expected `float`, got `str`"),
        (["--scores-of", "nobody"], "--scores-of: invalid choice: 'nobody'"),
        (["--colour", "red"], "These options cannot be read: unrecognized arguments: --colour"),
        (["--number", "x", "--category", "x"], "“x” is named by --category and by another option"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(words, message):
    with pytest.raises(ValueError, match=message):
        roles_in(words)
