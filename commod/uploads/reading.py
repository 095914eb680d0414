"""A table out of a file that somebody uploads: CSV or Parquet, checked before it is unpacked, never evaluated."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from commod.portable import number_in
from commod.uploads.limits import MAX_BYTES, MAX_COLUMNS, MAX_TEXT, TableError, check_names, check_size, short
from commod.uploads.parquet import damaged, unpack_apart

__all__ = ["ReadTable", "read_table"]

DELIMITERS = ",;\t|"

# How files begin that are often renamed.
_BEGINNINGS = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"SQLite format", "an SQLite data base"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\x80\x04\x95", "a Python pickle, which is never opened here"),
    (b"\x80\x05\x95", "a Python pickle, which is never opened here"),
)


@dataclass(frozen=True)
class ReadTable:
    """A table, and what was noticed while it was read."""

    frame: pd.DataFrame
    notices: tuple[str, ...] = ()


def read_table(content: bytes, name: str = "file") -> ReadTable:
    """Read CSV (comma, semicolon, tab or bar; UTF-8, UTF-16 or Windows-1252) or Parquet.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        What it is called, for the sentences; what it holds decides how it is read.

    Raises
    ------
    TableError
        With one sentence for each way in which a file can be wrong.
    """
    if not content.strip():
        raise TableError("The file is empty: choose one with a row of column names and a row for each person.")
    if len(content) > MAX_BYTES:
        raise TableError(
            f"The file has {len(content) / 2**20:,.0f} MB; at most {MAX_BYTES // 2**20} MB can be used: take a sample "
            "of its rows, or save it as Parquet."
        )
    if content[:4] == b"PAR1":
        return _checked(_read_parquet(content), [])
    for beginning, what in _BEGINNINGS:
        if content.startswith(beginning):
            raise TableError(
                f"The file is {what}, whatever its name says: save the table as CSV (in a spreadsheet: Save as, CSV "
                "UTF-8) or as Parquet."
            )
    text, notices = _decoded(content)
    frame, more = _read_csv(text)
    return _checked(frame, notices + more)


# ---- CSV ----


def _decoded(content: bytes) -> tuple[str, list[str]]:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        try:
            return content.decode("utf-16"), []
        except UnicodeDecodeError:
            raise TableError("The file begins like UTF-16 but is not: save it as CSV in UTF-8.") from None
    if b"\x00" in content:
        raise TableError(
            "The file holds bytes that no text has: it is no CSV. Save the table as CSV in UTF-8, or as Parquet."
        )
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        text = ""
    odd = sum(ord(c) < 32 and c not in "\r\n\t" for c in text[:65536])
    if not text or odd > 0.001 * min(len(text), 65536):
        raise TableError(f"The text of the file is not UTF-8 (line {line}): save it as CSV in UTF-8.")
    return text, [
        f"The file is not UTF-8 (line {line}); it was read as Windows-1252. If letters look wrong, save it as UTF-8."
    ]


def _read_csv(text: str) -> tuple[pd.DataFrame, list[str]]:
    first = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0][:1_000_000]
    delimiter = max(DELIMITERS, key=first.count)
    n_columns = first.count(delimiter) + 1
    whole = text.rstrip("\r\n")
    check_size(max(whole.count("\n"), whole.count("\r")), n_columns)  # without the row of names
    no_names = TableError("The first row is no row of column names: save the table anew as CSV in UTF-8.")
    try:
        header = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        raise no_names from None
    if first.count('"') % 2:  # a name that goes on in the next line
        raise no_names
    names = [column.strip() for column in header]
    if len(names) > 1 and all(re.fullmatch(r"-?[\d.]+([eE]-?\d+)?|", name) for name in names):
        shown = ", ".join(short(name) for name in names[:4])
        raise TableError(f"The first row ({shown} …) looks like data, not names: put a row of column names above.")
    check_names(names)
    too_many_cells = TableError("The rows have more cells than the first row has names: give every column a name.")
    if _cells_of_first_row(text, delimiter) > len(names):
        raise too_many_cells
    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=delimiter, skip_blank_lines=True, low_memory=False, skipinitialspace=True
        )
    except pd.errors.EmptyDataError:
        raise TableError("The file has no columns: put a row of column names on top.") from None
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found:
            raise TableError(
                f"Line {found[2]} has {found[3]} cells where the first row has {found[1]} names: is a comma inside a "
                "text that is not in quotes?"
            ) from None
        raise TableError("A quotation mark is opened and never closed: check the texts in quotes.") from None
    except (ValueError, OverflowError):
        raise TableError("The file could not be read as CSV: save the table anew as CSV in UTF-8.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise too_many_cells
    frame = frame.rename(columns=lambda column: str(column).strip())
    return (frame, []) if delimiter == "," else _with_decimal_commas(frame)


def _cells_of_first_row(text: str, delimiter: str) -> int:
    """Cells of the row below the names: what it has too many of, pandas takes for an index, at any price."""
    lines = re.finditer(r"[^\r\n]+", text)
    next(lines, None)
    most = 0
    for line in lines:
        if line.group().count(delimiter) > MAX_COLUMNS * MAX_TEXT:
            return MAX_COLUMNS * MAX_TEXT
        try:
            most = max(most, len(next(csv.reader([line.group()], delimiter=delimiter), [])))
        except csv.Error:  # a very long cell, which is told as such
            return most
        if line.group().strip():
            break
    return most


def _with_decimal_commas(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Texts like 67,8 as numbers, as spreadsheets write them in many countries."""
    read = {}
    for name in frame.columns:
        values = frame[name]
        if pd.api.types.is_numeric_dtype(values.dtype):
            continue
        codes, levels = pd.factorize(values)  # few different texts among many rows: look at each once
        texts = pd.Series(levels).astype(str)
        numbers = texts.map(lambda text: number_in(text, ","))
        known = codes[codes >= 0]
        if texts.str.fullmatch(r"\s*[+-]?\d+,\d+\s*").any() and numbers.notna().to_numpy()[known].mean() >= 0.8:
            new = numbers if numbers.notna().all() else texts  # as they are: what reads them knows of the comma
            read[name] = new.reindex(codes).to_numpy()
    names = ", ".join(short(name) for name in list(read)[:5]) + (" …" if len(read) > 5 else "")
    frame.attrs["decimal_commas"] = list(read)  # for the contract of raw rows, commod.datasets.raw
    return frame.assign(**read), [f"Read with a decimal comma: {names}."] if read else []


