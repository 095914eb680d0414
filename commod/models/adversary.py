"""The adversary that reads S from one number, solved to its optimum instead of trained step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AdversaryFit", "Array", "ScoreAdversary", "cross_entropy", "question_weights", "questions", "sigmoid"]

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
    """The best response to one vector of scores: what it costs, and what its derivatives need.

    There is a row for each question that the adversary answers (`questions`).
    """

    loss: float  # min over φ of mean BCE + ridge/2·|φ|², summed over the questions by their weights
    phi: Array  # (questions, K) weights of the basis
    probability: Array  # (questions, n) of the answer yes, as the adversary sees it
    squashed: Array  # (n,) t = tanh(z / scale)
    basis: Array  # (K, n)
    hessian: Array  # (questions, K, K) of each loss in its φ


def questions(sensitive: Array, n_groups: int) -> Array:
    """What the adversary is asked of each row, as 0 and 1, (questions, n).

    Of two groups, whether a row is of the second. Of more, for each group whether a row is of it: one against the rest.
    """
    if n_groups == 2:
        return (sensitive == 1).astype(float)[None]
    return (sensitive == np.arange(n_groups)[:, None]).astype(float)


# A group whose share of the rows is this small counts half as much as a large one.
SMALL_SHARE = 0.02


def question_weights(shares: Array) -> Array:
    """How much each question counts in the adversary's loss, (questions,), from the groups' shares of the rows.

    Of two groups there is one question, which counts 1. Of more, the loss of a question can fall by no more than about
    π(1 − π), π being the group's share: by itself the loss would see the large groups and no others, and fairness is
    about the worst-off. Divided by 4π(1 − π), every group counts as one half of everybody would; a group of few people
    less, π/(π + SMALL_SHARE), so that twelve people do not steer the model.
    """
    if len(shares) == 2:
        return np.ones(1)
    spread = 4 * shares * (1 - shares)
    there = spread > 0
    return np.where(there, shares / (shares + SMALL_SHARE) / np.where(there, spread, 1.0), 0.0)


class ScoreAdversary:
    """Logistic regression of S on a fixed smooth basis of the score z.

    The basis is a constant and `n_centers` Gaussian bumps, equally spaced in t = tanh(z / scale) ∈ (−1, 1): dense
    around z = 0, where decisions are made, and bounded for any score. The loss, mean cross-entropy plus a small
    ridge, is convex in the weights, so a few Newton steps find its minimum; by the envelope theorem the gradient of
    that minimum in z is the partial derivative at the optimum. More than two groups are one such regression each, one
    group against the rest, on the same basis (`questions`), their losses added with `question_weights`.

    Each Newton step is damped by backtracking on the loss: undamped, it diverges for large scores and poisons every
    warm start that follows.

    Arrays are laid out (K, n), basis functions first: numpy's inner loops then run over the rows.

    Parameters
    ----------
    sensitive : (n,)
        Numbers of the groups; −1 for a row whose group is not known, whose weight must be 0.
    n_groups : int
    weight : (n,), optional
        How much each row counts.
    """

    def __init__(
        self,
        sensitive: Array,
        n_groups: int = 2,
        weight: Array | None = None,
        *,
        n_centers: int = 9,
        scale: float = 3.0,
        ridge: float = 1e-3,
        tol: float = 1e-7,
    ) -> None:
        self.truth = questions(sensitive, n_groups)
        self.weight = weight
        self.part = None if weight is None else weight / weight.sum()
        self.n_centers = n_centers
        self.width = 2.0 / (n_centers - 1)  # distance between centres, and width of the bumps, in t
        self.scale = scale
        self.ridge = ridge
        self.tol = tol
        rates = self.truth.mean(axis=1) if self.part is None else self.truth @ self.part
        self.counts_for = question_weights(np.array([1 - rates[0], rates[0]]) if n_groups == 2 else rates)
        clipped = np.clip(rates, 1e-6, 1 - 1e-6)
        self.start = np.zeros((len(rates), n_centers + 1))
        self.start[:, 0] = np.log(clipped / (1 - clipped))

    def fit(self, z: Array, start: Array | None = None) -> AdversaryFit:
        """Solve for the best adversary against the scores `z`, warm-started from `start`."""
        t = np.tanh(z / self.scale)
        b = self._basis((t + 1.0) / self.width)
        products = self._products(b)
        phi = self.start if start is None else start
        loss, p = self._loss(b, phi)
        ridge = self.ridge * np.eye(len(b))
        for _ in range(50):
            hessian = self._moments(b, products, self._each(p * (1 - p))) + ridge
            gradient = self._each(p - self.truth) @ b.T + self.ridge * phi
            step: Array = -np.linalg.solve(hessian, gradient[..., None])[..., 0].astype(np.float64)
            slope = _dots(gradient, step)
            solved = -slope < self.tol
            size = np.ones(len(phi))
            while True:
                trial, trial_p = self._loss(b, phi + size[:, None] * step)
                lower = (trial <= loss + 1e-4 * size * slope) | solved | (size < 1e-8)
                if lower.all():
                    break
                size = np.where(lower, size, size / 2)
            phi, loss, p = phi + size[:, None] * step, trial, trial_p
            if solved.all():
                break  # convergence is quadratic: this step has left the loss within tol² of its minimum
        return AdversaryFit(float(self.counts_for @ loss), phi, p, t, b, hessian)

    def guess(self, fit: AdversaryFit, z: Array) -> Array:
        """h(z) = φ·b(z), the logit of the answer yes to each question, of any scores."""
        return fit.phi @ self._basis((np.tanh(z / self.scale) + 1.0) / self.width)

    def slope(self, fit: AdversaryFit) -> Array:
        """dh/dz of the adversary's logits h(z) = φ·b(z), shape (questions, n)."""
        by_t = (fit.phi[:, 1:] / -self.width) @ self._lever(fit)[0]
        return by_t * (1 - fit.squashed**2) / self.scale

    def derivatives(self, fit: AdversaryFit) -> tuple[Array, Array, Array]:
        """Slope and curvature of h in z, shape (questions, n), and the slope of each basis function, (K, n)."""
        t, weights = fit.squashed, fit.phi[:, 1:]
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

    def _each(self, values: Array) -> Array:
        """What each row adds to the mean of values (questions, n)."""
        return values / values.shape[-1] if self.part is None else values * self.part

    def _products(self, b: Array) -> Array | None:
        """All products of two basis functions, (K(K + 1)/2, n), where several questions share them."""
        if len(self.truth) == 1:
            return None
        first, second = np.triu_indices(len(b))
        return b[first] * b[second]

    def _moments(self, b: Array, products: Array | None, weights: Array) -> Array:
        """Σ over the rows of weight·b·bᵀ for each question, (questions, K, K)."""
        if products is None:
            return ((b * weights[0]) @ b.T)[None]
        upper = np.triu_indices(len(b))
        moments = np.empty((len(weights), len(b), len(b)))
        moments[:, upper[0], upper[1]] = moments[:, upper[1], upper[0]] = weights @ products.T
        return moments

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

    def _loss(self, b: Array, phi: Array) -> tuple[Array, Array]:
        loss, p = cross_entropy(phi @ b, self.truth, self.weight)
        return loss + 0.5 * self.ridge * _dots(phi, phi), p


def _dots(a: Array, b: Array) -> Array:
    """a·b row by row."""
    return np.matmul(a[:, None], b[:, :, None])[:, 0, 0]
