"""FST (Wei et al. 2020) and FairProjection (Alghamdi et al. 2022): the closest fair score, as a tilt of f's.

Closest in an information measure, among scores that meet linear fairness constraints on the mean score. Convex duality
leaves one number per constraint, and a formula for each new person.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from commod.models.adversary import Array
from commod.models.base_models import logits_of_probabilities
from commod.models.competitors.base import Rows, Scored
from commod.models.competitors.membership import ByMembership

# Keeps the multipliers bounded if the constraints are linearly dependent; too small to show in a score.
RIDGE = 1e-8


@dataclass(eq=False, repr=False, kw_only=True)
class _Projection(ByMembership, Scored):
    """Scores tilted by multipliers of the constraints, which a subclass finds."""

    epsilon: float = 0.05

    def _learn(self, rows: Rows, y: Array) -> None:
        self._prepare(rows, y)
        self.multipliers_ = self._solve(rows, *self._tilts(rows))

    def _tilts(self, rows: Rows) -> tuple[Array, Array]:
        """Factors (n, conditions, groups) whose mean with the score is a group's, and (n, conditions, 1) everyone's."""
        group = self._weights(rows)
        return group, (group * self.means_).sum(axis=2, keepdims=True) / self.means_.sum(axis=1)[:, None]

    @abstractmethod
    def _solve(self, rows: Rows, group: Array, everyone: Array) -> Array: ...


@dataclass(eq=False, repr=False, kw_only=True)
class FST(_Projection):
    """Fair score transformer: the score of least cross-entropy against f whose means differ by at most ε.

    min E[−f log g − (1−f) log(1−g)] subject to |E[g | s] − E[g]| ≤ ε (for equalized odds, given each label). With the
    multipliers' tilt μ(x), g solves μg² − (1+μ)g + f = 0.

    Parameters
    ----------
    epsilon : float, default 0.05
        Largest difference of a group's mean score from everyone's. At 1, g = f.
    """

    def _solve(self, rows: Rows, group: Array, everyone: Array) -> Array:
        score = rows.score
        constraints = (group - everyone).reshape(len(score), -1)  # (n, constraints)
        size = constraints.shape[1]

        def dual(signed: Array) -> tuple[float, Array]:
            """Negative dual in the positive and the negative part of each multiplier."""
            multiplier = signed[:size] - signed[size:]
            tilt = constraints @ multiplier
            g = _tilted(score, tilt)
            value = -(score * np.log(g) + (1 - score) * np.log(1 - g)) + tilt * g
            slope = constraints.T @ rows.weighed(g) / rows.total
            penalty = self.epsilon * signed.sum() + 0.5 * RIDGE * float(signed @ signed)
            return penalty - float(rows.mean(value)), np.concatenate([-slope, slope]) + self.epsilon + RIDGE * signed

        found = _least(dual, 2 * size)
        return (found[:size] - found[size:]).reshape(group.shape[1:])

    def _margin(self, rows: Rows) -> Array:
        group, everyone = self._tilts(rows)
        tilt = ((group - everyone) * self.multipliers_).sum(axis=(1, 2))
        return logits_of_probabilities(_tilted(rows.score, tilt), len(tilt), "scores")


def _least(dual: Callable[[Array], tuple[float, Array]], size: int) -> Array:
    """The minimum of a function of non-negative multipliers, which also returns its gradient."""
    found = minimize(dual, np.zeros(size), jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * size)
    return np.asarray(found.x)


def _tilted(score: Array, tilt: Array) -> Array:
    """Root in (0, 1) of μg² − (1+μ)g + f = 0, in the form that survives μ → 0."""
    score = np.clip(score, 1e-9, 1 - 1e-9)
    b = 1.0 + tilt
    root = np.sqrt(np.maximum(b * b - 4.0 * tilt * score, 0.0))
    # 2f/(b + √) loses all digits where b < 0, and there (b − √)/2μ keeps them.
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.where(b >= 0, 2.0 * score / (b + root), (b - root) / (2.0 * tilt))
    return np.clip(g, 1e-12, 1 - 1e-12)


@dataclass(eq=False, repr=False, kw_only=True)
class FairProjection(_Projection):
    """Information projection: the score of least KL(g‖f) whose group rates differ by at most a factor 1 ± ε.

    min E[KL(g‖f)] subject to |E[g_c | s]/E[g_c] − 1| ≤ ε for both classes c (for equalized odds, given each label). The
    solution tilts f exponentially: logit g(x) = logit f(x) + Σ multiplier·(how probably x is of a group).

    Parameters
    ----------
    epsilon : float, default 0.1
        Largest relative difference of a group's mean score from everyone's.
    """

    epsilon: float = 0.1

    def _constraints(self, group: Array, everyone: Array) -> Array:
        """The weight of each row in each bound of a class, shape (n, 2, conditions, groups)."""
        slack = self.epsilon * everyone
        return np.stack([group - everyone - slack, everyone - group - slack], axis=1)

    def _solve(self, rows: Rows, group: Array, everyone: Array) -> Array:
        score, constraints = rows.score, self._constraints(group, everyone)
        flat = constraints.reshape(len(score), -1)
        size = flat.shape[1]
        log_f = np.log(np.clip(np.column_stack([1 - score, score]), 1e-12, 1.0))

        def dual(multiplier: Array) -> tuple[float, Array]:
            tilted = log_f - flat @ multiplier.reshape(2, size).T  # (n, classes)
            top = tilted.max(axis=1)
            norm = top + np.log(np.exp(tilted - top[:, None]).sum(axis=1))
            g = np.exp(tilted - norm[:, None])
            slope = -(rows.weighed(g).T @ flat) / rows.total
            value = float(rows.mean(norm)) + 0.5 * RIDGE * float(multiplier @ multiplier)
            return value, slope.ravel() + RIDGE * multiplier

        return _least(dual, 2 * size).reshape(2, *constraints.shape[1:])

    def _margin(self, rows: Rows) -> Array:
        constraints = self._constraints(*self._tilts(rows))
        return rows.logit + (constraints * (self.multipliers_[0] - self.multipliers_[1])).sum(axis=(1, 2, 3))
