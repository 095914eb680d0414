"""Computing in a process of its own: the same digits, errors that come back, work that can be stopped, and its end."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Event, Thread, Timer
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest
from joblib import cpu_count

from commod.dashboard.jobs import processes, service
from commod.dashboard.jobs.helper import trained_parts
from commod.dashboard.jobs.queue import Abandoned, Stage, WorkQueue
from commod.dashboard.jobs.results import explained, fit_result, sweep, tree_of_changes
from commod.dashboard.jobs.scheduling import Kind
from commod.dashboard.jobs.wait import in_line
from commod.dashboard.state.own_data import OwnData
from commod.dashboard.state.settings import defaults
from commod.datasets import add_task, is_known, load_task
from commod.experiments import prepare
from commod.experiments import scene as scene_module
from commod.experiments.scene import SceneKey, has_trained
from tests.browsing import ROOT
from tests.dashboard.jobs.odd_helper import serve_oddly
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
        compute_in(process, sweep, SCENE, "demographic_parity", "commod", (), report=report)
    assert time.monotonic() - started < 5
    settings = replace(SETTINGS, lambda_fair=1.0)
    assert np.array_equal(compute_in(process, fit_result, settings).g.coef_, fit_result(settings).g.coef_)


def test_progress_is_reported(process):
    shares = []
    compute_in(process, sweep, SCENE, "demographic_parity", "commod", (), report=shares.append)
    assert shares == sorted(shares)
    assert max(shares) > 0.2


def pool_with(*members):
    pool = processes.ProcessPool(0)
    pool.workers.extend(members)
    pool._numbers = Counter(member.kind for member in members)
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
    source = """
import time
from commod.dashboard.jobs.processes import Kind, WorkerProcess
worker = WorkerProcess(Kind.APART)
while not worker.take():
    time.sleep(0.05)
print(worker._process.pid, flush=True)
worker.call(time.sleep, (60,), lambda share: None, heavy=False)  # in the midst of which it hears nothing
"""
    with subprocess.Popen([sys.executable, "-c", source], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        pid = int(server.stdout.readline())
        assert psutil.pid_exists(pid)
        server.kill()
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


# ---- processes that hang, or talk nonsense ----


@pytest.fixture
def impatient(monkeypatch):
    """What hangs is ended sooner than in earnest."""
    for name, seconds in {"STOPPED": 0.3, "SILENT": 0.6, "WATCH": 0.05, "RESTART_PAUSE": 0.0}.items():
        monkeypatch.setattr(processes, name, seconds)


@contextmanager
def looked_after(*workers):
    """A pool of just these, and its thread that looks after them."""
    pool, over = pool_with(*workers), Event()

    def look():
        while not over.wait(processes.WATCH):
            for worker in workers:
                worker.look()

    thread = Thread(target=look)
    thread.start()
    try:
        yield pool
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("kind", [Kind.FOREGROUND, Kind.BACKGROUND])
def test_a_process_that_is_stopped_in_mid_training_is_replaced_and_its_work_done_again(impatient, monkeypatch, kind):
    monkeypatch.setenv("COMMOD_WARM_UP", "0")
    worker = processes.WorkerProcess(kind)
    wait_until(lambda: worker.ready)
    stopped = worker._process.pid
    settings = replace(SETTINGS, seed=1, lambda_fair=3.0)

    def work(report):
        def hear(share):
            report(share)
            if worker._process.pid == stopped:
                os.kill(stopped, signal.SIGSTOP)

        return pool.compute(SCENE, fit_result, settings, report=hear, background=kind is Kind.BACKGROUND)

    with looked_after(worker) as pool:
        started = time.monotonic()
        with WorkQueue(2).submit("job", Stage(work)) as ticket:
            wait_until(ticket.has)
            assert np.array_equal(ticket.result().g.coef_, fit_result(settings).g.coef_)
        assert time.monotonic() - started < 20
        assert worker._process.pid != stopped
    worker.close()


def test_those_who_wait_are_told_that_it_is_done_again(impatient):
    queue, goes_on = WorkQueue(2), Event()

    class Lost:
        kind = Kind.FOREGROUND

        def take(self):
            return True

        def compute(self, *_):
            raise ConnectionError

    def function(report):
        goes_on.wait(10)
        return "done"

    pool = pool_with(Lost())
    with queue.submit("job", Stage(lambda report: pool.compute(SCENE, function, report=report))) as ticket:
        wait_until(lambda: ticket.note == processes.AGAIN)
        assert in_line("Training", ticket).startswith(processes.AGAIN)
        goes_on.set()
        assert ticket.wait(10)
        assert ticket.note == ""


def test_a_process_that_is_stopped_while_it_has_nothing_to_do_is_replaced(impatient):
    worker = processes.WorkerProcess()
    wait_until(lambda: worker.ready)
    stopped = worker._process.pid
    with looked_after(worker):
        os.kill(stopped, signal.SIGSTOP)
        wait_until(lambda: worker._process.pid != stopped)
    worker.close()


def test_a_process_that_nobody_asks_anything_is_left_alone(impatient):
    worker = processes.WorkerProcess()
    pid = worker._process.pid
    with looked_after(worker):
        wait_until(lambda: worker._ready)
        time.sleep(1.5)
        assert worker._process.pid == pid
    worker.close()


ODD = ("bytes", "half a message", "an unknown word", "not a pair", "content that is none", "content cut off", "silent")


@pytest.mark.parametrize("odd", [*ODD, "deaf"])
def test_a_process_that_answers_nonsense_or_nothing_is_given_up_and_the_work_done_here(impatient, monkeypatch, odd):
    monkeypatch.setattr(processes, "helper", SimpleNamespace(serve=partial(serve_oddly, odd)))
    worker = processes.WorkerProcess()
    wait_until(lambda: worker.ready)
    first = worker._process.pid
    load = np.zeros(2_000_000) if odd == "deaf" else None  # more than the pipe holds
    with looked_after(worker) as pool:
        assert pool.compute(SCENE, own_length, load, report=silent) == (0 if load is None else 2_000_000)
        assert worker._process.pid != first
    worker.close()


def own_length(load, report):
    return 0 if load is None else len(load)


def test_a_process_at_work_is_not_taken_for_one_that_hangs(impatient, process):
    with looked_after(process):
        pid = process._process.pid
        compute_in(process, busy, 2.0)
        assert process._process.pid == pid


def busy(seconds, report):
    """Without a word."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(1000))


