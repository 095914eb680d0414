"""State of one session: the current setting, undo and redo, what was tried and what is required, and the link."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.dashboard.state.lesson_data import is_lesson_data
from commod.dashboard.state.link import (
    Access,
    access_from_link,
    applicable,
    from_link,
    requirements_from_link,
    requirements_to_link,
    to_link,
)
from commod.dashboard.state.own_data import OwnData, hold, own_data, release
from commod.dashboard.state.page_state import HELD, PageState
from commod.dashboard.state.settings import (
    CONTROLS,
    Settings,
    controls_of,
    defaults,
    first_data,
    offered,
    opening,
    sound_data,
)
from commod.dashboard.streamlit_internals import forget_widgets, media, this_session
from commod.dashboard.text.language import FIRST, LANGUAGES
from commod.dashboard.text.menu import TRANSLATED
from commod.datasets import Task, load_task
from commod.decisions import TRIED, Requirements

_PAGE = HELD + "page"
# Of a lesson, of a room and who somebody is there, and the language: they stay in the address on every page.
CARRIED = ("lesson", "step", "answers", "room", "seat", "lang")
# While the leader of a room has frozen the controls.
FROZEN = Access(frozenset())
# What opens a task: everything else is set to suit it.
_OPENS = ("data", "groups")
# Said on Decide to whoever follows an old link to a page that is gone (`server.startup`).
LATER_GONE = "The page “Still true?” is gone. To check a model on later people, see docs/workshop.md."
MAX_STEPS = 100
MAX_TRIED = 200


@dataclass
class Session:
    """What a session holds of the Explore page, which all pages share."""

    settings: Settings
    access: Access
    notices: list[str]  # what was wrong with the link; shown until the setting changes
    carried: dict[str, str]  # from the address, besides the setting
    requirements: Requirements = field(default_factory=Requirements)  # also those that do not apply to these data
    frozen: bool = False  # whether a room's leader has frozen everything
    stage: Settings | None = None  # what a lesson's step shows while the other pages keep their setting
    past: list[Settings] = field(default_factory=list)  # to be undone
    future: list[Settings] = field(default_factory=list)  # to be redone
    tried: dict[Settings, dict[str, float]] = field(default_factory=dict)  # models and their figures, oldest first
    counted: dict[str, dict[str, set[int]]] = field(default_factory=dict)  # hashes of everything tried, by data set
    last_good: Any = None  # the last result that could be shown
    seen: Settings | None = None  # shown by a page that does not train it


def _from_link() -> Session:
    link = dict(st.query_params)
    settings, notices = from_link(link, own.name if (own := own_data()) else None)
    access, unknown = access_from_link(link)
    required, unmet = requirements_from_link(link, settings.task_name)
    carried = {name: link[name] for name in CARRIED if name in link}
    gone = [LATER_GONE] if link.get("gone") == "later" else []
    gone += ["This link held saved runs. Ask for the file instead."] * ("runs" in link)
    return Session(settings, access, [*gone, *notices, *unknown, *unmet], carried, required)


state = PageState("explore", _from_link)


# ---- data ----


def data_sets() -> list[str]:
    """Names of the data sets that this session can choose from."""
    here, own = current().data, own_data()
    return [*sound_data(), *([here] if is_lesson_data(here) else []), *([own.name] if own else [])]


def use_own(task: Task) -> None:
    """Take uploaded data into the session, in place of earlier ones, and show them."""
    own = OwnData(task)  # which may fail for lack of memory: then the earlier ones stay
    forget_own()
    hold(own)
    go_to(defaults(own.name).looked_at_as(current()))


def forget_own() -> None:
    """Forget uploaded data, and every trace of them in this session."""
    own = own_data()
    if own is None:
        return
    here = state()
    if here.settings.data == own.name:
        _move(defaults(first_data()))
    for steps in (here.past, here.future):
        steps[:] = [settings for settings in steps if settings.data != own.name]
    here.tried = {settings: figures for settings, figures in here.tried.items() if settings.data != own.name}
    here.last_good = None
    here.counted.pop(own.name, None)
    here.requirements = applicable(here.requirements, here.settings.task_name)
    release()


# ---- the setting ----


def current() -> Settings:
    """The setting to be shown."""
    here = state()
    return here.settings if here.stage is None else here.stage


def access() -> Access:
    """Which controls this session may move."""
    here = state()
    return FROZEN if here.frozen else here.access


def enter(page: str) -> None:
    """Called first on every page: a widget of another page must not be mistaken for one of this page."""
    if st.session_state.get(_PAGE) != page:
        forget_widgets(HELD)
        media.forget(this_session())
        st.session_state[_PAGE] = page
        state().stage = None
        _go_where_the_address_says()


def _go_where_the_address_says() -> None:
    """Back and Forward of the browser open a page with the setting it had; a link of the menu has no setting."""
    link = dict(st.query_params)
    if "data" in link:
        settings, problems = from_link(link, own.name if (own := own_data()) else None)
        if not problems:
            go_to(settings)


def see() -> None:
    """Count the current setting as shown, so that leaving it can be undone: for pages that do not train it."""
    state().seen = current()


def widget_key(name: str) -> str:
    """Key of the widget that edits a field of the settings; the app's own new values reach the browser through it."""
    key = f"set_{name}"
    if key not in st.session_state:
        st.session_state[key] = widget_value(name)
    return key


