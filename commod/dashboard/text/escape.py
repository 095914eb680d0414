"""Texts from data, made safe for where they stand: in Markdown, in HTML, in a cell of a spreadsheet."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd
from markupsafe import Markup

# Where a joiner that nobody sees keeps an address from becoming a link, or a name an icon, which no backslash does.
_JOINED = re.compile(r"(?<=www)(?=\.)|(?<=http)(?=s?://)|(?=@)|(?<=:)(?=material/|streamlit:)", re.IGNORECASE)
# What ends in a sign that means something to Markdown: anywhere, or at the start of a line (lists, headings, rules).
_SIGNS = re.compile(r"[\\`*_\[\]$~:#<>|!&]|^\s*[-+=]|^\s*\d+[.)](?=\s|$)", re.MULTILINE)

# What a spreadsheet takes for the start of a formula; it passes over blanks in front of one.
_FORMULA = re.compile(r"((?:^|[;\t\r\n])\s*)([=+@-])")


def escape_markdown(text: object) -> str:
    """A text from the data as it stands, whatever Markdown would make of it (“$50,000 to $60,000” is a formula)."""
    return _SIGNS.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", _JOINED.sub("\u2060", str(text)))


def bold(text: str) -> Markup:
    """A text of ours as HTML, with what stands between two pairs of asterisks in bold."""
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False)))  # nosec B704


def no_formula(value: Any) -> Any:
    """A cell of a table that a spreadsheet does not take for a formula, also one that parts cells by ; or tabs."""
    return _FORMULA.sub(r"\1'\2", value) if isinstance(value, str) else value


def safe_csv(
    frame: pd.DataFrame, headings: Mapping[str, str] | None = None, *, index: str = "", for_spreadsheets: bool = True
) -> bytes:
    """A table as CSV of which no cell starts a formula: a text that would gets a ' in front. Numbers stay as they are.

    `headings`: column to its heading; columns that it leaves out are not written. `index`: heading of the index, which
    is left out without one. `for_spreadsheets`: whether the file begins with a byte-order mark, by which spreadsheets
    know ≤ and “ ”, and its lines end as they expect it; programs read it more easily without.
    """
    names = {name: name for name in frame} if headings is None else headings
    columns = [*([frame.index] if index else []), *(frame[name] for name in names)]
    header = [*([index] if index else []), *(no_formula(heading) for heading in names.values())]
    cells = [
        column.array if pd.api.types.is_numeric_dtype(column.dtype) else [no_formula(value) for value in column]
        for column in columns
    ]
    start, end = ("\ufeff", "\r\n") if for_spreadsheets else ("", "\n")
    text: str = pd.DataFrame(dict(enumerate(cells))).to_csv(index=False, header=header, lineterminator=end)
    return (start + text).encode()
