"""Any grid of data sets, splits, criteria, methods, settings and seeds: here, on all cores, or on a Dask cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from commod.datasets import Task, add_task, is_known, is_shipped, load_task
from commod.experiments.measure import MEASURES, row_of
from commod.experiments.scene import prepare
from commod.experiments.sweep import Cell, Shared, about_cell, fit_cell, lines_of
from commod.installation import MissingExtraError, needs_extra
from commod.models.competitors import METHODS
from commod.models.threshold import ONE_HALF
from commod.models.validation import check_choice

__all__ = ["BACKENDS", "Job", "grid_of", "run_grid"]

BACKENDS = ("serial", "processes", "dask")
# Seconds to wait for the scheduler.
DASK_TIMEOUT = 10

# (cells done, cells in all, seconds left as far as can be told)
Progress = Callable[[int, int, float | None], None]


@dataclass(frozen=True)
class Job:
    """Models that one process trains one after the other: a line of a method's sweep on one scene."""

    dataset: str
    base_model: str
    split: int
    fairness: str
    cells: tuple[Cell, ...]
    threshold: float = ONE_HALF

    def key(self, cell: Cell) -> str:
        """What names a model of the grid for good: the same in every run, whatever else is in the grid."""
        parts = [self.dataset, self.base_model, self.split, self.fairness]
        parts += [] if self.threshold == ONE_HALF else [self.threshold]
        return json.dumps([*parts, cell.method, cell.value, dict(cell.others), cell.seed], sort_keys=True)

    @property
    def cost(self) -> float:
        """In models of a quick method."""
        return len(self.cells) * METHODS[self.cells[0].method].cost


def grid_of(
    datasets: Sequence[str],
    methods: Sequence[str],
    criteria: Sequence[str],
    splits: Sequence[int],
    *,
    base_model: str = "logistic_regression",
    threshold: float = ONE_HALF,
    models: int | None = None,
) -> list[Job]:
    """The sweeps of methods over data sets, criteria and splits; each where it is defined for the criterion and groups.

    Parameters
    ----------
    threshold : float
        The probability above which f decides positively.
    models : int, optional
        Of each method on each split, with one seed; default, the sweep as declared in the registry.
    """
    jobs = []
    for dataset, split, fairness, method in product(datasets, splits, criteria, methods):
        task = load_task(dataset)
        if fairness not in METHODS[method].criteria or not METHODS[method].takes(len(task.groups)):
            continue
        for line in lines_of(method, models, task=task):
            jobs.append(Job(dataset, base_model, split, fairness, tuple(line), threshold))
    return jobs


