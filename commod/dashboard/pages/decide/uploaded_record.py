"""A signed decision that somebody brings: its hash and what it says at once, training again in the background."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Abandoned, Ticket
from commod.dashboard.jobs.service import Pending, begin, in_line
from commod.dashboard.pages.decide.sealed import requirement_title, verdict_with_interval
from commod.dashboard.state.decision import (
    UploadedRecord,
    data_of_record,
    forget_record,
    upload_record,
    uploaded_record,
)
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.datasets import Task
from commod.decisions import confirmation, other_versions, requirements_in, tried_in_words
from commod.decisions.record import KEEP_F, MAX_BYTES
from commod.experiments.sweep import SYMBOLS
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.base_models import BASE_MODELS
from commod.models.competitors import METHODS

UNCHECKED = (
    "Training again cannot check what people chose or wrote: names, reasons, dates, what is required, and the settings."
)
WHAT, LINES = "What the decision says", "Trained again, line by line"


def draw_uploaded_record() -> Pending | None:
    """The section; gives what is waited for, to be drawn last on the page."""
    st.header("Check a signed decision", anchor="check")
    here = uploaded_record()
    st.file_uploader(
        "A signed decision (JSON)",
        type=["json"],
        key=f"decision_upload_{here.uploads}",
        on_change=upload_record,
        max_upload_size=MAX_BYTES // 2**20,
        help=tip("decision_file"),
    )
    if here.fault:
        named = ": ".join(filter(None, (here.name, here.fault)))
        st.error(escape_markdown(named), icon=":material/error:")
        if here.record is None:
            _offer_to_forget()
    if here.record is None:
        return None
    _tell(here.record)
    task = data_of_record(here.record)
    if task is None:
        st.info(
            "This decision is about an uploaded table. Upload the table on the page “Your data” to train "
            "its model again here.",
            icon=":material/upload_file:",
        )
    with st.container(horizontal=True):
        if task is not None and here.lines is None and here.ticket is None:
            st.button("Train it again and compare", icon=":material/replay:", on_click=_begin, args=(here, task))
        _offer_to_forget()
    if here.lines is not None:
        _compare(here)
    if here.ticket is None:
        return None
    place = st.empty()
    place.progress(0.0, text="Training it again …")

    def show_progress(ticket: Ticket) -> None:
        place.progress(ticket.progress, text=in_line("Training it again; the bar shows the time used", ticket))

    return Pending(here.ticket, lambda ticket: _take(here, ticket), show_progress, held=True)


def _offer_to_forget() -> None:
    st.button("Put it away", icon=":material/close:", on_click=forget_record, key="decision_away")


def _begin(here: UploadedRecord, task: Task) -> None:
    """Callback of the button."""
    assert here.record is not None
    here.ticket, here.fault = begin(tasks.verify(here.record, task)), ""


def _take(here: UploadedRecord, ticket: Ticket) -> None:
    here.ticket = None
    try:
        here.lines = ticket.result()
    except Abandoned:  # the browser was gone for a while, and nobody waited
        here.fault = "it was not trained to the end. Begin again."
    except Exception as error:
        why = str(error) if isinstance(error, ValueError) else "a fault of ours, not of yours."
        here.fault = f"its model could not be trained again: {why}"
    ticket.leave()
    st.rerun()


def _tell(record: Mapping[str, Any]) -> None:
    """Who decided what; its hash has been found right when it was read."""
    signed, model = record["signature"], record["model"]
    st.success(
        "The file is as it was signed: its hash is right. That does not prove who wrote it. Signed on "
        f"{signed['signed']}, in the name of {escape_markdown(signed['who'])}, {escape_markdown(signed['role'])}; "
        f"look again on {signed['look_again']}.",
        icon=":material/check:",
    )
    rows = [
        ("Why", signed["why"]),
        ("Data", f"{record['data']['name']}, {record['data']['rows']:,} rows"),
        ("Model", _model(model)),
        ("Criterion, f, split", f"{CRITERIA[model['fairness']].title}, {_title_of_f(model)}, {model['split']}"),
        ("Required", "; ".join(requirements_in(record).in_words) or "nothing"),
        *(
            (f"Verdict: {requirement_title(each['requirement'])}", verdict_with_interval(each))
            for each in record["verdicts"]
        ),
        *([("Sealed people", f"{confirmation(record)} {tried_in_words(record)}")] if confirmation(record) else []),
        *((f"Rejected: {title}", reason) for title, reason in signed["rejected"].items()),
        *(("Other software", difference) for difference in other_versions(record)),
    ]
    st.html(html_table(["", WHAT], rows, caption=WHAT, text={0, 1}))


def _model(model: Mapping[str, Any]) -> str:
    """Method and settings, as they stand in the file."""
    if model["method"] == KEEP_F:
        return "f, as it is"
    method = METHODS[model["method"]]
    knobs = {method.knob.label if method.knob else "value": f"{model['value']:g}"} | model["settings"]
    return ", ".join([method.title, *(f"{SYMBOLS.get(name, name)} {value}" for name, value in knobs.items())])


def _title_of_f(model: Mapping[str, Any]) -> str:
    name = model["base_model"]
    return BASE_MODELS[name][0] if name in BASE_MODELS else "scores of the file"


def _line(name: str) -> str:
    """What a line is about, in words."""
    if name.startswith("sealed "):
        return f"Sealed people: {_line(name.removeprefix('sealed '))}"
    if name.startswith("verdict: "):
        return f"Verdict: {requirement_title(name.removeprefix('verdict: '))}"
    figure = FIGURES.get(name.removeprefix("f_"))
    if figure is not None:
        return f"{figure.short_title} of {'f' if name.startswith('f_') else 'the model'}"
    names = {"data": "Hash of the data", "rows": "Rows of the data", "read as": "How the file was read"}
    return (names | {"people": "People tested on", "kept out": "Features kept out"}).get(name, name)


def _compare(here: UploadedRecord) -> None:
    """What came of training again."""
    assert here.lines is not None
    agreed, total = int(here.lines["agrees"].sum()), len(here.lines)
    if agreed == total:
        st.success(f"All {total} lines agree: data, figures and verdicts. {UNCHECKED}", icon=":material/check:")
    else:
        why = "" if here.lines["agrees"].iloc[0] else " The data here are not those of the decision."
        if why and here.record is not None and "tried" not in here.record:
            why += " If you have sealed people in yours, use them again with nobody sealed: the decision has none."
        st.error(f"{total - agreed} of {total} lines differ.{why}", icon=":material/error:")
    rows = [
        (_line(row.line), "✓ agrees" if row.agrees else "✗ differs", _short(row.recorded), _short(row.found))
        for row in here.lines.itertuples()
    ]
    st.html(html_table(["Line", "", "In the file", "Here"], rows, caption=LINES, text={1, 2, 3}, tall=True))


def _short(text: str) -> str:
    """A hash by its beginning."""
    return text if len(text) < 40 else f"{text[:16]}…"
