"""Everything the pages share across sessions: the work queue, and waiting for it with a picture of the progress."""

from __future__ import annotations

import gc
import logging
import os
import sys
import time
from collections.abc import Hashable
from functools import lru_cache
from threading import Thread
from typing import Any

import streamlit as st
from joblib import cpu_count
from streamlit.runtime.scriptrunner import get_script_run_ctx

from commod.dashboard.jobs.processes import ProcessPool
from commod.dashboard.jobs.queue import Report, Ticket, Work, WorkQueue
from commod.dashboard.jobs.results import (
    FitResult,
    explained,
    fit_result,
    forget_warm_starts,
    shap_comparison,
    sweep,
    target,
    tree_of_changes,
)
from commod.dashboard.state.settings import Settings
from commod.datasets import TASKS, damaged_files, load_task, on_forget
from commod.experiments import Sweep, prepare
from commod.experiments.limits import Limits, limits_of, price_of
from commod.experiments.match import Match, match_models
from commod.explain import ChangeTree
from commod.explain.shap_comparison import warm_up

# A wait that is shorter than this needs no progress bar.
PATIENCE = 0.5
# A training that is done within this is waited for before anything is drawn.
MOMENT = 0.15
# How often a wait is looked at, beside every message from a browser (see `WorkQueue.wake`).
POLL = 0.05
# The same once a wait is shown, and by how much the bar must have grown to be drawn anew.
SLOW_POLL = 0.2
STEP = 0.05
# With more rows a training is mostly numpy's work, which leaves the interpreter to others.
HEAVY = 20_000
# Seconds after which a thread at work lets another one have its turn.
SWITCH = 0.001


@st.cache_resource(show_spinner=False)
def process_pool() -> ProcessPool:
    """The processes that compute for this server: as many as COMMOD_PROCESSES says, else one for two cores."""
    return ProcessPool(_foreground())


