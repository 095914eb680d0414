"""Computing in a process of its own: the same digits, errors that come back, work that can be stopped, and its end."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import psutil
import pytest
from joblib import cpu_count

from commod.dashboard.jobs import processes, service
from commod.dashboard.jobs.results import explained, fit_result, sweep, tree_of_changes
from commod.dashboard.jobs.tasks import Step, Task
from commod.dashboard.state.settings import defaults
from commod.experiments import prepare
from commod.experiments.scene import SceneKey
from tests.browsing import ROOT
from tests.waiting import wait_until

SETTINGS = replace(defaults("law_school"), lambda_fair=2.0)
SCENE = SETTINGS.scene()


def silent(_):
    pass


@pytest.fixture(scope="module")
def process():
    made = processes.WorkerProcess()
    wait_until(lambda: made.ready)
    yield made
    made.close()


def compute_in(process, function, *arguments, report=silent):
    assert process.take()
    return process.compute(SCENE, function, arguments, report)


def test_a_model_trained_elsewhere_is_the_same_to_the_last_digit(process):
    there, here = compute_in(process, fit_result, SETTINGS), fit_result(SETTINGS)
    assert np.array_equal(there.g.coef_, here.g.coef_)
    assert np.array_equal(there.ratio_test, here.ratio_test)
    pd.testing.assert_frame_equal(there.path, here.path, check_exact=True)
    assert there.scene is prepare(*SCENE)  # neither the rows nor f were sent
    assert there.g.base_model_ is there.scene.f
    tree, same = compute_in(process, tree_of_changes, there, 3), tree_of_changes(here, 3)
    pd.testing.assert_frame_equal(tree.nodes, same.nodes, check_exact=True)
    there.fill(compute_in(process, explained, there))
    assert there.cards == here.cards
    pd.testing.assert_frame_equal(there.figures, here.figures, check_exact=True)


def test_an_error_comes_back(process):
    with pytest.raises(KeyError, match="nonsense"):
        compute_in(process, sweep, SCENE, "demographic_parity", "nonsense")


def test_work_that_nobody_wants_ends_and_the_process_is_free_again(process):
    class EnoughError(Exception):
        pass

    def report(_):
        raise EnoughError

    started = time.monotonic()
    with pytest.raises(EnoughError):
        compute_in(process, sweep, SCENE, "demographic_parity", "commod", report=report)
    assert time.monotonic() - started < 5
    settings = replace(SETTINGS, lambda_fair=1.0)
    assert np.array_equal(compute_in(process, fit_result, settings).g.coef_, fit_result(settings).g.coef_)


def test_progress_is_reported(process):
    shares = []
    compute_in(process, sweep, SCENE, "demographic_parity", "commod", report=shares.append)
    assert shares == sorted(shares)
    assert max(shares) > 0.2


def pool_with(*members):
    pool = processes.ProcessPool(0)
    pool.workers.extend(members)
    return pool


def test_while_a_process_is_busy_it_is_computed_here(process):
    assert process.take()
    try:
        result = pool_with(process).compute(SCENE, fit_result, SETTINGS, report=silent)
    finally:
        process._lock.release()
    assert result.settings == SETTINGS


def test_a_process_that_is_killed_costs_nothing_and_is_replaced(process, monkeypatch):
    monkeypatch.setattr(processes, "RESTART_PAUSE", 0.0)
    killed = process._process.pid

    def report(_):
        if process._process.pid == killed:
            os.kill(killed, signal.SIGKILL)

    result = pool_with(process).compute(SCENE, fit_result, replace(SETTINGS, seed=1), report=report)
    assert np.array_equal(result.g.coef_, fit_result(replace(SETTINGS, seed=1)).g.coef_)
    os.kill(process._process.pid, 0)  # there is another
    assert process._process.pid != killed
    wait_until(lambda: process.ready)
    assert compute_in(process, fit_result, SETTINGS).settings == SETTINGS


def test_it_ends_with_the_server_however_that_ends():
    source = (
        "from commod.dashboard.jobs.processes import WorkerProcess; import time; "
        "print(WorkerProcess()._process.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", source], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        pid = int(server.stdout.readline())
        assert psutil.pid_exists(pid)
        server.kill()
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_uploaded_data_never_leave_the_server():
    step = Step(lambda settings, report: settings, ("here",))
    task = Task("anything", SceneKey("own-0123", "scores", 0), (), (step,))
    (stage,) = task.stages(lambda: pytest.fail("handed over"))
    assert stage.work(silent) == "here"


@pytest.mark.parametrize(("asked", "expected"), [("3", 3), ("0", 0), ("", None), ("many", None), ("-1", None)])
def test_how_many_there_are_can_be_asked_for(monkeypatch, asked, expected):
    monkeypatch.setenv("COMMOD_PROCESSES", asked)
    assert service._foreground() == (max(1, cpu_count() // 2) if expected is None else expected)
