"""The adversary that reads S from one number, solved to its optimum instead of trained step by step."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from commod.datasets.blocks import WHOLE, blocks

Array = NDArray[np.float64]


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^-z) without overflow: tanh saturates instead."""
    return 0.5 * np.tanh(0.5 * z) + 0.5


def log_losses(z: Array, y: Array) -> tuple[Array, Array]:
    """Cross-entropy of each label y against its logit z, and the probabilities, from one exponential."""
    e, probability = _odds(z)
    loss = np.maximum(z, 0.0)
    loss -= y * z
    loss += np.log(e, out=e)
    return loss, probability


def _odds(z: Array) -> tuple[Array, Array]:
    """1 + e^-|z|, and the probabilities σ(z)."""
    e = np.abs(z)
    np.exp(np.negative(e, out=e), out=e)
    probability = np.where(z >= 0, 1.0, e)
    e += 1.0
    probability /= e
    return e, probability


def cross_entropy(z: Array, y: Array, parts: Array | None = None) -> tuple[float, Array]:
    """Mean cross-entropy, weighted by `parts` (n,), which add up to 1; and the probabilities."""
    loss, probability = log_losses(z, y)
    return float(loss.mean() if parts is None else loss @ parts), probability


# Some of the rows, and the basis functions of their scores (K, rows).
Basis = tuple[slice, "Array"]
# The same for all rows: a single block is kept; if there are more, each is computed again when it is needed.
Bases = Iterable[Basis]


@dataclass(frozen=True)
class AdversaryFit:
    """The best response to one vector of scores, with a row for each of the adversary's `questions`."""

    loss: float  # min over φ of mean BCE + ridge/2·|φ|², summed over the questions by their weights
    phi: Array  # (questions, K) weights of the basis
    probability: Array  # (questions, n) of the answer yes, as the adversary sees it
    squashed: Array  # (n,) t = tanh(z / scale)
    bases: Bases
    hessian: Array  # (questions, K, K) of each loss in its φ


def questions(sensitive: Array, n_groups: int) -> Array:
    """The answers the adversary has to guess, 0 or 1, (questions, n): for two groups the second, for more each."""
    if n_groups == 2:
        return (sensitive == 1).astype(float)[None]
    return (sensitive == np.arange(n_groups)[:, None]).astype(float)


# A Newton step that moves no logit further than this always leads down: the third derivative of the loss is at most so
# much times its second, so a step of length s lowers it by at least 1 − (e^s − s − 1)/s² of what its slope promises.
SHORT = 1.75
# A group of this many people counts half as much as a large one.
SMALL_GROUP = 200


def question_weights(people: Array) -> Array:
    """How much each question counts in the adversary's loss, (questions,), from the number of people in each group.

    With more than two groups, what a score reveals about a group with share π is about π(1 − π) times the distance of
    its scores from the others'. The loss would see only large groups, but fairness is about the worst-off. So each
    question is divided by 4π(1 − π), as if its group were half of the people, and by 2, since two such groups would be
    asked about twice. A group of n people counts n/(n + SMALL_GROUP), so that twelve do not steer the model.
    """
    if len(people) == 2:
        return np.ones(1)
    shares = people / people.sum()
    spread = 8 * shares * (1 - shares)
    there = spread > 0
    return np.where(there, people / (people + SMALL_GROUP) / np.where(there, spread, 1.0), 0.0)


