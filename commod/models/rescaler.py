"""The ratio r(x) as plain numbers: what a fitted model keeps, predicts with and pickles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array

__all__ = ["LinearRescaler", "MLPRescaler", "Rescaler"]


@dataclass(frozen=True)
class LinearRescaler:
    """r(x) = intercept + coef·x."""

    intercept: float
    coef: Array  # (d,)

    def __call__(self, X: Array) -> Array:
        return X @ self.coef + self.intercept


@dataclass(frozen=True)
class MLPRescaler:
    """r(x) = output·relu(hidden·x + hidden_bias) + output_bias."""

    hidden: Array  # (width, d)
    hidden_bias: Array  # (width,)
    output: Array  # (width,)
    output_bias: float

    def __call__(self, X: Array) -> Array:
        return np.maximum(X @ self.hidden.T + self.hidden_bias, 0.0) @ self.output + self.output_bias


Rescaler = LinearRescaler | MLPRescaler
