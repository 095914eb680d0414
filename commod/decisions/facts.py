"""What requirements are checked against: each value of a model, with its intervals over people and over refits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from commod.decisions.requirements import RULES
from commod.experiments.refits import Refits
from commod.experiments.scene import Scene
from commod.experiments.sweep import Cell
from commod.explain.checks import check_again, counts_of_changes
from commod.metrics.counts import Counts, sizes_of_groups, tally, wilson_interval
from commod.metrics.report import compare_counts

# The confidence of every interval here, and how many standard errors it reaches to either side.
CONFIDENCE = 0.95
Z = float(ndtri(0.5 + CONFIDENCE / 2))
Ends = tuple[float, float]
NOT_KNOWN: Ends = (math.nan, math.nan)


@dataclass(frozen=True)
class Measured:
    """The value that a requirement is about, with what is known of its uncertainty."""

    value: float  # NaN if it is unknown; for a share of the changes, also if nobody's decision changed
    people: Ends = NOT_KNOWN  # 95 % interval over people like these
    refits: Ends = NOT_KNOWN  # where 95 % of the refits are
    whole: float = math.nan  # for a share of people: the number it is a share of
    exact: bool = False  # whether the form of the update guarantees it for everyone
    splits: tuple[float, ...] = ()  # the same value on other splits, f and model trained anew


@dataclass(frozen=True)
class Facts:
    """What is known about a model."""

    measured: Mapping[str, Measured]  # by name of the requirement (`RULES`), if it was measured
    people: int  # how many it was measured on
    better: int  # decisions changed to the favourable one
    worse: int  # decisions changed to the other one
    direction: str = "both"  # what the update can do to people: also "improve", "worsen", and "neither" for f itself
    uses: tuple[str, ...] | None = None  # features that the update may use; None if unknown, as for other methods
    n_refits: int = 0  # behind the intervals over refits

    @property
    def changed(self) -> int:
        """How many decisions differ from f's."""
        return self.better + self.worse


def facts_of(
    scene: Scene, decisions: Any, cell: Cell | None = None, refits: Refits | None = None, splits: Refits | None = None
) -> Facts:
    """Facts of any model's decisions on the test rows of a scene.

    `cell`: method and settings, which for COMMOD say what the update can do and which features it may use. `refits`: of
    the same model; needed for the requirement "again". `splits`: the same on other splits; verdicts do not use them.
    """
    settings = dict(cell.others) if cell is not None and cell.method == "commod" else {}
    uses = None
    if cell is not None and cell.method == "commod":
        uses = tuple(settings.get("features") or (feature.name for feature in scene.task.spec.features))
    direction = str(settings.get("direction", "both"))
    found = _facts_of_scene(scene, np.asarray(decisions).astype(int), refits, direction, uses)
    columns = _by_requirement(splits)
    values = {
        name: replace(each, splits=tuple(columns[name])) if name in columns and not each.exact else each
        for name, each in found.measured.items()
    }
    return replace(found, measured=values)


def facts_of_f(scene: Scene) -> Facts:
    """Facts of f itself, left as it is."""
    return _facts_of_scene(scene, scene.decisions_test, None, "neither", ())


def _facts_of_scene(
    scene: Scene, after: np.ndarray, refits: Refits | None, direction: str, uses: tuple[str, ...] | None
) -> Facts:
    test, before = scene.test, scene.decisions_test
    found = tally(test.y, {"f": before, "g": after}, test.sensitive, test.weight, len(scene.task.groups))
    changes = counts_of_changes(scene.certainty_test, before, after, test.y)
    if refits is not None:
        again = check_again(before != after, refits.share, len(refits))
        changes["again"] = (again.part, again.whole)
    return facts_of_counts(
        found.counts,
        scene.task.spec.favourable,
        squares=found.squares,
        rows=found.rows,
        changes=changes,
        direction=direction,
        uses=uses,
        refits=_over_refits(refits),
        n_refits=0 if refits is None else len(refits),
    )


def _by_requirement(refits: Refits | None) -> dict[str, pd.Series]:
    """Values of each requirement, one per refit; empty without refits."""
    if refits is None:
        return {}
    figures = {"p_rule": "p_rule", "dm": "dm", "changed": "change_rate"}
    columns = {name: refits.figures[figure] for name, figure in figures.items()}
    columns |= {name: refits.shares[name] for name in RULES if name in refits.shares}
    kept = {name: column.dropna() for name, column in columns.items()}
    return {name: column for name, column in kept.items() if len(column)}


def _over_refits(refits: Refits | None) -> dict[str, Ends]:
    ends = {name: np.percentile(column, [2.5, 97.5]) for name, column in _by_requirement(refits).items()}
    return {name: (float(low), float(high)) for name, (low, high) in ends.items()}


def facts_of_counts(
    counts: Counts,
    favourable: int,
    *,
    squares: Counts | None = None,
    rows: Counts | None = None,
    changes: Mapping[str, tuple[int, int]] | None = None,
    direction: str = "both",
    uses: tuple[str, ...] | None = None,
    refits: Mapping[str, Ends] | None = None,
    n_refits: int = 0,
) -> Facts:
    """Facts from counts (groups, label, f, g) of any model.

    Parameters
    ----------
    favourable : {0, 1}
        The decision that a person hopes for.
    squares, rows : of the shape of the counts, optional
        With weights: sums of squared weights, and rows; see `commod.metrics.counts.Tally`.
    changes : mapping, optional
        For ``sure, right, again`` if known: how many of the changed decisions, and of how many.
    direction, uses : as in `Facts`
    refits : mapping, optional
        Intervals over `n_refits` refits by name of the requirement.
    """
    rows = counts if rows is None else rows
    frame = compare_counts(counts, squares=squares, rows=sizes_of_groups(rows), confidence=CONFIDENCE)
    over_refits, people = dict(refits or {}), int(rows.sum())
    raised, lowered = int(rows[..., 0, 1].sum()), int(rows[..., 1, 0].sum())
    better, worse = (raised, lowered) if favourable else (lowered, raised)

    def of_figure(name: str, figure: str, column: str = "g", sign: float = 1.0) -> Measured:
        if figure not in frame.index:  # a group lacks a label
            return Measured(math.nan)
        row = frame.loc[figure]
        ends = sorted((sign * float(row[f"{column}_low"]), sign * float(row[f"{column}_high"])))
        whole = float(people) if RULES[name].thing[0] else math.nan
        return Measured(sign * float(row[column]), (ends[0], ends[1]), over_refits.get(name, NOT_KNOWN), whole)

    found = {
        "p_rule": of_figure("p_rule", "p_rule"),
        "dm": of_figure("dm", "dm"),
        "accuracy_lost": of_figure("accuracy_lost", "accuracy", "difference", -1.0),
        "changed": of_figure("changed", "change_rate"),
        "worse_off": of_figure("worse_off", "lowered_rate" if favourable else "raised_rate"),
    }
    for name, (part, whole) in (changes or {}).items():
        low, high = wilson_interval(part, whole, CONFIDENCE)
        share = part / whole if whole else math.nan
        found[name] = Measured(share, (float(low), float(high)), over_refits.get(name, NOT_KNOWN), float(whole))
    # What the form of an update rules out holds for everyone.
    ruled_out = {"neither": ("accuracy_lost", "changed", "worse_off"), "improve": ("worse_off",)}.get(direction, ())
    for name in ruled_out:
        found[name] = Measured(0.0, (0.0, 0.0), whole=float(people), exact=True)
    in_order = {name: found[name] for name in RULES if name in found}
    return Facts(in_order, people, better, worse, direction, uses, n_refits)
