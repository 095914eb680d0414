"""The matched models in one table: their figures, and the checks of their changes as they come in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from markupsafe import Markup

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, deferred_paint, draw_pending, get, submit
from commod.dashboard.state.settings import Settings
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import SortCell, SortColumn, html_meanings, html_sortable
from commod.dashboard.views.checks import changing_table, let_tables_sort
from commod.dashboard.views.methods import label_of
from commod.experiments import Model, Scene, Sweep
from commod.experiments import checks as library
from commod.experiments.match import Match
from commod.experiments.refits import Refits
from commod.explain.checks import CHECKS, Answer, Check, check_again
from commod.metrics.figures import CRITERIA, FIGURES, Figure
from commod.models.competitors import FAMILIES, METHODS

MATCHED = "Models matched"
# What stands in a cell without an answer.
COMES, FAILED = "…", "– could not be computed"

Answers = dict[str, dict[str, Answer]]


def begin_table(
    settings: Settings, scene: Scene, sweeps: dict[str, Sweep], found: Match, text: str
) -> Callable[[], None]:
    """The `text` on the match, and the table with what is known at once; returns what finds out the rest."""
    models = library.matched_models(found, sweeps)
    answers = {name: library.answers_of_decisions(scene, model.decisions_test) for name, model in models.items()}
    section = _Section(settings, scene.decisions_test, found.table, models, answers)
    section.recall()
    section.lay_out(text)
    return section.finish


@dataclass
class _Section:
    settings: Settings
    before: np.ndarray  # f's decisions on test
    table: pd.DataFrame  # of the match
    models: dict[str, Model]
    answers: Answers
    notes: dict[tuple[str, str], str] = field(default_factory=dict)  # by method and check, in place of an answer
    shares: dict[str, str] = field(default_factory=dict)  # how far what is at work has come
    count: int = field(default_factory=lambda: library.COMPARED_REFITS)

    def lay_out(self, text: str) -> None:
        """All places, with what is known by now."""
        st.markdown(text)
        more = st.toggle("More columns", key="match_more")
        self.columns, self.more = figure_columns(self.settings), more_figure_columns(self.settings) if more else []
        let_tables_sort()
        self.rows = changing_table(st, self.html())
        meanings = {check.short: f"{check.meaning} {check.bounds}" for check in CHECKS.values()}
        meanings[CHECKS["merit"].short] += " " + tip("match_merit")
        meanings[CHECKS["again"].short] += " " + tip("match_again", count=self.count)
        meanings |= {each.heading: each.meaning for each in (*self.columns, *self.more) if each.meaning}
        st.html(html_meanings(meanings))
        self.summary = st.empty()
        st.caption(tip("match_table"))

    # ---- what is asked for ----

    def _missing(self, name: str) -> list[str]:
        return [check for check in CHECKS if check not in self.answers[name]]

    def _task(self, name: str, check: str) -> ComputeTask:
        cell = self.models[name].cell
        if check == "merit":
            return tasks.retrained(self.settings, cell)
        return tasks.refits_of_model(self.settings, cell, self.count)

    def _take(self, name: str, check: str, found: Answer | Refits) -> None:
        if isinstance(found, Refits):
            changed = self.models[name].decisions_test != self.before
            found = check_again(changed, found.share, len(found))
        self.answers[name][check] = found

    def recall(self) -> None:
        """Take over what has been computed before, and what needs no computing."""
        for name, answers in self.answers.items():
            if not answers["right"].whole:  # nobody to be changed again
                answers["again"] = check_again([False], [0.0], self.count)
            for check in self._missing(name):
                if (found := get(self._task(name, check))) is not None:
                    self._take(name, check, found)

    def finish(self) -> None:
        """Train each model once more, then refit it: one method after the other, the slow ones last."""
        for check in ("merit", "again"):
            missing = [name for name in self.models if check in self._missing(name) and (name, check) not in self.notes]
            missing.sort(key=lambda name: METHODS[name].cost)
            draw_pending(*(self._pending(name, check) for name in missing))
        self.summary.empty()

    def _pending(self, name: str, check: str) -> Pending:
        what = f"Still counting “{COMES}”: {'refits' if check == 'again' else 'training once more'}"

        def show_progress(ticket: Ticket) -> None:
            share = f"{METHODS[name].title} {10 * int(10 * ticket.progress)} %" if ticket.progress > 0 else ""
            if share != self.shares.get(name):
                self.shares[name] = share
                self.summary.caption(f"{what}, {', '.join(filter(None, self.shares.values())) or COMES}")

        def paint(ticket: Ticket) -> None:
            self.shares.pop(name, None)
            try:
                self._take(name, check, ticket.result())
            except Exception:  # of one method; the others have their answers
                self.notes[name, check] = FAILED
            with deferred_paint():
                self.paint()

        return Pending(submit(self._task(name, check)), paint, show_progress)

    # ---- what is drawn ----

    def paint(self) -> None:
        changing_table(self.rows, self.html())

    def html(self) -> Markup:
        """The table, as far as it is known."""
        records = {row["method"]: row for row in self.table.to_dict("records")}
        checks = [SortColumn(self._heading(check), check.direction, is_text=True) for check in CHECKS.values()]
        families = []
        for family, title in FAMILIES.items():
            rows = []
            for name in (name for name in records if METHODS[name].family == family):
                before, after = ([each.cell(records[name]) for each in some] for some in (self.columns, self.more))
                cells = [*before, *(self._cell(name, check) for check in CHECKS), self._bad(name), *after]
                rows.append((bool(records[name]["comparable"]), cells))
            if rows:
                families.append((family, title, rows))
        checks.append(SortColumn("Problems", -1))
        heads = [*(each.head for each in self.columns), *checks, *(each.head for each in self.more)]
        return html_sortable(heads, families, caption=MATCHED)

    def _heading(self, check: Check) -> str:
        return f"{check.short} ({self.count} refits)" if check.name == "again" else check.short

    def _cell(self, name: str, check: str) -> SortCell:
        answer = self.answers[name].get(check)
        if answer is None:
            return self.notes.get((name, check), COMES), None
        word, sign = answer.word_and_sign
        if answer.mark == "open":
            return f"{sign} {word}\n{answer.why_open}", None
        basis = f"\n{answer.basis}" if answer.basis and check in ("merit", "right") else ""
        return f"{sign} {word}\n{answer.share}: {answer.part:,} of {answer.whole:,}{basis}", answer.value

    def _bad(self, name: str) -> SortCell:
        """How many checks found a problem, once all are answered; of a method that changes nobody there is none."""
        if not self.answers[name]["right"].whole:
            return "–", None
        if self._missing(name):
            return COMES if any((name, check) not in self.notes for check in self._missing(name)) else "–", None
        count = sum(answer.mark == "bad" for answer in self.answers[name].values())
        return str(count), count


# ---- columns of figures ----


@dataclass(frozen=True)
class _Column:
    """A column of the match: how its values, or rows, are written, and whether more of it is better, or less."""

    name: str
    heading: str
    write: Callable[[Any], str]
    best: int = 0
    meaning: str = ""
    is_text: bool = False
    of_row: bool = False

    def cell(self, row: Mapping[Any, Any]) -> SortCell:
        value = row.get(self.name)
        if pd.isna(value):
            return "–", None
        return self.write(row if self.of_row else value), float(row[self.name]) if self.best else None

    @property
    def head(self) -> SortColumn:
        return SortColumn(self.heading, self.best, self.is_text)


def figure_columns(settings: Settings) -> list[_Column]:
    """The method, three figures, each with how it compares with COMMOD's, and how many it changes as COMMOD does."""
    fair, accuracy, changed = CRITERIA[settings.fairness].figure, FIGURES["accuracy"], FIGURES["change_rate"]
    fairer, less_fair = ("fairer", "less fair") if fair.direction > 0 else ("less fair", "fairer")
    return [
        _Column("method", "Method", label_of),
        _compared(fair, fair.direction, fairer, less_fair, "as fair"),
        _compared(accuracy, 1, "more", "less", "the same"),
        _compared(changed, -1, "more", "fewer", "as many"),
        _Column("overlap", "Same people", "{:.0%}".format, 1, tip("same_people")),
    ]


