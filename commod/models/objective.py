"""COMMOD's training loss as a smooth function of the new scores z = r(x)·logit f(x) + s(x)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from commod.datasets.blocks import WHOLE, blocks
from commod.models.adversary import AdversaryFit, Array, GroupAdversary, ScoreAdversary, cross_entropy, questions


class DesignMatrix:
    """A with z = θA beside what is fixed: for each row a column factor·(1, x), for each block; never whole if large.

    Features come first: numpy's inner loops run over the rows.
    """

    def __init__(self, X: Array, factors: list[Array]) -> None:
        self._X, self._factors = X, factors
        self._all = self.of(slice(0, len(X))) if len(X) <= WHOLE else None
        self._fast = None if self._all is None else self._all.astype(np.float32)

    def __len__(self) -> int:
        return len(self._factors) * (1 + self._X.shape[1])

    def of(self, rows: slice) -> Array:
        part = self._X[rows].T
        return np.vstack([block for factor in self._factors for block in (factor[rows], part * factor[rows])])

    def scores(self, theta: Array) -> Array:
        if self._all is not None:
            return theta @ self._all
        of_blocks = zip(self._factors, theta.reshape(len(self._factors), -1), strict=True)
        return np.sum([factor * (self._X @ weights[1:] + weights[0]) for factor, weights in of_blocks], axis=0)

    def products(self, values: Array, rows: slice) -> Array:
        """Values (…, rows) of some rows times Aᵀ, (…, D)."""
        if self._all is not None:
            return values @ self._all[:, rows].T
        scaled = [values * factor[rows] for factor in self._factors]
        parts = (part for one in scaled for part in (one.sum(axis=-1, keepdims=True), one @ self._X[rows]))
        return np.concatenate([*parts], axis=-1)

    def fast(self, rows: slice) -> np.ndarray:
        """`of` in single precision."""
        if self._fast is not None:
            return self._fast[:, rows]
        part = self._X[rows]
        made = np.empty((len(part), len(self._factors), 1 + part.shape[1]), dtype=np.float32)
        for block, factor in enumerate(self._factors):
            made[:, block, 0] = factor[rows]
            np.multiply(part, factor[rows, None], out=made[:, block, 1:], casting="same_kind")
        return made.reshape(len(part), -1).T


@dataclass(frozen=True)
class ScoreState:
    """Loss terms at one z, with the adversaries that attain them."""

    z: Array
    probability: Array  # σ(z + line)
    label_loss: float
    adversary_loss: float
    fits: tuple[AdversaryFit, ...]

    def value(self, lambda_fair: float) -> float:
        return self.label_loss - lambda_fair * self.adversary_loss


@dataclass(frozen=True)
class NewtonTerms:
    """Derivatives in θ where z = θA, and how each adversary's weights answer a move of θ."""

    gradient: Array  # (D,)
    hessian: Array  # (D, D)
    responses: tuple[Array, ...]  # per stratum (questions, K, D): dφ/dθ
    curvature: Array  # (n,) what each row's own curvature in z is in the Hessian's sum


