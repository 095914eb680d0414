"""Do their changes make sense? The checks of the matched models, method by method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.checks import Retrained
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import get, submit
from commod.dashboard.jobs.tasks import Task
from commod.dashboard.jobs.wait import Pending, draw_pending
from commod.dashboard.server.paint_order import deferred_paint
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.html import html_meanings, html_table
from commod.dashboard.views.checks import changing_table, in_a_cell
from commod.dashboard.views.methods import label_of, place, state
from commod.experiments import Model, Sweep, prepare
from commod.experiments import checks as library
from commod.experiments.match import Match
from commod.experiments.refits import Refits
from commod.experiments.sense import answers_of_decisions
from commod.explain.checks import CHECKS, Answer, Check, check_again
from commod.explain.sense import SURE
from commod.metrics.intervals import wilson_interval
from commod.models.competitors import METHODS

TITLE = "Do their changes make sense?"
# Refits of a method that would take more seconds are made only if somebody asks for them.
PATIENCE = 30.0
# What stands in a cell without an answer.
COMES, ON_REQUEST, FAILED = "…", "on request", "– could not be computed"

Answers = dict[str, dict[str, Answer]]


def begin_sense(settings: Settings, sweeps: dict[str, Sweep], found: Match) -> Callable[[], None]:
    """The table with what is known at once; what it gives finds out the rest, to be called last on the page."""
    st.subheader(TITLE)
    scene, models = prepare(*settings.scene()), library.matched_models(found, sweeps)
    answers = {name: answers_of_decisions(scene, model.decisions_test) for name, model in models.items()}
    section = _Section(settings, found.table, models, answers)
    section.recall()
    section.lay_out()
    return section.finish


@dataclass
class _Section:
    settings: Settings
    table: pd.DataFrame  # of the match
    models: dict[str, Model]
    answers: Answers
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # by method and check, in place of an answer
    seconds: dict[str, float] = field(default_factory=dict)  # that one training takes
    shares: dict[str, str] = field(default_factory=dict)  # how far what is at work has come
    count: int = field(default_factory=lambda: library.COMPARED_REFITS)

    def lay_out(self) -> None:
        """All places, with what is known by now; if nothing is to come, it stays when the script runs again."""
        waits = any((name, check) not in self.notes for name in self.models for check in self._missing(name))
        st.markdown(sense_in_words(self.table, self.answers))
        self.rows = changing_table(st, self.html())
        st.html(html_meanings({check.short: f"{check.meaning} {check.bounds}" for check in CHECKS.values()}))
        self.told, self.offer = st.empty(), place(waits=waits)
        st.caption(
            "Shaded: near COMMOD's fairness and accuracy. Shares are of the people whom a method changes; *"
            f"{CHECKS['merit'].short}* is of all whom one more step can reach, and of that merit which hurts most "
            "people under this method (named where it hurts anybody; rows may differ in it). "
            f"*{CHECKS['again'].short}*: each method is refitted {self.count} times on resampled training rows; the "
            "share of another number of refits, as on another page, may be another. A method that decides by lot draws "
            "a new one for an edited person and in a refit."
        )
        st.caption(
            "Accuracy that is lost is the surplus of wrong changes over right ones: of two methods that lose the same, "
            "the one that changes fewer has the smaller share of right ones. So look at how many are wrong, too."
        )
        self.tell_marks()
        if not waits:
            self._offer()

    # ---- what is asked for ----

    def _missing(self, name: str) -> list[str]:
        return [check for check in CHECKS if check not in self.answers[name]]

    def _merit(self, name: str) -> Task:
        return tasks.retrained(self.settings, self.models[name].cell)

    def _again(self, name: str) -> Task:
        return tasks.refits_of_model(self.settings, self.models[name].cell, self.count)

    def recall(self) -> None:
        """Take over what has been computed before, and what needs no computing."""
        for name in self.models:
            self._take_merit(name, get(self._merit(name)))
            if not self.answers[name]["right"].whole:  # nobody to be changed again
                self.answers[name]["again"] = check_again([False], [0.0], self.count)
            elif (again := get(self._again(name))) is not None:
                self._take_again(name, again)
        self._put_off()

    def _put_off(self) -> None:
        """Leave the refits that take long to who asks for them."""
        for name in self.models:
            long = "again" in self._missing(name) and self._takes(name) > PATIENCE
            if long and self._asked(name) not in state().refits:
                self.notes[name, "again"] = ON_REQUEST

    def _take_merit(self, name: str, found: Retrained | None) -> None:
        if found is not None:
            self.answers[name]["merit"], self.seconds[name] = found.merit, found.seconds

    def finish(self) -> None:
        """Train each model once more, then refit it: one method after the other, the slow ones last."""

        def missing(check: str) -> list[str]:
            left = [name for name in self.models if check in self._missing(name) and (name, check) not in self.notes]
            return sorted(left, key=lambda name: METHODS[name].cost)

        if not missing("merit") + missing("again"):
            return
        draw_pending(*(self._pending(name, "merit", self._merit(name), self._take_merit) for name in missing("merit")))
        self._put_off()
        with deferred_paint():
            self.paint()
            self._offer()
        draw_pending(*(self._pending(name, "again", self._again(name), self._take_again) for name in missing("again")))
        self.tell_marks()

    def _take_again(self, name: str, found: Refits) -> None:
        changed = self.models[name].decisions_test != prepare(*self.settings.scene()).decisions_test
        self.answers[name]["again"] = check_again(changed, found.share, len(found))

    def _takes(self, name: str) -> float:
        """Seconds, about, of a method's refits."""
        return self.count * self.seconds.get(name, 0.0)

    def _asked(self, name: str) -> tuple[Any, ...]:
        return (self.settings.problem(), self.models[name].cell)

    def _offer(self) -> None:
        """A button for the refits that take long."""
        long = [name for name in self.models if self.notes.get((name, "again")) == ON_REQUEST]
        if not long:
            return

        def ask() -> None:
            state().refits |= {self._asked(name) for name in long}

        times = ", ".join(f"{METHODS[name].title} about {self._takes(name):.0f} s" for name in long)
        with self.offer.container(horizontal=True, vertical_alignment="center"):
            st.button("Refit these, too", icon=":material/replay:", on_click=ask, key="refit_slow")
            st.markdown(
                f"{self.count} refits would take more than {PATIENCE:.0f} s here: {times}. They are made if you ask "
                "for them."
            )

    def _pending(self, name: str, check: str, task: Task, take: Callable[[str, Any], None]) -> Pending:
        what = "Refits" if check == "again" else "Trained once more"

        def look(ticket: Ticket) -> None:
            share = f"{METHODS[name].title} {10 * int(10 * ticket.progress)} %" if ticket.progress > 0 else ""
            if share != self.shares.get(name):
                self.shares[name] = share
                self.told.caption(f"{what}: {', '.join(filter(None, self.shares.values())) or COMES}")

        def paint(ticket: Ticket) -> None:
            self.shares.pop(name, None)
            try:
                take(name, ticket.result())
            except Exception:  # of one method; the others have their answers
                self.notes[name, check] = FAILED
            with deferred_paint():
                self.paint()

        return Pending(submit(task), paint, look)

    # ---- what is drawn ----

    def paint(self) -> None:
        changing_table(self.rows, self.html())

    def html(self) -> Markup:
        """The table, as far as it is known."""
        rows = [
            [label_of(name), f"{changed:,}", *(self._cell(name, check) for check in CHECKS)]
            for name, changed in zip(self.table["method"], self.table["changed"], strict=True)
        ]
        headings = ["Method", "People", *(check.short for check in CHECKS.values())]
        marked = {(i, 0) for i, near in enumerate(self.table["comparable"]) if near}
        text = set(range(2, len(headings)))
        return html_table(headings, rows, caption=TITLE, marked=marked, text=text)

    def tell_marks(self) -> None:
        """In the place of the progress, so that nothing below moves when it ends."""
        words = marks_in_words(self.answers)
        if words:
            self.told.caption(words)
        else:
            self.told.empty()

    def _cell(self, name: str, check: str) -> str:
        answer = self.answers[name].get(check)
        return self.notes.get((name, check), COMES) if answer is None else in_a_cell(answer)


