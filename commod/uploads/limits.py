"""How large a table may be and what its columns may be called, with a sentence for each way to be wrong."""

from __future__ import annotations

__all__ = [
    "MAX_BYTES",
    "MAX_CELLS",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "MAX_TEXT",
    "TableError",
    "check_names",
    "check_size",
    "short",
]

MAX_BYTES = 50 * 1024 * 1024
MAX_ROWS = 300_000
MAX_COLUMNS = 200
MAX_CELLS = 20_000_000
# The longest text of a cell.
MAX_TEXT = 2_000


class TableError(ValueError):
    """What is wrong with a file, in a sentence that says what to do."""


def check_size(rows: int, columns: int) -> None:
    """Refuse a table that is too large."""
    if columns > MAX_COLUMNS:
        raise TableError(
            f"The table has {columns:,} columns; at most {MAX_COLUMNS} can be used: leave out those that are not "
            "needed."
        )
    if rows > MAX_ROWS:
        raise TableError(
            f"The table has {rows:,} rows; at most {MAX_ROWS:,} can be used: upload a random sample of them."
        )
    if rows * columns > MAX_CELLS:
        raise TableError(
            f"The table has {rows * columns / 1e6:,.0f} million cells; at most {MAX_CELLS // 10**6} million can be "
            "used: upload a sample of its rows, or leave out columns that are not needed."
        )


def short(text: object, most: int = 40) -> str:
    """The beginning of a text, for a sentence; what cannot be printed is shown as �."""
    shown = "".join(letter if letter.isprintable() else "�" for letter in str(text)[: most + 1])
    return shown if len(shown) <= most else shown[:most] + "…"


def check_names(names: list[str]) -> None:
    """Refuse names that are missing, twice there or endless."""
    if any(not name for name in names):
        raise TableError(f"Column {names.index('') + 1} has no name: give every column one.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"Two columns are called “{short(twice[0])}”: give every column a name of its own.")
    if any(len(name) > 200 for name in names):
        raise TableError("A column has a name of more than 200 letters: is the first row really a row of names?")