class ScoreObjective:
    """L_Y(z) − λ_fair·L_S(z) against the best adversary: paper Eq. 5 with its inner problem solved.

    Demographic parity has one adversary that sees z. Equalized odds has one per label: an adversary that sees z and
    y is any pair of functions of z, one for y = 0 and one for y = 1, so the problem falls apart into the two strata
    and costs no more. Rows must come sorted by stratum; `order` gives the permutation.

    If f's cut-off is not one half, z is measured from it, and L_Y uses the probability σ(z + line): without the line it
    would pull decisions back to one half. Rows of unknown group (−1 in `sensitive`) count only in L_Y. `weight`: how
    many people each row stands for.
    """

    def __init__(
        self,
        y: Array,
        sensitive: Array,
        n_groups: int = 2,
        weight: Array | None = None,
        *,
        by_label: bool,
        line: float = 0.0,
    ) -> None:
        self.y = y
        self.line = line
        self.n = len(y)
        self.n_groups = n_groups
        # Weights with a mean of 1: of the rows in L_Y, and in L_S, where they are `asked` times those in L_Y.
        self.weight = None if weight is None else weight / weight.mean()
        self.parts = None if self.weight is None else self.weight / self.weight.sum()
        known = sensitive >= 0
        people = weight if known.all() else known.astype(float) if weight is None else weight * known
        self.asked_weight = None if people is None else people / people.mean()
        self.asked = 1.0
        if people is not None and not known.all():
            self.asked = float((1.0 if weight is None else weight.mean()) / people.mean())
        cut = int(np.searchsorted(y, 0.5)) if by_label else 0
        strata = (part for part in (slice(0, cut), slice(cut, self.n)) if part.stop > part.start)
        self.strata = tuple(rows for rows in strata if known[rows].any())
        adversary = ScoreAdversary if n_groups == 2 else GroupAdversary
        self.adversaries = tuple(adversary(sensitive[rows], n_groups, _of(people, rows)) for rows in self.strata)
        self.shares = tuple(
            (rows.stop - rows.start if self.asked_weight is None else float(self.asked_weight[rows].sum())) / self.n
            for rows in self.strata
        )
        # Of L_S at any z: the loss of adversaries that do not look at the score.
        self.ceiling = sum(share * one.ceiling for share, one in zip(self.shares, self.adversaries, strict=True))

    @staticmethod
    def order(y: Array, *, by_label: bool) -> np.ndarray:
        """Row permutation that makes the strata contiguous."""
        return np.argsort(y, kind="stable") if by_label else np.arange(len(y))

    def label_loss(self, z: Array) -> tuple[float, Array]:
        """L_Y at z, and the probabilities σ(z + line)."""
        return cross_entropy(z + self.line, self.y, self.parts)

    def evaluate(
        self, z: Array, starts: tuple[Array, ...] | None = None, label: tuple[float, Array] | None = None
    ) -> ScoreState:
        """Solve the adversaries at z, warm-started from `starts`, and return the loss terms; `label` is L_Y's."""
        first = starts or (None,) * len(self.strata)
        fits = tuple(
            adversary.fit(z[rows], start)
            for adversary, rows, start in zip(self.adversaries, self.strata, first, strict=True)
        )
        adversary_loss = sum(share * fit.loss for share, fit in zip(self.shares, fits, strict=True))
        label_loss, probability = self.label_loss(z) if label is None else label
        return ScoreState(z, probability, label_loss, adversary_loss, fits)

    def gradient(self, state: ScoreState, lambda_fair: float) -> Array:
        """d/dz of the value, (n,), by the envelope theorem."""
        gradient = _counted(state.probability - self.y, self.weight)
        for adversary, rows, fit in zip(self.adversaries, self.strata, state.fits, strict=True):
            residual = _counted(fit.probability - adversary.truth, _of(self.asked_weight, rows))
            gradient[rows] -= adversary.counts_for @ (lambda_fair * residual * adversary.slope(fit))
        return gradient / self.n

    def pull(self, state: ScoreState, directions: DesignMatrix) -> Array:
        """The adversary's pull on each weight, |dL_S/dv| where z moves by v·directions, (d, n).

        At g = f its maximum is the unit of the Lasso: at λ_concepts = λ_fair the first weight can leave zero,
        whatever the data set, its size and its features.
        """
        toward = self.gradient(state, 1.0) - self.gradient(state, 0.0)
        return np.abs(sum(directions.products(toward[rows], rows) for rows in blocks(self.n)))

    def loss_tables(self, state: ScoreState, lambda_fair: float, scores: Array) -> tuple[Array, ...]:
        """What one row with the score z adds to the value if the adversaries stay as they are, at each of `scores`.

        One table per stratum, (groups + 1, 2, len(scores)), by S and y, the last S being "not known". The adversaries'
        answer can only raise the value: summed over all rows, times their weights, it is a bound from below.
        """
        logits = scores + self.line
        label_loss = np.stack([np.logaddexp(0.0, logits), np.logaddexp(0.0, -logits)])
        truth = questions(np.append(np.arange(self.n_groups), -1), self.n_groups)  # (questions, groups + 1)
        tables = []
        for adversary, fit in zip(self.adversaries, state.fits, strict=True):
            guess = adversary.guess(fit, scores)
            answers = np.stack([np.logaddexp(0.0, guess), np.logaddexp(0.0, -guess)])  # truth 0 and 1
            adversary_loss = self.asked * sum(
                counts * answers[row.astype(int), question]
                for question, (counts, row) in enumerate(zip(adversary.counts_for, truth, strict=True))
            )
            adversary_loss[-1] = 0.0
            tables.append((label_loss[None] - lambda_fair * adversary_loss[:, None]) / self.n)
        return tuple(tables)

    def newton_terms(self, state: ScoreState, lambda_fair: float, A: DesignMatrix) -> NewtonTerms:
        """Gradient and Hessian in θ where z = θA, with A of shape (D, n).

        With φ*(z) the adversary's optimum, d²/dz² of −L_S is −L_zz + L_zφ L_φφ⁻¹ L_φz: the curvature of the adversary's
        loss at fixed φ, and what its response adds. The large product of the Hessian is in single precision: it only
        steers the steps, while the gradient decides where they end.
        """
        gradient_z = _counted(state.probability - self.y, self.weight)
        curvature_z = _counted(state.probability * (1 - state.probability), self.weight)
        hessian = np.zeros((len(A), len(A)))
        responses: list[Array] = []
        for adversary, rows, fit, share in zip(self.adversaries, self.strata, state.fits, self.shares, strict=True):
            is_of_two = not isinstance(adversary, GroupAdversary)
            cross: Any = 0
            for part, basis in fit.bases:
                slope, curvature, basis_slope = adversary.derivatives(fit.phi, fit.squashed[part], basis)
                here = _moved(part, rows.start)
                asked, p = _of(self.asked_weight, here), fit.probability[:, part]
                residual = _counted(p - adversary.truth[:, part], asked)
                spread = _counted(p * (1 - p), asked) * slope
                gradient_z[here] -= adversary.counts_for @ (lambda_fair * residual * slope)
                curvature_z[here] -= lambda_fair * (adversary.counts_for @ (spread * slope + residual * curvature))
                if is_of_two:
                    basis_slope *= residual
                    basis_slope += spread * basis
                    cross = cross + A.products(basis_slope, here)[None]
            if isinstance(adversary, GroupAdversary):
                parts = ((part, A.fast(_moved(part, rows.start))) for part, _ in fit.bases)
                cross = adversary.cross(fit, parts, _of(self.asked_weight, rows))
            cross = cross / self.n
            # fit.hessian is that of the stratum's mean loss, of which the objective holds its share.
            response: Array = -np.linalg.solve(share * fit.hessian, cross).astype(np.float64)
            for question, counts in enumerate(adversary.counts_for):
                hessian -= lambda_fair * counts * cross[question].T @ response[question]
            responses.append(response)
        gradient, curvature_z = np.zeros(len(A)), curvature_z / self.n
        gradient_z /= self.n
        for rows in blocks(self.n):
            fast = A.fast(rows)
            hessian += (fast * curvature_z[rows].astype(fast.dtype)) @ fast.T
            gradient += A.products(gradient_z[rows], rows)
        return NewtonTerms(gradient, 0.5 * (hessian + hessian.T), tuple(responses), curvature_z)


def _moved(rows: slice, by: int) -> slice:
    """Rows of a stratum that begins there, as rows of all."""
    return slice(rows.start + by, rows.stop + by)


def _of(weight: Array | None, rows: slice) -> Array | None:
    return None if weight is None else weight[rows]


def _counted(values: Array, weight: Array | None) -> Array:
    return values if weight is None else values * weight
