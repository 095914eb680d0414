"""The sections of the What if page: one test person, every feature to be edited, and what f and g make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts.bars import ACCOUNTS, plot_contributions
from commod.charts.waterfall import plot_waterfall, term_styles
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend
from commod.dashboard.views import frame as layout
from commod.dashboard.views.chart import draw
from commod.dashboard.views.model import current_model
from commod.dashboard.views.table import Table
from commod.dashboard.views.table import show as show_table
from commod.datasets import Task
from commod.explain.what_if import (
    FeatureRange,
    edit_row,
    explain_edits,
    explain_sum,
    nearest_person,
    score_rows,
)

MAX_LISTED = 500
MAX_EDITS = 5
MAX_BARS = 8
# Of the words of an edit, in pixels: beside its button on a wide page, above it on a phone.
EDIT_WIDTH = 350
# A number with more steps than this is typed, not slid.
MAX_STEPS = 1000
AMONG = {"changed": "Changed people", "all": "All people"}


@dataclass
class _State:
    """What this session has chosen on the page. The widgets only mirror it, so it survives a visit to another page."""

    scene: tuple[Any, ...] = ()
    person: int = 0
    edits: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    told: str = ""  # how the person was found
    among: str = "changed"

    def go_to(self, person: int, told: str = "") -> None:
        if person != self.person:
            self.edits = {}
        self.person, self.notice, self.told = person, "", told


_state = PageState("what_if", _State)


@dataclass(frozen=True)
class Person:
    """A test person as recorded and as edited, and what f and g say of both."""

    number: int
    recorded: pd.DataFrame
    edited: pd.DataFrame
    edits: dict[str, Any]
    scores: pd.DataFrame  # rows 0, as recorded, and 1, as edited

    @property
    def now(self) -> pd.Series:
        return self.scores.iloc[1]


def _ranges_of(result: FitResult) -> dict[str, FeatureRange]:
    found: dict[str, FeatureRange] = result_of(tasks.ranges(result))
    return found


def _own(result: FitResult) -> _State:
    """The state on this scene; read from the link when the page is entered."""
    scene = (result.settings.data, result.settings.seed)
    state = _state()
    people = len(result.changed_test)
    if state.scene != scene or state.person >= people:
        changed = np.flatnonzero(result.changed_test)
        state = _State(scene, int(changed[0]) if len(changed) else 0)
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


def link() -> dict[str, str]:
    """What of the page goes into the address."""
    return {"person": str(_state().person)}


def _mirror(key: str, value: Any) -> str:
    """Let the widget of this key show `value`."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key


def choose(result: FitResult) -> None:
    """Who is looked at: from a list, by number, at random, or the nearest to a description."""
    state = _own(result)
    changed = np.flatnonzero(result.changed_test)
    people, outcomes = result.task.spec.people, result.task.spec.outcomes
    before, after = result.scene.decisions_test, result.decisions
    if state.notice:
        st.warning(state.notice, icon=":material/link_off:")

    def take(key: str) -> None:
        chosen = st.session_state[key]
        if chosen is not None:
            state.go_to(int(chosen))

    def take_list() -> None:
        state.among = st.session_state["what_if_among"] or state.among

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
        st.segmented_control(
            "List",
            list(AMONG),
            format_func=AMONG.__getitem__,
            key=_mirror("what_if_among", state.among),
            on_change=take_list,
            width="content",
        )
        st.selectbox(
            f"Person ({len(among):,} of {len(before):,} {people})",
            listed,
            format_func=in_words,
            key=_mirror("what_if_pick", state.person),
            on_change=take,
            args=("what_if_pick",),
            width=290,
        )
        st.number_input(
            "Number in the test",
            min_value=0,
            max_value=len(before) - 1,
            step=1,
            key=_mirror("what_if_person", state.person),
            on_change=take,
            args=("what_if_person",),
            width=160,
        )
        st.button(
            "Random changed person",
            on_click=draw_lot,
            disabled=len(changed) < 2,
            icon=":material/casino:",
            key="what_if_random",
        )
    if len(among) > MAX_LISTED:
        st.caption(f"The list holds the first {MAX_LISTED}; the others by their number.")
    if state.told:
        st.info(state.told, icon=":material/person_search:")


def _value(known: FeatureRange, value: Any) -> Any:
    """A value as its widget wants it."""
    if not known.is_number:
        return value
    return round(float(value)) if known.decimals == 0 else round(float(value), max(known.decimals, 6))


def _shown(known: FeatureRange, value: Any, sign: str = "") -> str:
    if not known.is_number:
        return str(value)
    text = f"{value:{sign},.{known.decimals}f}"
    return (text.rstrip("0").rstrip(".") if known.decimals else text).replace("-", "−")


