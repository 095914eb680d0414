"""Any grid of data sets, splits, criteria, methods, settings and seeds: here, on all cores, or on a Dask cluster."""

import json
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, as_completed
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from threading import get_ident
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from commod.datasets import Task, add_task, is_known, is_shipped, load_task
from commod.experiments.match import MEASURES, row_of
from commod.experiments.scene import Scene, SceneKey, prepare
from commod.experiments.sweep import Cell, Shared, about_cell, fit_cell, lines_of
from commod.installation import MissingExtraError, needs_extra
from commod.models.competitors import METHODS
from commod.models.threshold import ONE_HALF
from commod.models.validation import check_choice

BACKENDS = ("serial", "processes", "dask")
# Data sets swept by default: not law_school_full, which contains law_school, nor the invented ratings.
SWEPT = ("law_school", "compas", "adult", "german", "hiring")
DASK_TIMEOUT = 10  # seconds to wait for the scheduler
LINES = 4  # for which a process keeps what is shared

# (cells done, cells in all, seconds left as far as known)
Progress = Callable[[int, int, float | None], None]
# (job, its row, seconds of a core that it took)
Finished = tuple["Job", dict[str, Any], float]


@dataclass(frozen=True)
class Job:
    """One model of a method's sweep on one scene."""

    dataset: str
    base_model: str
    split: int
    fairness: str
    cell: Cell
    threshold: float = ONE_HALF

    @property
    def key(self) -> str:
        """A stable name: the same in every run and every grid."""
        parts = [self.dataset, self.base_model, self.split, self.fairness]
        parts += [] if self.threshold == ONE_HALF else [self.threshold]
        cell = self.cell
        return json.dumps([*parts, cell.method, cell.value, dict(cell.others), cell.seed], sort_keys=True)

    @property
    def scene(self) -> SceneKey:
        return SceneKey(self.dataset, self.base_model, self.split, self.threshold)

    @property
    def cost(self) -> float:
        """About how long it takes, in models of a quick method on one row: four times the rows take twice as long."""
        return METHODS[self.cell.method].cost * len(load_task(self.dataset).y) ** 0.5


