"""Saved runs: models pinned with a name, up to four side by side, and one small file of them all."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs.service import Pending, draw_pending
from commod.dashboard.pages.runs.compare import choose, side_by_side, train_compared, train_rest
from commod.dashboard.state import saved_runs, session
from commod.dashboard.state.runs_file import MAX_BYTES, MAX_NAME, Run, write_runs
from commod.dashboard.state.saved_runs import shelf
from commod.dashboard.state.settings import base_models_of, defaults, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.dashboard.views import controls, frame
from commod.dashboard.views.chart import offer
from commod.dashboard.views.pin import pin_here
from commod.dashboard.views.widgets import button
from commod.datasets import load_task
from commod.metrics.figures import CRITERIA, key_figures
from commod.uploads.limits import count_of

FILE_NAME = "commod-runs.json"


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/runs.py")
    st.title("Saved runs")
    session.see()
    controls.sidebar()
    controls.notices()
    session.keep_link()
    if not shelf().runs:
        st.markdown(tip("runs_intro"))
        button("Show an example", "compare_arrows", _pin_example)
        _tell()
        pin_here(session.current())
        _put_back()
        _take_along()
        st.stop()

    _tell()
    chosen = choose()
    shown = train_compared(chosen)
    checks: Callable[[], list[Pending]] = side_by_side(shown) if shown else list
    if not chosen:
        st.info("Choose up to four runs.", icon=":material/info:")
    st.header("All runs")
    pin_here(session.current())
    has_more = len(shown) < len(shelf().runs)
    table = _overview() if has_more else None
    progress = st.empty()
    _manage()

    # What may take a while comes last: the page above is complete without it.
    train_rest(progress)
    if table is not None:
        _overview(table)
    _take_along()
    draw_pending(*checks())


def _pin_example() -> None:
    start = defaults(session.current().data)
    shelf().add(Run("As it opens", start))
    shelf().add(Run("Nobody loses", replace(start, direction="improve")))


# ---- the list ----


def _tell() -> None:
    """What the last action did, and what was wrong with the link or the file."""
    here = shelf()
    sentence, bad = saved_runs.notice()
    if sentence and bad:
        st.error(escape_markdown(sentence), icon=":material/error:")
    elif sentence:
        st.success(escape_markdown(sentence), icon=":material/check:")
    for notice in here.notices:
        st.warning(escape_markdown(notice), icon=":material/info:")
    if any(run.is_own for run in here.runs):
        st.info(tip("own_runs"), icon=":material/lock:")


def _overview(place: Any = st) -> Any:
    """All runs as a table, with the figures that are known so far; returns its place, for when more are."""
    figures = sorted(key_figures(), key=lambda figure: not figure.fair)  # those of fairness first
    headings = {"Name": "", "Data set and split, criterion, f": tip("run_scene"), "Setting": ""}
    headings |= {figure.short_title: figure.meaning for figure in figures}
    rows = []
    for run in shelf().runs:
        s = run.settings
        trained = shelf().figures.get(s.model())
        values = [None if trained is None else trained["g"][figure.name] for figure in figures]
        unknown = "…" if trained is None else "–"
        rows.append(
            [
                run.name,
                f"{load_task(s.data).spec.title}, split {s.seed}\n{CRITERIA[s.fairness].title}\n"
                f"{base_models_of(s.data)[s.f]}",
                in_words(s).replace(", λ_concepts", "\nλ_concepts").replace(" ", "\u00a0"),
                *(
                    unknown if value is None else figure.show(value)
                    for figure, value in zip(figures, values, strict=True)
                ),
            ]
        )
    return place.html(html_table(headings, rows, caption="All saved runs", text=(1, 2)))


def _manage() -> None:
    """Open, rename or remove one run."""
    here = shelf()
    names = here.names()
    if st.session_state.get("runs_one") not in names:
        st.session_state["runs_one"] = names[-1]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox("Run to open, rename or remove", names, key="runs_one", width=360)
        run = next(run for run in here.runs if run.name == name)
        reachable = session.can_go_to(run.settings)
        why_not = None if reachable else tip("run_frozen")
        opened = button("Open in Explore", "tune", saved_runs.open_run, run, disabled=not reachable, help=why_not)
        with st.popover("Rename", icon=":material/edit:"), st.form("rename", border=False):
            key = f"rename_{names.index(name)}_{name}"
            st.text_input("New name", name, max_chars=MAX_NAME, key=key, help=tip("run_name", most=MAX_NAME))
            st.form_submit_button("Rename it", on_click=saved_runs.rename, args=(name, key))
        button("Remove", "delete", saved_runs.remove, name)
    _put_back()
    if opened:
        st.switch_page("app.py")


def _put_back() -> None:
    """A button that undoes the last removal, if there was one."""
    if run := shelf().removed:
        button(f"Put “{escape_markdown(run.name)}” back", "undo", saved_runs.put_back, key="runs_put_back")


# ---- take them along ----


def _take_along() -> None:
    """Link, export and import."""
    here = shelf()
    public = [run for run in here.runs if not run.is_own]
    st.header("Export and import")
    left, right = st.columns(2, gap="large")
    if public:
        with left:
            _give(public)
    with right if public else left:
        st.file_uploader(
            "Import runs from a file (JSON)",
            type=["json"],
            key=f"runs_upload_{here.uploads}",
            on_change=saved_runs.import_runs,
            max_upload_size=MAX_BYTES // 2**20,
            help=tip("run_import"),
        )


def _give(public: list[Run]) -> None:
    text = write_runs(public, shelf().figures)
    st.markdown(tip("runs_file", count=count_of(len(public), "run"), size=len(text.encode()) / 1000.0))
    offer("Export as JSON", text.encode(), FILE_NAME, help=tip("run_export"))
