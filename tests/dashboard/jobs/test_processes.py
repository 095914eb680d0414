"""Computing in other processes: the same digits, errors that come back, work that can be stopped, and their end."""

import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
import types
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from multiprocessing import Process
from threading import Event, Timer
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pytest

from commod.dashboard.jobs import processes, tasks
from commod.dashboard.jobs.computation import without_report
from commod.dashboard.jobs.processes import ProcessPool, Pulse, WorkerProcess
from commod.dashboard.jobs.queue import Abandoned, JobStage, Report, WorkQueue
from commod.dashboard.jobs.scheduling import Kind
from commod.dashboard.jobs.service import in_line
from commod.dashboard.model import training
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.training import fit_on_path, fit_result
from commod.dashboard.state.own_data import OwnData
from commod.dashboard.state.settings import defaults
from commod.datasets import add_task, is_known, load_task
from commod.experiments import prepare, sweep_method
from commod.experiments import scene as scene_module
from commod.experiments.scene import SceneKey, has_trained
from tests.browsing import ROOT
from tests.dashboard.jobs.odd_worker import serve_oddly
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.posix

SETTINGS = replace(defaults("law_school"), lambda_fair=2.0)
SCENE = SETTINGS.scene()
DP = "demographic_parity"


class Heard(Report):
    """Calls a function with each share, and notes what it is told."""

    def __init__(self, hear=lambda share: None):
        self.hear, self.notes = hear, []

    def __call__(self, share):
        self.hear(share)

    def say(self, note):
        self.notes.append(note)


SILENT = Heard()


@pytest.fixture(scope="module", autouse=True)
def environment():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMMOD_WARM_UP", "0")
        patch.setenv("COMMOD_IDLE_CLASS", "0")  # beside other work the background would get no core at all
        # A look at a process takes it for a moment, in which the server computes: tests say when (`looked_after`).
        patch.setattr(processes, "WATCH", PATIENCE)
        yield


def made(foreground=1, background=1, apart=1):
    """A pool whose processes are ready."""
    pool = ProcessPool(foreground, background, apart)
    first, pool._wake = pool._wake, Bell()
    first.set()
    looked_after(pool)
    assert len(pool.workers) == foreground + min(1, background)
    return pool


class Bell(Event):
    """Wakes who watches a pool, and knows whether it is at rest."""

    is_waited_for = False

    def wait(self, timeout=None):
        self.is_waited_for = True
        try:
            return super().wait(timeout)
        finally:
            self.is_waited_for = False


def looked_after(pool):
    """Have all processes looked at until none is lost and the watcher is at rest."""

    def is_well():
        pool._wake.set()
        wait_until(lambda: pool._wake.is_waited_for and not pool._wake.is_set())
        return not any(worker.lost for worker in pool.workers)

    wait_until(is_well)


@pytest.fixture(scope="module")
def shared():
    pool = made(1, 2, 1)
    yield pool
    pool.close()


@pytest.fixture
def pool(shared):
    """Shared by tests that leave its processes in order."""
    looked_after(shared)
    return shared


@pytest.fixture
def impatient(monkeypatch):
    """What hangs is killed sooner than in earnest."""
    for name, seconds in {"STOPPED": 0.3, "SILENT": 2.0, "WATCH": 0.05, "RESTART_PAUSE": 0.0}.items():
        monkeypatch.setattr(processes, name, seconds)


@pytest.fixture
def mortal(pool, impatient):
    """A pool whose processes a test may harm."""
    pool._wake.set()
    yield pool
    looked_after(pool)


def worker_of(pool, kind=Kind.FOREGROUND):
    return next(worker for worker in pool.workers if worker.kind is kind)


def compute(pool, function, *arguments, kind=Kind.FOREGROUND, report=SILENT, scene=SCENE):
    if scene is not None:
        prepare(*scene)
    return pool.compute(partial(function, *arguments), report, kind=kind, scene=scene)


def fitted(pool, settings=SETTINGS, **how):
    scene = prepare(*settings.scene())
    return compute(pool, fit_on_path, settings, scene, None, scene=settings.scene(), **how)[0]


def train(pool, key):
    """As the queue does it."""
    (stage,) = tasks.base(key).stages(lambda: pool)
    stage.work(SILENT)


def call(pool, function, *arguments):
    """Apart, without a scene."""
    return compute(pool, function, *arguments, kind=Kind.APART, scene=None)