def edit(result: FitResult) -> Person:
    """A widget for each feature, and the person as edited."""
    state = _state()
    ranges = _ranges_of(result)
    recorded = result.scene.test.X.iloc[[state.person]]
    state.edits = {name: value for name, value in state.edits.items() if name in ranges}
    edited = edit_row(recorded, state.edits)
    test = result.scene.test
    group = result.task.groups[int(test.sensitive.iloc[state.person])]
    happened = result.task.spec.outcomes[int(test.y.iloc[state.person])]
    st.header(f"Number {state.person}", anchor=False)
    st.caption(
        f"Recorded: {escape_markdown(group)}; {escape_markdown(happened)}. Neither is used here. "
        "Edit any feature; nothing is retrained."
    )
    if isinstance(result.scene.f, str):
        st.caption("The score of f is kept as it was: it comes with the data, and f itself is not at hand.")

    def find() -> None:
        place, far = nearest_person(result.scene.test.X, edited, ranges, skip=state.person)
        left = f"number {state.person}{' as edited' if state.edits else ''}"
        state.go_to(place, f"Number {place} is nearest to {left}: {far:.2f} standard deviations away.")

    columns = st.columns(2, gap="medium")
    for i, (name, known) in enumerate(ranges.items()):
        with columns[i % 2]:
            _widget(result.task, state, known, recorded[name].iloc[0])
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
    scores = score_rows(result.g, pd.concat([recorded, edited], ignore_index=True))
    return Person(state.person, recorded, edited, dict(state.edits), scores)


def _widget(task: Task, state: _State, known: FeatureRange, recorded: Any) -> None:
    """One feature; it says what was recorded, and is marked where it differs."""
    name = known.column
    feature = next((f for f in task.spec.features if f.name == name), None)
    unit = "" if feature is None or feature.unit in ("", "count") else f" ({feature.unit})"
    # The text is read as Markdown: what comes from data must not be.
    label = escape_markdown(task.label(name) + unit)
    if name in state.edits:
        label = f"**{label}: was {escape_markdown(_shown(known, recorded))}** :material/edit:"
    key = _mirror(f"what_if_{task.name}_{name}", _value(known, state.edits.get(name, recorded)))

    def take() -> None:
        chosen = st.session_state[key]
        state.told = ""
        if chosen is None or chosen == _value(known, recorded):
            state.edits.pop(name, None)
        else:
            state.edits[name] = float(chosen) if known.is_number else chosen

    about: dict[str, Any] = {
        "key": key,
        "on_change": take,
        "help": feature.description or None if feature is not None else None,
    }
    if not known.is_number:
        st.selectbox(label, sorted(known.levels, key=str), format_func=str, **about)
        return
    low, high, step = (_value(known, value) for value in (known.low, known.high, known.step))
    decimals = f"%.{known.decimals}f" if known.decimals else "%d"
    if low < high and (high - low) / step <= MAX_STEPS:
        st.slider(label, low, high, step=step, format=decimals, **about)
    else:
        st.number_input(label, low, high, step=step, format=decimals, disabled=low == high, **about)


def readout(result: FitResult, person: Person) -> None:
    """What f and g say, before and after the edit."""
    was, now = person.scores.iloc[0], person.now
    st.markdown(_verdict(result.task, now))
    if person.edits:
        names = ", ".join(escape_markdown(result.task.label(name)) for name in person.edits)
        st.markdown(f"As recorded, before the edit of {names}: {_verdict(result.task, was, bold=False)}")
    outcome = escape_markdown(result.task.spec.outcomes[1])
    tiles = (
        (f"f's score for “{outcome}”", "logit_f", tip("score")),
        ("Ratio r", "ratio", tip("ratio")),
        (f"g's score for “{outcome}”", "logit_g", tip("score")),
    )
    for cell, (label, name, about) in zip(st.columns(3, gap="small"), tiles, strict=True):
        before, after = (float(row[name]) for row in (was, now))
        if name != "ratio":
            before, after = (1.0 / (1.0 + np.exp(-z)) for z in (before, after))
        digits = ".2f" if name == "ratio" else ".3f"
        cell.metric(
            label,
            f"{after:{digits}}".replace("-", "−"),
            f"{after - before:+{digits}} by the edit".replace("-", "−") if person.edits else None,
            delta_color="off",
            delta_arrow="off",
            help=about,
            border=True,
        )


