"""The whole sweep (all methods × 5 data sets × 10 splits) through Dask: ``python -m tests.benchmarks.sweep``.

On a sample of it, one worker is compared with two, and it is told where their time goes: of each method, criterion and
data set one model, that in the middle of its sweep, on split 0. Starting the workers is told apart, imports included.

With ``--cluster 100`` nothing is compared: on one worker three models of each method, criterion and data set are timed
(the first of its sweep, that in the middle, the last), the making of scenes and what the scheduler costs are measured,
and the arithmetic for a cluster of so many workers is printed. ``--store FILE`` keeps the timed models.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import psutil
from dask.distributed import Client, LocalCluster, as_completed

from commod.experiments import grid_of, run_grid
from commod.experiments.grid import SWEPT, Job
from commod.experiments.scene import prepare
from commod.experiments.sweep import Cell
from commod.models.competitors import METHODS

CRITERIA = ("demographic_parity", "equalized_odds")
SPLITS = 10
NOTHING = 2000  # tasks that do nothing


def strata(splits):
    """Jobs of one model each, by method, criterion and data set."""
    written = [name for name, method in METHODS.items() if method.is_written]
    found = defaultdict(list)
    for job in grid_of(SWEPT, written, CRITERIA, splits):
        found[job.cell.method, job.fairness, job.dataset].append(job)
    return dict(found)


def sample(count):
    """So many models of each, evenly from the first to the last of a sweep; one is that in the middle."""
    chosen = []
    for jobs in strata([0]).values():
        places = np.linspace(0, len(jobs) - 1, count) if count > 1 else [len(jobs) // 2]
        chosen += [jobs[round(place)] for place in places]
    return chosen


def imported():
    """What every worker imports before its first model."""
    import fairlearn.postprocessing  # noqa: F401
    import torch._dynamo  # noqa: F401

    import commod.experiments  # noqa: F401


def busy():
    """Seconds of cores that were used so far by all but this process and its workers."""
    here = psutil.Process()
    own = sum(sum(each.cpu_times()[:2]) for each in (here, *here.children(recursive=True)))
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - own


def memory():
    return psutil.Process().memory_info().rss


class Cluster:
    """Workers on this machine, with the scheduler in this process."""

    def __init__(self, workers):
        started = time.perf_counter()
        self.workers = workers
        self.cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        self.client = Client(self.cluster)
        self.client.run(imported)
        self.start = time.perf_counter() - started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.cluster.close()

    def run(self, jobs, store):
        """The table, and where the time of the workers went (seconds)."""
        self.client.get_task_stream()  # from now on it is written down
        started, cpu, others = time.perf_counter(), time.process_time(), busy()
        table = run_grid(jobs, store=store, backend="dask", scheduler=self.cluster.scheduler_address)
        parts = {"all": time.perf_counter() - started, "scheduler and client": time.process_time() - cpu}
        parts["others"] = busy() - others
        parts |= dict.fromkeys(("training", "transfer"), 0.0)
        for task in self.client.get_task_stream():
            for part in task["startstops"]:
                what = "training" if part["action"] == "compute" else "transfer"
                parts[what] += part["stop"] - part["start"]
        spent = parts["training"] + parts["transfer"]
        parts["waiting"] = self.workers * parts["all"] - spent
        return table, parts

    def overhead(self):
        """Seconds a task that does nothing: until all are here, and of this process, which schedules and asks."""
        job = Job("german", "logistic_regression", 0, CRITERIA[0], Cell("oracle_roc", 0.1))
        row = run_grid([job], backend="serial").iloc[0].to_dict()
        scene = self.client.submit(np.zeros, 10)
        started, cpu = time.perf_counter(), time.process_time()
        futures = self.client.map(nothing, [scene] * NOTHING, [job] * NOTHING, row=row, pure=False)
        for batch in as_completed(futures).batches():
            self.client.gather(batch)
        return (time.perf_counter() - started) / NOTHING, (time.process_time() - cpu) / NOTHING


def nothing(scene, job, row):
    return job, row


def compare():
    jobs, alone, tables = sample(1), {}, []
    print(f"{len(jobs)} models of {len({job.cell.method for job in jobs})} methods on {len(SWEPT)} data sets")
    for workers in (1, 2):
        with Cluster(workers) as cluster, tempfile.TemporaryDirectory() as folder:
            table, parts = cluster.run(jobs, Path(folder) / "store.jsonl")
        tables.append(table)
        alone[workers] = parts | {"start": cluster.start}
        told = ", ".join(f"{name} {seconds:.1f}" for name, seconds in alone[workers].items())
        print(f"{workers} worker{'s' if workers > 1 else ''}, seconds: {told}", flush=True)
    assert tables[0].equals(tables[1]), "two workers gave another table"
    one, two = alone[1], alone[2]
    with_start = (one["all"] + one["start"]) / (two["all"] + two["start"])
    print(f"two workers are {one['all'] / two['all']:.2f}× as fast as one ({with_start:.2f}× with their start)")
    for name, parts in (("one", one), ("two", two)):
        beside = parts["others"] / (psutil.cpu_count() * parts["all"])
        print(f"beside {name}, others used {beside:.0%} of the machine{': no fair measure' if beside > 0.1 else ''}")
    slower = two["training"] / one["training"] - 1
    print(
        f"a model takes {slower:+.0%} longer beside another; two workers wait {two['waiting'] / (2 * two['all']):.0%}"
    )


def arithmetic(workers, store):
    jobs = sample(3)
    with Cluster(1) as cluster:
        run_grid(jobs, store=store, backend="dask", scheduler=cluster.cluster.scheduler_address, progress=tell)
        per_task, of_scheduler = cluster.overhead()
        rss = max(cluster.client.run(memory).values())
    print(file=sys.stderr)
    lines = [json.loads(line) for line in store.read_text().splitlines()]
    seconds = {line["key"]: line["seconds"] for line in lines}
    row_bytes = np.mean([len(json.dumps(line)) for line in lines])
    timed = defaultdict(list)
    for job in jobs:
        timed[job.cell.method, job.fairness, job.dataset].append(seconds[job.key])
    counts = {stratum: len(models) for stratum, models in strata(range(SPLITS)).items()}
    by_method = defaultdict(lambda: [0, 0.0, 0.0])
    for stratum, count in counts.items():
        entry = by_method[stratum[0]]
        entry[0] += count
        entry[1] += count * float(np.mean(timed[stratum]))
        entry[2] = max(entry[2], *timed[stratum])
    cells, total = sum(counts.values()), sum(entry[1] for entry in by_method.values())
    longest = max(entry[2] for entry in by_method.values())

    print("| method | models | seconds of a core, mean | longest | of all |\n|---|---|---|---|---|")
    for method, (count, cost, most) in sorted(by_method.items(), key=lambda item: -item[1][1]):
        print(f"| {METHODS[method].title} | {count:,} | {cost / count:.2f} | {most:.1f} | {cost / total:.0%} |")

    print("\n| scene | made in (s) |\n|---|---|")
    made = 0.0
    for name in SWEPT:
        started = time.process_time()
        scene = prepare(name, seed=1)  # of a split that was not prepared before
        scene.membership()
        took = time.process_time() - started
        made += SPLITS * took
        print(f"| {name} | {took:.1f} |")

    work = total + made
    by_work = total / workers + made + longest  # at worst, every worker makes every scene
    by_scheduler = cells * of_scheduler
    wall = max(by_work, by_scheduler) + cluster.start
    print(f"\n{cells:,} models: {total:,.0f} s of a core, {total / cells:.2f} s each; scenes {made:.0f} s more")
    print(f"one worker: {work / 3600:.1f} h; two: {work / 7200:.1f} h")
    print(f"a row is {row_bytes:.0f} bytes, all rows {cells * row_bytes / 1e6:.0f} MB; a worker has {rss / 1e6:.0f} MB")
    print(f"a task that does nothing: {per_task * 1e3:.2f} ms, {of_scheduler * 1e3:.2f} ms of scheduler and client")
    print(f"{workers} workers: shared evenly {total / workers:.0f} s, the longest model {longest:.1f} s, every scene")
    print(f"made by every worker {made:.0f} s, start {cluster.start:.0f} s")
    print(
        f"the scheduler is busy for {by_scheduler:.0f} s, and holds {of_scheduler and total / cells / of_scheduler:.0f}"
    )
    print(f"workers at most; expected {wall:.0f} s, efficiency {work / (workers * wall):.2f}")
    lost = total / cells / 2 + made
    print(f"a lost worker costs {lost:.1f} s of a core on average, {longest + made:.1f} s at most")


def tell(done, total, left):
    print(f"\r{done} of {total}", end="", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", type=int, metavar="WORKERS")
    parser.add_argument("--store", type=Path)
    arguments = parser.parse_args()
    if arguments.cluster is None:
        compare()
        return
    with tempfile.TemporaryDirectory() as folder:
        arithmetic(arguments.cluster, arguments.store or Path(folder) / "store.jsonl")


if __name__ == "__main__":  # the workers import this file
    main()