def own_process(report):
    return os.getpid()


# ---- what comes back ----


def test_a_model_trained_elsewhere_is_the_same_to_the_last_digit(pool):
    there, here = fitted(pool), fit_result(SETTINGS)
    assert compute(pool, own_process) == worker_of(pool).pid
    assert np.array_equal(there.g.coef_, here.g.coef_)
    assert np.array_equal(there.ratio_test, here.ratio_test)
    pd.testing.assert_frame_equal(there.path, here.path, check_exact=True)
    assert there.scene is prepare(*SCENE)  # neither the rows nor f came back
    assert there.g.base_model_ is there.scene.f
    found, same = compute(pool, without_report, FitResult.tree, there, 3), here.tree(3)
    pd.testing.assert_frame_equal(found.nodes, same.nodes, check_exact=True)
    there.fill(compute(pool, without_report, FitResult.explained, there))
    pd.testing.assert_frame_equal(there.loadings, here.loadings, check_exact=True)
    pd.testing.assert_frame_equal(there.figures, here.figures, check_exact=True)


def test_an_error_comes_back_with_its_traceback(pool, caplog):
    queue = WorkQueue(1)
    work = partial(compute, pool, sweep_method, prepare(*SCENE), "nonsense", DP)
    with caplog.at_level(logging.ERROR), queue.submit("k", JobStage(lambda report: work(report=report))) as ticket:
        wait_until(ticket.has)
        with pytest.raises(KeyError, match="nonsense"):
            ticket.result()
    assert "sweep_method" in caplog.text  # where it happened, in the other process


def test_work_that_nobody_wants_ends_and_its_process_goes_on(pool):
    class EnoughError(Exception):
        pass

    def enough(_):
        raise EnoughError

    pid, started = compute(pool, own_process), time.monotonic()
    with pytest.raises(EnoughError):
        compute(pool, until_stopped, report=Heard(enough))
    assert time.monotonic() - started < PATIENCE
    assert compute(pool, own_process) == pid == worker_of(pool).pid  # with its scene and its paths


def until_stopped(report):
    """Work that would take twice as long as tests wait for anything."""
    until = time.monotonic() + 2 * PATIENCE
    while time.monotonic() < until:
        report(0.5)
        time.sleep(0.01)


@pytest.mark.slow
def test_progress_is_reported(pool):
    shares = []
    compute(pool, sweep_method, prepare(*SCENE), "oracle_lpp", DP, report=Heard(shares.append))
    assert shares == sorted(shares)
    assert max(shares) > 0.2


def test_while_a_process_is_busy_the_server_computes(pool):
    assert worker_of(pool).take()  # nobody looks at it
    try:
        assert compute(pool, own_process) == os.getpid()
    finally:
        worker_of(pool)._release()


def test_an_f_is_trained_once_and_shared_with_all_processes(pool, monkeypatch):
    key = SceneKey("law_school", "gradient_boosting", 9)
    train(pool, key)
    assert has_trained(key)
    monkeypatch.setattr(scene_module, "train_base_model", lambda *_: pytest.fail("trained in the server"))
    told = prepare(*key)
    for kind in (Kind.FOREGROUND, Kind.BACKGROUND):
        assert compute(pool, trained_here, told, kind=kind, scene=key) == (kind is Kind.FOREGROUND)
    scene_module._forget_scenes("law_school")
    monkeypatch.undo()
    assert np.array_equal(prepare(*key).logit_test, told.logit_test)


def trained_here(scene, report):
    """Whether this process has trained f itself: an array that came by wire does not own its data."""
    return bool(scene.logit_test.flags.owndata)


# ---- processes that die, hang, or talk nonsense ----


def test_a_process_that_is_killed_costs_nothing_and_is_replaced(mortal):
    killed = worker_of(mortal).pid

    def kill(_):
        with suppress(ProcessLookupError):
            os.kill(killed, signal.SIGKILL)

    settings = replace(SETTINGS, seed=1)
    assert np.array_equal(fitted(mortal, settings, report=Heard(kill)).g.coef_, fit_result(settings).g.coef_)
    wait_until(lambda: compute(mortal, own_process) not in (killed, os.getpid()))


