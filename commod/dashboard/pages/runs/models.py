"""The models of the saved runs: those that are compared, then the others for their figures."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import result_of, wait
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state.runs_file import Run, differing_figures, figures_of_run
from commod.dashboard.state.saved_runs import shelf
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.escape import escape_markdown

MARKS = "ABCD"


@dataclass(frozen=True)
class Shown:
    """A run that is compared: its letter, and its model."""

    mark: str
    run: Run
    result: FitResult

    @property
    def settings(self) -> Settings:
        return self.run.settings

    @property
    def title(self) -> str:
        return f"{self.mark}: {self.run.name}"


def train_compared(chosen: Sequence[Run]) -> list[Shown]:
    """The models of the runs that are compared; one that fails is named and left out."""
    place = st.empty()
    shown: list[Shown] = []
    with ExitStack() as places_in_queue:
        begun = [places_in_queue.enter_context(submit(tasks.fit(run.settings))) for run in chosen]
        for mark, run, training in zip(MARKS, chosen, begun, strict=False):
            try:
                result: FitResult = wait(training, place, "Training")
            except Exception as error:
                st.error(f"{_why_not(run, error)} The others are shown.", icon=":material/error:")
                continue
            _keep_figures(result)
            shown.append(Shown(mark, run, result))
            if not result.converged:
                st.warning(
                    f"The solver did not settle on “{escape_markdown(run.name)}”, so its model may be improved on.",
                    icon=":material/warning:",
                )
    return shown


def train_rest(place: Any) -> None:
    """Count the figures of runs that are not compared, for the table, the file and the check."""
    here = shelf()
    missing = [run for run in here.runs if run.settings.model() not in here.figures]
    for i, run in enumerate(missing, start=1):
        place.progress((i - 1) / len(missing), text=f"Training {i} of {len(missing)} runs that are not compared …")
        try:
            _keep_figures(result_of(tasks.fit(run.settings)))
        except Exception as error:
            st.warning(_why_not(run, error), icon=":material/warning:")
    place.empty()


def _keep_figures(result: FitResult) -> None:
    """Remember the key figures of a model that was trained."""
    figures = shelf().figures
    if result.settings not in figures:
        figures[result.settings] = figures_of_run(result.figures)


def _why_not(run: Run, error: Exception) -> str:
    """One sentence on a run that failed; of our own faults nothing is told."""
    reason = str(error) if isinstance(error, ValueError) else "for a reason of ours, not of yours."
    return escape_markdown(f"“{run.name}” could not be trained: {reason}")


def check_figures(place: Any) -> None:
    """Say where figures of an imported file are not those found here."""
    here = shelf()
    with place.container():
        for run in here.runs:
            found = here.figures.get(run.settings.model())
            if run.claim is None or found is None:
                continue
            differing = differing_figures(run.claim.figures, found)
            maker = f" (commod {run.claim.library})" if run.claim.library else ""
            sentence = f"The file of “{run.name}” was made by another version{maker}: {'; '.join(differing)}."
            if differing:
                told = f"{sentence} What is shown is what was trained here."
                st.warning(escape_markdown(told), icon=":material/difference:")