def widget_value(name: str) -> Any:
    """Default of that widget, which is the current setting.

    Browsers receive it in every run. Values in ``st.session_state`` are sent once, and not at all if another run begins
    first: the widget would show its first option, and the session would take it over.
    """
    return CONTROLS[name].to_widget(getattr(current(), name))


def _move(settings: Settings) -> None:
    """Make `settings` current and let the widgets show it."""
    here = state()
    if here.stage is None:
        here.settings = settings
    else:
        here.stage = settings
    here.notices = []
    for name in CONTROLS:
        key = f"set_{name}"
        # Without its key, a widget takes the new value when it is drawn, now or later. A widget that shows the right
        # value stays as it is.
        if key in st.session_state and st.session_state[key] != widget_value(name):
            del st.session_state[key]


def go_to(settings: Settings) -> None:
    """Change to `settings` as one step that can be undone.

    A setting passed so quickly that its model was never shown is not a step: a held arrow key is undone at once.
    Controls that a teacher's link or the leader of a room has frozen stay where they are.
    """
    _go_to(access().keep(settings, current()))


def _go_to(settings: Settings) -> None:
    if settings == current():
        return
    take_stage()
    here, shown = state(), current()
    if here.stage is None:  # otherwise there is nothing to undo on the other pages
        if shown.model() in here.tried or shown == here.seen:
            here.past = [*here.past, shown][-MAX_STEPS:]
        here.future = []
    _move(settings)


def can_go_to(settings: Settings) -> bool:
    """Whether `go_to` would lead to exactly these settings: not if they need a frozen control."""
    return access().keep(settings, current()) == settings


def stage(settings: Settings) -> None:
    """Show the setting of a lesson's step; every other page keeps its own until the learner presses something.

    In a room with everything frozen, the class's current step opens nevertheless.
    """
    state().stage = settings
    _move(settings)


def take_stage() -> None:
    """Show the lesson's setting on the other pages, as a step that can be undone, within a teacher's link."""
    here = state()
    if here.stage is not None and here.access.live is None:
        staged, here.stage = here.stage, None
        _go_to(staged)


def is_staged(settings: Settings, answered: bool) -> bool:
    """Whether a step is shown as it was left: not if another page was opened, unless its answer was taken there."""
    here = state()
    if here.stage is None and not (answered and here.access.live is None):
        return False
    return current().problem() == settings.problem()


