"""What to try where a verdict is bad: one click each, trained in advance, with its effect."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.computation import ComputeTask
from commod.dashboard.jobs.queue import Ticket
from commod.dashboard.jobs.service import Pending, deferred_paint, submit
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.state import session
from commod.dashboard.state.page_state import PageState
from commod.dashboard.state.settings import STOPS, Settings, defaults, groupings_of
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.verdicts import Verdict
from commod.dashboard.views.words import say, say_declared
from commod.explain.checks import Answer
from commod.metrics.figures import CRITERIA, FIGURES
from commod.models.evaluation import collapse_in_words

# The least gain of fairness that is one, the part of it that must stay, and the part of the wrong changes that may.
GAIN, KEPT, LEFT = 0.02, 0.8, 0.9
# A better update gains more than this in fairness, in accuracy or in the share of changes.
ALIKE = 0.005

Found = dict[str, FitResult]
Draw = Callable[[FitResult, Found], list[Pending] | None]


def begin_next_steps(
    settings: Settings, result: FitResult, place: Any, draw: Draw | None = None, *, is_bad: bool = False
) -> list[Pending]:
    """Buttons at `place` once all that is tried is trained: for the verdict, or as `draw` has them.

    `is_bad`: something is that the verdict and the checks at hand do not know.
    """
    tried = _others(settings, result, is_bad=is_bad)
    # An offer never leads back to where one was taken.
    others = {label: one for label, one in tried.items() if one.model() not in _left() and session.can_go_to(one)}
    asked = {label: tasks.prefetch(other) for label, other in others.items()}
    return _when_all_are_there(asked, place, lambda found: (draw or _draw)(result, found))


def _when_all_are_there(
    asked: Mapping[str, ComputeTask], place: Any, draw: Callable[[dict[str, Any]], list[Pending] | None]
) -> list[Pending]:
    """Ask for all of it; once the last is there, `draw` what could be computed."""
    left, found = set(asked), dict[str, Any]()

    def paint(name: str, ticket: Ticket) -> list[Pending] | None:
        left.discard(name)
        if not ticket.failed:
            found[name] = ticket.result()
        if left:
            return None
        with deferred_paint(), place.container():
            return draw({name: found[name] for name in asked if name in found})

    return [Pending(submit(task), partial(paint, name)) for name, task in asked.items()]


def _others(settings: Settings, result: FitResult, *, is_bad: bool = False) -> dict[str, Settings]:
    """What is tried, by its name: other groups where f is fair, else other forms of the update and a smaller λ_fair."""
    changes = result.change_counts.count
    if not changes and result.is_fair_already:
        names = {name: title for name, title in groupings_of(settings.data).items() if name != settings.groups}
        return {say_declared(title): defaults(settings.data, name) for name, title in names.items()}
    if not changes and settings.lambda_fair < STOPS[-1]:
        return {}
    found = _other_forms(settings)
    if changes and not (is_bad or result.has_bad_verdict or _bad(result.at_hand)):
        return found
    if settings.direction == "both":
        found[say("next.improve")] = replace(settings, direction="improve")
    if less := max((stop for stop in STOPS if stop <= settings.lambda_fair / 2), default=0.0):
        found[say("next.less", value=f"{less:g}")] = replace(settings, lambda_fair=less)
    return found


def _other_forms(settings: Settings) -> dict[str, Settings]:
    """The paper's form, and the other ones; counting may take a larger λ_fair for as much fairness."""
    here, papers = settings.lambda_fair, replace(settings.free(), update="ratio")
    found = {} if papers == settings else {say("next.ratio"): papers}
    for form, value in (("affine", here), ("decisions", here), ("decisions", min(STOPS[-1], 2 * here))):
        if form != settings.update:
            found[say(f"next.{form}", value=f"{value:g}")] = replace(settings, update=form, lambda_fair=value)
    return found


def _bad(answers: Mapping[str, Answer]) -> list[Answer]:
    return [answer for answer in answers.values() if answer.mark == "bad"]


def draw_for_checks(result: FitResult, found: Found) -> None:
    """For each check at hand with a bad mark, the step that mends it best, or that none does."""
    fair = _fair(found, result)
    for answer in _bad(result.at_hand):
        _draw_for_check(result, answer, fair, {label: one.at_hand[answer.check.name] for label, one in fair.items()})


def begin_merit_step(result: FitResult, here: Answer, place: Any) -> list[Pending]:
    """The same for the bad answer about merit, at `place`: other models take longer to count."""

    def count(_: FitResult, found: Found) -> list[Pending]:
        fair = _fair(found, result)

        def draw(merits: dict[str, Any]) -> None:
            answers = {label: fair[label].answers(merit=merit)["merit"] for label, merit in merits.items()}
            _draw_for_check(result, here, fair, answers)

        if not fair:
            draw({})
        return _when_all_are_there({label: tasks.merit(other) for label, other in fair.items()}, place, draw)

    return begin_next_steps(result.settings, result, place, count, is_bad=True)


def _draw_for_check(result: FitResult, here: Answer, found: Found, answers: Mapping[str, Answer]) -> None:
    """The step with the best of the answers, or that none is better than the one `here`, which is bad."""
    check, name, title = here.check, here.check.name, say_declared(here.check.title)
    better = [
        label
        for label, answer in answers.items()
        if answer.mark not in ("bad", "open") and check.direction * (answer.value - here.value) > 0
    ]
    if not better:
        st.caption(f"{title} {say('next.none')}")
        return
    label = max(better, key=lambda label: check.direction * answers[label].value)
    said = say(f"next.{name}", part=answers[label].part, whole=answers[label].whole)
    _offer(f"check_step_{name}", label, f"{said}, {_effect(found[label], result)}", found[label], f"{title} ")


