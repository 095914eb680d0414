"""P(S | x) as two learners find it: what a rule that is not told the group can know of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

Values = NDArray[np.float64]
# Folds of the rows that are asked about, and of those that each model learns from, for its calibration.
FOLDS, CALIBRATION_FOLDS = 3, 4
# So many rows are enough: of `more`, those that are left over are not used.
MAX_LEARNT = 12_000


def chance_of_group(
    X: Values,
    groups: NDArray[np.int64],
    *,
    more: tuple[Values, NDArray[np.int64], Any],
    weight: Any = None,
    learner: str = "boosting",
) -> Values:
    """P(S = 1 | x) of each row, cross-fitted: nobody's own group is used for their own chance.

    The chance in a fold is that of models which learnt from the other folds and from `more`, each calibrated by Platt's
    sigmoid on rows that it had not seen (the mean of `CALIBRATION_FOLDS` models).

    Parameters
    ----------
    X, groups, weight : (n, d), (n,), (n,)
        What a rule can see of a person, their group (0 or 1), and weights, if any.
    more : (X, groups, weight)
        Rows to learn from that are not asked about, such as the training rows; the weight may be None.
    learner : {"boosting", "linear"}
        Gradient boosting, or a logistic regression. Neither is the best there can be.
    """
    X_more, groups_more, weight_more = more
    kept = np.random.default_rng(0).permutation(len(X_more))[: max(0, MAX_LEARNT - len(X))]
    chance = np.empty(len(X))
    for others, own in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        weights = None if weight is None else np.r_[np.asarray(weight)[others], np.asarray(weight_more)[kept]]
        boosting = HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=300, max_leaf_nodes=8, early_stopping=True, random_state=0
        )
        chosen = boosting if learner == "boosting" else LogisticRegression(max_iter=1000)
        model = CalibratedClassifierCV(chosen, method="sigmoid", cv=CALIBRATION_FOLDS)
        with threadpool_limits(limits=1):  # the same to the last digit on any machine
            model.fit(np.r_[X[others], X_more[kept]], np.r_[groups[others], groups_more[kept]], sample_weight=weights)
            chance[own] = model.predict_proba(X[own])[:, 1]
    return chance
