"""Rows of a large table, some at a time, so that intermediate results need not be as large as the table."""

from collections.abc import Callable, Iterator

import numpy as np

# Up to this many rows are one block; more are taken this many at a time.
WHOLE, BLOCK = 2**16, 2**13


def blocks(n: int, size: int | None = None) -> Iterator[slice]:
    """The rows 0 … n − 1 in their order, `size` (or `BLOCK`) at a time if they are too many to be taken all at once."""
    size = n if n <= WHOLE else size or BLOCK
    return (slice(first, min(first + size, n)) for first in range(0, n, max(size, 1)))


def mean_of(
    rows: np.ndarray, weight: np.ndarray | None = None, make: Callable[[np.ndarray], np.ndarray] = lambda part: part
) -> np.ndarray:
    """The mean of each column of `make(rows)` (n, d); with a `weight` (n,), weighted."""
    total = np.zeros(rows.shape[1])
    for part in blocks(len(rows)):
        made = make(rows[part])
        total += (made if weight is None else made * weight[part, None]).sum(axis=0)
    return np.asarray(total / (len(rows) if weight is None else weight.sum()))
