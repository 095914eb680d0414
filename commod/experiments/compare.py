"""Every method on one scene, on all cores: what the Compare page draws, as a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from commod.datasets import load_task
from commod.experiments.grid import Progress, grid_of, run_grid
from commod.experiments.sweep import as_points
from commod.models.competitors import METHODS, available_methods
from commod.models.threshold import ONE_HALF

__all__ = ["compare"]


def compare(
    data: str,
    *,
    methods: Sequence[str] | None = None,
    fairness: str = "demographic_parity",
    base_model: str = "logistic_regression",
    seed: int = 0,
    threshold: float = ONE_HALF,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Sweep methods on a data set.

    Parameters
    ----------
    data : str
        Name of a task, with its grouping: "adult", "adult.race_sex".
    methods : sequence of str, optional
        Keys of `METHODS`; default, all that are defined for the criterion and the number of groups.
    seed : int
        Of the split.
    threshold : float
        The probability above which f decides positively.
    n_jobs : int
        Processes; −1, one per core. The result does not depend on it.
    progress : callable, optional
        ``progress(done, total, seconds_left)``.

    Returns
    -------
    DataFrame
        One row per model, see `commod.experiments.sweep.as_points`.
    """
    n_groups = len(load_task(data).groups)  # a name that is none is told before anything starts
    defined = available_methods(fairness, n_groups)
    wanted = defined if methods is None else list(methods)
    for name in wanted:
        if name not in defined:
            of_groups = f" of {n_groups} groups" if n_groups > 2 else ""
            raise ValueError(
                f"There is no method {name!r} for {fairness.replace('_', ' ')}{of_groups}: choose from "
                f"{', '.join(defined)}."
            )
    in_order = [name for name in METHODS if name in wanted]
    jobs = grid_of([data], in_order, [fairness], [seed], base_model=base_model, threshold=threshold)
    rows = run_grid(jobs, measures=["checks"], n_jobs=n_jobs, progress=progress)
    failed = rows[rows["error"] != ""]
    if len(failed):
        first = failed.iloc[0]
        raise ValueError(
            f"{len(failed)} models failed, the first ({first['method']}, {first['settings']}): {first['error']}"
        )
    return as_points(rows)
