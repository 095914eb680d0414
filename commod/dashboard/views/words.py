"""The words of a page in the language of its session."""

from typing import Any

from commod.dashboard.state import session
from commod.dashboard.text.language import declared, phrase


def say(name: str, /, **values: Any) -> str:
    """A phrase of text/words/ in the language of this session."""
    return phrase(session.language(), name, **values)


def say_declared(text: str) -> str:
    """A text that is declared in English where it belongs, in the language of this session."""
    return declared(session.language(), text)
