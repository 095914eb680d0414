"""Work in the background spreads over all processes, what is urgent goes first, and searches run side by side."""

import os
import threading
import time
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from commod.dashboard.jobs import processes, service, tasks
from commod.dashboard.jobs.queue import SILENT, JobStage, WorkQueue
from commod.dashboard.jobs.scheduling import Kind, Priority
from commod.dashboard.model.training import fit_result
from commod.dashboard.state.settings import defaults
from tests.waiting import PATIENCE, wait_until

SETTINGS = replace(defaults("law_school"), lambda_fair=2.0)


class Machine:
    """A queue for `n` processes in the background; its work waits until it is let go, and notes who began when."""

    def __init__(self, n):
        self.queue = WorkQueue(1, n)
        self.lock, self.running, self.most, self.order = threading.Lock(), 0, 0, []

    def submit(self, name, priority, until=None):
        def work(report):
            with self.lock:
                self.running += 1
                self.most = max(self.most, self.running)
                self.order.append(name)
            if until is not None:
                until.wait(PATIENCE)
            with self.lock:
                self.running -= 1

        return self.queue.submit(name, JobStage(work, priority))


def wait_for(tickets):
    for ticket in tickets:
        wait_until(ticket.has)
        ticket.result()


@pytest.mark.parametrize("n", [1, 3, 7, 15])
def test_work_in_the_background_spreads_over_all_processes(n):
    machine, go = Machine(n), threading.Event()
    tickets = [machine.submit(i, Priority.REFITS, go) for i in range(4 * n)]
    wait_until(lambda: machine.running == n)
    go.set()
    wait_for(tickets)
    assert machine.most == n
    assert len(machine.order) == 4 * n


@pytest.mark.parametrize("n", [1, 3, 7])
def test_what_is_urgent_goes_first_however_much_waits(n):
    machine, gates = Machine(n), [threading.Event() for _ in range(n)]
    at_work = [machine.submit(("first", i), Priority.LINE, gate) for i, gate in enumerate(gates)]
    wait_until(lambda: machine.running == n)
    line = [machine.submit(("line", i), Priority.LINE) for i in range(3)]
    refits = [machine.submit(("refits", i), Priority.REFITS) for i in range(3)]
    shap = machine.submit("shap", Priority.BACKGROUND)
    wait_for([machine.submit("slider", Priority.TRAIN)])  # while all processes of the background are at work
    gates[0].set()  # one of them takes all that waits, in turn
    wait_for([*line, *refits, shap])
    waited = [(kind, i) for kind in ("line", "refits") for i in range(3)]
    assert machine.order[n:] == ["slider", "shap", *waited]
    for gate in gates:
        gate.set()
    wait_for(at_work)


def test_two_searches_run_at_once_and_leave_a_process_for_what_is_short():
    machine, go = Machine(3), threading.Event()
    searches = [machine.submit(("search", i), Priority.SEARCH, go) for i in range(3)]
    wait_until(lambda: machine.running == 2)
    wait_for([machine.submit("shap", Priority.BACKGROUND)])
    assert [ticket.before for ticket in searches] == [0, 0, 0]
    go.set()
    wait_for(searches)
    assert {*machine.order[:2]} == {("search", 0), ("search", 1)}
    assert machine.order[2:] == ["shap", ("search", 2)]


def test_parts_are_done_side_by_side_and_what_is_there_of_them_can_be_seen():
    queue, gates = WorkQueue(1, 3), [threading.Event() for _ in range(3)]

    def work(i):
        def run(report):
            gates[i].wait(PATIENCE)
            return i

        return run

    parts = [queue.submit(i, JobStage(work(i), Priority.REFITS)) for i in range(3)]
    whole = queue.submit("whole", JobStage(lambda report: [part.result() for part in parts]), after=parts)
    for part in parts:
        part.leave()  # who waits for the whole waits for them
    assert whole.parts == []
    gates[1].set()
    wait_until(lambda: whole.parts == [1])
    assert whole.progress == pytest.approx(1 / 3)
    gates[0].set()
    gates[2].set()
    wait_for([whole])
    assert whole.result() == [0, 1, 2]