# ---- data that somebody has brought ----


@pytest.fixture
def own():
    """Data in use, as a session has them."""
    task = load_task("law_school")
    made = OwnData(replace(task, spec=replace(task.spec, scores="", suited={})))
    yield made.name
    made.forget()


@pytest.fixture
def apart():
    made = processes.WorkerProcess(Kind.APART)
    wait_until(lambda: made.ready)
    yield made
    made.close()


@pytest.mark.slow
def test_an_f_is_trained_in_a_process_that_ends_with_it_if_the_data_are_large(own, apart):
    key, pid = SceneKey(own, "random_forest", 3), apart._process.pid
    pool_with(apart).train(key, silent, heavy=True)
    assert not psutil.pid_exists(pid)
    assert has_trained(key)
    there, here = prepare(*key), prepare("law_school", "random_forest", 3)
    assert np.array_equal(there.logit_test, here.logit_test)
    assert np.array_equal(there.encoded_train, here.encoded_train)
    assert there.task.name == own
    assert prepare(own, "random_forest", 3, 0.8).threshold == 0.8  # of which no f is trained
    wait_until(lambda: apart.ready)
    pid = apart._process.pid
    pool_with(apart).train(SceneKey(own, "logistic_regression", 3), silent)
    assert apart._process.pid == pid
    assert not pool_with(apart).call(knows, own, None, report=silent)  # and it has kept nothing


def test_an_f_that_nobody_wants_any_more_is_ended_at_once(own, apart):
    pid, started = apart._process.pid, time.monotonic()

    def report(_):
        raise Abandoned

    assert apart.take()
    with pytest.raises(Abandoned):
        apart.call(trained_parts, (SceneKey(own, "random_forest", 4), load_task(own)), report, heavy=False)
    assert not psutil.pid_exists(pid)
    assert time.monotonic() - started < 1
    wait_until(lambda: apart.ready)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most", "sentence"),
    [("MAX_SECONDS", 1, processes.TOO_LONG), ("MAX_MEMORY", 30 * 2**20, processes.TOO_LARGE)],
)
def test_an_f_has_bounds_on_time_and_memory(own, monkeypatch, name, most, sentence):
    monkeypatch.setattr(processes, name, most)
    bounded = processes.WorkerProcess(Kind.APART)
    wait_until(lambda: bounded.ready)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        pool_with(bounded).train(SceneKey(_larger(own), "random_forest", 0), silent)
    bounded.close()


def _larger(own):
    """Twenty times the rows."""
    task = load_task(own)
    again = [pd.concat([part] * 20, ignore_index=True) for part in (task.X, task.y, task.sensitive)]
    add_task(replace(task, X=again[0], y=again[1], sensitive=again[2]))
    return own


def test_work_on_own_data_is_done_in_a_process_that_forgets_them(own, process):
    key = SceneKey(own, "logistic_regression", 5)
    prepare(*key)
    settings = replace(SETTINGS, data=own, seed=5)
    assert process.take()
    result = process.compute(key, fit_result, (settings,), silent)
    assert result.scene is prepare(*key)
    assert np.array_equal(result.g.coef_, fit_result(replace(SETTINGS, seed=5)).g.coef_)
    assert compute_in(process, knows, own)
    process.forget(own)
    assert not compute_in(process, knows, own)


def knows(data, report):
    return is_known(data) or any(key.data == data for key in scene_module._scenes)


@pytest.mark.parametrize(("asked", "expected"), [("3", 3), ("0", 0), ("", None), ("many", None), ("-1", None)])
def test_how_many_there_are_can_be_asked_for(monkeypatch, asked, expected):
    monkeypatch.setenv("COMMOD_PROCESSES", asked)
    assert service._foreground() == (max(1, cpu_count() // 2) if expected is None else expected)


def test_work_on_large_data_waits_for_a_process_apart(own, process, apart):
    prepare(own, "logistic_regression", 6)
    key = SceneKey(own, "logistic_regression", 6)
    assert apart.take()
    Timer(0.5, apart._release).start()
    pool = pool_with(process, apart)
    assert pool.compute(key, own_process, report=silent, large=True) == apart._process.pid
    assert pool.compute(key, own_process, report=silent) == process._process.pid


def own_process(report):
    return os.getpid()
