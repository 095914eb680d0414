"""The ratio r(x) and the shift s(x) as plain numbers: what a fitted model keeps, predicts with and pickles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from commod.models.adversary import Array

# Whose score an update may move: everybody's, or only that of people with f's negative or positive decision.
ACTS_ON = ("everybody", "negative", "positive")
# The same as people ask for it: nobody loses a favourable decision, or nobody gains one.
DIRECTIONS = ("both", "improve", "worsen")
# A score that is flipped from exactly the line lands this far beyond it.
ACROSS = 1e-9
# The ratio of flipped people is −MIRROR: just across the line. On five data sets AUC and log loss are best there
# (law_school at λ_fair 5: AUC 0.854; 0.838 at a ratio of −0.3, 0.800 at −1).
MIRROR = 0.01


def acts_on_of(direction: str, favourable: int) -> str:
    """On whom an update in a direction acts, if 1 (the positive decision) or 0 is favourable."""
    if direction == "both":
        return "everybody"
    return "negative" if (favourable == 1) == (direction == "improve") else "positive"


def acted_on(whom: str, logit: Array) -> NDArray[np.bool_]:
    """Which rows, by f's logit, an update on `whom` acts on."""
    if whom == "everybody":
        return np.ones(len(logit), dtype=bool)
    return np.asarray(logit > 0 if whom == "positive" else logit <= 0)


class Rescaler(ABC):
    """From encoded rows to r(x), by a call, and s(x), 0 by default; `acts_on` says whose scores they move."""

    acts_on = "everybody"
    shift_step = 0.0
    mirror: float | None = None

    @abstractmethod
    def __call__(self, X: Array) -> Array: ...

    def shift(self, X: Array) -> Array:
        return np.zeros(len(X))

    def ratio_and_shift(self, X: Array, logit: Array) -> tuple[Array, Array]:
        """r(x) and s(x) as they act on rows with these logits of f: 1 and 0 where the update does not act."""
        return self(X), self.shift(X)

    def score(self, X: Array, logit: Array) -> Array:
        """Logit of g, r(x)·logit f(x) + s(x)."""
        ratio, shift = self.ratio_and_shift(X, logit)
        return ratio * logit + shift

    def balance(self, X: Array, logit: Array) -> Array:
        """The number whose sign decides: the logit of g, unless a subclass adds to it."""
        return self.score(X, logit)

    @abstractmethod
    def spread(self, columns: NDArray[np.intp], width: int) -> Rescaler:
        """The same on rows of `width` features; this one was made for `columns` of them."""


@dataclass(frozen=True)
class LinearRescaler(Rescaler):
    """r(x) = intercept + coef·x, and s(x) = shift_intercept + shift_coef·x where there is a shift.

    With a `mirror` they only say who is flipped: where r·logit + s and logit have different signs, the ratio is
    −mirror, and everybody else keeps f's score.
    """

    intercept: float
    coef: Array  # (d,)
    shift_intercept: float = 0.0
    shift_coef: Array | None = None  # (d,)
    acts_on: str = "everybody"
    shift_step: float = 0.0  # more of the shift for those whom f decides positively
    mirror: float | None = None

    def __call__(self, X: Array) -> Array:
        return X @ self.coef + self.intercept

    def shift(self, X: Array) -> Array:
        return super().shift(X) if self.shift_coef is None else X @ self.shift_coef + self.shift_intercept

    def ratio_and_shift(self, X: Array, logit: Array) -> tuple[Array, Array]:
        if self.mirror is not None:
            flipped = (self.balance(X, logit) > 0) != (logit > 0)
            across = np.where(logit > 0, -ACROSS, ACROSS)
            return np.where(flipped, -self.mirror, 1.0), np.where(flipped, across, 0.0)
        if self.acts_on == "everybody":
            return self(X), self.shift(X)
        acted = acted_on(self.acts_on, logit)
        return np.where(acted, self(X), 1.0), np.where(acted, self.shift(X), 0.0)

    def balance(self, X: Array, logit: Array) -> Array:
        """What decides: r(x)·logit + s(x), whatever the mirror; f's logit where the update does not act."""
        step = np.where(logit > 0, self.shift_step, 0.0)
        return np.where(acted_on(self.acts_on, logit), self(X) * logit + self.shift(X) + step, logit)

    def spread(self, columns: NDArray[np.intp], width: int) -> LinearRescaler:
        shift = None if self.shift_coef is None else spread(self.shift_coef, columns, width)
        return replace(self, coef=spread(self.coef, columns, width), shift_coef=shift)


@dataclass(frozen=True)
class MLPRescaler(Rescaler):
    """r(x) = output·relu(hidden·x + hidden_bias) + output_bias."""

    hidden: Array  # (width, d)
    hidden_bias: Array  # (width,)
    output: Array  # (width,)
    output_bias: float

    def __call__(self, X: Array) -> Array:
        return np.maximum(X @ self.hidden.T + self.hidden_bias, 0.0) @ self.output + self.output_bias

    def spread(self, columns: NDArray[np.intp], width: int) -> MLPRescaler:
        return replace(self, hidden=spread(self.hidden, columns, width))


def spread(weights: Array, columns: NDArray[np.intp], width: int) -> Array:
    """Weights (…, d) of some columns as weights (…, width) of all, 0 for the others."""
    spread = np.zeros((*weights.shape[:-1], width))
    spread[..., columns] = weights
    return spread