# ---- Parquet ----


def _read_parquet(content: bytes) -> pd.DataFrame:
    table = unpack_apart(content)
    try:
        return table.to_pandas(ignore_metadata=True, strings_to_categorical=True, date_as_object=False)
    except (pa.ArrowException, ValueError, MemoryError, OverflowError):
        raise damaged() from None


# ---- what both are checked for ----


def _checked(frame: pd.DataFrame, notices: list[str]) -> ReadTable:
    check_size(len(frame), len(frame.columns))
    if len(frame) == 0:
        raise TableError("The file has column names but no rows: add a row for each person.")
    if len(frame.columns) < 3:
        raise TableError(
            f"The table has {len(frame.columns)} column(s); an outcome, a sensitive attribute and at least one feature "
            "are needed. Are the cells parted by comma, semicolon or tab?"
        )
    columns = {}
    formulas = []
    for name in frame.columns:
        values = frame[name]
        if pd.api.types.is_datetime64_any_dtype(values.dtype):
            codes, days = pd.factorize(values)
            values = pd.Series(pd.Categorical.from_codes(codes, pd.Index(days.astype(str))))
        elif isinstance(values.dtype, pd.CategoricalDtype):
            if not pd.api.types.is_string_dtype(values.cat.categories.dtype):
                values = values.astype(values.cat.categories.dtype)
        elif values.dtype == object:
            values = _plain_objects(values)
        if not pd.api.types.is_numeric_dtype(values.dtype):
            distinct = values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values.dropna()
            texts = pd.Series(distinct).astype(str)
            if len(texts) and int(texts.str.len().max()) > MAX_TEXT:
                raise TableError(
                    f"Column “{short(name)}” holds texts of more than {MAX_TEXT:,} letters: leave it out, or give it "
                    "short levels."
                )
            if texts.str.match(r"^[=@]|^[+-][A-Za-z(]").any():
                formulas.append(short(name))
        columns[name] = values
    if formulas:
        notices = [
            *notices,
            f"Cells of {', '.join(formulas[:3])} begin like formulas: they are taken as text and never evaluated.",
        ]
    checked = pd.DataFrame(columns)
    checked.attrs = frame.attrs
    return ReadTable(checked, tuple(notices))


def _plain_objects(values: pd.Series) -> pd.Series:
    """Decimals and dates as numbers and texts."""
    if pd.api.types.infer_dtype(values, skipna=True) == "boolean":  # with gaps; as numbers they would be 0 and 1
        return values.where(values.isna(), values.astype(str))
    try:
        try:
            return values.astype(float)
        except OverflowError:  # a whole number of hundreds of digits: infinite, which is told later
            return values.map(lambda value: float(str(value)), na_action="ignore").astype(float)
    except (TypeError, ValueError):
        return values.where(values.isna(), values.astype(str)).replace({np.nan: None})
