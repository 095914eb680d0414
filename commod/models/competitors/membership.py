"""P(S, Y | x): who a person probably is, for methods that may not ask at predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array

__all__ = ["Membership", "densities", "fitted_membership", "known_membership"]


class Membership(BaseEstimator):
    """Calibrated joint model of group and label given the encoded features.

    A multinomial logistic regression on the label 2·s + y, its temperature set on held-out folds: the methods that use
    it (LPP, FST, FairProjection) are exact only as far as P(S, Y | x) is right. The product P(S|x)·P(Y|x) would
    assume S ⊥ Y | X, which equalized odds cannot.

    One object can serve several fits on the same rows: it is used as it is once it is fitted.
    """

    def fit(self, X: Array, y: Array, sensitive: np.ndarray) -> Membership:
        """Learn from encoded rows (n, d), labels and groups as 0/1."""
        joint = 2 * np.asarray(sensitive, dtype=int) + np.asarray(y, dtype=int)
        # Numbered without gaps: where a cell has nobody, scikit-learn's temperature would read class 3 of three from a
        # fourth column, which is not there.
        present, codes, counts = np.unique(joint, return_inverse=True, return_counts=True)
        model: Any = LogisticRegression(max_iter=1000)
        if counts.min() >= 3:
            folds = StratifiedKFold(min(5, int(counts.min())))
            model = CalibratedClassifierCV(model, method="temperature", cv=folds, ensemble=False)
        self.model_ = model.fit(X, codes)
        self.cells_ = present
        return self

    def joint(self, X: Array) -> Array:
        """P(S = s, Y = y | x), shape (n, 2, 2)."""
        out = np.zeros((len(X), 4))
        out[:, self.cells_] = self.model_.predict_proba(X)
        return out.reshape(-1, 2, 2)

    def group(self, X: Array) -> Array:
        """P(S = s | x), shape (n, 2)."""
        return self.joint(X).sum(axis=2)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


def fitted_membership(membership: Membership | None, X: Array, y: Array, sensitive: np.ndarray) -> Membership:
    """The one that is given if it is fitted, else one learnt here."""
    if membership is not None and membership.__sklearn_is_fitted__():
        return membership
    return Membership().fit(X, y, sensitive)


def known_membership(sensitive: np.ndarray, score: Array) -> Array:
    """P(S, Y | x) where S is known and P(Y | x) is f's score: one-hot(s) ⊗ (1 − f, f), shape (n, 2, 2)."""
    label = np.column_stack([1.0 - score, score])
    return np.eye(2)[sensitive][:, :, None] * label[:, None, :]


def densities(joint: Array, fairness: str) -> Array:
    """What a criterion conditions on, shape (n, conditions, groups).

    Demographic parity: P(s | x), one condition. Equalized odds: P(s, y | x), one condition per label. Divided by its
    mean, it weighs the rows so that mean(weight·ŷ) is the group's positive rate (under that label).
    """
    return joint.transpose(0, 2, 1) if CRITERIA[fairness].by_label else joint.sum(axis=2)[:, None, :]
