"""What K changes can do for demographic parity if the rule does not see the group: an attainable bound, two groups.

A rule that sees only x cannot tell the two groups apart better than q(x) = P(S = 1 | x) does. If it changes a person's
decision, each group's rate moves in expectation by that person's chance of being in the group:

    rate of group s = counted rate of f + Σ_i δ_i·P(s | x_i) / N_s,    0 ≤ δ_i ≤ 1 for f's negative decisions,
                                                                      −1 ≤ δ_i ≤ 0 for its positive ones.

To reach a P-Rule of ρ is to make (lower rate) − ρ·(higher rate) at least 0, which is linear in δ: a knapsack in which
everybody weighs the same, so that the people with the largest gain P(low | x)/N_low − ρ·P(high | x)/N_high go first. It
raises the negatives who are most probably in the disfavoured group and lowers the positives who most probably are not;
one person may be changed in part. If q is 0 or 1, this is the bound with the group known (`commod.theory.bands`). It is
as right as q is (`chance_of_group`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from commod.metrics.counts import as_binary
from commod.metrics.fairness import p_rule_of_rates
from commod.models.rescaler import ACTS_ON
from commod.models.validation import check_choice

Values = NDArray[np.float64]
# Points of the curve, draws of people for its interval, and points of each of these.
POINTS, DRAWS, POINTS_DRAWN = 40, 100, 15


def fewest_blind_changes(
    p_rule: float, y_pred: Any, *, sensitive: Any, chance: Any, weight: Any = None, acts_on: str = "everybody"
) -> Values | None:
    """The fewest changes with which a rule that sees only `chance` reaches a P-Rule in expectation.

    Parameters
    ----------
    y_pred, sensitive, weight : (n,)
        f's decisions, the groups (0 or 1), used only for f's own rates, and weights, if any.
    chance : (n,)
        P(S = 1 | x).
    acts_on : {"everybody", "negative", "positive"}
        Which of f's decisions may be changed.

    Returns
    -------
    (n,) or None
        By how much each decision is changed, from 0 to 1; None if the P-Rule cannot be reached.
    """
    check_choice("acts_on", acts_on, ACTS_ON)
    decided, weight = as_binary(y_pred, "y_pred"), _weights(weight, len(y_pred))
    of_one = np.asarray(sensitive) == 1
    sizes = np.array([weight[~of_one].sum(), weight[of_one].sum()])
    rates = _rates(decided, of_one, weight)
    low = int(rates[1] < rates[0])
    of_low = np.asarray(chance, dtype=float) if low == 1 else 1.0 - np.asarray(chance, dtype=float)
    lacking = p_rule * rates[1 - low] - rates[low]
    changed = np.zeros(len(decided))
    if lacking <= 0:
        return changed
    gain = of_low / sizes[low] - p_rule * (1.0 - of_low) / sizes[1 - low]
    gain = np.where(decided == 1, -gain, gain)
    allowed = {"everybody": True, "negative": decided == 0, "positive": decided == 1}[acts_on]
    useful = np.flatnonzero((gain > 0) & (weight > 0) & allowed)
    useful = useful[np.argsort(-gain[useful], kind="stable")]
    gained = np.cumsum(gain[useful] * weight[useful])
    last = int(np.searchsorted(gained, lacking))
    if last == len(useful):
        return None
    before = gained[last - 1] if last else 0.0
    changed[useful[:last]] = 1.0
    changed[useful[last]] = (lacking - before) / (gained[last] - before)
    return changed


def blind_curve(
    y_pred: Any, *, sensitive: Any, chance: Any, weight: Any = None, acts_on: str = "everybody", seed: int = 0
) -> pd.DataFrame:
    """The best expected P-Rule by number of changes for a rule that does not know the group.

    Arguments as for `fewest_blind_changes`. Columns ``change_rate, fairness``, from f's own P-Rule on; ``low, high``,
    95 %, by drawing the people `DRAWS` times with replacement (`chance` stays); ``counted``, the P-Rule of the same
    rule by the recorded groups.
    """
    decided, weight = as_binary(y_pred, "y_pred"), _weights(weight, len(y_pred))
    of_one = np.asarray(sensitive) == 1
    given = {"sensitive": sensitive, "chance": chance, "acts_on": acts_on}

    def reached(weight: Values, points: int) -> tuple[Values, Values, list[Values]]:
        start = float(p_rule_of_rates(_rates(decided, of_one, weight)))
        found = [
            (ratio, changed)
            for ratio in np.linspace(start, 1.0, points)
            if (changed := fewest_blind_changes(float(ratio), decided, weight=weight, **given)) is not None
        ]
        ratios, rules = np.array([ratio for ratio, _ in found]), [changed for _, changed in found]
        return ratios, np.array(rules) @ weight / weight.sum(), rules

    fairness, change_rate, rules = reached(weight, POINTS)
    counted = [float(p_rule_of_rates(_rates(np.abs(decided - changed), of_one, weight))) for changed in rules]
    rng, drawn, n = np.random.default_rng(seed), [], len(decided)
    for _ in range(DRAWS):
        again, changes, _ = reached(weight * rng.multinomial(n, np.full(n, 1 / n)), POINTS_DRAWN)
        drawn.append(np.interp(change_rate, changes, again))
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    columns = {"change_rate": change_rate, "fairness": fairness, "low": low, "high": high, "counted": counted}
    return pd.DataFrame(columns)


def _rates(decided: NDArray[Any], of_one: NDArray[np.bool_], weight: Values) -> Values:
    """Rates of positive (possibly fractional) decisions of the groups 0 and 1."""
    return np.array([np.average(decided[own], weights=weight[own]) for own in (~of_one, of_one)])


def _weights(weight: Any, n: int) -> Values:
    return np.ones(n) if weight is None else np.asarray(weight, dtype=float)


# Folds of the rows that are asked about, and of those that each model learns from, for its calibration.
FOLDS, CALIBRATION_FOLDS = 3, 4
# This many rows are enough: the rest of `more` is not used.
MAX_LEARNT = 12_000


def chance_of_group(
    X: Values,
    groups: NDArray[np.int64],
    *,
    more: tuple[Values, NDArray[np.int64], Any],
    weight: Any = None,
    learner: str = "boosting",
    report: Callable[[float], None] | None = None,
) -> Values:
    """P(S = 1 | x) of each row, cross-fitted: a person's own group never enters their chance.

    The chance in a fold is that of models which learnt from the other folds and from `more`, each calibrated by Platt's
    sigmoid on rows that it had not seen (the mean of `CALIBRATION_FOLDS` models).

    Parameters
    ----------
    X, groups, weight : (n, d), (n,), (n,)
        What a rule can see about a person, their group (0 or 1), and weights, if any.
    more : (X, groups, weight)
        Further rows to learn from, such as the training rows; the weight may be None.
    learner : {"boosting", "linear"}
        Gradient boosting, or a logistic regression. Neither is the best there can be.
    report : callable, optional
        Called after each fold with the share done.
    """
    X_more, groups_more, weight_more = more
    kept = np.random.default_rng(0).permutation(len(X_more))[: max(0, MAX_LEARNT - len(X))]
    chance = np.empty(len(X))
    for fold, (others, own) in enumerate(KFold(FOLDS, shuffle=True, random_state=0).split(X), start=1):
        weights = None if weight is None else np.r_[np.asarray(weight)[others], np.asarray(weight_more)[kept]]
        boosting = HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=300, max_leaf_nodes=8, early_stopping=True, random_state=0
        )
        chosen = boosting if learner == "boosting" else LogisticRegression(max_iter=1000)
        model = CalibratedClassifierCV(chosen, method="sigmoid", cv=CALIBRATION_FOLDS)
        with threadpool_limits(limits=1):  # the same to the last digit on any machine
            model.fit(np.r_[X[others], X_more[kept]], np.r_[groups[others], groups_more[kept]], sample_weight=weights)
            chance[own] = model.predict_proba(X[own])[:, 1]
        if report is not None:
            report(fold / FOLDS)
    return chance