def _foreground() -> int:
    asked = os.environ.get("COMMOD_PROCESSES", "")
    return int(asked) if asked.isdecimal() else max(1, cpu_count() // 2)


@st.cache_resource(show_spinner=False)
def queue() -> WorkQueue:
    """The one queue of this server."""
    return WorkQueue(abreast=max(1, _foreground()))


def _apart(scene: tuple[str, str, str, int], function: Any, *arguments: Any, background: bool = False) -> Work:
    """Work for the queue: ``function(*arguments, report)``, in another process but for what somebody has uploaded."""
    data, _, f, seed = scene

    def work(report: Report) -> Any:
        if data not in TASKS:
            return function(*arguments, report)
        return process_pool().compute((data, f, seed), function, *arguments, report=report, background=background)

    return work


def _submit(key: Hashable, work: Work, **how: bool) -> Ticket:
    """A place in the queue for this session."""
    return queue().submit(key, work, owner=_session_id(), **how)


def _session_id() -> str | None:
    """Of the session whose script this is."""
    here = get_script_run_ctx()
    return here.session_id if here else None


def _leave(tickets: list[Ticket]) -> None:
    for ticket in tickets:
        ticket.leave()


@st.cache_resource(scope="session", show_spinner=False, on_release=_leave)
def held() -> list[Ticket]:
    """Places in the queue that this session keeps from one run of its script to the next; given up when it is closed.

    Streamlit keeps the state of a closed session for minutes, in case its browser comes back.
    """
    return []


@st.cache_resource(show_spinner=False)
def start() -> None:
    """Once per server, after the imports: freeze what is loaded, start the processes, let SHAP compile.

    Walking all of pandas and scikit-learn for garbage takes longer than a run of a page; frozen objects are not walked
    (and Streamlit's own walk after every run is off, see .streamlit/config.toml). With COMMOD_WARM_UP=0 in the
    environment SHAP compiles when it is needed.
    """

    def compile_shap() -> None:
        warm_up()
        gc.collect()
        gc.freeze()

    name_damaged_files()
    process_pool()
    # A page gives the interpreter up with every message it sends, and would get it back from a training after 5 ms.
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()
    if os.environ.get("COMMOD_WARM_UP") != "0":
        Thread(target=compile_shap, name="warm-up", daemon=True).start()


@lru_cache(maxsize=1)
def name_damaged_files() -> None:
    """Say once in the server's log which data files cannot be used; the pages work on the others."""
    for sentence in damaged_files().values():
        logging.getLogger(__name__).error(sentence)


def _forget(data: str) -> None:
    """Drop everything that was computed on a data set."""
    queue().forget(lambda key: data in repr(key))
    forget_warm_starts(data)


on_forget(_forget)


def stop_if_stale() -> None:
    """End this run of the script if another has been asked for: Streamlit stops it where it touches the session."""
    st.session_state.get("touch")


def _await(ticket: Ticket, place: Any, what: str) -> Any:
    """Wait for a result; stop waiting, and let the work end, as soon as this run of the script is stale."""
    patient_until = time.monotonic() + PATIENCE
    drawn: tuple[str, float] | None = None
    with ticket:
        while not ticket.wait(SLOW_POLL if drawn else POLL):
            stop_if_stale()
            if place is None or time.monotonic() < patient_until:
                continue
            before, share = ticket.before, ticket.progress
            text = f"{what}: {before} before you" if before else f"{what} …"
            if drawn is None or text != drawn[0] or share >= drawn[1] + STEP:
                place.progress(share, text=text)
                drawn = (text, share)
        result = ticket.result()
    if drawn:
        place.empty()
    return result


def once(
    key: Hashable, work: Work, place: Any = None, what: str = "", *, background: bool = False, later: bool = False
) -> Any:
    """What `work` gives, computed once for all sessions by the queue; a wait is shown at `place`, if there is one."""
    found = queue().peek(key)
    if found is not None:
        return found
    return _await(_submit(key, work, background=background, later=later), place, what)


def begin(settings: Settings) -> FitResult | Ticket:
    """The model at `settings` if it is there or will be in a moment, else a place in the queue, where it is trained."""
    model = settings.model()
    key = ("fit", model)
    found: FitResult | None = queue().peek(key)
    if found is not None:
        return found
    heavy = len(load_task(settings.data).y) > HEAVY
    ticket = _submit(key, _apart(model.scene(), fit_result, model), heavy=heavy)
    started = time.monotonic()
    while time.monotonic() - started < MOMENT:
        if ticket.wait(POLL):
            break
        stop_if_stale()
    return queue().peek(key) or ticket


def finish(begun: FitResult | Ticket, place: Any) -> FitResult:
    """Wait for what was begun."""
    return _await(begun, place, "Training") if isinstance(begun, Ticket) else begun


def known_frontier(settings: Settings) -> Any:
    """The points of COMMOD's sweep on this scene if they have been computed, else None."""
    found = known_sweep("commod", settings.scene())
    return None if found is None else found.points


def wait_for_frontier(settings: Settings) -> None:
    """Have COMMOD's sweep on this scene computed in the background, if need be."""
    _await(begin_sweep("commod", settings.scene()), None, "Sweep")


def known_sweep(method: str, scene: tuple[str, str, str, int]) -> Sweep | None:
    """The sweep of a method on a scene if it has been computed, else None."""
    found: Sweep | None = queue().peek(("sweep", method, scene))
    return found


def begin_sweep(method: str, scene: tuple[str, str, str, int]) -> Ticket:
    """A place for a sweep in the queue, where it is computed in the background."""
    work = _apart(scene, sweep, method, scene, background=True)
    return _submit(("sweep", method, scene), work, background=True)


def begin_target(settings: Settings, min_fairness: float, max_change: float) -> Ticket:
    """A place in the queue for a search for the setting that meets two limits."""
    asked = (settings.scene(), min_fairness, max_change, settings.lambda_concepts)
    return _submit(("target", *asked), _apart(settings.scene(), target, *asked, background=True), background=True)


def match(settings: Settings, sweeps: dict[str, Sweep], chosen: int) -> Match:
    """A COMMOD model beside its rivals', computed once for these sweeps."""
    data, fairness, f, seed = settings.scene()
    depth = settings.depth
    key = ("match", settings.scene(), tuple(sweeps), chosen, depth)

    def work(_: object) -> Match:
        return match_models(prepare(data, f, seed), sweeps, fairness, chosen, depth=depth)

    return once(key, work)


def limits(settings: Settings) -> Limits:
    """The exact bound on this scene."""
    data, fairness, f, seed = settings.scene()
    return once(("limits", settings.scene()), lambda _: limits_of(prepare(data, f, seed), fairness))


def price(settings: Settings, level: float, most: float) -> Any:
    """The best accuracy at a level of fairness, by changes (`price_of`)."""
    data, fairness, f, seed = settings.scene()
    key = ("price", settings.scene(), level, most)
    return once(key, lambda _: price_of(prepare(data, f, seed), fairness, level, most))


def figures_of_base(settings: Settings) -> dict[str, float]:
    """Figures of f on test."""
    scene = prepare(settings.data, settings.f, settings.seed)
    return scene.figures(scene.decisions_test)


def begin_to_explain(result: FitResult) -> Ticket | None:
    """A place in the queue, behind all trainings, for what is said about a model; None if it has been."""
    if result.is_explained:
        return None
    work = _apart(result.settings.scene(), explained, result)
    return _submit(("explained", result.settings), work, later=True)


def explain(result: FitResult, begun: Ticket | None) -> None:
    """Wait for what was begun."""
    if begun is not None:
        result.fill(_await(begun, None, ""))


def tree(result: FitResult, depth: int) -> ChangeTree:
    """The tree of the changes at one depth."""
    key = ("tree", result.settings, depth)
    return once(key, _apart(result.settings.scene(), tree_of_changes, result, depth), later=True)


def shap(result: FitResult, place: Any) -> Any:
    """The SHAP comparison, computed in the background."""
    key = ("shap", result.settings)
    work = _apart(result.settings.scene(), shap_comparison, result, background=True)
    return once(key, work, place, "SHAP", background=True)
