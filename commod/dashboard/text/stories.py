"""A data set in people's words: who decides what about whom, and what its groups are called."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from commod.dashboard.text.language import FIRST, declared, fill, phrase
from commod.datasets import TaskSpec
from commod.datasets.grouping import CROSS
from commod.metrics import compared_groups
from commod.wording import with_capital


def called(language: str, spec: TaskSpec, code: int) -> str:
    """How one speaks of the people of a group: "White students", "Black female applicants"."""
    people, name = declared(language, spec.people), spec.groups[code]
    parts = [name] if name in spec.called else name.split(CROSS)
    if any(part not in spec.called for part in parts):
        group = declared(language, name)
        return phrase(language, "story.group", people=people, group=group) if people else group
    # Each is put around the noun: an English adjective stands before it, a French one after it.
    for part in parts[::-1] if language == FIRST else parts:
        people = fill(language, declared(language, spec.called[part]), people=people)
    return people


def of_100(language: str, row: Mapping[Any, Any], when: str) -> str:
    """A rate of `count_hundred` in people; who was rounded to nobody, or to all, is not said to be that."""
    people, share = row[f"of_100_{when}"], row[when]
    if people == 0 and share > 0:
        return phrase(language, "story.fewer_than_1")
    if people == 100 and share < 1:
        return phrase(language, "story.more_than_99")
    return str(int(people))


def story(language: str, spec: TaskSpec) -> str:
    """Who decides what about whom."""
    if spec.story:
        return declared(language, spec.story)
    no, yes = (declared(language, outcome) for outcome in spec.outcomes)
    return phrase(language, "story.any", people=declared(language, spec.people), yes=yes, no=no)


def extremes(spec: TaskSpec, rows: Mapping[int, Mapping[str, Any]]) -> tuple[int, int]:
    """Codes of the group that f favours least and of the one it favours most, of those large enough to compare."""
    large = compared_groups([row["count"] for row in rows.values()])
    codes = [code for code, seen in zip(rows, large, strict=True) if seen]
    codes.sort(key=lambda code: rows[code]["before"], reverse=spec.favourable == 0)
    return codes[0], codes[-1]


def dots_label(language: str, spec: TaskSpec, code: int, row: Mapping[Any, Any]) -> str:
    """What stands at the dots of a group, a row of `count_hundred`: who, and g's and f's rates."""
    # Of many groups only their names: "Black female".
    spoken = called(language, spec, code) if len(spec.groups) < 3 else called(language, replace(spec, people=""), code)
    who = with_capital(" ".join(spoken.split()))
    now, before = of_100(language, row, "now"), of_100(language, row, "before")
    return phrase(language, "dots.same" if now == before else "dots.rates", who=who, before=before, now=now)
