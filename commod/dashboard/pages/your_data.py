"""Your data: a session brings its own table, says what is what in it, uses it on all pages, and forgets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.state import session
from commod.dashboard.state.own_data import own_data
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views import frame
from commod.dashboard.views.download import offer
from commod.dashboard.views.group_sizes import draw_group_sizes
from commod.datasets import Choice, ChoiceError, find_leaks, guess_columns, load_task, make_task, roles
from commod.datasets.example import example_table
from commod.datasets.own import MAX_VALUES
from commod.models.base_models import BASE_MODELS
from commod.uploads.limits import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, TableError
from commod.uploads.reading import ReadTable, read_table

EXAMPLE = "applicants.csv"


@dataclass
class Draft:
    """A file that was read and what has been chosen of it so far; in this session's memory only."""

    name: str = ""
    table: ReadTable | None = None
    problem: str = ""
    chosen: dict[str, Any] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)  # what was done to the data in use
    leaks: list[str] = field(default_factory=list)
    uploads: int = 0  # a new number is a new, empty uploader
    forgotten: str = ""  # what was forgotten just now

    @cached_property
    def guesses(self) -> pd.DataFrame:
        """What each column seems to be."""
        assert self.table is not None
        return guess_columns(self.table.frame)


_draft = PageState("your_data", Draft)


# ---- bring a file ----


def _bring() -> None:
    """Upload, or the example."""
    draft = _draft()
    st.markdown(
        f"CSV or Parquet, up to {MAX_BYTES // 2**20} MB, {MAX_ROWS:,} rows and {MAX_COLUMNS} columns: a row of "
        "column names, then one row for each person. The data stay in the memory of this session, are never written to "
        "disk, and no other session can see them."
    )
    left, right = st.columns([3, 2], gap="medium")
    kinds, key = ["csv", "tsv", "txt", "parquet"], f"upload_{draft.uploads}"
    left.file_uploader("Your file", type=kinds, key=key, on_change=_take_upload)
    with right, st.container(border=True):
        st.markdown("**Nothing at hand?** An invented table of applicants, with the scores of a model:")
        with st.container(horizontal=True, gap="small"):
            offer("Example file", _example, EXAMPLE)
            st.button("Open it here", on_click=lambda: _read(_example(), EXAMPLE), icon=":material/table:")
    if draft.forgotten:
        gone, shown = (
            escape_markdown(text) for text in (draft.forgotten, load_task(session.current().data).spec.title)
        )
        told = f"{gone} and all that was made of it is forgotten; the pages show {shown}."
        st.success(told, icon=":material/delete:")
    if draft.problem:
        st.error(escape_markdown(draft.problem), icon=":material/error:")


def _take_upload() -> None:
    uploaded = st.session_state.get(f"upload_{_draft().uploads}")
    if uploaded is not None:
        _read(uploaded.getvalue(), uploaded.name)


def _example() -> bytes:
    return example_table().to_csv(index=False).encode()


def _read(content: bytes, name: str) -> None:
    """Read a file into a new draft; one that cannot be read leaves the old draft as it is."""
    try:
        table = read_table(content, name)
    except TableError as error:
        _draft().problem = f"{name[:60]}: {error}"
        return
    except Exception:  # whatever a file does to its reader, the page goes on
        _draft().problem = f"{name[:60]}: this file could not be read. Save the table anew as CSV in UTF-8."
        return
    old = _draft()
    _draft.set(Draft(name[:60], table, told=old.told, leaks=old.leaks, uploads=old.uploads))


# ---- say what is what ----


