"""The files that a session brings to ask whether a model still holds; in the session's memory only.

The server reads no model and no batch: both go, as they are, to a process with limits on its time and memory. A
decision is small, and the server reads it.
"""

import hashlib
import secrets
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.processes import TOO_LARGE, TOO_LONG
from commod.dashboard.jobs.service import result_of
from commod.dashboard.state.own_data import Held, NoRoomError
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.uploads import UploadError, take_upload
from commod.datasets import on_forget

# Said of files, in place of what is said of an f that takes too long to train.
UNBOUNDED = "These files take more time or memory than there is for them: bring a sample of the rows."


class KeptFile(Held):
    """A file as it came, and what was last found in it."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(len(content))
        self.name, self.content = name[:60], content
        self.digest = hashlib.sha256(content).hexdigest()
        self.found: tuple[tuple[str, ...], Any] | None = None

    def read(self, key: tuple[str, ...], reader: Callable[["KeptFile"], Any]) -> Any:
        """What the reader makes of it, or its ValueError; computed once for a key."""
        if self.found is None or self.found[0] != key:
            try:
                self.found = key, reader(self)
            except ValueError as error:
                self.found = key, error
        if isinstance(self.found[1], ValueError):
            raise self.found[1]
        return self.found[1]

    def forget(self) -> None:
        super().forget()
        self.content, self.found = b"", None


class Place:
    """Takes one kind of file. While a new file cannot be read, the last one that could be read is used."""

    def __init__(self) -> None:
        self.sound: KeptFile | None = None
        self.new: KeptFile | None = None  # not read yet, or refused
        self.problem = ""
        self.refused: KeptFile | None = None  # the file that the problem is about

    @property
    def file(self) -> KeptFile | None:
        """The file that is used."""
        return self.sound or self.new

    def take(self, name: str, content: bytes) -> None:
        """Keep a new file; it is read when the page is drawn."""
        new = KeptFile(name, content)
        if self.new is not None:
            self.new.forget()
        self.new = new

    def read(self, key: tuple[str, ...], reader: Callable[[KeptFile], Any]) -> Any:
        """What the reader makes of the new file or, if that cannot be read, of the one before; None without either."""
        if self.refused is not None and self.refused in (self.new, self.sound):  # it may fit another model
            self.problem = ""
        for file in (self.new, self.sound):
            if file is None:
                continue
            try:
                found = file.read(key, reader)
            except ValueError as error:
                self.problem, self.refused = f"{file.name}: {error}", file
                continue
            self.forget(but=file)
            self.sound, self.new = file, None
            return found
        return None

    def forget(self, but: KeptFile | None = None) -> None:
        """Forget its files, except one."""
        for file in (self.new, self.sound):
            if file is not None and file is not but:
                file.forget()


@dataclass(eq=False)
class LaterFiles:
    """What a session has brought to this page."""

    source: str = "sliders"
    people: str = "shifted"
    model: Place = field(default_factory=Place)
    batch: Place = field(default_factory=Place)
    decision: Place = field(default_factory=Place)
    uploads: int = 0  # a new number is a new, empty uploader
    token: str = field(default_factory=lambda: secrets.token_hex(16))  # so that nobody else can ask for its results

    def __post_init__(self) -> None:
        _all_files.add(self)

    @property
    def is_own_data(self) -> bool:
        """Whether anybody's model or batch is in it."""
        return self.model.file is not None or self.batch.file is not None


files = PageState("later", LaterFiles)
_all_files: weakref.WeakSet[LaterFiles] = weakref.WeakSet()


def _forget_results(data: str) -> None:
    """Drop what was found of models of a data set that must go; the key of a batch begins with its name."""
    for each in list(_all_files):
        for file in (each.batch.new, each.batch.sound):
            if file is not None and file.found is not None and file.found[0][0] == data:
                file.found = None


on_forget(_forget_results)


def in_limits(task: ComputeTask, what: str) -> Any:
    """What a process of its own finds in files; `what` is said while it works."""
    try:
        return result_of(task, st.empty(), what)
    except ValueError as error:
        if str(error) in (TOO_LONG, TOO_LARGE):
            raise ValueError(UNBOUNDED) from None
        raise


def uploader(what: str, label: str, types: list[str], most: int) -> None:
    """A place for a file. What is wrong with a file is shown, and what was there before stays."""
    key = f"later_{what}_{files().uploads}"

    def taken() -> None:
        place: Place = getattr(files(), what)
        place.problem, place.refused = "", None
        try:
            brought = take_upload(key)
            if brought is not None:
                place.take(*brought)
        except (UploadError, NoRoomError) as error:
            place.problem = str(error)

    st.file_uploader(label, type=types, key=key, on_change=taken, max_upload_size=most)


def forget_all() -> None:
    """Forget all files of this page, and what was found in them."""
    here = files()
    for what in ("model", "batch", "decision"):
        getattr(here, what).forget()
        st.session_state.pop(f"later_{what}_{here.uploads}", None)
    files.set(LaterFiles(here.source, here.people, uploads=here.uploads + 1))
