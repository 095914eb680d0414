"""Would it happen again? The edit fitted anew on bootstrap samples of the training rows, f as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene
from commod.experiments.sense import shares_of_decisions
from commod.experiments.sweep import Cell, Report, Shared, train_cell

# Of each refit of a model, by its number: the way up to its λ_fair, by which one at another λ_fair is quicker.
Ladders = dict[int, Mapping[Any, Any]]

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

    @classmethod
    def joined(cls, parts: Sequence[Refits]) -> Refits:
        """The refits of several parts together."""
        frames = ([getattr(part, name) for part in parts] for name in ("figures", "shares"))
        changes = np.stack([part.changes for part in parts]).sum(axis=0, dtype=np.int32)
        return cls(changes, *(pd.concat(each, ignore_index=True) for each in frames))

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


def refit(
    scene: Scene,
    cell: Cell,
    fairness: str,
    *,
    count: int | None = None,
    first: int = 0,
    ladders: Ladders | None = None,
    report: Report | None = None,
) -> Refits:
    """Fit a model of any method again on bootstrap samples of the training rows.

    Parameters
    ----------
    cell : Cell
        Method and settings.
    count : int, optional
        How many times; default, see `n_refits`.
    first : int
        Number of the first: each number has its own sample.
    ladders : dict, optional
        Filled with what refits of COMMOD pass on their way up, by their number. Given again at another λ_fair, all
        else being equal, it makes them quicker, not others.
    report : callable, optional
        Called with the share done after every refit; what it raises ends the work.
    """
    count = n_refits(scene) if count is None else count
    before = scene.decisions_test
    had = before == scene.task.spec.favourable
    changes = np.zeros(len(before), dtype=np.int32)
    figures, shares = [], []
    for done, i in enumerate(range(first, first + count), start=1):
        shared = Shared(None if ladders is None else ladders.get(i))
        after = (train_cell(resampled(scene, i), cell, fairness, shared).margin(scene.test) > 0).astype(int)
        if ladders is not None:
            ladders[i] = shared.warm_start.rungs
        changes += after != before
        figures.append(scene.figures(after))
        worse_off = float(np.average(had & (after != before), weights=scene.test.weight))
        shares.append(shares_of_decisions(scene, after) | {"worse_off": worse_off})
        if report is not None:
            report(done / count)
    return Refits(changes, pd.DataFrame(figures), pd.DataFrame(shares))
