"""Whether a column is distributed as it was: the population stability index, and what changed most."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2

from commod.uploads.limits import count_of, short

# Bounds of the population stability index that are in use (Siddiqi 2006, Credit Risk Scorecards): below the first a
# column is called stable, beyond the second shifted.
LOOK, DRIFTED = 0.1, 0.25
# Classes into which a number is cut, of equal size on the people tested on.
N_CLASSES = 10
# Added to every class, so that one without people has a logarithm.
PRIOR = 0.5
# The level that stands for all that are not known.
UNSEEN = ""
# So many values that were never seen are named.
NAMED = 3
COLUMNS = "column kind index by_chance drift unseen sentence".split()

Distribution = Mapping[str, Any]


def scores_as_values(scores: Any) -> pd.Series:
    """Scores so far rounded that the same person is in the same class, whichever way they were computed."""
    return pd.Series(np.round(np.asarray(scores, dtype=float), 9))


def distribution_of(values: pd.Series) -> dict[str, Any]:
    """How many people have each level, or each tenth of a number, as JSON has it; gaps are counted last."""
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == object:
        levels = [*map(str, sorted(set(values.dropna().map(str)))), UNSEEN]
        return {"levels": levels, "counts": _count(values, {"levels": levels})}
    numbers = values.to_numpy(dtype=float)
    inner = np.linspace(0, 1, N_CLASSES + 1)[1:-1]
    edges = np.unique(np.quantile(numbers[np.isfinite(numbers)], inner, method="higher")).tolist()
    return {"edges": edges, "counts": _count(values, {"edges": edges})}


def _count(values: pd.Series, old: Distribution) -> list[int]:
    """People of each class; of levels, all that are not known are of the last, of numbers the gaps."""
    if "levels" in old:
        levels = old["levels"]
        codes = pd.Index(levels, dtype=object).get_indexer(_texts(values))
        return np.bincount(np.where(codes < 0, len(levels) - 1, codes), minlength=len(levels)).tolist()
    numbers, edges = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float), old["edges"]
    places = np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, side="left"))
    return np.bincount(places, minlength=len(edges) + 2).tolist()


def _texts(values: pd.Series) -> pd.Series:
    return values.astype(object).map(lambda cell: None if cell is None or cell != cell else str(cell)).astype(object)


def stability_index(old: Any, new: Any) -> tuple[float, float]:
    """Population stability index Σ (new − old) · ln(new / old) over the shares of classes, and what chance reaches.

    Without drift it is about (1/n + 1/m) times χ² with one degree of freedom less than there are classes (Yurdakul
    2018): the second number is the 95 % quantile of that. A batch of few people drifts by chance.
    """
    a, b = (np.asarray(each, dtype=float) for each in (old, new))
    used = (a > 0) | (b > 0)
    n, m = a.sum(), b.sum()
    a, b = ((each[used] + PRIOR) / (each[used] + PRIOR).sum() for each in (a, b))
    chance = (1 / n + 1 / m) * chi2.ppf(0.95, max(1, int(used.sum()) - 1))
    return float(((b - a) * np.log(b / a)).sum()), float(chance)


def compare_columns(
    old: Mapping[str, Distribution], new: Mapping[str, pd.Series], kind: str = "column"
) -> pd.DataFrame:
    """Drift of each column that is in both, as `commod.monitoring.Watched` has it."""
    rows = []
    for name, before in old.items():
        if name not in new:
            continue
        counts = _count(new[name], before)
        index, chance = stability_index(before["counts"], counts)
        drift = "stable" if index <= max(LOOK, chance) else "look" if index <= DRIFTED else "shifted"
        sentence = _sentence(name, kind, index, chance, drift)
        if drift != "stable":
            then, now = (np.asarray(each, dtype=float) / sum(each) for each in (before["counts"], counts))
            moved = int(np.argmax(np.abs(now - then)))
            sentence += f" {now[moved]:.0%} are {_classes(before)[moved]}; {then[moved]:.0%} were before."
        unseen = _never_seen(new[name], before)
        if len(unseen):
            some = ", ".join(f"“{short(level)}”" for level in unseen.index[:NAMED])
            more = " and others" if len(unseen) > NAMED else ""
            have = "has a value" if unseen.sum() == 1 else "have values"
            people = count_of(int(unseen.sum()), "person", "people")
            sentence += f" {people} {have} that nobody had before: {some}{more}."
        rows.append((name, kind, index, chance, drift, int(unseen.sum()), sentence))
    return pd.DataFrame(rows, columns=COLUMNS)


def _classes(old: Distribution) -> list[str]:
    if "levels" in old:
        return [*(f"“{short(level)}”" for level in old["levels"][:-1]), "something else, or nothing"]
    edges = [f"{edge:.4g}".replace("-", "−") for edge in old["edges"]]
    if not edges:
        return ["some number", "without a value"]
    between = [f"above {low} to {high}" for low, high in pairwise(edges)]
    return [f"at most {edges[0]}", *between, f"above {edges[-1]}", "without a value"]


def _never_seen(values: pd.Series, old: Distribution) -> pd.Series:
    """How many have each level that nobody had among the people tested on."""
    if "levels" not in old:
        return pd.Series(dtype=int)
    texts = _texts(values).dropna()
    return texts[~texts.isin(old["levels"])].value_counts()


def _sentence(name: str, kind: str, index: float, chance: float, drift: str) -> str:
    who = f"“{short(name)}”" if kind == "column" else name
    if drift == "stable":
        few = f", as a batch of so few people reaches {chance:.2f} by chance" if chance > LOOK else ""
        return f"{who} is distributed as before (stability index {index:.3f}{few})."
    much = "somewhat differently than" if drift == "look" else "quite differently than"
    return f"{who} is distributed {much} before (stability index {index:.2f})."
