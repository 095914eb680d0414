"""Intervals of shares."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import betabinom


def wilson_interval(part: Any, whole: Any, confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's interval of a share, for whole columns at once; NaN where `whole` is 0.

    As ``scipy.stats.binomtest(…).proportion_ci(confidence, method="wilson")``, which takes one share at a time. It
    stays in [0, 1], and does not shrink to nothing where nobody, or everybody, changed.
    """
    k, n = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    z = float(ndtri(0.5 + confidence / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = k / n
        middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # Exact at the ends, where rounding would leave 1e-17.
    low, high = np.where(k == 0, 0.0, middle - reach), np.where(k == n, 1.0, middle + reach)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def new_people_interval(part: int, whole: int, people: int = 1000, confidence: float = 0.95) -> tuple[int, int]:
    """How many of so many new people will be like `part` of the `whole` seen (beta-binomial, Jeffreys' prior)."""
    tail = (1 - confidence) / 2
    low, high = betabinom.ppf([tail, 1 - tail], people, part + 0.5, whole - part + 0.5)
    return int(low), int(high)
