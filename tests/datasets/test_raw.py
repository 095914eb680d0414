"""Cells: what is a number, a date, a level and nothing at all, and what a rule makes of them."""

import csv
import datetime
import io
import math

import numpy as np
import pandas as pd
import pytest

from commod.cells import ColumnRule, days_in, decimal_marks, is_missing, level_in, number_in
from commod.datasets import Choice, make_task, read_table
from commod.datasets.raw import (
    MAX_LEVELS,
    MISSING,
    OTHER,
    contract_of,
    learn_rule,
    missing_in,
    read_column,
    read_levels,
    read_numbers,
    respelled,
    rule_in_words,
)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("69,487.00", 69487.0),
        ("1,234,567", 1234567.0),
        ("1 200", 1200.0),
        ("1\u00a0200,5", 1200.5),
        ("1'234.5", 1234.5),
        ("67,8", 67.8),
        ("0,123", 0.123),
        ("1.234,56", 1234.56),
        ("$1,200", 1200.0),
        ("-$5", -5.0),
        ("€ 5,50", 5.5),
        ("5 €", 5.0),
        ("45%", 45.0),
        (" 12 ", 12.0),
        ("\u22123", -3.0),
        ("1e-3", 0.001),
        (".5", 0.5),
        (7, 7.0),
        (np.float32(0.5), 0.5),
    ],
)
def test_a_number_is_read_as_people_write_it(cell, number):
    assert number_in(cell) == number


@pytest.mark.parametrize(
    "cell",
    ["", "?", "many", "12 kg", "1_000", "inf", "1,23,456", "0x1F", True, None, math.nan, pd.NA, math.inf, 1e101, [1]],
)
def test_what_is_no_number(cell):
    assert math.isnan(number_in(cell))


def test_what_can_be_read_in_two_ways_is_read_by_the_mark_of_its_column():
    assert (number_in("1,234"), number_in("1,234", ",")) == (1234.0, 1.234)
    assert (number_in("1.234"), number_in("1.234", ",")) == (1.234, 1234.0)
    assert [decimal_marks(text) for text in ("1,234", "67,8", "67.8", "12", "x")] == [".,", ",", ".", ".,", ""]
    numbers, rule = read_numbers(pd.Series(["67,8", "1,234", "3", "n/a"]))
    assert rule.decimal == ","
    np.testing.assert_array_equal(numbers, [67.8, 1.234, 3.0, np.nan])
    numbers, rule = read_numbers(pd.Series(["1,234.5", "1,234"]))
    assert rule.decimal == "."
    assert numbers.tolist() == [1234.5, 1234.0]


@pytest.mark.parametrize(
    ("cell", "order", "days"),
    [
        ("1970-01-02", "mdy", 1.0),
        ("1970/1/2", "dmy", 1.0),
        ("1970-01-02T12:00:00Z", "mdy", 1.5),
        ("1970-01-02 06:00", "mdy", 1.25),
        ("1970-01-02T12:00:00+06:00", "mdy", 1.25),
        ("2/1/1970", "dmy", 1.0),
        ("1/2/1970", "mdy", 1.0),
        ("2.1.1970", "dmy", 1.0),
        ("1/2/1970 12:00:00 AM", "mdy", 1.0),
        ("1/2/1970 06:00 pm", "mdy", 1.75),
        (datetime.date(1970, 1, 2), "mdy", 1.0),
        (datetime.datetime(1970, 1, 2, 3, tzinfo=datetime.timezone(datetime.timedelta(hours=3))), "mdy", 1.0),
        (pd.Timestamp("1970-01-02 12:00"), "mdy", 1.5),
        (np.datetime64("1970-01-02"), "mdy", 1.0),
        (1.0, "mdy", 1.0),
    ],
)
def test_a_date_is_days_since_1970(cell, order, days):
    assert days_in(cell, order) == days


@pytest.mark.parametrize("cell", ["13/13/1970", "1970-02-30", "soon", "1.2.3", None, pd.NaT, "1/2/70"])
def test_what_is_no_date(cell):
    assert math.isnan(days_in(cell))


