"""The Bayes-optimal rule of "accurate, fair, and near f" (paper, Prop. 4.2, corrected), on estimated probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commod.models.adversary import Array
from commod.models.competitors.base import GroupAware, Rows, chance_of_rows
from commod.models.competitors.lpp import NOISE, penalised_program
from commod.models.competitors.membership import ByMembership, densities, known_membership


def bayes_margin(
    eta: Array,
    density: Array,
    pull: Array,
    label_of_f: Array,
    *,
    lambda_fair: float,
    lambda_ratio: float,
    threshold: float = 0.5,
) -> Array:
    """s*(x): decide 1 where it is above 0 (Prop. 4.2, corrected).

    As printed, the two multipliers are swapped and the balanced risks lack their 1/π. From the definitions, with
    c = ½ and c̄ = 1/(1+τ): s* = (η − c) − λ_fair·[(1−c̄)·η̄/π̄ − c̄·(1−η̄)/(1−π̄)] + λ_ratio·(2η* − 1). f's own label
    gets a bonus of λ_ratio: a decision changes only where the fair score disagrees by more. For any number of groups
    the bracket is Σ_s pull_s·P(s | x)/P(s).

    `eta`: P(Y = 1 | x). `density`: P(group | x)/P(group); for equalized odds jointly with each label. `pull`: how much
    a positive decision of each group adds to unfairness. `label_of_f`: η*, f's decision. `threshold`: c.
    """
    unfair = (density * pull).sum(axis=2).sum(axis=1)
    return eta - threshold - lambda_fair * unfair + lambda_ratio * (2.0 * label_of_f - 1.0)


def pull_of_two(favoured: NDArray[np.int64], tau: float = 1.0) -> Array:
    """1 − c̄ for the favoured of two groups, −c̄ for the other, c̄ = 1/(1+τ), (conditions, 2); τ: the P-Rule aimed at."""
    cost = 1.0 / (1.0 + tau)
    return np.where(np.arange(2) == favoured[:, None], 1.0 - cost, -cost)


def pull_of_many(score: Array, density: Array, lambda_fair: float, weight: Array | None = None) -> Array:
    """The same for any number of groups, (conditions, groups), where λ_fair is the price of unfairness.

    With two groups λ_fair·[½·rate of the favoured − ½·rate of the other] is charged; with more, half the distance of
    the largest and the smallest rate. By duality the best decisions follow from one number per group, the multipliers
    of the bounds on its rate (`penalised_program`). With two groups that is the paper's rule until it favours the other
    group; this one stays fair. `score`: what deciding 1 gains without fairness, s*(x) at λ_fair = 0.
    """
    if lambda_fair == 0:
        return np.zeros(density.shape[1:])
    return penalised_program(score, density, lambda_fair / 2, weight) / lambda_fair


@dataclass(eq=False, repr=False, kw_only=True)
class BayesOptimal(ByMembership):
    """The Bayes-optimal rule on estimated P(S, Y | x) and f's labels, S not needed at predict (Prop. 4.2, corrected).

    It is optimal if the estimates are right. η is its own, not f's score: at λ_fair = 0 it differs from f where it
    knows better by more than λ_ratio, and for λ_ratio ≥ ½ nothing changes at λ_fair = 0. With two groups a large λ_fair
    favours the other group instead: the fairest point is on the way. With more, see `pull_of_many`.

    Parameters
    ----------
    lambda_fair : float, default 0.1
        Multiplier of fairness, in units of accuracy.
    lambda_ratio : float, default 0.1
        Multiplier of the changes: how sure the rule must be to overrule f.
    random_state : int
        Seed of the noise that breaks ties with more than two groups; with two, nothing is random.

    """

    lambda_fair: float = 0.1
    lambda_ratio: float = 0.1

    def _learn(self, rows: Rows, y: Array) -> None:
        self._prepare(rows, y)
        groups = len(self.means_.T)
        decided = rows.weighed((rows.logit > 0).astype(float))
        truth = densities(np.eye(2 * groups)[2 * rows.groups + y.astype(int)].reshape(-1, groups, 2), self.fairness)
        rates = np.einsum("n,ncs->cs", decided, truth) / rows.weighed(truth).sum(axis=0)
        self.favoured_ = rates.argmax(axis=1)  # the group that f decides positively most often, by condition
        if groups == 2:
            self.pull_ = pull_of_two(self.favoured_)
        else:
            self.pull_ = np.zeros(self.means_.shape)
            alone = self._score(rows) + self._noise(rows)
            self.pull_ = pull_of_many(alone, self._weights(rows), self.lambda_fair, rows.weight)

    def _margin(self, rows: Rows) -> Array:
        margin = self._score(rows)
        return margin if len(self.means_.T) == 2 or not self.pull_.any() else margin + self._noise(rows)

    def _noise(self, rows: Rows) -> Array:
        """Breaks ties: where the multipliers are solved for, a whole group may lie on the line, as in `OracleLPP`."""
        return NOISE * (2.0 * chance_of_rows(Rows(rows.X, rows.logit, None), self.random_state) - 1.0)

    def _score(self, rows: Rows) -> Array:
        return bayes_margin(
            self._joint(rows)[:, :, 1].sum(axis=1),
            self._weights(rows),
            self.pull_,
            (rows.logit > 0).astype(float),
            lambda_fair=self.lambda_fair,
            lambda_ratio=self.lambda_ratio,
            threshold=self.threshold_,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class OracleBayes(GroupAware, BayesOptimal):
    """`BayesOptimal` with S known at predict, the paper's fairness-aware setting: η̄ is S itself."""

    def _joint(self, rows: Rows) -> Array:
        of_group = super()._joint(rows)[np.arange(len(rows.X)), rows.groups]  # P(s, y | x) of one's own s
        chance = of_group[:, 1] / np.maximum(of_group.sum(axis=1), 1e-12)
        assert self.groups_ is not None
        return known_membership(rows.groups, len(self.groups_), chance)