def _compared(figure: Figure, best: int, *words: str) -> _Column:
    def write(row: Any) -> str:
        return f"{figure.show(row[figure.name])}\n{against_in_words(row, figure.name, *words)}"

    return _Column(figure.name, figure.short_title, write, best, figure.meaning, of_row=True)


def _of_figure(figure: Figure) -> _Column:
    return _Column(figure.name, figure.short_title, figure.show, figure.direction, figure.meaning)


def more_figure_columns(settings: Settings) -> list[_Column]:
    """What else is known of a matched model."""
    shown = [CRITERIA[settings.fairness].figure, FIGURES["accuracy"], FIGURES["change_rate"]]
    others = [each for each in CRITERIA[settings.fairness].key_figures if each not in shown]
    predictive = (FIGURES["predictive_parity_difference"], FIGURES["calibration_within_groups"])
    return [
        *(_of_figure(each) for each in (*others, *predictive)),
        _Column("changed", "People", "{:,}".format, -1, tip("people_changed")),
        _Column("tree_f1", f"Tree F1 (depth {settings.depth})", "{:.2f}".format, 1, tip("f1")),
        _Column("score_move", "Score move", "{:.3f}".format, -1, tip("score_move")),
        _Column("concept_size", "Concept weights", "{:.0f}".format, -1, tip("concept_weights")),
        _Column("concept_redundancy", "Redundancy", "{:.2f}".format, -1, tip("concept_weights")),
        _Column("settings", "Setting", str, is_text=True),
    ]


def against_in_words(row: Mapping[Any, Any], figure: str, more: str, less: str, same: str) -> str:
    """How a rival's figure compares with COMMOD's, "perhaps" where the difference may be chance; empty for COMMOD."""
    low, high = row.get(f"{figure}_more_low", np.nan), row.get(f"{figure}_more_high", np.nan)
    if pd.isna(low) or pd.isna(high):
        return ""
    if low == high == 0:
        return same
    return ("perhaps " if low <= 0 <= high else "") + (more if low + high > 0 else less)
