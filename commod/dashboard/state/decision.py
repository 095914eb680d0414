"""The decision of a session: what is typed before it is signed, what was signed, and an uploaded record."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pandas as pd

from commod.dashboard.state import session
from commod.dashboard.state.controls import clean_line
from commod.dashboard.state.own_data import own_data
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.uploads import UploadError, take_upload
from commod.datasets import Task, data_of, is_shipped, load_task
from commod.decisions import confirmation, read_record
from commod.experiments.scene import SceneKey

# Days after which a decision is looked at again, unless somebody says otherwise.
HALF_A_YEAR = 182


@dataclass
class DecisionDraft:
    """What is typed before a decision is signed; it outlives slider moves and visits to other pages."""

    who: str = ""
    role: str = ""
    why: str = ""
    look_again: date = field(default_factory=lambda: date.today() + timedelta(days=HALF_A_YEAR))
    decided: str = ""  # the name of the model; the first one if it is not shown
    kept: set[str] = field(default_factory=set)  # models that are not named as rejected
    reasons: dict[str, str] = field(default_factory=dict)  # by name of the model, where somebody has typed one
    signing: bool = False  # whether the button was pressed and the record is not made yet


draft = PageState("decision_draft", DecisionDraft)
_openings: PageState[dict[str, list[str]]] = PageState("openings", dict)
_signed: PageState[dict[tuple[SceneKey, str], dict[str, Any]]] = PageState("signed", dict)


def sign(record: dict[str, Any]) -> None:
    """Keep the record of a decision about the scene and the criterion that are shown, in place of an earlier one."""
    _signed()[session.current().problem()] = record
    if confirmation(record):
        data = session.current().data
        _openings()[data] = [*openings(data), record["sha256"]]


def openings(data: str) -> list[str]:
    """Hashes of the records for which the sealed people of a data set were opened in this session."""
    return _openings().get(data, [])


def signed_decision() -> dict[str, Any] | None:
    """The record that was last signed about the scene and the criterion that are shown, if any.

    Its model may be another. Uploaded data that are forgotten take theirs with them.
    """
    here, known = _signed(), session.data_sets()
    for problem in [problem for problem in here if data_of(problem[0].data) not in known]:
        del here[problem]
    return here.get(session.current().problem())


# ---- an uploaded record ----


@dataclass
class UploadedRecord:
    """The file of a decision, what is wrong with it, and what came of training again."""

    name: str = ""
    record: dict[str, Any] | None = None
    fault: str = ""
    ticket: Any = None  # of the training
    lines: pd.DataFrame | None = None
    uploads: int = 0  # a new number is a new, empty uploader


uploaded_record = PageState("decision_file", UploadedRecord)


def upload_record() -> None:
    """Callback: read the file that was uploaded, in place of an earlier one."""
    try:
        uploaded = take_upload(f"decision_upload_{uploaded_record().uploads}")
        if uploaded is None:
            return
        forget_record()
        uploaded_record().name = clean_line(uploaded[0], 40)
        uploaded_record().record = read_record(uploaded[1])
    except ValueError as error:
        if isinstance(error, UploadError):
            forget_record()
        uploaded_record().fault = str(error)


def forget_record() -> None:
    """Forget the file, and end its training."""
    here = uploaded_record()
    if here.ticket is not None:
        here.ticket.leave()
    uploaded_record.set(UploadedRecord(uploads=here.uploads + 1))


def data_of_record(record: dict[str, Any]) -> Task | None:
    """The data of a decision as they are here: those that ship, else the table that this session has uploaded."""
    name = record["data"]["name"]
    if is_shipped(name):
        return load_task(name)
    own = own_data()
    return None if own is None else load_task(own.name)
