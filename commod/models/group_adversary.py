"""The adversary of more than two groups: sought on bins of the score, and exact in the end."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from commod.models.adversary import AdversaryFit, Array, Bases, ScoreAdversary, log_losses, sigmoid

# Of t in (−1, 1): a sixteenth of the width of a bump, so that sums over bins are those over rows to some 1e-4.
N_BINS = 128
# No vector of basis functions is longer: 1 + Σ exp(−(u − j)²) < 1 + √π + 0.01.
_LONGEST = 1.67


@dataclass(frozen=True)
class GroupFit(AdversaryFit):
    """The best response, and in which bin of which group each row lies."""

    place: NDArray[np.intp]  # (n,) group · N_BINS + bin


class GroupAdversary(ScoreAdversary):
    """`ScoreAdversary` for several questions at once, one group against the rest each.

    The basis changes little within a bin of the score. Sums over bins serve where a Newton step is only steered: for
    the way to the optimum, and for the Hessians. The gradient over the rows says where it ends, so that bins cost no
    digit. How long six groups take beside two is measured by ``python -m tests.benchmarks.fit``.
    """

    def __init__(self, sensitive: Array, n_groups: int, weight: Array | None = None) -> None:
        super().__init__(sensitive, n_groups, weight)
        self._first_bin = N_BINS * np.maximum(sensitive, 0).astype(np.intp)  # rows of unknown group have no weight
        self._counts = np.full(len(sensitive), 1 / len(sensitive)) if self.parts is None else self.parts
        self._yes = self.truth * self._counts
        self._bin_t = np.linspace(-1, 1, 2 * N_BINS + 1)[1::2]
        self._bin_basis = self._basis((self._bin_t + 1.0) / self.width)

    def fit(self, z: Array, start: Array | None = None) -> GroupFit:
        """Solve for the best adversary against the scores `z`, warm-started from `start`."""
        t = np.tanh(z / self.scale)
        bases = self._bases(t)
        place = self._first_bin + np.minimum(((t + 1.0) * (N_BINS / 2)).astype(np.intp), N_BINS - 1)
        yes: Array = np.bincount(place, self._counts, len(self.truth) * N_BINS).reshape(-1, N_BINS).astype(np.float64)
        bins = yes.sum(axis=0)
        of_bins = [(slice(0, N_BINS), self._bin_basis)]
        phi, _ = self._minimise(self.start if start is None else start, of_bins, bins, yes, bins)
        phi, hessian = self._minimise(phi, bases, self._counts, self._yes, bins)
        logits = np.empty_like(self.truth)
        for rows, b in bases:
            logits[:, rows] = phi @ b
        losses, p = log_losses(logits, self.truth)
        means = losses @ self._counts + 0.5 * self.ridge * (phi**2).sum(axis=1)
        return GroupFit(float(self.counts_for @ means), phi, p, t, bases, hessian, place)

    def _minimise(self, phi: Array, bases: Bases, counts: Array, yes: Array, bins: Array) -> tuple[Array, Array]:
        """Weights φ of least loss over rows or bins, and the Hessians there.

        The steps need no search: the third derivative is at most |b| times the second, and for such functions a Newton
        step that is shortened by ln(1 + s)/s, s its length times |b|, always leads down.
        """
        for _ in range(50):
            gradient = np.zeros_like(phi)
            for rows, b in bases:
                gradient += (counts[rows] * sigmoid(phi @ b) - yes[:, rows]) @ b.T
            gradient += self.ridge * phi
            hessian = self._hessian(phi, bins)
            step = -np.linalg.solve(hessian, gradient[..., None])[..., 0]
            reach = np.maximum(_LONGEST * np.linalg.norm(step, axis=1, keepdims=True), 1e-12)
            phi = phi + np.log1p(reach) / reach * step
            if np.max(-(gradient * step).sum(axis=1)) < self.tol:
                break  # convergence is quadratic: this step has left the loss within tol² of its minimum
        return phi, hessian

    def _hessian(self, phi: Array, bins: Array) -> Array:
        """Of each question's loss in its φ, (questions, K, K)."""
        p = sigmoid(phi @ self._bin_basis)
        weighted = self._bin_basis * (bins * p * (1 - p))[:, None]
        return weighted @ self._bin_basis.T + self.ridge * np.eye(len(self._bin_basis))

    def cross(self, fit: AdversaryFit, A: Iterable[tuple[slice, np.ndarray]], weight: Array | None) -> np.ndarray:
        """d²/dφdθ of each question's summed loss where z = θA, (questions, K, D), over bins.

        What a row adds to it is a function of its score, but for its A, which is given for some rows at a time: of
        those, sums by bin and group are needed.
        """
        assert isinstance(fit, GroupFit)
        sums: Any = 0
        for rows, part in A:
            n = part.shape[1]
            counts = np.ones(n, dtype=part.dtype) if weight is None else weight[rows].astype(part.dtype)
            shape = (len(self.truth) * N_BINS, n)
            sums = sums + csc_array((counts, fit.place[rows], np.arange(n + 1)), shape=shape) @ part.T
        by_group = sums.reshape(len(self.truth), N_BINS, -1)
        slope, _, bin_slope = self.derivatives(fit.phi, self._bin_t, self._bin_basis)
        p = sigmoid(fit.phi @ self._bin_basis)
        of_all = bin_slope * p[:, None] + (p * (1 - p) * slope)[:, None] * self._bin_basis
        kind = by_group.dtype
        crossed: np.ndarray = of_all.astype(kind) @ by_group.sum(axis=0) - bin_slope.astype(kind) @ by_group
        return crossed
