"""Segments of fairness and accuracy, within which change rates can be compared (paper, App. C.3 and D.1)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from commod.experiments.sweep import fairness_gain
from commod.metrics.counts import undominated
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS


@dataclass(frozen=True)
class Segments:
    """Three cuts of the fairness figure and three of accuracy; Q1 is the least fair, and the least accurate."""

    fairness: tuple[float, float, float]  # as printed: rising for the P-Rule, falling for disparate mistreatment
    accuracy: tuple[float, float, float]
    source: str

    def fairness_range(self, q: int, criterion: str) -> str:
        digits = 2 if len({round(cut, 2) for cut in self.fairness}) == 3 else 4
        return _range([f"{cut:.{digits}f}" for cut in self.fairness], q, upward=CRITERIA[criterion].upward)

    def accuracy_range(self, q: int) -> str:
        return _range([f"{cut:.1%}" for cut in self.accuracy], q, upward=True)

    def in_words(self, place: tuple[int, int], criterion: str) -> str:
        """The ranges of a segment of fairness and one of accuracy."""
        name, fair = CRITERIA[criterion].figure.short_title, self.fairness_range(place[0], criterion)
        return f"{name} {fair}, accuracy {self.accuracy_range(place[1])}"

    def titles(self, criterion: str) -> tuple[str, ...]:
        """Of the four segments of fairness, as the paper calls them."""
        name = CRITERIA[criterion].figure.short_title
        return tuple(f"Q{q}: {name} {self.fairness_range(q, criterion)}" for q in (1, 2, 3, 4))


def _range(cuts: list[str], q: int, *, upward: bool) -> str:
    first, last = ("below", "and above") if upward else ("above", "and below")
    return {1: f"{first} {cuts[0]}", 4: f"{cuts[2]} {last}"}.get(q) or f"{cuts[q - 2].removesuffix('%')}–{cuts[q - 1]}"


PAPER_MAIN = "the paper's quartiles of AdvDebias"
OWN_ADV_DEBIAS, OWN_ALL = "quartiles of AdvDebias's models here", "quartiles of all models here"
# By data set and criterion, the paper's printed values; the first entry of each list is its main definition.
PAPER_SEGMENTS: dict[tuple[str, str], list[Segments]] = {
    ("law_school", "demographic_parity"): [
        Segments((0.5587, 0.7212, 0.8719), (0.6709, 0.7294, 0.7550), PAPER_MAIN),
        Segments((0.4709, 0.5918, 0.7763), (0.7459, 0.7541, 0.7723), "the paper's quartiles of LPP (definition 2)"),
        Segments((0.3247, 0.4127, 0.5695), (0.7033, 0.7559, 0.7793), "the paper's quartiles of ROC (definition 3)"),
    ],
    ("law_school", "equalized_odds"): [Segments((0.3429, 0.2415, 0.1503), (0.7230, 0.7458, 0.7577), PAPER_MAIN)],
    ("compas", "demographic_parity"): [Segments((0.7345, 0.7695, 0.8058), (0.6242, 0.6391, 0.6537), PAPER_MAIN)],
    ("compas", "equalized_odds"): [Segments((0.2198, 0.2079, 0.1869), (0.6242, 0.6391, 0.6537), PAPER_MAIN)],
}


def quartiles_of(points: pd.DataFrame, criterion: str, source: str) -> Segments:
    """Segments from the quartiles of given points, as the paper made its own."""
    gain = fairness_gain(points, criterion).quantile([0.25, 0.5, 0.75]).abs()
    accuracy = points["accuracy"].quantile([0.25, 0.5, 0.75])
    return Segments(tuple(gain.round(4)), tuple(accuracy.round(4)), source)


def segments_of(data: str, criterion: str, points: pd.DataFrame) -> Segments:
    """The paper's main segments; for other data, quartiles of AdvDebias as there, or of all models without it."""
    if printed := PAPER_SEGMENTS.get((data, criterion)):
        return printed[0]
    own = points[points["method"] == "adv_debias"]
    return quartiles_of(points, criterion, OWN_ALL) if own.empty else quartiles_of(own, criterion, OWN_ADV_DEBIAS)


def in_segments(points: pd.DataFrame, segments: Segments, criterion: str) -> pd.DataFrame:
    """The points with their segments, ``fairness_q`` and ``accuracy_q``, 1 to 4."""
    cuts = CRITERIA[criterion].gain(np.asarray(segments.fairness))
    # A value on a cut belongs to the fairer segment, and to the more accurate one, as printed.
    fairness = np.searchsorted(cuts, fairness_gain(points, criterion), side="right")
    accuracy = np.searchsorted(np.asarray(segments.accuracy), points["accuracy"], side="right")
    return points.assign(fairness_q=fairness + 1, accuracy_q=accuracy + 1)


def mark_frontiers(points: pd.DataFrame, merit: pd.Series) -> pd.DataFrame:
    """Points with ``best``: no other of the same method changes fewer at no less merit."""
    best = pd.Series(False, index=points.index)
    for _, rows in points.groupby("method"):
        best[rows.index] = undominated(-rows["change_rate"], merit[rows.index])
    return points.assign(best=best)


def cell_table(points: pd.DataFrame) -> pd.DataFrame:
    """Mean ``change_rate`` and number of ``models`` of each method in each cell of fairness and accuracy (Table 1)."""
    cells = points.groupby(["method", "fairness_q", "accuracy_q"], sort=False)["change_rate"]
    return cells.agg(change_rate="mean", models="size").reset_index()


def cells_by_split(points: pd.DataFrame, segments: Segments, criterion: str) -> pd.DataFrame:
    """`cell_table` of each ``split`` of the points, one under another."""
    tables = [
        cell_table(in_segments(rows, segments, criterion)).assign(split=split)
        for split, rows in points.groupby("split")
    ]
    return pd.concat(tables, ignore_index=True)


def mark_fewest(cells: pd.DataFrame) -> pd.DataFrame:
    """Mark in ``fewest`` which ``blind`` methods change fewest in each cell; ``contested``: two or more are in it."""
    blind = ~cells["method"].map(lambda name: METHODS[name].needs_sensitive).astype(bool)
    cell = [cells["fairness_q"], cells["accuracy_q"]]
    contested = blind.groupby(cell).transform("sum") >= 2
    lowest = cells["change_rate"].where(blind).groupby(cell).transform("min")
    return cells.assign(blind=blind, contested=contested, fewest=blind & contested & (cells["change_rate"] == lowest))
