"""The Lesson page: one step at a time, a guess before a slider is moved, and the check from the model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from commod.charts import MethodStyle, palette
from commod.charts.paper import plot_scatter
from commod.dashboard.jobs import tasks as compute
from commod.dashboard.jobs.results import FitResult
from commod.dashboard.pages.lesson.notes import notes_html
from commod.dashboard.pages.lesson.parts import (
    DP,
    EO,
    TRUTH,
    Answer,
    Question,
    Stage,
    Step,
    check,
    conflict_paths,
    group_table,
)
from commod.dashboard.pages.lesson.progress import arrived, carry, progress, stage, turn
from commod.dashboard.pages.lesson.steps import STEPS
from commod.dashboard.state import session
from commod.dashboard.state.settings import CONTROLS, NAMES, Access, Settings, in_words, to_link
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import with_tooltips
from commod.dashboard.text.html import html_table
from commod.dashboard.views import controls
from commod.dashboard.views import frame as layout
from commod.dashboard.views.changes import draw_changes
from commod.dashboard.views.chart import draw
from commod.dashboard.views.concepts import draw_concepts
from commod.dashboard.views.shap import draw_shap
from commod.dashboard.views.table import Table
from commod.dashboard.views.tiles import draw_figures
from commod.explain import ShapComparison


class _Queued:
    """Models from the app's queue, where each is trained once for everybody."""

    def __init__(self, place: Any) -> None:
        self._place = place

    def fit(self, settings: Settings) -> FitResult:
        return compute.finish(compute.begin(settings), self._place)

    def shap(self, settings: Settings) -> ShapComparison:
        found: ShapComparison = compute.shap(self.fit(settings), self._place)
        return found


# ---- the page ----


def head() -> Step:
    """Where one is; returns the step."""
    here = progress()
    step = stage(here)
    carry(here)
    st.title(f"{here.step + 1}. {step.title}")
    if here.turned:
        layout.back_to_the_top(here.turned)
    controls.notices()
    if here.notice:
        st.warning(escape_markdown(here.notice), icon=":material/link_off:")
    done = len(here.seen)
    st.progress(
        done / len(STEPS),
        text=f"Step {here.step + 1} of {len(STEPS)}, about {step.minutes} minutes. {done} of {len(STEPS)} answered.",
    )
    return step


def overview() -> None:
    """All steps, in the sidebar."""
    here = progress()
    stage(here)
    with st.sidebar:
        st.markdown(f"**A guided hour** ({sum(step.minutes for step in STEPS)} minutes)")
        st.caption("Each step sets the sliders of the app. Undo on the Explore page brings yours back.")
        for place, step in enumerate(STEPS):
            answered = place in here.seen
            st.button(
                f"{place + 1}. {step.title}" + (" ✓" if answered else ""),
                key=f"step_{place}",
                icon=":material/check_circle:" if answered else ":material/radio_button_unchecked:",
                type="secondary" if place == here.step else "tertiary",
                on_click=turn,
                args=(place,),
            )


def work_through(step: Step) -> None:
    """Text, question, slider, check; if a model fails, a sentence."""
    try:
        _work_through(step, Stage(step, _Queued(st.empty())))
    except Exception:
        st.error(
            "The models of this step could not be trained, for a reason of ours. Your answers are kept: go on with "
            "another step, and come back.",
            icon=":material/error:",
        )


def _work_through(step: Step, at: Stage) -> None:
    st.html(with_tooltips(step.text(at)))
    question = step.question(at)
    said = progress().answers.get(STEPS.index(step))
    if said is not None and bool(question.options) != isinstance(said, str):
        progress().answers.pop(STEPS.index(step))  # of a link that was edited
        said = None
    if said is None:
        _ask(step, question)
        return
    _said(step, question, said)
    _move(step)
    if STEPS.index(step) in progress().seen:
        _check(at, step.answer(at), question, said)
    elif "figures" in step.shows:
        draw_figures(_live(at))  # on the way


def _ask(step: Step, question: Question) -> None:
    """The question, and a guess that must be made before anything moves."""
    with st.form(f"guess_{step.name}"):
        st.markdown(f"**First a guess.** {question.text}")
        if question.options:
            guess: Any = st.radio("Your guess", question.options, index=None)
        else:
            # Without limits of its own, which would be told by a red mark only.
            guess = st.number_input(f"Your guess ({question.unit})", value=None, step=1, width=420)
        if st.form_submit_button("This is my guess", type="primary"):
            if guess is None:
                st.warning("Guess first; any guess will do.", icon=":material/help:")
                return
            if not question.options and not 0 <= guess <= question.most:
                st.warning(f"A number from 0 to {question.most:,}, please.", icon=":material/help:")
                return
            value = "abcdefgh"[question.options.index(guess)] if question.options else float(guess)
            progress().answers[STEPS.index(step)] = value
            carry(progress())
            st.rerun()


