"""State of one session: the current setting, undo and redo, what was tried, and the link."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from typing import Any

import streamlit as st

from commod.dashboard.state.own_data import HELD, forget_when_closed, hold, own_data, release
from commod.dashboard.state.settings import (
    FAIRNESS,
    GRIDS,
    VIEWS,
    Access,
    Settings,
    access_from_link,
    base_models_of,
    defaults,
    first_data,
    from_link,
    sound_data,
    to_link,
)
from commod.dashboard.streamlit_internals import forget_widgets
from commod.datasets import Task

_STATE = HELD + "explore"
_PAGE = HELD + "page"
# Of a lesson and of saved runs: they stay in the address on every page.
CARRIED = ("step", "answers", "runs", "compare")
MAX_STEPS = 100
MAX_TRIED = 200


class _State:
    def __init__(self, settings: Settings, access: Access, notices: list[str], carried: dict[str, str]) -> None:
        self.settings = settings
        self.access = access
        self.notices = notices
        self.carried = carried
        self.past: list[Settings] = []
        self.future: list[Settings] = []
        self.tried: dict[Settings, dict[str, float]] = {}
        self.last_good: Any = None


def _state() -> _State:
    found: _State | None = st.session_state.get(_STATE)
    if found is None:
        link = dict(st.query_params)
        settings, notices = from_link(link, own.name if (own := own_data()) else None)
        access, unknown = access_from_link(link)
        carried = {name: link[name] for name in CARRIED if name in link}
        found = st.session_state[_STATE] = _State(settings, access, [*notices, *unknown], carried)
    return found


def data_sets() -> list[str]:
    """Names of the data sets that this session can choose from."""
    own = own_data()
    return [*sound_data(), own.name] if own else sound_data()


def use_own(task: Task) -> None:
    """Take uploaded data into the session, in place of earlier ones, and show them."""
    forget_own()
    own = hold(task)
    go_to(replace(defaults(own.name), view=current().view, depth=current().depth))


def forget_own() -> None:
    """Forget uploaded data, and every trace of them in this session."""
    own = own_data()
    if own is None:
        return
    state = _state()
    if state.settings.data == own.name:
        _move(defaults(first_data()))
    state.past = [settings for settings in state.past if settings.data != own.name]
    state.future = [settings for settings in state.future if settings.data != own.name]
    state.tried = {settings: figures for settings, figures in state.tried.items() if settings.data != own.name}
    state.last_good = None
    release()


def current() -> Settings:
    """The setting to be shown."""
    return _state().settings


def access() -> Access:
    """Which controls this session may move."""
    return _state().access


def link_notices() -> list[str]:
    """What was wrong with the link; told until the setting is changed."""
    return _state().notices


def enter(page: str) -> None:
    """Called first on every page: a widget of another page must not be taken for one of this."""
    forget_when_closed()
    if st.session_state.get(_PAGE) != page:
        forget_widgets(HELD)
        st.session_state[_PAGE] = page


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
        key = f"set_{field.name}"
        # Without its key a widget takes the new value when it is drawn, be it now or later; one that is set while the
        # widget is not drawn would not reach the browser. Where nothing changes, the browser need not build it anew.
        if key in st.session_state and st.session_state[key] != getattr(settings, field.name):
            del st.session_state[key]


def go_to(settings: Settings) -> None:
    """Change to `settings` as one step that can be undone.

    A setting that was passed so quickly that its model was never shown is no step: a held arrow key is undone at once.
    Controls that a teacher's link has frozen stay where they are.
    """
    state = _state()
    settings = state.access.keep(settings, state.settings)
    if settings == state.settings:
        return
    if state.settings.model() in state.tried:
        state.past = [*state.past, state.settings][-MAX_STEPS:]
    state.future = []
    _move(settings)


def can_go_to(settings: Settings) -> bool:
    """Whether `go_to` would lead to just these settings: not if it takes a control that is frozen."""
    return access().keep(settings, current()) == settings


def stage(settings: Settings) -> None:
    """Change to the setting of a lesson's step, whatever is frozen; then there is no way back into another step."""
    state = _state()
    if state.access.live is None:
        go_to(settings)
        return
    state.past, state.future = [], []
    _move(settings)


def carry(**more: str) -> None:
    """Keep parameters in the address of every page, where a reload finds them again; those that are empty go."""
    state = _state()
    state.carried = {name: text for name, text in (state.carried | more).items() if text}


def carried() -> dict[str, str]:
    """What is carried along in the address."""
    return _state().carried


def change(name: str) -> None:
    """Callback of a widget: take its value over.

    Another data set opens in its own defaults, except where the user has chosen criterion, f or split.
    """
    here = current()
    # A message may bring more than one move, where a slow server has skipped a run: take them all, or `_move` would set
    # back the others before their callbacks are called. Something that no widget offers is a forged message.
    moved: dict[str, Any] = {field.name: st.session_state.get(f"set_{field.name}") for field in fields(Settings)}
    moved = {key: value for key, value in moved.items() if value in _options(key, here)}
    if name not in moved:  # a segmented control clicked twice, too: keep what was
        _move(here)
        return
    value = moved[name]
    if name != "data":
        go_to(replace(here, **{key: value for key, value in moved.items() if key != "data"}))
        return
    usual = defaults(here.data)
    chosen = {
        field: getattr(here, field)
        for field in ("fairness", "f", "seed")
        if getattr(here, field) != getattr(usual, field)
    }
    if chosen.get("f") not in base_models_of(value):
        chosen.pop("f", None)
    go_to(replace(defaults(value), view=here.view, depth=here.depth, **chosen))


def _options(name: str, here: Settings) -> Collection[Any]:
    """What a field of the settings can be set to in this session."""
    if name == "data":
        return data_sets()
    if name == "f":
        return base_models_of(here.data)
    return {"fairness": FAIRNESS, "view": VIEWS}.get(name) or GRIDS[name]


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
    while len(state.tried) > MAX_TRIED:
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
    state = _state()
    link = to_link(state.settings) | state.access.to_link() | state.carried | more
    if dict(st.query_params) != link:
        st.query_params.from_dict(link)
