"""The words of a page in the language of its session."""

import re
from functools import lru_cache
from html import escape, unescape
from typing import Any

from commod.dashboard.state import session
from commod.dashboard.text import glossary
from commod.dashboard.text.language import FIRST, declared, phrase
from commod.datasets import on_forget


def say(name: str, /, **values: Any) -> str:
    """A phrase of text/words/ in the language of this session."""
    return phrase(session.language(), name, **values)


def say_declared(text: str) -> str:
    """A text that is declared in English where it belongs, in the language of this session."""
    return _declared(session.language(), text)


def say_in_html(html: str) -> str:
    """The same of every text between tags."""

    def say(found: re.Match[str]) -> str:
        if found[0].startswith("<style"):
            return found[0]
        text = unescape(found[0]).strip()
        return found[0].replace(found[0].strip(), escape(said)) if (said := say_declared(text)) != text else found[0]

    return (
        html if session.language() == FIRST else re.sub(r"<style.*?</style>|(?<=>)[^<>]+(?=<)", say, html, flags=re.S)
    )


def tip(name: str, **values: Any) -> str:
    """The tooltip of a figure, a word or a control in the language of this session, with its picture."""
    return glossary.picture(name) + glossary.tip(name, session.language(), **values)


_declared = lru_cache(maxsize=4096)(declared)
# Some have the names of groups in them.
on_forget(lambda _: _declared.cache_clear())
