"""Still true? A later batch of people beside those that a model was tested on: nothing is trained for it."""

from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.service import result_of
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.pages.later import sections
from commod.dashboard.pages.later.files import files, forget_all, take_batch, take_decision, take_model, uploader
from commod.dashboard.state import session
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.views import frame
from commod.dashboard.views.model import current_model, model_file
from commod.dashboard.views.widgets import button
from commod.decisions import Requirements
from commod.decisions.record import MAX_BYTES as MAX_DECISION
from commod.monitoring import Watched
from commod.monitoring.watch import THINNED
from commod.uploads.limits import FILE_TYPES, MAX_BYTES, MAX_COLUMNS, MAX_ROWS

SOURCES = {"sliders": "The model of the sliders", "file": "A model.json"}
HELD_OUT, SHIFTED, FILE = "held_out", "shifted", "file"
PEOPLE = {HELD_OUT: "Held-out people", SHIFTED: "Held out, shifted on purpose", FILE: "A file"}
# Columns that are named before the rest is only counted.
NAMED = 12


def show() -> None:
    """The page, from top to bottom."""
    frame.page("pages/later.py")
    st.title("Still true?")
    st.markdown(tip("later_intro"))
    here = files()
    _choose("Which model", SOURCES, "source")
    found, is_demo = _of_sliders() if here.source == "sliders" else (_of_file(), False)
    _decide_by()
    if found is not None:
        sections.draw(found, _required(), None if is_demo else files().record, signed=files().record is not None)
    _what_happens()
    session.keep_link()


def _choose(label: str, titles: dict[str, str], name: str) -> None:
    """A field of `LaterFiles` to choose."""
    shown = mirrored(f"later_{name}", getattr(files(), name), lambda chosen: setattr(files(), name, chosen))
    st.segmented_control(label, list(titles), format_func=titles.__getitem__, required=True, **shown)


# ---- the model and its batch ----


def _of_sliders() -> tuple[Watched | None, bool]:
    """What became of the model on the screen, and whether its batch is held out of its own test people."""
    result = current_model()
    here = files()
    _choose("Later people", PEOPLE, "people")
    if here.people != FILE:
        return _held_out(result, here.people == SHIFTED), True
    _bring_batch(_columns_of(result))
    if here.batch is None:
        _problem("batch")
        return None, False
    return _look(model_file(result).encode(), result.settings.data), False


def _held_out(result: FitResult, shifted: bool) -> Watched | None:
    people = escape_markdown(result.task.spec.people)
    told = (
        f"For show: the test part is cut in two at random. The model is told as if it had been tested on one half, and "
        f"the {people} of the other half come later."
    )
    if shifted:
        left_out = f"{THINNED - 1} in {THINNED}"
        told += f" Of these, {left_out} whom f scores above the median are **left out on purpose**: a look must see it."
    st.caption(told)
    try:
        found: Watched = result_of(tasks.held_out(result, shifted), st.empty(), "Counting")
    except ValueError as error:
        _say(str(error))
        return None
    return found


def _of_file() -> Watched | None:
    """What became of a model of which there is but its file."""
    here = files()
    left, right = st.columns(2, gap="large")
    with left:
        uploader("model", "A model.json from Take home", ["json"], take_model, MAX_BYTES // 2**20)
        about = _about()
        _problem("model")
    with right:
        _bring_batch(about)
    if here.model is None or here.batch is None or not about:
        _problem("batch")
        return None
    return _look(here.model.content)


def _about() -> dict[str, Any]:
    """What the file of the model says of itself, told; nothing if there is none, or it cannot be used."""
    here = files()
    here.read_model(st.empty())
    if here.model is None:
        return {}
    told = {name: text for name, text in here.about["about"].items() if name in ("data", "f", "settings")}
    words = "; ".join(f"{name}: {text}" for name, text in told.items())
    st.caption(escape_markdown(f"{here.model.name}, tested on {here.about['people']:,} people. {words}"))
    return dict(here.about)


def _columns_of(result: FitResult) -> dict[str, Any]:
    """What a batch for the model of the sliders needs, as `about_model` tells it of a file."""
    task, contract = result.task, [rule.name for rule in result.task.contract]
    return {
        "columns": contract or list(task.X.columns),
        "groups": list(task.grouping.columns),
        "label": task.spec.target,
    }


def _look(model: bytes, data: str = "") -> Watched | None:
    """The batch that was brought, or a sentence why not."""
    here = files()
    found = here.look(model, st.empty(), data)
    _problem("batch")
    if found is not None and here.batch is not None and "batch" in here.problems:
        st.info(escape_markdown(f"What follows is still about {here.batch.name}, the file before."))
    return found


def _bring_batch(about: dict[str, Any]) -> None:
    uploader("batch", "A later batch", list(FILE_TYPES), take_batch, MAX_BYTES // 2**20)
    batch = files().batch
    if batch is not None:
        st.caption(escape_markdown(f"{batch.name}, {len(batch.content) / 1e3:,.0f} kB."))
    elif about:
        columns = about["columns"]
        named = ", ".join(columns[:NAMED]) + (f" and {len(columns) - NAMED} more" if len(columns) > NAMED else "")
        wanted = (
            f"Columns, in any order: {named}; if they are known, {', '.join(about['groups'])} and {about['label']}."
        )
        st.caption(escape_markdown(wanted))


def _problem(what: str) -> None:
    if what in files().problems:
        _say(files().problems[what])


def _say(sentence: str) -> None:
    st.error(escape_markdown(sentence), icon=":material/error:")


# ---- what is required ----


def _decide_by() -> None:
    """A decision, or what is required, from a file."""
    here = files()
    with st.expander("What is required: from a decision.json", expanded="decision" in here.problems):
        label = "A sealed decision, or requirements as JSON"
        uploader("decision", label, ["json"], take_decision, MAX_DECISION // 2**20)
        _problem("decision")
        if here.decision:
            words = "; ".join(here.required.in_words) or "nothing"
            still = "What is checked below is still the file before: " if "decision" in here.problems else ""
            st.caption(escape_markdown(f"{still}{here.decision} requires: {words}."))
        else:
            st.caption("Without a file, what is required in this session is checked, for the model of the sliders.")


def _required() -> Requirements:
    """Those of the file that was brought; else, of the model of the sliders, those of the session."""
    here = files()
    if here.decision or here.source != "sliders":
        return here.required
    return session.requirements()


def _what_happens() -> None:
    """For whoever wonders what is asked for, and what becomes of it."""
    here = files()
    if here.is_own_data or here.decision:
        button("Forget these files", "delete", forget_all)
    with st.expander("What is needed, and what happens to it"):
        st.markdown(tip("later_files", size=MAX_BYTES // 2**20, rows=MAX_ROWS, columns=MAX_COLUMNS))
