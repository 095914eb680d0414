"""The sections of the page Saved runs: the list, one run to be opened, renamed or removed, and taking them along."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.jobs.wait import result_of
from commod.dashboard.state import saved_runs, session
from commod.dashboard.state.link import to_link
from commod.dashboard.state.runs_file import (
    MAX_BYTES,
    MAX_NAME,
    Run,
    differing_figures,
    key_figures,
    write_runs,
)
from commod.dashboard.state.saved_runs import link, shelf
from commod.dashboard.state.settings import base_models_of, in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.datasets import load_task
from commod.metrics.figures import CRITERIA

FILE_NAME = "commod-runs.json"

# ---- the list ----


def tell() -> None:
    """What the last action did, and what was wrong with the link or the file."""
    here = shelf()
    sentence, bad = saved_runs.told()
    if sentence and bad:
        st.error(escape_markdown(sentence), icon=":material/error:")
    elif sentence:
        st.success(escape_markdown(sentence), icon=":material/check:")
    for notice in here.notices:
        st.warning(escape_markdown(notice), icon=":material/info:")
    if any(run.is_own for run in here.runs):
        st.info(
            "Runs on your uploaded data stay in this session, as the data do: they are in neither the address nor the "
            "file, and go when the data are forgotten.",
            icon=":material/lock:",
        )


def overview(place: Any) -> None:
    """All runs as a table, with the figures that are known so far."""
    headings = {
        "Name": "",
        "Data set and split, criterion, f": tip("run_scene"),
        "Setting": "",
        "P-Rule": tip("p_rule"),
        "Mistreatment": tip("dm"),
        "Accuracy": tip("accuracy"),
        "Changed": tip("change_rate"),
    }
    rows = []
    for run in shelf().runs:
        s = run.settings
        figures = shelf().figures.get(s.model())
        known = {} if figures is None else figures["g"]
        rows.append(
            [
                run.name,
                f"{load_task(s.data).spec.title}, split {s.seed}\n{CRITERIA[s.fairness].title}\n"
                f"{base_models_of(s.data)[s.f]}",
                in_words(s).replace(", λ_concepts", "\nλ_concepts").replace(" ", "\u00a0"),
                *(_number(known.get(name), ".3f", trained=bool(known)) for name in ("p_rule", "dm")),
                *(_number(known.get(name), ".1%", trained=bool(known)) for name in ("accuracy", "change_rate")),
            ]
        )
    place.html(html_table(headings, rows, caption="All saved runs", text=(1, 2)))


def _number(value: float | None, form: str, *, trained: bool) -> str:
    if value is None:
        return "–" if trained else "…"
    return f"{value:{form}}"


def manage() -> None:
    """Open, rename or remove one run."""
    here = shelf()
    names = here.names()
    if st.session_state.get("runs_one") not in names:
        st.session_state["runs_one"] = names[-1]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        name = st.selectbox("Run to open, rename or remove", names, key="runs_one", width=360)
        run = next(run for run in here.runs if run.name == name)
        reachable = session.can_go_to(run.settings)
        opened = st.button(
            "Open in Explore",
            icon=":material/tune:",
            on_click=session.go_to,
            args=(run.settings,),
            disabled=not reachable,
            help=None if reachable else tip("run_frozen"),
        )
        with st.popover("Rename", icon=":material/edit:"), st.form("rename", border=False):
            key = f"rename_{names.index(name)}_{name}"
            st.text_input("New name", name, max_chars=MAX_NAME, key=key, help=tip("run_name", most=MAX_NAME))
            st.form_submit_button("Rename it", on_click=saved_runs.rename, args=(name, key))
        st.button("Remove", icon=":material/delete:", on_click=saved_runs.remove, args=(name,))
        put_back()
    if opened:
        st.switch_page("app.py")


def put_back() -> None:
    """A button that undoes the last removal, if there was one."""
    removed = shelf().removed
    if removed:
        name = removed[-1][1].name
        short = name if len(name) <= 30 else name[:30] + "…"
        st.button(
            f"Put “{escape_markdown(short)}” back",
            icon=":material/undo:",
            on_click=saved_runs.put_back,
            key="runs_put_back",
        )


# ---- figures ----


def keep_figures(result: FitResult) -> None:
    """Remember the key figures of a model that was trained."""
    figures = shelf().figures
    if result.settings not in figures:
        figures[result.settings] = key_figures(result.figures)


def why_not_trained(run: Run, error: Exception) -> str:
    """One sentence on a run that failed; of our own faults nothing is told."""
    reason = str(error) if isinstance(error, ValueError) else "for a reason of ours, not of yours."
    return escape_markdown(f"“{run.name}” could not be trained: {reason}")


def train_rest(place: Any) -> None:
    """Count the figures of runs that are not compared, for the table, the file and the check."""
    here = shelf()
    missing = [run for run in here.runs if run.settings.model() not in here.figures]
    for i, run in enumerate(missing, start=1):
        place.progress((i - 1) / len(missing), text=f"Training {i} of {len(missing)} runs that are not compared …")
        try:
            keep_figures(result_of(tasks.fit(run.settings)))
        except Exception as error:
            st.warning(why_not_trained(run, error), icon=":material/warning:")
    place.empty()


def check(place: Any) -> None:
    """Say where figures of an imported file are not those found here."""
    here = shelf()
    with place.container():
        for run in here.runs:
            found = here.figures.get(run.settings.model())
            if run.claim is None or found is None:
                continue
            differing = differing_figures(run.claim.figures, found)
            if differing:
                maker = f" (commod {run.claim.library})" if run.claim.library else ""
                st.warning(
                    escape_markdown(
                        f"The file of “{run.name}” was made by another version{maker}: {'; '.join(differing)}. "
                        "What is shown is what was trained here."
                    ),
                    icon=":material/difference:",
                )


# ---- take them along ----


def take_along() -> None:
    """Link, export and import."""
    here = shelf()
    public = [run for run in here.runs if not run.is_own]
    st.header("Take them along" if public else "Or bring some")
    left, right = st.columns(2, gap="large")
    if public:
        with left:
            _give(public)
    with right if public else left:
        st.file_uploader(
            "Import runs from a file (JSON)",
            type=["json"],
            key=f"runs_upload_{here.uploads}",
            on_change=saved_runs.take_upload,
            max_upload_size=MAX_BYTES // 2**20,
            help=tip("run_import"),
        )


def _give(public: list[Run]) -> None:
    text = write_runs(public, shelf().figures)
    count = "1 run" if len(public) == 1 else f"{len(public)} runs"
    st.markdown(
        f"{count} in one file of {len(text.encode()) / 1e3:.1f} kB, to be opened here again, now or by someone else. "
        "The address of this page holds them, too: bookmark it, or send it."
    )
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "Export as JSON",
            text.encode(),
            FILE_NAME,
            "application/json",
            icon=":material/download:",
            on_click="ignore",
            help=tip("run_export"),
        )
        with st.popover("Share this comparison", icon=":material/share:"):
            st.caption("Whoever opens this address sees these runs, trained anew.")
            query = urlencode(to_link(session.current()) | {name: text for name, text in link().items() if text})
            st.code(f"{(st.context.url or '').split('?')[0]}?{query}", language=None, wrap_lines=True)
