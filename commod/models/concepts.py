"""Concepts of a linear ratio: its weights v split into k unit directions with disjoint supports.

Any linear r(x) = c + v·x can be written with k concepts in infinitely many ways: r is the same under W → aW, w → w/a,
and every split of v's support into k disjoint groups attains the minimum of both concept losses at once (the Lasso
on the contributions |w_j|·|W_ij| is then ‖v‖₁, and the pairwise cosines are 0). So nothing is lost by solving for v
alone, and the split is free to be made readable: features that go together in the data go into one concept.
"""

from __future__ import annotations

import numpy as np

from commod.models.adversary import Array

__all__ = ["feature_distances", "group_features", "orient", "unit_concepts"]

# Levels of one category belong together: they are this much nearer to each other than their correlation says.
SAME_CATEGORY = 0.25


def feature_distances(X: Array, origin: list[object]) -> Array:
    """1 − |correlation| of the encoded features (d, d); `origin` names the input column behind each of them."""
    centered = X - X.mean(axis=0)
    norm = np.sqrt((centered**2).sum(axis=0))
    centered /= np.where(norm > 0, norm, 1.0)
    distance = 1.0 - np.clip(np.abs(centered.T @ centered), 0.0, 1.0)
    codes = np.array([origin.index(column) for column in origin])
    return np.where(codes[:, None] == codes, SAME_CATEGORY * distance, distance)


def group_features(weights: Array, distance: Array, k: int) -> list[np.ndarray]:
    """Group the support of `weights` into at most k concepts.

    Agglomerative clustering in which joining a and b costs m_a·m_b/(m_a + m_b)·distance, m the sum of |weights| (Ward's
    criterion with masses, average linkage). A small weight joins its nearest neighbour at next to no cost, and what
    is left apart at the end is both heavy and far apart. The cost is continuous in the weights: a feature that enters
    or leaves the support does so with no mass, and moves no concept. k + 1 concepts are k concepts with one split.

    Returns
    -------
    list of index arrays
        In the order of each group's heaviest feature.
    """
    support = np.flatnonzero(weights)
    groups = [[int(i)] for i in support]
    mass = np.abs(weights[support])
    near = distance[np.ix_(support, support)].copy()
    np.fill_diagonal(near, np.inf)
    while len(groups) > k:
        cost = near * (mass[:, None] * mass / (mass[:, None] + mass))
        a, b = sorted(np.unravel_index(int(np.argmin(cost)), cost.shape))
        merged = (mass[a] * near[a] + mass[b] * near[b]) / (mass[a] + mass[b])
        near[a], near[:, a] = merged, merged
        near[a, a] = np.inf
        mass[a] += mass[b]
        groups[a] += groups.pop(b)
        mass = np.delete(mass, b)
        near = np.delete(np.delete(near, b, axis=0), b, axis=1)
    arrays = [np.array(sorted(group)) for group in groups]
    return sorted(arrays, key=lambda group: int(group[np.argmax(np.abs(weights[group]))]))


def unit_concepts(weights: Array, groups: list[np.ndarray], k: int) -> tuple[Array, Array]:
    """Directions (d, k) of unit norm with disjoint supports, and concept weights (k,), with directions @ w = v.

    Where the support has fewer than k features, the concepts left over are zero.
    """
    directions, strengths = np.zeros((len(weights), k)), np.zeros(k)
    for j, group in enumerate(groups):
        strengths[j] = np.linalg.norm(weights[group])
        directions[group, j] = weights[group] / strengths[j]
    return directions, strengths


def orient(directions: Array, strengths: Array, reference: Array) -> tuple[Array, Array]:
    """Turn each concept so that it grows with `reference` (d,), the covariance of the features with logit f.

    Then a concept is always "more of what f rewards", and the sign of its weight says what COMMOD does with it.
    """
    flip = np.where(reference @ directions < 0, -1.0, 1.0)
    return directions * flip + 0.0, strengths * flip + 0.0  # + 0.0 turns −0 into 0
