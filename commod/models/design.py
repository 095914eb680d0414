"""How the weights of an update move the scores, row by row."""

import numpy as np

from commod.datasets.blocks import WHOLE
from commod.models.adversary import Array


class DesignMatrix:
    """The matrix A with z = θA beside what is fixed: for each row of the data a column factor·(1, x), for each block.

    Features come first: numpy's inner loops run over the rows. For many rows it is never made as a whole, to save
    memory.
    """

    def __init__(self, X: Array, factors: list[Array]) -> None:
        self._X, self._factors = X, factors
        self._all = self.of(slice(0, len(X))) if len(X) <= WHOLE else None
        self._fast = None if self._all is None else self._all.astype(np.float32)

    def __len__(self) -> int:
        return len(self._factors) * (1 + self._X.shape[1])

    def of(self, rows: slice) -> Array:
        """The columns of some rows, made anew."""
        part = self._X[rows].T
        return np.vstack([block for factor in self._factors for block in (factor[rows], part * factor[rows])])

    def scores(self, theta: Array) -> Array:
        """θA."""
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
        """The columns of some rows in single precision."""
        if self._fast is not None:
            return self._fast[:, rows]
        part = self._X[rows]
        made = np.empty((len(part), len(self._factors), 1 + part.shape[1]), dtype=np.float32)
        for block, factor in enumerate(self._factors):
            made[:, block, 0] = factor[rows]
            np.multiply(part, factor[rows, None], out=made[:, block, 1:], casting="same_kind")
        return made.reshape(len(part), -1).T
