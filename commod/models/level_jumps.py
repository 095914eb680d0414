"""Where else to look for a lower loss: the people of one level of a category, moved together.

Many local minima of COMMOD's loss differ in the side of one half on which such a level lies. To change sides its scores
would have to pass 0, where all people look alike and no gradient leads further. Newton steps do not cross that point; a
jump does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from commod.models.adversary import Array
from commod.models.objective import ScoreObjective, ScoreState

# The mean r that a level is moved to: well below 0 (all its decisions change) up to more than f's own certainty.
PLACES = (-1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
# A level whose mean r is closer to a place than this is already there.
NEAR = 0.2
# Scores between which the loss of a row is looked up; beyond them it counts as at the end.
SCORES = np.linspace(-16.0, 16.0, 801)


@dataclass(frozen=True)
class Jumps:
    """Moves of θ = (c, v), or of a θ that begins so: each shifts r of one level's people and of nobody else."""

    weight: NDArray[np.intp]  # place in θ of the level's weight
    by: Array  # what is added to it
    constant: Array  # what is added to c
    gain: Array  # by how much L_Y − λ_fair·L_S falls if the adversary does not respond

    def __len__(self) -> int:
        return len(self.gain)

    def after(self, theta: Array, which: int) -> Array:
        moved = theta.copy()
        moved[0] += self.constant[which]
        moved[self.weight[which]] += self.by[which]
        return moved


class Levels:
    """The two-valued columns of the encoded features: a level and the rest."""

    def __init__(self, X: Array, logit: Array, objective: ScoreObjective, sensitive: Array) -> None:
        self.objective = objective
        low, high = X.min(axis=0), X.max(axis=0)
        # One column after the other: all at once would be as large as the features.
        inside = {}
        for j in np.flatnonzero(high > low):
            column = X[:, j].copy()
            above = column == high[j]
            if (above | (column == low[j])).all():
                inside[j] = above
        self.columns = np.array([*inside], dtype=int)
        self.low, self.gap = low[self.columns], (high - low)[self.columns]
        # The members of all levels under one another, level by level.
        members = [np.flatnonzero(of_column) for of_column in inside.values()]
        self.members = np.concatenate([np.array([], dtype=int), *members])
        self.of_level = np.repeat(np.arange(len(members)), [len(rows) for rows in members])
        self.logit = logit[self.members]
        self.weight = None if objective.weight is None else objective.weight[self.members]
        self.sizes = self._per_level(np.ones(len(self.members)))
        # Where the table begins that each member is looked up in: by stratum, S and y.
        stratum = np.zeros(len(objective.y), dtype=int)
        for number, rows in enumerate(objective.strata):
            stratum[rows] = number
        group = np.where(sensitive >= 0, sensitive, objective.n_groups).astype(int)
        kind = (stratum * (objective.n_groups + 1) + group) * 2 + objective.y.astype(int)
        self.first = kind[self.members] * len(SCORES)

    def jumps(self, state: ScoreState, lambda_fair: float, ratio: Array) -> Jumps:
        """Every level to every place where it is not, as seen from scores `state.z` with the ratios `ratio`."""
        tables = self.objective.loss_tables(state, lambda_fair, SCORES)
        table = np.concatenate([part.reshape(-1, len(SCORES)) for part in tables]).ravel()
        z = state.z[self.members]
        now = self._sums(table, z)
        mean = self._per_level(ratio[self.members]) / self.sizes
        shift = np.subtract.outer(np.array(PLACES), mean)  # (places, levels)
        gain = np.stack([now - self._sums(table, z + row[self.of_level] * self.logit) for row in shift])
        place, level = np.nonzero(np.abs(shift) >= NEAR)
        by = shift[place, level] / self.gap[level]
        return Jumps(1 + self.columns[level], by, -self.low[level] * by, gain[place, level])

    def _sums(self, table: Array, z: Array) -> Array:
        """The loss of each level's members at scores z, interpolated from the tables."""
        position = z - SCORES[0]
        position /= SCORES[1] - SCORES[0]
        np.clip(position, 0.0, len(SCORES) - 1.001, out=position)
        index = position.astype(np.intp)
        position -= index
        index += self.first
        left = table.take(index)
        index += 1
        position *= table.take(index) - left
        position += left
        return self._per_level(position)

    def _per_level(self, values: Array) -> Array:
        """Values of the members, summed over each level by their weights."""
        if self.weight is not None:
            values = values * self.weight
        sums: Array = np.bincount(self.of_level, values, len(self.columns)).astype(np.float64)
        return sums