def _verdict(task: Task, row: pd.Series, *, bold: bool = True) -> str:
    says_f, says_g = (escape_markdown(task.spec.outcomes[int(row[name])]) for name in ("f", "g"))
    if not row["changed"]:
        became = "unchanged"
    else:
        became = "changed for the better" if row["g"] == task.spec.favourable else "changed for the worse"
    if not bold:
        return f"f says “{says_f}”, g says “{says_g}”: {became}."
    return f"**f** says “{says_f}”, **g** says “{says_g}”: **{became}**."


def _bars(frame: pd.DataFrame) -> pd.DataFrame:
    kind = np.where(frame["part"] == "term", np.where(frame["logit"] > 0, "up", "down"), frame["part"])
    labels = []
    for label, value in zip(frame["label"], frame["logit"], strict=True):
        name, bar, more = label.partition("|")
        labels.append(f"{name}: {value:+.2f}{bar}{more}".replace("-", "−"))
    return frame[["start", "end", "ratio"]].assign(label=labels, kind=kind, rank=range(len(frame)))


def waterfall(result: FitResult, person: Person) -> None:
    """The sum from f's score to g's, by concept; by feature and as a table on demand."""
    st.header("From f's score to g's", anchor=False)
    spec = result.task.spec
    frame = explain_sum(result.g, result.task, person.edited)
    options: dict[str, Any] = {"outcomes": spec.outcomes, "favourable": spec.favourable}
    st.html(html_legend(term_styles(spec.outcomes, spec.favourable)))
    ratio = f"{person.now['ratio']:.2f}".replace("-", "−")
    draw(
        plot_waterfall,
        _bars(frame),
        alt="The sum that leads from the score of f to that of g, a bar for each term.",
        table=Table("The sum as a table", "what_if_table", _SUM, lambda: _sum_rows(frame)),
        caption=f"Each term of r times f's logit; together r = {ratio}. "
        "The bars of the terms begin where the one before ends; the dashed line is where the decision turns.",
        **options,
    )
    with st.expander("The same sum by feature", key="what_if_features", on_change="rerun") as opened:
        if opened.open:
            by_column = explain_sum(result.g, result.task, person.edited, by="column")
            table = Table("The sum by feature", "what_if_features_table", _SUM)
            alt = "The sum that leads from the score of f to that of g, a bar for each feature."
            draw(plot_waterfall, _bars(by_column), alt=alt, table=table.title, **options)
            show_table(table, _sum_rows(by_column))


_SUM = {
    "label": ("Term", ""),
    "ratio": ("Adds to r (f counts as 1)", "+.3f"),
    "logit": ("Adds to the logit", "+.3f"),
    "end": ("Logit so far", "+.3f"),
}


def _sum_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(label=frame["label"].str.replace("|", ": ", regex=False))


def edits(result: FitResult, person: Person) -> None:
    """The smallest edits of one feature that undo the change, or cause one."""
    changed = bool(person.now["changed"])
    st.header("What would undo the change" if changed else "What would change the decision", anchor=False)
    frame = explain_edits(result.g, result.task, person.edited, ranges=_ranges_of(result))
    state = _state()
    if frame.empty:
        aim = "makes f and g agree" if changed else "makes g decide otherwise than f"
        st.info(f"No edit of a single feature within the data's range {aim}.", icon=":material/info:")
        return
    ranges = _ranges_of(result)
    others = frame["column"].value_counts()
    best = frame.drop_duplicates("column")
    recorded = {name: person.recorded[name].iloc[0] for name in best["column"]}
    for row in best.head(MAX_EDITS).itertuples():
        known = ranges[row.column]

        def try_it(name: str = row.column, value: Any = row.after) -> None:
            state.told = ""
            if value == recorded[name]:
                state.edits.pop(name, None)
            else:
                state.edits[name] = value

        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            words = _edit_words(result.task, known, row, changed, int(others[row.column]) - 1)
            st.markdown(words, width=EDIT_WIDTH)
            st.button("Try it", key=f"what_if_try_{row.column}", on_click=try_it)
    left = len(best) - MAX_EDITS
    more = f" {left} more features can do it with larger edits." if left > 1 else ""
    more = " One more feature can do it with a larger edit." if left == 1 else more
    start = "from the values as edited" if person.edits else "one feature at a time"
    st.caption(
        f"The smallest edits first, {start}, within the data's range; sd: standard deviations of the feature (of a "
        f"category: as if its levels were 1 apart).{more}"
    )


