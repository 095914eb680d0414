"""A test that may be looked at every night: evidence that is measured by e-values.

An e-value is what a bet against a claim has made of one unit of money: under the claim it grows beyond 1 / α with a
chance of at most α, however often one looks (Ville 1939; Ramdas, Grünwald, Vovk and Shafer 2023, "Game-theoretic
statistics and safe anytime-valid inference"). Here the claim is "the requirement holds". The bet is Wald's (1945)
likelihood ratio of a drop of a given size against no drop, averaged over a few sizes. The value and its standard error
come from the pooled counts, so the guarantee holds for large samples (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
2024, "Time-uniform central limit theory and asymptotic confidence sequences"); ``python -m tests.benchmarks.watch``
measures it.
"""

import math
from typing import Any

import numpy as np
from scipy.special import ndtri

from commod.decisions.facts import CONFIDENCE, Measured
from commod.decisions.requirements import Rule
from commod.decisions.verdicts import SETTLES

# The chance of a false alarm, over all nights.
ALPHA = 0.05
# Sizes of a drop that are bet on, in tolerances, and the share of the money on each.
DROPS = ((0.5, 0.8), (1.0, 0.1), (2.0, 0.1))
# The share of the money on all people since the first run; the rest is on windows.
ON_TOTAL = 0.6
_Z = float(ndtri(0.5 + CONFIDENCE / 2))
_SETTLES = float(ndtri(SETTLES))


def tolerance(rule: Rule) -> float:
    """A drop that must not go unseen for "still true": 0.1, or 2 points of a share of all people."""
    return 0.02 if rule.thing[0] and not rule.of_changes else 0.1


def standard_error(measured: Measured, limit: float) -> float:
    """From the reach of the interval towards the limit."""
    low, high = measured.people
    return ((high - measured.value) if measured.value < limit else (measured.value - low)) / _Z


def evidence(measured: Measured, limit: float, sign: int, drop: float) -> float:
    """The e-value against "the value is at least the limit" (`sign` 1), or at most (-1); 1 where it is not known.

    `drop` is the unit of the sizes that are bet on.
    """
    error = standard_error(measured, limit)
    return float(e_value(sign * (limit - measured.value), error, drop)) if error > 0 else 1.0


def e_value(short: Any, error: Any, drop: float) -> Any:
    """The same by how far the value falls short of the limit and its standard error, for whole columns at once."""
    sizes = ((size * drop, share) for size, share in DROPS)
    return sum(share * np.exp(np.minimum((size * short - size**2 / 2) / error**2, 500.0)) for size, share in sizes)


def drop_revealed(measured: Measured, limit: float, drop: float, tests: int = 0) -> float:
    """How large a drop below the limit these people would have revealed in four cases of five.

    `tests` is the number of requirements under the sequential test; 0 for a single look at a 95 % interval.
    """
    error = standard_error(measured, limit)
    if not tests:
        return error * (_Z + _SETTLES)
    needed = (
        size * drop / 2 + error**2 * math.log(tests / (ALPHA * ON_TOTAL * share)) / (size * drop)
        for size, share in DROPS
    )
    return min(needed) + error * _SETTLES
