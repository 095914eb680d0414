"""Up to four saved runs side by side: settings, figures, concepts, trees, and whether they change the same people."""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from commod.charts import MethodStyle, palette, plot_methods
from commod.charts.compare import DEPLOYED, DEPLOYED_STYLE
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import get, submit
from commod.dashboard.jobs.wait import Pending, result_of
from commod.dashboard.pages.runs.models import MARKS, Shown
from commod.dashboard.state import saved_runs, session
from commod.dashboard.state.runs_file import Run
from commod.dashboard.state.settings import CONTROLS, data_in_words, described, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_columns, html_legend, html_table
from commod.dashboard.views import controls
from commod.dashboard.views.chart import draw
from commod.dashboard.views.checks import changing_table, in_a_cell
from commod.dashboard.views.concepts import cards_of
from commod.dashboard.views.tree import tree_of
from commod.explain.checks import CHECKS
from commod.explain.forms import guess_in_words, starts_in_words
from commod.metrics.figures import CRITERIA, Figure, key_figures
from commod.metrics.intervals import wilson_interval

FIGURES = "Figures of the runs on test"
# How the compared runs are drawn; the names are in the legend, so that the chart is the same for all.
STYLES = tuple(
    MethodStyle(f"COMMOD, run {mark}", colour, shape)
    for mark, colour, shape in zip(
        MARKS,
        (palette.G, palette.F, "#009E73", "#CC79A7"),
        ("circle", "square", "triangle-up", "triangle-down"),
        strict=True,
    )
)
# What has to be said where runs differ in a setting.
_DIFFERENT = {
    "data": "They are about different data sets: across these, compare only how much each gains over its own f.",
    "groups": "They group people differently: the fairness of each is that of its own groups. What names a group is no "
    "feature, so that f and the split may differ, too.",
    "seed": "They are of different splits, with other test people and another f: differences within the intervals may "
    "be due to the split alone.",
    "f": "They start from different base models: decisions changed are counted from each one's own f, so they compare "
    "in number only.",
    "threshold": "They draw f's line at different cut-offs: decisions changed are counted from f at each one's own.",
    "fairness": "They were trained for different criteria: both fairness figures are given for all, and each run "
    "should do well in its own.",
}


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


def side_by_side(shown: Sequence[Shown]) -> Callable[[], list[Pending]]:
    """All that is compared; what it gives sets out to find what takes longer."""
    _comparable(shown)
    _pictures(shown)
    _settings(shown)
    _figures(shown)
    checks = _checks(shown)
    _overlap(shown)
    _concepts(shown)
    _trees(shown)
    return checks


def _together(shown: Sequence[Shown], *names: str) -> list[list[Shown]]:
    """The runs in groups that are equal in these settings, in order."""
    groups: dict[Any, list[Shown]] = {}
    for one in shown:
        groups.setdefault(tuple(getattr(one.settings, name) for name in names), []).append(one)
    return list(groups.values())


def _table(first: str, shown: Sequence[Shown], rows: Sequence[Sequence[str]], caption: str, **how: Any) -> Markup:
    """A table with a column for each run."""
    return html_table([first, *(one.title for one in shown)], rows, caption=caption, **how)


def _whole(text: str) -> str:
    """Lines of a cell that are not broken, with minus signs."""
    return text.replace(" ", "\u00a0").replace("-", "−")


def _comparable(shown: Sequence[Shown]) -> None:
    """Each run in a sentence, and what may be held against what."""
    st.markdown(
        "\n\n".join(f"**{escape_markdown(one.title)}**  \n{escape_markdown(one.result.verdict)}" for one in shown)
    )
    if len(shown) < 2:
        return
    different = {name: len(_together(shown, name)) > 1 for name in _DIFFERENT}
    for name in ("groups", "seed"):
        different[name] = any(len(_together(group, name)) > 1 for group in _together(shown, "data"))
    if any(different.values()):
        st.info(" ".join(_DIFFERENT[name] for name in _DIFFERENT if different[name]), icon=":material/balance:")
        return
    test, people = len(shown[0].result.changed_test), escape_markdown(shown[0].result.task.spec.people)
    st.caption(
        f"All correct the same f for the same criterion and on the same {test:,} test {people}: everything below can "
        "be compared."
    )


# ---- whether the changes make sense ----


