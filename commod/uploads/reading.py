"""Read a table from an uploaded file: CSV, Excel or Parquet. Nothing in it is ever evaluated."""

import csv
import io
import re
import zlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from commod.cells import number_in
from commod.uploads.limits import (
    DECIMAL_COMMAS,
    MAX_BYTES,
    MAX_COLUMNS,
    MAX_TEXT,
    TITLES,
    TableError,
    check_size,
    count_of,
    short,
    sound_names,
)
from commod.uploads.parquet import damaged, unpack_apart
from commod.uploads.workbook import unpack_workbook_apart
from commod.wording import some_of

DELIMITERS = ",;\t|"
# Words in the last row of a spreadsheet that sums up the others.
_SUMS = re.compile(r"((grand|sub)[ -]?)?(totals?|sums?|summe|gesamt|somme|averages?|mean):?")

# First bytes of files that people upload by mistake.
_BEGINNINGS = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"%PDF", "a PDF document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
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


def read_table(content: bytes) -> ReadTable:
    """Read CSV (comma, semicolon, tab or bar; UTF-8, UTF-16 or Windows-1252; also gzipped), Excel (.xlsx) or Parquet.

    The bytes, not the file name, decide the format. Raises TableError with a sentence that says what is wrong.
    """
    if not content.strip():
        raise TableError("The file is empty: choose one with a row of column names and a row for each person.")
    if len(content) > MAX_BYTES:
        size, most = len(content) / 2**20, MAX_BYTES // 2**20
        raise TableError(f"The file has {size:,.0f} MB; at most {most} can be used: take a sample, or save as Parquet.")
    if content[:4] == b"PAR1":
        return _checked(_to_pandas(unpack_apart(content)), [])
    if content[:4] == b"PK\x03\x04":
        table, notices = unpack_workbook_apart(content)
        return _checked(_to_pandas(table), notices)
    if content[:4] == b"\xd0\xcf\x11\xe0":
        raise TableError(
            "The file is an old Excel workbook (.xls), or one with a password: open it in a spreadsheet program and "
            "save it as .xlsx without a password, or as CSV in UTF-8."
        )
    if content[:2] == b"\x1f\x8b":
        content = _unzipped(content)
    for beginning, what in _BEGINNINGS:
        if content.startswith(beginning):
            raise TableError(
                f"The file is {what}, whatever its name says: save the table as CSV (in a spreadsheet: Save as, CSV "
                "UTF-8), as .xlsx or as Parquet."
            )
    text, notices = _decoded(content)
    text, titles = _without_titles(text)
    frame, more = _read_csv(text)
    return _checked(frame, notices + titles + more)


def _unzipped(content: bytes) -> bytes:
    unpacked = bytearray()
    try:
        while content:  # an archive may have several parts
            part = zlib.decompressobj(wbits=31)
            unpacked += part.decompress(content, MAX_BYTES + 1 - len(unpacked))
            if len(unpacked) > MAX_BYTES:
                most = MAX_BYTES // 2**20
                raise TableError(f"The file unpacks to more than {most} MB: take a sample, or save it as Parquet.")
            if not part.eof:
                raise zlib.error("cut off")
            content = part.unused_data
    except zlib.error:
        raise TableError("The gzip archive is damaged or cut off: pack the CSV again, or upload it as it is.") from None
    return bytes(unpacked)


# ---- CSV ----


def _decoded(content: bytes) -> tuple[str, list[str]]:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or content[:4] == b"\x00\x00\xfe\xff":
        encoding = "utf-32" if b"\x00\x00" in content[:4] else "utf-16"
        try:
            return content.decode(encoding), []
        except UnicodeDecodeError:
            raise TableError(f"The file begins like {encoding.upper()} but is not: save it as CSV in UTF-8.") from None
    if b"\x00" in content:
        raise TableError("The file is not text, so it is not CSV: save the table as CSV in UTF-8, or as Parquet.")
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


def _without_titles(text: str) -> tuple[str, list[str]]:
    """The text without the title lines above the column names (lines with one cell), and a notice about them."""
    *lines, _ = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text[:20_000], maxsplit=10)
    mark = max(DELIMITERS, key="".join(lines).count)
    cells = [sum(bool(cell.strip(' "')) for cell in line.split(mark)) for line in map(str.strip, lines)]
    above = next((place for place, count in enumerate(cells) if count > 1), 0)
    if not any(cells[:above]) or cells[above] < 3:
        return text, []
    return "\n" * above + text[len("".join(lines[:above])) :], [TITLES.format(above)]


