"""Small things that sentences need, wherever they are written; it imports nothing of ours."""

from collections.abc import Iterable, Sequence


def with_capital(text: str) -> str:
    """The text with its first letter made a capital, and all others as they are."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str]) -> str:
    """Names in a row: "COMMOD, LPP and FRAPPE"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def some_of(texts: Sequence[str], most: int = 5) -> str:
    """The first of some texts in a row: "a, b, c …"."""
    return ", ".join(texts[:most]) + (" …" if len(texts) > most else "")


def first_of(texts: Sequence[str], most: int) -> str:
    """The first of some texts, and how many there are besides: "a, b and 3 more"."""
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")
