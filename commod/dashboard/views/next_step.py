"""What to try where a verdict is bad: one click each, trained in advance, with its effect."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, deferred_paint, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.settings import STOPS, Settings, defaults, groupings_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.verdicts import Verdict
from commod.dashboard.views.words import say, say_declared
from commod.explain.checks import Answer
from commod.metrics.figures import CRITERIA
from commod.models.collapse import collapse_in_words

# The least gain of fairness that is one, the part of it that must stay, and the part of the wrong changes that may.
GAIN, KEPT, LEFT = 0.02, 0.5, 0.9

Found = dict[str, FitResult]


def begin_next_steps(
    settings: Settings, result: FitResult, place: Any, draw: Callable[[FitResult, Found], None] | None = None
) -> list[Pending]:
    """Buttons at `place` once all that is tried is trained: for the verdict, or as `draw` has them."""
    others = {label: other for label, other in _others(settings, result).items() if session.can_go_to(other)}
    left, found = set(others), Found()

    def paint(label: str, ticket: Ticket) -> None:
        left.discard(label)
        if not ticket.failed:
            found[label] = ticket.result()
        if not left:
            with deferred_paint(), place.container():
                (draw or _draw)(result, {label: found[label] for label in others if label in found})

    return [Pending(submit(tasks.prefetch(other)), partial(paint, label)) for label, other in others.items()]


def _others(settings: Settings, result: FitResult) -> dict[str, Settings]:
    """What is tried, by its name: other groups where f is fair, else other forms of the update and a smaller λ_fair."""
    if not result.change_counts.count and settings.lambda_fair < STOPS[-1] and not result.is_fair_already:
        return {}
    if not result.change_counts.count and result.is_fair_already:
        names = {name: title for name, title in groupings_of(settings.data).items() if name != settings.groups}
        return {say_declared(title): defaults(settings.data, name) for name, title in names.items()}
    if result.change_counts.count and not result.has_bad_verdict and not _bad(result.at_hand):
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


def _bad(answers: Mapping[str, Answer]) -> list[Answer]:
    return [answer for answer in answers.values() if answer.mark == "bad"]


def draw_for_checks(result: FitResult, found: Found) -> None:
    """For each check at hand with a bad mark, the step that mends it best, or that none does."""
    for check in (answer.check for answer in _bad(result.at_hand)):
        name, title = check.name, say_declared(check.title)
        better = [
            (other.at_hand[name], label, other)
            for label, other in found.items()
            if other.at_hand[name].mark in ("fine", "look") and _is_fair(other, result)
        ]
        if better:
            said, label, other = max(better, key=lambda step: check.direction * step[0].value)
            effect = f"{say(f'next.{name}', part=said.part, whole=said.whole)}, {_fairness(other)}"
            _offer(f"check_step_{name}", label, effect, other, f"{title} ")
        else:
            st.caption(f"{title} {say('next.none')}")


def _draw(result: FitResult, found: Found) -> None:
    counts, is_new = result.change_counts, not result.change_counts.count and result.is_fair_already
    if counts.count and not result.has_bad_verdict:
        return
    better = found if is_new else {label: one for label, one in found.items() if _is_better(one, result)}
    if not better:
        st.caption(say("next.none"))
        return

    def rank(step: tuple[str, FitResult]) -> tuple[bool, int]:
        """To ask for less is the last resort."""
        return step[1].settings.lambda_fair < result.settings.lambda_fair, step[1].change_counts.wrong

    for place, (label, other) in enumerate(sorted(better.items(), key=rank)[: None if is_new else 1]):
        _offer(f"next_step_{place}", label, _effect(other), other)


def _offer(key: str, label: str, effect: str, other: FitResult, of: str = "") -> None:
    st.button(
        of + say("next.try", what=escape_markdown(label), effect=effect),
        key=key,
        icon=":material/lightbulb:",
        on_click=session.go_to,
        args=(other.settings.looked_at_as(session.current()),),
    )


def _is_fair(other: FitResult, result: FitResult) -> bool:
    """Whether it is fairer than f, keeps much of the gain, and is still a model."""
    if Verdict.of(other.gain, other.change_counts).lead != "fairer" or other.gain < max(GAIN, KEPT * result.gain):
        return False
    return not collapse_in_words(other.scene.test.y, other.scene.logit_test, other.logit)


def _is_better(other: FitResult, result: FitResult) -> bool:
    """Whether it is fair, and harms or contradicts fewer."""
    there, here = other.change_counts, result.change_counts
    if not _is_fair(other, result):
        return False
    wrong = there.wrong <= LEFT * here.wrong and there.worse <= here.worse
    worse = there.worse <= LEFT * here.worse and there.wrong <= here.wrong
    # Where most are worse off, that is what to mend.
    return result.gain <= 0 or wrong or worse or (here.worse > here.better and 2 * there.worse <= here.worse)


def _effect(other: FitResult) -> str:
    """What somebody gets who takes the step."""
    fair, counts = _fairness(other), other.change_counts
    if not counts.count:
        return fair
    harm = say("next.no_one") if not counts.worse else say("next.wrong", wrong=counts.wrong, count=counts.count)
    return f"{fair}, {harm}"


def _fairness(other: FitResult) -> str:
    figure, value = CRITERIA[other.settings.fairness].figure, other.path["fairness"].iloc[-1]
    return f"{say_declared(figure.short_title)} {say('next.value', value=value)}"
