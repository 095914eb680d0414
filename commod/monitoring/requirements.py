"""Requirements on a later batch beside what they were when the decision was sealed, or the model tested."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from commod.decisions.facts import Facts, facts_of_counts
from commod.decisions.requirements import Requirements
from commod.decisions.verdicts import check_requirements
from commod.monitoring.figures import in_two_groups, resting_on
from commod.monitoring.reference import Cells, Reference
from commod.portable import Portable

# A verdict in a sentence, by its name: then, and now.
THEN = {
    "pass": "held",
    "fail": "failed already",
    "cannot tell": "could not be told",
    "does not apply": "did not apply",
}
NOW = {"pass": "holds", "fail": "fails", "cannot tell": "cannot be told", "does not apply": "does not apply"}


def facts_of_cells(
    model: Portable, reference: Reference, cells: Cells, changes: Mapping[str, Any], *, labelled: bool = True
) -> Facts:
    """What is known of a model on people who are counted in cells."""
    counted = in_two_groups(cells)
    facts = facts_of_counts(
        counted.counts,
        reference["favourable"],
        squares=counted.squares,
        rows=counted.rows,
        changes=changes,
        labelled=labelled,
        direction=_direction(model, reference["favourable"]),
        uses=_uses(model),
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
    """Requirements on a later batch, and what became of each.

    Parameters
    ----------
    requirements : Requirements
    old, new : Facts
        Of the people tested on, and of the batch: ``old_facts`` and ``facts`` of `Watched`.
    record : mapping, optional
        The sealed decision in which they stand: it says what each was when it was sealed. Without it, that is told of
        the people tested on.

    Returns
    -------
    DataFrame
        That of `check_requirements` on the batch, with ``then`` (the verdict that it was; empty if the record has
        none), ``broke`` (whether it fails now and did not fail then) and ``became`` in words: "held when it was sealed,
        fails now".
    """
    checked = check_requirements(requirements, new)
    if record is None:
        before, when = check_requirements(requirements, old), "on the people tested on"
        verdicts = dict(zip(before["requirement"], before["verdict"], strict=True))
    else:
        verdicts = {each["requirement"]: each["verdict"] for each in record["verdicts"]}
        when = "when it was sealed"
    then = [verdicts.get(name, "") for name in checked["requirement"]]
    became = [
        f"{THEN.get(old, old) or 'was not checked'} {when}, {NOW.get(new, new)} now"
        for old, new in zip(then, checked["verdict"], strict=True)
    ]
    broke = (checked["verdict"] == "fail") & (np.array(then, dtype=object) != "fail")
    return checked.assign(then=then, broke=broke.astype(bool), became=became)
