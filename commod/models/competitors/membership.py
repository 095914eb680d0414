"""P(S, Y | x): a person's probable group and label, for methods that do not get S at predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array
from commod.models.competitors.base import Competitor, Rows


class Membership(BaseEstimator):
    """Calibrated joint model of group and label given the encoded features.

    A multinomial logistic regression on the label 2·s + y, its temperature set on held-out folds: methods that use it
    are only as exact as P(S, Y | x) is right. P(S|x)·P(Y|x) would assume S ⊥ Y | X, which equalized odds cannot. A
    fitted object can serve several fits on the same rows. `C` is the regression's: smaller regularises more.
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Array, y: Array, sensitive: np.ndarray, sample_weight: Any = None) -> Membership:
        """Learn from encoded rows (n, d), labels as 0/1 and the numbers of the groups; −1 (not known) is left out."""
        codes = np.asarray(sensitive, dtype=int)
        known = codes >= 0
        X, y, codes = (np.asarray(values)[known] for values in (X, y, codes))
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        groups, codes = np.unique(codes, return_inverse=True)
        joint = 2 * codes + y.astype(int)
        # Numbered without gaps: if a cell is empty, scikit-learn's temperature would read class 3 of three from a
        # missing fourth column.
        present, cells, counts = np.unique(joint, return_inverse=True, return_counts=True)
        model: Any = LogisticRegression(C=self.C, max_iter=1000)
        if counts.min() >= 3:
            folds = StratifiedKFold(min(5, int(counts.min())))
            model = CalibratedClassifierCV(model, method="temperature", cv=folds, ensemble=False)
        self.model_ = model.fit(X, cells) if weight is None else model.fit(X, cells, sample_weight=weight)
        self.cells_, self.n_groups_ = present, len(groups)
        return self

    def joint(self, X: Array) -> Array:
        """P(S = s, Y = y | x), shape (n, groups, 2)."""
        out = np.zeros((len(X), 2 * self.n_groups_))
        out[:, self.cells_] = self.model_.predict_proba(X)
        return out.reshape(-1, self.n_groups_, 2)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


def known_membership(sensitive: np.ndarray, n_groups: int, score: Array) -> Array:
    """P(S, Y | x) where S is known and P(Y | x) is f's score: one-hot(s) ⊗ (1 − f, f), shape (n, groups, 2)."""
    label = np.column_stack([1.0 - score, score])
    return np.eye(n_groups)[sensitive][:, :, None] * label[:, None, :]


def densities(joint: Array, fairness: str) -> Array:
    """What a criterion conditions on, shape (n, conditions, groups).

    Demographic parity: P(s | x), one condition. Equalized odds: P(s, y | x), one condition per label. Divided by its
    mean, it weighs the rows so that mean(weight·ŷ) is the group's positive rate (under that label).
    """
    return joint.transpose(0, 2, 1) if CRITERIA[fairness].by_label else joint.sum(axis=2)[:, None, :]


class Weighing(Competitor, ABC):
    """A method that weights people by P(S, Y | x), criterion and group; a subclass says what is known about S."""

    @abstractmethod
    def _joint(self, rows: Rows) -> Array:
        """P(S, Y | x), shape (n, groups, 2)."""

    def _prepare(self, rows: Rows, y: Array) -> None:
        """Learn what the weights need: `means_`, (conditions, groups), which stay as they are at predict."""
        self.means_ = rows.mean(densities(self._joint(rows), self.fairness))

    def _weights(self, rows: Rows) -> Array:
        """`densities`, of mean 1 on the training rows."""
        return densities(self._joint(rows), self.fairness) / self.means_


@dataclass(eq=False, repr=False, kw_only=True)
class ByMembership(Weighing):
    """A method with a `membership` model: a fitted one is used as it is, otherwise it learns on the training rows."""

    membership: Membership | None = None

    def _prepare(self, rows: Rows, y: Array) -> None:
        known = self.membership is not None and self.membership.__sklearn_is_fitted__()
        self.membership_ = self.membership if known else Membership().fit(rows.X, y, rows.groups, rows.weight)
        super()._prepare(rows, y)

    def _joint(self, rows: Rows) -> Array:
        assert self.membership_ is not None
        return self.membership_.joint(rows.X)
