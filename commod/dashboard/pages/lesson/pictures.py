"""What the lesson draws with an answer: parts of the Explore page, and pictures of its own."""

from __future__ import annotations

import math
from collections.abc import Callable

import streamlit as st

from commod.charts import MethodStyle, palette
from commod.charts.paper import plot_scatter
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.pages.lesson.facts import DP, EO, TRUTH, conflict_paths, group_table, people_paying
from commod.dashboard.pages.lesson.steps import Stage
from commod.dashboard.state import session
from commod.dashboard.state.settings import controls_of, in_words
from commod.dashboard.text.html import html_table
from commod.dashboard.views.changes import draw_changes
from commod.dashboard.views.chart import draw
from commod.dashboard.views.concepts import draw_concepts
from commod.dashboard.views.shap import draw_shap
from commod.dashboard.views.table import Table
from commod.dashboard.views.tiles import draw_figures
from commod.metrics.figures import FIGURES


def draw_pictures(at: Stage) -> None:
    """All that the step shows."""
    live = _live(at)
    if {"figures", "changes"} & set(at.step.shows) and live.settings != at.after.settings:
        st.caption(f"Below: {in_words(live.settings)}, where the sliders stand now.")
    for name in at.step.shows:
        _PICTURES[name](at)


def draw_figures_on_the_way(at: Stage) -> None:
    """The figures where the sliders stand, before the answer is told."""
    if "figures" in at.step.shows:
        draw_figures(_live(at))


def _live(at: Stage) -> FitResult:
    """The model of the sliders, as long as they are on the step's scene: who has the answer may play on."""
    here = session.current()
    if here.problem() != at.step.end.problem():
        return at.after
    return at.instead(**{name: getattr(here, name) for name in controls_of("model")})


def _groups(at: Stage) -> None:
    outcome = at.after.task.spec.outcomes[1]
    rows = [
        [row.group, f"{row.people:,}", f"{row.base_rate:.0%}", f"{row.positive:.0%}", f"{row.wrong:.0%}"]
        for row in group_table(at.after).itertuples()
    ]
    headings = ("Group", "People on test", f"Label: {outcome}", f"f says: {outcome}", "f is wrong")
    st.html(html_table(headings, rows, caption="What f does to each group"))


def _conflict(at: Stage) -> None:
    frame = conflict_paths(at)
    p_rule, dm = FIGURES["p_rule"], FIGURES["dm"]
    draw(
        plot_scatter,
        frame.assign(
            x=frame["p_rule"],
            y=frame["dm"],
            order=range(len(frame)),
            settings=["the labels" if math.isnan(value) else f"λ_fair {value:g}" for value in frame["lambda_fair"]],
        ),
        alt=f"{dm.title} against {p_rule.title} along λ_fair, trained for either criterion, and of the labels.",
        table=Table(
            "The two kinds of fair as a table",
            "conflict_table",
            {
                "label": ("Model", ""),
                "settings": ("Setting", ""),
                "x": (p_rule.axis_title, ".3f"),
                "y": (dm.axis_title, ".3f"),
            },
        ),
        caption="On test. Each line begins at f (left, above) and follows λ_fair. Fair by both would be right and "
        "below.",
        styles=(
            MethodStyle(DP, palette.G, "circle"),
            MethodStyle(EO, palette.F, "square"),
            MethodStyle(TRUTH, palette.TRAIL, "diamond"),
        ),
        x_title=p_rule.axis_title,
        y_title="Mistreatment (0 is fair)",
        percent=False,
        joined=True,
    )


def _rivals(at: Stage) -> None:
    p_rule, rows = FIGURES["p_rule"], []
    for row in people_paying(at).itertuples():
        share = f"{row.worse / max(row.changed, 1):.0%}"
        rows.append(
            [row.title, p_rule.show(row.p_rule), f"{row.changed:,}", f"{row.better:,}", f"{row.worse:,}", share]
        )
    headings = ("Method", p_rule.title, "Changed", "Better for the person", "Worse", "Worse, of those changed")
    st.html(html_table(headings, rows, caption="Who pays, by method, on test"))


def _concepts(at: Stage) -> None:
    live = _live(at)
    changed, total = int(live.changed_test.sum()), len(live.changed_test)
    st.metric(f"Decisions changed at k = {live.settings.k}", f"{changed} of {total:,}", border=True, width="content")
    draw_concepts(live)


_PICTURES: dict[str, Callable[[Stage], None]] = {
    "groups": _groups,
    "figures": lambda at: draw_figures(_live(at)),
    "changes": lambda at: draw_changes(_live(at)),
    "conflict": _conflict,
    "rivals": _rivals,
    "concepts": _concepts,
    "shap": lambda at: draw_shap(at.after),
}
