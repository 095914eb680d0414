"""A table out of a file that somebody uploads: CSV or Parquet, checked before it is unpacked, never evaluated."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from commod.datasets.parquet_pages import unpacked_size

__all__ = ["MOST_BYTES", "MOST_CELLS", "MOST_COLUMNS", "MOST_ROWS", "ReadTable", "TableError", "read_table", "short"]

MOST_BYTES = 50 * 1024 * 1024
MOST_ROWS = 300_000
MOST_COLUMNS = 200
MOST_CELLS = 20_000_000
# What a Parquet file may hold once it is unpacked, the description at its end, the parts it may be cut into, and the
# longest text of a cell.
MOST_UNPACKED = 256 * 1024**2
MOST_FOOTER = 2 * 1024**2
MOST_GROUPS = 2_000
MOST_TEXT = 2_000
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


class TableError(ValueError):
    """What is wrong with a file, in a sentence that says what to do."""


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
    if len(content) > MOST_BYTES:
        raise TableError(
            f"The file has {len(content) / 2**20:,.0f} MB; at most {MOST_BYTES // 2**20} MB can be used: take a sample "
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
    _check_size(max(whole.count("\n"), whole.count("\r")), n_columns)  # without the row of names
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
    _check_names(names)
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
        if line.group().count(delimiter) > MOST_COLUMNS * MOST_TEXT:
            return MOST_COLUMNS * MOST_TEXT
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
        dots = texts.str.replace(",", ".", regex=False)
        numbers = pd.to_numeric(dots, errors="coerce")
        known = codes[codes >= 0]
        if texts.str.fullmatch(r"\s*[+-]?\d+,\d+\s*").any() and numbers.notna().to_numpy()[known].mean() >= 0.8:
            new = numbers if numbers.notna().all() else dots.astype(object)
            read[name] = new.reindex(codes).to_numpy()
    names = ", ".join(short(name) for name in list(read)[:5]) + (" …" if len(read) > 5 else "")
    return frame.assign(**read), [f"Read with a decimal comma: {names}."] if read else []


# ---- Parquet ----


def _read_parquet(content: bytes) -> pd.DataFrame:
    damaged = TableError("The Parquet file is damaged or cut off: write it anew.")
    in_parts = TableError("The Parquet file is cut into too many parts: write it anew, with large row groups.")
    footer = int.from_bytes(content[-8:-4], "little")
    if footer > len(content) or content[-4:] != b"PAR1":
        raise damaged
    if footer > MOST_FOOTER:
        raise in_parts
    try:
        file = pq.ParquetFile(io.BytesIO(content), thrift_container_size_limit=10_000)
        meta, schema = file.metadata, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):
        raise damaged from None
    _check_size(meta.num_rows, len(schema.names))
    if meta.num_row_groups > MOST_GROUPS:
        raise in_parts
    _check_names(list(schema.names))
    for entry in schema:
        if not _is_plain(entry.type):
            raise TableError(
                f"Column “{short(entry.name)}” holds {short(entry.type)} and not one value a cell: leave it out or "
                "spread it over several columns."
            )
    try:
        unpacked = unpacked_size(content, meta, MOST_UNPACKED)
    except (ValueError, IndexError, pa.ArrowException, OSError):
        raise damaged from None
    if unpacked > MOST_UNPACKED:
        raise TableError(
            f"The file unpacks to more than {MOST_UNPACKED // 2**20} MB: that is refused. Write fewer rows or shorter "
            "texts."
        )
    texts = [entry.name for entry in schema if pa.types.is_string(entry.type) or pa.types.is_large_string(entry.type)]
    try:
        # Texts stay as a dictionary: a text repeated in every row is held once, however long it is.
        table = pq.read_table(io.BytesIO(content), read_dictionary=texts, use_threads=False)
        for place, entry in enumerate(table.schema):
            if pa.types.is_decimal(entry.type):
                table = table.set_column(place, entry.name, table.column(place).cast(pa.float64()))
        frame = table.to_pandas(ignore_metadata=True, strings_to_categorical=True, date_as_object=False)
    except (pa.ArrowException, OSError, ValueError, MemoryError, OverflowError):
        raise damaged from None
    return frame


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_decimal,
        pa.types.is_date,
        pa.types.is_timestamp,
    )
    return any(test(kind) for test in tests)


# ---- what both are checked for ----


def _check_size(rows: int, columns: int) -> None:
    if columns > MOST_COLUMNS:
        raise TableError(
            f"The table has {columns:,} columns; at most {MOST_COLUMNS} can be used: leave out those that are not "
            "needed."
        )
    if rows > MOST_ROWS:
        raise TableError(
            f"The table has {rows:,} rows; at most {MOST_ROWS:,} can be used: upload a random sample of them."
        )
    if rows * columns > MOST_CELLS:
        raise TableError(
            f"The table has {rows * columns / 1e6:,.0f} million cells; at most {MOST_CELLS // 10**6} million can be "
            "used: upload a sample of its rows, or leave out columns that are not needed."
        )


def short(text: object, most: int = 40) -> str:
    """The beginning of a text, for a sentence; what cannot be printed is shown as �."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in str(text)[: most + 1])
    return shown if len(shown) <= most else shown[:most] + "…"


def _check_names(names: list[str]) -> None:
    if any(not name for name in names):
        raise TableError(f"Column {names.index('') + 1} has no name: give every column one.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"Two columns are called “{short(twice[0])}”: give every column a name of its own.")
    if any(len(name) > 200 for name in names):
        raise TableError("A column has a name of more than 200 letters: is the first row really a row of names?")


def _checked(frame: pd.DataFrame, notices: list[str]) -> ReadTable:
    _check_size(len(frame), len(frame.columns))
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
            if len(texts) and int(texts.str.len().max()) > MOST_TEXT:
                raise TableError(
                    f"Column “{short(name)}” holds texts of more than {MOST_TEXT:,} letters: leave it out, or give it "
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
    return ReadTable(pd.DataFrame(columns), tuple(notices))


def _plain_objects(values: pd.Series) -> pd.Series:
    """Decimals and dates as numbers and texts."""
    try:
        try:
            return values.astype(float)
        except OverflowError:  # a whole number of hundreds of digits: infinite, which is told later
            return values.map(lambda value: float(str(value)), na_action="ignore").astype(float)
    except (TypeError, ValueError):
        return values.where(values.isna(), values.astype(str)).replace({np.nan: None})