class ScoreAdversary:
    """Logistic regression of S on a fixed smooth basis of the score z.

    The basis is a constant and `n_centers` Gaussian bumps, equally spaced in t = tanh(z / scale) ∈ (−1, 1): dense
    around z = 0, where decisions are made, and bounded for any score. The loss, mean cross-entropy plus a small ridge,
    is convex in the weights, so a few Newton steps find its minimum; by the envelope theorem the gradient of that
    minimum in z is the partial derivative at the optimum. Long Newton steps are damped by backtracking: undamped, they
    diverge for large scores and spoil every later warm start. More than two groups: `GroupAdversary`.

    Arrays are laid out (K, n), basis functions first: numpy's inner loops then run over the rows. Rows of unknown group
    (−1 in `sensitive`) must have the weight 0. `weight`: how many people each row stands for.
    """

    n_centers, scale, ridge, tol = 9, 3.0, 1e-3, 1e-7
    width = 2.0 / (n_centers - 1)  # distance between centres, and width of the bumps, in t

    def __init__(self, sensitive: Array, n_groups: int = 2, weight: Array | None = None) -> None:
        self.truth = questions(sensitive, n_groups)
        self.parts = None if weight is None else weight / weight.sum()
        rates = self.truth.mean(axis=1) if self.parts is None else self.truth @ self.parts
        people = np.ones(2) if n_groups == 2 else self.truth @ (np.ones(len(sensitive)) if weight is None else weight)
        self.counts_for = question_weights(people)
        clipped = np.clip(rates, 1e-6, 1 - 1e-6)
        self.start = np.zeros((len(rates), self.n_centers + 1))
        self.start[:, 0] = np.log(clipped / (1 - clipped))
        alike, _ = log_losses(np.repeat(self.start[:, :1], len(sensitive), axis=1), self.truth)
        means = alike.mean(axis=1) if self.parts is None else alike @ self.parts
        # The loss of the best answer that is the same for all scores.
        self.ceiling = float(self.counts_for @ (means + 0.5 * self.ridge * self.start[:, 0] ** 2))

    def fit(self, z: Array, start: Array | None = None) -> AdversaryFit:
        t = np.tanh(z / self.scale)
        bases = self._bases(t)
        (truth,), (phi,) = self.truth, self.start if start is None else start
        ridge = self.ridge * np.eye(len(phi))
        logits = self._logits(bases, phi)
        for _ in range(50):
            p = _odds(logits)[1]
            spread = 1 - p
            spread *= p
            spread, residual = self._each(spread), self._each(p - truth)
            hessian, gradient = np.zeros(ridge.shape), np.zeros(phi.shape)
            for rows, b in bases:
                hessian += (b * spread[rows]) @ b.T
                gradient += b @ residual[rows]
            hessian += ridge
            gradient += self.ridge * phi
            step: Array = -np.linalg.solve(hessian, gradient).astype(np.float64, copy=False)
            slope = float(gradient @ step)
            is_last = -slope < self.tol  # convergence is quadratic: it leaves the loss within tol² of its minimum
            size = 1.0
            if not is_last and np.abs(self._logits(bases, step)).max() > SHORT:
                loss = self._loss(logits, phi)[0]
                while size >= 1e-8:
                    trial = phi + size * step
                    if self._loss(self._logits(bases, trial), trial)[0] <= loss + 1e-4 * size * slope:
                        break
                    size /= 2
            phi = phi + size * step
            logits = self._logits(bases, phi)
            if is_last:
                break
        loss, p = self._loss(logits, phi)
        return AdversaryFit(loss, phi[None], p[None], t, bases, hessian[None])

    def guess(self, fit: AdversaryFit, z: Array) -> Array:
        """h(z) = φ·b(z), the logit of the answer yes to each question, at any scores."""
        return fit.phi @ self._basis((np.tanh(z / self.scale) + 1.0) / self.width)

    def slope(self, fit: AdversaryFit) -> Array:
        """dh/dz of the adversary's logits h(z) = φ·b(z), shape (questions, n)."""
        by_t = np.empty((len(fit.phi), len(fit.squashed)))
        for rows, b in fit.bases:
            by_t[:, rows] = (fit.phi[:, 1:] / -self.width) @ self._sloped(fit.squashed[rows], b)[0]
        return by_t * (1 - fit.squashed**2) / self.scale

    def derivatives(self, phi: Array, t: Array, b: Array) -> tuple[Array, Array, Array]:
        """Slope and curvature of h in z, (questions, n), and the slope of each basis function, (K, n), at `t`, `b`."""
        weights = phi[:, 1:]
        dt = (1 - t * t) / self.scale
        sloped, offset = self._sloped(t, b)
        slope_t = (weights / -self.width) @ sloped
        basis_slope = np.empty_like(b)
        basis_slope[0] = 0.0
        np.multiply(sloped, dt / -self.width, out=basis_slope[1:])
        sloped *= offset
        sloped -= b[1:]
        curvature_t = (weights / self.width**2) @ sloped
        slope = slope_t * dt
        return slope, curvature_t * dt * dt - slope * (2.0 / self.scale) * t, basis_slope

    def _each(self, values: Array) -> Array:
        """What each row adds to the mean of values (n,)."""
        return values / len(values) if self.parts is None else values * self.parts

    def _basis(self, position: Array) -> Array:
        """A row of ones, then exp(−(u − j)²/2) for j = 0 … n_centers − 1, where u is the position in widths.

        Each bump is the last one times e^u·e^(½ − j): two exponentials serve for all, and no product overflows.
        """
        b = np.empty((self.n_centers + 1, len(position)))
        b[0] = 1.0
        np.exp(-0.5 * position * position, out=b[1])
        growth = np.exp(position - 0.5)
        for j in range(1, self.n_centers):
            np.multiply(b[j], growth, out=b[j + 1])
            growth *= np.exp(-1.0)
        return b

    def _bases(self, t: Array) -> Bases:
        return _Bases(self, t) if len(t) > WHOLE else [(slice(0, len(t)), self._basis((t + 1.0) / self.width))]

    def _sloped(self, t: Array, b: Array) -> tuple[Array, Array]:
        """Each bump times its offset from the centre (in widths), and the offsets, both (K − 1, n)."""
        offset = (t + 1.0) / self.width - np.arange(self.n_centers)[:, None]
        return b[1:] * offset, offset

    def _logits(self, bases: Bases, phi: Array) -> Array:
        logits = np.empty(self.truth.shape[1])
        for rows, b in bases:
            np.matmul(phi, b, out=logits[rows])
        return logits

    def _loss(self, logits: Array, phi: Array) -> tuple[float, Array]:
        loss, p = cross_entropy(logits, self.truth[0], self.parts)
        return loss + 0.5 * self.ridge * float(phi @ phi), p


