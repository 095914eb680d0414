import json
import os
import re
import signal
import subprocess
import sys
import time

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
    assert {(job.cells[0].method, job.fairness) for job in jobs} == {
        ("oracle_roc", DP),
        ("lpp", DP),
        ("lpp", EO),
        ("fst", DP),
        ("fst", EO),
    }
    assert len(jobs) == 5
    keys = [job.key(cell) for job in jobs for cell in job.cells]
    assert len(set(keys)) == len(keys) == 65
    assert len(grid_of(["german"], ["lpp"], [DP], [0, 1])) == 2
    assert len(grid_of(["german"], ["hardt"], [DP], [0])) == 3
    assert [len(job.cells) for job in grid_of(["german"], ["hardt"], [DP], [0], models=20)] == [20]


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
    broken = Job("german", "logistic_regression", 0, DP, (Cell("oracle_roc", 0.1), Cell("oracle_roc", 7.0)))
    store = tmp_path / "store.jsonl"
    table = run_grid([broken, small()[0]], backend="serial", store=store)
    assert table["error"].ne("").sum() == 1
    assert "cannot be more than 0.5" in table["error"].iloc[1]
    assert table["accuracy"].isna().tolist()[:2] == [False, True]
    assert len(table) == 2 + len(small()[0].cells)
    assert len(store.read_text().splitlines()) == len(table)


@pytest.mark.slow
def test_measures_are_added(serial):
    jobs = grid_of(["german"], ["commod"], [DP], [0])[:1]
    table = run_grid(jobs, backend="serial", measures=("tree", "concepts", "scores"))
    assert {"tree_f1_1", "tree_f1_6", "concept_size", "concept_redundancy", "score_move"} <= set(table)
    assert table["concept_redundancy"].eq(0).all()
    assert table["tree_f1_3"].isna().iloc[0]  # nothing changes at λ_fair = 0
    with pytest.raises(ValueError, match="measures must be one of"):
        run_grid(jobs, measures=("beauty",))


def test_progress_tells_how_long_it_will_take():
    seen = []
    run_grid(small()[:3], backend="serial", progress=lambda *told: seen.append(told))
    assert seen[0] == (0, 39, None)
    assert [told[0] for told in seen] == [0, 13, 26, 39]
    assert seen[-1][2] == 0.0
    assert seen[1][2] > 0


def test_without_dask_the_backend_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(ValueError, match="optional extra: pip install"):
        run_grid(small()[:1], backend="dask")
    with pytest.raises(ValueError, match="backend must be one of"):
        run_grid(small()[:1], backend="cloud")


@pytest.fixture
def cluster(tmp_path):
    """A Dask scheduler and two worker processes on loopback."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "30s"}
    python = [sys.executable, "-m"]
    log = tmp_path / "scheduler.log"
    quiet = {"cwd": tmp_path, "env": environment}
    with log.open("w") as out:
        scheduler = subprocess.Popen(
            [*python, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            stdout=out,
            stderr=out,
            **quiet,
        )
    workers = []
    try:
        deadline = time.monotonic() + 60
        while not (found := re.search(r"tcp://127\.0\.0\.1:\d+", log.read_text())):
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        address = found[0]
        for _ in range(2):
            command = [
                *python,
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
            ]
            workers.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **quiet))
        yield address, workers
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Dask about itself
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_table(cluster, serial, tmp_path):
    address, workers = cluster
    killed = []

    def kill_one(done, total, left):
        if done and not killed and all(worker.poll() is None for worker in workers):
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.append(done)

    store = tmp_path / "store.jsonl"
    table = run_grid(small(), backend="dask", scheduler=address, store=store, progress=kill_one)
    assert killed
    assert killed[0] < len(table)
    assert workers[1].poll() is None
    pd.testing.assert_frame_equal(table, serial, check_exact=True)
    assert {json.loads(line)["row"]["method"] for line in store.read_text().splitlines()} == set(serial["method"])


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(grid, "DASK_TIMEOUT", 1)
    with pytest.raises(ValueError, match="There is no Dask scheduler at tcp://127.0.0.1:9"):
        run_grid(small()[:1], backend="dask", scheduler="tcp://127.0.0.1:9")
