"""The file that a session has brought and what has been chosen of it so far; in the session's memory only."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from commod.dashboard.state.own_data import Held, NoRoomError, table_size
from commod.dashboard.state.page_state import PageState, mirrored
from commod.dashboard.state.uploads import UploadError, take_upload
from commod.datasets import Choice, ChoiceError, find_leaks, guess_columns, make_task, roles
from commod.datasets.leaks import find_repeats, sample_rows
from commod.datasets.own import Done, with_a_line
from commod.datasets.task import Split, Task
from commod.explain.doubts import Doubt, doubts_about, first_scores
from commod.models.threshold import ONE_HALF
from commod.uploads.limits import TableError
from commod.uploads.reading import ReadTable, read_table

# Rows on which f is looked at before data are used, and how many choices it is remembered for.
LOOKED_AT = 10_000
MAX_LOOKS = 10
# Reading takes some fifteen times the size of a file for a moment: of those beyond this many bytes, one at a time.
LARGE = 5 * 2**20
_reading_large = Lock()


@dataclass(frozen=True)
class Look:
    """What is found on some thousand rows before data are used, whatever f's line is and which way its scores go.

    Attributes
    ----------
    warnings : list of str
    rows, scores : Split, array
        People that f was not trained on, and what it says of them; without scores, nothing can be told of f.
    people : int
        How many rows there are in all.
    """

    warnings: list[str]
    task: Task | None = None
    rows: Split | None = None
    scores: NDArray[np.float64] | None = None
    people: int = 0

    def doubts(self, choice: Choice) -> list[Doubt]:
        """Reasons to look at f again, at the cut-off chosen."""
        if self.task is None or self.rows is None or self.scores is None:
            return []
        scores = 1.0 - self.scores if choice.turned else self.scores
        y, sensitive = self.rows.y, self.rows.sensitive
        return doubts_about(self.task, y, sensitive, scores, choice.threshold, people=self.people)


@dataclass(eq=False)
class Draft(Held):
    """A file that was read, and what has been chosen of it so far."""

    name: str = ""
    table: ReadTable | None = None
    problem: str = ""
    chosen: dict[str, Any] = field(default_factory=dict)
    told: tuple[Done, ...] = ()  # what was done to the data in use
    leaks: list[str] = field(default_factory=list)  # of the data in use
    used: Choice | None = None  # what the data in use were made by, if it was from this file
    uploads: int = 0  # a new number is a new, empty uploader
    forgotten: str = ""  # what was forgotten just now
    _looks: dict[str, Look] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(table_size(self.table.frame) if self.table else 0)

    def forget(self) -> None:
        """Be as empty as a new draft."""
        super().forget()
        empty = Draft(uploads=self.uploads + 1)
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

    def look(self, choice: Choice) -> Look:
        """What somebody should know before these data are used, from some thousand of the rows."""
        plain = replace(choice, turned=False, threshold=ONE_HALF)
        key = repr(plain)
        if key not in self._looks:
            while len(self._looks) >= MAX_LOOKS:
                self._looks.pop(next(iter(self._looks)))
            self._looks[key] = _look(self, plain)
        return self._looks[key]


draft = PageState("your_data", Draft)


def _look(here: Draft, choice: Choice) -> Look:
    repeats = find_repeats(here.repeats, choice)
    try:
        usable = with_a_line(here.frame, choice)
        leaks = find_leaks(make_task(sample_rows(here.frame, usable), usable))
        rows = min(LOOKED_AT, len(here.frame))
        try:
            task = make_task(here.frame.sample(rows, random_state=0).sort_index(), usable).task
        except ChoiceError:  # too few of somebody among so many rows
            rows, task = len(here.frame), make_task(here.frame, usable).task
    except ChoiceError as error:
        return Look([f"As chosen, these data cannot be used. {error}", *repeats])
    held, scores = first_scores(task)
    return Look([*leaks, *repeats], task, held, scores, round(len(task.y) * len(here.frame) / rows))


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


def read(content: bytes, name: str) -> None:
    """Read a file into a new draft; one that cannot be read leaves the old draft as it is."""
    old = draft()
    try:
        with _reading_large if len(content) > LARGE else nullcontext():
            table = read_table(content, name)
        draft.set(Draft(name[:60], table, told=old.told, leaks=old.leaks, uploads=old.uploads))
    except (TableError, NoRoomError) as error:
        old.problem = f"{name[:60]}: {error}"
    except Exception:  # whatever a file does to its reader, the page goes on
        old.problem = f"{name[:60]}: this file could not be read. Save the table anew as CSV in UTF-8."


def kept(name: str, value: Any) -> dict[str, Any]:
    """Arguments of a widget whose value outlives a visit to another page."""
    return mirrored(f"own_{name}", value, lambda chosen: draft().chosen.update({name: chosen}))


def select(label: str, options: list[str], name: str, default: str, **more: Any) -> str:
    """A choice among some texts, with our guess at first."""
    value = draft().chosen.setdefault(name, default)
    if value not in options:
        value = draft().chosen[name] = default
    return str(st.selectbox(label, options, **kept(name, value), **more))
