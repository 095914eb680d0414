"""Would it happen again? The edit fitted anew on bootstrap samples of the training rows, f as it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.experiments.sense import shares_of_decisions
from commod.experiments.sweep import Cell, Report, Shared, train_cell

__all__ = ["MIN_REFITS", "Refits", "n_refits", "refit", "resampled"]

# As many refits as take some five seconds on one core, in tens, and at least 30. How many is counted from the size of
# the encoded table, not timed: a model gets the same refits on every machine. A refit of the default solver takes about
# so many seconds, and so many more for each number in the table.
SECONDS, EACH, PER_NUMBER = 5.0, 0.06, 3e-7
MIN_REFITS = 30


@dataclass(frozen=True)
class Refits:
    """What refits decide on the test rows.

    Attributes
    ----------
    changes : array of int (test rows,)
        How many refits decide otherwise than f.
    figures : DataFrame
        The key figures of each refit on test, one row each.
    shares : DataFrame
        What its decisions alone say of its changes, see `shares_of_decisions`, and ``worse_off``, the share of people
        whose decision went from the favourable one to the other; empty in refits that were kept before this was
        counted.
    """

    changes: np.ndarray
    figures: pd.DataFrame
    shares: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __len__(self) -> int:
        return len(self.figures)

    @property
    def nbytes(self) -> int:
        """About what it holds, for whoever keeps many."""
        return int(self.changes.nbytes + self.figures.to_numpy().nbytes + self.shares.to_numpy().nbytes)

    @property
    def share(self) -> np.ndarray:
        """Of each test row, the share of refits that change it."""
        return np.asarray(self.changes / len(self))

    @property
    def intervals(self) -> pd.DataFrame:
        """Of each key figure, where 95 % of the refits are: ``low, high``."""
        low, high = np.nanpercentile(self.figures.to_numpy(), [2.5, 97.5], axis=0)
        return pd.DataFrame({"low": low, "high": high}, index=self.figures.columns)


def n_refits(scene: Scene) -> int:
    """How many refits a scene gets."""
    fit = SECONDS / (EACH + PER_NUMBER * scene.encoded_train.size)
    return max(MIN_REFITS, int(fit) // 10 * 10)


def resampled(scene: Scene, seed: int) -> Scene:
    """The scene with as many training rows drawn from its own with replacement, within group × label."""
    rng = np.random.default_rng(seed)
    strata = scene.train.sensitive.to_numpy() * 2 + scene.train.y.to_numpy()
    rows = np.arange(len(strata))
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        rows[own] = rng.choice(own, len(own))
    return scene.learning_from(rows)


def refit(scene: Scene, cell: Cell, fairness: str, *, count: int | None = None, report: Report | None = None) -> Refits:
    """Fit a model of any method again on bootstrap samples of the training rows.

    Parameters
    ----------
    cell : Cell
        Method and settings.
    count : int, optional
        How many times; default, see `n_refits`.
    report : callable, optional
        Called with the share done after every refit; what it raises ends the work.
    """
    count = n_refits(scene) if count is None else count
    before = scene.decisions_test
    had = before == scene.task.spec.favourable
    changes = np.zeros(len(before), dtype=np.int32)
    figures, shares = [], []
    for i in range(count):
        after = (train_cell(resampled(scene, i), cell, fairness, Shared()).margin(scene.test) > 0).astype(int)
        changes += after != before
        figures.append(scene.figures(after))
        worse_off = float(np.average(had & (after != before), weights=scene.test.weight))
        shares.append(shares_of_decisions(scene, after) | {"worse_off": worse_off})
        if report is not None:
            report((i + 1) / count)
    return Refits(changes, pd.DataFrame(figures), pd.DataFrame(shares))