def sense_in_words(table: pd.DataFrame, answers: Mapping[str, Mapping[str, Answer]]) -> str:
    """Of the models that are comparable: who changes fewest, and whose changes make most sense and least."""
    near = table[table["comparable"]]
    if len(near) < 2:
        return (
            "No other method has a model as fair and as accurate as this one, so what differs here may be due to that."
        )
    names = list(near["method"])
    far = [name for name in table["method"] if name not in names]
    left_out = f" ({names_in_words(far)} {'is' if len(far) == 1 else 'are'} left out: not near)" if far else ""
    least = near["changed"].min()
    fewest = list(near.loc[near["changed"] == least, "method"])
    text = (
        f"At about the same fairness and accuracy are {names_in_words(names)}{left_out}. Of these, "
        f"{names_in_words(fewest, bold=True)} {'changes' if len(fewest) == 1 else 'change'} fewest ({least:,} people). "
    )
    moved = [name for name in names if answers[name]["right"].whole]
    if len(moved) < 2:
        return text + "No two of them change anybody, so there is nothing to compare."
    if len(moved) < len(names):
        still = [name for name in names if name not in moved]
        does = "changes" if len(still) == 1 else "change"
        text += f"{names_in_words(still)} {does} nobody; the rest is of the others. "
    right = _extremes("right", {name: answers[name]["right"] for name in moved})
    sure = _extremes("sure", {name: answers[name]["sure"] for name in moved})
    text += f"By the record, changes are right most often with {_told(right, answers)}. "
    if set(fewest) <= set(right.worst) != set(right.best):
        text += "**The fewest changes are here the least often right.** "
    wrong = {name: answers[name]["right"].whole - answers[name]["right"].part for name in moved}
    text += f"Wrong changes: {', '.join(f'{METHODS[name].title} {count:,}' for name, count in wrong.items())}. "
    text += f"f was more than {SURE:.0%} sure of those changed least often with {_told(sure, answers)}."
    return text


