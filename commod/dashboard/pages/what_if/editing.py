"""Every feature of a person to be edited, and the smallest edits that turn a decision."""

from typing import Any

import streamlit as st

from commod.dashboard.pages.what_if.person import Person, State
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.datasets import Task
from commod.datasets.task import Feature
from commod.explain.what_if import FeatureRange, explain_edits, nearest_person

MAX_EDITS = 5
# Of the words of an edit, in pixels: beside its button on a wide page, above it on a phone.
EDIT_WIDTH = 350
# A number with more steps than this is typed, not slid.
MAX_STEPS = 1000


def edit(person: Person, state: State) -> None:
    """A widget for each feature."""
    scene, task = person.result.scene, person.task
    group = task.groups[int(scene.test.sensitive.iloc[person.number])]
    happened = task.spec.outcomes[person.label]
    st.header(f"Number {person.number}", anchor=False)
    st.caption(
        f"Recorded: {escape_markdown(group)}; {escape_markdown(happened)}. Neither is used here. "
        "Edit any feature; nothing is retrained."
    )
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
        st.button(
            "Reset the person",
            on_click=state.edits.clear,
            disabled=not state.edits,
            icon=":material/undo:",
            key="what_if_reset",
        )
        st.button(
            "Find the nearest other person",
            on_click=find,
            icon=":material/person_search:",
            key="what_if_nearest",
            help=tip("nearest"),
        )


def _widget(person: Person, state: State, known: FeatureRange) -> None:
    """One feature; it says what was recorded, and is marked where it differs."""
    task, name = person.task, known.column
    recorded = person.recorded[name].iloc[0]
    feature = _feature(task, name)
    unit = "" if feature is None or feature.unit in ("", "count") else f" ({feature.unit})"
    # The text is read as Markdown: what comes from data must not be.
    label = escape_markdown(task.label(name) + unit)
    if name in state.edits:
        label = f"**{label}: was {escape_markdown(known.in_words(recorded))}** :material/edit:"
    usual = known.rounded(recorded)

    def take(chosen: Any) -> None:
        chosen = usual if chosen is None else chosen
        state.edit(name, float(chosen) if known.is_number else chosen, usual)

    about = mirrored(f"what_if_{task.name}_{name}", known.rounded(state.edits.get(name, recorded)), take)
    about["help"] = feature.description or None if feature is not None else None
    if not known.is_number:
        st.selectbox(label, sorted(known.levels, key=str), format_func=str, **about)
        return
    low, high, step = map(known.rounded, (known.low, known.high, known.step))
    about["format"] = f"%.{known.decimals}f" if known.decimals else "%d"
    if low < high and (high - low) / step <= MAX_STEPS:
        st.slider(label, low, high, step=step, **about)
    else:
        st.number_input(label, low, high, step=step, disabled=low == high, **about)


def _feature(task: Task, name: str) -> Feature | None:
    return next((feature for feature in task.spec.features if feature.name == name), None)


def suggest_edits(person: Person, state: State) -> None:
    """The smallest edits of one feature that undo the change, or cause one."""
    changed = bool(person.now["changed"])
    st.header("What would undo the change" if changed else "What would change the decision", anchor=False)
    found = explain_edits(person.result.g, person.task, person.edited, ranges=person.ranges)
    if found.empty:
        aim = "makes f and g agree" if changed else "makes g decide otherwise than f"
        st.info(f"No edit of a single feature within the data's range {aim}.", icon=":material/info:")
        return
    others = found["column"].value_counts() - 1
    best = found.drop_duplicates("column")
    for row in best.head(MAX_EDITS).itertuples():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(_edit_words(person, row, int(others[row.column])), width=EDIT_WIDTH)
            st.button(
                "Try it",
                key=f"what_if_try_{row.column}",
                on_click=state.edit,
                args=(row.column, row.after, person.recorded[row.column].iloc[0]),
            )
    left = len(best) - MAX_EDITS
    more = f" {left} more features can do it with larger edits." if left > 1 else ""
    more = " One more feature can do it with a larger edit." if left == 1 else more
    start = "from the values as edited" if person.edits else "one feature at a time"
    st.caption(
        f"The smallest edits first, {start}, within the data's range; sd: standard deviations of the feature (of a "
        f"category: as if its levels were 1 apart).{more}"
    )


def _edit_words(person: Person, row: Any, others: int) -> str:
    known, feature = person.ranges[row.column], _feature(person.task, row.column)
    unit = feature.unit if feature is not None else ""
    change = f"{known.in_words(row.after - row.before, '+')} {unit}".strip() + ", " if known.is_number else ""
    before, after = (escape_markdown(known.in_words(value)) for value in (row.before, row.after))
    also = f", as with {others} other level{'s' if others > 1 else ''}" if others else ""
    moved, stays = ("g", "f") if row.moved == "g" else ("f", "g")
    says = escape_markdown(person.task.spec.outcomes[getattr(row, moved)])
    size = f"{row.size:.1f}" if row.size >= 0.1 else f"{row.size:.2f}"
    end = (
        f"{moved} then says “{says}” too" if person.now["changed"] else f"{moved} then says “{says}”, {stays} does not"
    )
    gains = feature is not None and known.is_number and feature.merit * (row.after - row.before) > 0
    hurts = " **More merit hurts here.**" if gains and getattr(row, moved) != person.task.spec.favourable else ""
    return f"**{escape_markdown(row.label)}** {before} → **{after}** ({change}{size} sd){also}: {end}.{hurts}"
