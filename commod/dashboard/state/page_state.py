"""What a session keeps when its user goes to another page."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import streamlit as st

# The prefix of keys that outlive a page. All other keys are widgets' and go with their page (`session.enter`).
HELD = "held_"
State = TypeVar("State")


class PageState(Generic[State]):
    """A value that each session has for itself, as long as it lasts: call it for the current session's value.

    `name` is unique; `make` gives the value when it is first needed, for example from the link.
    """

    def __init__(self, name: str, make: Callable[[], State]) -> None:
        self.key = HELD + name
        self._make = make

    def __call__(self) -> State:
        try:  # fast path: this is called about a hundred times per page
            found: State = st.session_state[self.key]
        except KeyError:
            found = st.session_state[self.key] = self._make()
        return found

    def set(self, value: State) -> None:
        st.session_state[self.key] = value


def mirrored(key: str, value: Any, take: Callable[[Any], None]) -> dict[str, Any]:
    """Widget arguments that bind a widget to a value its page stores: `take` receives the choice."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value

    def hand_on() -> None:
        if key in st.session_state:  # not if a forged message names a widget of another page
            take(st.session_state[key])

    return {"key": key, "on_change": hand_on}
