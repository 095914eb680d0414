"""The decision of a session: what is typed before it is signed, and what was signed."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.datasets import data_of
from commod.decisions import confirmation
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
