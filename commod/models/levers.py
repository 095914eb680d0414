"""How the weights of an update move the scores, row by row."""

import numpy as np

from commod.datasets.blocks import WHOLE
from commod.models.adversary import Array


class Levers:
    """The matrix A with z = θA beside what is fixed: for each row of the data a column lever·(1, x), for each block.

    Features come first: numpy's inner loops run over the rows. For many rows it is never made as a whole, to save
    memory.
    """

    def __init__(self, X: Array, levers: list[Array]) -> None:
        self._X, self._levers = X, levers
        self._all = self.of(slice(0, len(X))) if len(X) <= WHOLE else None
        self._fast = None if self._all is None else self._all.astype(np.float32)

    def __len__(self) -> int:
        return len(self._levers) * (1 + self._X.shape[1])

    def of(self, rows: slice) -> Array:
        """The columns of some rows, made anew."""
        part = self._X[rows].T
        return np.vstack([block for lever in self._levers for block in (lever[rows], part * lever[rows])])

    def scores(self, theta: Array) -> Array:
        """θA."""
        if self._all is not None:
            return theta @ self._all
        of_blocks = zip(self._levers, theta.reshape(len(self._levers), -1), strict=True)
        return np.sum([lever * (self._X @ weights[1:] + weights[0]) for lever, weights in of_blocks], axis=0)

    def products(self, values: Array, rows: slice) -> Array:
        """Values (…, rows) of some rows times Aᵀ, (…, D)."""
        if self._all is not None:
            return values @ self._all[:, rows].T
        levered = [values * lever[rows] for lever in self._levers]
        parts = (part for one in levered for part in (one.sum(axis=-1, keepdims=True), one @ self._X[rows]))
        return np.concatenate([*parts], axis=-1)

    def fast(self, rows: slice) -> np.ndarray:
        """The columns of some rows in single precision."""
        if self._fast is not None:
            return self._fast[:, rows]
        part = self._X[rows]
        made = np.empty((len(part), len(self._levers), 1 + part.shape[1]), dtype=np.float32)
        for block, lever in enumerate(self._levers):
            made[:, block, 0] = lever[rows]
            np.multiply(part, lever[rows, None], out=made[:, block, 1:], casting="same_kind")
        return made.reshape(len(part), -1).T
