"""The ratio r(x) and the shift s(x) as plain numbers: what a fitted model keeps, predicts with and pickles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array

__all__ = ["LinearRescaler", "MLPRescaler", "Rescaler"]


class Rescaler:
    """From encoded rows to r(x), by a call, and to s(x), which is 0 unless a subclass has one."""

    def __call__(self, X: Array) -> Array:
        raise NotImplementedError

    def shift(self, X: Array) -> Array:
        """s(x) of each row."""
        return np.zeros(len(X))

    def score(self, X: Array, logit: Array) -> Array:
        """Logit of g, r(x)·logit f(x) + s(x)."""
        return self(X) * logit + self.shift(X)


@dataclass(frozen=True)
class LinearRescaler(Rescaler):
    """r(x) = intercept + coef·x, and s(x) = shift_intercept + shift_coef·x where there is a shift."""

    intercept: float
    coef: Array  # (d,)
    shift_intercept: float = 0.0
    shift_coef: Array | None = None  # (d,)

    def __call__(self, X: Array) -> Array:
        return X @ self.coef + self.intercept

    def shift(self, X: Array) -> Array:
        """s(x) of each row."""
        return super().shift(X) if self.shift_coef is None else X @ self.shift_coef + self.shift_intercept


@dataclass(frozen=True)
class MLPRescaler(Rescaler):
    """r(x) = output·relu(hidden·x + hidden_bias) + output_bias."""

    hidden: Array  # (width, d)
    hidden_bias: Array  # (width,)
    output: Array  # (width,)
    output_bias: float

    def __call__(self, X: Array) -> Array:
        return np.maximum(X @ self.hidden.T + self.hidden_bias, 0.0) @ self.output + self.output_bias
