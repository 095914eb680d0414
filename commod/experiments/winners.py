"""Who changes fewest where: claims about the cells of fairness and accuracy, and the words that are made of them.

A claim is data before it is a sentence, so that what is said can be held against the cells below it.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import ndtr

from commod.experiments.scene import Scene
from commod.experiments.segments import Segments, mark_fewest
from commod.experiments.sweep import Sweep
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS
from commod.wording import listed

Place = tuple[int, int]  # segment of fairness and of accuracy, from 1
# By how many standard errors two methods differ in a cell.
Apart = Callable[[str, str, Place], float]
# Of being right about all cells at once.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Claim:
    """Who changes fewest in a cell where two or more methods that need no group meet."""

    place: Place
    fewest: tuple[str, ...]  # the methods with the lowest mean change rate, as it is written; in the registry's order
    rate: float  # theirs
    own: float | None  # COMMOD's mean change rate; None if it has no model there
    # Whom COMMOD is held against: the first of the fewest, or, if it is one of them, the best of the others.
    against: str
    # Whether COMMOD and that one differ by more than chance, allowing for all cells; None if COMMOD is not there or it
    # cannot be told.
    beyond_chance: bool | None = None
    # On how many other splits one of the fewest has the fewest changes again, and on how many two methods meet there.
    again: tuple[int, int] = (0, 0)

    @property
    def won(self) -> bool:
        """Whether COMMOD is among those who change fewest."""
        return "commod" in self.fewest

    @property
    def lost_by(self) -> float:
        """How much more COMMOD changes than the fewest; 0 where it is one of them, or not there."""
        return 0.0 if self.own is None else self.own - self.rate


@dataclass(frozen=True)
class Winners:
    """All that is claimed of a table of cells."""

    claims: tuple[Claim, ...]  # of the cells where two or more meet, the least fair and least accurate first
    alone: tuple[tuple[Place, str], ...]  # cells in which one method that needs no group has sound models, and no other
    # Cells in which a method that needs no group has only models that are hardly models any more.
    nonsense: tuple[tuple[Place, str], ...]
    with_commod: bool = True  # whether COMMOD is one of the methods

    @property
    def without_commod(self) -> tuple[Place, ...]:
        """Cells where others have a model and COMMOD has none."""
        missing = [claim.place for claim in self.claims if claim.own is None]
        return tuple(sorted([*missing, *(place for place, method in self.alone if method != "commod")]))

    def in_words(self, cuts: Segments, criterion: str) -> str:
        """The claims as one paragraph."""
        if not self.claims:
            return "No two methods that need no group have models of about equal fairness and accuracy here."
        parts = [
            f"Two or more methods that need no group meet in **{len(self.claims)}** "
            f"{_plural('cell', len(self.claims))} of about equal fairness and accuracy. "
            f"Fewest changes: {_counted(self.claims)}."
        ]
        parts += _chance(self.claims)
        kept, met = (sum(claim.again[i] for claim in self.claims) for i in (0, 1))
        if met:
            parts.append(
                f"On other splits methods meet in these cells {met} times, and the same one changes fewest in {kept} "
                "of them."
            )
        for q in sorted({claim.place[0] for claim in self.claims}):
            here = [claim for claim in self.claims if claim.place[0] == q]
            parts.append(f"*{_fair(cuts, criterion, q)}*: {_counted(here)}.")
        lost = max(self.claims, key=lambda claim: claim.lost_by)
        if lost.lost_by > 0:
            chance = {True: ", by more than chance", False: ", which may be chance", None: ""}[lost.beyond_chance]
            parts.append(
                f"COMMOD loses most at {_where(cuts, criterion, lost.place)}: it changes {lost.own:.1%}, "
                f"{METHODS[lost.against].title} {lost.rate:.1%}{chance}."
            )
        if self.with_commod and self.without_commod:
            parts.append(self._absent(cuts, criterion))
        if self.nonsense:
            told = [
                f"{METHODS[method].title} ({listed(_where(cuts, criterion, place) for place in places)})"
                for method, places in _by_method(self.nonsense).items()
            ]
            parts.append(f"Hardly models any more, and not counted: {listed(told)}.")
        return " ".join(parts)

    def _absent(self, cuts: Segments, criterion: str) -> str:
        """Where COMMOD has no model, and whether that is a whole segment."""
        missing = self.without_commod
        text = f"In {len(missing)} {_plural('cell', len(missing))} such methods have a model and COMMOD has none"
        there = {claim.place[0] for claim in self.claims if claim.own is not None}
        there |= {place[0] for place, method in self.alone if method == "commod"}
        never = sorted({q for q, _ in missing} - there)
        if not never:
            return f"{text}."
        ranges = listed(cuts.fairness_range(q, criterion) for q in never)
        return f"{text}; it has none at all at {CRITERIA[criterion].figure.short_title} {ranges}."


def winners_of(cells: pd.DataFrame, apart: Apart | None = None, by_split: pd.DataFrame | None = None) -> Winners:
    """What can be claimed of cells.

    `cells`: ``method, fairness_q, accuracy_q, change_rate``, as of `mark_fewest`, rounded as they are written; with
    ``sound`` if some may have no sound model. `apart`: by how many standard errors two methods differ in a cell; chance
    is told with Holm's correction for the number of cells. `by_split`: cells of other splits (`cells_by_split`).
    """
    blind = cells[~cells["method"].map(lambda name: METHODS[name].needs_sensitive).astype(bool)]
    sound = blind["sound"].astype(bool) if "sound" in blind else pd.Series(True, index=blind.index)
    order = {name: i for i, name in enumerate(METHODS)}
    claims, alone, nonsense = [], [], []
    for row in blind[~sound].to_dict("records"):
        nonsense.append(((int(row["fairness_q"]), int(row["accuracy_q"])), row["method"]))
    for (fair, accurate), rows in blind[sound].groupby(["fairness_q", "accuracy_q"]):
        place = (int(fair), int(accurate))
        rates = {name: float(rate) for name, rate in zip(rows["method"], rows["change_rate"], strict=True)}
        if len(rates) == 1:
            alone.append((place, *rates))
            continue
        rate = min(rates.values())
        fewest = tuple(sorted((name for name in rates if rates[name] == rate), key=order.__getitem__))
        others = {name: rates[name] for name in rates if name != "commod"}
        against = min(others, key=lambda name: (others[name], order[name])) if "commod" in fewest else fewest[0]
        again = (0, 0) if by_split is None else _again(by_split, place, fewest)
        claims.append(Claim(place, fewest, rate, rates.get("commod"), against, again=again))
    if apart is not None:
        own = [i for i, claim in enumerate(claims) if claim.own is not None]
        beyond = _beyond_chance([apart("commod", claims[i].against, claims[i].place) for i in own])
        for i, is_beyond in zip(own, beyond, strict=True):
            claims[i] = replace(claims[i], beyond_chance=is_beyond)
    return Winners(tuple(claims), tuple(alone), tuple(sorted(nonsense)), "commod" in set(cells["method"]))


def _beyond_chance(errors: Sequence[float]) -> list[bool]:
    """Which of several differences, in standard errors, are beyond chance, by Holm's step-down test."""
    chances = 2 * ndtr(-np.abs(np.asarray(errors, dtype=float)))
    found, left = [False] * len(errors), len(errors)
    for place in np.argsort(chances, kind="stable"):
        if chances[place] > (1 - CONFIDENCE) / left:
            break
        found[place], left = True, left - 1
    return found


