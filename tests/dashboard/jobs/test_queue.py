"""The queue that all sessions share, without Streamlit."""

import threading
import time

import pytest

from commod.dashboard.jobs.queue import WorkQueue


def take(ticket, seconds=5.0):
    with ticket:
        assert ticket.wait(seconds)
        return ticket.result()


@pytest.fixture
def gate():
    """Work that runs until it is let go, reporting all the while."""

    class Gate:
        def __init__(self):
            self.open = threading.Event()
            self.started = threading.Event()

        def work(self, result="done"):
            def run(report):
                self.started.set()
                while not self.open.wait(0.005):
                    report(0.5)
                return result

            return run

    made = Gate()
    yield made
    made.open.set()


def test_result_and_cache():
    queue = WorkQueue(workers=1)
    assert queue.peek("a") is None
    assert take(queue.submit("a", lambda report: 42)) == 42
    assert queue.peek("a") == 42
    assert take(queue.submit("a", lambda report: pytest.fail("trained twice"))) == 42
    assert queue.finished == 1


def test_equal_work_of_two_sessions_runs_once(gate):
    queue = WorkQueue(workers=2)
    first, second = queue.submit("k", gate.work()), queue.submit("k", gate.work("never"))
    gate.open.set()
    assert take(first) == take(second) == "done"
    assert queue.finished == 1


def test_at_most_as_many_at_a_time_as_workers_and_the_rest_know_their_place(gate):
    queue = WorkQueue(workers=2)
    running = []
    lock = threading.Lock()
    peak = []

    def work(report):
        with lock:
            running.append(1)
            peak.append(len(running))
        gate.open.wait(2)
        with lock:
            running.pop()

    tickets = [queue.submit(i, work) for i in range(6)]
    time.sleep(0.1)
    assert [ticket.before for ticket in tickets] == [0, 0, 0, 1, 2, 3]
    gate.open.set()
    for ticket in tickets:
        take(ticket)
    assert max(peak) == 2


def test_stale_work_ends_and_only_the_last_of_six_moves_runs_to_its_end(gate):
    queue = WorkQueue(workers=2)
    for move in range(5):
        ticket = queue.submit(move, gate.work())
        gate.started.wait(1)
        ticket.leave()
    last = queue.submit("last", lambda report: "shown")
    assert take(last) == "shown"
    deadline = time.monotonic() + 2
    while queue.abandoned < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert queue.finished == 1
    assert queue.abandoned == 5


def test_a_ticket_that_is_forgotten_is_given_up(gate):
    queue = WorkQueue(workers=1)
    ticket = queue.submit("k", gate.work())
    gate.started.wait(1)
    del ticket
    deadline = time.monotonic() + 2
    while queue.abandoned < 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert queue.abandoned == 1


def test_one_session_leaving_does_not_end_the_work_of_another(gate):
    queue = WorkQueue(workers=1)
    stays, leaves = queue.submit("k", gate.work()), queue.submit("k", gate.work())
    gate.started.wait(1)
    leaves.leave()
    leaves.leave()  # twice is once
    time.sleep(0.05)
    gate.open.set()
    assert take(stays) == "done"


def test_an_exception_reaches_who_waits_and_harms_no_one_else():
    queue = WorkQueue(workers=1)

    def fail(report):
        raise ValueError("no such setting")

    ticket = queue.submit("bad", fail)
    with pytest.raises(ValueError, match="no such setting"):
        take(ticket)
    assert queue.peek("bad") is None
    assert take(queue.submit("good", lambda report: 1)) == 1


def test_the_cache_is_bounded_and_forgets_the_least_used():
    queue = WorkQueue(workers=1, keep=3)
    for i in range(3):
        take(queue.submit(i, lambda report, i=i: i + 1))
    assert queue.peek(0) == 1
    take(queue.submit(3, lambda report: 4))
    assert queue.peek(1) is None
    assert queue.peek(0) == 1


def test_background_work_never_takes_the_last_thread(gate):
    queue = WorkQueue(workers=2)
    slow = [queue.submit(("slow", i), gate.work(), background=True) for i in range(3)]
    gate.started.wait(1)
    assert take(queue.submit("fit", lambda report: "now")) == "now"
    gate.open.set()
    for ticket in slow:
        assert take(ticket) == "done"


def test_a_result_wanted_again_while_its_work_is_ending_is_worked_anew(gate):
    queue = WorkQueue(workers=1)
    first = queue.submit("k", gate.work())
    gate.started.wait(1)
    first.leave()
    second = queue.submit("k", lambda report: "anew")
    gate.open.set()
    assert take(second) in ("anew", "done")


def test_what_is_for_later_comes_after_what_is_not_and_before_the_background(gate):
    queue = WorkQueue(workers=1)
    order = []
    first = queue.submit("first", gate.work())
    assert gate.started.wait(5)
    tickets = [
        queue.submit("sweep", lambda report: order.append("sweep"), background=True),
        queue.submit("tree", lambda report: order.append("tree"), later=True),
        queue.submit("fit", lambda report: order.append("fit")),
    ]
    assert [ticket.before for ticket in tickets] == [2, 1, 0]
    gate.open.set()
    for ticket in [first, *tickets]:
        take(ticket)
    assert order == ["fit", "tree", "sweep"]


def test_results_are_kept_up_to_a_weight():
    queue = WorkQueue(workers=1, keep_bytes=1000)
    for key in "abc":
        take(queue.submit(key, lambda report: memoryview(bytes(400))))
    assert [queue.peek(key) is None for key in "abc"] == [True, False, False]
    queue.forget(lambda key: key == "b")
    take(queue.submit("d", lambda report: memoryview(bytes(500))))
    assert queue.peek("c") is not None


def test_who_is_wanted_elsewhere_is_woken_and_nobody_else(gate):
    queue = WorkQueue(workers=1)
    mine, theirs = queue.submit("k", gate.work(), owner="me"), queue.submit("k", gate.work(), owner="you")
    woken = []

    def wait(ticket, name):
        assert not ticket.wait(5)
        woken.append(name)

    threads = [threading.Thread(target=wait, args=both) for both in ((mine, "me"), (theirs, "you"))]
    for thread in threads:
        thread.start()
    gate.started.wait(1)
    queue.wake("me")
    threads[0].join(2)
    assert woken == ["me"]
    queue.wake("you")
    threads[1].join(2)
    gate.open.set()
    assert take(mine) == take(theirs) == "done"