def _said(step: Step, question: Question, said: float | str) -> None:
    """The guess as it was made, and a way to make another."""

    def again() -> None:
        progress().answers.pop(STEPS.index(step), None)
        progress().seen.discard(STEPS.index(step))
        progress().staged = None

    shown = question.in_words(_guess(question, said))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{question.text} **Your guess: {shown}.**")
        st.button("Guess again", icon=":material/undo:", type="tertiary", on_click=again)


def _guess(question: Question, said: float | str) -> float | str:
    """A guess as it was made: options are kept as letters."""
    if not isinstance(said, str):
        return said
    place = "abcdefgh".index(said)
    return question.options[place] if place < len(question.options) else "none of these"


def _move(step: Step) -> None:
    """The slider of the step."""
    if not step.goal:
        return
    ((name, value),) = step.goal
    here = session.current()
    label = controls.SLIDERS[name]
    left, right = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    with left:
        st.markdown(f"**Now move {NAMES[name]} to {value:g}.**")
        controls.slider(name)
    if not arrived(step):
        elsewhere = here.scene() != step.start.scene()
        right.button(
            "Back to this step's setting" if elsewhere else f"Set it to {value:g} for me",
            icon=":material/step_over:",
            on_click=session.stage,
            args=(replace(step.end, view=here.view, depth=here.depth),),
        )
        if not session.access().allows(name):
            st.caption(f"{label} cannot be moved with the link you came with; the button moves it.")


def _check(at: Stage, answer: Answer, question: Question, said: float | str) -> None:
    """What the model says, what is seen in it, and what to talk about."""
    step = at.step
    right, word = check(answer, _guess(question, said))
    box = st.success if right else st.info
    box(f"{answer.words} {word}", icon=":material/check_circle:" if right else ":material/lightbulb:")
    if not step.free:
        _show(at)
    st.html(with_tooltips(step.told(at)))
    if step.free:
        for name in step.free:
            controls.slider(name)
        _show(at)
    if STEPS[-1] is step:
        _summary(at)
    st.subheader("Talk about it")
    st.markdown("\n".join(f"- {question}" for question in step.talk))
    with st.container(horizontal=True, gap="small"):
        for page in step.pages:
            title, icon = layout.PAGES[page]
            st.page_link(page, label=f"Look closer: {title}", icon=icon)


# ---- what is drawn with an answer ----


def _live(at: Stage) -> FitResult:
    """The model of the sliders, as long as they are on the step's scene: who has the answer may play on."""
    here = session.current()
    if here.scene() != at.step.end.scene():
        return at.after
    return at.instead(**{name: getattr(here, name) for name in ("lambda_fair", "lambda_ratio", "lambda_concepts", "k")})


def _show(at: Stage) -> None:
    live = _live(at)
    if {"figures", "changes"} & set(at.step.shows) and live.settings != at.after.settings:
        st.caption(f"Below: {in_words(live.settings)}, where the sliders stand now.")
    for name in at.step.shows:
        _SHOWN[name](at)


def _groups(at: Stage) -> None:
    frame = group_table(at.after)
    outcome = at.after.task.spec.outcomes[1]
    rows = [
        [row.group, f"{row.people:,}", f"{row.base_rate:.0%}", f"{row.positive:.0%}", f"{row.wrong:.0%}"]
        for row in frame.itertuples()
    ]
    headings = ("Group", "People on test", f"Label: {outcome}", f"f says: {outcome}", "f is wrong")
    st.html(html_table(dict.fromkeys(headings, ""), rows, caption="What f does to each group"))


def _conflict(at: Stage) -> None:
    frame = conflict_paths(at)
    frame = frame.assign(
        label=frame["criterion"],
        x=frame["p_rule"],
        y=frame["dm"],
        order=range(len(frame)),
        settings=["the labels" if math.isnan(value) else f"λ_fair {value:g}" for value in frame["lambda_fair"]],
    )
    draw(
        plot_scatter,
        frame,
        alt="Disparate mistreatment against P-Rule along λ_fair, trained for either criterion, and of the labels.",
        table=Table(
            "The two kinds of fair as a table",
            "conflict_table",
            {
                "label": ("Model", ""),
                "settings": ("Setting", ""),
                "x": ("P-Rule (1 is fair)", ".3f"),
                "y": ("Disparate mistreatment (0 is fair)", ".3f"),
            },
        ),
        caption="On test. Each line begins at f (left, above) and follows λ_fair. Fair by both would be right and "
        "below.",
        styles=(
            MethodStyle(DP, palette.G, "circle"),
            MethodStyle(EO, palette.F, "square"),
            MethodStyle(TRUTH, palette.TRAIL, "diamond"),
        ),
        x_title="P-Rule (1 is fair)",
        y_title="Mistreatment (0 is fair)",
        percent=False,
        joined=True,
    )


