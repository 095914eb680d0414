"""The words of the app, from one file: ``glossary.toml`` feeds all tooltips, the Lesson and the page Words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path

from commod.dashboard.text.escape import bold


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


_WORD = re.compile(r"\[\[(\w+)(?:\|([^\]]+))?\]\]")
_STYLE = """
<style>
.cx-said { margin: 0 0 .7rem; max-width: 46rem; position: relative; }
.cx-word { font-style: normal; text-decoration: underline dotted; text-underline-offset: .2em; cursor: help;
  white-space: nowrap; }
.cx-word > span { position: absolute; left: 0; width: fit-content; max-width: min(100%, 26rem); margin-top: 1.7rem;
  padding: .5rem .7rem; border-radius: .4rem; z-index: 9; font-size: .875rem; line-height: 1.35; visibility: hidden;
  white-space: normal;
  background: #22262d; color: #ffffff; border: 1px solid #6b7280; }
.cx-word:hover > span, .cx-word:focus > span { visibility: visible; }
</style>
"""


def with_tooltips(paragraphs: Sequence[str]) -> str:
    """Paragraphs as HTML in which ``[[name]]`` is a word with its explanation, to be pointed at or tabbed to."""

    def one(match: re.Match[str]) -> str:
        known = word(match[1])
        shown = match[2] or escape(known.title)
        return f'<dfn class="cx-word" tabindex="0">{shown}<span role="tooltip">{escape(known.tip)}</span></dfn>'

    said = []
    for text in paragraphs:
        said.append(f'<p class="cx-said">{_WORD.sub(one, bold(text))}</p>')
    return _STYLE + "".join(said)


def without_tooltips(text: str) -> str:
    """The text with words as they are read."""
    return _WORD.sub(lambda match: match[2] or word(match[1]).title, text)
