"""Every method on one scene, on all cores: the Compare page as a table."""

import warnings
from collections.abc import Sequence

import pandas as pd
from joblib import Parallel, delayed

from commod.datasets import Task, is_shipped, load_task
from commod.experiments.grid import Clock, Progress, scene_of
from commod.experiments.scene import SceneKey
from commod.experiments.sweep import lines_of, sweep_method, tuned_form
from commod.installation import MissingExtraError
from commod.models.competitors import METHODS, available_methods
from commod.models.threshold import ONE_HALF


class SweepWarning(UserWarning):
    """A method could not be swept; the others have their points."""


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
        Keys of `METHODS`; by default all that are defined for the criterion and the number of groups.
    seed, threshold : int, float
        Of the split, and the probability above which f decides positively.
    n_jobs : int
        Processes; −1, one per core. The result does not depend on it.
    progress : callable, optional
        ``progress(done, total, seconds_left)``.

    Returns
    -------
    DataFrame
        One row per model, see `commod.experiments.sweep.as_points`.

    Warns
    -----
    SweepWarning
        For each method that fails, once the others are done; if all fail, a ValueError is raised.
    """
    n_groups = len(load_task(data).groups)  # an unknown name is reported before anything starts
    defined = available_methods(fairness, n_groups)
    wanted = defined if methods is None else list(methods)
    for name in wanted:
        if name not in defined:
            of_groups = f" of {n_groups} groups" if n_groups > 2 else ""
            raise ValueError(
                f"There is no method {name!r} for {fairness.replace('_', ' ')}{of_groups}: choose from "
                f"{', '.join(defined)}."
            )
    own = None if is_shipped(data) else load_task(data)  # another process does not know it
    slow_first = sorted(wanted, key=lambda name: -METHODS[name].cost)  # so that no core waits for one at the end
    key = SceneKey(data, base_model, seed, threshold)
    calls = (delayed(_points)(key, name, fairness, own) for name in slow_first)
    total = sum(len(line) for name in wanted for line in lines_of(name, task=load_task(data)))
    clock = Clock(sum(METHODS[name].cost for name in wanted), total, 0, progress)
    found: dict[str, pd.DataFrame] = {}
    failed: list[str] = []
    for name, points in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
        if isinstance(points, str):
            failed.append(points)
        else:
            found[name] = points
        clock.tick(METHODS[name].cost, 0 if isinstance(points, str) else len(points))
    if not found:
        raise ValueError("\n".join(failed))
    for sentence in failed:
        warnings.warn(sentence, SweepWarning, stacklevel=2)
    return pd.concat([found[name] for name in METHODS if name in found], ignore_index=True)


def _points(key: SceneKey, method: str, fairness: str, own: Task | None) -> tuple[str, pd.DataFrame | str]:
    """The points of a method's sweep, computed in this process, or why there are none."""
    try:
        return method, sweep_method(
            scene_of(key, own), method, fairness, form=tuned_form(key.data, method, fairness)
        ).points
    except MissingExtraError:
        raise
    except Exception as error:
        return method, f"{METHODS[method].title} could not be swept: {type(error).__name__}: {error}"
