"""What to try where a verdict is bad: one click each, trained in advance, with its effect."""

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import submit
from commod.dashboard.jobs.wait import Pending, deferred_paint
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import STOPS, Settings, defaults, groupings_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.language import phrase
from commod.dashboard.text.verdicts import Verdict
from commod.dashboard.views.words import say, say_declared
from commod.metrics.figures import CRITERIA
from commod.models.collapse import collapse_in_words

# The least gain of fairness that is one, the part of it that must stay, and the part of the wrong changes that may.
GAIN, KEPT, LEFT = 0.02, 0.5, 0.9


def begin_next_steps(settings: Settings, result: FitResult, place: Any) -> list[Pending]:
    """Buttons at `place` once all that is tried is trained; nothing below a good verdict."""
    others = {label: other for label, other in _others(settings, result).items() if session.can_go_to(other)}
    left, found = set(others), dict[str, FitResult]()

    def paint(label: str, ticket: Ticket) -> None:
        left.discard(label)
        if not ticket.failed:
            found[label] = ticket.result()
        if not left:
            with deferred_paint(), place.container():
                _draw(result, {label: found[label] for label in others if label in found})

    return [Pending(submit(tasks.prefetch(other)), partial(paint, label)) for label, other in others.items()]


def _others(settings: Settings, result: FitResult) -> dict[str, Settings]:
    """What is tried, by its name: other groups where f is fair, else other forms of the update and a smaller λ_fair."""
    if not result.change_counts.count:
        if not result.is_fair_already:
            return {}
        names = {name: title for name, title in groupings_of(settings.data).items() if name != settings.groups}
        return {say_declared(title): defaults(settings.data, name) for name, title in names.items()}
    if not result.has_bad_verdict:
        return {}
    found: dict[str, Settings] = {}
    if settings.direction == "both":
        found[say("next.improve")] = replace(settings, direction="improve")
    if settings.update != "affine":
        found[say("next.affine")] = replace(settings, update="affine")
    if settings.update != "decisions":  # it takes a larger λ_fair for as much fairness
        twice = min(STOPS[-1], 2 * settings.lambda_fair)
        found[say("next.decisions")] = replace(settings, update="decisions", lambda_fair=twice)
    if less := max((stop for stop in STOPS if stop <= settings.lambda_fair / 2), default=0.0):
        found[say("next.less", value=f"{less:g}")] = replace(settings, lambda_fair=less)
    return found


def _draw(result: FitResult, found: dict[str, FitResult]) -> None:
    counts = result.change_counts
    better = found if not counts.count else {label: one for label, one in found.items() if _is_better(one, result)}
    if not better:
        st.caption(say("next.none"))
        return

    def rank(step: tuple[str, FitResult]) -> tuple[bool, int]:
        """To ask for less is the last resort."""
        return step[1].settings.lambda_fair < result.settings.lambda_fair, step[1].change_counts.wrong

    steps = sorted(better.items(), key=rank)[: None if not counts.count else 1]
    for place, (label, other) in enumerate(steps):
        st.button(
            say("next.try", what=escape_markdown(label), effect=_effect(other)),
            key=f"next_step_{place}",
            icon=":material/lightbulb:",
            on_click=session.go_to,
            args=(other.settings.looked_at_as(session.current()),),
        )


def _is_better(other: FitResult, result: FitResult) -> bool:
    """Whether it is fairer than f, keeps much of the gain, and harms or contradicts fewer."""
    scene, there, here = other.scene, other.change_counts, result.change_counts
    judged = Verdict.of(other.gain, there)
    if judged.lead != "fairer" or other.gain < max(GAIN, KEPT * result.gain):
        return False
    if collapse_in_words(scene.test.y, scene.logit_test, other.logit):
        return False
    wrong = there.wrong <= LEFT * here.wrong and there.worse <= here.worse
    worse = there.worse <= LEFT * here.worse and there.wrong <= here.wrong
    # Where most are worse off, that is what to mend.
    return result.gain <= 0 or wrong or worse or (here.worse > here.better and 2 * there.worse <= here.worse)


def _effect(other: FitResult) -> str:
    """What somebody gets who takes the step."""
    language, figure = session.language(), CRITERIA[other.settings.fairness].figure
    value, counts = other.path["fairness"].iloc[-1], other.change_counts
    fair = f"{say_declared(figure.short_title)} {phrase(language, 'next.value', value=value)}"
    if not counts.count:
        return fair
    harm = say("next.no_one") if not counts.worse else say("next.wrong", wrong=counts.wrong, count=counts.count)
    return f"{fair}, {harm}"
