"""Which of several models no other beats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["undominated"]


def undominated(*gains: Any) -> NDArray[np.bool_]:
    """Which points no other point beats in one gain without losing in another; points that are equal stand together.

    Parameters
    ----------
    *gains : arrays (n,)
        What is to be large; pass −x for what is to be small.
    """
    values = np.column_stack([np.asarray(gain, dtype=float) for gain in gains])  # (n, gains)
    at_least = (values[None] >= values[:, None]).all(axis=2)
    more = (values[None] > values[:, None]).any(axis=2)
    beaten: NDArray[np.bool_] = np.asarray(at_least & more).any(axis=1)
    return ~beaten