def test_parts_end_when_nobody_wants_the_whole():
    queue, reports = WorkQueue(1, 2), []

    def work(report):
        while True:
            report(0.5)
            reports.append(1)
            time.sleep(0.005)

    parts = [queue.submit(i, JobStage(work, Priority.REFITS)) for i in range(3)]
    whole = queue.submit("whole", JobStage(lambda report: pytest.fail("begun")), after=parts)
    for part in parts:
        part.leave()
    wait_until(lambda: reports)
    whole.leave()
    wait_until(lambda: queue.abandoned == 4)


def test_what_a_job_has_found_stays_when_it_is_stopped():
    queue = WorkQueue(1)

    def work(report):
        report.tell("the best so far")
        while True:
            report(0.5)
            time.sleep(0.005)

    ticket = queue.submit("search", JobStage(work, Priority.SEARCH))
    wait_until(lambda: ticket.found is not None)
    ticket.leave()
    wait_until(lambda: queue.abandoned == 1)
    assert ticket.found == "the best so far"


@pytest.mark.parametrize(("cores", "asked", "expected"), [(1, "", 3), (2, "", 3), (8, "", 8), (8, "5", 5), (8, "0", 1)])
def test_how_many_processes_the_background_has(monkeypatch, cores, asked, expected):
    monkeypatch.setattr(service, "cpu_count", lambda: cores)
    monkeypatch.setenv("COMMOD_BACKGROUND", asked)
    assert service._background() == expected


@pytest.mark.parametrize(("asked", "expected"), [("3", 3), ("0", 0), ("", 4), ("many", 4), ("-1", 4)])
def test_how_many_processes_the_foreground_has(monkeypatch, asked, expected):
    monkeypatch.setattr(service, "cpu_count", lambda: 8)
    monkeypatch.setenv("COMMOD_PROCESSES", asked)
    assert service._foreground() == expected


def own_process(report):
    return os.getpid()


@pytest.mark.parametrize("kind", [Kind.BACKGROUND, Kind.APART])
def test_without_fork_the_server_computes(monkeypatch, kind):
    monkeypatch.delattr(os, "fork", raising=False)
    pool = processes.ProcessPool(1, 1, 1)
    assert pool.compute(own_process, SILENT, kind=kind) == os.getpid()
    pool.close()


# ---- refits in parts ----


@pytest.mark.with_refits
@pytest.mark.parametrize("drawn", ["rows", pytest.param("splits", marks=pytest.mark.slow)])
def test_refits_in_parts_and_by_paths_are_the_same_to_the_last_digit(drawn):
    result = fit_result(SETTINGS)
    once = tasks.some_refits(result, drawn, 0, 4, None)[0]
    first, solved = tasks.some_refits(result, drawn, 0, 2, None)
    parts = [first, tasks.some_refits(result, drawn, 2, 2, None)[0]]
    same(tasks.Refits.joined(parts), once)
    further = fit_result(replace(SETTINGS, lambda_fair=3.5))
    assert {0, 1} == set(solved)
    assert all(solved.values())
    same(tasks.some_refits(further, drawn, 0, 2, solved)[0], tasks.some_refits(further, drawn, 0, 2, None)[0])


def same(one, other):
    assert np.array_equal(one.changes, other.changes)
    pd.testing.assert_frame_equal(one.figures, other.figures, check_exact=True)
    pd.testing.assert_frame_equal(one.shares, other.shares, check_exact=True)


# ---- real processes ----


@pytest.fixture(scope="module")
def pool():
    made = processes.ProcessPool(1, 3)
    wait_until(lambda: any(worker.kind is Kind.BACKGROUND and not worker.lost for worker in made.workers))
    yield made
    made.close()


@pytest.mark.posix
@pytest.mark.slow
def test_two_searches_both_go_on_and_one_that_is_stopped_frees_its_process(pool):
    queue = WorkQueue(1, 3)
    wanted = [tasks.target(SETTINGS, least, 0.1, None) for least in (0.8, 0.85, 0.9)]
    with ExitStack() as places:
        first, second, third = (
            places.enter_context(queue.submit(task.key, *task.stages(lambda: pool))) for task in wanted
        )
        wait_until(lambda: first.progress > 0 and second.progress > 0)
        assert first.found.tried
        assert third.progress == 0  # one process is left for what is short
        before = second.progress
        first.leave()
        wait_until(lambda: queue.abandoned == 1)  # its process has left off
        wait_until(lambda: third.progress > 0 and second.progress > before)
