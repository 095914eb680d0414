"""The trade-off: fairness and accuracy of everything tried."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import streamlit as st
from markupsafe import Markup

from commod.charts import MethodStyle, plot_pareto
from commod.charts.pareto import CURRENT, DEPLOYED, KINDS, PATH, SPLITS, SWEEP, TRIED
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import Pending, get, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import GRIDS, Settings, in_words
from commod.dashboard.text.html import html_legend
from commod.dashboard.text.language import FIRST
from commod.dashboard.views.chart import Table, draw, fold
from commod.dashboard.views.impact import FOUR_FIFTHS, has_four_fifths
from commod.dashboard.views.methods import on_explore, own_sweep
from commod.dashboard.views.points import point_columns
from commod.dashboard.views.words import say, say_declared
from commod.experiments import Refits, Sweep
from commod.metrics.figures import CRITERIA, FIGURES

# Columns of the Pareto view.
_COLUMNS = {
    "kind": pa.string(),
    "fairness": pa.float64(),
    "accuracy": pa.float64(),
    "change_rate": pa.float64(),
    "settings": pa.string(),
    "id": pa.int64(),
    "order": pa.float64(),
    "line": pa.string(),
}

# Of every point, beside its fairness.
_MEASURES = ("accuracy", "change_rate")


def _values(frame: pd.DataFrame, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Rows of some columns; for a few rows pandas' own ways take milliseconds."""
    return zip(*(frame[column].tolist() for column in columns), strict=True)


def _rows(rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(_COLUMNS)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, _COLUMNS.values(), strict=True)]
    return pa.Table.from_arrays(arrays, names=list(_COLUMNS))


def _points(
    result: FitResult, line: list[FitResult], sweep: pd.DataFrame | None, splits: Refits | None
) -> tuple[pa.Table, list[Settings]]:
    """Rows of the Pareto view, and the settings behind the points tried before (their ``id`` is the place)."""
    here, tried = result.settings, session.state().tried
    # k is a reading of the model, not another model: one point for all of them.
    models = {replace(s, k=here.k): s for s in tried if s.problem() == here.problem()}
    known = [s for model, s in models.items() if model != here]
    kept = f"points_{sweep is not None}_{splits is not None}_{session.language()}"
    behind, above = result.keep(kept, lambda: _fixed_points(result, sweep, splits))
    rows = [
        (TRIED, *(tried[s][name] for name in ("fairness", *_MEASURES)), say_declared(in_words(s)), i, 0, "")
        for i, s in enumerate(known)
    ]
    on_line = _rows([_of_line(model) for model in line])
    return pa.concat_tables([behind, on_line, _rows(rows), above]).combine_chunks(), known


def _fixed_points(result: FitResult, sweep: pd.DataFrame | None, splits: Refits | None) -> tuple[pa.Table, pa.Table]:
    """Rows that are the same for all sessions, behind the points tried before and above them."""
    here = result.settings
    behind: list[tuple[Any, ...]] = []
    if sweep is not None:
        figure = CRITERIA[here.fairness].figure
        columns = figure.name, *_MEASURES, "settings", "best"
        for *shown, setting, best in _values(sweep, *columns):
            behind.append((SWEEP, *shown, say_declared(setting), -1, shown[0], "frontier" if best else ""))
    text = say_declared(in_words(here))
    if splits is not None:
        text += f"; {say_declared(splits_in_words(here, splits))}"
        figures = _values(splits.figures, CRITERIA[here.fairness].figure_name, *_MEASURES)
        behind += [(SPLITS, *values, text, -1, 0, "") for values in figures]
    path = list(_values(result.path, "fairness", *_MEASURES))
    above = [(CURRENT, *path[-1], text, -1, 0, ""), (DEPLOYED, *path[0], say_declared("unchanged"), -1, 0, "")]
    return _rows(behind), _rows(above)


def _of_line(result: FitResult) -> tuple[Any, ...]:
    """The row of a model as one of its line."""

    def made() -> tuple[Any, ...]:
        shown = list(_values(result.path, "fairness", *_MEASURES))[-1]
        return (PATH, *shown, say_declared(in_words(result.settings)), -1, result.settings.lambda_fair, "path")

    row: tuple[Any, ...] = result.keep(f"row_of_line_{session.language()}", made)
    return row


def splits_in_words(settings: Settings, splits: Refits) -> str:
    """Mean ± sd of the three axes over other splits."""
    figures = [FIGURES[name] for name in (CRITERIA[settings.fairness].figure_name, *_MEASURES)]
    sentences = []
    for figure in figures:
        mean, sd = splits.spread.loc[figure.name]
        sentences.append(f"{figure.short_in_sentence} {figure.show(mean)} ± {figure.show(sd)}")
    return f"on {len(splits)} splits with other people {', '.join(sentences)}"


