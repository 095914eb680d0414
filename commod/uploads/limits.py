"""Limits on the size of a table and the names of its columns, with a sentence for each error."""

from pathlib import Path

from commod.wording import first_of

# The suffixes of files that can be read.
FILE_TYPES = (".csv", ".tsv", ".txt", ".gz", ".xlsx", ".parquet")
MAX_BYTES = 50 * 1024 * 1024
MAX_ROWS = 300_000
MAX_COLUMNS = 200
MAX_CELLS = 20_000_000
# The longest text of a cell.
MAX_TEXT = 2_000


# Key of `DataFrame.attrs`: the columns whose numbers had a decimal comma in the file, as later raw rows will.
DECIMAL_COMMAS = "decimal_commas"


class TableError(ValueError):
    """What is wrong with a file and what to do, in a sentence."""


def content_of(path: Path, what: str) -> bytes:
    """The bytes of a file, by its path."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise TableError(f"{path} cannot be read ({error.strerror}): give the path of {what}.") from None


def check_size(rows: int, columns: int) -> None:
    """Refuse a table that is too large."""
    if columns > MAX_COLUMNS:
        raise TableError(f"The table has {columns:,} columns; at most {MAX_COLUMNS} can be used: leave some out.")
    if rows > MAX_ROWS:
        raise TableError(f"The table has {rows:,} rows; at most {MAX_ROWS:,} can be used: upload a random sample.")
    if rows * columns > MAX_CELLS:
        cells, most = rows * columns / 1e6, MAX_CELLS // 10**6
        raise TableError(f"The table has {cells:,.0f} million cells; at most {most} fit: leave out rows or columns.")


# The notice about a title above the column names, in a spreadsheet or a CSV.
TITLES = "Title rows above the column names are left out: {}."


def count_of(count: int, thing: str, things: str = "") -> str:
    """A count with its noun: "1 row", "1,200 rows"; `things` is an irregular plural."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def short(text: object, most: int = 40) -> str:
    """The beginning of a text; characters that cannot be printed become �."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in str(text)[: most + 1])
    return shown if len(shown) <= most else shown[:most] + "…"


def sound_names(names: list[str]) -> tuple[list[str], list[str]]:
    """Column names that are unique and not empty, and notices about what was changed."""
    if any(len(name) > 200 for name in names):
        raise TableError("A column's name has more than 200 letters: is the first row really a row of names?")
    taken = set(names)
    found: list[str] = []
    nameless: list[str] = []
    twice: list[str] = []
    for place, name in enumerate(names, start=1):
        new = name or f"column {place}"
        if name and name not in found:
            found.append(name)
            continue
        count = 2
        while new in taken or new in found:
            new, count = f"{name or f'column {place}'} ({count})", count + 1
        found.append(new)
        (twice if name else nameless).append(f"“{short(new)}”")
    notices = []
    if nameless:
        notices.append(f"Columns without a name are called {first_of(nameless, 3)}.")
    if twice:
        notices.append(f"Columns of the same name are now told apart: {first_of(twice, 3)}.")
    return found, notices
