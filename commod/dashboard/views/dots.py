"""The people of a model: who is decided about, and a hundred of each group as dots."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import streamlit as st

from commod.charts.dots import plot_hundred
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.state import session
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import declared, phrase
from commod.dashboard.text.stories import called, label_of, rows_of
from commod.dashboard.views.chart import draw
from commod.dashboard.views.table import Table, fold
from commod.dashboard.views.words import say, say_declared
from commod.metrics.figures import CRITERIA

# With more groups the dots are smaller.
FEW = 3


def draw_story(result: FitResult) -> None:
    """The data set by name, who decides what about whom in it, and which model is which."""
    title = escape_markdown(say_declared(result.task.spec.title))
    st.markdown(f"**{title}.** {escape_markdown(result.story(session.language()))} {say('explore.models')}")


def draw_dots(result: FitResult) -> Callable[[], None]:
    """A hundred people of each group, by what g decides about them; returns what draws caption and table below."""
    language, spec = session.language(), result.task.spec
    yes = say_declared(spec.outcomes[1])
    rows, title = result.keep(f"dots_{language}", lambda: _dots(result, language)), say("dots.table")
    draw(
        plot_hundred,
        rows,
        alt=say("dots.alt"),
        table=title,
        good=spec.favourable == 1,
        few=len(result.hundred) <= FEW,
    )
    columns = {
        "called": (say("dots.group_column"), ""),
        "count": (say("dots.count_column"), ","),
        "before": (say("dots.before_column", yes=yes), ".1%"),
        "now": (say("dots.now_column", yes=yes), ".1%"),
        "better": (say("dots.better_column"), ".1%"),
        "worse": (say("dots.worse_column"), ".1%"),
    }

    def draw_table() -> None:
        told = say("dots.caption", people=say_declared(spec.people), yes=escape_markdown(yes))
        st.caption(told if not CRITERIA[result.settings.fairness].by_label else f"{told} {say('dots.errors')}")
        fold(Table(title, "dots_table", columns), lambda: _table(result, language))

    return draw_table


def _ordered(result: FitResult) -> pd.DataFrame:
    """Two groups in their order, more by how often f says yes, which stays while a slider moves."""
    found = result.hundred
    return found.sort_values("before", ascending=False, kind="stable") if len(found) > 2 else found


def _dots(result: FitResult, language: str) -> pa.Table:
    """Rows of the chart, one for each group."""
    found = _ordered(result)
    lines = 3 if len(found) <= FEW else 2
    rows = rows_of(found).items()
    labels = [label_of(language, result.task.spec, code, row, lines=lines) for code, row in rows]
    people = {name: found[f"of_100_{name}"].tolist() for name in ("now", "raised", "lowered")}
    no, yes = (declared(language, outcome) for outcome in result.task.spec.outcomes)
    said = (("stays", yes), ("now", yes), ("now", no), ("stays", no))
    states = {
        f"state_{kind}": [phrase(language, f"dots.{state}", outcome=outcome)] * len(found)
        for kind, (state, outcome) in enumerate(said)
    }
    return pa.table({"label": labels, "rank": list(range(len(found))), **people, **states})


def _table(result: FitResult, language: str) -> pd.DataFrame:
    found, spec = _ordered(result), result.task.spec
    better, worse = ("raised", "lowered") if spec.favourable == 1 else ("lowered", "raised")
    names = [called(language, spec, code) for code in found.index]
    return found.assign(called=names, better=found[better], worse=found[worse])
