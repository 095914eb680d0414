"""Saved runs of one session: pinned with a name, renamed, removed and put back, imported."""

from dataclasses import dataclass, field, replace

import streamlit as st

from commod.dashboard.state import runs_file, session
from commod.dashboard.state.controls import clean_line
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.runs_file import MAX_NAME, MAX_RUNS, Run, unique_name
from commod.dashboard.state.settings import Settings
from commod.dashboard.state.uploads import UploadError, take_upload
from commod.uploads.limits import count_of

MAX_COMPARED = 4
# What the last action did. A widget's key, so to speak: it does not outlive the page.
_DONE = "runs_done"


@dataclass
class Shelf:
    """The runs of a session, oldest first."""

    runs: list[Run] = field(default_factory=list)
    compared: list[str] | None = None  # names; None: the newest
    figures: dict[Settings, runs_file.Figures] = field(default_factory=dict)  # of models that were trained here
    removed: Run | None = None  # the last one
    notices: list[str] = field(default_factory=list)  # of the last import or of forgotten data
    uploads: int = 0  # a new number is a new, empty uploader

    def find(self, settings: Settings) -> Run | None:
        """The run of the same model, however it is looked at."""
        return next((run for run in self.runs if run.settings.model() == settings.model()), None)

    def names(self) -> list[str]:
        return [run.name for run in self.runs]

    def chosen(self) -> list[Run]:
        if self.compared is None:
            return self.runs[-MAX_COMPARED:]
        return [run for run in self.runs if run.name in self.compared][:MAX_COMPARED]

    def add(self, run: Run) -> Run:
        """Take a run in, under a name that no other has; there must be room."""
        run = replace(run, name=unique_name(run.name, self.names()))
        self.runs.append(run)
        self.removed = None
        if self.compared is not None and len(self.chosen()) < MAX_COMPARED:
            self.compared.append(run.name)
        return run


_state = PageState("runs", Shelf)


def shelf() -> Shelf:
    """The session's runs. Uploaded data that are forgotten take their runs with them."""
    here, known = _state(), session.data_sets()
    lost = [f"“{run.name}”" for run in here.runs if run.settings.data not in known]
    if lost:
        here.notices.append(f"{count_of(len(lost), 'run')} on uploaded data went with the data: {', '.join(lost)}.")
    here.runs = [run for run in here.runs if run.settings.data in known]
    if here.removed and here.removed.settings.data not in known:
        here.removed = None
    here.figures = {settings: figures for settings, figures in here.figures.items() if settings.data in known}
    return here


# ---- actions: called before the page is drawn ----


def _say(sentence: str, *, bad: bool = False) -> None:
    shelf().notices = []
    st.session_state[_DONE] = (sentence, bad, session.current())


def pin(settings: Settings, key: str) -> None:
    """Keep a model under the name in the widget `key`."""
    here = shelf()
    same = here.find(settings)
    if same is not None:
        _say(f"This model is already saved as “{same.name}”. You can rename it below.")
    elif len(here.runs) >= MAX_RUNS:
        _say(no_room_in_words(), bad=True)
    else:
        name = clean_line(st.session_state.get(key, ""), MAX_NAME) or runs_file.default_name(settings)
        run = here.add(Run(name, settings, requirements=session.requirements()))
        st.session_state["runs_one"] = run.name
        _say(f"Pinned as “{run.name}”.")


def open_run(run: Run) -> None:
    """Show the model of a run, and require what was required of it; if nothing was, what is required stays."""
    session.go_to(run.settings)
    if run.requirements:
        session.require(run.requirements)


def no_room_in_words() -> str:
    """Said where there is no room for another run."""
    return f"All {MAX_RUNS} places for runs are taken. Remove one on the page “Saved runs” first."


def rename(old: str, key: str) -> None:
    """Give a run the name in the widget `key`."""
    here = shelf()
    wanted = clean_line(st.session_state.get(key, ""), MAX_NAME)
    if not wanted:
        _say(f"A name needs a letter or a digit, so “{old}” keeps its name.", bad=True)
        return
    new = unique_name(wanted, [name for name in here.names() if name != old])
    here.runs = [replace(run, name=new) if run.name == old else run for run in here.runs]
    here.compared = here.compared and [new if name == old else name for name in here.compared]
    st.session_state["runs_one"] = new
    _say(f"“{old}” is now called “{new}”.")


def remove(name: str) -> None:
    """Take a run away; `put_back` undoes it."""
    here = shelf()
    if name not in here.names():  # clicked twice
        return
    here.removed = here.runs.pop(here.names().index(name))
    if here.compared is not None:
        here.compared = [other for other in here.compared if other != name] or None
    _say(f"“{name}” is removed.")


def put_back() -> None:
    """Undo the last removal."""
    if run := shelf().removed:
        _say(f"“{shelf().add(run).name}” is back.")


def import_runs() -> None:
    """Take in the runs of the file that was uploaded."""
    here = shelf()
    try:
        uploaded = take_upload(f"runs_upload_{here.uploads}")
    except UploadError as error:
        _say(str(error), bad=True)
        return
    if uploaded is None:
        return
    here.uploads += 1
    name = clean_line(uploaded[0], 40)
    try:
        read, problems = runs_file.read_runs(uploaded[1])
    except runs_file.RunsFileError as error:
        _say(f"{name}: {error}", bad=True)
        return
    taken, left = [], 0
    for run in read:
        same = here.find(run.settings)
        if same is not None:
            problems.append(f"“{run.name}” is already saved as “{same.name}”.")
        elif len(here.runs) >= MAX_RUNS:
            left += 1
        else:
            taken.append(here.add(run).name)
    if left:
        problems.append(f"{left} more did not fit. {no_room_in_words()}")
    if taken:
        here.compared = None  # the newest, which have just come
    count = count_of(len(taken), "run") if taken else "Nothing"
    _say(f"{count} {'were' if len(taken) > 1 else 'was'} taken from {name}.", bad=not taken)
    here.notices = problems


def notice() -> tuple[str, bool]:
    """What the last action did and whether it went wrong; nothing of a model that has been left."""
    sentence, bad, at = st.session_state.get(_DONE, ("", False, None))
    return (sentence, bad) if at == session.current() else ("", False)