def _checks(shown: Sequence[Shown]) -> Callable[[], list[Pending]]:
    """The checks of each run; what takes longer is filled in as it is found."""
    st.subheader("Do their changes make sense?")
    jobs = [(tasks.merit(one.result), tasks.refits(one.result)) for one in shown]

    def table() -> Markup:
        found = [one.result.answers(*map(get, both)) for one, both in zip(shown, jobs, strict=True)]
        rows = [
            [check.title, *(in_a_cell(answers[name]) if name in answers else "…" for answers in found)]
            for name, check in CHECKS.items()
        ]
        return _table("Question", shown, rows, "Do their changes make sense?")

    place = changing_table(st, table())

    def paint(_: Ticket) -> None:
        changing_table(place, table())

    told = " ".join(f"*{check.short}*: {check.bounds}" for check in CHECKS.values())
    st.caption(told)
    return lambda: [Pending(submit(job), paint) for both in jobs for job in both if get(job) is None]


# ---- the picture ----


def _pictures(shown: Sequence[Shown]) -> None:
    """Runs that share a scene and a criterion as points, fairness against accuracy."""
    groups = _together(shown, *_DIFFERENT)
    drawn = [group for group in groups if len(group) > 1]
    alone = ", ".join(group[0].title for group in groups if len(group) == 1)
    if drawn:
        for column, group in zip(st.columns(len(drawn), gap="large"), drawn, strict=True):
            with column:
                _picture(group)
    if drawn and alone:
        why = "Not in a picture, since no other run shares its data set, groups, split, f, cut-off and criterion"
        st.caption(escape_markdown(f"{why}: {alone}."))
    elif len(shown) > 1 and not drawn:
        st.caption(
            "No two of these runs share data set, groups, split, f, cut-off and criterion: there is no picture of them."
        )


def _picture(group: Sequence[Shown]) -> None:
    styles = [STYLES[MARKS.index(one.mark)] for one in group]
    shown = ["fairness", "accuracy", "change_rate"]
    points = pd.DataFrame([one.result.path.iloc[-1][shown] for one in group]).assign(
        label=[style.label for style in styles],
        settings=[f"{one.run.name} ({in_words(one.settings)})" for one in group],
    )
    start = group[0].result.path.iloc[[0]][shown].assign(label=DEPLOYED, settings="unchanged")
    frame = pd.concat([points, start], ignore_index=True)
    criterion = CRITERIA[group[0].settings.fairness]
    named = [MethodStyle(one.title, style.colour, style.shape) for one, style in zip(group, styles, strict=True)]
    st.html(html_legend([*named, DEPLOYED_STYLE]))
    draw(
        plot_methods,
        frame.assign(id=-1, best=True, chosen=frame["label"] != DEPLOYED),
        alt="Saved runs and f, fairness against accuracy.",
        table=FIGURES,
        styles=STYLES,
        fairness_title=criterion.figure.axis_title,
        legend=False,
        lines=False,
        height=340,
    )
    better = "right" if criterion.upward else "left"
    hidden = points.duplicated(["fairness", "accuracy"]).any()
    st.caption(
        f"On test. Up is more accurate, {better} is fairer. Values with intervals in the table of figures."
        + (" Runs with equal figures lie on each other; k is a reading of a model and moves no point." * bool(hidden))
    )


# ---- settings and figures ----


def _settings(shown: Sequence[Shown]) -> None:
    """The settings, rows that differ marked."""
    st.header("Settings")
    noted = ("note",) if any(one.settings.reason for one in shown) else ()
    columns = [
        described(one.settings, "scene", "model", *noted) | {"fairness": CRITERIA[one.settings.fairness].title}
        for one in shown
    ]
    rows, marked = [], set()
    for i, name in enumerate(columns[0]):
        values = [column[name] for column in columns]
        differs = len(set(values)) > 1
        rows.append([CONTROLS[name].heading + " (differs)" * differs, *values])
        marked |= {(i, j) for j in range(len(shown) + 1) if differs}
    if any(one.run.requirements for one in shown):
        rows.append(["Required", *("; ".join(one.run.requirements.in_words) or "nothing" for one in shown)])
    text = range(1, len(shown) + 1)
    st.html(_table("Setting", shown, rows, "Settings of the runs", marked=marked, text=text))


