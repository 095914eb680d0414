"""Requirements on a later batch beside what they were when the decision was signed, or the model tested."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import Facts, facts_of_counts
from commod.decisions.requirements import RULES, Requirements, Rule
from commod.decisions.verdicts import check_requirements
from commod.monitoring.figures import in_two_groups, resting_on
from commod.monitoring.reference import Cells, Reference
from commod.portable import Portable

# A verdict in a sentence, by its name: then, and now.
THEN = {
    "pass": "held",
    "fail": "failed already",
    "cannot tell": "could not be determined",
    "does not apply": "did not apply",
}
NOW = {"pass": "holds", "fail": "fails", "cannot tell": "cannot be determined", "does not apply": "does not apply"}


def facts_of_people(
    model: Portable, reference: Reference, cells: Cells, changes: Mapping[str, Any], *, labelled: bool = True
) -> Facts:
    """What is known of a model on people counted in cells; `changes`: those that f was sure of, and that are right."""
    counted, good = in_two_groups(cells), reference["favourable"]
    with np.errstate(divide="ignore", invalid="ignore"):  # rates of a group that has nobody here
        facts = facts_of_counts(
            counted.counts,
            good,
            squares=counted.squares,
            rows=counted.rows,
            changes=changes,
            direction=_direction(model, good),
            uses=_uses(model),
            labelled=labelled,
        )
    if len(cells.rows) > 1:
        return facts
    # Of groups that are alike every model is fair: what compares them was not measured.
    compares = resting_on("groups")
    return replace(facts, measured={name: each for name, each in facts.measured.items() if name not in compares})


def _direction(model: Portable, favourable: int) -> str:
    acts_on = model.content.get("acts_on")
    if acts_on is None:
        return "both"
    return "improve" if (acts_on == "negative") == (favourable == 1) else "worsen"


def _uses(model: Portable) -> tuple[str, ...]:
    """Features whose weight in r or s is not 0."""
    weights = [np.abs(np.array(model.content[part]["coef"])) for part in ("r", "s") if part in model.content]
    used, at, total = [], 0, np.sum(weights, axis=0)
    for column in model.content["encoder"]["columns"]:
        levels = column["levels"]
        width = 1 if levels is None or column.get("codes") or len(levels) == 2 else len(levels)
        used += [str(column["name"])] if total[at : at + width].any() else []
        at += width
    return tuple(used)


def check_then_and_now(
    requirements: Requirements, old: Facts, new: Facts, record: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Requirements on later people, and what became of each.

    A requirement fails if its interval lies beyond the limit. It passes if the value is on the right side and a drop of
    `tolerance` below the limit is ruled out. Otherwise the verdict is "cannot tell", and the sentence has the interval.

    Parameters
    ----------
    old, new : Facts
        Of the people tested on, and of later ones: ``old_facts`` and ``facts`` of `Watched`.
    record : mapping, optional
        The signed decision: it says what each verdict was then. Without it, the people tested on do.

    Returns
    -------
    DataFrame
        That of `check_requirements` on later people, with ``then`` (the verdict that it was; empty if the record has
        none), ``broke`` (whether it fails now and did not fail then) and ``became`` in words: "held when it was signed,
        fails now".
    """
    rows = check_requirements(requirements, new).to_dict("records")
    checked = pd.DataFrame([row | _again_later(row, new) for row in rows])
    if record is None:
        before, when = check_requirements(requirements, old), "on the people tested on"
        verdicts = dict(zip(before["requirement"], before["verdict"], strict=True))
    else:
        verdicts = {each["requirement"]: each["verdict"] for each in record["verdicts"]}
        when = "when it was signed"
    then = [verdicts.get(name, "") for name in checked["requirement"]]
    became = [
        f"{THEN.get(old, old) or 'was not checked'} {when}, {NOW.get(new, new)} now"
        for old, new in zip(then, checked["verdict"], strict=True)
    ]
    broke = (checked["verdict"] == "fail") & (np.array(then, dtype=object) != "fail")
    return checked.assign(then=then, broke=broke.astype(bool), became=became)


def tolerance(rule: Rule) -> float:
    """A drop that must not go unseen for "still true": 0.1, or 2 points of a share of all people."""
    return 0.02 if rule.thing[0] and not rule.of_changes else 0.1


def _again_later(row: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Verdict and sentence on a requirement, where they differ from those of `check_requirements`."""
    name, limit = row["requirement"], row["limit"]
    if name == "again":
        text = "It is about refits on the training data, of which later people tell nothing."
        return {"verdict": "does not apply", "holds": True, "sentence": text}
    measured = facts.measured.get(name)
    if row["verdict"] != "cannot tell" or measured is None or math.isnan(measured.value):
        return {}
    rule = RULES[name]
    text = f"{rule.title.removesuffix(f' {rule.side}')} {rule.show(measured.value)}, {rule.side} "
    text += f"{rule.show_limit(limit)} required"
    worst = limit - rule.sign * tolerance(rule)
    if row["holds"] and rule.is_met(measured.people[0 if rule.sign > 0 else 1], worst):
        way = "drop" if rule.sign > 0 else "rise"
        return {"verdict": "pass", "sentence": f"{text}. A {way} to {rule.show(worst)} is ruled out."}
    low, high = map(rule.show, measured.people)
    text += f"; with {facts.people:,} people the true value may lie anywhere from {low} to {high}."
    return {"more_people": math.nan, "sentence": text}