def marks_in_words(answers: Mapping[str, Mapping[str, Answer]]) -> str:
    """How many checks of each method are marked bad, of those methods of which all are answered."""
    whole = [name for name, found in answers.items() if len(found) == len(CHECKS)]
    if not whole:
        return ""
    bad = {name: sum(answer.mark == "bad" for answer in answers[name].values()) for name in whole}
    text = (
        f"Marks “bad”, of {len(CHECKS)}: {', '.join(f'{METHODS[name].title} {count}' for name, count in bad.items())}."
    )
    left = [name for name in answers if name not in whole]
    if not left:
        return text
    words = ("is", "its") if len(left) == 1 else ("are", "their")
    return f"{text} {names_in_words(left)} {words[0]} left out: not all of {words[1]} checks are answered."


@dataclass(frozen=True)
class _Extremes:
    """Whose share is best and whose is worst, as it is written, and whether the two can be told apart."""

    check: Check
    best: list[str]
    worst: list[str]
    apart: bool


def _extremes(name: str, found: Mapping[str, Answer]) -> _Extremes:
    check = CHECKS[name]
    order = sorted(found.values(), key=lambda answer: check.direction * answer.value)
    worst, best = order[0], order[-1]
    at_best, at_worst = ([name for name in found if found[name].share == end.share] for end in (best, worst))
    spans = [wilson_interval(end.part, end.whole) for end in (best, worst)]
    (low, high), (other_low, other_high) = ([float(end) for end in span] for span in spans)
    return _Extremes(check, at_best, at_worst, low > other_high or other_low > high)


def _told(ends: _Extremes, answers: Mapping[str, Mapping[str, Answer]]) -> str:
    """The best and the worst with their shares, and COMMOD's where it is neither."""

    def share(name: str) -> str:
        return answers[name][ends.check.name].share

    text = f"{names_in_words(ends.best, bold=True)} ({share(ends.best[0])})"
    if ends.best == ends.worst:
        return f"{text}, all the same"
    text += f", {'least' if ends.check.direction > 0 else 'most'} often with {names_in_words(ends.worst, bold=True)}"
    text += f" ({share(ends.worst[0])}{'' if ends.apart else '; the difference may be chance'})"
    between = "commod" in answers and "commod" not in (*ends.best, *ends.worst) and answers["commod"]["right"].whole
    return f"{text}; COMMOD {share('commod')}" if between else text


def names_in_words(methods: Iterable[str], *, bold: bool = False) -> str:
    """Methods in a row: "COMMOD, LPP and FRAPPE"."""
    titles = (METHODS[name].title for name in methods)
    *first, last = (f"**{title}**" if bold else title for title in titles)
    return f"{', '.join(first)} and {last}" if first else last
