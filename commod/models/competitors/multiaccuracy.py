"""MultiaccuracyBoost (Kim, Ghorbani & Zou 2019): corrects errors of f that have a pattern."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from commod.models.adversary import Array, sigmoid
from commod.models.competitors.base import Rows, Scored, chance_of_rows

RIDGE = 1.0  # of the auditor, as in the authors' code


@dataclass(eq=False, repr=False, kw_only=True)
class MultiaccuracyBoost(Scored):
    """Move f's score where a linear auditor finds a pattern in its errors; S is not used at all.

    f is multiaccurate if E[h(x)·(f(x) − y)] ≤ α for every h of a class, here the linear functions of the encoded
    features. In each round an auditor (a ridge regression) learns the residual f − y on everybody, on those with f at
    or below its line, and on those above; it is judged by E[h·(f − y)] on training rows that it has not seen. The part
    with the largest value is corrected if that is above α: f ∝ exp(−η·h)·f there, which is logit f − η·h (the
    publication's Algorithm 1). It ends when no part is above α.

    It aims at scores that are right on average in every part of the population that the auditor can tell apart:
    decisions may become less alike. The publication's experiments let the auditor learn a smoothed derivative of the
    cross-entropy, take the first part above α, and have fresh people for each round. Here the training rows are halved
    by lot for all rounds.

    Parameters
    ----------
    alpha : float, default 0.001
        Largest tolerated mean of auditor times residual. At 1, g = f.
    step, max_iter : float, int, default 1.0, 100
        η, and the maximum number of rounds.
    """

    alpha: float = 0.001
    step: float = 1.0
    max_iter: int = 100

    def _learn(self, rows: Rows, y: Array) -> None:
        held_out = held_out_rows(rows.X, self.random_state)
        parts = _parts(rows)
        weight = np.ones(len(y)) if rows.weight is None else rows.weight
        self.coef_, self.intercept_ = np.zeros((3, rows.X.shape[1])), np.zeros(3)
        self.n_iter_ = 0
        for _ in range(self.max_iter):
            residual = sigmoid(self._margin(rows) + self.line_) - y
            found = [audit(rows.X, residual, weight, part, held_out) for part in parts]
            worst = int(np.argmax([value for _, _, value in found]))
            slope, intercept, self.left_ = found[worst]
            if self.left_ <= self.alpha:
                break
            self.coef_[worst] -= self.step * slope
            self.intercept_[worst] -= self.step * intercept
            self.n_iter_ += 1

    def _margin(self, rows: Rows) -> Array:
        moves = rows.X @ self.coef_.T + self.intercept_  # (n, 3)
        return rows.logit + (moves * np.column_stack(_parts(rows))).sum(axis=1)


def held_out_rows(X: Array, seed: int) -> NDArray[np.bool_]:
    """Which rows an auditor is judged on, (n,): about half, by lot; people who are alike are on one side."""
    # Rounded, so that the last digit of the encoding moves nobody.
    return chance_of_rows(Rows(np.round(X, 6) + 0.0, X[:, 0], None), seed) < 0.5


def _parts(rows: Rows) -> list[NDArray[np.bool_]]:
    """Everybody, people with f's negative decision, and people with its positive decision."""
    above = rows.logit > 0
    return [np.ones(len(above), dtype=bool), ~above, above]


def audit(
    X: Array, residual: Array, weight: Array, part: NDArray[np.bool_], held_out: NDArray[np.bool_]
) -> tuple[Array, float, float]:
    """Slope and intercept of the auditor of a part, and the mean of auditor times residual over the held-out rows.

    Outside the part, and where a part has no rows to learn from, the auditor is 0.
    """
    here = part & ~held_out
    if not here.any():
        return np.zeros(X.shape[1]), 0.0, 0.0
    auditor = Ridge(alpha=RIDGE).fit(X[here], residual[here], sample_weight=weight[here])
    judged = held_out & part
    value = float(weight[judged] @ (auditor.predict(X[judged]) * residual[judged])) if judged.any() else 0.0
    return auditor.coef_, float(auditor.intercept_), value / max(float(weight[held_out].sum()), 1e-12)
