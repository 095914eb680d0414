"""What is said in more than one language: phrases by name, numbers as they are written there."""

import re
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
# A number by itself, what else may be in a gap, a gap in a pattern, and where a sentence ends.
_NUMBER = re.compile(r"[<>]?[+−-]?[\d,]*\.?\d+%?")
_TEXT = r"(?=\S)(?:“[^”]*”|[^“”])+?(?<=\S)"
_GAP = re.compile(r"\\{(\w+)\\}")
_END = re.compile(r"(?<=[.!?]) (?=[A-Z“\d]|[fgk] |f's )")
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
    """A number that is written in the English way, or an interval, in that of a language."""
    return number.replace(", ", "\xa0; ").translate(_IN_FRENCH) if language == "fr" else number


def phrase(language: str, name: str, /, **values: Any) -> str:
    """A phrase of words/, by its table and name in there (``"explore.title"``), with its fields filled in."""
    return fill(language, phrases(language)[name], **values)


def declared(language: str, text: str) -> str:
    """What is declared in English where it belongs (a data set, a figure, a control), in a language.

    The English words are the names of the table ``declared``, those with gaps in braces for all that fits; what is in
    a gap is said in that language, too. A text that has none there stays as it is.
    """
    if language == FIRST or not text:
        return text
    known = phrases(language)
    for name in (text, text[0].upper() + text[1:]):
        if found := known.get(f"{DECLARED}.{name}"):
            return found if name == text else found[0].lower() + found[1:]
    if _NUMBER.fullmatch(text):
        return written(language, text)
    if len(sentences := _END.split(text)) > 1:
        return " ".join(declared(language, sentence) for sentence in sentences)
    for pattern, said in _patterns(language):
        if fits := pattern.fullmatch(text):
            return said.format(**{name: declared(language, part) for name, part in fits.groupdict().items()})
    return text


@lru_cache(maxsize=len(LANGUAGES))
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Texts of the table ``declared`` that have gaps, in its order; a gap called n, or n with a digit, is a number."""

    def gap(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{_NUMBER.pattern if re.fullmatch('n[0-9]*', found[1]) else _TEXT})"

    known = ((name.removeprefix(f"{DECLARED}."), said) for name, said in phrases(language).items())
    return [(re.compile(_GAP.sub(gap, re.escape(name))), said) for name, said in known if "{" in name]


@lru_cache(maxsize=len(LANGUAGES))
def phrases(language: str) -> dict[str, str]:
    """All phrases of a language."""
    tables = tomllib.loads((Path(__file__).parent / "words" / f"{language}.toml").read_text(encoding="utf-8"))
    return {f"{table}.{name}": text for table, texts in tables.items() for name, text in texts.items()}
