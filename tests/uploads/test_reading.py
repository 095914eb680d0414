"""Each way a file can be wrong has a sentence of its own, and nothing in a file is ever run."""

import gzip
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commod.datasets import TableError, guess_columns, read_table
from commod.uploads.limits import MAX_BYTES
from tests.fuzzing import swollen_page


def parquet(**columns):
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


def parquet_in_groups():
    target = io.BytesIO()
    pq.write_table(pa.table({name: np.zeros(2_100) for name in "abc"}), target, row_group_size=1)
    return target.getvalue()


def zipped():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.csv", b"0" * 10_000_000)
    return target.getvalue()


def swollen():
    """A text of a million letters in each of 200,000 rows, in two megabytes."""
    text = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, dtype=np.int32)), pa.array(["x" * 1_000_000]))
    return parquet(a=text, b=np.arange(200_000), c=np.arange(200_000))


GOOD = b"age,city,hired\n30,North,yes\n41,South,no\n"
WRONG = {
    "empty": (b"", "The file is empty"),
    "blank": (b" \n\n ", "The file is empty"),
    "no rows": (b"a,b,c\n", "column names but no rows"),
    "no header": (b"1,2,3\n4,5,6\n", "looks like data, not names"),
    "a name missing": (b"a,,c\n1,2,3\n", "Column 2 has no name"),
    "a name twice": (b"a,a,c\n1,2,3\n", "Two columns are called “a”"),
    "too few columns": (b"a,b\n1,2\n", "2 column(s); an outcome"),
    "2,000 columns": (",".join(f"c{i}" for i in range(2000)).encode() + b"\n", "2,000 columns; at most 200"),
    "a million rows": (b"a,b,c\n" + b"1,2,3\n" * 1_000_000, "1,000,000 rows; at most 300,000"),
    "too large": (b"a,b,c\n" + b"1,2,3\n" * (MAX_BYTES // 6 + 1), "50 MB"),
    "a ragged row": (b"a,b,c\n1,2,3\n4,5,6,7\n", "Line 3 has 4 cells where the first row has 3 names"),
    "an open quote": (b'a,b,c\n1,"2,3\n4,5,6\n', "opened and never closed"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(100), "is a PNG picture, whatever its name says"),
    "a workbook": (zipped(), "a ZIP archive or an Excel workbook"),
    "a zip bomb": (zipped(), "ZIP archive"),
    "a gzip bomb": (gzip.compress(b"0" * 10_000_000), "a gzip archive"),
    "a pickle": (pickle.dumps({"a": 1}, protocol=4), "pickle, which is never opened"),
    "bytes": (bytes(range(256)) * 10, "bytes that no text has"),
    "broken utf-16": (b"\xff\xfea\x00,", "begins like UTF-16"),
    "no text": (b"a,b,c\n\x81\x8d\x8f\x90\x9d", "not UTF-8"),
    "cut-off parquet": (parquet(a=[1, 2], b=[1, 2], c=[1, 2])[:-9], "damaged or cut off"),
    "half a parquet": (b"PAR1" + bytes(50), "damaged or cut off"),
    "lists in cells": (parquet(a=[[1], [2]], b=[1, 2], c=[1, 2]), "not one value a cell"),
    "a parquet bomb": (swollen(), "texts of more than 2,000 letters"),
    "a long parquet": (parquet(a=np.zeros(400_000), b=np.zeros(400_000), c=np.zeros(400_000)), "400,000 rows"),
    "a page that swells": (swollen_page(300), "unpacks to more than 256 MB"),
    "many cells in few bytes": (parquet(**{f"c{i}": np.zeros(200_000) for i in range(110)}), "22 million cells"),
    "many row groups": (parquet_in_groups(), "cut into too many parts"),
    "rows parted by CR": (b"a,b,c\r" + b"1,2,3\r" * 400_000, "400,000 rows; at most 300,000"),
    "a million cells in the first row": (b"a,b,c\n" + b"1," * 1_000_000 + b"1\n", "more cells than the first row"),
    "a name over two lines": (b'"a\nb",c,d\n1,2,3\n', "no row of column names"),
    "an empty parquet": (
        parquet(a=pa.array([], pa.int64()), b=pa.array([], pa.int64()), c=pa.array([], pa.int64())),
        "no rows",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_is_told_so(case):
    content, says = WRONG[case]
    with pytest.raises(TableError) as caught:
        read_table(content, "people.csv")
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
        parquet(age=[30, 41], city=["North", "South"], hired=["yes", "no"]),
    ],
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


def test_what_cannot_be_printed_is_shown_so():
    with pytest.raises(TableError) as caught:
        read_table(b"a\x1b[31m,a\x1b[31m,c\n1,2,3\n")
    assert "“a�[31m”" in str(caught.value)


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


@settings(max_examples=12, deadline=None)
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
