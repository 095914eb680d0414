"""The words of the app, from one file: ``glossary.toml`` feeds all tooltips, the Lesson and the page Words."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["Word", "chapters", "tip", "word"]


@dataclass(frozen=True)
class Word:
    """A word, what it means in a sentence or two, and what else the page Words says of it."""

    title: str
    chapter: str
    tip: str
    more: str = ""


@lru_cache(maxsize=1)
def _file() -> tuple[dict[str, Word], dict[str, str]]:
    with Path(__file__).with_suffix(".toml").open("rb") as file:
        content = tomllib.load(file)
    return {name: Word(**entry) for name, entry in content["word"].items()}, content["hint"]


def word(name: str) -> Word:
    """A word of the glossary."""
    return _file()[0][name]


def tip(name: str, **values: object) -> str:
    """The tooltip of a word or a control, its gaps filled in."""
    words, hints = _file()
    text = words[name].tip if name in words else hints[name]
    return text.format(**values) if values else text


def chapters() -> dict[str, list[Word]]:
    """The words by chapter, in the order of the file."""
    found: dict[str, list[Word]] = {}
    for each in _file()[0].values():
        found.setdefault(each.chapter, []).append(each)
    return found
