"""Texts from data, made safe for where they stand: in Markdown, in HTML, in a cell of a spreadsheet."""

from __future__ import annotations

import re
from html import escape
from typing import Any

# Where a joiner that nobody sees keeps an address from becoming a link, which no backslash does.
_LINKS = re.compile(r"(?<=www)(?=\.)|(?<=http)(?=s?://)|(?=@)", re.IGNORECASE)


def escape_markdown(text: object) -> str:
    """A text from the data as it stands, whatever Markdown would make of it (“$50,000 to $60,000” is a formula)."""
    unlinked = _LINKS.sub("\u2060", str(text))
    return re.sub(r"([\\`*_\[\]$~:#<>|!])", r"\\\1", unlinked)


def bold(text: str) -> str:
    """A text of ours as HTML, with what stands between two pairs of asterisks in bold."""
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False))


def no_formula(value: Any) -> Any:
    """A cell of a table that a spreadsheet does not take for a formula; it passes over blanks in front of one."""
    return f"'{value}" if isinstance(value, str) and value.lstrip().startswith(("=", "+", "-", "@")) else value
