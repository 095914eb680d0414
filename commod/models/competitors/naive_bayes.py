"""Modified naive Bayes (Calders & Verwer 2010): P(C | S) moves until both groups are treated alike."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB

from commod.models.adversary import Array
from commod.models.competitors.base import GroupAwareScored, Rows
from commod.models.threshold import logit_of_threshold

DELTA = 0.01  # of the other group's count, moved at a step, as published
MAX_STEPS = 10_000


@dataclass(eq=False, repr=False, kw_only=True)
class ModifiedNaiveBayes(GroupAwareScored):
    """A naive Bayes of its own, P(C, S, A) = P(S)·P(C|S)·Π P(A_i|C), in which P(C|S) is moved until the gap is closed.

    The gap is the favoured group's rate of positive decisions minus the other's, on the training rows. While it is
    above ε, one hundredth of a count moves at a time (the publication's algorithm for its second approach, Δ = 0.01):
    if fewer decisions are positive than labels, N(+, other) grows and N(−, other) shrinks by Δ·N(−, favoured); else
    N(−, favoured) grows and N(+, favoured) shrinks by Δ·N(+, other). f only sets the cut-off (a budget counts naive
    Bayes' own decisions); changes are counted against f.

    Ours: a step that would empty a cell goes the other way, and if neither is possible the moving ends. With a cut-off
    other than one half, positive decisions are compared with those before the first step, not with the labels.

    Parameters
    ----------
    epsilon : float, default 0.0
        Largest gap allowed on the training rows. At 1 nothing is moved; that is a naive Bayes, not f.
    bins : int, default 5
        Classes of a number, with about as many training rows in each; a category has its levels.
    """

    epsilon: float = 0.0
    bins: int = 5

    def _learn(self, rows: Rows, y: Array) -> None:
        weight = np.ones(len(y)) if rows.weight is None else rows.weight
        self.columns_ = self._columns_of_attributes()
        self.edges_ = [
            None if self._is_category(columns) else _edges(rows.X[:, columns[0]], weight, self.bins)
            for columns in self.columns_
        ]
        levels = [len(e) + 1 if e is not None else len(c) + 1 for c, e in zip(self.columns_, self.edges_, strict=True)]
        self.likelihood_ = CategoricalNB(alpha=1.0, fit_prior=False, min_categories=levels)
        self.likelihood_.fit(self._codes(rows.X), y, sample_weight=rows.weight)
        evidence = self._evidence(rows.X)
        cells = np.bincount(2 * rows.groups + y.astype(int), weight, 4).astype(float).reshape(2, 2)
        own = evidence + _prior(cells)[rows.groups]
        self.own_line_ = logit_of_threshold(self.threshold, self.base_model_, own, y, rows.weight)
        before = float(weight @ (y == 1 if self.own_line_ == 0 else own > self.own_line_))
        self.counts_, self.n_iter_ = _moved(evidence - self.own_line_, rows.groups, weight, cells, before, self.epsilon)

    def _margin(self, rows: Rows) -> Array:
        return self._evidence(rows.X) + _prior(self.counts_)[rows.groups] - self.own_line_

    def _evidence(self, X: Array) -> Array:
        """The logarithm of Π P(A_i | +)/P(A_i | −), shape (n,)."""
        joint = self.likelihood_.predict_joint_log_proba(self._codes(X))
        return np.asarray(joint[:, 1] - joint[:, 0])

    def _columns_of_attributes(self) -> list[list[int]]:
        """Encoded columns of each attribute: one for a number, one per level for a category."""
        found: dict[object, list[int]] = {}
        for place, (name, _) in enumerate(self.encoder_.origin_):
            found.setdefault(name, []).append(place)
        return list(found.values())

    def _is_category(self, columns: list[int]) -> bool:
        return self.encoder_.origin_[columns[0]][1] is not None

    def _codes(self, X: Array) -> NDArray[np.int64]:
        """The level of each attribute, (n, attributes); for a category, 0 is any level without a column."""
        found = []
        for columns, edges in zip(self.columns_, self.edges_, strict=True):
            if edges is None:
                here = X[:, columns] > 0  # standardised: a level that is there lies above its mean
                found.append(np.where(here.any(axis=1), here.argmax(axis=1) + 1, 0))
            else:
                found.append(np.searchsorted(edges, X[:, columns[0]]))
        return np.column_stack(found)


def _edges(values: Array, weight: Array, bins: int) -> Array:
    """The values at or below which 1/bins, 2/bins … of the rows lie."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order]) / weight.sum()
    places = np.searchsorted(below, np.arange(1, bins) / bins - 1e-12)
    return np.unique(values[order][places])


def _prior(counts: Array) -> Array:
    """The logarithm of P(+ | s)/P(− | s), (2,); a cell without people counts as half a person."""
    ratio: Array = np.log(np.maximum(counts[:, 1], 0.5) / np.maximum(counts[:, 0], 0.5))
    return ratio


def _moved(
    evidence: Array,
    sensitive: NDArray[np.int64],
    weight: Array,
    counts: Array,
    wanted: float,
    epsilon: float,
) -> tuple[Array, int]:
    """N(group, label) at which the gap is at most ε, or as close as possible, and the number of steps.

    Decisions are positive where evidence + log N(s, +)/N(s, −) > 0; `wanted` is how many there should be.
    """
    sorted_groups = []
    for s in (0, 1):
        order = np.argsort(evidence[sensitive == s])
        cumulated = np.append(0.0, np.cumsum(weight[sensitive == s][order]))
        sorted_groups.append((evidence[sensitive == s][order], cumulated))

    def positives(counts: Array) -> Array:
        cuts = -_prior(counts)
        return np.array(
            [
                total[-1] - total[np.searchsorted(e, cut, "right")]
                for (e, total), cut in zip(sorted_groups, cuts, strict=True)
            ]
        )

    size = np.bincount(sensitive, weight)
    favoured = int(np.argmax(positives(counts) / size))
    other = 1 - favoured
    for step in range(MAX_STEPS):
        given = positives(counts)
        rates = given / size
        if rates[favoured] - rates[other] <= epsilon:
            return counts, step
        raised, lowered = counts.copy(), counts.copy()
        raised[other] += DELTA * counts[favoured, 0] * np.array([-1.0, 1.0])
        lowered[favoured] += DELTA * counts[other, 1] * np.array([1.0, -1.0])
        ways = [raised, lowered] if given.sum() < wanted else [lowered, raised]
        left = [way for way in ways if way.min() > 0 and (way != counts).any()]
        if not left:
            return counts, step
        counts = left[0]
    return counts, MAX_STEPS