def _again(by_split: pd.DataFrame, place: Place, fewest: Collection[str]) -> tuple[int, int]:
    """On how many splits one of the fewest has the fewest changes again, and on how many two methods meet."""
    here = by_split[(by_split["fairness_q"] == place[0]) & (by_split["accuracy_q"] == place[1])]
    marked = [mark_fewest(rows) for _, rows in here.groupby("split")]
    met = [rows for rows in marked if rows["contested"].any()]
    return sum(bool(rows.loc[rows["fewest"], "method"].isin(list(fewest)).any()) for rows in met), len(met)


def apart_by_chance(scene: Scene, sweeps: Mapping[str, Sweep], points: pd.DataFrame) -> Apart:
    """By how many standard errors the mean change rates of two methods in a cell differ.

    Both are counted on the same people: of each person, the share of a method's models in the cell that change the
    decision. The error is that of the mean difference over who is on test. `points` are those of the sweeps one under
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

    def apart(one: str, other: str, place: Place) -> float:
        more = share(one, place) - share(other, place)
        mean = float(weights @ more)
        error = float(np.sqrt(np.sum((weights * (more - mean)) ** 2)))
        return mean / error if error else 0.0

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


# ---- words ----


def names_in_words(methods: Iterable[str], *, bold: bool = False) -> str:
    """Methods in a row: "COMMOD, LPP and FRAPPE"."""
    titles = (METHODS[name].title for name in methods)
    return listed(f"**{title}**" if bold else title for title in titles)


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def _counted(claims: Sequence[Claim]) -> str:
    """In how many of some cells each method changes fewest, COMMOD first, then the most: "COMMOD in 2, LPP in 1"."""
    wins = Counter(name for claim in claims for name in claim.fewest)
    shared = Counter(name for claim in claims if len(claim.fewest) > 1 for name in claim.fewest)
    if any(claim.own is not None for claim in claims):
        wins.setdefault("commod", 0)
    order = sorted(wins, key=lambda name: (name != "commod", -wins[name], list(METHODS).index(name)))
    told = []
    for name in order:
        title = f"**{METHODS[name].title}**" if name == "commod" else METHODS[name].title
        some = f" ({shared[name]} shared)" if shared[name] else ""
        told.append(f"{title} in {wins[name] or 'none'}{some}")
    return ", ".join(told)


def _chance(claims: Sequence[Claim]) -> list[str]:
    """How many of COMMOD's wins and losses are beyond chance; nothing where that cannot be told."""
    known = [claim for claim in claims if claim.beyond_chance is not None]
    if not known:
        return []
    parts = []
    for won, verb in ((True, "wins"), (False, "losses")):
        some = [claim for claim in known if claim.won == won]
        if some:
            parts.append(f"{sum(bool(claim.beyond_chance) for claim in some)} of COMMOD's {len(some)} {verb}")
    return [f"Beyond chance, allowing for all cells, are {listed(parts)}."]


def _fair(cuts: Segments, criterion: str, q: int) -> str:
    return f"{CRITERIA[criterion].figure.short_title} {cuts.fairness_range(q, criterion)}"


def _where(cuts: Segments, criterion: str, place: Place) -> str:
    return f"{_fair(cuts, criterion, place[0])} with accuracy {cuts.accuracy_range(place[1])}"


def _by_method(found: Iterable[tuple[Place, str]]) -> dict[str, list[Place]]:
    places: dict[str, list[Place]] = {}
    for place, method in found:
        places.setdefault(method, []).append(place)
    return places
