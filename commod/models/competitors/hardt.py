"""Equalized odds post-processing (Hardt, Price & Srebro 2016), solved by fairlearn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator

from commod.models.adversary import Array
from commod.models.competitors.base import GroupAware, Rows, chance_of_rows, lacks_a_label


class _GivenScores(BaseEstimator):
    """A classifier f for fairlearn: its scores are the only column of its table."""

    def fit(self, X: pd.DataFrame, y: object) -> _GivenScores:
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return X.iloc[:, 0].to_numpy()

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(eq=False, repr=False, kw_only=True)
class EOPostProcessing(GroupAware):
    """Randomised thresholds for each group that meet the criterion exactly on the training rows.

    fairlearn has no "a little fairer" for equalized odds, so the knob is a mixture: with probability `strength` the
    fair rule decides about a person, otherwise f. Each group needs rows of both labels.

    Parameters
    ----------
    strength : float, default 1.0
        0 is f, 1 the fair rule.
    """

    strength: float = 1.0
    fairness: str = "equalized_odds"

    def _learn(self, rows: Rows, y: Array) -> None:
        if lacks_a_label(rows.groups, y):
            raise ValueError(
                "Hardt post-processing sets a threshold for each group by its labels, and one group has no row of some "
                "label: merge groups."
            )
        self.optimizer_ = ThresholdOptimizer(
            estimator=_GivenScores(), constraints=self.fairness, prefit=True, predict_method="predict"
        )
        self.optimizer_.fit(
            pd.DataFrame({"score": rows.score}), y.astype(int), sensitive_features=pd.Series(rows.groups)
        )

    def positive_rates(self, rows: Rows) -> Array:
        """P(ŷ = 1) of each row under the mixture, shape (n,)."""
        fair = self.optimizer_._pmf_predict(
            pd.DataFrame({"score": rows.score}), sensitive_features=pd.Series(rows.groups)
        )[:, 1]
        return self.strength * fair + (1.0 - self.strength) * (rows.logit > 0)

    def _margin(self, rows: Rows) -> Array:
        return self.positive_rates(rows) - chance_of_rows(rows, self.random_state)