def _figures(shown: Sequence[Shown]) -> None:
    """The figures of f and g on test, with 95 % intervals."""
    st.header("Figures")
    rows: list[list[str]] = [["Test people", *(f"{len(one.result.changed_test):,}" for one in shown)]]
    for figure in key_figures():
        titles = {"f": f"{figure.title} of f", "g": f"{figure.title} of g", "difference": f"{figure.title}, g − f"}
        for column, title in ({"g": figure.title} if figure.of_change else titles).items():
            rows.append([title, *(_interval(one.result.figures, figure, column) for one in shown)])
    st.html(_table("Figure", shown, rows + _group_rows(shown), FIGURES))
    many = any(one.result.has_many_groups for one in shown)
    pairs = ", of figures that compare many groups over all pairs of them" if many else ""
    rests_on = [text for one in shown for text in (one.result.scene.basis, one.result.scene.left_out) if text]
    fair = "; ".join(f"{figure.in_sentence}: {figure.fair} is fair" for figure in key_figures() if figure.fair)
    st.caption(
        f"On test, in [ ] the 95 % interval (Wilson's for shares{pairs}, else the Bayesian bootstrap). {fair}. "
        "Differences whose interval holds 0 may be chance, and say so. Runs of one f on the same test people have one "
        "interval of it; another split, f, cut-off or grouping has another. "
        f"{escape_markdown(' '.join(dict.fromkeys(rests_on)))}"
    )


def _interval(figures: pd.DataFrame, figure: Figure, column: str) -> str:
    """A figure, or its difference, with its interval; a dash where it is not defined."""
    if figure.name not in figures.index:
        return "–"
    row = figures.loc[figure.name]
    chance = column == "difference" and row["difference_low"] <= 0 <= row["difference_high"]
    return _whole(figure.show_with_interval(row, column) + ("\nmay be chance" if chance else ""))


def _group_rows(shown: Sequence[Shown]) -> list[list[str]]:
    """By group and direction, how many changed; a dash where a run has no such group."""
    cells: dict[str, dict[str, str]] = {}
    for one in shown:
        task = one.result.task
        for code, row in one.result.changes.iterrows():
            for part, outcome in (("raised", 1), ("lowered", 0)):
                title = f"{task.groups[int(code)]}: now “{task.spec.outcomes[outcome]}”"
                low, high = wilson_interval(row[part], row["count"])
                cells.setdefault(title, {})[one.mark] = _whole(
                    f"{row[part]:,.0f} of {row['count']:,.0f}\n"
                    f"{row[part] / row['count']:.1%} [{100 * float(low):.1f}, {100 * float(high):.1f}]"
                )
    return [[title, *(found.get(one.mark, "–") for one in shown)] for title, found in cells.items()]


# ---- concepts and trees ----


def _concepts(shown: Sequence[Shown]) -> None:
    """The concepts of each."""
    st.header("Concepts")
    parts = []
    for one in shown:
        starts = f"Start: {starts_in_words(one.result.g, one.result.task.spec.outcomes)}."
        parts.append((one.title, f"{starts} {guess_in_words(one.result.concepts)}".strip(), cards_of(one.result)))
    st.html(html_columns(parts))


def _trees(shown: Sequence[Shown]) -> None:
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
    st.html(html_columns(parts))
    st.caption(
        "Learnt on the training part, counted on test. F1 of 1: the tree finds all changed decisions, no others."
    )


# ---- the same people? ----


def _overlap(shown: Sequence[Shown]) -> None:
    """Of the people changed by either of two runs, how many are changed by both."""
    if len(shown) < 2:
        return
    st.header("Do they change the same people?")
    groups = _together(shown, "data", "groups", "seed")
    if len(groups) == len(shown):
        st.info(
            "No two of these runs are about the same test people: data set, groups and split must be equal. Their "
            "changes can be compared in number, not person by person.",
            icon=":material/info:",
        )
        return
    for group in sorted(groups, key=lambda group: len(group) == 1):
        where = f"{data_in_words(group[0].settings)}, split {group[0].settings.seed}"
        if len(group) > 1:
            _overlap_table(group, where)
        else:
            title = group[0].title
            st.caption(escape_markdown(f"{title} is about other people ({where}), so it shares none with the others."))


def _overlap_table(group: Sequence[Shown], where: str) -> None:
    rows = [[one.title, *(_shared(one, other) for other in group)] for one in group]
    marked = {(i, i + 1) for i in range(len(group))}
    st.html(_table("Run", group, rows, f"Changed people in common, {where}", marked=marked))
    of_f = " They start from different base models: a person is changed where g differs from the run's own f."
    st.caption(
        escape_markdown(
            f"Of the test {group[0].result.task.spec.people} ({where}) changed by either of two runs, the share "
            f"changed by both.{of_f * (len(_together(group, 'f')) > 1)}"
        )
    )


def _shared(one: Shown, other: Shown) -> str:
    if one is other:
        return _whole(f"{int(one.result.changed_test.sum()):,} changed")
    a, b = one.result.changed_test, other.result.changed_test
    both, either = int((a & b).sum()), int((a | b).sum())
    return _whole(f"{both / either:.0%}\n{both:,} of {either:,}" if either else "–\nnobody changed")
