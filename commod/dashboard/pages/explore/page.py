"""Explore: sliders, the trade-off, who changes, and why."""

from dataclasses import replace
from functools import partial

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.paths import precompute_paths
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.scheduling import prefetches
from commod.dashboard.jobs.service import (
    Pending,
    can_prefetch,
    deferred_paint,
    draw_pending,
    first_paint,
    get,
    go_on,
    let_picture_come,
    submit,
)
from commod.dashboard.model.fitted import FitResult, concerns_in_words
from commod.dashboard.pages.explore import target, tour
from commod.dashboard.pages.explore.groups import draw_groups
from commod.dashboard.pages.explore.pareto import begin_sweep, draw_pareto, known_line, known_sweep, splits_in_words
from commod.dashboard.state import session
from commod.dashboard.state.recipe import to_python
from commod.dashboard.state.settings import OWN_PREFIX, STOPS, Settings, limits_in_words
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.views import controls, frame, room
from commod.dashboard.views.below import is_near
from commod.dashboard.views.checks import begin_checks
from commod.dashboard.views.dots import draw_dots, draw_story
from commod.dashboard.views.explained import begin_shap, draw_changes, draw_concepts, draw_tree
from commod.dashboard.views.methods import usual_sweeps
from commod.dashboard.views.model import begin_splits, explain, known_splits, train
from commod.dashboard.views.next_step import begin_next_steps
from commod.dashboard.views.pin import pin_popover
from commod.dashboard.views.tiles import draw_figures
from commod.dashboard.views.words import say, say_declared

# Controls that stand beside what they move, not in the sidebar: a phone hides that.
IN_SIGHT = ("lambda_fair",)
# Parts that a link can ask for alone (?embed=true&only=dots), for a frame in slides or on a course site.
ONLY = ("dots", "tradeoff")


def show() -> None:
    """The page. While a slider moves, its first picture comes from ``GET /model``; this draws all the rest."""
    frame.page("app.py")
    target.arrive()
    settings = session.current()
    if (only := st.query_params.get("only", "")) in ONLY:
        return _show_only(only, settings)
    with submit(tasks.fit(settings)) as training:
        if session.state().last_good is not None:
            let_picture_come(training)
        with first_paint():
            top = st.container(horizontal=True, vertical_alignment="center", gap="small")
            head = st.container()
            left, right = st.columns([4, 5], gap="medium")
            with top:
                st.title(say("explore.title"), width="content", anchor=False)
                tour.invite()
            with left:
                controls.draw_control("lambda_fair")
            controls.sidebar(elsewhere=IN_SIGHT)
        with head:
            controls.notices()
            result = train(settings, training)
        if result is None:
            st.stop()
        with first_paint(), right:
            line, sweep, splits = known_line(result.settings), known_sweep(result.settings), known_splits(result)
            draw_points = draw_pareto(result, line, sweep, splits)
        explain(training)
    with first_paint():
        with head:
            draw_story(result)
        with left:
            draw_people = draw_dots(result, line, sweep)
    with deferred_paint(), left:
        if limits := limits_in_words(settings):
            st.caption(escape_markdown(say_declared(f"{limits} {result.expected}".strip())))
        offers = st.empty()
    with deferred_paint():
        with st.expander(say("explore.numbers"), key="numbers", on_change="rerun") as numbers:
            draw_figures(result, "" if splits is None else say_declared(splits_in_words(result.settings, splits)))
            if numbers.open:
                draw_people()
                draw_points()
        for sentence in concerns_in_words(result):
            st.warning(escape_markdown(say_declared(sentence)), icon=":material/warning:")
        near = is_near("explore.below") or target.is_searching() or tour.is_on()
    rest = _begin_rest(settings, result) if near else _compute_rest(settings, result)
    with deferred_paint():
        tour.hint(say_declared(result.task.spec.outcomes[1]))
    session.keep_link()
    room.tell_setting(result)
    # What may take a while comes last: the page above is complete without it.
    better = begin_next_steps(settings, result, offers)
    sweep_and_splits = (begin_sweep(result.settings, sweep), begin_splits(result, splits))
    draw_pending(*better, *sweep_and_splits, *rest, *begin_ahead(settings))


def _show_only(only: str, settings: Settings) -> None:
    """One part with its slider, and nothing else."""
    with submit(tasks.fit(settings)) as training:
        controls.draw_control("lambda_fair")
        result = train(settings, training)
        if result is None:
            st.stop()
        explain(training)
    line, sweep = known_line(result.settings), known_sweep(result.settings)
    if only == "dots":
        draw_dots(result, line, sweep)
    else:
        draw_pareto(result, line, sweep, known_splits(result))
    session.keep_link(only=only)
    draw_pending(begin_sweep(result.settings, sweep), *begin_ahead(settings))


def _begin_rest(settings: Settings, result: FitResult) -> list[Pending | None]:
    """Who changes, whether that makes sense, why, and where; gives what is drawn of it when it is there."""
    with deferred_paint():
        left, right = st.columns([4, 5], gap="medium")
    with deferred_paint(), left:
        draw_changes(result)
    with deferred_paint(), right:
        _share(result.settings)
    with deferred_paint(), right:
        searching = target.form(settings, result)
    with deferred_paint():
        draw_groups(result)
        checks = begin_checks(result)
    with deferred_paint(), st.container(key="why"):
        draw_concepts(result)
    draw_tree(result, settings.depth)
    return [begin_shap(result), target.pending(searching), *checks()]


def _compute_rest(settings: Settings, result: FitResult) -> list[Pending | None]:
    """What takes a while of it, so that it is there when somebody scrolls down."""
    if not result.changed_test.any():
        return []
    of_model = tasks.tree(result, settings.depth), tasks.shap(result), tasks.merit(result), tasks.refits(result)
    return [Pending(submit(task), lambda _: None) for task in of_model]


def _share(settings: Settings) -> None:
    """Link and code of the current model, a name for it, and a room to talk about it."""
    with st.container(horizontal=True, gap="small"):
        # Filled when they are opened: all of it at every move of a slider would cost more than the charts.
        with st.popover(say("share.setting"), icon=":material/share:", key="share", on_change="rerun") as shared:
            if shared.open:
                st.caption(say("share.own" if settings.data.startswith(OWN_PREFIX) else "share.says"))
                st.code(session.address(), language=None, wrap_lines=True)
        with st.popover(say("share.python"), icon=":material/code:", key="python", on_change="rerun") as copied:
            if copied.open:
                st.caption(say("share.library"))
                st.code(to_python(settings), language=None, wrap_lines=True)
        pin_popover(settings)
        room.invite()


def begin_ahead(settings: Settings) -> list[Pending]:
    """Train every other λ_fair while nobody waits, the nearest first; once all are known, the page is drawn again."""
    if not can_prefetch():
        return []
    precompute_paths(settings, usual_sweeps(settings))
    if not prefetches("line") or not session.access().allows("lambda_fair"):
        return []
    here = settings.lambda_fair
    others = sorted((stop for stop in STOPS if stop != here), key=lambda stop: abs(stop - here))
    tried = [tasks.prefetch(replace(settings, lambda_fair=stop)) for stop in others]
    missing = [task for task in tried if get(task, used=False) is None]
    go_on(*missing)
    left = {task.key for task in missing}

    def arrived(task: ComputeTask, _: Ticket) -> None:
        left.discard(task.key)
        if not left:
            st.rerun()

    return [Pending(submit(task), partial(arrived, task)) for task in missing]
