"""Each way a file can be wrong has a sentence of its own, and nothing in a file is ever run."""

import gzip
import io
import pickle
import zipfile
from datetime import datetime
from importlib import import_module

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commod.datasets import TableError, guess_columns, read_table
from commod.uploads import parquet as parquet_files
from commod.uploads import workbook as workbook_files
from commod.uploads.limits import MAX_BYTES
from tests.fuzzing import swollen_page

GOOD = b"age,city,hired\n30,North,yes\n41,South,no\n"


def parquet(**columns):
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


def parquet_in_groups():
    target = io.BytesIO()
    pq.write_table(pa.table({name: np.zeros(2_100) for name in "abc"}), target, row_group_size=1)
    return target.getvalue()


def zipped(name, size):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(zipfile.ZipInfo(name), bytes(size), zipfile.ZIP_DEFLATED, 1)
    return target.getvalue()


def lying_archive():
    """A part of 270 MB that says it is one of a hundred bytes."""
    size, claim = (270_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little")
    content = zipped("xl/workbook.xml", 270_000_000)
    assert content.count(size) == 2  # in front of the part, and in the list of parts
    return content.replace(size, claim)


def workbook(rows, far=False, sheets=1):
    """An Excel workbook with a table somewhere on its first sheet."""
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"default_date_format": "yyyy-mm-dd hh:mm"}) as book:
        book.set_properties({"created": datetime(2026, 1, 1)})  # names of tests may hold a workbook's bytes
        sheet, *_ = [book.add_worksheet() for _ in range(sheets)]
        for place, row in enumerate(rows):
            sheet.write_row(2 + place, 1, row)
        if far:
            sheet.write(1_048_575, 16_383, "x")
    return target.getvalue()