@dataclass(frozen=True)
class _Bases:
    """For more rows than fit into memory at once."""

    adversary: ScoreAdversary
    t: Array

    def __iter__(self) -> Iterator[Basis]:
        for rows in blocks(len(self.t)):
            yield rows, self.adversary._basis((self.t[rows] + 1.0) / self.adversary.width)


# Of t in (−1, 1): a sixteenth of the width of a bump, so that sums over bins are those over rows to some 1e-4.
N_BINS = 128
# No vector of basis functions is longer: 1 + Σ exp(−(u − j)²) < 1 + √π + 0.01.
_LONGEST = 1.67


@dataclass(frozen=True)
class GroupFit(AdversaryFit):
    """The best response, and in which bin of which group each row lies."""

    place: NDArray[np.intp]  # (n,) group · N_BINS + bin


class GroupAdversary(ScoreAdversary):
    """`ScoreAdversary` for several questions at once: each group against the rest, weighted by `question_weights`.

    The basis changes little within a bin of the score. Sums over bins steer the Newton steps and give the Hessians; the
    gradient over the rows decides where they end, so binning costs no precision.
    """

    def __init__(self, sensitive: Array, n_groups: int, weight: Array | None = None) -> None:
        super().__init__(sensitive, n_groups, weight)
        self._first_bin = N_BINS * np.maximum(sensitive, 0).astype(np.intp)  # rows of unknown group have no weight
        self._counts = np.full(len(sensitive), 1 / len(sensitive)) if self.parts is None else self.parts
        self._yes = self.truth * self._counts
        self._bin_t = np.linspace(-1, 1, 2 * N_BINS + 1)[1::2]
        self._bin_basis = self._basis((self._bin_t + 1.0) / self.width)

    def fit(self, z: Array, start: Array | None = None) -> GroupFit:
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

        The third derivative is at most |b| times the second: then a Newton step that is shortened by ln(1 + s)/s, s its
        length times |b|, always leads down, and needs no search.
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
        """d²/dφdθ of each question's summed loss where z = θA, (questions, K, D), from sums of A by bin and group."""
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
