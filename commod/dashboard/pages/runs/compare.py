"""Up to four saved runs side by side: settings, figures, concepts, trees, and whether they change the same people."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from commod.charts import MethodStyle, palette, plot_methods
from commod.charts.compare import DEPLOYED, DEPLOYED_STYLE
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import result_of, wait
from commod.dashboard.pages.runs.sections import keep_figures, why_not_trained
from commod.dashboard.state import saved_runs, session
from commod.dashboard.state.runs_file import Run
from commod.dashboard.state.settings import CONTROLS, described, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.figures import FAIRNESS_TITLES
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_legend, html_table
from commod.dashboard.views import controls
from commod.dashboard.views.chart import draw
from commod.dashboard.views.tree import tree_of
from commod.experiments.scene import FAIRNESS_FIGURES
from commod.explain.people import wilson_interval
from commod.metrics.figures import CRITERIA

FIGURES = "Figures of the runs on test"
MAX_HEADING = 28
# How the compared runs are drawn; the names are in the legend, so that the chart is the same for all.
STYLES = tuple(
    MethodStyle(f"COMMOD, run {mark}", colour, shape)
    for mark, colour, shape in zip(
        "ABCD",
        (palette.G, palette.F, "#009E73", "#CC79A7"),
        ("circle", "square", "triangle-up", "triangle-down"),
        strict=True,
    )
)
# How much of the row a part of a section takes at least: four stand two by two.
_SHARES = {1: 100, 2: 45, 3: 30, 4: 45}


@dataclass(frozen=True)
class Shown:
    """A run that is compared: its letter, and its model."""

    mark: str
    run: Run
    result: FitResult

    @property
    def title(self) -> str:
        return f"{self.mark}: {self.run.name}"

    @property
    def short(self) -> str:
        return self.title if len(self.title) <= MAX_HEADING else self.title[:MAX_HEADING].rstrip() + "…"


def choose() -> list[Run]:
    """Which runs to compare."""
    here = saved_runs.shelf()
    st.session_state["runs_compared"] = [run.name for run in here.chosen()]
    st.pills(
        "Runs to compare",
        here.names(),
        selection_mode="multi",
        format_func=escape_markdown,
        key="runs_compared",
        on_change=lambda: saved_runs.compare(list(st.session_state["runs_compared"])),
        help=tip("run_compared"),
    )
    return here.chosen()


def train(chosen: Sequence[Run]) -> list[Shown]:
    """The models of the runs; one that fails is named and left out."""
    place = st.empty()
    shown: list[Shown] = []
    with ExitStack() as places_in_queue:
        begun = [places_in_queue.enter_context(submit(tasks.fit(run.settings))) for run in chosen]
        for style, run, training in zip("ABCD", chosen, begun, strict=False):
            try:
                result: FitResult = wait(training, place, "Training")
            except Exception as error:
                st.error(f"{why_not_trained(run, error)} The others are shown.", icon=":material/error:")
                continue
            keep_figures(result)
            shown.append(Shown(style, run, result))
            if not result.converged:
                st.warning(
                    f"The solver did not settle on “{escape_markdown(run.name)}”, so its model may be improved on.",
                    icon=":material/warning:",
                )
    return shown


def _together(shown: Sequence[Shown], key: Callable[[Shown], Hashable]) -> list[list[Shown]]:
    """The runs in groups of equal `key`, in order."""
    groups: dict[Hashable, list[Shown]] = {}
    for one in shown:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


def comparable(shown: Sequence[Shown]) -> None:
    """Each run in a sentence, and what may be held against what."""
    st.markdown(
        "\n".join(f"- **{escape_markdown(one.title)}**: {escape_markdown(one.result.verdict)}" for one in shown)
    )
    if len(shown) < 2:
        return
    said = []

    def differ(name: str, among: Sequence[Shown] = shown) -> bool:
        return len({getattr(one.run.settings, name) for one in among}) > 1

    by_data = _together(shown, lambda one: one.run.settings.data)
    if len(by_data) > 1:
        said.append(
            "They are about different data sets: across these, compare only how much each gains over its own f."
        )
    if any(differ("seed", group) for group in by_data):
        said.append(
            "They are of different splits, with other test people and another f: differences within the intervals may "
            "be due to the split alone."
        )
    if differ("f"):
        said.append(
            "They start from different base models: decisions changed are counted from each one's own f, so they "
            "compare in number only."
        )
    if differ("fairness"):
        said.append(
            "They were trained for different criteria: both fairness figures are given for all, and each run should do "
            "well in its own."
        )
    if said:
        st.info(" ".join(said), icon=":material/balance:")
    else:
        test = len(shown[0].result.changed_test)
        people = escape_markdown(shown[0].result.task.spec.people)
        st.caption(
            f"All correct the same f for the same criterion and on the same {test:,} test {people}: everything below "
            "can be compared."
        )


# ---- the picture ----


def picture(shown: Sequence[Shown]) -> None:
    """Runs that share a scene as points, fairness against accuracy."""
    groups = [group for group in _together(shown, lambda one: one.run.settings.problem()) if len(group) > 1]
    if not groups:
        if len(shown) > 1:
            st.caption("No two of these runs share data set, split, f and criterion, so there is no picture of them.")
        return
    for column, group in zip(st.columns(len(groups), gap="large"), groups, strict=True):
        with column:
            _draw(group)
    alone = [one.title for one in shown if not any(one in group for group in groups)]
    if alone:
        st.caption(
            escape_markdown(
                f"Not in a picture, since no other run shares its data set, split, f and criterion: {', '.join(alone)}."
            )
        )


def _draw(group: Sequence[Shown]) -> None:
    fairness = group[0].run.settings.fairness
    figure = FAIRNESS_FIGURES[fairness]
    rows = []
    for one in group:
        path = one.result.path.iloc[-1]
        words = f"{one.run.name} ({in_words(one.run.settings)})"
        rows.append((_style(one).label, path["fairness"], path["accuracy"], path["change_rate"], words))
    start = group[0].result.path.iloc[0]
    rows.append((DEPLOYED, start["fairness"], start["accuracy"], start["change_rate"], "unchanged"))
    frame = pd.DataFrame(rows, columns=["label", "fairness", "accuracy", "change_rate", "settings"])
    st.html(html_legend([*(_named(one) for one in group), DEPLOYED_STYLE]))
    draw(
        plot_methods,
        frame.assign(id=-1, best=True, chosen=frame["label"] != DEPLOYED),
        alt="Saved runs and f, fairness against accuracy.",
        table=FIGURES,
        styles=STYLES,
        fairness_title=FAIRNESS_TITLES[figure],
        legend=False,
        lines=False,
        height=340,
    )
    better = "right" if figure == "p_rule" else "left"
    points = frame[frame["label"] != DEPLOYED]
    hidden = points.duplicated(["fairness", "accuracy"]).any()
    st.caption(
        f"On test. Up is more accurate, {better} is fairer. Values with intervals in the table of figures."
        + (" Runs with equal figures lie on each other; k is a reading of a model and moves no point." * bool(hidden))
    )


def _style(one: Shown) -> MethodStyle:
    return STYLES["ABCD".index(one.mark)]


def _named(one: Shown) -> MethodStyle:
    style = _style(one)
    return MethodStyle(one.title, style.colour, style.shape)


# ---- settings and figures ----


def settings(shown: Sequence[Shown]) -> None:
    """The settings, rows that differ marked."""
    st.header("Settings")
    rows: list[list[str]] = []
    described_all = [
        described(one.run.settings) | {"fairness": CRITERIA[one.run.settings.fairness].title} for one in shown
    ]
    for name in described_all[0]:
        values = [known[name] for known in described_all]
        differs = " (differs)" if len(set(values)) > 1 else ""
        rows.append([CONTROLS[name].heading + differs, *values])
    marked = {(i, j) for i, row in enumerate(rows) if row[0].endswith("(differs)") for j in range(len(shown) + 1)}
    text = range(1, len(shown) + 1)
    st.html(html_table(_headings("Setting", shown), rows, caption="Settings of the runs", marked=marked, text=text))


def _headings(first: str, shown: Sequence[Shown]) -> dict[str, str]:
    """Long names cut, so that columns stay alike; in full when pointed at."""
    return {first: ""} | {one.short: one.title if one.short != one.title else "" for one in shown}


def figures(shown: Sequence[Shown]) -> None:
    """The figures of f and g on test, with 95 % intervals."""
    st.header("Figures")
    rows: list[list[str]] = [["Test people", *(f"{len(one.result.changed_test):,}" for one in shown)]]
    for name, title in (("accuracy", "Accuracy"), ("p_rule", "P-Rule"), ("dm", "Disparate mistreatment")):
        percent = name == "accuracy"
        for model, said in (("f", "of f"), ("g", "of g"), ("difference", "g − f")):
            cells = (_interval(one.result.figures.loc[name], model, percent=percent) for one in shown)
            rows.append([f"{title} {said}" if model != "difference" else f"{title}, {said}", *cells])
    cells = (_interval(one.result.figures.loc["change_rate"], "g", percent=True) for one in shown)
    rows.append(["Decisions changed", *cells])
    rows += _group_rows(shown)
    st.html(html_table(_headings("Figure", shown), rows, caption=FIGURES))
    st.caption(
        "On test, in [ ] the 95 % interval (bootstrap; for groups Wilson's). P-Rule: 1 is fair; disparate "
        "mistreatment: 0 is fair. Differences whose interval holds 0 may be chance, and say so. The people are drawn "
        "anew for each run, so that intervals of one f may differ in the last digit."
    )


def _interval(row: pd.Series, column: str, *, percent: bool) -> str:
    value, low, high = (float(row[name]) for name in (column, f"{column}_low", f"{column}_high"))
    if np.isnan(value):
        return "–"
    if column == "difference":
        chance = "\nmay be chance" if low <= 0 <= high else ""
        if percent:
            return _whole(f"{100 * value:+.1f} points\n[{100 * low:+.1f}, {100 * high:+.1f}]{chance}")
        return _whole(f"{value:+.3f}\n[{low:+.3f}, {high:+.3f}]{chance}")
    if percent:
        return _whole(f"{value:.1%}\n[{100 * low:.1f}, {100 * high:.1f}]")
    return _whole(f"{value:.3f}\n[{low:.3f}, {high:.3f}]")


def _whole(text: str) -> str:
    """Lines of a cell that are not broken, with minus signs."""
    return text.replace(" ", "\u00a0").replace("-", "−")


def _group_rows(shown: Sequence[Shown]) -> list[list[str]]:
    """By group and direction, how many changed; a dash where a run has no such group."""
    cells: dict[str, dict[str, str]] = {}
    for one in shown:
        spec = one.result.task.spec
        for code, row in one.result.changes.iterrows():
            for part, outcome in (("raised", 1), ("lowered", 0)):
                title = f"{one.result.task.groups[int(code)]}: now “{spec.outcomes[outcome]}”"
                low, high = wilson_interval(row[part], row["count"])
                cells.setdefault(title, {})[one.mark] = _whole(
                    f"{row[part]:,.0f} of {row['count']:,.0f}\n"
                    f"{row[part] / row['count']:.1%} [{100 * float(low):.1f}, {100 * float(high):.1f}]"
                )
    return [[title, *(found.get(one.mark, "–") for one in shown)] for title, found in cells.items()]


# ---- concepts and trees ----


def concepts(shown: Sequence[Shown]) -> None:
    """The concepts of each."""
    st.header("Concepts")
    parts = []
    for one in shown:
        result = one.result
        parts.append((one.title, f"r starts at {result.g.intercept_:.2f}", result.cards))
    _beside(parts)


def trees(shown: Sequence[Shown]) -> None:
    """The tree of the changes of each, at one depth."""
    st.header("Trees of the changes")
    controls.control("depth")
    depth = session.current().depth
    parts = []
    for one in shown:
        if not one.result.changed_train.any():
            parts.append((one.title, "No decision changes, so there is nothing for a tree to find.", ""))
            continue
        found = result_of(tasks.tree(one.result, depth))
        parts.append((one.title, f"F1 of the tree on test: {found.f1:.2f}", tree_of(one.result, found, depth)))
    _beside(parts)
    st.caption(
        "Learnt on the training part, counted on test. F1 of 1: the tree finds all changed decisions, no others."
    )


def _beside(parts: Sequence[tuple[str, str, str]]) -> None:
    """Title, note and HTML of each run, side by side, or one above the other where the page is narrow."""
    share = _SHARES[len(parts)]
    style = (
        "<style>.cx-beside { display: grid; gap: 1.5rem 1.2rem; "
        f"grid-template-columns: repeat(auto-fit, minmax(min(100%, max(17rem, {share}%)), 1fr)); }}"
        ".cx-beside > section { min-width: 0; } .cx-beside > section > h3 { font-size: 1.1rem; padding: 0; "
        "margin: 0 0 .2rem; overflow-wrap: anywhere; }</style>"
    )
    sections = "".join(
        f'<section><h3>{escape(title)}</h3><p class="cx-note">{escape(note)}</p>{body}</section>'
        for title, note, body in parts
    )
    st.html(f'{style}<div class="cx-beside">{sections}</div>')


# ---- the same people? ----


def overlap(shown: Sequence[Shown]) -> None:
    """Of the people changed by either of two runs, how many are changed by both."""
    if len(shown) < 2:
        return
    st.header("Do they change the same people?")
    groups = _together(shown, lambda one: (one.run.settings.data, one.run.settings.seed))
    alone = [group[0] for group in groups if len(group) == 1]
    if len(alone) == len(shown):
        st.info(
            "No two of these runs are about the same test people: data set and split must be equal. Their changes can "
            "be compared in number, not person by person.",
            icon=":material/info:",
        )
        return
    for group in groups:
        if len(group) > 1:
            _overlap_table(group)
    for one in alone:
        where = f"{one.result.task.spec.title}, split {one.run.settings.seed}"
        st.caption(escape_markdown(f"{one.title} is about other people ({where}), so it shares none with the others."))


def _overlap_table(group: Sequence[Shown]) -> None:
    first = group[0].result
    rows, marked = [], set()
    for i, one in enumerate(group):
        cells = []
        for j, other in enumerate(group):
            if one is other:
                cells.append(_whole(f"{int(one.result.changed_test.sum()):,} changed"))
                marked.add((i, j + 1))
            else:
                cells.append(_shared(one.result.changed_test, other.result.changed_test))
        rows.append([one.short, *cells])
    caption = f"Changed people in common, {first.task.spec.title}, split {first.settings.seed}"
    st.html(html_table(_headings("Run", group), rows, caption=caption, marked=marked))
    of_f = (
        " They start from different base models: a person is changed where g differs from the run's own f."
        if len({one.run.settings.f for one in group}) > 1
        else ""
    )
    st.caption(
        escape_markdown(
            f"Of the test {first.task.spec.people} ({first.task.spec.title}, split {first.settings.seed}) changed by "
            f"either of two runs, the share changed by both.{of_f}"
        )
    )


def _shared(one: Any, other: Any) -> str:
    both, either = int((one & other).sum()), int((one | other).sum())
    return _whole(f"{both / either:.0%}\n{both:,} of {either:,}" if either else "–\nnobody changed")