def _read_csv(text: str) -> tuple[pd.DataFrame, list[str]]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # pandas before 3.1 may never end where both kinds meet
    first = text.lstrip("\n").partition("\n")[0][:1_000_000]
    delimiter = max(DELIMITERS, key=first.count)
    n_columns = first.count(delimiter) + 1
    check_size(text.rstrip("\n").count("\n"), n_columns)  # without the row of names
    no_names = TableError("The first row does not hold column names: save the table again as CSV in UTF-8.")
    try:
        header = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        raise no_names from None
    if first.count('"') % 2:  # a name that continues on the next line
        raise no_names
    names = [column.strip() for column in header]
    if len(names) > 1 and all(re.fullmatch(r"-?[\d.]+([eE]-?\d+)?|", name) for name in names):
        shown = ", ".join(short(name) for name in names[:4])
        raise TableError(f"The first row ({shown} …) looks like data, not names: put a row of column names above.")
    start = re.compile(r"\n*[^\n]*").match(text).end()  # type: ignore[union-attr]
    cells = _first_row(text, start, delimiter)
    if len(cells) == len(names) + 1:  # a mark at the end of each row, or names of rows, as R writes them
        names = [*names, ""] if not cells[-1].strip() else ["", *names]
    if len(cells) == len(names) == 1 and len(cells[0].split()) >= 3:
        raise TableError("The cells are separated by spaces: use commas instead, and add a row of column names on top.")
    too_many_cells = TableError("The rows have more cells than the first row has names: give every column a name.")
    if len(cells) > len(names):
        raise too_many_cells
    rows = io.StringIO(text)
    rows.seek(start)
    try:
        frame = pd.read_csv(
            rows,
            sep=delimiter,
            header=None,
            names=range(len(names)),
            skip_blank_lines=True,
            low_memory=False,
            skipinitialspace=True,
        )
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame(columns=range(len(names)))
    except pd.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found:
            line = int(found[2]) + text[:start].count("\n")
            sentence = f"Line {line} has {found[3]} cells where the first row has {found[1]} names"
            raise TableError(f"{sentence}: is a comma inside a text that is not in quotes?") from None
        raise TableError("A quotation mark is opened and never closed: check the texts in quotes.") from None
    except (ValueError, OverflowError):
        raise TableError("The file could not be read as CSV: save the table again as CSV in UTF-8.") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise too_many_cells
    frame.columns = pd.Index(names)
    return (frame, []) if delimiter == "," else _with_decimal_commas(frame)


def _first_row(text: str, start: int, delimiter: str) -> list[str]:
    """Cells of the first data row. pandas would take extra cells for an index."""
    cells: list[str] = []
    for line in re.compile(r"[^\n]+").finditer(text, start):
        if line.group().count(delimiter) > MAX_COLUMNS * MAX_TEXT:
            return [""] * (MAX_COLUMNS * MAX_TEXT)
        try:
            cells = next(csv.reader([line.group()], delimiter=delimiter, skipinitialspace=True), [])
        except csv.Error:  # a cell that is too long, which is reported later
            return []
        if line.group().strip():
            break
    return cells


