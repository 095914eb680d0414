import json
import os
import re
import subprocess
import sys
import time
from collections import Counter

import pandas as pd
import pytest

from commod.experiments import grid, grid_of, run_grid
from commod.experiments.grid import Job
from commod.experiments.sweep import Cell
from tests.browsing import ROOT

DP, EO = "demographic_parity", "equalized_odds"


def small():
    return grid_of(["german"], ["oracle_roc", "lpp", "fst"], [DP, EO], [0], models=13)


@pytest.fixture(scope="module")
def serial():
    return run_grid(small(), backend="serial")


def test_a_grid_holds_what_is_defined():
    jobs = small()
    assert {(job.cell.method, job.fairness) for job in jobs} == {
        ("oracle_roc", DP),
        ("lpp", DP),
        ("lpp", EO),
        ("fst", DP),
        ("fst", EO),
    }
    assert len({job.key for job in jobs}) == len(jobs) == 65
    assert {job.split for job in grid_of(["german"], ["lpp"], [DP], [0, 1])} == {0, 1}
    assert {job.cell.seed for job in grid_of(["german"], ["hardt"], [DP], [0])} == {0, 1, 2}
    assert [job.cell.seed for job in grid_of(["german"], ["hardt"], [DP], [0], models=20)] == [0] * 20


@pytest.mark.slow
def test_every_backend_gives_the_same_table(serial):
    assert len(serial) == 65
    assert (serial["error"] == "").all()
    pd.testing.assert_frame_equal(run_grid(small(), backend="processes", n_jobs=2), serial, check_exact=True)


@pytest.mark.slow
def test_a_run_that_was_ended_goes_on_where_it_was(serial, tmp_path, monkeypatch):
    store = tmp_path / "german.jsonl"
    ticks = []

    def kill(done, total, left):
        ticks.append(done)
        if done >= 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(small(), backend="serial", store=store, progress=kill)
    done = ticks[-1]
    assert 25 <= done < 65
    with store.open("a") as file:  # and the power went in the middle of a line
        file.write('{"key": "half a li')
    trained = []
    made = grid.fit_cell
    monkeypatch.setattr(grid, "fit_cell", lambda *given: trained.append(1) or made(*given))
    again = run_grid(small(), backend="serial", store=store)
    assert len(trained) == 65 - done
    pd.testing.assert_frame_equal(again, serial, check_exact=True)
    trained.clear()
    pd.testing.assert_frame_equal(run_grid(small(), backend="serial", store=store), serial, check_exact=True)
    assert not trained


def test_a_model_that_fails_is_recorded_and_the_rest_goes_on(tmp_path):
    right, broken = (Job("german", "logistic_regression", 0, DP, Cell("oracle_roc", value)) for value in (0.1, 7.0))
    store, others = tmp_path / "store.jsonl", small()[:13]
    table = run_grid([right, broken, *others], backend="serial", store=store)
    assert table["error"].ne("").sum() == 1
    assert "margin must be a number from 0 to 0.5" in table["error"].iloc[1]
    assert table["accuracy"].isna().tolist()[:2] == [False, True]
    assert len(table) == 2 + len(others)
    assert len(store.read_text().splitlines()) == len(table) - 1  # margin 0.1 is in both, and trained once
    pd.testing.assert_series_equal(table.iloc[0], table.iloc[2 + 5], check_names=False, check_exact=True)


@pytest.mark.slow
def test_measures_are_added(serial):
    jobs = grid_of(["german"], ["commod"], [DP], [0])[:12]
    table = run_grid(jobs, backend="serial", measures=("tree", "concepts", "scores"))
    assert {"tree_f1_1", "tree_f1_6", "concept_size", "concept_redundancy", "score_move"} <= set(table)
    assert table["concept_redundancy"].eq(0).all()
    assert table["tree_f1_3"].isna().iloc[0]  # nothing changes at λ_fair = 0
    with pytest.raises(ValueError, match="measures must be one of"):
        run_grid(jobs, measures=("beauty",))


@pytest.mark.slow
def test_progress_tells_how_long_it_will_take():
    seen = []
    run_grid(small()[:39], backend="serial", progress=lambda *told: seen.append(told))
    assert seen[0] == (0, 39, None)
    assert [told[0] for told in seen] == list(range(40))  # after every model
    assert seen[-1][2] == 0.0
    assert seen[1][2] > 0


