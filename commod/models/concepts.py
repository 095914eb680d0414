"""Concepts of a linear ratio: its weights v split into k unit directions with disjoint supports.

Any linear r(x) = c + v·x can be written with k concepts in infinitely many ways: r is the same under W → aW, w → w/a,
and every split of v's support into k disjoint groups attains the minimum of both concept losses at once (the Lasso
on the contributions |w_j|·|W_ij| is then ‖v‖₁, and the pairwise cosines are 0). So nothing is lost by solving for v
alone, and the split is free to be made readable: features that go together in the data go into one concept. A shift
s(x) is read through the same groups, with directions of its own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets.blocks import blocks, mean_of
from commod.models.adversary import Array
from commod.models.rescaler import LinearRescaler
from commod.models.training import Solution

# Levels of one category belong together: they count as this much closer than their correlation says.
SAME_CATEGORY = 0.25


def feature_distances(X: Array, origin: list[object], weight: Array | None = None) -> Array:
    """1 − |correlation| of the encoded features (d, d); `origin` names the input column behind each of them."""
    mean = mean_of(X, weight)

    def centered(rows: slice) -> Array:
        moved: Array = X[rows] - mean
        return moved if weight is None else moved * np.sqrt(weight[rows, None])

    norm = np.sqrt(sum((centered(rows) ** 2).sum(axis=0) for rows in blocks(len(X))))
    norm = np.where(norm > 0, norm, 1.0)
    products = np.zeros((X.shape[1], X.shape[1]))
    for rows in blocks(len(X)):
        unit = centered(rows) / norm
        products += unit.T @ unit
    distance = 1.0 - np.clip(np.abs(products), 0.0, 1.0)
    codes = np.array([origin.index(column) for column in origin])
    return np.where(codes[:, None] == codes, SAME_CATEGORY * distance, distance)


def group_features(mass: Array, distance: Array, k: int) -> list[np.ndarray]:
    """Group all features into k concepts, as index arrays, independently of their weights.

    Agglomerative clustering in which joining a and b costs m_a·m_b/(m_a + m_b)·distance (Ward's criterion with masses,
    average linkage). The mass of a feature is how hard the adversary pulls on it at g = f: a feature that does not
    matter to fairness joins its nearest neighbour almost for free, so the features that stay apart both matter and are
    far apart. Neither mass nor distance depends on the λ's, so concepts stay the same along every slider but k; and k +
    1 concepts are k concepts with one of them split in two.
    """
    groups = {i: [i] for i in range(len(mass))}
    # A mass of exactly 0 (a constant column) would make every join free.
    mass = mass + 1e-9 * (mass.max(initial=0.0) or 1.0)
    near = distance.copy()
    np.fill_diagonal(near, np.inf)
    # The cost and partner of each group's cheapest join. A join makes no other cheaper, except for rounding: old costs
    # are lower bounds, checked again when their turn comes, so all of this takes about d² steps, not d³.
    cost = near * (mass[:, None] * mass / (mass[:, None] + mass))
    partner = cost.argmin(axis=1)
    cheapest = cost[np.arange(len(mass)), partner]
    outdated = np.zeros(len(mass), dtype=bool)
    while len(groups) > k:
        a = int(cheapest.argmin())
        if outdated[a]:
            partner[a], outdated[a] = cost[a].argmin(), False
            cheapest[a] = cost[a, partner[a]]
            continue
        a, b = sorted((a, int(partner[a])))
        merged = (mass[a] * near[a] + mass[b] * near[b]) / (mass[a] + mass[b])
        near[a], near[:, a] = merged, merged
        near[b], near[:, b], near[a, a] = np.inf, np.inf, np.inf
        cost[b], cost[:, b] = np.inf, np.inf
        mass[a] += mass[b]
        groups[a] += groups.pop(b)
        outdated |= (partner == a) | (partner == b)
        outdated[a], cheapest[b] = True, np.inf
        costs = cost[a] = cost[:, a] = near[a] * (mass[a] * mass / (mass[a] + mass))
        cheaper = (costs < cheapest) | ((costs == cheapest) & (a < partner))
        partner[cheaper], cheapest[cheaper], outdated[cheaper] = a, costs[cheaper], False
        cheapest[a] = costs.min()
    return [np.array(sorted(group)) for group in groups.values()]


def unit_concepts(weights: Array, groups: list[np.ndarray], k: int) -> tuple[Array, Array]:
    """Directions (d, k) of unit norm with disjoint supports, and weights (k,), with directions @ weights = v."""
    directions, strengths = np.zeros((len(weights), k)), np.zeros(k)
    for j, group in enumerate(groups):
        strengths[j] = np.linalg.norm(weights[group])
        if strengths[j] > 0:
            directions[group, j] = weights[group] / strengths[j]
    return directions, strengths


def orient(directions: Array, strengths: Array) -> tuple[Array, Array]:
    """Turn each concept so that its weight in r is negative: a higher value takes f's decision back further.

    A direction turns only as the weights do: no sign jumps along a slider.
    """
    flip = np.where(strengths > 0, -1.0, 1.0)
    return directions * flip + 0.0, strengths * flip + 0.0  # + 0.0 turns −0 into 0


# Attributes of a fitted `Commod` whose r is linear.
READ = "intercept_ coef_ concepts_ concept_weights_ shift_intercept_ shift_coef_ shift_concepts_ shift_weights_".split()
READ += ["feature_groups_"]


def read_concepts(
    solution: Solution, distances: Array, names: list[str], k: int, derive: Callable[..., Any]
) -> dict[str, Any]:
    """Read a solution through k concepts over the encoded features `names`: `READ`, or nothing if r is a network.

    Features are grouped by the adversary's pull at g = f and by `distances`, unless the solver learned concepts. The
    shift is read through the same groups, which `derive` (see `WarmStart`) remembers.
    """
    fitted = solution.rescaler
    if not isinstance(fitted, LinearRescaler):
        return {}
    d, shifted = len(names), fitted.shift_coef is not None
    shift_coef = np.zeros(d) if fitted.shift_coef is None else fitted.shift_coef
    shift, groups = (np.zeros((d, 0)), np.zeros(0)), []
    if solution.concepts is not None:
        ratio = solution.concepts
    else:
        mass = np.zeros(d) if solution.pull is None else solution.pull
        groups = derive(f"{k} groups", (mass, distances), lambda: group_features(mass, distances, k))
        ratio = unit_concepts(fitted.coef, groups, k)
        shift = unit_concepts(shift_coef, groups, k) if shifted else shift
    decides = fitted.mirror is not None
    if decides:  # r is a constant: all that concepts do is in the shift
        ratio = np.zeros((d, 0)), np.zeros(0)
    features = pd.Index(names, name="feature")
    titles = [f"Concept {j + 1}" for j in range(k)]
    concepts, weights = _named(*orient(*ratio), features, [] if decides else titles)
    titles = titles if decides else [f"{title}, shift" for title in titles]
    shift_concepts, shift_weights = _named(*shift, features, titles if shifted else [])
    coef, shift_coef = (pd.Series(values, index=features, name="weight") for values in (fitted.coef, shift_coef))
    ratio_read = (fitted.intercept, coef, concepts, weights)
    shift_read = (fitted.shift_intercept, shift_coef, shift_concepts, shift_weights)
    return dict(zip(READ, (*ratio_read, *shift_read, groups), strict=True))


def _named(
    directions: Array, strengths: Array, features: pd.Index, titles: list[str]
) -> tuple[pd.DataFrame, pd.Series]:
    labels = pd.Index(titles, name="concept")
    return pd.DataFrame(directions, index=features, columns=labels), pd.Series(strengths, index=labels, name="weight")
