"""Saved runs of one session: pinned with a name, renamed, removed and put back, opened, exported and imported."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.dashboard import compute, session
from commod.dashboard.glossary import tip
from commod.dashboard.markup import plain, table_of
from commod.dashboard.results import FitResult
from commod.dashboard.runs_file import (
    MOST_BYTES,
    MOST_NAME,
    MOST_RUNS,
    Figures,
    Run,
    RunsFileError,
    clean_name,
    default_name,
    differing_figures,
    key_figures,
    read_link,
    read_runs,
    unique_name,
    write_link,
    write_runs,
)
from commod.dashboard.settings import FAIRNESS, OWN_PREFIX, Settings, base_models_of, in_words, to_link
from commod.datasets import load_task

__all__ = [
    "Shelf",
    "check",
    "compare",
    "keep_figures",
    "link",
    "manage",
    "overview",
    "pin_here",
    "pin_popover",
    "put_back",
    "shelf",
    "take_along",
    "tell",
    "train_rest",
    "why_not_trained",
]

MOST_COMPARED = 4
FILE_NAME = "commod-runs.json"
_STATE = "held_runs"
# What the last action did. A widget's key, so to speak: it does not outlive the page.
_DONE = "runs_done"


@dataclass
class Shelf:
    """The runs of a session, oldest first."""

    runs: list[Run] = field(default_factory=list)
    compared: list[str] | None = None  # names; None: the newest
    figures: dict[Settings, Figures] = field(default_factory=dict)  # of models that were trained here
    removed: list[tuple[int, Run]] = field(default_factory=list)  # place and run, the last one last
    notices: list[str] = field(default_factory=list)  # told until the next action
    uploads: int = 0  # a new number is a new, empty uploader

    def find(self, settings: Settings) -> Run | None:
        """The run of the same model, however it is looked at."""
        return next((run for run in self.runs if run.settings.model() == settings.model()), None)

    def names(self) -> list[str]:
        """All names, oldest first."""
        return [run.name for run in self.runs]

    def chosen(self) -> list[Run]:
        """The runs to be compared."""
        if self.compared is None:
            return self.runs[-MOST_COMPARED:]
        return [run for run in self.runs if run.name in self.compared][:MOST_COMPARED]

    def add(self, run: Run, place: int | None = None) -> Run:
        """Take a run in, under a name that no other has; there must be room."""
        run = replace(run, name=unique_name(run.name, self.names()))
        self.runs.insert(len(self.runs) if place is None else place, run)
        model = run.settings.model()
        self.removed = [(at, other) for at, other in self.removed if other.settings.model() != model]
        if self.compared is not None and len(self.chosen()) < MOST_COMPARED:
            self.compared.append(run.name)
        return run


def shelf() -> Shelf:
    """The session's runs, read from the link when they are first asked for."""
    if _STATE not in st.session_state:
        found = Shelf()
        read, found.notices = read_link(session.carried().get("runs", ""))
        for run in read:
            same = found.find(run.settings)
            if same is None:
                found.add(run)
            else:
                found.notices.append(f"“{run.name}” of the link is the same model as “{same.name}”: it is left out.")
        found.compared = _compared_in(session.carried().get("compare", ""), found)
        st.session_state[_STATE] = found
    here: Shelf = st.session_state[_STATE]
    _drop_forgotten(here)
    return here


def _compared_in(text: str, found: Shelf) -> list[str] | None:
    """Names behind the places in a link, "1,3"."""
    if not text:
        return None
    places = [int(part) - 1 if part.isascii() and part.isdigit() and len(part) < 4 else -1 for part in text.split(",")]
    names = [found.runs[place].name for place in places if 0 <= place < len(found.runs)]
    if len(names) < len(places) or len(names) > MOST_COMPARED:
        found.notices.append(
            f"The link asks to compare runs that it does not hold, or more than {MOST_COMPARED}: "
            + ("what it holds is shown." if names else "the newest are shown.")
        )
    return names[:MOST_COMPARED] or None


def _drop_forgotten(here: Shelf) -> None:
    """Uploaded data that are forgotten take their runs with them."""
    own = session.own_data()
    name = own.name if own else None

    def gone(settings: Settings) -> bool:
        return settings.data.startswith(OWN_PREFIX) and settings.data != name

    lost = [run.name for run in here.runs if gone(run.settings)]
    if lost:
        here.runs = [run for run in here.runs if not gone(run.settings)]
        count = "1 run" if len(lost) == 1 else f"{len(lost)} runs"
        here.notices.append(f"{count} on uploaded data went with the data: {', '.join(f'“{name}”' for name in lost)}.")
    here.removed = [(place, run) for place, run in here.removed if not gone(run.settings)]
    here.figures = {settings: figures for settings, figures in here.figures.items() if not gone(settings)}


