"""The groups' scores drawn together (Jiang et al. 2020): moved to one distribution, or by a penalised regression."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from commod.models.adversary import Array, cross_entropy, sigmoid
from commod.models.base_models import logits_of_probabilities
from commod.models.competitors.base import GroupAwareScored, Rows, Scored, chance_of_rows
from commod.models.threshold import logit_of_threshold


@dataclass(eq=False, repr=False, kw_only=True)
class Wass1PostProcessing(GroupAwareScored):
    """Move each group's scores along their quantiles to the Wasserstein-1 barycentre of the groups.

    The barycentre minimises Σ_s P(s)·W₁(scores of s, barycentre), the mean move of a score; in one dimension it is the
    weighted median of the groups' quantile functions at each rank. With two groups that is the larger group's
    distribution: each person in the smaller one gets the score of the same rank in the larger one. Groups of equal size
    meet halfway. All rows count alike in the quantiles.

    Parameters
    ----------
    strength : float, default 1.0
        Share of the way to the barycentre that every score goes. 0 is f; at 1 the scores' distributions are equal, and
        with them the decisions at any threshold.
    random_state : int
        Seed for spreading people with equal scores over their ranks.
    """

    strength: float = 1.0

    def _learn(self, rows: Rows, y: Array) -> None:
        self.sizes_ = np.bincount(rows.groups)
        self.quantiles_ = [np.sort(rows.score[rows.groups == s]) for s in range(len(self.sizes_))]

    def _barycentre(self, rank: Array) -> Array:
        """Quantile function of the barycentre: the median of the groups' quantiles, weighted by size."""
        values = np.array([np.quantile(scores, rank) for scores in self.quantiles_])  # (groups, ranks)
        order = values.argsort(axis=0)
        ordered, below = np.take_along_axis(values, order, axis=0), self.sizes_[order].cumsum(axis=0)
        # The first value with at least half of the people at or below it; midway to the next if it is exactly half.
        ends = [(2 * below > people).argmax(axis=0) for people in (self.sizes_.sum() - 1, self.sizes_.sum())]
        low, high = (np.take_along_axis(ordered, end[None], axis=0)[0] for end in ends)
        return np.where(ends[0] == ends[1], low, 0.5 * (low + high))

    def _margin(self, rows: Rows) -> Array:
        score, moved = rows.score, rows.score.copy()
        lots = chance_of_rows(rows, self.random_state)
        for s, known in enumerate(self.quantiles_):
            here = rows.groups == s
            # Rank on the scale of np.quantile; equal scores are spread over theirs by lot.
            left, right = (np.searchsorted(known, score[here], side=side) for side in ("left", "right"))
            between = np.interp(score[here], known, np.arange(len(known)))
            place = np.where(right > left, left + lots[here] * (right - left - 1), between)
            rank = np.clip(place / max(len(known) - 1, 1), 0.0, 1.0)
            # Beyond the training scores, the move is that of the outermost one.
            moved[here] += self._barycentre(rank) - np.quantile(known, rank)
        moved = np.clip(moved, 0.0, 1.0)
        return logits_of_probabilities(score + self.strength * (moved - score), len(score), "scores")


