"""Widgets that many pages have: a button with an icon, and a choice among titles."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.views.lesson.scenarios import all_scenarios, scenario
from commod.dashboard.views.words import say


def button(label: str, icon: str, do: Callable[..., None], *args: Any, **how: Any) -> bool:
    """A button with a Material icon that calls `do` with these arguments; true in the run after a click."""
    return bool(st.button(label, icon=f":material/{icon}:" if icon else None, on_click=do, args=args, **how))


def select(label: str, titles: Mapping[Any, str], *, place: Any = st, **how: Any) -> Any:
    """A box to choose one of the keys from, each shown by its title.

    A browser sends the title: after a change of language still the old one, which is no choice.
    """
    if take := how.get("on_change"):
        how["on_change"] = lambda: take() if st.session_state.get(how["key"]) in titles else None
    return place.selectbox(label, list(titles), format_func=titles.__getitem__, **how)


def choose_lesson(key: str, name: str, take: Callable[[str], None]) -> None:
    """A box with all lessons, if there is more than one."""
    if len(known := all_scenarios()[0]) > 1:
        titles = {each: scenario(each, session.language()).title for each in known}
        select(say("lesson.choose"), titles, **mirrored(key, name, take))
