"""Which of several models no other beats."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def undominated(*gains: Any) -> NDArray[np.bool_]:
    """Which points no other beats in one gain (to be large) without losing in another; equal points count together."""
    values = np.column_stack([np.asarray(gain, dtype=float) for gain in gains])  # (n, gains)
    at_least = np.all(values[None] >= values[:, None], axis=2)
    more = np.any(values[None] > values[:, None], axis=2)
    return ~np.any(at_least & more, axis=1)
