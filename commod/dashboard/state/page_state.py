"""What a session keeps when its user goes to another page."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import streamlit as st

# How the keys of what outlives a page begin. All other keys are widgets', and go with their page (`session.enter`).
HELD = "held_"
State = TypeVar("State")


class PageState(Generic[State]):
    """A value that each session has its own of, as long as it lasts: call it to get that of the session at hand.

    `name` is a word that no other has; `make` gives the value when it is first asked for, from the link, for instance.
    """

    def __init__(self, name: str, make: Callable[[], State]) -> None:
        self.key = HELD + name
        self._make = make

    def __call__(self) -> State:
        try:  # once: this is asked for some hundred times a page
            found: State = st.session_state[self.key]
        except KeyError:
            found = st.session_state[self.key] = self._make()
        return found

    def set(self, value: State) -> None:
        st.session_state[self.key] = value


def mirrored(key: str, value: Any, take: Callable[[Any], None]) -> dict[str, Any]:
    """Widget arguments that bind a widget to a value its page stores: `take` receives what is chosen."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value

    def hand_on() -> None:
        if key in st.session_state:  # not if a forged message names a widget of another page
            take(st.session_state[key])

    return {"key": key, "on_change": hand_on}