def _choose() -> None:
    """What each column is, and the button that makes a task of it."""
    draft = _draft()
    if draft.table is None:
        return
    data = draft.table.frame
    st.header(f"What is what in {escape_markdown(draft.name)}")
    for notice in draft.table.notices:
        st.warning(escape_markdown(notice), icon=":material/info:")
    st.caption(f"{len(data):,} rows, {len(data.columns)} columns.")
    with st.expander("The columns, and what they seem to be", expanded=len(data.columns) <= 12):
        _columns_table(draft.guesses)
    classes = roles.columns_of_classes(draft.guesses)
    if len(classes) < 2:
        st.error(
            "An outcome and a sensitive attribute need two values or more, and at most "
            f"{MAX_VALUES}; this table has {len(classes)} such column(s). Add them, or cut a column into classes.",
            icon=":material/error:",
        )
        return
    choice = _choice(data, draft.guesses, classes)
    st.button("Use these data", type="primary", icon=":material/check:", on_click=_use, args=(data, choice))


def _choice(data: pd.DataFrame, guesses: pd.DataFrame, classes: list[str]) -> Choice:
    """The widgets that say what is what, each with our guess at first."""
    left, right = st.columns(2, gap="large")
    with left:
        target = _select("Outcome (target)", classes, "target", roles.guess_target(classes, guesses))
        values = roles.values_of(data[target])
        good = _select("The favourable outcome", values, f"favourable_{target}", roles.guess_favourable(values))
    with right:
        others = [column for column in classes if column != target]
        sensitive = _select("Sensitive attribute", others, "sensitive", roles.guess_sensitive(others, guesses))
        groups = roles.values_of(data[sensitive])
        first = _select("First group", groups, f"group0_{sensitive}", groups[0])
        rest = [group for group in groups if group != first]
        second = _select("Second group", rest, f"group1_{sensitive}_{first}", rest[0])
    possible = roles.possible_scores(data, guesses, (target, sensitive))
    scores = _select(
        "The model f",
        ["", *possible],
        f"scores_{target}_{sensitive}",
        roles.guess_scores(possible),
        format_func=lambda column: (
            f"its scores are in “{column}”"
            if column
            else f"is trained here ({', '.join(title.lower() for title, _ in BASE_MODELS.values())})"
        ),
        help=tip("given_scores"),
    )
    free = [str(column) for column in data.columns if column not in (target, sensitive, scores)]
    kinds = _kinds(free, guesses)
    merits = _merits([column for column, kind in kinds.items() if kind == "number"])
    missing: Any = st.radio(
        "Missing values of features",
        ["fill", "drop"],
        format_func={"fill": "Fill in: median of a number, a level of its own", "drop": "Leave those rows out"}.get,
        horizontal=True,
        **_kept("missing", _draft().chosen.get("missing", "fill")),
    )
    return Choice(target, good, sensitive, (first, second), kinds, scores, missing, _draft().name, merits)


def _columns_table(guesses: pd.DataFrame) -> None:
    rows = [
        [str(name), row["kind"], row["why"], f"{row['values']:,}", f"{row['missing']:,}", row["examples"]]
        for name, row in guesses.iterrows()
    ]
    headings = {"Column": "", "Use as": "", "Why": "", "Different values": "", "Missing": "rows", "Examples": ""}
    st.html(html_table(headings, rows, caption="The columns of the file", text=(1, 2, 5)))


def _select(label: str, options: list[str], name: str, default: str, **more: Any) -> str:
    value = _draft().chosen.setdefault(name, default)
    if value not in options:
        value = _draft().chosen[name] = default
    return str(st.selectbox(label, options, **_kept(name, value), **more))


def _kept(name: str, value: Any) -> dict[str, Any]:
    """Arguments of a widget whose value outlives a visit to another page."""
    return mirrored(f"own_{name}", value, lambda chosen: _draft().chosen.update({name: chosen}))


def _kinds(free: list[str], guesses: pd.DataFrame) -> dict[str, Any]:
    """Features: columns as numbers and as categories; what is in neither is left out."""
    titles = {"number": "Features: numbers", "category": "Features: categories"}
    kinds = _sorted("features", titles, free, lambda kind, column: guesses.loc[column, "kind"] == kind)
    left_out = [column for column in free if column not in kinds]
    if left_out:
        more = f" and {len(left_out) - 8} more" if len(left_out) > 8 else ""
        st.caption(f"Left out: {', '.join(escape_markdown(column) for column in left_out[:8])}{more}.")
    return kinds