def run_grid(
    jobs: Sequence[Job],
    *,
    store: Path | None = None,
    measures: Sequence[str] = (),
    backend: str = "processes",
    n_jobs: int = -1,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Train every model of a grid and measure it on test.

    Parameters
    ----------
    jobs : sequence of Job
    store : path, optional
        File to which finished models are added as they come in, a line of JSON each. A run that is killed and started
        again with the same file computes only what is not in it.
    measures : sequence of str
        What is measured beside the figures: "tree" (F1 of trees on the changes by depth), "concepts", "scores",
        "checks" (of those changed, the share right by the record and the share of which f was sure).
    backend : {"serial", "processes", "dask"}
        In this process; on `n_jobs` processes of this machine; on a Dask cluster.
    scheduler : str, optional
        Address of the Dask scheduler ("tcp://…"); default, a cluster of `n_jobs` processes on this machine.
    progress : callable, optional
        ``progress(done, total, seconds_left)``.

    Returns
    -------
    DataFrame
        One row per model in the order of the grid, the same for every backend. A model that failed has its reason in
        ``error`` and no figures.
    """
    check_choice("backend", backend, BACKENDS)
    for measure in measures:
        check_choice("measures", measure, MEASURES)
    finished = _read(store)
    wanted = [job.key(cell) for job in jobs for cell in job.cells]
    left = [_without(job, finished) for job in jobs]
    left = [job for job in left if job.cells]
    # The slow ones first, so that no core waits for one at the end.
    left.sort(key=lambda job: -job.cost)
    clock = _Clock(sum(job.cost for job in left), len(wanted), sum(key in finished for key in wanted), progress)
    with _parallel(backend, n_jobs, scheduler) as run:
        own = {job.dataset: load_task(job.dataset) for job in left if not is_shipped(job.dataset)}
        for job, rows in run(delayed(_run_job)(job, tuple(measures), own.get(job.dataset)) for job in left):
            _append(store, rows)
            finished |= rows
            clock.tick(job)
    return pd.DataFrame([finished[key] for key in wanted])


def _without(job: Job, finished: dict[str, Any]) -> Job:
    left = tuple(cell for cell in job.cells if job.key(cell) not in finished)
    return replace(job, cells=left)


def _run_job(job: Job, measures: tuple[str, ...], own: Task | None) -> tuple[Job, dict[str, dict[str, Any]]]:
    """Train the models of a job where this runs; a model that fails is a row with its reason.

    `own` is the data set if it does not ship with the project: another process does not know it.
    """
    if own is not None and not is_known(own.name):
        add_task(own)
    rows: dict[str, dict[str, Any]] = {}
    scene, shared = prepare(job.dataset, job.base_model, job.split, job.threshold), Shared()
    for cell in job.cells:
        about = about_cell(scene, cell, job.fairness) | {"error": ""}
        try:
            row = about | row_of(scene, fit_cell(scene, cell, job.fairness, shared), measures)
        except MissingExtraError:  # the same for every model of the method, and soon put right
            raise
        except Exception as error:  # recorded, so that the rest of the grid goes on
            row = about | {"error": f"{type(error).__name__}: {error}"}
        rows[job.key(cell)] = row
    return job, rows


# ---- where it runs ----


@contextmanager
def _parallel(backend: str, n_jobs: int, scheduler: str | None) -> Iterator[Callable[[Iterable[Any]], Iterable[Any]]]:
    """Something that runs jobs and yields their results as they come in."""
    if backend != "dask":
        yield Parallel(n_jobs=1 if backend == "serial" else n_jobs, return_as="generator_unordered")
        return
    with needs_extra("The backend dask", "dask"):
        from dask.distributed import Client, LocalCluster, as_completed
    cluster: Any = scheduler
    if scheduler is None:
        workers = None if n_jobs < 1 else n_jobs
        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    try:
        client: Any = Client(cluster, timeout=DASK_TIMEOUT)
    except OSError:
        raise ValueError(
            f"There is no Dask scheduler at {scheduler}: start one with 'dask scheduler' and workers with 'dask worker "
            "ADDRESS', or leave --scheduler out."
        ) from None

    def run(calls: Iterable[Any]) -> Iterator[Any]:
        # Not through joblib: on a cluster of one thread it would compute here, and wait for what it sends away below.
        submitted = [client.submit(function, *some, pure=False, **named) for function, some, named in calls]
        for done in as_completed(submitted):
            yield done.result()

    with client:
        yield run
    if scheduler is None:
        cluster.close()


# ---- what is finished ----


def _read(store: Path | None) -> dict[str, dict[str, Any]]:
    """Finished rows by key. A last line cut short by a kill is passed over: its models are trained again."""
    if store is None or not store.exists():
        return {}
    rows = {}
    for line in store.read_text().splitlines():
        try:
            entry = json.loads(line)
            rows[entry["key"]] = entry["row"]
        except (ValueError, KeyError, TypeError):
            continue
    return rows


def _append(store: Path | None, rows: dict[str, dict[str, Any]]) -> None:
    if store is None:
        return
    store.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps({"key": key, "row": row}) + "\n" for key, row in rows.items())
    with store.open("a+") as file:
        # After a kill in the middle of a line, what follows must not be glued to it.
        file.seek(0, 2)
        if file.tell() > 0:
            file.seek(file.tell() - 1)
            if file.read(1) != "\n":
                text = "\n" + text
        file.write(text)


class _Clock:
    """Tells how far a run is and how long it will take."""

    def __init__(self, cost: float, total: int, done: int, progress: Progress | None) -> None:
        self.cost, self.spent = cost, 0.0
        self.total, self.done = total, done
        self.progress = progress
        self.started = time.monotonic()
        if progress is not None:
            progress(done, total, None)

    def tick(self, job: Job) -> None:
        """A job is done."""
        self.spent += job.cost
        self.done += len(job.cells)
        if self.progress is not None:
            seconds = time.monotonic() - self.started
            self.progress(self.done, self.total, seconds * (self.cost - self.spent) / self.spent)
