"""What a solver hands back, whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from commod.models.adversary import Array
from commod.models.rescaler import Rescaler, spread

Terms = dict[str, float]

# (step, n_steps, loss terms) -> true to stop
StepCallback = Callable[[int, int, Terms], object]


@dataclass(frozen=True)
class PathPoint:
    """A ratio on the way from f to g, and every loss term there."""

    rescaler: Rescaler
    terms: Terms
    n_iter: int = 0
    converged: bool = True


@dataclass
class Solution:
    """The path from g = f to the model asked for, and every step taken on it."""

    path: list[PathPoint] = field(default_factory=list)
    history: list[Terms] = field(default_factory=list)
    stopped: bool = False
    # The adversary's pull on the weight of each feature at g = f (d,), where the solver computes it.
    pull: Array | None = None
    # Unit directions (d, k) and weights (k,), where the solver learns concepts itself.
    concepts: tuple[Array, Array] | None = None

    def spread(self, columns: NDArray[np.intp], width: int) -> Solution:
        """The same for rows of `width` features, of which `columns` are those that were solved for."""
        return replace(
            self,
            path=[replace(point, rescaler=point.rescaler.spread(columns, width)) for point in self.path],
            pull=None if self.pull is None else spread(self.pull, columns, width),
            concepts=None
            if self.concepts is None
            else (spread(self.concepts[0].T, columns, width).T, self.concepts[1]),
        )

    @property
    def rescaler(self) -> Rescaler:
        return self.path[-1].rescaler

    @property
    def converged(self) -> bool:
        return not self.stopped and self.path[-1].converged