def _unusual(result: FitResult, splits: Refits) -> str:
    """Whether g is less fair or fairer on this split than on others, if by more than their standard deviation."""
    criterion = CRITERIA[result.settings.fairness]
    figure, (mean, sd) = criterion.figure, splits.spread.loc[criterion.figure_name]
    gain = criterion.gain(result.path["fairness"].iloc[-1] - mean)
    if round(abs(gain), 3) <= round(sd, 3):
        return ""
    spread = f"{figure.short_in_sentence} {figure.show(mean)} ± {figure.show(sd)}"
    return say(f"explore.{'fairer' if gain > 0 else 'less_fair'}", n=len(splits), spread=say_declared(spread))


def draw_pareto(
    result: FitResult, line: list[FitResult], sweep: Sweep | None, splits: Refits | None
) -> Callable[[], None]:
    """Fairness and accuracy of everything tried; returns what draws the table of it, once there is time.

    `line` are the models at every λ_fair beside this one that are known.
    """
    settings = result.settings
    figure = CRITERIA[settings.fairness].figure
    frame, known = _points(result, line, None if sweep is None else sweep.points, splits)

    def clicked() -> None:
        picked = st.session_state["pareto"]["selection"].get("pick") or []
        place_of = int(picked[0]["id"]) if picked else -1
        if 0 <= place_of < len(known):
            _go_back(known[place_of])

    draw(
        plot_pareto,
        frame,
        alt="Trade-off of fairness, accuracy and changes: f, this setting and others tried.",
        table=say("explore.points"),
        key="pareto",
        on_select=clicked,
        view=session.current().view,
        fairness_title=say_declared(figure.short_title),
        fairer=say_declared(figure.fairer),
        line=FOUR_FIFTHS if has_four_fifths(settings) else None,
        called=tuple((kind, say_declared(kind)) for kind in KINDS) if session.language() != FIRST else (),
    )

    shown = set(frame["kind"].to_pylist()) - {CURRENT, DEPLOYED}  # f and g are named in the chart
    styles = [MethodStyle(say_declared(kind), *how[:2]) for kind, how in reversed(KINDS.items()) if kind in shown]
    unusual = "" if splits is None else _unusual(result, splits)
    st.html(Markup('<div title="{}">{}</div>').format(unusual, html_legend(styles)))

    def draw_table() -> None:
        notes = {"chart": True, "dashed": has_four_fifths(settings), "grey_is_free": settings.free() != settings}
        said = [say(f"explore.{name}") for name, holds in (notes | {"point": True}).items() if holds]
        st.caption(" ".join([*said, unusual]).strip())
        _choose(known, settings, sweep)
        columns = point_columns(settings.fairness, kind=say("explore.model"), settings=say("explore.setting"))
        rows = frame.to_pandas().iloc[::-1]
        rows = rows[(rows["kind"] != SWEEP) | (rows["line"] != "")]
        fold(Table(say("explore.points"), "points_table", columns), rows.assign(kind=rows["kind"].map(say_declared)))

    return draw_table


def known_line(settings: Settings) -> list[FitResult]:
    """The models at every λ_fair beside a setting that have been trained so far."""
    line = (tasks.fit(replace(settings, lambda_fair=value)) for value in GRIDS["lambda_fair"])
    found = (get(task, 0, used=False) for task in line)
    return [result for result in found if result is not None]


def known_sweep(settings: Settings) -> Sweep | None:
    """COMMOD's sweep behind the trade-off, in the form in use, if it is there."""
    found: Sweep | None = get(own_sweep(settings))
    return found


def begin_sweep(settings: Settings, drawn: Sweep | None) -> Pending | None:
    """The same to wait for, unless it is `drawn`; then the page is drawn anew, all else being in the cache."""
    return None if drawn is not None else Pending(submit(own_sweep(settings)), lambda _: st.rerun())


def _go_back(there: Settings) -> None:
    session.go_to(there.looked_at_as(session.current()))


def _choose(known: list[Settings], here: Settings, sweep: Sweep | None) -> None:
    """The other view; and what a click on a square, or on a point of the frontier, does, for the keyboard."""
    views = session.options("view")
    st.segmented_control(
        say("explore.view"),
        list(views),
        format_func=lambda name: say_declared(views[name]),
        default=session.widget_value("view"),
        key=session.widget_key("view"),
        on_change=session.change,
        args=("view",),
    )
    _choose_one(say("explore.back"), "tried_before", known[::-1])
    if sweep is not None:
        best = [
            model.cell for model, of_frontier in zip(sweep.models, sweep.points["best"], strict=True) if of_frontier
        ]
        _choose_one(say("explore.open"), "of_frontier", [on_explore(here, cell) for cell in best])


def _choose_one(label: str, key: str, settings: list[Settings]) -> None:
    def take() -> None:
        there = st.session_state.get(key)
        st.session_state[key] = None
        if there is not None:
            _go_back(there)

    if settings:
        st.selectbox(
            label,
            settings,
            index=None,
            format_func=lambda there: say_declared(in_words(there)),
            key=key,
            on_change=take,
            placeholder=say("explore.choose"),
        )
