"""Who is looked at on the page What if, and what is edited of them."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.page_state import PageState, mirrored
from commod.datasets import Task
from commod.explain.what_if import FeatureRange, edit_row, score_rows
from commod.models.rescaler import acted_on

# As many are in the list; the others are chosen by their number.
MAX_LISTED = 500
AMONG = {"changed": "Changed people", "all": "All people"}


@dataclass
class State:
    """What this session has chosen on the page. The widgets only mirror it, so it survives a visit to another page."""

    scene: tuple[Any, ...] = ()
    person: int = 0
    edits: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    told: str = ""  # how the person was found
    among: str = "changed"

    def go_to(self, person: int, told: str = "") -> None:
        """Look at a person; another one is as recorded."""
        if person != self.person:
            self.edits = {}
        self.person, self.notice, self.told = person, "", told

    def edit(self, name: str, value: Any, recorded: Any) -> None:
        """Take a value of a feature over; the recorded one is no edit."""
        self.told = ""
        if value == recorded:
            self.edits.pop(name, None)
        else:
            self.edits[name] = value


_state = PageState("what_if", State)


def state_of(result: FitResult) -> State:
    """The state on this scene; read from the link when the page is entered."""
    scene = (result.settings.task_name, result.settings.seed)
    state = _state()
    people = len(result.changed_test)
    if state.scene != scene or state.person >= people:
        changed = np.flatnonzero(result.changed_test)
        state = State(scene, int(changed[0]) if len(changed) else 0)
        _state.set(state)
    # Streamlit forgets the widgets of a page that is left: where this one is missing, the page is entered. Later on
    # the address follows the page, and may come in late.
    if "what_if_person" not in st.session_state and "person" in st.query_params:
        text = st.query_params["person"]
        if text.isdecimal() and len(text) < 10 and int(text) < people:
            state.go_to(int(text))
        else:
            state.notice = (
                f"The link names nobody of this test part (its numbers are 0 to {people - 1:,}): "
                f"number {state.person} is shown."
            )
    return state


@dataclass(frozen=True)
class Person:
    """A test person as recorded and as edited, and what f and g say of both."""

    result: FitResult
    number: int
    edits: dict[str, Any]
    ranges: dict[str, FeatureRange]  # what values the features can have

    @property
    def task(self) -> Task:
        return self.result.task

    @cached_property
    def recorded(self) -> pd.DataFrame:
        return self.result.scene.test.X.iloc[[self.number]]

    @property
    def label(self) -> int:
        """What is recorded of the person."""
        return int(self.result.scene.test.y.iloc[self.number])

    @cached_property
    def edited(self) -> pd.DataFrame:
        return edit_row(self.recorded, self.edits)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Row 0 as recorded, row 1 as edited."""
        return score_rows(self.result.g, pd.concat([self.recorded, self.edited], ignore_index=True))

    @property
    def now(self) -> pd.Series:
        return self.scores.iloc[1]

    @property
    def acted_on(self) -> bool:
        """Whether g acts on them, as edited: not where its direction forbids it."""
        return bool(acted_on(self.result.g.rescaler_.acts_on, np.array([self.now["logit_f"]]))[0])


def person_of(result: FitResult, state: State) -> Person:
    """The person that is chosen, with the edits that the scene's features allow for."""
    ranges: dict[str, FeatureRange] = result_of(tasks.ranges(result))
    state.edits = {name: value for name, value in state.edits.items() if name in ranges}
    return Person(result, state.person, dict(state.edits), ranges)


def choose(result: FitResult, state: State) -> None:
    """Who is looked at: from a list, by number, or at random."""
    changed = np.flatnonzero(result.changed_test)
    outcomes = result.task.spec.outcomes
    before, after = result.scene.decisions_test, result.decisions
    if state.notice:
        st.warning(state.notice, icon=":material/link_off:")

    def take(person: int | None) -> None:
        if person is not None:
            state.go_to(int(person))

    def take_list(among: str | None) -> None:
        state.among = among or state.among

    def draw_lot() -> None:
        others = changed[changed != state.person]
        if len(others):
            state.go_to(int(np.random.default_rng().choice(others)))

    def in_words(person: int) -> str:
        now = "now " if before[person] != after[person] else ""
        return f"No. {person}: {now}{outcomes[after[person]]}"

    among = changed if state.among == "changed" else np.arange(len(before))
    listed = among[:MAX_LISTED].tolist()
    if state.person not in listed:
        listed.insert(0, state.person)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        shown = mirrored("what_if_among", state.among, take_list)
        st.segmented_control("List", list(AMONG), format_func=AMONG.__getitem__, **shown)
        st.selectbox(
            f"Person ({len(among):,} of {len(before):,} {result.task.spec.people})",
            listed,
            format_func=in_words,
            width=290,
            **mirrored("what_if_pick", state.person, take),
        )
        shown = mirrored("what_if_person", state.person, take)
        st.number_input("Number in the test", 0, len(before) - 1, step=1, width=160, **shown)
        few = len(changed) < 2
        st.button(
            "Random changed person", on_click=draw_lot, disabled=few, icon=":material/casino:", key="what_if_random"
        )
    if len(among) > MAX_LISTED:
        st.caption(f"The list holds the first {MAX_LISTED}; the others by their number.")
    if state.told:
        st.info(state.told, icon=":material/person_search:")
