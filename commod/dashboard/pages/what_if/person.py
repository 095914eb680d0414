"""Who is looked at on the page What if, what is edited of them, and the smallest edits that turn a decision."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views.widgets import button
from commod.datasets import Task
from commod.datasets.task import Feature
from commod.explain.people import FIFTHS, STANDARDISED
from commod.explain.what_if import FeatureRange, edit_row, explain_edits, nearest_person, score_rows
from commod.models.rescaler import acted_on

# As many are in the list; the others are chosen by their number.
MAX_LISTED = 500


@dataclass
class State:
    """What this session has chosen on the page. The widgets only mirror it, so it survives a visit to another page."""

    scene: tuple[Any, ...] = ()
    person: int = 0
    edits: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    found_by: str = ""  # how the person was found

    def go_to(self, person: int, found_by: str = "") -> None:
        """Look at a person; another one is as recorded."""
        if person != self.person:
            self.edits = {}
        self.person, self.notice, self.found_by = person, "", found_by

    def edit(self, name: str, value: Any, recorded: Any) -> None:
        """Take a value of a feature over; the recorded one is no edit."""
        self.found_by = ""
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

    def draw_lot() -> None:
        others = changed[changed != state.person]
        if len(others):
            state.go_to(int(np.random.default_rng().choice(others)))

    def in_words(person: int) -> str:
        outcome = outcomes[after[person]]
        return f"No. {person}: " + (f"now {outcome}" if before[person] != after[person] else f"unchanged, {outcome}")

    listed = changed[:MAX_LISTED].tolist()
    if state.person not in listed:
        listed.insert(0, state.person)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            f"Changed {result.task.spec.people} ({len(changed):,} of {len(before):,})",
            listed,
            format_func=in_words,
            width=240,
            **mirrored("what_if_pick", state.person, take),
        )
        shown = mirrored("what_if_person", state.person, take)
        st.number_input("Or anybody, by number", 0, len(before) - 1, step=1, width=160, **shown)
        button("Random changed person", "casino", draw_lot, disabled=len(changed) < 2, key="what_if_random")
    if len(changed) > MAX_LISTED:
        st.caption(f"The list holds the first {MAX_LISTED}; the others by their number.")
    if state.found_by:
        st.info(state.found_by, icon=":material/person_search:")


MAX_EDITS = 5
# Of the words of an edit, in pixels: beside its button on a wide page, above it on a phone.
EDIT_WIDTH = 320
# A number with more steps than this is typed, not slid.
MAX_STEPS = 1000


def edit(person: Person, state: State) -> None:
    """A widget for each feature."""
    scene, task = person.result.scene, person.task
    group = task.groups[int(scene.test.sensitive.iloc[person.number])]
    st.header(f"Number {person.number}", anchor=False)
    record = escape_markdown(task.spec.outcomes[person.label])
    st.caption(tip("edit_anything", group=escape_markdown(group), record=record))
    if isinstance(scene.f, str):
        st.caption("The score of f is kept as it was: it comes with the data, and f itself is not at hand.")

    def find() -> None:
        place, far = nearest_person(scene.test.X, person.edited, person.ranges, skip=person.number)
        left = f"number {person.number}{' as edited' if person.edits else ''}"
        state.go_to(place, f"Number {place} is nearest to {left}: {far:.2f} standard deviations away.")

    columns = st.columns(2, gap="medium")
    for i, known in enumerate(person.ranges.values()):
        with columns[i % 2]:
            _widget(person, state, known)
    with st.container(horizontal=True, gap="small"):
        button("Reset the person", "undo", state.edits.clear, disabled=not state.edits, key="what_if_reset")
        button("Go to the nearest other person", "person_search", find, key="what_if_nearest", help=tip("nearest"))


def _widget(person: Person, state: State, known: FeatureRange) -> None:
    """One feature; it says what was recorded, and is marked where it differs."""
    task, name = person.task, known.column
    recorded = person.recorded[name].iloc[0]
    feature = task.feature(name)
    unit = f" ({feature.unit})" if feature.after_number else ""
    if feature.unit == STANDARDISED:
        lower = float((person.result.scene.test.X[name] < state.edits.get(name, recorded)).mean())
        unit = f" (higher than {min(lower, 0.99):.0%} of {task.spec.people})"
    # The text is read as Markdown: what comes from data must not be.
    label = escape_markdown(task.label(name) + unit)
    if name in state.edits:
        label = f"**{label}: was {escape_markdown(known.in_words(recorded))}** :material/edit:"
    usual = known.rounded(recorded)

    def take(chosen: Any) -> None:
        chosen = usual if chosen is None else chosen
        state.edit(name, float(chosen) if known.is_number else chosen, usual)

    about = mirrored(f"what_if_{task.name}_{name}", known.rounded(state.edits.get(name, recorded)), take)
    about["help"] = feature.description or None
    if not known.is_number:
        st.selectbox(label, sorted(known.levels, key=str), format_func=str, **about)
        return
    low, high, step = map(known.rounded, (known.low, known.high, known.step))
    about["format"] = f"%.{known.decimals}f" if known.decimals else "%d"
    if low < high and (high - low) / step <= MAX_STEPS:
        st.slider(label, low, high, step=step, **about)
    else:
        st.number_input(label, low, high, step=step, disabled=low == high, **about)


def suggest_edits(person: Person, state: State) -> None:
    """The smallest edits of one feature that undo the change, or cause one."""
    changed = bool(person.now["changed"])
    st.header("What would undo the change" if changed else "What would change the decision", anchor=False)
    found = explain_edits(person.result.g, person.task, person.edited, ranges=person.ranges)
    if found.empty:
        aim = "makes f and g agree" if changed else "makes them disagree"
        st.info(f"No edit of a single feature within the data's range {aim}.", icon=":material/info:")
        return
    others = found["column"].value_counts() - 1
    best = found.drop_duplicates("column")
    for row in best.head(MAX_EDITS).itertuples():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(_edit_words(person, row, int(others[row.column])), width=EDIT_WIDTH)
            edit = row.column, row.after, person.recorded[row.column].iloc[0]
            button("Try it", "", state.edit, *edit, key=f"what_if_try_{row.column}")
    left = len(best) - MAX_EDITS
    more = f" {left} more features can do it with larger edits." if left > 1 else ""
    more = " One more feature can do it with a larger edit." if left == 1 else more
    start = "from the values as edited" if person.edits else "one feature at a time"
    st.caption(f"Smallest first, compared with how far people differ; {start}, within the data's range.{more}")


def _change(known: FeatureRange, feature: Feature, by: float) -> str:
    """By how much a number changes; where its unit says little after a number, in words."""
    size, way = abs(by), "higher" if by > 0 else "lower"
    if feature.unit == FIFTHS:
        return f"{'one fifth' if size == 1 else f'{size:g} fifths'} {way}"
    if feature.unit == STANDARDISED:
        return f"{size:.1f} standard deviations {way}"
    return f"{known.in_words(by, '+')}{feature.after_number}"


def _is_back(person: Person, row: Any) -> bool:
    """Whether an edit only takes back, at least in part, what the visitor has done."""
    recorded = person.recorded[row.column].iloc[0]
    if row.column not in person.edits or not person.ranges[row.column].is_number:
        return bool(row.after == recorded)
    return bool(min(row.before, recorded) <= row.after <= max(row.before, recorded))


def _edit_words(person: Person, row: Any, others: int) -> str:
    known, feature = person.ranges[row.column], person.task.feature(row.column)
    change = f" ({_change(known, feature, row.after - row.before)})" if known.is_number else ""
    before, after = (escape_markdown(known.in_words(value)) for value in (row.before, row.after))
    also = f", as with {others} other level{'s' if others > 1 else ''}" if others else ""
    back = "back to " if _is_back(person, row) else ""
    moved, stays = ("g", "f") if row.moved == "g" else ("f", "g")
    says = escape_markdown(person.task.spec.outcomes[getattr(row, moved)])
    still = escape_markdown(person.task.spec.outcomes[getattr(row, stays)])
    end = f"both then say “{says}”" if person.now["changed"] else f"{moved} then says “{says}”, {stays} still “{still}”"
    gains = known.is_number and feature.merit * (row.after - row.before) > 0
    hurts = " **More merit hurts here.**" if gains and getattr(row, moved) != person.task.spec.favourable else ""
    return f"**{escape_markdown(row.label)}** {before} → {back}**{after}**{change}{also}: {end}.{hurts}"
