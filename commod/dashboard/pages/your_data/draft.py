"""The uploaded file and what has been chosen of it so far; in the session's memory only."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.state.own_data import Held, NoRoomError, return_freed_memory, table_size
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.state.uploads import UploadError, take_upload
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views.widgets import button
from commod.datasets import Choice, guess_columns, roles
from commod.datasets.leaks import Leak, find_repeats, sample_rows
from commod.datasets.own import Done, with_a_line
from commod.experiments.preflight import LOOKED_AT, DataPreview
from commod.models.threshold import ONE_HALF
from commod.uploads.limits import TableError
from commod.uploads.reading import ReadTable, read_table

# For how many choices it is remembered what f looked like.
MAX_LOOKS = 10
# Reading takes some fifteen times the size of a file for a moment: of those beyond this many bytes, one at a time.
LARGE = 5 * 2**20
_reading_large = Lock()


@dataclass(eq=False)
class TableDraft(Held):
    """A file that was read, and what has been chosen of it so far."""

    name: str = ""
    table: ReadTable | None = None
    problem: str = ""
    refused: str = ""  # why what was chosen is not in use
    chosen: dict[str, Any] = field(default_factory=dict)
    done: tuple[Done, ...] = ()  # what was done to the data in use
    leaks: list[Leak] = field(default_factory=list)  # of the data in use
    used: Choice | None = None  # what the data in use were made by, if it was from this file
    uploads: int = 0  # a new number is a new, empty uploader
    forgotten: str = ""  # what was forgotten just now
    token: str = field(default_factory=lambda: secrets.token_hex(16))  # by which nobody else can ask for it
    _looks: dict[str, DataPreview] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(table_size(self.table.frame) if self.table else 0)

    def forget(self) -> None:
        """Be as empty as a new draft."""
        super().forget()
        empty = TableDraft(uploads=self.uploads + 1)
        vars(self).clear()
        vars(self).update(vars(empty))

    @property
    def frame(self) -> pd.DataFrame:
        """The table."""
        assert self.table is not None
        return self.table.frame

    @cached_property
    def guesses(self) -> pd.DataFrame:
        """What each column seems to be."""
        return guess_columns(self.frame)

    @cached_property
    def repeats(self) -> dict[str, int]:
        """Columns that name people who have several rows, and how many rows those are."""
        return roles.possible_people(self.frame, self.guesses)

    def preview(self, choice: Choice) -> DataPreview:
        """What somebody should know before these data are used, from some thousand of the rows."""
        plain = replace(choice, turned=False, threshold=ONE_HALF)
        key = repr(plain)
        if key not in self._looks:
            while len(self._looks) >= MAX_LOOKS:
                self._looks.pop(next(iter(self._looks)))
            self._looks[key] = _look(self, plain)
        return self._looks[key]


draft = PageState("your_data", TableDraft)


def _look(here: TableDraft, choice: Choice) -> DataPreview:
    rows, place = len(here.frame), st.empty()
    some = here.frame.sample(min(LOOKED_AT, rows), random_state=0).sort_index()

    def at(some: pd.DataFrame) -> DataPreview | None:
        task = tasks.preview(here.token, some, of_each, usable, rows, here.repeats)
        return result_of(task, place, "Looking at the data")

    try:
        usable = with_a_line(here.frame, choice)
        of_each = sample_rows(here.frame, usable)
        found = at(some) or at(here.frame)
    except ValueError as error:
        return DataPreview(find_repeats(here.repeats, choice), problem=f"As chosen, these data cannot be used. {error}")
    assert found is not None  # of all rows it is never
    return found


@contextmanager
def _one_large_file(size: int) -> Iterator[None]:
    """Wait until no other large file is read; return what reading took for a moment."""
    if size <= LARGE:
        yield
        return
    with _reading_large:
        try:
            yield
        finally:
            return_freed_memory()


def take() -> None:
    """Read the file in the uploader, which the server then holds no longer; or say why it was not taken."""
    here = draft()
    try:
        uploaded = take_upload(f"upload_{here.uploads}")
    except UploadError as error:
        here.problem = str(error)
        return
    if uploaded is not None:
        name, content = uploaded
        read(content, name)


def read(content: bytes, name: str, *, uploaded: bool = True) -> None:
    """Read a file into a new draft; one that cannot be read leaves the old draft as it is."""
    old = draft()
    try:
        with _one_large_file(len(content)):
            table = read_table(content)
        draft.set(TableDraft(name[:60], table, done=old.done, leaks=old.leaks, uploads=old.uploads + (not uploaded)))
    except (TableError, NoRoomError) as error:
        old.problem = f"{name[:60]}: {error}"
    except Exception:  # whatever a file does to its reader, the page goes on
        old.problem = f"{name[:60]}: this file could not be read. Save the table again as CSV in UTF-8."


def kept(name: str, value: Any) -> dict[str, Any]:
    """Arguments of a widget whose value outlives a visit to another page."""
    return mirrored(f"own_{name}", value, lambda chosen: draft().chosen.update({name: chosen}))


def select(label: str, options: list[str], name: str, default: str, **more: Any) -> str:
    """A choice among some texts, with our guess at first."""
    value = draft().chosen.setdefault(name, default)
    if value not in options:
        value = draft().chosen[name] = default
    return str(st.selectbox(label, options, **kept(name, value), **more))


class UnansweredError(Exception):
    """Something is asked that cannot be guessed well enough; the page goes on when it is answered."""


def ask(question: str, answers: dict[str, str], name: str, others: list[str] | None = None) -> None:
    """Ask for what is chosen under a name, unless it has been chosen: the likeliest answers in words, and others."""
    here = draft()
    if name in here.chosen:
        return

    def answer(value: str | None) -> None:
        if value is not None:
            here.chosen[name] = value

    with st.container(border=True):
        st.markdown(f"**{escape_markdown(question)}** We cannot tell from the file.")
        for place, (value, meaning) in enumerate(answers.items()):
            button(escape_markdown(meaning), "", answer, value, key=f"answer_{name}_{place}")
        if others:
            taken = mirrored(f"answer_{name}", None, answer)
            st.selectbox("Or another column", others, index=None, placeholder="Choose a column", **taken)
    raise UnansweredError
