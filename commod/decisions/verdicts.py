"""Check requirements: each verdict, what the model lacks, and how many more people would settle it."""

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.decisions.facts import Facts, Measured, Z
from commod.decisions.requirements import DIRECTIONS, RULES, Requirements, Rule

Verdict = Literal["pass", "fail", "cannot tell", "does not apply"]
# Each verdict and its sign.
VERDICTS: dict[Verdict, str] = {"pass": "✓", "fail": "✗", "cannot tell": "?", "does not apply": "–"}
# The chance that this many more people settle it, if the value stays as it is.
SETTLES = 0.8
# The reach of an interval times this is a difference that is detected in four cases of five.
REVEALED = float(1 + ndtri(SETTLES) / Z)
# Numbers of people beyond this multiple are not shown: nobody tests that many.
MOST_TIMES = 10
COLUMNS = (
    "requirement title wanted limit value low high refits_low refits_high verdict holds takes more_people sentence "
    "splits"
).split()


def check_requirements(requirements: Requirements, facts: Facts) -> pd.DataFrame:
    """Check each requirement for a model.

    A requirement passes if the whole interval over people and, if there are refits, the whole interval over refits are
    on its right side. It fails if both are on the wrong side. Otherwise the verdict is "cannot tell". What the form of
    an update rules out needs no interval. A requirement on a share of the changes does not apply if there are none.
    `facts` come from `facts_of`, `facts_of_f` or `facts_of_counts`.

    Returns
    -------
    DataFrame
        One row per requirement, in the order of `RULES`: ``requirement, title, wanted`` (in words), ``limit, value``
        (NaN if it is not numeric), ``low, high`` (95 % over people), ``refits_low, refits_high`` (95 % of
        the refits; NaN without), ``verdict``, ``holds`` (whether the value itself is on the right side), ``takes``
        (what it would take, in words; empty where it holds), ``more_people`` (how many more test people would settle
        it, see `more_people`; NaN where it is settled or people cannot settle it), ``sentence`` and ``splits`` (mean ±
        sd on other splits and how many of them meet it, in words; empty without them).
    """
    rows = [_check_number(RULES[name], limit, facts) for name, limit in requirements.limits.items()]
    if requirements.kept_out:
        rows.append(_check_kept_out(requirements, facts))
    if requirements.direction:
        rows.append(_check_direction(requirements.direction, facts))
    return pd.DataFrame(rows, columns=COLUMNS)


def overall(checked: pd.DataFrame) -> Verdict:
    """The overall verdict: the worst one; "does not apply" counts only if there is nothing else."""
    found = set(checked["verdict"])
    order: tuple[Verdict, ...] = ("fail", "cannot tell", "pass", "does not apply")
    return next((verdict for verdict in order if verdict in found), "pass")


def met_in_words(verdicts: Iterable[str]) -> str:
    """How many requirements are met, of those that apply: "2 of 3", "2 of 2 that apply"."""
    found = list(verdicts)
    apply = len(found) - found.count("does not apply")
    text = f"{found.count('pass')} of {apply}"
    return text if apply == len(found) else f"{text} that {'applies' if apply == 1 else 'apply'}"


def rounded(count: float) -> str:
    """An estimated number of people, to two digits."""
    return f"{float(f'{count:.2g}'):,.0f}"


def more_people(measured: Measured, limit: float, people: int) -> float:
    """How many more people like these would show on which side of a limit a value is.

    With n people the interval reaches h towards the limit, which is d away. h shrinks with √n, so n · (h / d)² people
    bring its end to the limit if the value stays. That settles it in one case of two; for four of five, h is made
    (1.96 + 0.84) / 1.96 times as long. NaN if that is more than `MOST_TIMES` as many, or the value is unknown.
    """
    low, high = measured.people
    distance = abs(measured.value - limit)
    reach = high - measured.value if measured.value < limit else measured.value - low
    if not distance > 0 or not math.isfinite(reach):
        return math.nan
    needed = people * (reach / distance * REVEALED) ** 2
    return max(1.0, math.ceil(needed - people)) if needed <= MOST_TIMES * people else math.nan


