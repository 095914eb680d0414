"""Who changes fewest where: claims about the cells of fairness and accuracy, and the table that counts them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.experiments.segments import Segments
from commod.experiments.sweep import Sweep
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS

Place = tuple[int, int]  # segment of fairness and of accuracy, from 1
# Whether two methods differ in a cell by more than chance; None if that cannot be told.
Apart = Callable[[str, str, Place], bool | None]


@dataclass(frozen=True)
class Claim:
    """Who changes fewest in a cell where two or more methods that need no group meet."""

    place: Place
    fewest: tuple[str, ...]  # the methods with the lowest mean change rate, as it is written; in the registry's order
    rate: float  # theirs
    own: float | None  # COMMOD's mean change rate; None if it has no model there
    # Whom COMMOD is held against: the first of the fewest, or, if it is one of them, the best of the others.
    against: str
    # Whether COMMOD and that one differ by more than chance; None if COMMOD is not there or it cannot be told.
    beyond_chance: bool | None


def claims_of(cells: pd.DataFrame, apart: Apart | None = None) -> tuple[Claim, ...]:
    """What can be claimed of cells, the least fair and least accurate first.

    `cells`: ``method, fairness_q, accuracy_q, change_rate``, rounded as they are written; with ``sound`` if some may
    have no sound model. `apart`: tells of two methods and a cell whether they differ by more than chance.
    """
    counted = ~cells["method"].map(lambda name: METHODS[name].needs_sensitive).astype(bool)
    if "sound" in cells:
        counted &= cells["sound"].astype(bool)
    order, claims = list(METHODS).index, []
    for (fair, accurate), rows in cells[counted].groupby(["fairness_q", "accuracy_q"]):
        place = (int(fair), int(accurate))
        rates = {name: float(rate) for name, rate in zip(rows["method"], rows["change_rate"], strict=True)}
        if len(rates) < 2:
            continue
        rate = min(rates.values())
        fewest = tuple(sorted((name for name in rates if rates[name] == rate), key=order))
        others = {name: rates[name] for name in rates if name != "commod"}
        against = min(others, key=lambda name: (others[name], order(name))) if "commod" in fewest else fewest[0]
        beyond = apart("commod", against, place) if apart is not None and "commod" in rates else None
        claims.append(Claim(place, fewest, rate, rates.get("commod"), against, beyond))
    return tuple(claims)


def wins_table(claims: Sequence[Claim], cuts: Segments, criterion: str) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: for each segment of fairness, in how many cells each method changes fewest.

    COMMOD comes first, then whoever wins most. Where it is known, the wins beyond chance stand in brackets.
    """
    wins = Counter(name for claim in claims for name in claim.fewest)
    if any(claim.own is not None for claim in claims):
        wins.setdefault("commod", 0)
    names = sorted(wins, key=lambda name: (name != "commod", -wins[name], list(METHODS).index(name)))

    def row(title: str, here: Sequence[Claim]) -> list[str]:
        return [title, str(len(here)), *(_won(name, here) for name in names)]

    rows = [
        row(cuts.fairness_range(q, criterion), [claim for claim in claims if claim.place[0] == q])
        for q in sorted({claim.place[0] for claim in claims})
    ]
    headings = [CRITERIA[criterion].figure.short_title, "Cells", *(METHODS[name].title for name in names)]
    return headings, [*rows, row("All", claims)] if len(rows) > 1 else rows


def _won(name: str, claims: Sequence[Claim]) -> str:
    won = [claim for claim in claims if name in claim.fewest]
    known = [claim.beyond_chance for claim in won if claim.beyond_chance is not None]
    return str(len(won)) + (f" ({sum(known)} beyond chance)" if known else "")


def apart_by_chance(scene: Scene, sweeps: Mapping[str, Sweep], points: pd.DataFrame) -> Apart:
    """Whether the mean change rates of two methods in a cell differ by more than chance in who is on test.

    Both are counted on the same people: of each person, the share of a method's models in the cell that change the
    decision. The 95 % interval of the mean difference leaves 0 out, or not. `points` are those of the sweeps one under
    another (`points_of`), with ``fairness_q, accuracy_q``; models that change nobody do not count, as in the cells.
    """
    counted = points.assign(at=points.groupby("method").cumcount())
    counted = counted[counted["change_rate"] > 0]
    places = {key: rows["at"].tolist() for key, rows in counted.groupby(["method", "fairness_q", "accuracy_q"])}
    before, weight = scene.decisions_test, scene.test.weight
    weights = np.ones(len(before)) if weight is None else np.asarray(weight, dtype=float)
    weights = weights / weights.sum()

    def share(method: str, place: Place) -> np.ndarray:
        models = [sweeps[method].models[i].decisions_test != before for i in places[(method, *place)]]
        return np.asarray(np.mean(models, axis=0))

    def apart(one: str, other: str, place: Place) -> bool | None:
        more = share(one, place) - share(other, place)
        mean = float(weights @ more)
        error = float(np.sqrt(np.sum((weights * (more - mean)) ** 2)))
        return abs(mean) > 1.96 * error

    return apart


# ---- at one level of fairness, whatever the accuracy ----


@dataclass(frozen=True)
class Reached:
    """The models that are at least as fair as a level: those that change fewest, err least, and COMMOD's own.

    Each is a row of the points, None where there is none; `own` is also None where COMMOD is one of the others.
    """

    level: float
    fewest: pd.Series | None
    accurate: pd.Series | None
    own: pd.Series | None
    with_commod: bool

    def in_words(self, wish: str) -> str:
        """What it takes to get there; `wish` is the level in words."""
        if self.fewest is None or self.accurate is None:
            return f"No method drawn that needs no group reaches {wish} on test."

        def told(point: pd.Series) -> str:
            return f"{point['change_rate']:.1%} changed at an accuracy of {point['accuracy']:.1%}"

        text = f"**With {wish}, whatever the accuracy**: fewest changes are {self.fewest['title']}'s "
        text += f"({told(self.fewest)}), "
        if self.fewest.name == self.accurate.name:
            text += "which is also the most accurate"
        else:
            text += f"most accurate is {self.accurate['title']} ({told(self.accurate)})"
        if not self.with_commod or "commod" in (self.fewest["method"], self.accurate["method"]):
            return f"{text}."
        return f"{text}; " + (
            "no COMMOD model is that fair." if self.own is None else f"COMMOD needs at least {told(self.own)}."
        )


def reached_at(points: pd.DataFrame, criterion: str, level: float) -> Reached:
    """Of the methods that need no group, what is reached at a level; `points` are those of sound models."""
    blind = points[~points["needs_sensitive"].astype(bool)]
    fair = blind[CRITERIA[criterion].is_met(blind[CRITERIA[criterion].figure_name], level)]
    own, with_commod = fair[fair["method"] == "commod"], bool((blind["method"] == "commod").any())

    def first(frame: pd.DataFrame, name: str, *, least: bool) -> pd.Series | None:
        return None if frame.empty else frame.loc[frame[name].idxmin() if least else frame[name].idxmax()]

    return Reached(
        level,
        first(fair, "change_rate", least=True),
        first(fair, "accuracy", least=False),
        first(own, "change_rate", least=True),
        with_commod,
    )
