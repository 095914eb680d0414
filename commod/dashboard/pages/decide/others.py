"""f and the best model of every other method under the same requirements, as their sweeps come in."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, draw_pending, get, go_on, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.decide.models import (
    AS_F,
    SCREEN,
    Candidate,
    again,
    asked_refits,
    candidates_in_order,
    offer_setting,
)
from commod.dashboard.pages.decide.verdict import answer_in_words, paint_table
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.verdicts import verdict_in_words
from commod.dashboard.views import methods as sweeps
from commod.decisions import Requirements
from commod.experiments import Sweep, checks
from commod.uploads.limits import count_of

NEXT = "Next: [change a requirement](#required), [compare the models](#others) or [sign a decision](#sign)."


def _standing(one: Candidate) -> tuple[bool, int, int]:
    """How well a model meets the requirements: larger is better."""
    return not one.collapse, -int((one.checked["verdict"] == "fail").sum()), one.met


@dataclass
class Beside:
    """The section: `draw` shows what there is, `finish` waits for the rest and draws the page anew with it."""

    settings: Settings
    result: FitResult
    required: Requirements
    answer: Any  # the places of what is said of the others, and of what to do next
    next_step: Any

    def __post_init__(self) -> None:
        self._lacked = [task for task in self._own_refits() if get(task) is None]  # not in what is drawn from now on

    def draw(self) -> None:
        """The table with what is known, and pictures of it."""
        own = sweeps.own_method(self.settings)
        with st.expander("Choose the methods"):
            self.names = list(dict.fromkeys([*sweeps.choose_methods(self.settings), own]))
        self.form = sweeps.own_form(self.settings, sweeps.form_of(self.settings, self.required))
        self.progress = st.empty()
        self.rows: Any = st
        self._show(sweeps.known(self.settings, self.names, self.form))
        self._lacked += [task for _, task in self._refits()]
        self._offer_best()
        self.refitting = st.empty()
        self._offer_refits(st.empty())
        self.note = st.empty()
        self._note()
        with st.expander("What US law says"):
            st.caption(tip("four_fifths_law"))
        self._go_on()

    def _show(self, found: dict[str, Sweep]) -> None:
        """The answer and the table, of the methods that are done."""
        self.found = dict(found)
        self.candidates = candidates_in_order(self.settings, self.result, self.found, self.required)
        self.answer.markdown(f"{answer_in_words(self.candidates, waiting=self.waits)} {NEXT}")
        self.rows = paint_table(self.rows, self.candidates, self.result)

    def _note(self) -> None:
        searched = 1 + sum(len(sweep.models) for sweep in self.found.values())
        methods = f"{len(self.found)} of {len(self.names)}" if self.waits else f"{len(self.found)}"
        self.note.caption(
            f"We searched {count_of(searched, 'model')} of {methods} methods. Each row is a method's most accurate "
            "model that meets the requirements, or the nearest to that. It was chosen on the people it is judged on, "
            "which flatters it. [ ]: 95\u00a0% interval over people. ○: needs everyone's group."
        )

    def _go_on(self) -> None:
        """Another number in a requirement is no reason to begin the sweeps again."""
        missing = [] if sweeps.state().stopped else [name for name in self.names if name not in self.found]
        quick_first = sorted(missing, key=sweeps.cost_of)
        go_on(
            *(sweeps.sweep_of(name, self.settings, self.form) for name in quick_first),
            *(task for _, task in self._refits()),
        )

    @property
    def waits(self) -> bool:
        return len(self.found) < len(self.names)

    def _offer_best(self) -> None:
        """One click to COMMOD's best, of several that with the fewest worse off, if it is better than the screen's."""
        offered = [one for one in self.candidates[1:] if one.there is not None]
        best = max(offered, key=lambda one: (*_standing(one), -one.facts.worse), default=None)
        if best is None or best.there is None or _standing(best) <= _standing(self.candidates[0]):
            return
        with self.next_step.container(border=True, horizontal=True, vertical_alignment="center"):
            text = verdict_in_words(best.checked, best.facts.people, f"{sweeps.label_of(best.name)} at {best.setting}")
            st.markdown(f"{text} It makes {AS_F}." if best.is_as_f else text)
            offer_setting(st, "Take this setting", best.there)

    # ---- what may take a while ----

    def _refits(self) -> list[tuple[str, ComputeTask]]:
        """The refits, also on other splits, that are asked for and not there yet, each with its model."""
        wanted = [(SCREEN, task) for task in self._own_refits()]
        if self.settings.problem() in asked_refits():
            wanted += self._refits_of_others()
        return [(name, task) for name, task in wanted if get(task) is None]

    def _own_refits(self) -> list[ComputeTask]:
        if not self.result.changed_test.any():
            return []
        return [task for task in (tasks.splits(self.result), tasks.refits(self.result)) if task is not None]

    def _refits_of_others(self) -> list[tuple[str, ComputeTask]]:
        return [
            (one.name, task)
            for one in self.candidates
            if one.name != SCREEN and one.cell is not None and one.facts.changed
            for task in again(self.settings, self.result, one.cell)
        ]

    def _offer_refits(self, place: Any) -> None:
        """A button for the refits of the others."""
        missing = any(get(task) is None for _, task in self._refits_of_others())
        if missing and self.settings.problem() not in asked_refits():
            place.button(
                "Refit the others, too",
                icon=":material/replay:",
                on_click=lambda: asked_refits().add(self.settings.problem()),
                help=tip("decide_refits", count=checks.COMPARED_REFITS),
            )

    def finish(self) -> None:
        """Wait for sweeps and refits; then the page is drawn anew, all being cached."""
        known = len(self.found)
        if self.waits:
            self.found = sweeps.collect(self.settings, self.names, self.found, self.progress, self._paint, self.form)
        draw_pending(*(self._pending(name, task) for name, task in self._refits()))
        if len(self.found) > known or any(get(task) is not None for task in self._lacked):
            st.rerun()

    def _paint(self, found: dict[str, Sweep]) -> None:
        self._show(found)
        self._note()

    def _pending(self, name: str, task: ComputeTask) -> Pending:
        """One that fails leaves the intervals over people."""
        title = next(one.title for one in self.candidates if one.name == name)
        return Pending(submit(task), lambda ticket: None, partial(self._look, title))

    def _look(self, title: str, ticket: Ticket) -> None:
        if ticket.progress > 0:
            self.refitting.caption(f"Refits: {title}, {10 * int(10 * ticket.progress)} %")
