"""The words of a page in the language of its session."""

from __future__ import annotations

from typing import Any

from commod.dashboard.state import session
from commod.dashboard.text.language import phrase


def say(name: str, /, **values: Any) -> str:
    """A phrase of text/words/ in the language of this session."""
    return phrase(session.language(), name, **values)
