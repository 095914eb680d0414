"""A data set in people's words: who decides what about whom, and of how many in a hundred f says so."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from commod.dashboard.text.language import declared, fill, phrase
from commod.datasets import TaskSpec
from commod.metrics import compared_groups
from commod.metrics.small_groups import least_people
from commod.wording import with_capital


def called(language: str, spec: TaskSpec, code: int) -> str:
    """How one speaks of the people of a group: "White students"; where nothing is declared, by the group's name."""
    people, grouping = declared(language, spec.people), spec.parted_by
    places = zip(grouping.attributes, grouping.combinations[code], strict=True)
    names = [attribute.groups[place] for attribute, place in places]
    if not all(name in spec.called for name in names):
        return phrase(language, "story.group", people=people, group=spec.groups[code])
    # Where an adjective stands before its noun, that of the first attribute is put there last.
    for name in names if phrase(language, "story.adjectives") == "after" else reversed(names):
        people = fill(language, declared(language, spec.called[name]), people=people)
    return people


def of_100(language: str, people: int, share: float) -> str:
    """People of a hundred as they are written; who was rounded to nobody, or to all, is not said to be that."""
    if people == 0 and share > 0:
        return phrase(language, "story.fewer_than_1")
    if people == 100 and share < 1:
        return phrase(language, "story.more_than_99")
    return str(int(people))


def rows_of(hundred: pd.DataFrame) -> dict[int, dict[str, Any]]:
    """The groups by code; for a few rows pandas' own ways take milliseconds, while somebody has a slider in hand."""
    columns = {name: hundred[name].tolist() for name in hundred}
    return {
        code: {name: column[i] for name, column in columns.items()} for i, code in enumerate(hundred.index.tolist())
    }


def story(language: str, spec: TaskSpec, hundred: pd.DataFrame) -> str:
    """Two sentences about a data set and its f; `hundred` is of `explain_hundred`. Of many groups, of the extremes."""
    rows = rows_of(hundred)
    seen = [
        code
        for code, large in zip(rows, compared_groups([row["count"] for row in rows.values()]), strict=True)
        if large
    ]
    seen.sort(key=lambda code: -rows[code]["before"])
    ends = {"one": seen[0], "other": seen[-1]}
    groups = {name: called(language, spec, code) for name, code in ends.items()}
    people = {
        name: of_100(language, rows[code]["of_100_before"], rows[code]["before"])
        for name, code in zip(("first", "second"), ends.values(), strict=True)
    }
    if spec.story:
        told = fill(language, declared(language, spec.story), **groups, **people)
    else:
        no, yes = (declared(language, outcome) for outcome in spec.outcomes)
        told = phrase(language, "story.any", people=declared(language, spec.people), yes=yes, no=no, **groups, **people)
    if len(hundred) > 2:
        left_out = len(seen) < len(hundred)
        least = least_people([row["count"] for row in rows.values()])
        named = "story.extremes_of_large" if left_out else "story.extremes"
        told += " " + phrase(language, named, groups=len(seen), least=least)
    return told


def label_of(language: str, spec: TaskSpec, code: int, row: Mapping[Any, Any], *, lines: int = 3) -> str:
    """What stands at the dots of a group: who, of how many f and g say yes, and how many are better and worse off.

    `row` is of `explain_hundred`; in two `lines`, those who are better and worse off are signs and numbers only.
    """
    who = called(language, spec, code)
    before, now, better, worse = (
        of_100(language, row[f"of_100_{name}"], row[name])
        for name in ("before", "now", *(("raised", "lowered") if spec.favourable == 1 else ("lowered", "raised")))
    )
    rates = phrase(language, "dots.rates", before=before, now=now, yes=declared(language, spec.outcomes[1]))
    signs = {"better": ("▲", better), "worse": ("▼", worse)}
    changed = {name: sign for name, sign in signs.items() if sign[1] != "0"}
    if lines == 2:
        marks = " ".join(f"{mark} {count}" for mark, count in changed.values())
        rates = f"{rates}  {marks}".rstrip()
        return f"{with_capital(who)}\n{rates}"
    told = [f"{mark} {phrase(language, f'dots.{name}', count=count)}" for name, (mark, count) in changed.items()]
    return f"{with_capital(who)}\n{rates}\n{', '.join(told) or phrase(language, 'dots.nobody')}"