def change(name: str) -> None:
    """Callback of a widget: take over its value.

    Another data set opens in its own defaults, except where the user has chosen criterion, f or split; other groups of
    the same data in theirs, except where the user has chosen anything.
    """
    here = current()
    # A message may bring several moves if a slow server has skipped a run: take them all, or `_move` would reset the
    # others before their callbacks are called. A value that no widget offers is a forged message.
    shown = {other: st.session_state.get(f"set_{other}") for other in CONTROLS}
    moved: dict[str, Any] = {
        other: CONTROLS[other].from_widget(value, here.task_name)
        for other, value in shown.items()
        if other == name or value != CONTROLS[other].to_widget(getattr(here, other))
    }
    moved = {other: value for other, value in moved.items() if _is_offered(other, value)}
    if name not in moved:  # a segmented control clicked twice, too: keep what was
        _move(here)
        return
    opened = {other: moved.pop(other, getattr(here, other)) for other in _OPENS}
    if name not in _OPENS:
        go_to(replace(here, **moved))
        return
    usual, kept = defaults(here.data, here.groups), controls_of("scene") if name == "data" else CONTROLS
    chosen = {other: getattr(here, other) for other in kept if other not in _OPENS}
    chosen = {other: value for other, value in chosen.items() if value != getattr(usual, other)}
    there = opening(opened["data"]) if name == "data" else defaults(here.data, opened["groups"])
    go_to(offered(replace(there, **chosen)).looked_at_as(here))


def _is_offered(name: str, value: Any) -> bool:
    return value in options(name) if name == "data" else CONTROLS[name].takes(value, current().task_name)


def options(name: str) -> Mapping[Any, str]:
    """The values that a control can have in this session, in words."""
    if name == "data":
        return {data: load_task(data).spec.title for data in data_sets()}
    return CONTROLS[name].options(current().task_name)


def reset() -> None:
    """Back to the defaults of the data set; groups and sealing stay."""
    here = current()
    go_to(replace(defaults(here.data, here.groups), sealed=here.sealed))


def undo() -> None:
    """Take the last step back."""
    _step(state().past, state().future)


def redo() -> None:
    """Redo a step that was undone."""
    _step(state().future, state().past)


def _step(source: list[Settings], target: list[Settings]) -> None:
    if source and not state().frozen:
        target.append(current())
        _move(source.pop())


# ---- what is required ----


def requirements() -> Requirements:
    """The requirements on a model that apply to the data shown."""
    return applicable(state().requirements, current().task_name)


def require(requirements: Requirements) -> None:
    """Require this instead of what was required before."""
    state().requirements = requirements


# ---- what was tried ----


def remember(settings: Settings, figures: dict[str, float], result: Any) -> None:
    """Add a model to the trail, and keep its result as the last good picture."""
    here = state()
    here.tried[settings.model()] = figures
    counted = tried_on(settings.data)
    counted["settings"].add(hash(replace(settings.model(), sealed="")))
    counted["seeds"].add(settings.seed)
    while len(here.tried) > MAX_TRIED:
        here.tried.pop(next(iter(here.tried)))
    here.last_good = result


def tried_on(data: str) -> dict[str, set[int]]:
    """Settings, sets of limits and seeds that were tried on a data set so far, and models of sweeps."""
    return state().counted.setdefault(data, {name: set() for name in TRIED})


# ---- the language ----


def spoken() -> str:
    """The language of the menu: the one that was chosen, or that of the browser."""
    asked = state().carried.get("lang") or str(st.context.locale)[:2]
    return asked if asked in LANGUAGES else FIRST


def language() -> str:
    """The language of this page: the one that was chosen, if the page has it."""
    return spoken() if st.session_state.get(_PAGE, TRANSLATED[0]) in TRANSLATED else FIRST


def speak(language: str) -> None:
    """Change to another language."""
    if language in LANGUAGES:  # or a message is forged
        carry(lang=language)
        for key, value in st.session_state.items():  # set again, or a box would keep showing the old title
            if isinstance(value, str) and not str(key).startswith(HELD):
                st.session_state[key] = value


# ---- the address ----


def carry(**more: str) -> None:
    """Keep parameters in the address of every page, where a reload finds them; empty ones are removed."""
    here = state()
    here.carried = {name: text for name, text in (here.carried | more).items() if text}


def keep_link(**more: str) -> None:
    """Write the complete setting into the address, and whatever else a page wants to find there."""
    here = state()
    required = requirements_to_link(applicable(here.requirements, here.settings.task_name))
    link = to_link(here.settings) | required | here.access.to_link() | here.carried | more
    if dict(st.query_params) != link:
        st.query_params.from_dict(link)


def address() -> str:
    """A link to this page with the setting and what is required, for somebody else: nothing is frozen for them."""
    link = to_link(current()) | requirements_to_link(requirements())
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(link)}"