def test_without_dask_the_backend_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(ValueError, match="optional extra: pip install"):
        run_grid(small()[:1], backend="dask")
    with pytest.raises(ValueError, match="backend must be one of"):
        run_grid(small()[:1], backend="cloud")


# In a worker: a line for every model that it has trained.
TELL = """
import json
from commod.experiments import grid, sweep


def fit_cell(scene, cell, fairness, shared):
    model = sweep.fit_cell(scene, cell, fairness, shared)
    with open({log!r}, "a") as file:
        file.write(json.dumps([fairness, cell.method, cell.value]) + "\\n")
    return model


grid.fit_cell = fit_cell
"""


class Cluster:
    """A Dask scheduler and two workers on loopback, all processes of their own that can be killed."""

    def __init__(self, folder):
        self.log = folder / "trained.jsonl"
        self.log.touch()
        preload = folder / "tell.py"
        preload.write_text(TELL.format(log=str(self.log)))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "30s"}
        self.folder, self.preload, self.processes = folder, preload, []
        self.how = {"cwd": folder, "env": environment, "stderr": subprocess.STDOUT}

    def start(self):
        """Its address; what ran before is gone."""
        self.end()
        out = self.folder / "scheduler.txt"
        self.scheduler = self._run(out, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not (found := re.search(r"tcp://127\.0\.0\.1:\d+", out.read_text())):
            assert time.monotonic() < deadline, out.read_text()
            time.sleep(0.2)
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--preload", str(self.preload)]
        self.workers = [self._run(self.folder / f"worker{i}.txt", "dask_worker", found[0], *options) for i in range(2)]
        return found[0]

    def _run(self, out, module, *options):
        with out.open("w") as file:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
            self.processes.append(subprocess.Popen(command, stdout=file, **self.how))
        return self.processes[-1]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def trained(self):
        """How often each model was trained, by any worker."""
        return Counter(map(tuple, map(json.loads, self.log.read_text().splitlines())))


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.end()


def kept_in(store):
    rows = [json.loads(line)["row"] for line in store.read_text().splitlines()]
    models = [(row["fairness"], row["method"], row["value"]) for row in rows]
    assert len(set(models)) == len(models)
    return set(models)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Dask about itself
def test_a_dask_cluster_that_loses_a_worker_loses_no_finished_model(cluster, serial, tmp_path):
    address, store, kept = cluster.start(), tmp_path / "store.jsonl", []

    def kill_one(done, total, left):
        if done >= 10 and not kept:
            cluster.workers[0].kill()
            kept.append(kept_in(store))

    table = run_grid(small(), backend="dask", scheduler=address, store=store, progress=kill_one)
    assert 10 <= len(kept[0]) < len(table) == 65
    assert cluster.workers[0].poll() not in (None, 0)
    assert cluster.workers[1].poll() is None
    pd.testing.assert_frame_equal(table, serial, check_exact=True)
    trained = cluster.trained()
    assert len(trained) == len(kept_in(store)) == 65
    assert {model for model in kept[0] if trained[model] != 1} == set()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_that_loses_its_scheduler_loses_no_finished_model(cluster, serial, tmp_path):
    address, store = cluster.start(), tmp_path / "store.jsonl"

    def kill(done, total, left):
        if done >= 10:
            cluster.scheduler.kill()

    with pytest.raises(ValueError, match="The Dask scheduler at .* was lost") as lost:
        run_grid(small(), backend="dask", scheduler=address, store=store, progress=kill)
    kept = kept_in(store)
    assert 10 <= len(kept) < 65
    assert f"{len(kept)} of 65 models are finished and kept in {store}." in str(lost.value)
    assert str(lost.value).endswith("then repeat the command: it trains the others only.")

    told = []
    table = run_grid(
        small(), backend="dask", scheduler=cluster.start(), store=store, progress=lambda *now: told.append(now[0])
    )
    assert told[0] == len(kept)
    pd.testing.assert_frame_equal(table, serial, check_exact=True)
    trained = cluster.trained()
    assert len(trained) == len(kept_in(store)) == 65
    assert {model for model in kept if trained[model] != 1} == set()


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(grid, "DASK_TIMEOUT", 1)
    with pytest.raises(ValueError, match="There is no Dask scheduler at tcp://127.0.0.1:9"):
        run_grid(small()[:1], backend="dask", scheduler="tcp://127.0.0.1:9")
