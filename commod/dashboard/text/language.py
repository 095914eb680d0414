"""What is said in more than one language: phrases by name, numbers as they are written there."""

import tomllib
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Any

# As its speakers call it. Each has a file of phrases in words/, the first one all of them.
LANGUAGES = {"en": "English", "fr": "Français"}
FIRST = "en"
# The table of what is declared in English elsewhere: all but the first language have it.
DECLARED = "declared"
_THIN_SPACE = "\u202f"  # that no line is broken at
_IN_FRENCH = str.maketrans({",": _THIN_SPACE, ".": ",", "%": f"{_THIN_SPACE}%"})


class _NumbersOf(Formatter):
    """Fills texts in; a number is written as its format says, in the way of a language."""

    def __init__(self, language: str) -> None:
        self._marks = _IN_FRENCH if language == "fr" else {}

    def format_field(self, value: Any, format_spec: str) -> Any:
        written = format(value, format_spec)
        return written if isinstance(value, str) else written.translate(self._marks)


def fill(language: str, text: str, /, **values: Any) -> str:
    """A text with its fields filled in, numbers as they are written in that language."""
    return _NumbersOf(language).format(text, **values)


def written(language: str, number: str) -> str:
    """A number that is written in the English way, in that of a language."""
    return number.translate(_IN_FRENCH) if language == "fr" else number


def phrase(language: str, name: str, /, **values: Any) -> str:
    """A phrase of words/, by its table and name in there (``"explore.title"``), with its fields filled in."""
    return fill(language, phrases(language)[name], **values)


def declared(language: str, text: str) -> str:
    """What is declared in English where it belongs (a data set, a figure, a control), in a language.

    The English words are the names of the table ``declared``; a text that has none there stays as it is.
    """
    return phrases(language).get(f"{DECLARED}.{text}", text)


@lru_cache(maxsize=len(LANGUAGES))
def phrases(language: str) -> dict[str, str]:
    """All phrases of a language."""
    tables = tomllib.loads((Path(__file__).parent / "words" / f"{language}.toml").read_text(encoding="utf-8"))
    return {f"{table}.{name}": text for table, texts in tables.items() for name, text in texts.items()}
