"""The files that a session brings to ask whether a model still holds; in the session's memory only.

Nothing of a model or of a batch is read in the server: both are handed, as they are, to a process with bounds on its
time and memory. Of a decision, which is small, the server reads what is required.
"""

import hashlib
import secrets
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import Task
from commod.dashboard.jobs.processes import TOO_LARGE, TOO_LONG
from commod.dashboard.jobs.service import result_of
from commod.dashboard.state.own_data import Held, NoRoomError
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.uploads import UploadError, take_upload
from commod.datasets import on_forget
from commod.decisions import Requirements
from commod.monitoring import Watched, read_requirements

# Looks that a session keeps: at so many pairs of a model and a batch.
MAX_LOOKS = 4
# What a person is told in place of what is said of an f that is trained.
UNBOUNDED = "These files take more time or memory than there is for them: bring a sample of the rows."


class KeptFile(Held):
    """A file as it came."""

    def __init__(self, name: str, content: bytes) -> None:
        super().__init__(len(content))
        self.name, self.content = name[:60], content
        self.digest = hashlib.sha256(content).hexdigest()

    def forget(self) -> None:
        super().forget()
        self.content = b""


@dataclass(eq=False)
class LaterFiles:
    """What a session has brought to this page, and what was found."""

    source: str = "sliders"
    people: str = "held_out"
    model: KeptFile | None = None
    earlier_model: KeptFile | None = None  # until it is known that the new one can be used
    about: Mapping[str, Any] = field(default_factory=dict)  # of that model, see `commod.monitoring.about_model`
    batch: KeptFile | None = None
    earlier_batch: KeptFile | None = None
    batch_is_sound: bool = False
    decision: str = ""  # name of its file
    required: Requirements = field(default_factory=Requirements)  # in it
    record: Mapping[str, Any] | None = None  # if it is signed
    problems: dict[str, str] = field(default_factory=dict)  # by what was brought
    refused: str = ""  # digest of the batch that the problem is about
    uploads: int = 0  # a new number is a new, empty uploader
    token: str = field(default_factory=lambda: secrets.token_hex(16))  # by which nobody else can ask for it
    looks: dict[tuple[str, str, str], Watched] = field(default_factory=dict)  # by data set, model and batch

    def __post_init__(self) -> None:
        _all_files.add(self)

    @property
    def is_own_data(self) -> bool:
        """Whether anybody's file is in it: such a session is kept longest."""
        return self.model is not None or self.batch is not None

    def read_model(self, place: Any) -> None:
        """Have the model's file say what it is; one that cannot be used goes, and the one before it is back."""
        while self.model is not None and not self.about:
            task = tasks.about_model(self.token, self.model.digest, self.model.content)
            try:
                self.about = _in_bounds(task, place, "Reading the model")
            except ValueError as error:
                self.problems["model"] = f"{self.model.name}: {error}"
                self.model.forget()
                self.model, self.earlier_model = self.earlier_model, None
        _forget(self.earlier_model)
        self.earlier_model = None

    def look(self, model: bytes, place: Any, data: str = "") -> Watched | None:
        """The batch beside the people of a model; one that cannot be used goes, if there is a sound one before it.

        `data` is the name of the data set that the model was trained on here, if it was: what is found goes with it.
        """
        found = None
        if self.batch is not None and self.refused == self.batch.digest:  # it may fit another model than the last
            self.problems.pop("batch", None)
        while self.batch is not None and found is None:
            try:
                found = self._look(model, self.batch, place, data)
                self.batch_is_sound = True
            except ValueError as error:
                self.problems["batch"], self.refused = f"{self.batch.name}: {error}", self.batch.digest
                if self.earlier_batch is None:
                    break
                self.batch.forget()
                self.batch, self.earlier_batch = self.earlier_batch, None
        _forget(self.earlier_batch)
        self.earlier_batch = None
        return found

    def _look(self, model: bytes, batch: KeptFile, place: Any, data: str) -> Watched:
        digest = hashlib.sha256(model).hexdigest()
        key = (data, digest, batch.digest)
        if key not in self.looks:
            task = tasks.watch(self.token, (digest, batch.digest), model, batch.content)
            found: Watched = _in_bounds(task, place, "Looking at the batch")
            while len(self.looks) >= MAX_LOOKS:
                self.looks.pop(next(iter(self.looks)))
            self.looks[key] = found
        return self.looks[key]


def _forget(kept: KeptFile | None) -> None:
    if kept is not None:
        kept.forget()


def _in_bounds(task: Task, place: Any, what: str) -> Any:
    """What work in a process of its own gives; that it took too much is said of files, not of an f."""
    try:
        return result_of(task, place, what)
    except ValueError as error:
        if str(error) in (TOO_LONG, TOO_LARGE):
            raise ValueError(UNBOUNDED) from None
        raise


files = PageState("later", LaterFiles)
_all_files: weakref.WeakSet[LaterFiles] = weakref.WeakSet()


def _forget_looks(data: str) -> None:
    """Drop what was found of models of a data set that must go."""
    for each in list(_all_files):
        each.looks = {key: found for key, found in each.looks.items() if key[0] != data}


on_forget(_forget_looks)


# ---- taking files ----


def uploader(what: str, label: str, types: list[str], take: Callable[[str, bytes], None], most: int) -> None:
    """A place for a file; what is wrong with it is said below, and what was there before stays."""
    here = files()
    key = f"later_{what}_{here.uploads}"

    def taken() -> None:
        now = files()
        now.problems.pop(what, None)
        try:
            brought = take_upload(key)
            if brought is not None:
                take(*brought)
        except (UploadError, NoRoomError) as error:
            now.problems[what] = str(error)
        except ValueError as error:
            now.problems[what] = f"{brought[0][:60] if brought else ''}: {error}"
        except Exception:  # whatever a file does to its reader, the page goes on
            now.problems[what] = "This file could not be read: download it again, or save it anew."

    st.file_uploader(label, type=types, key=key, on_change=taken, max_upload_size=most)


def take_model(name: str, content: bytes) -> None:
    """Keep a model's file; it is read when it is looked at."""
    new = KeptFile(name, content)
    here = files()
    if here.about:
        here.earlier_model = here.model
    here.model, here.about = new, {}


def take_batch(name: str, content: bytes) -> None:
    """Keep a batch; it is read when it is looked at."""
    new = KeptFile(name, content)
    here = files()
    if here.batch_is_sound:
        here.earlier_batch = here.batch
    here.batch, here.batch_is_sound = new, False


def take_decision(name: str, content: bytes) -> None:
    """Read what a decision, or a file of requirements, requires."""
    required, record = read_requirements(content)
    here = files()
    here.decision, here.required, here.record = name[:60], required, record


def forget_all() -> None:
    """Forget all files of this page, and what was found in them."""
    here = files()
    for kept in (here.model, here.earlier_model, here.batch, here.earlier_batch):
        _forget(kept)
    for what in ("model", "batch", "decision"):
        st.session_state.pop(f"later_{what}_{here.uploads}", None)
    files.set(LaterFiles(here.source, here.people, uploads=here.uploads + 1))
