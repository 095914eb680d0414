"""Options of a command and fields of `Choice`: what is written is read back as it was."""

import argparse
import shlex
from dataclasses import fields

import pytest

from commod.datasets import Choice
from commod.datasets.choice_options import OPTIONS, add_options, given_options, written_options

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


def read(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    add_options(parser)
    return given_options(parser.parse_args(["file.csv", *words]))


def test_every_field_but_the_title_has_an_option():
    """The threshold has one, too, but any data set has it; a cut in two may be given in a shorter way."""
    named = {entry.name for entry in fields(Choice)} - {"title", "threshold"}
    assert {option.field for option in OPTIONS} == {*named, "sensitive_cut"}


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
def test_what_is_written_is_read_back(choice):
    given = read(shlex.split(shlex.join(written_options(choice))))
    assert given.pop("only_named")
    assert Choice(title="file.csv", **given) == choice


def test_a_cut_in_two_has_a_shorter_way():
    assert read(["--sensitive", "age", "--sensitive-cut", "40"]) == {"sensitive": "age", "sensitive_cut": 40.0}
    assert Choice("y", "1", "age", (), {}, sensitive_cut=40.0).cuts == {"age": (40.0,)}
    with pytest.raises(ValueError, match="say which of them is cut"):
        Choice("y", "1", ("age", "sex"), (), {}, sensitive_cut=40.0)


def test_the_order_of_the_features_is_kept():
    numbers = {f"{'-' * (i % 3 == 1)}n{i}": "number" for i in range(7)}
    assert list(read(written_options(Choice("y", "1", "s", ("a", "b"), numbers)))["kinds"]) == list(numbers)


def test_what_goes_without_saying_is_not_written():
    words = written_options(Choice("y", "1", "s", ("a", "b"), {"x": "number", "id": "leave out"}))
    assert words == "--outcome y --favourable 1 --sensitive s --groups a b --scores= --number x --only-named".split()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--merge", "race,Other"], "--merge takes a column, a name and the values"),
        (["--merge", 'race,"Other'], "--merge takes a column, a name and the values"),
        (["--cut", "age,young"], "--cut takes a column and numbers, with commas between, got 'age,young'"),
        (["--unknown", "keep"], "--unknown is train or drop, got 'keep'"),
        (["--outcome", "a", "--outcome", "b"], "--outcome takes one value, got 2"),
        (["--outcome-cut", "high"], "--outcome-cut takes a number, got 'high'"),
        (["--scores-out-of", "nan"], "--scores-out-of takes a number, got 'nan'"),
        (["--number", "x", "--category", "x"], "“x” is named by --category and by another option"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(words, message):
    with pytest.raises(ValueError, match=message):
        read(words)