def link() -> dict[str, str]:
    """What of the runs goes into the address: all but those on uploaded data, and which are compared."""
    here = shelf()
    public = [run.name for run in here.runs if not run.is_own]
    places = [str(public.index(run.name) + 1) for run in here.chosen() if not run.is_own] if here.compared else []
    return {"runs": write_link(here.runs) if public else "", "compare": ",".join(places)}


# ---- actions: called before the page is drawn ----


def _say(sentence: str, *, bad: bool = False) -> None:
    shelf().notices = []
    st.session_state[_DONE] = (sentence, bad, session.current())


def _pin(settings: Settings, key: str) -> None:
    here = shelf()
    same = here.find(settings)
    if same is not None:
        _say(f"This model is saved already, as “{same.name}”. It can be renamed below.")
    elif len(here.runs) >= MOST_RUNS:
        _say(_full(), bad=True)
    else:
        run = here.add(Run(clean_name(st.session_state.get(key, "")) or default_name(settings), settings))
        st.session_state["runs_one"] = run.name
        _say(f"Pinned as “{run.name}”.")


def _full() -> str:
    return f"There is room for {MOST_RUNS} runs, and all of it is taken: remove one on the page “Saved runs” first."


def _rename(old: str, key: str) -> None:
    here = shelf()
    wanted = clean_name(st.session_state.get(key, ""))
    if not wanted:
        _say(f"A name needs a letter or a digit: “{old}” keeps its name.", bad=True)
        return
    new = unique_name(wanted, [name for name in here.names() if name != old])
    if new == old:
        taken = wanted != old
        _say(f"“{wanted}” is another run: “{old}” keeps its name." if taken else f"“{old}” keeps its name.", bad=taken)
        return
    here.runs = [replace(run, name=new) if run.name == old else run for run in here.runs]
    if here.compared is not None:
        here.compared = [new if name == old else name for name in here.compared]
    st.session_state["runs_one"] = new
    _say(f"“{old}” is now called “{new}”.")


def _remove(name: str) -> None:
    here = shelf()
    place = here.names().index(name)
    here.removed = [*here.removed, (place, here.runs.pop(place))][-MOST_RUNS:]
    if here.compared is not None:
        here.compared = [other for other in here.compared if other != name] or None
    _say(f"“{name}” is removed.")


def _put_back() -> None:
    here = shelf()
    if len(here.runs) >= MOST_RUNS:
        _say(_full(), bad=True)
        return
    place, run = here.removed[-1]
    back = here.add(run, min(place, len(here.runs)))
    st.session_state["runs_one"] = back.name
    _say(f"“{back.name}” is back.")


def _take_upload() -> None:
    here = shelf()
    uploaded = st.session_state.get(f"runs_upload_{here.uploads}")
    if uploaded is None:
        return
    here.uploads += 1
    name = clean_name(uploaded.name)[:40]
    try:
        read, problems = read_runs(uploaded.getvalue())
    except RunsFileError as error:
        _say(f"{name}: {error}", bad=True)
        return
    taken, left = [], 0
    for run in read:
        same = here.find(run.settings)
        if same is not None:
            problems.append(f"“{run.name}” is saved already, as “{same.name}”.")
        elif len(here.runs) >= MOST_RUNS:
            left += 1
        else:
            taken.append(here.add(run).name)
    if left:
        problems.append(f"{left} more did not fit. {_full()}")
    if taken:
        here.compared = None  # the newest, which have just come
    count = "1 run" if len(taken) == 1 else f"{len(taken)} runs"
    _say(f"{count if taken else 'Nothing'} was taken from {name}.".replace("runs was", "runs were"), bad=not taken)
    here.notices = problems


def compare(names: list[str]) -> None:
    """Callback: compare these runs, if they are not too many."""
    here = shelf()
    if len(names) > MOST_COMPARED:
        _say(f"At most {MOST_COMPARED} runs are compared: take one away before adding another.", bad=True)
    else:
        here.compared = names
        st.session_state.pop(_DONE, None)


# ---- pinning ----


