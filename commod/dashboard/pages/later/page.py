"""Still true? A later batch of people next to those that a model was tested on; nothing is trained for it."""

import hashlib
from collections.abc import Mapping
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.later import sections
from commod.dashboard.pages.later.files import KeptFile, files, forget_all, in_limits, uploader
from commod.dashboard.state import session
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views import frame
from commod.dashboard.views.model import current_model
from commod.dashboard.views.widgets import button
from commod.decisions import Requirements
from commod.decisions.record import MAX_BYTES as MAX_DECISION
from commod.monitoring import Watched, read_requirements
from commod.monitoring.watch import THINNED
from commod.uploads.limits import FILE_TYPES, MAX_BYTES, MAX_COLUMNS, MAX_ROWS

SOURCES = {"sliders": "The model of the sliders", "file": "A model.json"}
HELD_OUT, SHIFTED, FILE = "held_out", "shifted", "file"
PEOPLE = {HELD_OUT: "Demo: half of the test people", SHIFTED: "Demo, changed on purpose", FILE: "A file"}
# Columns that are named before the rest is only counted.
NAMED = 12


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/later.py")
    st.title("Still true?")
    st.markdown(tip("later_intro"))
    _choose("Which model", SOURCES, "source")
    of_sliders = files().source == "sliders"
    found, is_demo = _of_sliders() if of_sliders else (_of_file(), False)
    verdict = st.container()
    required, record = _required(of_sliders)
    if found is not None:
        with verdict:
            sections.draw_batch(found, required, None if is_demo else record, signed=record is not None, demo=is_demo)
    _what_happens()
    session.keep_link()


def _choose(label: str, titles: dict[str, str], name: str) -> None:
    """A field of `LaterFiles` to choose."""
    shown = mirrored(f"later_{name}", getattr(files(), name), lambda chosen: setattr(files(), name, chosen))
    st.segmented_control(label, list(titles), format_func=titles.__getitem__, required=True, **shown)


# ---- the model and its batch ----


def _of_sliders() -> tuple[Watched | None, bool]:
    """What became of the model on the screen, and whether its batch is a half of its own test people."""
    result = current_model()
    here = files()
    _choose("Later people", PEOPLE, "people")
    task = result.task
    if here.people != FILE:
        return _held_out(result, here.people == SHIFTED), True
    columns = [rule.name for rule in task.contract] or list(task.X.columns)
    _bring_batch({"columns": columns, "groups": list(task.grouping.columns), "label": task.spec.target})
    return _watch(result.as_json().encode(), result.settings.data, task.X), False


def _held_out(result: FitResult, shifted: bool) -> Watched | None:
    text = tip("later_held_out", people=escape_markdown(result.task.spec.people))
    if shifted:
        text += " " + tip("later_shifted", few=THINNED - 1, of=THINNED)
    st.caption(text)
    try:
        found: Watched = result_of(tasks.held_out(result, shifted), st.empty(), "Counting")
    except ValueError as error:
        _say(str(error))
        return None
    return found


def _of_file() -> Watched | None:
    """What became of a model of which there is only a file."""
    model = files().model
    left, right = st.columns(2, gap="large")
    with left:
        uploader("model", "A model.json from Take home", ["json"], MAX_BYTES // 2**20)
        about = model.read((), _read_model) or {}
        if about and model.file:
            sentences = [
                f"{name}: {about['about'][name]}" for name in ("data", "f", "settings") if name in about["about"]
            ]
            said = f"{model.file.name}, tested on {about['people']:,} people. {'; '.join(sentences)}"
            st.caption(escape_markdown(said))
        _say(model.problem)
    with right:
        _bring_batch(about)
    return _watch(model.file.content) if about and model.file else None


def _read_model(file: KeptFile) -> Any:
    return in_limits(tasks.about_model(files().token, file.digest, file.content), "Reading the model")


def _watch(model: bytes, data: str = "", *known: Any) -> Watched | None:
    """The batch that was brought next to the people of a model, or a sentence why not.

    `data` is the data set that the model was trained on here, if it was: what is found is forgotten with it. `known`
    are the features of its people.
    """
    digest, batch = hashlib.sha256(model).hexdigest(), files().batch

    def read(file: KeptFile) -> Any:
        task = tasks.watch(files().token, (digest, file.digest), model, file.content, *known)
        return in_limits(task, "Looking at the batch")

    found: Watched | None = batch.read((data, digest), read)
    _say(batch.problem)
    if found is not None and batch.file is not None and batch.problem:
        st.info(escape_markdown(f"What follows is still about {batch.file.name}, the file before."))
    return found


def _bring_batch(about: Mapping[str, Any]) -> None:
    uploader("batch", "A later batch", list(FILE_TYPES), MAX_BYTES // 2**20)
    place = files().batch
    if (batch := place.new or place.sound) is not None:
        st.caption(escape_markdown(f"{batch.name}, {len(batch.content) / 1e3:,.0f} kB."))
    elif about:
        columns = about["columns"]
        named = ", ".join(columns[:NAMED]) + (f" and {len(columns) - NAMED} more" if len(columns) > NAMED else "")
        known = f"{', '.join(about['groups'])} and {about['label']}"
        st.caption(escape_markdown(f"Columns, in any order: {named}; if they are known, {known}."))


def _say(problem: str) -> None:
    if problem:
        st.error(escape_markdown(problem), icon=":material/error:")


def _required(of_sliders: bool) -> tuple[Requirements, Mapping[str, Any] | None]:
    """What a file requires, and the decision if it is one; without a file, what the session requires of its model."""
    place = files().decision
    with st.expander("What is required: from a decision.json", expanded=bool(place.problem)):
        label = "A signed decision, or requirements as JSON"
        uploader("decision", label, ["json"], MAX_DECISION // 2**20)
        read = place.read((), lambda file: read_requirements(file.content))
        _say(place.problem)
        if read is not None and place.file is not None:
            words = "; ".join(read[0].in_words) or "nothing"
            still = "What is checked below is still the file before: " if place.problem else ""
            st.caption(escape_markdown(f"{still}{place.file.name} requires: {words}."))
            return read[0], read[1]
        st.caption("Without a file, what is required in this session is checked, for the model of the sliders.")
    return session.requirements() if of_sliders else Requirements(), None


def _what_happens() -> None:
    here = files()
    if here.is_own_data or here.decision.file is not None:
        button("Forget these files", "delete", forget_all)
    with st.expander("What is needed, and what happens to it"):
        st.markdown(tip("later_files", size=MAX_BYTES // 2**20, rows=MAX_ROWS, columns=MAX_COLUMNS))