def _merits(numbers: list[str]) -> dict[str, Any]:
    """Numbers of which more, or less, should never count against a person; none at first, since it is a judgement."""
    titles = {"more": "More of it is a merit", "less": "Less of it is a merit"}
    ways = _sorted("merits", titles, numbers, lambda way, column: False, help=tip("merit"), placeholder="None")
    return {column: 1 if way == "more" else -1 for column, way in ways.items()}


def _sorted(
    name: str, titles: dict[str, str], columns: list[str], guess: Callable[[str, str], bool], **more: Any
) -> dict[str, str]:
    """Columns sorted into two lists; one that is chosen for the one leaves the other."""
    lists: dict[str, list[str]] = _draft().chosen.setdefault(name, {})
    for key in titles:
        guessed = [column for column in columns if guess(key, column)]
        lists[key] = [column for column in lists.get(key, guessed) if column in columns]

    def take(key: str, chosen: list[str]) -> None:
        for other in lists:
            lists[other] = [column for column in lists[other] if column not in chosen]
        lists[key] = chosen

    for place, (key, title) in zip(st.columns(2, gap="large"), titles.items(), strict=True):
        place.multiselect(title, columns, **mirrored(f"own_{name}_{key}", lists[key], partial(take, key)), **more)
    return {column: key for key, chosen in lists.items() for column in chosen}


def _use(data: pd.DataFrame, choice: Choice) -> None:
    draft = _draft()
    try:
        own = make_task(data, choice)
    except ChoiceError as error:
        draft.problem = str(error)
        return
    draft.problem, draft.told, draft.leaks = "", list(own.done), find_leaks(own)
    session.use_own(own.task)


# ---- what is in use ----


def _in_use() -> None:
    """The data this session works on, what was done to them, and the button that forgets them."""
    own = own_data()
    if own is None:
        return
    draft, task = _draft(), own.task
    st.header(f"In use: {escape_markdown(task.spec.title)}")
    st.success("All pages work on these data now.", icon=":material/check:")
    draw_group_sizes(task, label="{sensitive}: {group}", told="{rate:.1%}: {outcome}")
    for sentence in draft.leaks:
        st.warning(escape_markdown(sentence), icon=":material/warning:")
    if draft.told:
        st.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in draft.told))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.page_link("app.py", label="Explore these data", icon=":material/tune:")
        st.button("Forget these data", on_click=_forget, icon=":material/delete:")


def _forget() -> None:
    own, uploads = own_data(), _draft().uploads
    session.forget_own()
    _draft.set(Draft(uploads=uploads + 1, forgotten=own.task.spec.title if own else ""))
    st.session_state.pop(f"upload_{uploads}", None)


def _what_it_is() -> None:
    """For whoever wonders what is asked for."""
    with st.expander("What is needed, and what happens to it"):
        st.markdown(
            """
- **Outcome**: what was decided or what happened, in two classes; say which one is good for a person.
- **Sensitive attribute**: whose two groups are to be treated alike. It is used to train g and to measure, never as a
  feature.
- **The model f**: trained here on 70 % of the rows, or, if you have a model already, a column with its probabilities of
  the favourable outcome. Then f itself is not needed: g multiplies the logit of that score by a
  ratio that the features give (and adds a shift, if you choose that update).
- **Merit**: numbers of which more (or less) should never count against a person, such as a grade. The pages then count
  for whom more of it hurts all the same. Leave both lists empty if nothing is to be said.
- **Missing values** are filled in or their rows left out, as you say, and the page tells how many.
- Nothing that is uploaded is executed, unpickled or written to disk. Reloading the page in the browser or closing it
  ends the session, and the data with it, ten minutes later at the latest.
"""
        )


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/your_data.py")
    st.title("Use your own data")
    if not session.access().allows("data"):
        st.info("The link you came with has set the data set, so no other can be brought.", icon=":material/lock:")
        session.keep_link()
        st.stop()
    _in_use()
    _bring()
    _choose()
    _what_it_is()
    session.keep_link()