def _check_number(rule: Rule, limit: float, facts: Facts) -> dict[str, object]:
    row: dict[str, object] = {"requirement": rule.name, "title": rule.title, "wanted": rule.wanted(limit)}
    row |= {"limit": limit, "takes": "", "splits": ""}
    measured = facts.measured.get(rule.name, Measured(math.nan))
    row |= {"value": measured.value, "low": measured.people[0], "high": measured.people[1]}
    row |= {"refits_low": measured.refits[0], "refits_high": measured.refits[1]}
    if len(measured.splits) > 1:
        met = sum(rule.is_met(value, limit) for value in measured.splits)
        mean, sd = np.mean(measured.splits), np.std(measured.splits, ddof=1)
        row["splits"] = f"{rule.show(float(mean))} ± {rule.show(float(sd))}, met on {met} of {len(measured.splits)}"
    if rule.of_changes and not facts.changed:
        return row | {"verdict": "does not apply", "holds": True, "sentence": "Nobody's decision changes."}
    if math.isnan(measured.value):
        return row | {"verdict": "cannot tell", "holds": False, "sentence": _why_unknown(rule)}
    holds = rule.is_met(measured.value, limit)
    of_people = "pass" if measured.exact else _side(rule, limit, measured.people)
    of_refits = None if math.isnan(measured.refits[0]) else _side(rule, limit, measured.refits)
    sides = {of_people, of_people if of_refits is None else of_refits}
    # No sample proves that nobody will ever be worse off; one person is enough for the opposite.
    if rule.name == "worse_off" and limit == 0 and not measured.exact:
        sides = {"cannot tell" if holds else "fail"}
    verdict = sides.pop() if len(sides) == 1 else "cannot tell"
    row |= {"verdict": verdict, "holds": holds, "takes": "" if holds else _takes(rule, limit, measured)}
    text, chance = f"{rule.show(measured.value)}{' for everyone' if measured.exact else ''}", _intervals(rule, measured)
    if verdict != "cannot tell":
        return row | {"sentence": f"{text}.{chance}" if holds else f"{text}: {row['takes']}.{chance}"}
    if rule.name == "worse_off" and limit == 0:
        text = f"Nobody of these {facts.people:,} people is worse off, but only an update by which nobody can lose"
        return row | {"sentence": f"{text} rules it out for all others."}
    if of_refits not in (None, "pass" if holds else "fail"):
        return row | {"sentence": f"{text}: too close to call, since refits on other training rows disagree.{chance}"}
    more = more_people(measured, limit, facts.people)
    if math.isnan(more):
        side = "on the right side of" if holds else "short of"
        return row | {"sentence": f"{text}: it is {side} the limit, but too close to call.{chance}"}
    people = "more test person" if more == 1 else "more test people"
    return row | {
        "more_people": more,
        "sentence": f"{text}: with about {rounded(more)} {people} we could tell.{chance}",
    }


def _side(rule: Rule, limit: float, ends: tuple[float, float]) -> Verdict:
    """The verdict of one interval."""
    worst, best = ends if rule.sign > 0 else (ends[1], ends[0])
    if rule.is_met(worst, limit):
        return "pass"
    return "cannot tell" if rule.is_met(best, limit) else "fail"


def _takes(rule: Rule, limit: float, measured: Measured) -> str:
    """What a model on the wrong side lacks, counted in people if it is a share of people."""
    gap = abs(measured.value - limit)
    word = "few" if rule.sign > 0 or rule.name == "accuracy_lost" else "many"
    if not rule.thing[0]:
        return f"{max(gap, 0.001):.3f} too {'low' if rule.sign > 0 else 'high'}"
    count = max(1, math.ceil(gap * measured.whole - 1e-9))
    same = f", of the same {measured.whole:,.0f}" if rule.of_changes else ""
    return f"{count:,} {rule.thing[count != 1]} too {word}{same}"


def _intervals(rule: Rule, measured: Measured) -> str:
    """What chance leaves open: both intervals in words."""
    ends = {"people": (math.nan, math.nan) if measured.exact else measured.people, "training rows": measured.refits}
    shown = {
        what: f"{rule.show(low)} to {rule.show(high)}" for what, (low, high) in ends.items() if not math.isnan(low)
    }
    return f" W{', w'.join(f'ith other {what} {span}' for what, span in shown.items())}." if shown else ""


def _why_unknown(rule: Rule) -> str:
    if rule.name == "again":
        return "It takes refits to tell, and there are none."
    if rule.name in ("dm", "accuracy_lost", "right"):
        return "It takes groups and labels to tell, each outcome in every group, and they are not all there."
    return "It was not measured."


def _structural(name: str, title: str, wanted: str) -> dict[str, object]:
    """A row of a requirement that is not numeric: its missing values are NaN in the table."""
    return {"requirement": name, "title": title, "wanted": wanted, "takes": "", "splits": ""}


def _check_kept_out(requirements: Requirements, facts: Facts) -> dict[str, object]:
    names = requirements.kept_out
    row = _structural("kept_out", "Features kept out", f"{', '.join(names)} kept out of the update")
    if facts.uses is None:
        text = "What a model of this method makes of single features is not known."
        return row | {"verdict": "cannot tell", "holds": False, "sentence": text}
    used = [name for name in names if name in facts.uses]
    if not used:
        return row | {"verdict": "pass", "holds": True, "sentence": "The update cannot use them."}
    takes = f"takes an update without {', '.join(used)}"
    text = f"The update may use {', '.join(used)}: it {takes}."
    return row | {"verdict": "fail", "holds": False, "takes": takes, "sentence": text}


def _check_direction(direction: str, facts: Facts) -> dict[str, object]:
    row = _structural("direction", "Direction", DIRECTIONS[direction])
    if facts.direction in (direction, "neither"):
        return row | {"verdict": "pass", "holds": True, "sentence": "Its form rules out the rest."}
    against, how = (facts.worse, "for the worse") if direction == "improve" else (facts.better, "for the better")
    takes = f"takes {DIRECTIONS[direction]}"
    if against:
        text = f"{against:,} of {facts.people:,} decisions changed {how}: it {takes}."
        return row | {"verdict": "fail", "holds": False, "takes": takes, "sentence": text}
    text = f"No decision of these {facts.people:,} changed {how}, but the form of the update allows it."
    return row | {"verdict": "cannot tell", "holds": True, "takes": takes, "sentence": text}