def pin_popover(settings: Settings) -> None:
    """A button beside the model of `settings` that gives it a name and keeps it, looked at as it is now."""
    settings = replace(settings, depth=session.current().depth, view=session.current().view)
    session.carry(**link())
    with st.popover("Pin this model", icon=":material/push_pin:", key="pin_here", on_change="rerun") as opened:
        if not opened.open:
            return
        here = shelf()
        same = here.find(settings)
        if same is not None:
            st.markdown(f"Saved as “{plain(same.name)}”.")
        elif len(here.runs) >= MOST_RUNS:
            st.markdown(_full())
        else:
            st.caption("Keep it under a name, to compare it with others.")
            _form(settings)
        if here.runs:
            st.page_link("pages/runs.py", label=f"Saved runs ({len(here.runs)})", icon=":material/push_pin:")


def pin_here(settings: Settings) -> None:
    """The same on the page of the runs."""
    here = shelf()
    same = here.find(settings)
    model = f"{plain(load_task(settings.data).spec.title)}, {in_words(settings)}"
    if same is not None:
        st.caption(f"The model of the sliders ({model}) is saved as “{plain(same.name)}”. Move them to pin another.")
    elif len(here.runs) >= MOST_RUNS:
        st.info(_full(), icon=":material/inventory_2:")
    else:
        with st.container(border=True):
            st.markdown(f"**The model of the sliders:** {model}")
            _form(settings)


def _form(settings: Settings) -> None:
    """Name and button; another model has another name, and a field of its own."""
    usual = default_name(settings)
    key = f"pin_name_{usual}"
    with st.form("pin", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Name", usual, max_chars=MOST_NAME, key=key, help=tip("run_name", most=MOST_NAME))
        st.form_submit_button("Pin this model", icon=":material/push_pin:", on_click=_pin, args=(settings, key))


# ---- the list ----


def tell() -> None:
    """What the last action did, and what was wrong with the link or the file."""
    here = shelf()
    sentence, bad, at = st.session_state.get(_DONE, ("", False, None))
    sentence = sentence if at == session.current() else ""  # of a model that has been left
    if sentence and bad:
        st.error(plain(sentence), icon=":material/error:")
    elif sentence:
        st.success(plain(sentence), icon=":material/check:")
    for notice in here.notices:
        st.warning(plain(notice), icon=":material/info:")
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
                f"{load_task(s.data).spec.title}, split {s.seed}\n{FAIRNESS[s.fairness].split(' (')[0]}\n"
                f"{base_models_of(s.data)[s.f]}",
                in_words(s).replace(", λ_concepts", "\nλ_concepts").replace(" ", "\u00a0"),
                *(_number(known.get(name), ".3f", trained=bool(known)) for name in ("p_rule", "dm")),
                *(_number(known.get(name), ".1%", trained=bool(known)) for name in ("accuracy", "change_rate")),
            ]
        )
    place.html(table_of(headings, rows, caption="All saved runs", text=(1, 2)))


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
            st.text_input("New name", name, max_chars=MOST_NAME, key=key, help=tip("run_name", most=MOST_NAME))
            st.form_submit_button("Rename it", on_click=_rename, args=(name, key))
        st.button("Remove", icon=":material/delete:", on_click=_remove, args=(name,))
        put_back()
    if opened:
        st.switch_page("app.py")


def put_back() -> None:
    """A button that undoes the last removal, if there was one."""
    removed = shelf().removed
    if removed:
        name = removed[-1][1].name
        short = name if len(name) <= 30 else name[:30] + "…"
        st.button(f"Put “{plain(short)}” back", icon=":material/undo:", on_click=_put_back, key="runs_put_back")


# ---- figures ----


def keep_figures(result: FitResult) -> None:
    """Remember the key figures of a model that was trained."""
    figures = shelf().figures
    if result.settings not in figures:
        figures[result.settings] = key_figures(result.figures)


def why_not_trained(run: Run, error: Exception) -> str:
    """One sentence on a run that failed; of our own faults nothing is told."""
    reason = str(error) if isinstance(error, ValueError) else "for a reason of ours, not of yours."
    return plain(f"“{run.name}” could not be trained: {reason}")


def train_rest(place: Any) -> None:
    """Count the figures of runs that are not compared, for the table, the file and the check."""
    here = shelf()
    missing = [run for run in here.runs if run.settings.model() not in here.figures]
    for i, run in enumerate(missing, start=1):
        place.progress((i - 1) / len(missing), text=f"Training {i} of {len(missing)} runs that are not compared …")
        try:
            keep_figures(compute.finish(compute.begin(run.settings), None))
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
                    plain(
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
            on_change=_take_upload,
            max_upload_size=MOST_BYTES // 2**20,
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
