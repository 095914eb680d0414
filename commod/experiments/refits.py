"""Would it happen again? A model refitted: on resampled training rows with the same f, or with f on other splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from commod.experiments.scene import Scene, is_large
from commod.experiments.sweep import Cell, Report, Settings, Shared, about_cell, train_cell

Drawn = Literal["rows", "splits"]
# For each refit of a model, by its number: the path to its λ_fair, which makes another λ_fair quicker.
SolvedPaths = dict[int, Mapping[Any, Any]]

# As many refits as take about five seconds on one core, in tens, and at least 30: this many seconds each, and this many
# more for each number in the encoded table. Not timed, so that a model gets the same number on every machine.
SECONDS, EACH, PER_NUMBER = 5.0, 0.06, 3e-7
MIN_REFITS = 30
# Other splits of a scene, and the seed of the first: the app offers smaller ones.
N_SPLITS, FIRST_SPLIT = 10, 100


@dataclass(frozen=True)
class Refits:
    """The decisions of refits on the test rows."""

    changes: np.ndarray  # (test rows,) how many refits decide differently from f; empty for other splits
    figures: pd.DataFrame  # the key figures of each refit on test, one row each
    # One row per refit: those of `Scene.shares`; ``worse_off``, the share of people who lost the favourable decision;
    # and ``accuracy_lost`` against its f.
    shares: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __len__(self) -> int:
        return len(self.figures)

    @classmethod
    def joined(cls, parts: Sequence[Refits]) -> Refits:
        frames = ([getattr(part, name) for part in parts] for name in ("figures", "shares"))
        changes = np.stack([part.changes for part in parts]).sum(axis=0, dtype=np.int32)
        return cls(changes, *(pd.concat(each, ignore_index=True) for each in frames))

    @property
    def nbytes(self) -> int:
        return int(self.changes.nbytes + self.figures.to_numpy().nbytes + self.shares.to_numpy().nbytes)

    @property
    def share(self) -> np.ndarray:
        return np.asarray(self.changes / len(self))

    @property
    def intervals(self) -> pd.DataFrame:
        """The range of 95 % of the refits for each key figure: ``low, high``."""
        low, high = np.nanpercentile(self.figures.to_numpy(), [2.5, 97.5], axis=0)
        return pd.DataFrame({"low": low, "high": high}, index=self.figures.columns)

    @property
    def spread(self) -> pd.DataFrame:
        return self.figures.agg(["mean", "std"]).T.set_axis(["mean", "sd"], axis=1)


def n_refits(scene: Scene, drawn: Drawn = "rows") -> int:
    """How many refits a scene gets; no other splits if time decides the split, or f may take minutes."""
    if drawn == "splits":
        return 0 if scene.task.time is not None or is_large(scene.task) else N_SPLITS
    fit = SECONDS / (EACH + PER_NUMBER * scene.encoded_train.size)
    return max(MIN_REFITS, int(fit) // 10 * 10)


def resampled(scene: Scene, seed: int) -> Scene:
    """The scene with its training rows resampled with replacement, within group × label."""
    rng = np.random.default_rng(seed)
    strata = scene.train.sensitive.to_numpy() * 2 + scene.train.y.to_numpy()
    rows = np.arange(len(strata))
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        rows[own] = rng.choice(own, len(own))
    return scene.learning_from(rows)


def drawn_anew(scene: Scene, number: int, drawn: Drawn) -> Scene:
    """The scene on which refit `number` is fitted."""
    if drawn == "rows":
        return resampled(scene, number)
    seed = FIRST_SPLIT + number
    return scene.on_split(seed if seed != scene.seed else FIRST_SPLIT + N_SPLITS)


def refit(
    scene: Scene,
    cell: Cell,
    fairness: str,
    *,
    count: int | None = None,
    drawn: Drawn = "rows",
    first: int = 0,
    solved: SolvedPaths | None = None,
    report: Report | None = None,
) -> Refits:
    """Fit a model of any method again.

    Parameters
    ----------
    count, first : int
        How many times (default, see `n_refits`), and the number of the first: each number has its own sample or split.
    drawn : {"rows", "splits"}
        Bootstrap samples of the training rows with the same f and test rows, or other splits with an f of their own.
    solved : dict, optional
        Filled with points of the λ_fair paths of COMMOD's refits. Passed again for another λ_fair, it saves time and
        changes nothing.
    report : callable, optional
        Called after every refit with the share done; an exception that it raises ends the work.
    """
    count = n_refits(scene, drawn) if count is None else count
    changes = np.zeros(len(scene.test) if drawn == "rows" else 0, dtype=np.int32)
    figures, shares = [], []
    for done, i in enumerate(range(first, first + count), start=1):
        here, shared = drawn_anew(scene, i, drawn), Shared(None if solved is None else solved.get(i))
        before, after = here.decisions_test, _decide(here, cell, fairness, shared)
        if solved is not None:
            solved[i] = shared.warm_start.solved
        if drawn == "rows":
            changes += after != before
        figures.append(here.figures(after))
        worse = (before == here.task.spec.favourable) & (after != before)
        lost = here.figures(before)["accuracy"] - figures[-1]["accuracy"]
        more = {"worse_off": float(np.average(worse, weights=here.test.weight)), "accuracy_lost": lost}
        shares.append(here.shares(after) | more)
        if report is not None:
            report(done / count)
    return Refits(changes, pd.DataFrame(figures), pd.DataFrame(shares))


def points_on_splits(scene: Scene, cells: Sequence[Cell], fairness: str, report: Report | None = None) -> pd.DataFrame:
    """Models on other splits: ``method, split, model`` (place in `cells`) and the key figures on that split's test."""
    rows, count = [], n_refits(scene, "splits")
    for i in range(count):
        here = drawn_anew(scene, i, "splits")
        lines: dict[tuple[Settings, int], Shared] = {}
        for place, cell in enumerate(cells):
            after = _decide(here, cell, fairness, lines.setdefault((cell.others, cell.seed), Shared()))
            rows.append(about_cell(here, cell, fairness) | {"model": place} | here.figures(after))
            if report is not None:
                report((i * len(cells) + place + 1) / (count * len(cells)))
    return pd.DataFrame(rows)


def _decide(scene: Scene, cell: Cell, fairness: str, shared: Shared) -> np.ndarray:
    return (train_cell(scene, cell, fairness, shared).margin(scene.test) > 0).astype(int)
