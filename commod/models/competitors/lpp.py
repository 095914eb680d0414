"""LPP (Xian & Zhao 2024): the best fair decisions as a linear program, and its dual as the rule for new people."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, kron, vstack

from commod.models.adversary import Array
from commod.models.competitors.base import GroupAware, Rows, chance_of_rows
from commod.models.competitors.membership import ByMembership, Weighing, known_membership

# Ties are broken by noise of 1e-4 of the mean risk, which is one half: that of 1 − P(ŷ | x) over both ŷ.
NOISE = 0.5e-4


@dataclass(eq=False, repr=False, kw_only=True)
class _LinearProgram(Weighing):
    """The program and its dual."""

    alpha: float = 0.05

    def _learn(self, rows: Rows, y: Array) -> None:
        self._prepare(rows, y)
        self.shift_ = solve_program(self._gain(rows), self._weights(rows), self.alpha, rows.weight)

    def _gain(self, rows: Rows) -> Array:
        """By how much ŷ = 1 is less risky than ŷ = 0, 2f(x) − 1, with noise that breaks ties."""
        return 2.0 * rows.score - 1.0 + NOISE * (2.0 * chance_of_rows(rows, self.random_state) - 1.0)

    def _margin(self, rows: Rows) -> Array:
        if not self.shift_.any():
            return 2.0 * rows.score - 1.0  # no constraint binds: g = f, and noise must not decide a score of one half
        return self._gain(rows) + (self._weights(rows) * self.shift_).sum(axis=(1, 2))


def solve_program(gain: Array, density: Array, alpha: float, weight: Array | None = None) -> Array:
    """Dual of the fair program, shape (conditions, groups): ŷ = 1 where gain + Σ shift·density > 0.

    Over π(x) = P(ŷ = 1 | x) and one rate q per condition: max mean(gain·π) subject to |mean(density·π) − q| ≤ α/2 for
    every condition and group; `weight` is that of the means. With density of mean 1 the constraints on ŷ = 0 say the
    same.
    """
    conditions, groups = density.shape[1:]
    common = kron(csr_array(np.eye(conditions)), np.ones((groups, 1)))
    upper = hstack([_rates(density, weight), -common])
    costs = np.concatenate([_per_row(-gain, weight), np.zeros(conditions)])
    dual = _dual(costs, vstack([upper, -upper]), np.full(2 * conditions * groups, alpha / 2))
    above, below = dual.reshape(2, conditions, groups)
    return np.asarray(above - below)


def penalised_program(gain: Array, density: Array, price: float, weight: Array | None = None) -> Array:
    """Dual of the program in which unfairness has a price instead of a limit, shape (conditions, groups).

    Over π(x) and, for each condition, the ends of the band that holds the groups' rates: max mean(gain·π) − price·Σ
    (high − low) subject to low ≤ mean(density·π) ≤ high for every group. ŷ = 1 where gain − Σ multiplier·density > 0;
    under each condition the multipliers add up to 0, and the positive ones to at most the price.
    """
    conditions, groups = density.shape[1:]
    rates = _rates(density, weight)
    each = kron(csr_array(np.eye(conditions)), np.ones((groups, 1)))
    costs = np.concatenate([_per_row(-gain, weight), np.full(conditions, price), np.full(conditions, -price)])
    bounds = vstack([hstack([rates, -each, 0 * each]), hstack([-rates, 0 * each, each])])
    above, below = _dual(costs, bounds, np.zeros(2 * conditions * groups)).reshape(2, conditions, groups)
    return np.asarray(below - above)


def _per_row(values: Array, weight: Array | None) -> Array:
    """What each row adds to the mean of values (n,)."""
    return values / len(values) if weight is None else values * weight / weight.sum()


def _rates(density: Array, weight: Array | None) -> csr_array:
    """π to the groups' rates, (conditions · groups, n)."""
    flat = density.reshape(len(density), -1).T
    return csr_array(flat / len(density) if weight is None else flat * (weight / weight.sum()))


def _dual(costs: Array, matrix: Any, most: Array) -> Array:
    """Multipliers of matrix·v ≤ most at the least costs·v with v in [0, 1], none of them above 0."""
    for presolve in (True, False):  # presolve sometimes calls a feasible program infeasible
        result = linprog(
            costs, A_ub=matrix.tocsr(), b_ub=most, bounds=(0.0, 1.0), method="highs", options={"presolve": presolve}
        )
        if result.success:
            return np.asarray(result.ineqlin.marginals)
    raise ValueError(f"The linear program has no solution: {result.message}")


@dataclass(eq=False, repr=False, kw_only=True)
class LPP(ByMembership, _LinearProgram):
    """Fair decisions of least risk by linear programming, S not needed at predict (Xian & Zhao 2024).

    Each person's probable group P(S | x) shifts the threshold: for demographic parity ŷ = 1 where
    2f(x) − 1 + Σ_s shift_s·P(s|x)/P(s) > 0. At α = 1 no constraint binds and g = f.

    Parameters
    ----------
    alpha : float, default 0.05
        Largest difference of the groups' positive rates (per label, for equalized odds) allowed on the training rows.
    random_state : int
        Of the noise that breaks ties.

    """

    def _gain(self, rows: Rows) -> Array:
        return super()._gain(Rows(rows.X, rows.logit, None))  # the noise may not depend on S, which predict lacks


@dataclass(eq=False, repr=False, kw_only=True)
class OracleLPP(GroupAware, _LinearProgram):
    """LPP with S known at predict (Xian & Zhao 2024): a threshold for each group.

    For equalized odds both sides of the rule are linear in f's score, and at a small α the margin of a whole group can
    be 0: the noise, and with it the seed, then decides in that group.
    """

    def _joint(self, rows: Rows) -> Array:
        assert self.groups_ is not None
        return known_membership(rows.groups, len(self.groups_), rows.score)
