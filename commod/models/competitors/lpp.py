"""LPP (Xian & Zhao 2024): the best fair decisions as a linear program, and its dual as the rule for new people."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, kron, vstack

from commod.models.adversary import Array
from commod.models.base_scores import BaseModel
from commod.models.competitors.base import Competitor, GroupAware, Rows, chance_of_rows
from commod.models.competitors.membership import Membership, densities, fitted_membership, known_membership
from commod.models.validation import check_weight

__all__ = ["LPP", "OracleLPP"]

# Ties are broken by noise of 1e-4 of the mean risk, which is one half: that of 1 − P(ŷ | x) over both ŷ.
NOISE = 0.5e-4


class _LinearProgram(Competitor):
    """The program and its dual; a subclass says what is known of S."""

    alpha: float

    def _joint(self, rows: Rows) -> Array:
        """P(S, Y | x), shape (n, 2, 2)."""
        raise NotImplementedError

    def _prepare(self, rows: Rows, y: Array) -> None:
        """What `_joint` needs."""

    def _learn(self, rows: Rows, y: Array) -> None:
        alpha = check_weight("alpha", self.alpha)
        self._prepare(rows, y)
        density = densities(self._joint(rows), self.fairness)
        self.means_ = density.mean(axis=0)  # (conditions, groups), frozen for predict
        self.shift_ = solve_program(self._gain(rows), density / self.means_, alpha)

    def _gain(self, rows: Rows) -> Array:
        """How much less is risked by ŷ = 1 than by ŷ = 0, which is 2f(x) − 1, with noise that breaks ties."""
        return 2.0 * rows.score - 1.0 + NOISE * (2.0 * chance_of_rows(rows, self.random_state) - 1.0)

    def _margin(self, rows: Rows) -> Array:
        if not self.shift_.any():
            return 2.0 * rows.score - 1.0  # no constraint binds: g = f, and no lot decides a score of one half
        density = densities(self._joint(rows), self.fairness) / self.means_
        return self._gain(rows) + (density * self.shift_).sum(axis=(1, 2))


def solve_program(gain: Array, density: Array, alpha: float) -> Array:
    """Dual of the fair program, shape (conditions, groups).

    Over π(x) = P(ŷ = 1 | x) and one rate q per condition: max mean(gain·π) subject to |mean(density·π) − q| ≤ α/2 for
    every condition and group. Two classes let the constraints on ŷ = 0 go: with density of mean 1 they say the same.
    ŷ = 1 where gain + Σ shift·density > 0.

    Parameters
    ----------
    gain : (n,)
    density : (n, conditions, groups)
    alpha : float
    """
    n, conditions, groups = density.shape
    rates = csr_array(density.reshape(n, -1).T / n)
    common = kron(csr_array(np.eye(conditions)), np.ones((groups, 1)))
    upper = hstack([rates, -common])
    for presolve in (True, False):  # its presolve now and then takes a program for infeasible that is not
        result = linprog(
            np.concatenate([-gain / n, np.zeros(conditions)]),
            A_ub=vstack([upper, -upper]).tocsr(),
            b_ub=np.full(2 * conditions * groups, alpha / 2),
            bounds=(0.0, 1.0),
            method="highs",
            options={"presolve": presolve},
        )
        if result.success:
            break
    else:
        raise ValueError(f"The linear program of LPP has no solution: {result.message}")
    above, below = result.ineqlin.marginals.reshape(2, conditions, groups)
    return np.asarray(above - below)


class LPP(_LinearProgram):
    """Fair decisions of least risk by linear programming, S not needed at predict (Xian & Zhao 2024).

    Each person's probable group P(S | x) shifts the threshold: for demographic parity ŷ = 1 where
    2f(x) − 1 + Σ_s shift_s·P(s|x)/P(s) > 0. At α = 1 no constraint binds and g = f.

    Parameters
    ----------
    base_model, threshold : f and its line in any form that `Commod` takes
    alpha : float, default 0.05
        Largest difference of the groups' positive rates (per label, for equalized odds) allowed on the training rows.
    fairness : {"demographic_parity", "equalized_odds"}
    membership : Membership, optional
        Model of P(S, Y | x). A fitted one is used as it is; otherwise one is learnt on the training rows.
    random_state : int
        Of the noise that breaks ties.

    Attributes
    ----------
    shift_ : (conditions, groups)
        The dual variables.
    """

    def __init__(
        self,
        base_model: BaseModel = None,
        *,
        threshold: float | str | None = None,
        alpha: float = 0.05,
        fairness: str = "demographic_parity",
        membership: Membership | None = None,
        random_state: int = 0,
    ) -> None:
        self.base_model = base_model
        self.threshold = threshold
        self.alpha = alpha
        self.fairness = fairness
        self.membership = membership
        self.random_state = random_state

    def _prepare(self, rows: Rows, y: Array) -> None:
        assert rows.sensitive is not None
        self.membership_ = fitted_membership(self.membership, rows.X, y, rows.sensitive)

    def _gain(self, rows: Rows) -> Array:
        return super()._gain(Rows(rows.X, rows.logit, None))  # the noise may not depend on S, which predict lacks

    def _joint(self, rows: Rows) -> Array:
        return self.membership_.joint(rows.X)


class OracleLPP(GroupAware, _LinearProgram):
    """LPP with S known at predict (Xian & Zhao 2024): a threshold for each group.

    For equalized odds both sides of the rule are linear in f's score, and at a small α the margin of a whole group can
    be 0: the noise, and with it the seed, then decides in that group.

    Parameters
    ----------
    base_model, threshold, alpha, fairness, random_state : as for `LPP`
    sensitive_column : str, optional
        Column of X that holds S, instead of passing it to fit and predict.
    """

    def __init__(
        self,
        base_model: BaseModel = None,
        *,
        threshold: float | str | None = None,
        alpha: float = 0.05,
        fairness: str = "demographic_parity",
        sensitive_column: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.base_model = base_model
        self.threshold = threshold
        self.alpha = alpha
        self.fairness = fairness
        self.sensitive_column = sensitive_column
        self.random_state = random_state

    def _joint(self, rows: Rows) -> Array:
        assert rows.sensitive is not None
        return known_membership(rows.sensitive, rows.score)