def test_one_level_in_all_its_spellings():
    assert {level_in(cell) for cell in (1, 1.0, "1", "1.0", "01", np.int64(1))} == {"1"}
    assert {level_in(cell) for cell in (True, "true", "TRUE", "True", np.True_)} == {"True"}
    assert level_in(" a ") == "a"
    assert level_in(0.1 + 0.2) == "0.3"
    assert (level_in(999_999_999_999_999.0), level_in(1e15)) == ("999999999999999", "1e+15")
    assert level_in(None) is level_in(math.nan) is level_in(pd.NA) is None
    assert (level_in("67,8"), level_in("67,8", decimal=",")) == ("67,8", "67.8")


def test_words_for_nothing():
    assert all(
        is_missing(word)
        for word in ("", " ", "?", "NA", "n/a", "NaN", "Unknown", "null", "None", "-", "Infinity", None)
    )
    assert not any(is_missing(word) for word in ("none", "0", "no", "other", 0, False))
    levels = read_levels(pd.Series(["a", "?", "Unknown", None, "none", 1, 1.0, True], dtype=object))
    assert levels.tolist() == ["a", None, None, None, "none", "1", "1", "True"]
    assert read_levels(pd.Series(["+", "-", "?"])).tolist() == ["+", "-", None]  # two outcomes in some tables
    assert missing_in(pd.Series(["a", "?", None])).tolist() == [False, True, True]


def test_a_rule_for_numbers():
    cells = pd.Series(["1", "3", "?", "many", None], name="n")
    rule = learn_rule(cells, "number", fill=True)
    assert rule == ColumnRule("n", "number", fill=2.0)
    assert read_column(cells, rule).tolist() == [1.0, 3.0, 2.0, 2.0, 2.0]
    assert ColumnRule("n", "number", divide=100.0).read("45%") == 0.45
    assert learn_rule(cells, "number", fill=False).read("?") is None


def test_a_rule_for_dates():
    cells = pd.Series(["31/01/1970", "02/01/1970", "unknown"], name="day")
    rule = learn_rule(cells, "number", fill=True)
    assert (rule.kind, rule.order, rule.fill) == ("date", "dmy", 15.5)
    assert read_column(cells, rule).tolist() == [30.0, 1.0, 15.5]


def test_a_rule_for_levels():
    cells = pd.Series([f"l{i:02d}" for i in range(40)] + ["l00"] * 9 + ["?"], name="c")
    rule = learn_rule(cells, "category", fill=True)
    assert (rule.fill, rule.other, len(rule.levels)) == (MISSING, OTHER, MAX_LEVELS + 1)
    assert [rule.read(cell) for cell in ("l00", "l39", "new", "NA", None)] == ["l00", OTHER, OTHER, MISSING, MISSING]
    few = learn_rule(pd.Series([True, False]), "category", fill=False)
    assert [few.read(cell) for cell in ("true", 1, "0", "perhaps", "?")] == ["True", "True", "False", "perhaps", None]
    numbers = learn_rule(pd.Series([0, 1]), "category", fill=False)
    assert [numbers.read(cell) for cell in (True, "false", "1.0")] == ["1", "0", "1"]


def test_features_that_are_as_a_model_uses_them_keep_their_words():
    X = pd.DataFrame({"n": [1.0, 2.0], "c": pd.Categorical(["unknown", "none"])})
    number, category = contract_of(X)
    assert category.read("unknown") == "unknown"
    assert number.read("?") is category.read("?") is None


def test_a_rule_in_words():
    assert rule_in_words(ColumnRule("n", "number", ",", fill=2.0)) == (
        "a number, with a decimal comma; a missing one counts as 2"
    )
    assert (
        rule_in_words(ColumnRule("p", "number", divide=100.0)) == "a number, divided by 100; a missing one is refused"
    )
    assert rule_in_words(ColumnRule("d", "date", order="dmy", fill=1.0)) == (
        "a date, counted in days since 1 January 1970, the day before the month; a missing one counts as 1"
    )
    levels = tuple("abcdefgh")
    assert rule_in_words(ColumnRule("c", "category", fill=MISSING, levels=levels, other=OTHER)) == (
        "a level: “a”, “b”, “c”, “d”, “e”, “f” and 2 more; all others are “other”; a missing one counts as none of "
        "these levels"
    )


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"kind": "text"}, "a rule of kind 'text'"),
        ({"divide": 0.0}, "divides by 0"),
        ({"fill": "much"}, "could not convert"),
        ({"fill": math.inf}, "finite numbers"),
    ],
)
def test_a_rule_that_cannot_be(wrong, says):
    with pytest.raises(ValueError, match=says):
        ColumnRule(**{"name": "n", "kind": "number", **wrong})


