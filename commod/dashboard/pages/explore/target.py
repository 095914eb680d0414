"""Name a target instead of moving sliders: the search runs in the background, and the sliders jump to what it finds."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Abandoned, Ticket
from commod.dashboard.jobs.service import Pending, begin, in_line
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import Settings
from commod.dashboard.views.words import say_declared, tip
from commod.experiments.search import LAMBDA_GRIDS
from commod.experiments.target import SoFar, Target
from commod.explain.checks import SURE
from commod.metrics.figures import CRITERIA


@dataclass
class _State:
    """The search of this session: running, arrived, or told."""

    ticket: Ticket | None = None
    asked_at: Settings | None = None
    found: Target | None = None
    jump: Settings | None = None  # where the sliders go at the start of the next run
    shown_at: Settings | None = None  # the answer stands while this is the setting (or, if none was found, its scene)
    failure: str = ""
    stopped: SoFar | None = None  # what was found when the search was stopped


_state = PageState("target", _State)
# What was last in the fields, also after a visit to another page.
_kept: PageState[dict[str, float | None]] = PageState("target_fields", dict)


def _keys(settings: Settings) -> list[str]:
    return [f"target_{what}_{settings.task_name}_{settings.fairness}" for what in ("fairness", "change", "sure")]


def _keep(key: str) -> None:
    if key in st.session_state:  # else the page was left meanwhile, and its fields are gone
        _kept()[key] = st.session_state[key]


def _find() -> None:
    """Callback of the button."""
    settings = session.current()
    fair, change, sure = (st.session_state[key] for key in _keys(settings))
    least = CRITERIA[settings.fairness].share(fair)
    most_sure = None if sure is None else round(float(sure) / 100, 4)
    _drop()
    state = _state()
    state.asked_at = settings
    state.ticket = begin(tasks.target(settings, round(float(least), 4), round(float(change) / 100, 4), most_sure))


def _stop() -> None:
    """Callback of the button: end the search, and keep what it has found so far."""
    ticket, asked_at = _state().ticket, _state().asked_at
    _drop()
    if ticket is not None and asked_at is not None and ticket.found is not None:
        _state.set(_State(asked_at=asked_at, stopped=ticket.found))


def _drop() -> None:
    """End a search that nobody waits for any more, and forget what was told."""
    state = _state()
    if state.ticket is not None:
        state.ticket.leave()
    _state.set(_State())


def arrive() -> None:
    """To be called before any widget is drawn: jump to what was found, as one step that can be undone."""
    state = _state()
    if state.jump is not None:
        session.go_to(state.jump)
        state.shown_at, state.jump = state.jump, None
    elif state.asked_at is not None and state.asked_at.problem() != session.current().problem():
        _drop()  # another data set or criterion: the question was of the old one


def is_searching() -> bool:
    """Whether a search is running, whose progress must be seen."""
    return _state().ticket is not None


def form(settings: Settings, result: FitResult) -> Any:
    """Three fields, a button and the answer; returns the place of the progress.

    Nothing where a teacher's link has frozen a slider that the search would move.
    """
    state = _state()
    if not session.access().allows(*LAMBDA_GRIDS):
        _drop()
        return None
    criterion = CRITERIA[settings.fairness]
    usual = result.task.spec.targets.get(criterion.name, (round(criterion.share(0.8), 2), 10.0))
    keys = _keys(settings)
    for key, value in zip(keys, (*usual, None), strict=True):
        st.session_state.setdefault(key, _kept().get(key, value))
    with st.container(border=True):
        st.markdown(say_declared("**Or name a target**, and let the sliders be set for you."))
        fields: tuple[tuple[str, float, float, str, str | None], ...] = (
            (f"{criterion.figure.short_title}, {criterion.side}", 1.0, 0.05, "%.2f", None),
            ("Changed, at most (%)", 100.0, 1.0, "%.1f", None),
            ("f sure, at most (%)", 100.0, 5.0, "%.0f", tip("max_sure")),
        )
        columns = st.columns(3, gap="small", vertical_alignment="bottom")
        for column, (title, most, step, form, explained), key in zip(columns, fields, keys, strict=True):
            column.number_input(
                say_declared(title),
                0.0,
                most,
                step=step,
                format=form,
                help=explained,
                placeholder=say_declared("any"),
                key=key,
                on_change=_keep,
                args=(key,),
            )
        searching = state.ticket is not None
        button = st.empty()  # one place for both: the old one is gone at once
        if searching:
            button.button(say_declared("Stop the search"), icon=":material/stop_circle:", on_click=_stop)
        else:
            button.button(
                say_declared("Find the setting"), icon=":material/search:", on_click=_find, help=tip("target")
            )
        place = st.empty()
        if searching:
            assert state.ticket is not None
            place.progress(state.ticket.progress, text=_progress_in_words(state.ticket))
        else:
            _answer(settings, result)
        return place


def pending(place: Any) -> Pending | None:
    """A running search: its progress, and the page drawn anew with what it found."""
    ticket = _state().ticket
    if ticket is None:
        return None

    def show_progress(ticket: Ticket) -> None:
        place.progress(ticket.progress, text=_progress_in_words(ticket))

    return Pending(ticket, _take, show_progress, held=True)


def _progress_in_words(ticket: Ticket) -> str:
    found: SoFar | None = ticket.found
    if found is None or ticket.before or ticket.note:
        return in_line("Searching", ticket)
    return say_declared(f"{found.tried} of about {found.about} settings tried. Best so far: {found.best}.")


def _take(ticket: Ticket) -> None:
    state = _state()
    state.ticket = None
    try:
        state.found = ticket.result()
    except Abandoned:  # the browser was gone for a while, and nobody waited
        _drop()
        st.rerun()
    except Exception as error:
        state.failure = str(error) if isinstance(error, ValueError) else "a fault of ours, not of yours"
        st.rerun()
    ticket.leave()
    here = session.current()
    state.shown_at = here
    if state.found.settings is not None:
        state.jump = _as_settings(here, state.found.settings)
    st.rerun()


def _as_settings(here: Settings, found: dict[str, Any]) -> Settings:
    """What was found, in the form it was searched for."""
    asked = _state().asked_at or here
    form = {name: getattr(asked, name) for name in ("update", "direction", "without", "reason", "max_changes")}
    return replace(here, **form, **{name: found[name] for name in LAMBDA_GRIDS})


def _answer(settings: Settings, result: FitResult) -> None:
    """What the search said, while it is about what is shown."""
    state = _state()
    if state.failure:
        st.error(say_declared(f"The search failed: {state.failure}."), icon=":material/error:")
        return
    if state.stopped is not None:
        tried = f"Stopped after {state.stopped.tried} of about {state.stopped.about} settings."
        st.info(say_declared(f"{tried} The best of these: {state.stopped.best}."), icon=":material/flag:")
        _offer(settings, {"Open the best so far": state.stopped.settings})
        return
    found = state.found
    if found is None or state.shown_at is None:
        return
    if found.met:
        if settings.model() != state.shown_at.model():
            return
        holds, words = _on_test(found, result)
        tell = st.success if holds else st.warning
        tell(say_declared(f"{found.answer} {words} Undo brings the old setting back."), icon=":material/flag:")
        return
    st.warning(say_declared(found.answer), icon=":material/flag:")
    st.caption(say_declared(f"The setting that is shown now. {_on_test(found, result)[1]}"))
    fairest = f"Fairest with at most {found.max_change:.1%}"
    near = {fairest: found.fairest, "Fewest changes that are as fair": found.gentlest}
    # At λ_fair 0 it is f.
    _offer(settings, {label: one[1] for label, one in near.items() if one is not None and one[1]["lambda_fair"] > 0})


def _offer(settings: Settings, offers: dict[str, dict[str, Any]]) -> None:
    """A button for each setting that was found, and one to close the answer."""
    with st.container(horizontal=True, gap="small"):
        for label, found in offers.items():
            there = _as_settings(settings, found)
            st.button(say_declared(label), on_click=session.go_to, args=(there,), disabled=there == settings)
        st.button(say_declared("Close"), on_click=_drop, icon=":material/close:")


def _on_test(found: Target, result: FitResult) -> tuple[bool, str]:
    """Whether the limits hold on the test part, and that in words."""
    criterion, figure = CRITERIA[found.criterion], CRITERIA[found.criterion].figure
    value, changed = (float(result.figures.loc[row, "g"]) for row in (figure.name, "change_rate"))
    name = figure.short_in_sentence
    holds = {
        name: bool(criterion.is_met(value, criterion.share(found.min_fairness))),
        "changes": changed <= found.max_change,
    }
    sure = ""
    if found.max_sure is not None:
        share = result.scene.shares(result.decisions)["sure"]  # not a number where nobody changes
        holds["how sure f was"] = not share > found.max_sure
        sure = f", f surer than {SURE:.0%} in {share:.0%} of them" if result.changed_test.any() else ""
    missed = [limit for limit, held in holds.items() if not held]
    verdict = f"{'both' if len(holds) == 2 else 'all'} limits hold"
    if missed:
        verdict = f"the limit{'s' * (len(missed) > 1)} on {' and '.join(missed)} {'are' if missed[1:] else 'is'} missed"
    return not missed, f"On test: {name} {figure.show(value)}, {changed:.1%} changed{sure}: {verdict}."