def grid_of(
    datasets: Sequence[str],
    methods: Sequence[str],
    criteria: Sequence[str],
    splits: Sequence[int],
    *,
    models: int | None = None,
) -> list[Job]:
    """The sweeps of methods over data sets, criteria and splits, each if it is defined for the criterion and groups.

    `models`: per method and split, with one seed; by default the sweep declared in the registry.
    """
    jobs = []
    for dataset, split, fairness, method in product(datasets, splits, criteria, methods):
        task = load_task(dataset)
        if fairness in METHODS[method].criteria and METHODS[method].takes(len(task.groups)):
            cells = (cell for line in lines_of(method, models, task=task) for cell in line)
            jobs += [Job(dataset, "logistic_regression", split, fairness, cell) for cell in cells]
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
    store : path, optional
        File that collects finished models, one line of JSON each. A killed run that is started again with the same file
        computes only what is missing.
    measures : sequence of str
        What is measured besides the figures: "tree" (F1 of trees on the changes by depth), "concepts", "scores",
        "checks" (the share of the changes right by the record, and the share that f was sure of).
    backend : {"serial", "processes", "dask"}
        In this process; on `n_jobs` processes of this machine; on a Dask cluster.
    scheduler : str, optional
        Address of the Dask scheduler ("tcp://…"); by default a cluster of `n_jobs` processes on this machine.
    progress : callable, optional
        ``progress(done, total, seconds_left)``.

    Returns
    -------
    DataFrame
        One row per model in the order of the grid, the same for every backend. For a model that failed, ``error`` gives
        the reason, and there are no figures.
    """
    check_choice("backend", backend, BACKENDS)
    for measure in measures:
        check_choice("measures", measure, MEASURES)
    finished = _read(store)
    wanted = {job.key: job for job in jobs}
    # The slow ones first, so that no core waits for one at the end; the models of a line stay side by side.
    left = sorted((job for key, job in wanted.items() if key not in finished), key=lambda job: -job.cost)
    clock = Clock(sum(job.cost for job in left), len(wanted), len(wanted) - len(left), progress)
    # Each process prepares the scenes that it needs.
    own = {job.dataset: load_task(job.dataset) for job in left if not is_shipped(job.dataset)}
    calls = [(job, own.get(job.dataset), tuple(measures)) for job in left]
    if backend == "dask":
        run = _on_dask(calls, n_jobs, scheduler)
    else:
        parallel = Parallel(n_jobs=1 if backend == "serial" else n_jobs, return_as="generator_unordered")
        run = parallel(delayed(_train)(*call) for call in calls)
    try:
        with closing(run):
            for job, row, seconds in run:
                _append(store, job.key, row, seconds)
                finished[job.key] = row
                clock.tick(job.cost, 1)
    except _SchedulerLostError:
        where = f"kept in {store}" if store else "lost, because no file was given to keep them in"
        raise ValueError(
            f"The Dask scheduler{f' at {scheduler}' if scheduler else ''} was lost. {clock.done:,} of {clock.total:,} "
            f"models are finished and {where}. Start a scheduler and workers, then repeat the command: it trains "
            f"{'the others only' if store else 'all of them'}."
        ) from None
    return pd.DataFrame([finished[job.key] for job in jobs])


def scene_of(key: SceneKey, own: Task | None) -> Scene:
    """A scene in this process; `own` is a data set that is not built in, so that another process does not know it."""
    if own is not None and not is_known(own.name):
        add_task(own)
    return prepare(*key)


@lru_cache(maxsize=LINES)
def _shared_of(line: tuple[Any, ...], thread: int) -> Shared:
    return Shared()


def _train(job: Job, own: Task | None, measures: Sequence[str]) -> Finished:
    """Train the model of a job in this process; if that fails, its row has the reason."""
    scene, cell = scene_of(job.scene, own), job.cell
    shared = _shared_of((job.scene, job.fairness, cell.method, cell.others, cell.seed), get_ident())
    about, started = about_cell(scene, cell, job.fairness) | {"error": ""}, time.thread_time()
    try:
        row = about | row_of(scene, fit_cell(scene, cell, job.fairness, shared), measures)
    except MissingExtraError:  # the same for every model of the method, and easy to fix
        raise
    except Exception as error:  # recorded, so that the rest of the grid goes on
        row = about | {"error": f"{type(error).__name__}: {error}"}
    return job, row, time.thread_time() - started


class _SchedulerLostError(Exception):
    """The scheduler no longer answers: running work is lost, finished work is not."""


def _on_dask(calls: Sequence[tuple[Any, ...]], n_jobs: int, scheduler: str | None) -> Generator[Finished]:
    """On a Dask cluster, whose own executor says which models were lost with the scheduler."""
    with needs_extra("The backend dask", "dask"):
        from dask.distributed import Client, KilledWorker, LocalCluster
    with ExitStack() as stack:
        cluster: Any = scheduler
        if scheduler is None:
            workers = None if n_jobs < 1 else n_jobs
            cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
            stack.enter_context(cluster)
        try:
            client: Any = stack.enter_context(Client(cluster, timeout=DASK_TIMEOUT))
        except OSError:
            raise ValueError(
                f"There is no Dask scheduler at {scheduler}: start one with 'dask scheduler' and workers with 'dask "
                "worker ADDRESS', or leave --scheduler out."
            ) from None
        executor = client.get_executor(pure=False)
        lost = False
        # All are awaited even if the scheduler is lost: some results may have arrived that were not read yet.
        for future in as_completed([executor.submit(_train, *call) for call in calls]):
            try:
                yield future.result()
            except CancelledError:
                lost = True
            except KilledWorker as error:
                raise ValueError(
                    f"{error.task} ended every worker that tried it, probably for lack of memory: give workers more "
                    "(dask worker --memory-limit), then run the same command again."
                ) from None
        if lost:
            raise _SchedulerLostError


def _read(store: Path | None) -> dict[str, dict[str, Any]]:
    """Finished rows by key. A last line cut short by a kill is skipped: its models are trained again."""
    if store is None or not store.exists():
        return {}
    rows, text = {}, store.read_text()
    if text and not text.endswith("\n"):
        with store.open("a") as file:
            file.write("\n")  # so that the next line starts on its own
    for line in text.splitlines():
        try:
            entry = json.loads(line)
            rows[entry["key"]] = entry["row"]
        except (ValueError, KeyError, TypeError):
            continue
    return rows


def _append(store: Path | None, key: str, row: dict[str, Any], seconds: float) -> None:
    if store is None:
        return
    store.parent.mkdir(parents=True, exist_ok=True)
    with store.open("a") as file:
        file.write(json.dumps({"key": key, "row": row, "seconds": round(seconds, 4)}) + "\n")


class Clock:
    """Reports progress, and estimates the seconds left from the remaining cost."""

    def __init__(self, cost: float, total: int, done: int, progress: Progress | None) -> None:
        self.cost, self.spent = cost, 0.0
        self.total, self.done = total, done
        self.progress = progress
        self.started = time.monotonic()
        if progress is not None:
            progress(done, total, None)

    def tick(self, cost: float, models: int) -> None:
        self.spent += cost
        self.done += models
        if self.progress is not None:
            seconds = time.monotonic() - self.started
            self.progress(self.done, self.total, seconds * (self.cost - self.spent) / self.spent)