NUMBERS = "1|2|3.5|-4|1e3|1,234|12,345.67|67,8|0,5|$5|45%| 7 |+3|1.|007|.5|1 200|1.234|1.234,5|−2|0x10|-0|inf".split(
    "|"
)
NOTHING = "|?|NA|n/a|null|None|none|nan|-|unknown|NaN| |#N/A|missing|.".split("|")
TRUTH = "True|False|true|FALSE|1|0|yes".split("|")
TEXTS = "a|B|x y| lead|trail |other|1a|Infinity|+|1/2|ü|=1+1|a,b|O'Neil|1;2".split("|")
DATES = "2020-01-31|31.01.2020|1/31/2020|13/01/2020|2020-02-30|2020-01-31 10:00|01/02/2020".split("|")
POOLS = [NUMBERS, NUMBERS + NOTHING, TRUTH + NOTHING, TEXTS + NOTHING, TEXTS + NUMBERS, DATES + NOTHING, TRUTH, DATES]


@pytest.mark.parametrize("missing", ["fill", "drop"])
@pytest.mark.parametrize("seed", range(8))
def test_whatever_a_file_holds_a_rule_reads_it_as_the_table_was_read(seed, missing):
    rng = np.random.default_rng(seed)
    n, delimiter = 400, rng.choice([",", ";", "\t"])
    columns = {f"f{j}": rng.choice(rng.choice(POOLS[j], 6, replace=False), n) for j in range(len(POOLS))}
    if missing == "drop":  # that some rows are left
        columns = {
            name: np.where(rng.random(n) < 0.9, rng.choice(["3", "4"], n), cells) for name, cells in columns.items()
        }
    columns["f5"][:9] = "2020-01-31"
    columns |= {"y": np.tile(["p", "q"], n // 2), "s": np.repeat(["u", "v"], n // 2)}
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([list(columns), *zip(*columns.values(), strict=True)])
    kinds = {
        name: "number" if int(name[1:]) in (0, 1) and seed % 2 else "category" for name in columns if name[0] == "f"
    }
    kinds |= {"f5": "number", "f7": "number"}
    table = read_table(out.getvalue().encode()).frame
    task = make_task(table, Choice("y", "p", "s", ("u", "v"), kinds, missing=missing)).task
    rows = csv.DictReader(io.StringIO(out.getvalue()), delimiter=delimiter)
    read = [[rule.read(row[rule.name]) for rule in task.contract] for row in rows]
    whole = [row for row in read if None not in row]
    assert len(whole) == len(task.X)
    assert (len(whole) < n) == (missing == "drop")
    for rule, cells in zip(task.contract, zip(*whole, strict=True), strict=True):
        expected = task.X[rule.name].tolist()
        assert list(cells) == (expected if rule.kind == "category" else pytest.approx(expected, rel=1e-12)), rule


def test_levels_that_differ_only_in_capitals_or_spaces_are_one():
    values = pd.Series(["Male", "male ", "MALE", "Male", "Female", "not  known yet", "Not known yet", None])
    read = read_levels(values)
    assert set(read.dropna()) == {"Male", "Female", "Not known yet"}
    assert respelled(values) == 3
    rule = learn_rule(values, "category", fill=True)
    assert [rule.read(cell) for cell in ("mALE", " female", "FEMALE")] == ["Male", "Female", "Female"]


def test_a_level_that_two_known_ones_are_like_stays_unknown():
    rule = ColumnRule("dose", "category", "", levels=("a", "A"))
    assert rule.read("a") == "a"
    assert rule.read(" A") == "A"
    assert rule.read("b") == "b"


@pytest.mark.parametrize("word", ["(null)", "<NULL>", "(blank)", "\\N", "(Unknown)"])
def test_more_words_for_nothing(word):
    assert is_missing(word)
