"""Leaf relabelling (Kamiran, Calders & Pechenizkiy 2010): whole leaves of a tree get the other decision."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from commod.models.adversary import Array
from commod.models.base_models import BaseModel
from commod.models.competitors.base import Competitor, Rows


@dataclass(eq=False, repr=False, kw_only=True)
class LeafRelabelling(Competitor):
    """Give whole leaves the other decision, first those that close most of the gap for the accuracy they cost.

    The gap ("discrimination") is the favoured group's positive rate minus the other's. Relabelling leaf l changes it by
    Δdisc_l and the accuracy by Δacc_l; leaves with Δdisc_l < 0 are taken by Δdisc_l/Δacc_l, the largest first, until
    the gap is at most ε (the publication's algorithm Relabel; the exact problem is a knapsack).

    The publication relabels a C4.5 tree. Where f is a decision tree of scikit-learn (or a pipeline that ends in one)
    its own leaves are relabelled. For any other f a regression tree that imitates f's score makes the leaves, and
    outside the relabelled ones f decides as before; there a leaf counts as positive where f is for most of its people.

    Parameters
    ----------
    epsilon : float, default 0.05
        Largest gap allowed on the training rows. At 1, g = f; if all leaves together do not reach it, all are taken.
    min_leaf : float, default 0.01
        Smallest share of the training rows in a leaf of the imitating tree, at most 0.5.
    """

    epsilon: float = 0.05
    min_leaf: float = 0.01

    def _inputs(self, X: Any, base_model: BaseModel) -> Any:
        """For a tree, only the leaf, as one number; otherwise all features."""
        if not _is_tree(base_model):
            return super()._inputs(X, base_model)
        f = _model_of(base_model)
        leaf = f[-1].apply(f[:-1].transform(X)) if isinstance(f, Pipeline) else f.apply(X)
        return np.asarray(leaf, dtype=float)[:, None]

    def _learn(self, rows: Rows, y: Array) -> None:
        self.tree_ = None
        if not _is_tree(self.base_model_):
            self.tree_ = DecisionTreeRegressor(min_weight_fraction_leaf=self.min_leaf, random_state=0)
            self.tree_.fit(rows.X, rows.score, sample_weight=rows.weight)
        leaves, places = np.unique(self._leaf(rows), return_inverse=True)
        decided, weight = rows.logit > 0, np.ones(len(y)) if rows.weight is None else rows.weight
        chosen, label = leaves_to_relabel(places, decided, y, rows.groups, weight, self.epsilon)
        self.relabelled_ = dict(zip(leaves[chosen].tolist(), label.tolist(), strict=True))

    def _leaf(self, rows: Rows) -> Array:
        return np.asarray(rows.X[:, 0] if self.tree_ is None else self.tree_.apply(rows.X), dtype=float)

    def _margin(self, rows: Rows) -> Array:
        margin, leaf = rows.logit.copy(), self._leaf(rows)
        for relabelled, positive in self.relabelled_.items():
            margin[leaf == relabelled] = 1.0 if positive else -1.0
        return margin


def leaves_to_relabel(
    leaf: NDArray[np.int64],
    decided: NDArray[np.bool_],
    y: Array,
    sensitive: NDArray[np.int64],
    weight: Array,
    epsilon: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which leaves (numbers from 0) get the other decision, in the order taken, and that decision; (n,) arrays."""
    size = np.bincount(sensitive, weight)
    favoured = np.argmax(np.bincount(sensitive, weight * decided) / size)
    share = weight / size[sensitive] * np.where(sensitive == favoured, 1.0, -1.0)  # gap = Σ share·decision
    new = 2 * np.bincount(leaf, weight * decided) <= np.bincount(leaf, weight)  # the other decision, by leaf
    right, was_right = new[leaf] == y, decided == y
    # Rounded, so that ties do not depend on the order of summation.
    gain = np.round(-np.bincount(leaf, share * (new[leaf].astype(float) - decided)), 12)
    loss = np.round(np.bincount(leaf, weight / weight.sum() * (was_right.astype(float) - right)), 12)
    worth = np.divide(gain, loss, out=np.full(len(gain), np.inf), where=loss > 0)
    order = np.lexsort((-gain, -np.round(worth, 9)))
    order = order[gain[order] > 0]
    left = (share * decided).sum() - np.append(0.0, np.cumsum(gain[order]))
    enough = left <= epsilon
    order = order[: int(np.argmax(enough)) if enough.any() else len(order)]
    return order, new[order]


def _model_of(base_model: BaseModel) -> Any:
    return base_model.estimator if isinstance(base_model, FrozenEstimator) else base_model


def _is_tree(base_model: BaseModel) -> bool:
    f = _model_of(base_model)
    return isinstance(f[-1] if isinstance(f, Pipeline) else f, DecisionTreeClassifier)
