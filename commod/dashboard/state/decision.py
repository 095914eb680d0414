"""The decisions that a session has signed: the last one of each scene and criterion."""

from __future__ import annotations

from typing import Any

from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.datasets import data_of
from commod.experiments.scene import SceneKey

_signed: PageState[dict[tuple[SceneKey, str], dict[str, Any]]] = PageState("signed", dict)


def sign(record: dict[str, Any]) -> None:
    """Keep the record of a decision about the scene and the criterion that are shown, in place of an earlier one."""
    _signed()[session.current().problem()] = record


def signed_decision() -> dict[str, Any] | None:
    """The record that was last signed about the scene and the criterion that are shown; None if there is none.

    Its model need not be that of the sliders: see ``record["model"]``. Uploaded data that are forgotten take theirs
    with them.
    """
    here, known = _signed(), session.data_sets()
    for problem in [problem for problem in here if data_of(problem[0].data) not in known]:
        del here[problem]
    return here.get(session.current().problem())