# β passed on the way up from a plain logistic regression: the penalty is not convex, and what is followed leads to one
# minimum whatever is asked for.
SCHEDULE = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
# |t| is √(t² + this²) less this, so that the loss has a derivative where two groups' scores meet.
ROUNDING = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class Wass1LogisticRegression(Scored):
    """A logistic regression of its own, trained to have scores of one distribution in all groups.

    Loss: mean cross-entropy + β·Σ_s P(s)·W₁(scores of s, barycentre) + ‖w‖²/2n, the last as scikit-learn's default. The
    barycentre is the median of the groups' quantiles at each rank, so that the derivative moves each score towards it.
    L-BFGS on all rows, from the plain regression up to β. f only sets the cut-off (a budget counts the regression's own
    decisions); changes are counted against f, and a logistic regression f is the model at β = 0.

    The publication takes stochastic steps and computes the coupling of the two distributions again at each; that its
    coupling is also by rank, we know from a description, not from its text.

    Parameters
    ----------
    beta : float, default 10.0
        Weight of the penalty.
    max_iter : int, default 100
        Steps of L-BFGS at each value of β passed.
    """

    beta: float = 10.0
    max_iter: int = 100

    def _learn(self, rows: Rows, y: Array) -> None:
        weight = np.ones(len(y)) if rows.weight is None else rows.weight
        X = np.column_stack([rows.X, np.ones(len(y))])
        parts = weight / weight.sum()
        ridge = np.append(np.full(X.shape[1] - 1, 1.0 / weight.sum()), 0.0)

        def loss(theta: Array, beta: float) -> tuple[float, Array]:
            value, p = cross_entropy(X @ theta, y, parts)
            apart, slope = distance_to_barycentre(p, rows.groups, weight)
            gradient = X.T @ (parts * (p - y) + beta * slope * p * (1 - p)) + ridge * theta
            return float(value + beta * apart + 0.5 * (ridge * theta) @ theta), gradient

        theta = np.zeros(X.shape[1])
        known = rows.memory.of("Wass-1", X, y, rows.groups, weight, self.max_iter)
        self.n_iter_ = 0
        for value in [0.0, *(value for value in SCHEDULE if value < self.beta), self.beta]:
            if value not in known:  # every β passes the same values
                options = {"maxiter": self.max_iter, "ftol": 1e-12, "gtol": 1e-8}
                found = minimize(loss, theta, args=(value,), jac=True, method="L-BFGS-B", options=options)
                known[value] = found.x, self.n_iter_ + int(found.nit)
            theta, self.n_iter_ = known[value]
        self.coef_, self.intercept_ = theta[:-1], float(theta[-1])
        own = X @ theta
        self.penalty_ = distance_to_barycentre(sigmoid(own), rows.groups, weight)[0]
        self.own_line_ = logit_of_threshold(self.threshold, self.base_model_, own, y, rows.weight)

    def _margin(self, rows: Rows) -> Array:
        return rows.X @ self.coef_ + self.intercept_ - self.own_line_


def distance_to_barycentre(
    scores: Array, sensitive: NDArray[np.int64], weight: Array, rounding: float = ROUNDING
) -> tuple[float, Array]:
    """Σ_s P(s)·W₁(scores of s, their barycentre) and its derivative in the scores, (n,).

    W₁ of one number is the mean distance of the quantile functions over all ranks. They are steps, so that the ranks
    fall into intervals in which each group has one score; there the barycentre has the score of the median group.
    """
    groups = np.unique(sensitive)
    size = np.array([weight[sensitive == s].sum() for s in groups])
    share = size / size.sum()
    orders = [np.flatnonzero(sensitive == s)[np.argsort(scores[sensitive == s], kind="stable")] for s in groups]
    ends = [np.cumsum(weight[order]) / total for order, total in zip(orders, size, strict=True)]
    rank = np.unique(np.concatenate([np.append(end[:-1], 1.0) for end in ends]))
    width = np.diff(rank, prepend=0.0)
    middle = rank - 0.5 * width
    who = np.array(
        [
            order[np.minimum(np.searchsorted(end, middle), len(order) - 1)]
            for order, end in zip(orders, ends, strict=True)
        ]
    )  # (groups, intervals): the row whose score is the group's quantile there
    value = scores[who]
    places = value.argsort(axis=0, kind="stable")
    below = share[places].cumsum(axis=0)
    median = np.take_along_axis(places, (below >= 0.5 - 1e-12).argmax(axis=0)[None], axis=0)
    away = value - np.take_along_axis(value, median, axis=0)
    rounded = np.sqrt(away**2 + rounding**2)
    slope = share[:, None] * width * np.divide(away, rounded, out=np.zeros_like(away), where=rounded > 0)
    derivative = np.bincount(who.ravel(), slope.ravel(), len(scores)).astype(float)
    centre = np.take_along_axis(who, median, axis=0)[0]
    derivative -= np.bincount(centre, slope.sum(axis=0), len(scores))  # the barycentre moves with its own scores
    return float((share @ (rounded - rounding)) @ width), derivative
