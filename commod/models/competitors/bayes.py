"""The Bayes-optimal rule of "accurate, fair, and near f" (paper, Prop. 4.2, corrected), on estimated probabilities."""

from __future__ import annotations

import numpy as np

from commod.models.adversary import Array
from commod.models.base_scores import BaseModel
from commod.models.competitors.base import Competitor, GroupAware, Rows
from commod.models.competitors.membership import Membership, densities, fitted_membership, known_membership
from commod.models.validation import check_weight

__all__ = ["BayesOptimal", "OracleBayes", "bayes_margin"]


def bayes_margin(
    eta: Array,
    density: Array,
    label_of_f: Array,
    *,
    lambda_fair: float,
    lambda_ratio: float,
    tau: float = 1.0,
    threshold: float = 0.5,
) -> Array:
    """s*(x): decide 1 where it is above 0 (Prop. 4.2, corrected).

    As printed the two multipliers have changed places and the balanced risks lack their 1/π. From the definitions, with
    c = ½ and c̄ = 1/(1+τ): s* = (η − c) − λ_fair·[(1−c̄)·η̄/π̄ − c̄·(1−η̄)/(1−π̄)] + λ_ratio·(2η* − 1). f's own label gets a
    bonus of λ_ratio, so a decision changes only where the fair score disagrees with f by more than that.

    Parameters
    ----------
    eta : (n,)
        P(Y = 1 | x).
    density : (n, conditions, 2)
        P(group | x)/P(group), the favoured group last; for equalized odds one condition per label, joint with it.
    label_of_f : (n,)
        η*, f's decision (or the probability of 1, if f draws lots).
    lambda_fair, lambda_ratio : float
        The multipliers of the two constraints.
    tau : float
        P-Rule aimed at: how much of the favoured group's rate the other's is to be.
    threshold : float
        c, the probability of the label above which ŷ = 1 is the better guess: one half where both errors count alike.
    """
    cost = 1.0 / (1.0 + tau)
    unfair = ((1.0 - cost) * density[:, :, 1] - cost * density[:, :, 0]).sum(axis=1)
    return eta - threshold - lambda_fair * unfair + lambda_ratio * (2.0 * label_of_f - 1.0)


class _BayesRule(Competitor):
    """The rule; a subclass says what is known of S."""

    lambda_fair: float
    lambda_ratio: float
    membership: Membership | None

    def _joint(self, rows: Rows) -> Array:
        """P(S, Y | x), shape (n, 2, 2)."""
        raise NotImplementedError

    def _learn(self, rows: Rows, y: Array) -> None:
        check_weight("lambda_fair", self.lambda_fair)
        check_weight("lambda_ratio", self.lambda_ratio)
        assert rows.sensitive is not None
        self.membership_ = fitted_membership(self.membership, rows.X, y, rows.sensitive)
        density = densities(self._joint(rows), self.fairness)
        self.means_ = density.mean(axis=0)  # (conditions, groups), frozen for predict
        decided = (rows.logit > 0).astype(float)
        truth = densities(np.eye(4)[2 * rows.sensitive + y.astype(int)].reshape(-1, 2, 2), self.fairness)
        rates = np.einsum("n,ncs->cs", decided, truth) / truth.sum(axis=0)
        self.favoured_ = rates.argmax(axis=1)  # the group that f decides positively more often, by condition

    def _margin(self, rows: Rows) -> Array:
        joint = self._joint(rows)
        density = densities(joint, self.fairness) / self.means_
        order = np.column_stack([1 - self.favoured_, self.favoured_])  # (conditions, 2)
        return bayes_margin(
            joint[:, :, 1].sum(axis=1),
            np.take_along_axis(density, order[None], axis=2),
            (rows.logit > 0).astype(float),
            lambda_fair=self.lambda_fair,
            lambda_ratio=self.lambda_ratio,
            threshold=self.threshold_,
        )


class BayesOptimal(_BayesRule):
    """The Bayes-optimal rule on estimated P(S, Y | x) and f's labels, S not needed at predict (Prop. 4.2, corrected).

    It is optimal where the estimates are right. η is its own, not f's score: at λ_fair = 0 it differs from f where it
    knows better by more than λ_ratio, and at λ_ratio = ½ and more nothing can change at λ_fair = 0. A large λ_fair
    favours the other group instead: the fairest point is on the way.

    Parameters
    ----------
    base_model, threshold : f and its line in any form that `Commod` takes
    lambda_fair : float, default 0.1
        Multiplier of fairness, in units of accuracy.
    lambda_ratio : float, default 0.1
        Multiplier of the changes: how sure one must be to overrule f.
    fairness : {"demographic_parity", "equalized_odds"}
    membership : Membership, optional
        Model of P(S, Y | x). A fitted one is used as it is; otherwise one is learnt on the training rows.
    random_state : int
        Not used: nothing is random.

    Attributes
    ----------
    favoured_ : (conditions,)
        Code of the group with f's higher positive rate; for equalized odds under each label.
    """

    def __init__(
        self,
        base_model: BaseModel = None,
        *,
        threshold: float | str | None = None,
        lambda_fair: float = 0.1,
        lambda_ratio: float = 0.1,
        fairness: str = "demographic_parity",
        membership: Membership | None = None,
        random_state: int = 0,
    ) -> None:
        self.base_model = base_model
        self.threshold = threshold
        self.lambda_fair = lambda_fair
        self.lambda_ratio = lambda_ratio
        self.fairness = fairness
        self.membership = membership
        self.random_state = random_state

    def _joint(self, rows: Rows) -> Array:
        return self.membership_.joint(rows.X)


class OracleBayes(GroupAware, _BayesRule):
    """The Bayes-optimal rule where S is known at predict, the paper's fairness-aware setting: η̄ is S itself.

    Parameters
    ----------
    base_model, threshold, lambda_fair, lambda_ratio, fairness, membership, random_state : as for `BayesOptimal`
    sensitive_column : str, optional
        Column of X that holds S, instead of passing it to fit and predict.
    """

    def __init__(
        self,
        base_model: BaseModel = None,
        *,
        threshold: float | str | None = None,
        lambda_fair: float = 0.1,
        lambda_ratio: float = 0.1,
        fairness: str = "demographic_parity",
        sensitive_column: str | None = None,
        membership: Membership | None = None,
        random_state: int = 0,
    ) -> None:
        self.base_model = base_model
        self.threshold = threshold
        self.lambda_fair = lambda_fair
        self.lambda_ratio = lambda_ratio
        self.fairness = fairness
        self.sensitive_column = sensitive_column
        self.membership = membership
        self.random_state = random_state

    def _joint(self, rows: Rows) -> Array:
        assert rows.sensitive is not None
        of_group = self.membership_.joint(rows.X)[np.arange(len(rows.X)), rows.sensitive]  # P(s, y | x) of one's own s
        return known_membership(rows.sensitive, of_group[:, 1] / np.maximum(of_group.sum(axis=1), 1e-12))
