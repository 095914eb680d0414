"""State of one session: the current setting, undo and redo, what was tried, and the link."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import streamlit as st

from commod.dashboard.settings import Settings, defaults, from_link, to_link

__all__ = [
    "can_redo",
    "can_undo",
    "change",
    "current",
    "go_to",
    "keep_link",
    "last_good",
    "link_notices",
    "redo",
    "remember",
    "reset",
    "tried",
    "undo",
    "widget_key",
]

_STATE = "explore"
MOST_STEPS = 100
MOST_TRIED = 200


class _State:
    def __init__(self, settings: Settings, notices: list[str]) -> None:
        self.settings = settings
        self.notices = notices
        self.past: list[Settings] = []
        self.future: list[Settings] = []
        self.tried: dict[Settings, dict[str, float]] = {}
        self.last_good: Any = None


def _state() -> _State:
    if _STATE not in st.session_state:
        settings, notices = from_link(dict(st.query_params))
        st.session_state[_STATE] = _State(settings, notices)
    return st.session_state[_STATE]


def current() -> Settings:
    """The setting to be shown."""
    return _state().settings


def link_notices() -> list[str]:
    """What was wrong with the link; told until the setting is changed."""
    return _state().notices


def widget_key(name: str) -> str:
    """Key of the widget that edits a field of the settings, its value set from the current setting if it has none."""
    key = f"set_{name}"
    if key not in st.session_state:
        st.session_state[key] = getattr(current(), name)
    return key


def _move(settings: Settings) -> None:
    """Make `settings` current and let the widgets show it."""
    state = _state()
    state.settings = settings
    state.notices = []
    for field in fields(Settings):
        key, value = f"set_{field.name}", getattr(settings, field.name)
        # Setting a widget's value makes the browser build it anew: only where it differs.
        if key in st.session_state and st.session_state[key] != value:
            st.session_state[key] = value


def go_to(settings: Settings) -> None:
    """Change to `settings` as one step that can be undone.

    A setting that was passed so quickly that its model was never shown is no step: a held arrow key is undone at once.
    """
    state = _state()
    if settings == state.settings:
        return
    if state.settings.model() in state.tried:
        state.past = [*state.past, state.settings][-MOST_STEPS:]
    state.future = []
    _move(settings)


def change(name: str) -> None:
    """Callback of a widget: take its value over.

    Another data set opens in its own defaults, except where the user has chosen criterion, f or split.
    """
    value = st.session_state[f"set_{name}"]
    if value is None:  # a segmented control clicked twice: keep what was
        _move(current())
        return
    here = current()
    if name != "data":
        go_to(replace(here, **{name: value}))
        return
    usual = defaults(here.data)
    chosen = {
        field: getattr(here, field)
        for field in ("fairness", "f", "seed")
        if getattr(here, field) != getattr(usual, field)
    }
    go_to(replace(defaults(value), view=here.view, depth=here.depth, **chosen))


def reset() -> None:
    """Back to the defaults of the data set."""
    go_to(defaults(current().data))


def can_undo() -> bool:
    """Whether there is a step to take back."""
    return bool(_state().past)


def can_redo() -> bool:
    """Whether there is a step to take again."""
    return bool(_state().future)


def undo() -> None:
    """Take the last step back."""
    state = _state()
    if state.past:
        state.future.append(state.settings)
        _move(state.past.pop())


def redo() -> None:
    """Take a step again that was taken back."""
    state = _state()
    if state.future:
        state.past.append(state.settings)
        _move(state.future.pop())


def remember(settings: Settings, figures: dict[str, float], result: Any) -> None:
    """Add a model to the trail, and keep its result as the last good picture."""
    state = _state()
    state.tried[settings.model()] = figures
    while len(state.tried) > MOST_TRIED:
        state.tried.pop(next(iter(state.tried)))
    state.last_good = result


def tried() -> dict[Settings, dict[str, float]]:
    """All models tried so far in this session, oldest first."""
    return _state().tried


def last_good() -> Any:
    """The last result that could be shown, or None."""
    return _state().last_good


def keep_link(**more: str) -> None:
    """Write the complete setting into the address, and what else a page wants to find there again."""
    link = to_link(current()) | more
    if dict(st.query_params) != link:
        st.query_params.from_dict(link)
