"""The adversary that reads S from one number, solved to its optimum instead of trained step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AdversaryFit", "Array", "ScoreAdversary", "cross_entropy", "sigmoid"]

Array = NDArray[np.float64]


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^-z) without overflow: tanh saturates instead."""
    return 0.5 * np.tanh(0.5 * z) + 0.5


def cross_entropy(z: Array, y: Array, weight: Array | None = None) -> tuple[Any, Array]:
    """Mean cross-entropy of labels y against logits z, and the probabilities σ(z), from one exponential.

    The mean is over the last axis; with a `weight` (n,), which need not add up to anything, a weighted one.
    """
    e = np.exp(-np.abs(z))
    loss = np.maximum(z, 0.0) - y * z
    loss += np.log(1.0 + e)
    mean = loss.mean(axis=-1) if weight is None else loss @ (weight / weight.sum())
    return mean, np.where(z >= 0, 1.0, e) / (1.0 + e)


@dataclass(frozen=True)
class AdversaryFit:
    """The best response to one vector of scores: what it costs, and what its derivatives need."""

    loss: float  # min over φ of mean BCE + ridge/2·|φ|²
    phi: Array  # (K,) weights of the basis
    probability: Array  # (n,) P(S = 1 | z) as the adversary sees it
    squashed: Array  # (n,) t = tanh(z / scale)
    basis: Array  # (K, n)
    hessian: Array  # (K, K) of the loss in φ


class ScoreAdversary:
    """Logistic regression of S on a fixed smooth basis of the score z.

    The basis is a constant and `n_centers` Gaussian bumps, equally spaced in t = tanh(z / scale) ∈ (−1, 1): dense
    around z = 0, where decisions are made, and bounded for any score. The loss, mean cross-entropy plus a small
    ridge, is convex in the weights, so a few Newton steps find its minimum; by the envelope theorem the gradient of
    that minimum in z is the partial derivative at the optimum.

    Each Newton step is damped by backtracking on the loss: undamped, it diverges for large scores and poisons every
    warm start that follows.

    Arrays are laid out (K, n), basis functions first: numpy's inner loops then run over the rows.
    """

    def __init__(
        self, sensitive: Array, *, n_centers: int = 9, scale: float = 3.0, ridge: float = 1e-3, tol: float = 1e-7
    ) -> None:
        self.sensitive = sensitive
        self.n_centers = n_centers
        self.width = 2.0 / (n_centers - 1)  # distance between centres, and width of the bumps, in t
        self.scale = scale
        self.ridge = ridge
        self.tol = tol
        rate = float(np.clip(sensitive.mean(), 1e-6, 1 - 1e-6))
        self.start = np.zeros(n_centers + 1)
        self.start[0] = np.log(rate / (1 - rate))

    def fit(self, z: Array, start: Array | None = None) -> AdversaryFit:
        """Solve for the best adversary against the scores `z`, warm-started from `start`."""
        s, n = self.sensitive, len(z)
        t = np.tanh(z / self.scale)
        b = self._basis((t + 1.0) / self.width)
        phi = self.start if start is None else start
        loss, p = self._loss(b, phi)
        ridge = self.ridge * np.eye(len(b))
        for _ in range(50):
            hessian = (b * (p * (1 - p) / n)) @ b.T + ridge
            gradient = b @ ((p - s) / n) + self.ridge * phi
            step = -np.linalg.solve(hessian, gradient)
            slope = float(gradient @ step)
            size = 1.0
            while True:
                trial, trial_p = self._loss(b, phi + size * step)
                if trial <= loss + 1e-4 * size * slope or -slope < self.tol or size < 1e-8:
                    break
                size /= 2
            phi, loss, p = phi + size * step, trial, trial_p
            if -slope < self.tol:
                break  # convergence is quadratic: this step has left the loss within tol² of its minimum
        return AdversaryFit(loss, phi, p, t, b, hessian)

    def guess(self, fit: AdversaryFit, z: Array) -> Array:
        """h(z) = φ·b(z), the logit of P(S = 1 | z), of any scores."""
        return fit.phi @ self._basis((np.tanh(z / self.scale) + 1.0) / self.width)

    def slope(self, fit: AdversaryFit) -> Array:
        """dh/dz of the adversary's logit h(z) = φ·b(z), shape (n,)."""
        by_t = (fit.phi[1:] / -self.width) @ self._lever(fit)[0]
        return by_t * (1 - fit.squashed**2) / self.scale

    def derivatives(self, fit: AdversaryFit) -> tuple[Array, Array, Array]:
        """Slope and curvature of h in z, shape (n,), and the slope of each basis function, (K, n)."""
        t, weights = fit.squashed, fit.phi[1:]
        dt = (1 - t * t) / self.scale
        lever, offset = self._lever(fit)
        slope_t = (weights / -self.width) @ lever
        basis_slope = np.zeros_like(fit.basis)
        np.multiply(lever, dt / -self.width, out=basis_slope[1:])
        lever *= offset
        lever -= fit.basis[1:]
        curvature_t = (weights / self.width**2) @ lever
        slope = slope_t * dt
        return slope, curvature_t * dt * dt - slope * (2.0 / self.scale) * t, basis_slope

    def _basis(self, position: Array) -> Array:
        """A row of ones, then exp(−(u − j)²/2) for j = 0 … n_centers − 1, where u is the position in widths.

        Each bump is the last one times e^u·e^(½ − j), so two exponentials serve for all; u ≤ n_centers − 1 keeps
        the products far from overflow.
        """
        b = np.empty((self.n_centers + 1, len(position)))
        b[0] = 1.0
        np.exp(-0.5 * position * position, out=b[1])
        growth = np.exp(position - 0.5)
        for j in range(1, self.n_centers):
            np.multiply(b[j], growth, out=b[j + 1])
            growth *= np.exp(-1.0)
        return b

    def _lever(self, fit: AdversaryFit) -> tuple[Array, Array]:
        """Each bump times its offset from the centre (in widths), and the offsets, both (K − 1, n)."""
        offset = (fit.squashed + 1.0) / self.width - np.arange(self.n_centers)[:, None]
        return fit.basis[1:] * offset, offset

    def _loss(self, b: Array, phi: Array) -> tuple[float, Array]:
        loss, p = cross_entropy(phi @ b, self.sensitive)
        return loss + 0.5 * self.ridge * float(phi @ phi), p
