"""The words of the app: those of ``glossary.toml``, and every figure and every check as they are declared."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from unicodedata import combining, normalize

from markupsafe import Markup

from commod.dashboard.text.escape import bold
from commod.dashboard.text.html import idea, piece, style
from commod.dashboard.text.language import FIRST, LANGUAGES, declared
from commod.explain.checks import CHECKS
from commod.metrics.figures import FIGURES


@dataclass(frozen=True)
class Word:
    """A word, what it means in a sentence or two, and what else the page Glossary says of it."""

    title: str
    chapter: str
    tip: str
    more: str = ""


@lru_cache(maxsize=len(LANGUAGES))
def _file(language: str = FIRST) -> dict[str, dict[str, Any]]:
    """Words, hints, and pictures. Other languages have a file each, with an entry for figures and checks, too."""
    suffix = ".toml" if language == FIRST else f".{language}.toml"
    return tomllib.loads(Path(__file__).with_suffix(suffix).read_text(encoding="utf-8"))


def words(language: str = FIRST) -> dict[str, Word]:
    """All words by name, figures first; one that is part of another figure, or of each group, is no word by itself."""
    if language != FIRST:
        there = _file(language)["word"]
        own = {
            name: {"chapter": declared(language, word.chapter)} | there.get(name, {}) for name, word in words().items()
        }
        return {name: replace(word, **own[name]) for name, word in words().items()}
    more = _file()["figure"]
    figures = {
        figure.name: replace(Word(figure.title, "Figures", figure.meaning), **more.get(figure.name, {}))
        for figure in FIGURES.values()
        if not figure.title.startswith("…") and not figure.by_group
    }
    checks = {
        f"check_{check.name}": Word(check.short, "Do the changes make sense", check.meaning, check.bounds)
        for check in CHECKS.values()
    }
    return figures | {name: Word(**entry) for name, entry in _file()["word"].items()} | checks


def tip(name: str, language: str = FIRST, *, update: str = "", **values: object) -> str:
    """The tooltip of a figure, a word or a control, its gaps filled in; that of a form of the update, if it has one."""
    known, hints = _file(language)["word"], _file(language)["hint"]
    name = f"{name}_{update}" if f"{name}_{update}" in hints else name
    text = known[name]["tip"] if name in known else hints[name] if name in hints else FIGURES[name].meaning
    return text.format(**values) if values else text


def picture(name: str) -> str:
    """The picture of a word in Markdown, in front of what is said of it; empty if it has none."""
    pictures = _file()["picture"]
    return f"![]({idea(pictures[name])})\n\n" if name in pictures else ""


def chapters(language: str = FIRST) -> dict[str, dict[str, Word]]:
    """The words by chapter, in the order of the file, and by name."""
    known = words(language)
    found: dict[str, dict[str, Word]] = {known[name].chapter: {} for name in _file()["word"]}
    for name, word in known.items():
        found[word.chapter][name] = word
    return found


def search(asked: str, language: str = FIRST) -> list[str]:
    """Names of the words in which one begins as asked, accents aside: first those in whose title one does."""

    def plain(text: str) -> str:
        text = normalize("NFD", text.casefold()).replace("λ", "lambda")
        return re.sub(r"[-_]", " ", "".join(char for char in text if not combining(char)))

    known, begins = words(language), re.compile(rf"(?<!\w){re.escape(plain(asked.strip()))}")
    found = [name for name, word in known.items() if begins.search(plain(f"{word.title} {word.tip} {word.more}"))]
    return sorted(found, key=lambda name: not begins.search(plain(known[name].title)))


_WORD = re.compile(r"\[\[(\w+)(?:\|([^\]]+))?\]\]")


def with_tooltips(paragraphs: Sequence[str], language: str = FIRST) -> Markup:
    """Paragraphs as HTML in which ``[[name]]`` is a word with its explanation, to be pointed at or tabbed to."""
    known = words(language)

    def one(match: re.Match[str]) -> Markup:
        word = known[match[1]]
        return piece("tooltip", Markup(match[2]) if match[2] else word.title, word.tip)  # nosec B704

    return style("tooltips") + piece("paragraphs", [Markup(_WORD.sub(one, bold(text))) for text in paragraphs])  # nosec B704


def words_in(text: str) -> list[str]:
    """Names of the words that a text explains."""
    return [match[1] for match in _WORD.finditer(text)]


def without_tooltips(text: str) -> str:
    """The text with words as they are read."""
    known = words()
    return _WORD.sub(lambda match: match[2] or known[match[1]].title, text)
