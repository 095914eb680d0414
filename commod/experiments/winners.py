"""Who changes fewest where: claims about the cells of fairness and accuracy, and the table that counts them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr

from commod.experiments.scene import Scene
from commod.experiments.segments import mark_fewest
from commod.experiments.sweep import Sweep
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS
from commod.uploads.limits import count_of

Place = tuple[int, int]  # segment of fairness and of accuracy, from 1
Apart = Callable[[str, str, Place], float]
# Of being right about all cells at once.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Claim:
    """Who changes fewest in a cell with two or more methods that need no group."""

    place: Place
    fewest: tuple[str, ...]  # the methods with the lowest mean change rate, as it is written; in the registry's order
    own: float | None  # COMMOD's mean change rate; None if it has no model there
    # COMMOD's rival: the first of the fewest or, if COMMOD is one of them, the best of the others.
    against: str
    # Whether COMMOD and that rival differ by more than chance, corrected for all cells; None if COMMOD is not there or
    # it cannot be known.
    beyond_chance: bool | None = None
    # On how many other splits one of the fewest has the fewest changes again, and how many have two methods there.
    again: tuple[int, int] = (0, 0)


def claims_of(
    cells: pd.DataFrame, apart: Apart | None = None, by_split: pd.DataFrame | None = None
) -> tuple[Claim, ...]:
    """What can be claimed of cells, the least fair and least accurate first.

    `cells`: ``method, fairness_q, accuracy_q, change_rate`` as written, and ``sound`` if some models may not be.
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
        again = (0, 0) if by_split is None else _again(by_split, place, fewest)
        claims.append(Claim(place, fewest, rates.get("commod"), against, again=again))
    if apart is not None:
        own = [i for i, claim in enumerate(claims) if claim.own is not None]
        beyond = _beyond_chance([apart("commod", claims[i].against, claims[i].place) for i in own])
        for i, is_beyond in zip(own, beyond, strict=True):
            claims[i] = replace(claims[i], beyond_chance=is_beyond)
    return tuple(claims)


def _beyond_chance(errors: Sequence[float]) -> list[bool]:
    """Which of several differences, in standard errors, are beyond chance, by Holm's step-down test."""
    chances = 2 * ndtr(-np.abs(np.asarray(errors, dtype=float)))
    found, left = [False] * len(errors), len(errors)
    for place in np.argsort(chances, kind="stable"):
        if chances[place] > (1 - CONFIDENCE) / left:
            break
        found[place], left = True, left - 1
    return found


def _again(by_split: pd.DataFrame, place: Place, fewest: Sequence[str]) -> tuple[int, int]:
    """On how many splits one of the fewest has the fewest changes again, and how many have two methods there."""
    here = by_split[(by_split["fairness_q"] == place[0]) & (by_split["accuracy_q"] == place[1])]
    marked = [mark_fewest(rows) for _, rows in here.groupby("split")]
    met = [rows for rows in marked if rows["contested"].any()]
    return sum(bool(rows.loc[rows["fewest"], "method"].isin(list(fewest)).any()) for rows in met), len(met)


def wins_in_words(claims: Sequence[Claim]) -> str:
    """In how many comparisons COMMOD alone changes fewest, how many are significant, and who does in the others."""
    alone = [claim for claim in claims if len(claim.fewest) == 1]
    won = [claim for claim in alone if claim.fewest == ("commod",)]
    text = f"**COMMOD changes the fewest decisions in {len(won)} of {count_of(len(claims), 'comparison')} "
    text += f"at the same fairness and accuracy{_significant(won)}.**"
    wins, ties = Counter(claim.fewest[0] for claim in alone), len(claims) - len(alone)
    names = sorted(wins.keys() - {"commod"}, key=lambda name: (-wins[name], list(METHODS).index(name)))
    others = [f"{METHODS[name].title} {'in' if i else 'does in'} {wins[name]}" for i, name in enumerate(names)]
    rest = [", ".join(others)] if others else []
    rest += [f"{ties} {'is a tie' if ties == 1 else 'are ties'}"] if ties else []
    text += f" {'; '.join(rest)}." if rest else ""
    more = []
    if won and max(claim.place[0] for claim in won) <= 2 < max(claim.place[0] for claim in claims):
        more.append("wins only where fairness is in the lower half")
    if lost := sum(bool(claim.beyond_chance) for claim in claims if "commod" not in claim.fewest):
        more.append(f"loses significantly in {lost}")
    return text + (f" COMMOD {' and '.join(more)}." if more else "")


def _significant(won: Sequence[Claim]) -> str:
    if all(claim.beyond_chance is None for claim in won):
        return ""
    count = sum(bool(claim.beyond_chance) for claim in won)
    if len(won) == 1:
        return f"; this is {'not ' * (not count)}statistically significant"
    many = "none of these" if not count else f"{count} of these"
    if count == len(won):
        many = "both" if count == 2 else "all"
    return f"; {many} {'is' if count == 1 else 'are'} statistically significant"


def apart_by_chance(scene: Scene, sweeps: Mapping[str, Sweep], points: pd.DataFrame) -> Apart:
    """By how many standard errors the mean change rates of two methods in a cell differ, on the same people.

    `points`: those of the sweeps in order, with ``fairness_q, accuracy_q``; models that change nobody do not count.
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


class BestAndOwn(NamedTuple):
    """Rows of the points that fulfil a wish: the best model, and COMMOD's best; None if there is none."""

    first: pd.Series | None
    own: pd.Series | None


def best_models(points: pd.DataFrame, criterion: str, level: float) -> dict[str, BestAndOwn]:
    """Of the methods that need no group, at a level of fairness: the most accurate, and the fewest changes.

    `points` are those of sound models.
    """
    asked = CRITERIA[criterion]
    free = points[~points["needs_sensitive"].astype(bool)]
    fair = free[asked.is_met(free[asked.figure_name], level)]
    return {"accuracy": _best(fair, fair["accuracy"]), "change_rate": _best(fair, -fair["change_rate"])}


def _best(points: pd.DataFrame, merit: pd.Series) -> BestAndOwn:
    own = merit[points["method"] == "commod"]
    return BestAndOwn(*(points.loc[of.idxmax()] if len(of) else None for of in (merit, own)))