def _edit_words(task: Task, known: FeatureRange, row: Any, changed: bool, others: int) -> str:
    unit = next((f.unit for f in task.spec.features if f.name == row.column), "")
    change = f"{_shown(known, row.after - row.before, '+')} {unit}".strip() + ", " if known.is_number else ""
    before, after = (escape_markdown(_shown(known, value)) for value in (row.before, row.after))
    also = f", as with {others} other level{'s' if others > 1 else ''}" if others else ""
    outcomes = [escape_markdown(text) for text in task.spec.outcomes]
    moved, stays = ("g", "f") if row.moved == "g" else ("f", "g")
    size = f"{row.size:.1f}" if row.size >= 0.1 else f"{row.size:.2f}"
    says = outcomes[row.g if moved == "g" else row.f]
    end = f"{moved} then says “{says}” too" if changed else f"{moved} then says “{says}”, {stays} does not"
    return f"**{escape_markdown(row.label)}** {before} → **{after}** ({change}{size} sd){also}: {end}."


def shap(result: FitResult, person: Person) -> None:
    """SHAP's account of this person beside COMMOD's own; to be called last, since it may take a while."""
    st.header("SHAP's account beside it", anchor=False)
    own = explain_sum(result.g, result.task, person.edited, by="column").set_index("term")
    if own.loc["g", "ratio"] == 1.0 and len(own) == 2:
        st.info("The score does not change at this setting, so there is nothing to attribute.", icon=":material/info:")
        return
    hold = st.empty()
    if "what_if_shap" not in st.session_state:
        hold.skeleton(height=280)
    found = _shap_values(result, person)
    st.session_state["what_if_shap"] = True
    hold.empty()
    frame = found.assign(commod=[float(own["logit"].get(str(name), 0.0)) for name in found.index])
    frame = frame.loc[frame[["commod", "shap"]].abs().max(axis=1).sort_values(ascending=False, kind="stable").index]
    shown = frame.head(MAX_BARS)
    ranked = shown[["label"]].assign(rank=range(len(shown)))
    parts = [
        ranked.assign(account=ACCOUNTS[0], value=shown["commod"], low=0.0, high=0.0),
        ranked.assign(account=ACCOUNTS[1], value=shown["shap"], low=shown["shap_low"], high=shown["shap_high"]),
    ]
    hidden = len(frame) - len(shown)
    less = f" {hidden} smaller features are in the table." if hidden else ""

    def accounts() -> pd.DataFrame:
        return _account_rows(frame, float(own["logit"].get("constant", 0.0)), float(found.attrs["average"]))

    draw(
        plot_contributions,
        pd.concat(parts, ignore_index=True),
        alt="What each feature adds to the change in this person's score, by COMMOD and by SHAP.",
        table=Table("Both accounts as a table", "what_if_accounts", _ACCOUNTS, accounts),
        caption="Both split the same number, g's logit less f's. COMMOD's terms are read from the model and begin at "
        "r's constant; SHAP's are estimated against other people and begin at their average. Thin lines: how far "
        f"SHAP's bar moves when those people are drawn anew.{less}",
        title="Adds to g's logit against f's",
        label_limit=150,
    )


_ACCOUNTS = {
    "label": ("Feature", ""),
    "commod": (f"{ACCOUNTS[0]} (logit)", "+.3f"),
    "shap": (f"{ACCOUNTS[1]} (logit)", "+.3f"),
    "shap_low": ("SHAP, least of its redraws", "+.3f"),
    "shap_high": ("SHAP, most", "+.3f"),
}


def _account_rows(frame: pd.DataFrame, constant: float, average: float) -> pd.DataFrame:
    """The features between where the two accounts begin and where both end."""
    start = {"label": "Constant of r, less 1; average of others", "commod": constant, "shap": average}
    sums = {name: frame[name].sum() + start[name] for name in ("commod", "shap")}
    rows = [start, *frame.to_dict("records"), {"label": "Sum: g's logit less f's", **sums}]
    return pd.DataFrame(rows, columns=list(_ACCOUNTS))


def _shap_values(result: FitResult, person: Person) -> pd.DataFrame:
    """SHAP of the person as edited."""
    found: pd.DataFrame = result_of(tasks.person_shap(result, person.number, tuple(sorted(person.edits.items()))))
    return found


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/what_if.py")
    st.title("What if this person were different?")
    st.markdown(
        "Choose someone of the test part and edit any feature: **f**, the concepts, **r** and **g** follow at once. "
        "The model stays the one of the Explore page."
    )
    result = current_model()
    choose(result)
    session.keep_link(**link())
    head = st.container()
    left, right = st.columns(2, gap="large")
    with left:
        person = edit(result)
    with head:
        readout(result, person)
    with right:
        waterfall(result, person)
    with left:
        edits(result, person)
    # What may take a while comes last: the page above is complete without it.
    with right:
        shap(result, person)
