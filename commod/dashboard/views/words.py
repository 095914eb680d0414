"""The words of a page in the language of its session."""

from functools import lru_cache
from typing import Any

from commod.dashboard.state import session
from commod.dashboard.text import glossary
from commod.dashboard.text.language import declared, phrase
from commod.datasets import on_forget


def say(name: str, /, **values: Any) -> str:
    """A phrase of text/words/ in the language of this session."""
    return phrase(session.language(), name, **values)


def say_declared(text: str) -> str:
    """A text that is declared in English where it belongs, in the language of this session."""
    return _declared(session.language(), text)


def tip(name: str, **values: Any) -> str:
    """The tooltip of a figure, a word or a control in the language of this session, with its picture."""
    return glossary.picture(name) + glossary.tip(name, session.language(), **values)


_declared = lru_cache(maxsize=4096)(declared)
# Some have the names of groups in them.
on_forget(lambda _: _declared.cache_clear())