def _draw(result: FitResult, found: Found) -> None:
    counts, is_new = result.change_counts, not result.change_counts.count and result.is_fair_already
    shown = _draw_form(result, found) if counts.count else ""
    if counts.count and (not result.has_bad_verdict or (shown and _is_better(found[shown], result))):
        return
    better = found if is_new else {label: one for label, one in found.items() if _is_better(one, result)}
    better.pop(shown, None)
    if not better and not shown:
        st.caption(say("next.none"))
        return

    def rank(step: tuple[str, FitResult]) -> tuple[bool, int]:
        """To ask for less is the last resort."""
        return step[1].settings.lambda_fair < result.settings.lambda_fair, step[1].change_counts.wrong

    for place, (label, other) in enumerate(sorted(better.items(), key=rank)[: None if is_new else 1]):
        _offer(f"next_step_{place}", label, _effect(other, result), other)


def _draw_form(result: FitResult, found: Found) -> str:
    """The form of the update that does better here or, where it is limited, the paper's; returns what it is called."""
    forms = {label: other for label, other in found.items() if other.settings.update != result.settings.update}
    limited = result.settings.free() != result.settings
    papers = {name: one for name, one in _fair(found, result).items() if limited and name == say("next.ratio")}
    better = papers or {label: other for label, other in forms.items() if _is_ahead(other, result)}
    if not better:
        return ""
    label, other = min(better.items(), key=lambda step: step[1].change_counts.wrong)
    _offer("other_form", label, _effect(other, result), other, how="try" if papers else "ahead")
    return label


def _is_ahead(other: FitResult, result: FitResult) -> bool:
    """Whether it is as fair, as accurate, changes as few and harms as few, and is better in one of the first three."""
    criterion = CRITERIA[result.settings.fairness]
    more = other.path.iloc[-1] - result.path.iloc[-1]
    gains = [criterion.gain(more["fairness"]), more["accuracy"], -more["change_rate"]]
    harms_more = other.change_counts.worse > result.change_counts.worse
    return min(gains) >= 0 and max(gains) > ALIKE and not harms_more and _is_sound(other)


def _offer(key: str, label: str, effect: str, other: FitResult, of: str = "", *, how: str = "try") -> None:
    st.button(
        of + say(f"next.{how}", what=escape_markdown(label), effect=effect),
        key=key,
        icon=":material/lightbulb:",
        help=escape_markdown(label) if how == "ahead" else None,  # which form says little to most
        on_click=_take,
        args=(other.settings.looked_at_as(session.current()),),
    )


# The models at which this session took an offer.
_left: PageState[set[Settings]] = PageState("left_by_an_offer", set)


def _take(there: Settings) -> None:
    _left().add(session.current().model())
    session.go_to(there)


def _fair(found: Found, result: FitResult) -> Found:
    return {label: other for label, other in found.items() if _is_fair(other, result)}


def _is_fair(other: FitResult, result: FitResult) -> bool:
    """Whether it is fairer than f, keeps much of the gain, and is still a model."""
    if Verdict.of(other.gain, other.change_counts).lead != "fairer" or other.gain < max(GAIN, KEPT * result.gain):
        return False
    return _is_sound(other)


def _is_sound(other: FitResult) -> bool:
    return not collapse_in_words(other.scene.test.y, other.scene.logit_test, other.logit)


def _is_better(other: FitResult, result: FitResult) -> bool:
    """Whether it is fair, and harms or contradicts fewer."""
    if not _is_fair(other, result):
        return False
    there, here = other.change_counts, result.change_counts
    wrong = there.wrong <= LEFT * here.wrong and there.worse <= here.worse
    worse = there.worse <= LEFT * here.worse and there.wrong <= here.wrong
    # Where most are worse off, that is what to mend.
    return result.gain <= 0 or wrong or worse or (here.worse > here.better and 2 * there.worse <= here.worse)


def _effect(other: FitResult, result: FitResult) -> str:
    """What gets better and what gets worse: of other groups, what g does to f."""
    is_new = other.settings.groups != result.settings.groups
    before, now = other.path.iloc[0] if is_new else result.path.iloc[-1], other.path.iloc[-1]
    there, here = other.change_counts, result.change_counts
    fairness, accuracy = CRITERIA[other.settings.fairness].figure, FIGURES["accuracy"]
    was, becomes = (say_declared(fairness.show(row["fairness"])) for row in (before, now))
    gained = say_declared(accuracy.show_difference(now["accuracy"] - before["accuracy"]))
    parts = [f"{say_declared(fairness.short_title)} {was} → {becomes}"] if becomes != was else []
    parts += [f"{say_declared(accuracy.short_in_sentence)} {gained}"]
    counts = {"changes": there.count - here.count}
    # Its name says if nobody loses.
    if other.settings.direction != "improve" and here.worse > here.better:
        counts["worse"] = there.worse - here.worse
    parts += [f"{say(f'next.{name}')} {count:+,}".replace("-", "−") for name, count in counts.items() if count]
    return ", ".join(parts)
