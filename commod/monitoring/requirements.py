"""Requirements on a later batch beside what they were when the decision was signed, or the model tested.

They may be checked every night: evidence against them is measured by e-values.

An e-value is what a bet against a claim has made of one unit of money: under the claim it grows beyond 1 / α with a
chance of at most α, however often one looks (Ville 1939; Ramdas, Grünwald, Vovk and Shafer 2023, "Game-theoretic
statistics and safe anytime-valid inference"). Here the claim is "the requirement holds". The bet is Wald's (1945)
likelihood ratio of a drop of a given size against no drop, averaged over a few sizes. The value and its standard error
come from the pooled counts, so the guarantee holds for large samples (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
2024, "Time-uniform central limit theory and asymptotic confidence sequences"); ``python -m tests.benchmarks.watch``
measures it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.decisions.facts import Facts, Measured, Z, facts_of_counts
from commod.decisions.requirements import RULES, Requirements, Rule
from commod.decisions.verdicts import REVEALED, SETTLES, check_requirements
from commod.monitoring.figures import in_two_groups, resting_on
from commod.monitoring.reference import Cells, Reference
from commod.portable import Portable

# The chance of a false alarm, over all nights.
ALPHA = 0.05
# Sizes of a drop that are bet on, in tolerances, and the share of the money on each.
DROPS = ((0.5, 0.8), (1.0, 0.1), (2.0, 0.1))
# The share of the money on all people since the first run; the rest is on windows.
ON_TOTAL = 0.6


def tolerance(rule: Rule) -> float:
    """A drop that must not go unseen for "still true": 0.1, or 2 points of a share of all people."""
    return 0.02 if rule.thing[0] and not rule.of_changes else 0.1


def standard_error(measured: Measured, limit: float) -> float:
    """From the reach of the interval towards the limit."""
    low, high = measured.people
    return ((high - measured.value) if measured.value < limit else (measured.value - low)) / Z


def evidence(measured: Measured, limit: float, sign: int, drop: float) -> float:
    """The e-value against "the value is at least the limit" (`sign` 1), or at most (-1); 1 where it is not known.

    `drop` is the unit of the sizes that are bet on.
    """
    error = standard_error(measured, limit)
    return float(e_value(sign * (limit - measured.value), error, drop)) if error > 0 else 1.0


def e_value(short: Any, error: Any, drop: float) -> Any:
    """The same by how far the value falls short of the limit and its standard error, for whole columns at once."""
    sizes = ((size * drop, share) for size, share in DROPS)
    return sum(share * np.exp(np.minimum((size * short - size**2 / 2) / error**2, 500.0)) for size, share in sizes)


def drop_revealed(measured: Measured, limit: float, drop: float, tests: int = 0) -> float:
    """How large a drop below the limit these people would have revealed in four cases of five.

    `tests` is the number of requirements under the sequential test; 0 for a single look at a 95 % interval.
    """
    error = standard_error(measured, limit)
    if not tests:
        return error * Z * REVEALED
    least = tests / (ALPHA * ON_TOTAL)
    needed = (size * drop / 2 + error**2 * math.log(least / share) / (size * drop) for size, share in DROPS)
    return min(needed) + error * float(ndtri(SETTLES))


# The share of the money bet on some people, and the facts about them.
Look = tuple[float, Facts]

# A verdict in a sentence, by its name: then, and now.
THEN = {
    "pass": "held",
    "fail": "failed already",
    "cannot tell": "could not be determined",
    "does not apply": "did not apply",
}
NOW = {"pass": "holds", "fail": "fails", "cannot tell": "cannot be determined", "does not apply": "does not apply"}


@dataclass(frozen=True)
class Counted:
    """People in cells, their changes that f was sure of and that are right, and what else `Facts` need."""

    cells: Cells
    changes: Mapping[str, Any]
    labelled: bool
    favourable: int
    direction: str
    uses: tuple[str, ...]

    @property
    def facts(self) -> Facts:
        """What is known of the model on these people."""
        counted = in_two_groups(self.cells)
        with np.errstate(divide="ignore", invalid="ignore"):  # rates of a group that has nobody here
            known = {name: getattr(self, name) for name in ("changes", "labelled", "direction", "uses")}
            facts = facts_of_counts(
                counted.counts, self.favourable, squares=counted.squares, rows=counted.rows, **known
            )
        if len(self.cells.rows) > 1:
            return facts
        # Of groups that are alike every model is fair: what compares them was not measured.
        compares = resting_on("groups")
        return replace(facts, measured={name: each for name, each in facts.measured.items() if name not in compares})


def counted_of(
    model: Portable, reference: Reference, cells: Cells, changes: Mapping[str, Any], *, labelled: bool = True
) -> Counted:
    """People who are counted in cells, under a model."""
    good = reference["favourable"]
    return Counted(cells, changes, labelled, good, _direction(model, good), _uses(model))


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
    requirements: Requirements,
    old: Facts,
    new: Facts,
    record: Mapping[str, Any] | None = None,
    looks: Sequence[Look] = (),
) -> pd.DataFrame:
    """Requirements on later people, and what became of each.

    A requirement fails if its interval lies beyond the limit or, with `looks`, if the e-value against it reaches its
    bound. It passes if the value is on the right side and a drop of `tolerance` below the limit is ruled out in the
    same way. Otherwise the verdict is "cannot tell", and the sentence says how large a drop would have been revealed.

    Parameters
    ----------
    old, new : Facts
        Of the people tested on, and of later ones: ``old_facts`` and ``facts`` of `Watched`.
    record : mapping, optional
        The signed decision: it says what each verdict was then. Without it, the people tested on do.
    looks : sequence, optional
        From `WatchState.looks`: the test may then be repeated every night.

    Returns
    -------
    DataFrame
        That of `check_requirements` on later people, with ``then`` (the verdict that it was; empty if the record has
        none), ``broke`` (whether it fails now and did not fail then) and ``became`` in words: "held when it was signed,
        fails now".
    """
    rows = [
        row | _again_later(row, new, looks, len(requirements.limits))
        for row in check_requirements(requirements, new).to_dict("records")
    ]
    checked = pd.DataFrame(rows)
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


def _again_later(row: Mapping[str, Any], facts: Facts, looks: Sequence[Look], tests: int) -> dict[str, Any]:
    """Verdict and sentence on a requirement, where they differ from those of `check_requirements`."""
    name, limit = row["requirement"], row["limit"]
    if name == "again":
        text = "It is about refits on the training data, of which later people tell nothing."
        return {"verdict": "does not apply", "holds": True, "sentence": text}
    measured = facts.measured.get(name)
    if name not in RULES or measured is None or math.isnan(measured.value) or measured.exact:
        return {}
    rule, settled = RULES[name], row["verdict"]
    someone_is = name == "worse_off" and limit == 0 and settled == "fail"  # one person is enough to know
    if settled == "does not apply" or someone_is or (settled != "cannot tell" and not looks):
        return {}
    drop = tolerance(rule)
    worst = limit - rule.sign * drop
    text = f"{rule.title.removesuffix(f' {rule.side}')} {rule.show(measured.value)}, {rule.side} "
    text += f"{rule.show_limit(limit)} required"
    if looks:
        against = sum(money * evidence(each.measured[name], limit, rule.sign, drop) for money, each in looks)
        if against >= tests / ALPHA:
            return {"verdict": "fail", "sentence": f"{text}: over all runs, chance does not explain it."}
        ruled_out = evidence(measured, worst, -rule.sign, drop) >= tests / ALPHA
    else:
        ruled_out = rule.is_met(measured.people[0 if rule.sign > 0 else 1], worst)
    way = "drop" if rule.sign > 0 else "rise"
    if row["holds"] and ruled_out:
        return {"verdict": "pass", "sentence": f"{text}. A {way} to {rule.show(worst)} is ruled out."}
    if not looks:
        low, high = map(rule.show, measured.people)
        text += f"; with {facts.people:,} people the true value may lie anywhere from {low} to {high}."
        return {"verdict": "cannot tell", "more_people": math.nan, "sentence": text}
    seen = rule.show(drop_revealed(measured, limit, drop, tests))
    people = f"With {facts.people:,} people, only a {way} of {seen} or more beyond the limit is noticed 4 times in 5"
    return {"verdict": "cannot tell", "more_people": math.nan, "sentence": f"{text}. {people}."}