def _with_decimal_commas(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Convert texts like 67,8 to numbers."""
    columns = [frame.iloc[:, place] for place in range(len(frame.columns))]  # names may repeat
    read = []
    for place, values in enumerate(columns):
        if pd.api.types.is_numeric_dtype(values.dtype):
            continue
        codes, levels = pd.factorize(values)  # read each distinct text once
        texts = pd.Series(levels).astype(str)
        numbers = texts.map(lambda text: number_in(text, ","))
        known = codes[codes >= 0]
        if texts.str.fullmatch(r"\s*[+-]?\d+,\d+\s*").any() and numbers.notna().to_numpy()[known].mean() >= 0.8:
            new = numbers if numbers.notna().all() else texts  # texts stay: `number_in` knows the comma
            columns[place] = pd.Series(new.reindex(codes).to_numpy(), name=values.name)
            read.append(place)
    names = some_of([short(frame.columns[place]) for place in read])
    joined = pd.concat(columns, axis=1)
    joined.attrs[DECIMAL_COMMAS] = read
    return joined, [f"Read with a decimal comma: {names}."] if read else []


# ---- Excel and Parquet ----


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    try:
        return table.to_pandas(ignore_metadata=True, strings_to_categorical=True, date_as_object=False)
    except (pa.ArrowException, ValueError, MemoryError, OverflowError):
        raise damaged() from None


# ---- what all are checked for ----


def _named(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Give every column a unique name; drop nameless columns that are empty or number the rows."""
    # Two ways in which pandas writes what has no name.
    names = [re.sub(r"^(Unnamed: \d+|__index_level_\d+__)$", "", str(name).strip()) for name in frame.columns]
    nameless = [place for place, name in enumerate(names) if not name]
    whole = [place for place in nameless if pd.api.types.is_integer_dtype(frame.iloc[:, place].dtype)]
    numbering = [place for place in whole if len(frame) > 1 and frame.iloc[:, place].is_unique]
    empty = [place for place in nameless if frame.iloc[:, place].isna().all()]
    notices = []
    if numbering:
        notices.append("A column without a name that numbers the rows is left out.")
    if empty:
        notices.append(f"Columns without a name and without a value are left out: {len(empty)}.")
    keep = [place for place in range(len(names)) if place not in (*numbering, *empty)]
    sound, more = sound_names([names[place] for place in keep])
    named = frame.iloc[:, keep].set_axis(sound, axis=1)
    commas = frame.attrs.get(DECIMAL_COMMAS, ())
    named.attrs = {DECIMAL_COMMAS: [name for place, name in zip(keep, sound, strict=True) if place in commas]}
    return named, notices + more


def _rows_of_people(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table without empty rows and without a last row of sums, and notices about them."""
    empty = frame.isna().all(axis=1)
    rows, notices = frame[~empty], [f"{count_of(int(empty.sum()), 'empty row')} left out."] * bool(empty.any())
    for place, cell in enumerate(rows.iloc[-1] if len(rows) > 1 else ()):
        if _SUMS.fullmatch(str(cell).strip().casefold()) and not (rows.iloc[:-1, place] == cell).any():
            notices.append(f"The last row, “{short(cell)}”, is left out: it sums up the others.")
            rows = rows.iloc[:-1]
            break
    return (rows.reset_index(drop=True), notices) if notices else (frame, [])


def _checked(frame: pd.DataFrame, notices: list[str]) -> ReadTable:
    frame, cut = _rows_of_people(frame)
    frame, more = _named(frame)
    notices = notices + cut + more
    check_size(len(frame), len(frame.columns))
    if len(frame) == 0:
        raise TableError("The file has column names but no rows: add a row for each person.")
    if len(frame.columns) < 3:
        raise TableError(
            f"The table has {len(frame.columns)} column(s); an outcome, a sensitive attribute and at least one feature "
            "are needed. Are the cells separated by comma, semicolon or tab?"
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
                most = f"{MAX_TEXT:,} letters"
                raise TableError(f"Column “{short(name)}” holds texts of more than {most}: shorten or drop them.")
            if texts.str.match(r"^[=@]|^[+-][A-Za-z(]").any():
                formulas.append(short(name))
        columns[name] = values
    if formulas:
        some = ", ".join(formulas[:3])
        notices.append(f"Cells of {some} begin like formulas: they are taken as text and never evaluated.")
    checked = pd.DataFrame(columns)
    checked.attrs = frame.attrs
    return ReadTable(checked, tuple(notices))


def _plain_objects(values: pd.Series) -> pd.Series:
    """Convert decimals and dates to numbers and texts."""
    if pd.api.types.infer_dtype(values, skipna=True) == "boolean":  # with gaps; as numbers they would be 0 and 1
        return values.where(values.isna(), values.astype(str))
    try:
        try:
            return values.astype(float)
        except OverflowError:  # a whole number of hundreds of digits: infinite, which is told later
            return values.map(lambda value: float(str(value)), na_action="ignore").astype(float)
    except (TypeError, ValueError):
        return values.where(values.isna(), values.astype(str)).replace({np.nan: None})
