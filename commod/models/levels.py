"""Where else to look for a lower loss: the people of one level of a category, moved together.

Most of the local minima of COMMOD's loss differ in which side of one half such a level lies on: between the two sides
its scores would have to pass 0, where nobody can be told apart and no gradient points on. Newton steps do not cross
there; a jump does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commod.models.adversary import Array
from commod.models.objective import ScoreObjective, ScoreState

__all__ = ["Jump", "Levels"]

# The mean r that a level is moved to: well below 0 (all its decisions change) up to more than f's own certainty.
PLACES = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
# A level whose mean r is nearer to a place than this is there already.
NEAR = 0.2
# Scores between which the loss of a row is looked up; beyond them it counts as at the end.
SCORES = np.linspace(-16.0, 16.0, 801)


@dataclass(frozen=True)
class Jump:
    """A move of θ that shifts r of one level's people and of nobody else."""

    column: int
    move: Array  # of θ = (c, v), or of the whole θ that begins so
    gain: float  # what L_Y − λ_fair·L_S falls by if the adversary does not answer


class Levels:
    """The two-valued columns of the encoded features: a level and the rest.

    `width` is the number of weights in θ.
    """

    def __init__(self, X: Array, logit: Array, objective: ScoreObjective, sensitive: Array, width: int) -> None:
        self.objective = objective
        self.logit = logit
        self.width = width
        self.columns: list[tuple[int, float, float, np.ndarray]] = []  # column, value outside and inside, members
        for column, values in enumerate(X.T):
            low, high = float(values.min()), float(values.max())
            inside = values == high
            if high > low and (inside | (values == low)).all():
                self.columns.append((column, low, high, np.flatnonzero(inside)))
        # Which table each row is looked up in: its stratum, S and y.
        stratum = np.concatenate(
            [np.full(rows.stop - rows.start, k) for k, rows in enumerate(objective.strata)]
        ).astype(int)
        self.kind = (stratum * 2 + sensitive.astype(int)) * 2 + objective.y.astype(int)

    def jumps(self, state: ScoreState, lambda_fair: float, ratio: Array) -> list[Jump]:
        """Every level to every place where it is not, as seen from scores `state.z` with the ratios `ratio`."""
        tables = self.objective.loss_tables(state, lambda_fair, SCORES)
        table = np.concatenate([part.reshape(-1, len(SCORES)) for part in tables])
        now = self._loss(table, self.kind, state.z)
        found = []
        for column, low, high, members in self.columns:
            here = float(ratio[members].mean())
            for place in PLACES:
                if abs(place - here) < NEAR:
                    continue
                shift = place - here
                z = state.z[members] + shift * self.logit[members]
                gain = float((now[members] - self._loss(table, self.kind[members], z)).sum())
                move = np.zeros(self.width)
                move[1 + column] = shift / (high - low)
                move[0] = -low * move[1 + column]
                found.append(Jump(column, move, gain))
        return found

    @staticmethod
    def _loss(table: Array, kind: np.ndarray, z: Array) -> Array:
        """The loss of each row, interpolated."""
        step = SCORES[1] - SCORES[0]
        position = np.clip((z - SCORES[0]) / step, 0.0, len(SCORES) - 1.001)
        index = position.astype(np.intp)
        part = position - index
        left = table[kind, index]
        return left + part * (table[kind, index + 1] - left)