@pytest.mark.parametrize("kind", [Kind.FOREGROUND, Kind.BACKGROUND])
def test_a_process_that_is_stopped_in_mid_training_is_replaced_and_its_work_done_again(mortal, kind):
    stopped, settings = worker_of(mortal, kind).pid, replace(SETTINGS, seed=1, lambda_fair=3.0)

    def work(report):
        def hear(share):
            report(share)
            with suppress(ProcessLookupError):
                os.kill(stopped, signal.SIGSTOP)

        return fitted(mortal, settings, report=Heard(hear), kind=kind)

    with WorkQueue(2).submit("job", JobStage(work)) as ticket:
        wait_until(ticket.has)
        assert np.array_equal(ticket.result().g.coef_, fit_result(settings).g.coef_)
    wait_until(lambda: not worker_of(mortal, kind).lost and worker_of(mortal, kind).pid != stopped)


def test_a_process_that_is_stopped_while_it_has_nothing_to_do_is_replaced(mortal):
    stopped = worker_of(mortal).pid
    os.kill(stopped, signal.SIGSTOP)
    wait_until(lambda: worker_of(mortal).pid != stopped)


def test_a_process_hangs_if_it_was_stopped_or_does_nothing_though_it_should(monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(processes, "time", clock)
    seen = SimpleNamespace(status=psutil.STATUS_SLEEPING, used=0.0)
    pulse = Pulse(os.getpid())
    pulse._process = SimpleNamespace(status=lambda: seen.status, cpu_times=lambda: (seen.used, 0.0))

    def hangs(after, *, expected=True):
        clock.now += after
        return pulse.is_hung(expected=expected)

    assert not hangs(100, expected=False)  # it has nothing to do
    assert not hangs(processes.SILENT - 0.1)
    assert hangs(0.2)
    pulse.beat()
    assert not hangs(processes.SILENT - 0.1)
    seen.used = 1.0
    assert not hangs(0.2)  # it has used a core
    assert not hangs(processes.SILENT - 0.1)
    seen.status = psutil.STATUS_RUNNING
    assert not hangs(100)  # it would use one if it had one
    seen.status = psutil.STATUS_STOPPED
    assert not hangs(processes.STOPPED - 0.1, expected=False)
    assert hangs(0.2, expected=False)


@pytest.mark.slow
def test_a_stopped_fork_server_does_not_stop_training(monkeypatch):
    """SIGSTOP on both fork servers and SIGKILL on all processes: nobody waits for long, and others take their place."""
    monkeypatch.setattr(processes, "WATCH", 0.5)
    pool = made()
    queue = WorkQueue(1, 1)
    for fork_server in set(pool.forks.values()):
        os.kill(fork_server._running[0].pid, signal.SIGSTOP)
    for worker in pool.workers:
        os.kill(worker.pid, signal.SIGKILL)
    for seed, kind in ((31, Kind.FOREGROUND), (32, Kind.BACKGROUND), (33, Kind.FOREGROUND)):
        train = partial(fitted, pool, replace(SETTINGS, seed=seed), kind=kind)
        with queue.submit(seed, JobStage(lambda report, train=train: train(report=report))) as ticket:
            wait_until(ticket.has)
            assert ticket.result()
    wait_until(lambda: all(not worker.lost for worker in pool.workers))
    wait_until(lambda: compute(pool, own_process) == worker_of(pool).pid)
    pool.close()


def test_those_who_wait_are_told_that_it_is_done_again(pool, monkeypatch):
    queue, goes_on = WorkQueue(2), Event()

    def lost(self, *_, **__):
        self._release()
        raise ConnectionError

    def function(report):
        goes_on.wait(PATIENCE)
        return "done"

    monkeypatch.setattr(WorkerProcess, "compute", lost)
    once = [worker_of(pool)]
    monkeypatch.setattr(pool, "_of", lambda kind: [once.pop()] if once else [])
    work = JobStage(lambda report: pool.compute(function, report, kind=Kind.FOREGROUND, scene=SCENE))
    with queue.submit("job", work) as ticket:
        wait_until(lambda: ticket.note == processes.AGAIN)
        assert in_line("Training", ticket).startswith(processes.AGAIN)
        goes_on.set()
        wait_until(ticket.has)
        assert ticket.note == ""


ODD = (
    "bytes",
    "half a message",
    "an unknown word",
    "no message",
    "content that is none",
    "content cut off",
    "silent",
    "deaf",
)
TWO_SECONDS = ("half a message", "silent")  # until they are given up, as the deaf one is


class OddForks:
    """Forks processes of which nobody knows what they answer."""

    def __init__(self, odd):
        self.odd, self.processes = odd, []

    def fork(self, *_):
        ours, theirs = socket.socketpair()
        with theirs:
            process = Process(target=serve_oddly, args=(self.odd, theirs), daemon=True)
            process.start()
        self.processes.append(process)
        return Pulse(process.pid), ours

    def close(self):
        for process in self.processes:
            process.kill()


@pytest.mark.parametrize("odd", [pytest.param(odd, marks=[pytest.mark.slow] * (odd in TWO_SECONDS)) for odd in ODD])
def test_a_process_that_answers_nonsense_or_nothing_is_given_up_and_the_server_computes(impatient, monkeypatch, odd):
    forks = OddForks(odd)
    monkeypatch.setattr(processes, "ForkServer", lambda *parent: forks)
    odd_pool = made(1, 0, 0)
    load = np.zeros(2_000_000) if odd == "deaf" else None  # more than the pipe holds
    heard, length = Heard(), 0 if load is None else 2_000_000
    wait_until(lambda: compute(odd_pool, length_of, load, report=heard) == length and heard.notes)  # it was given up
    wait_until(lambda: len(forks.processes) > 1)  # and replaced
    odd_pool.close()


def length_of(load, report):
    return 0 if load is None else len(load)


@pytest.mark.slow
def test_all_end_with_the_server_however_that_ends():
    source = """
import time
from functools import partial
from commod.dashboard.jobs.processes import Kind, ProcessPool
from commod.dashboard.jobs.queue import SILENT
from commod.dashboard.jobs.computation import without_report
pool = ProcessPool(1, 1, 1)
while len(pool.workers) < 2:
    time.sleep(0.05)
print(*(each.pid for each in pool.workers), flush=True)
pool.compute(partial(without_report, time.sleep, 60), SILENT, kind=Kind.APART)  # in the midst of which it hears nothing
"""
    with subprocess.Popen([sys.executable, "-c", source], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        pids = {int(pid) for pid in server.stdout.readline().split()}
        pids |= {child.pid for child in psutil.Process(server.pid).children(recursive=True)}
        assert len(pids) >= 4
        server.kill()
    wait_until(lambda: not any(alive(pid) for pid in pids))


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# ---- how processes run ----


@pytest.mark.slow
@pytest.mark.linux
def test_processes_share_the_session_of_the_server_and_not_its_main_module(tmp_path, monkeypatch):
    """Linux shares the cores among sessions first: in one of its own a process of the idle class is anybody's equal.

    While Streamlit draws, the main module is a page's script.
    """
    monkeypatch.delenv("COMMOD_IDLE_CLASS")
    script = tmp_path / "page.py"
    script.write_text("raise SystemExit('a page outside of the server')")
    main = types.ModuleType("__main__")
    main.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", main)
    pool = made(1, 1, 0)
    for worker in pool.workers:
        assert os.getsid(worker.pid) == os.getsid(0)
        assert os.getpgid(worker.pid) == worker.pid  # Ctrl-C at the server's terminal does not reach it
        assert (os.sched_getscheduler(worker.pid) == os.SCHED_IDLE) is (worker.kind is Kind.BACKGROUND)
    assert compute(pool, own_process) == worker_of(pool).pid
    pool.close()


@pytest.mark.slow
def test_more_processes_start_on_demand_and_end_when_they_are_idle(pool, monkeypatch, tmp_path):
    queue, before = WorkQueue(2), len(pool.workers)
    work = partial(compute, pool, until_there, tmp_path / "mark", kind=Kind.BACKGROUND)
    tickets = [queue.submit(i, JobStage(lambda report: work(report=report))) for i in range(2)]
    wait_until(lambda: len(pool.workers) == before + 1)
    (tmp_path / "mark").touch()
    for ticket in tickets:
        wait_until(ticket.has)
        ticket.result()
    monkeypatch.setattr(processes, "IDLE", 0.0)
    looked_after(pool)
    assert sorted(worker.kind.value for worker in pool.workers) == ["background", "foreground"]


def until_there(path, report):
    wait_until(path.exists)


# ---- uploaded data ----


@pytest.fixture
def own():
    """Data in use, as a session has them."""
    task = load_task("law_school")
    held = OwnData(replace(task, spec=replace(task.spec, scores="", suited={})))
    yield held.name
    held.forget()


@contextmanager
def apart(pool):
    """The process apart, which starts on demand."""
    assert call(pool, own_process) != os.getpid()
    looked_after(pool)
    yield worker_of(pool, Kind.APART)


@pytest.mark.slow
def test_an_f_is_trained_in_a_process_that_ends_with_it_if_the_data_are_large(own, pool, monkeypatch):
    key = SceneKey(own, "random_forest", 3)
    with apart(pool) as worker:
        pid = worker.pid
        monkeypatch.setattr(tasks, "LIGHT_CELLS", 0)
        train(pool, key)
        looked_after(pool)
        assert worker.pid != pid
        wait_until(lambda: not alive(pid))
        there, here = prepare(*key), prepare("law_school", "random_forest", 3)
        assert np.array_equal(there.logit_test, here.logit_test)
        assert np.array_equal(there.encoded_train, here.encoded_train)
        assert there.task.name == own
        assert prepare(own, "random_forest", 3, 0.8).threshold == 0.8  # of which no f is trained
        pid = worker.pid
        monkeypatch.undo()
        train(pool, SceneKey(own, "logistic_regression", 3))
        assert worker.pid == pid
        assert not call(pool, without_report, knows, own)  # and it has kept nothing


def test_work_apart_that_nobody_wants_any_more_is_ended(pool):
    def abandon(_):
        raise Abandoned

    with apart(pool) as worker:
        pid = worker.pid
        assert worker.take()
        with pytest.raises(Abandoned):
            worker.compute(partial(without_report, time.sleep, 10 * PATIENCE), Heard(abandon))
        wait_until(lambda: not psutil.pid_exists(pid))  # nor is it left as a zombie
        looked_after(pool)
        assert worker.pid != pid


def test_what_fails_on_strangers_data_is_a_sentence_there_and_a_traceback_in_the_log(pool, caplog):
    with pytest.raises(ValueError, match=re.escape(processes.NOT_DONE)), caplog.at_level(logging.ERROR):
        call(pool, faulty)
    assert "in faulty" in caplog.text


def faulty(report):
    return {}["no such column"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most", "sentence"),
    [("MAX_SECONDS", 1, processes.TOO_LONG), ("MAX_MEMORY", 30 * 2**20, processes.TOO_LARGE)],
)
def test_an_f_has_bounds_on_time_and_memory(own, monkeypatch, name, most, sentence):
    monkeypatch.setattr(processes, name, most)
    monkeypatch.setattr(processes, "WATCH", 0.05)
    bounded = made(1, 0, 1)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        train(bounded, SceneKey(_larger(own), "random_forest", 0))
    bounded.close()


def _larger(own):
    """Twenty times the rows."""
    task = load_task(own)
    again = [pd.concat([part] * 20, ignore_index=True) for part in (task.X, task.y, task.sensitive)]
    add_task(replace(task, X=again[0], y=again[1], sensitive=again[2]))
    return own


def test_work_on_own_data_is_done_in_a_process_that_forgets_them(own, pool):
    key = SceneKey(own, "logistic_regression", 5)
    result = fitted(pool, replace(SETTINGS, data=own, seed=5))
    assert result.scene is prepare(*key)
    assert np.array_equal(result.g.coef_, fit_result(replace(SETTINGS, seed=5)).g.coef_)
    assert compute(pool, knows_in_work, own)
    pool.forget(own)
    assert not compute(pool, knows_in_work, own)


def knows(data):
    return is_known(data) or any(key.data == data for key in scene_module._scenes)


def knows_in_work(data, report):
    return knows(data) or any(path[0].data == data for path in training._warm_starts)


@pytest.mark.slow
def test_work_on_large_data_waits_for_a_process_apart(own, pool):
    key = SceneKey(own, "logistic_regression", 6)
    with apart(pool) as worker:
        assert worker.take()
        Timer(0.5, worker._release).start()
        assert compute(pool, own_process, kind=Kind.APART, scene=key) == worker.pid
        assert compute(pool, own_process, scene=key) == worker_of(pool).pid


@pytest.mark.slow  # processes that are killed are replaced, above
def test_a_fork_server_is_there_again_after_it_was_killed(pool):
    first, forks = worker_of(pool).pid, pool.forks[Kind.FOREGROUND]
    os.kill(forks._running[0].pid, signal.SIGKILL)
    with pytest.raises(ConnectionError):
        forks.fork("foreground")
    again, wire = forks.fork("foreground")
    assert alive(again.pid)
    wire.close()
    assert worker_of(pool).pid == first