def swollen():
    """A text of a million letters in each of 200,000 rows, in two megabytes."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, dtype=np.int32)), pa.array(["x" * 1_000_000]))
    return parquet(a=text, b=np.arange(200_000), c=np.arange(200_000))


# Content, or a function that makes it where that takes a while, and what is said.
_WRONG = {
    "empty": (b"", "The file is empty"),
    "blank": (b" \n\n ", "The file is empty"),
    "no rows": (b"a,b,c\n", "column names but no rows"),
    "no header": (b"1,2,3\n4,5,6\n", "looks like data, not names"),
    "too few columns": (b"a,b\n1,2\n", "2 column(s); an outcome"),
    "2,000 columns": (lambda: ",".join(f"c{i}" for i in range(2000)).encode() + b"\n", "2,000 columns; at most 200"),
    "a million rows": (lambda: b"a,b,c\n" + b"1,2,3\n" * 1_000_000, "1,000,000 rows; at most 300,000"),
    "too large": (lambda: b"a,b,c\n" + b"1,2,3\n" * (MAX_BYTES // 6 + 1), "50 MB"),
    "a ragged row": (b"a,b,c\n1,2,3\n4,5,6,7\n", "Line 3 has 4 cells where the first row has 3 names"),
    "an open quote": (b'a,b,c\n1,"2,3\n4,5,6\n', "opened and never closed"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG picture, whatever its name says"),
    "an archive": (lambda: zipped("people.csv", 10), "The file is a ZIP archive"),
    "a binary workbook": (lambda: zipped("xl/workbook.bin", 10), "a binary Excel workbook (.xlsb)"),
    "a workbook that swells": (lambda: zipped("xl/workbook.xml", 270_000_000), "unpacks to more than 256 MB"),
    "a workbook that lies": (lying_archive, "The workbook is damaged"),
    "a broken workbook": (lambda: zipped("xl/workbook.xml", 10), "The workbook is damaged"),
    "a workbook without cells": (lambda: workbook([]), "The first sheet, “Sheet1”, is empty"),
    "a workbook with names only": (lambda: workbook([["a", "b", "c"]]), "column names but no rows"),
    "cells far apart": (lambda: workbook([["a", "b", "c"], [1, 2, 3]], far=True), "its cells lie too far apart"),
    "a wide workbook": (lambda: workbook([[f"c{i}" for i in range(201)]] * 2), "201 columns; at most 200"),
    "an old workbook": (b"\xd0\xcf\x11\xe0" + bytes(100), "an old Excel workbook (.xls)"),
    "a gzip bomb": (lambda: gzip.compress(b"0" * (MAX_BYTES + 1)), "unpacks to more than 50 MB"),
    "half a gzip archive": (lambda: gzip.compress(GOOD, mtime=0)[:-9], "The gzip archive is damaged or cut off"),
    "a gzip archive in another": (lambda: gzip.compress(gzip.compress(GOOD, mtime=0)), "The file is a gzip archive"),
    "a pickle": (lambda: pickle.dumps({"a": 1}, protocol=4), "pickle, which is never opened"),
    "bytes": (bytes(range(256)) * 10, "not text, so it is not CSV"),
    "broken utf-16": (b"\xff\xfea\x00,", "begins like UTF-16"),
    "broken utf-32": (b"\xff\xfe\x00\x00a\x00", "begins like UTF-32"),
    "German credit as it ships": (b"A11 6 A34 A43 1169\nA12 48 A32 A43 5951\n", "separated by spaces: use commas"),
    "no text": (b"a,b,c\n\x81\x8d\x8f\x90\x9d", "not UTF-8"),
    "cut-off parquet": (lambda: parquet(a=[1, 2], b=[1, 2], c=[1, 2])[:-9], "damaged or cut off"),
    "half a parquet": (b"PAR1" + bytes(50), "damaged or cut off"),
    "lists in cells": (lambda: parquet(a=[[1], [2]], b=[1, 2], c=[1, 2]), "not single values"),
    "a parquet bomb": (swollen, "texts of more than 2,000 letters"),
    "a long parquet": (lambda: parquet(a=np.zeros(400_000), b=np.zeros(400_000), c=np.zeros(400_000)), "400,000 rows"),
    "a page that swells": (lambda: swollen_page(260, hidden=False), "unpacks to more than 256 MB"),
    "many cells in few bytes": (
        lambda: parquet(**{f"c{i}": np.zeros(200_000) for i in range(110)}),
        "22 million cells",
    ),
    "many row groups": (parquet_in_groups, "cut into too many parts"),
    "rows parted by CR": (lambda: b"a,b,c\r" + b"1,2,3\r" * 400_000, "400,000 rows; at most 300,000"),
    "a million cells in the first row": (
        lambda: b"a,b,c\n" + b"1," * 1_000_000 + b"1\n",
        "more cells than the first row",
    ),
    "a name over two lines": (b'"a\nb",c,d\n1,2,3\n', "does not hold column names"),
    "an empty parquet": (
        lambda: parquet(a=pa.array([], pa.int64()), b=pa.array([], pa.int64()), c=pa.array([], pa.int64())),
        "no rows",
    ),
}
WRONG = [*_WRONG]
# What might end the process that reads it, or fill its memory.
DANGEROUS = {
    "a workbook that swells",
    "a workbook that lies",
    "a broken workbook",
    "cells far apart",
    "cut-off parquet",
    "a parquet bomb",
    "a page that swells",
    "many cells in few bytes",
    "many row groups",
}


@pytest.fixture(autouse=True)
def harmless_files_are_read_here(request, monkeypatch):
    """Starting a process takes most of a second of a core."""
    case = getattr(request.node, "callspec", None)
    if case is None or case.params.get("case") not in DANGEROUS:
        for module in (parquet_files, workbook_files):
            monkeypatch.setattr(module, "read_apart", lambda name, content, _: import_module(name)._unpack(content))


def wrong(case):
    """The content of a wrong file, and what is said of it."""
    content, says = _WRONG[case]
    return content() if callable(content) else content, says


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_told_so(case):
    content, says = wrong(case)
    with pytest.raises(TableError) as caught:
        read_table(content)
    assert says in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.replace(b",", b";"),
        GOOD.replace(b",", b"\t"),
        GOOD.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + GOOD,
        GOOD.decode().encode("utf-16"),
        GOOD.decode().encode("utf-32"),
        b"\x00\x00\xfe\xff" + GOOD.decode().encode("utf-32-be"),
        parquet(age=[30, 41], city=["North", "South"], hired=["yes", "no"]),
        workbook([["age", "city", "hired"], [30, "North", "yes"], [41, "South", "no"]]),
        gzip.compress(GOOD, mtime=0),
        gzip.compress(GOOD[:20], mtime=0) + gzip.compress(GOOD[20:], mtime=0),
    ],
    ids=range(12),  # some hold the time at which they were made
)
def test_the_same_table_in_every_form(content):
    read = read_table(content)
    assert list(read.frame.columns) == ["age", "city", "hired"]
    assert read.frame["age"].tolist() == [30, 41]
    assert read.frame["city"].astype(str).tolist() == ["North", "South"]
    assert not read.notices


def test_windows_text_is_read_and_said_so():
    read = read_table("name,b,c\nJosé,1,2\n".encode("cp1252"))
    assert read.frame["name"].tolist() == ["José"]
    assert "read as Windows-1252" in read.notices[0]


def test_decimal_commas_are_numbers_and_said_so():
    read = read_table("Einkommen;Ort;y\n67,8;Köln;ja\n12,5;Bonn;nein\n;Bonn;ja\n".encode("cp1252"))
    assert read.frame["Einkommen"].tolist()[:2] == [67.8, 12.5]
    assert "Read with a decimal comma: Einkommen." in read.notices
    assert read_table(b'a,b,c\n"1,5",x,y\n').frame["a"].tolist() == ["1,5"]  # among commas a comma parts cells


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "@SUM(1)", "+HYPERLINK(1)", "-A1"])
def test_formulas_stay_text_and_are_named(cell):
    read = read_table(f'a,b,c\n"{cell}",1,2\n'.encode())
    assert read.frame["a"].tolist() == [cell]
    assert "begin like formulas" in read.notices[0]
    assert not read_table(b"a,b,c\n-3,+4,x\n").notices  # numbers with a sign are none


@pytest.mark.parametrize("mixed", ["\r\r\nab1=, \r\r\t.", "@|b\rc@1 @ \n\r\té\r.\\\r\t==é", "\n\t \\\r,\rc=\r\nc\r"])
def test_both_kinds_of_line_ends_in_one_file_are_read_to_the_end(mixed):
    """With pandas 3.0 the reader never came back from these."""
    outcome_of(mixed.encode())
    assert read_table(b"a,b,c\n1,2,3\r\r\n \r\t4,5,6\n").frame.shape == (2, 3)


def test_what_cannot_be_printed_is_shown_so():
    assert "“a�[31m (2)”" in read_table(b"a\x1b[31m,a\x1b[31m,c\n1,2,3\n").notices[0]


@pytest.mark.parametrize(
    ("content", "names", "says"),
    [
        # What df.to_csv() writes, and the same read and written once more.
        (b",a,b,c\n0,5,x,k\n1,6,y,l\n", "a b c", "without a name that numbers the rows"),
        (b"Unnamed: 0,a,b,c\n7,5,x,k\n3,6,y,l\n", "a b c", "without a name that numbers the rows"),
        (b",a,b,c\nAnn,5,x,k\nBob,6,y,l\n", "column 1,a,b,c", "without a name are called “column 1”."),
        # What write.table of R writes.
        (b'"a" "b" "c"\n"1" 5 "x" "k"\n"2" 6 "y" "l"\n'.replace(b" ", b","), "a b c", "numbers the rows"),
        (b"a,b,c,\n5,x,k,\n6,y,l,\n", "a b c", "without a value are left out: 1."),
        (b"a,b,c,,\n5,x,k\n6,y,l\n", "a b c", "without a value are left out: 2."),
        (b"a,b,c\n5,x,k,\n6,y,l,\n", "a b c", "without a value are left out: 1."),
        (b"a,,c\n5,x,k\n6,y,l\n", "a,column 2,c", "without a name are called “column 2”."),
        (b"a,column 1,,a,a (2),a\n1,2,3,4,5,6\n", "a,column 1,column 3,a (3),a (2),a (4)", "“a (3)”, “a (4)”"),
        (b"a;a;c\n1,5;x;k\n2,5;y;l\n", "a,a (2),c", "“a (2)”"),
        (workbook([["a", "", "a"], [1, 2, 3]]), "a,column 2,a (2)", "“column 2”"),
        (workbook([["", "a", "b", "c"], [0, 5, "x", "k"], [1, 6, "y", "l"]]), "a b c", "numbers the rows"),
    ],
)
def test_names_that_are_missing_or_twice_are_put_right_and_said_so(content, names, says):
    read = read_table(content)
    assert list(read.frame.columns) == (names.split(",") if "," in names else names.split())
    assert any(says in notice for notice in read.notices)


def test_the_index_of_a_frame_in_parquet():
    target = io.BytesIO()
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [3, 4]}, index=[7, 3]).to_parquet(target)
    read = read_table(target.getvalue())
    assert list(read.frame.columns) == ["a", "b", "c"]
    assert "numbers the rows" in read.notices[0]


def test_parquet_with_a_name_twice():
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"]), pa.array([3.5, 4.5])], ["a", "b", "a"])
    target = io.BytesIO()
    pq.write_table(table, target)
    read = read_table(target.getvalue())
    assert read.frame["a"].tolist() == [1, 2]
    assert read.frame["a (2)"].tolist() == [3.5, 4.5]


def test_a_ragged_row_is_told_by_its_line():
    with pytest.raises(TableError, match="Line 5 has 4 cells where the first row has 3 names"):
        read_table(b"\n\na,b,c\n1,2,3\n4,5,6,7\n")


def test_a_title_above_the_table_of_a_workbook():
    read = read_table(workbook([["Applicants in 2020"], [], ["age", "city", "hired"], [30, "North", "yes"]]))
    assert read.frame.to_dict("list") == {"age": [30], "city": ["North"], "hired": ["yes"]}
    assert read.notices == ("Title rows above the column names are left out: 1.",)


@pytest.mark.parametrize("title", ["Export of 12/03/2024;;\r\n;;\r\n", "Export, by Ann\r\n"])
def test_a_title_above_a_csv_is_left_out(title):
    read = read_table(f"{title}age;city;hired\r\n30;North;yes\r\n".encode())
    assert read.frame.to_dict("list") == {"age": [30], "city": ["North"], "hired": ["yes"]}
    assert read.notices == (f"Title rows above the column names are left out: {title.count(chr(10))}.",)
    with pytest.raises(TableError, match=f"Line {title.count(chr(10)) + 3} has 4 cells"):
        read_table(f"{title}a;b;c\r\n1;2;3\r\n4;5;6;7\r\n".encode())


@pytest.mark.parametrize("form", ["csv", "workbook"])
def test_empty_rows_and_a_last_row_of_sums_are_left_out(form):
    rows = [["age", "city", "hired"], [30, "North", 1], ["", "", ""], [41, "South", 0], ["", "Grand total", 1]]
    text = "\n".join(",".join(map(str, row)) for row in rows)
    table = read_table(text.encode() if form == "csv" else workbook(rows))
    assert table.frame["age"].tolist() == [30, 41]
    assert table.frame.index.tolist() == [0, 1]
    assert any("“Grand total”" in notice for notice in table.notices)
    sums = read_table(b"city,age,hired\ntotal,30,1\nNorth,41,0\ntotal,28,1\n")  # a city of that name
    assert len(sums.frame) == 3


def test_numbers_that_may_be_mistakes_are_named():
    frame = pd.DataFrame({"age": [-3, *range(18, 80), 999] * 2, "income": [*range(30, 93), -999] * 2})
    frame["debt"] = frame.index % 64
    odd = guess_columns(frame)["odd"]
    assert odd["age"].startswith("−3, 999 in 4 rows")
    assert odd["income"].startswith("−999 in 2 rows")
    assert odd["debt"] == ""


def test_cells_of_a_workbook():
    day, minute = datetime(2020, 1, 2), datetime(2020, 1, 2, 3, 4)
    rows = [
        ["whole", "part", "word", "day", "minute", "flag", "formula", "mixed", 2019],
        [3, 0.5, "x", day, minute, True, "=1+1", 7, 1],
        [4, "", "y", day, minute, False, "=2+2", "z", 2],
    ]
    read = read_table(workbook(rows, sheets=3)).frame
    assert read["whole"].tolist() == [3, 4]
    assert read["whole"].dtype == int
    assert read["part"].isna().tolist() == [False, True]
    assert read["day"].tolist() == ["2020-01-02"] * 2
    assert read["minute"].tolist() == ["2020-01-02 03:04:00"] * 2
    assert read["flag"].tolist() == [True, False]
    assert read["formula"].tolist() == [0, 0]  # the value that was stored with it: nothing is evaluated
    assert read["mixed"].tolist() == ["7", "z"]
    assert list(read.columns)[-1] == "2019"
    assert read_table(workbook(rows, sheets=3)).notices == (
        "Of the workbook's 3 sheets the first one, “Sheet1”, was read.",
    )


def test_dates_and_decimals_of_parquet_become_texts_and_numbers():
    frame = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2021-05-05"]), "n": [1, 2], "t": ["a", None]})
    target = io.BytesIO()
    frame.to_parquet(target)
    read = read_table(target.getvalue()).frame
    assert read["day"].tolist() == ["2020-01-01", "2021-05-05"]
    assert read["t"].isna().tolist() == [False, True]


def test_short_floats_of_parquet_become_numbers():
    short = pa.array(np.array([1.5, -2.0], dtype=np.float16))
    read = read_table(parquet(a=short, b=["x", "y"], c=short.dictionary_encode())).frame
    assert read["a"].tolist() == read["c"].tolist() == [1.5, -2.0]


def outcome_of(content):
    """A table or a sentence; anything else is a fault."""
    try:
        read = read_table(content)
    except TableError:
        return
    assert len(guess_columns(read.frame)) == len(read.frame.columns)
    assert len(read.frame) > 0
    assert len(read.frame.columns) >= 3


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=400))
def test_any_bytes(content):
    outcome_of(content)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet='abc1.,;"\n\r\t =@é\\|', max_size=200))
def test_any_text(content):
    outcome_of(content.encode())


PARQUET = parquet(a=[1, 2, 3], b=["x", "y", None], c=[0.5, 1.5, 2.5])


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(4, len(PARQUET) - 1), st.integers(0, 255), st.integers(0, len(PARQUET)))
def test_a_parquet_file_with_a_damaged_byte(place, byte, cut):
    broken = bytearray(PARQUET)
    broken[place] = byte
    outcome_of(bytes(broken))
    outcome_of(bytes(broken[:cut]) or b"x")


def test_a_whole_number_of_hundreds_of_digits():
    huge = "9" * 400
    numbers = read_table(f"a,b,c\n1,x,k\n{huge},y,l\n".encode()).frame["a"]
    assert numbers.dtype == float
    assert numbers[0] == 1
    assert not np.isfinite(numbers[1])
    mixed = read_table(f"a,b,c\n{huge},x,k\nword,y,l\n".encode()).frame["a"]
    assert mixed.tolist() == [huge, "word"]