def _concepts(at: Stage) -> None:
    live = _live(at)
    changed, total = int(live.changed_test.sum()), len(live.changed_test)
    st.metric(f"Decisions changed at k = {live.settings.k}", f"{changed} of {total:,}", border=True, width="content")
    draw_concepts(live)


_SHOWN: dict[str, Callable[[Stage], None]] = {
    "groups": _groups,
    "figures": lambda at: draw_figures(_live(at)),
    "changes": lambda at: draw_changes(_live(at)),
    "conflict": _conflict,
    "concepts": _concepts,
    "shap": lambda at: draw_shap(at.after),
}


def _summary(at: Stage) -> None:
    """All guesses beside what the models said."""
    rows = []
    for place, said in sorted(progress().answers.items()):
        step = STEPS[place]
        there = Stage(step, at.models)
        question, answer = step.question(there), step.answer(there)
        told = (question.in_words(value) for value in (_guess(question, said), answer.value))
        rows.append([f"{place + 1}. {step.title}", *told])
    st.subheader("Your hour")
    st.html(
        html_table(dict.fromkeys(("Step", "You said", "The model said"), ""), rows, caption="Your hour", text=(1, 2))
    )


# ---- below the step ----


def turn_pages() -> None:
    """To the step before and the one after."""
    here = progress()
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        before, after = here.step - 1, here.step + 1
        st.button(
            "Back", icon=":material/arrow_back:", disabled=before < 0, on_click=turn, args=(max(before, 0),), key="back"
        )
        if after < len(STEPS):
            answered = here.step in here.seen
            st.button(
                f"Next: {STEPS[after].title}",
                icon=":material/arrow_forward:",
                type="primary" if answered else "secondary",
                on_click=turn,
                args=(after,),
                key="next",
            )
        else:
            st.page_link("app.py", label="To the Explore page, where all sliders are yours", icon=":material/tune:")


def for_teachers() -> None:
    """Links that open a step with some controls only, and the notes."""
    with st.expander("For teachers: links and notes", icon=":material/school:"):
        left, right = st.columns(2, gap="large")
        here = progress()
        with left:
            first = st.selectbox(
                "Open at step", range(len(STEPS)), index=here.step, format_func=lambda i: f"{i + 1}. {STEPS[i].title}"
            )
            live = st.multiselect(
                "Controls that can be moved",
                CONTROLS,
                default=["lambda_fair", "lambda_ratio", "k"],
                format_func=NAMES.__getitem__,
            )
            hidden = st.toggle("Hide the others (else they are shown, but do not move)")
        access = Access(frozenset(live), hidden)
        address = (st.context.url or "").split("?")[0].removesuffix("lesson").rstrip("/")
        setting = to_link(STEPS[first].end) | access.to_link()
        with right:
            st.markdown("A link to this step of the lesson")
            st.code(f"{address}/lesson?{urlencode({'step': STEPS[first].name})}", language=None, wrap_lines=True)
            st.markdown("The same, with these controls only")
            limited = {"step": STEPS[first].name} | access.to_link()
            st.code(f"{address}/lesson?{urlencode(limited, safe=',')}", language=None, wrap_lines=True)
            st.markdown("The Explore page where this step ends, with these controls only")
            st.code(f"{address}/?{urlencode(setting, safe=',')}", language=None, wrap_lines=True)
        st.download_button(
            "Teacher's notes with the expected figures",
            lambda: notes_html().encode(),
            "commod_teachers_notes.html",
            "text/html",
            icon=":material/download:",
            on_click="ignore",
        )
        st.caption(
            "The notes are written by the models when you ask for them, which takes a few seconds. A link freezes "
            "controls for a class that wants to be led; it is no lock: whoever edits the address has them back."
        )


# ---- the page ----


def show() -> None:
    """The page, from top to bottom."""
    layout.page("pages/lesson.py")
    overview()
    step = head()
    session.keep_link()
    work_through(step)
    turn_pages()
    for_teachers()
    session.keep_link()
