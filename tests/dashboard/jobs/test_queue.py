"""The queue that all sessions share, without Streamlit."""

import gc
import logging
import random
import threading
import weakref
from types import SimpleNamespace

import pytest

from commod.dashboard.jobs import queue as queue_module
from commod.dashboard.jobs.queue import JobStage, ResultCache, WorkQueue
from commod.dashboard.jobs.scheduling import MOST_PREFETCHED, Priority
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.quick


def take(ticket):
    with ticket:
        wait_until(lambda: ticket.wait(0.5))
        return ticket.result()


@pytest.fixture
def gate():
    """Work that runs until it is let go, reporting all the while."""

    class Gate:
        def __init__(self):
            self.open = threading.Event()
            self.started = threading.Event()
            self.reports = 0

        def work(self, result="done"):
            def run(report):
                self.started.set()
                while not self.open.wait(0.005):
                    self.reports += 1
                    report(0.5)
                return result

            return run

    made = Gate()
    yield made
    made.open.set()


def test_result_and_cache():
    queue = WorkQueue(1)
    assert queue.peek("a") is None
    assert take(queue.submit("a", JobStage(lambda report: 42))) == 42
    assert queue.peek("a") == 42
    assert take(queue.submit("a", JobStage(lambda report: pytest.fail("trained twice")))) == 42
    assert queue.finished == 1


def test_equal_work_of_two_sessions_runs_once(gate):
    queue = WorkQueue(2)
    first, second = queue.submit("k", JobStage(gate.work())), queue.submit("k", JobStage(gate.work("never")))
    gate.open.set()
    assert take(first) == take(second) == "done"
    assert queue.finished == 1


def test_at_most_as_many_at_a_time_as_workers_and_the_rest_know_their_place(gate):
    queue = WorkQueue(2)
    running = []
    lock = threading.Lock()
    peak = []

    def work(report):
        with lock:
            running.append(1)
            peak.append(len(running))
        gate.open.wait(PATIENCE)
        with lock:
            running.pop()

    tickets = [queue.submit(i, JobStage(work)) for i in range(6)]
    wait_until(lambda: len(running) == 2)
    assert [ticket.before for ticket in tickets] == [0, 0, 0, 1, 2, 3]
    gate.open.set()
    for ticket in tickets:
        take(ticket)
    assert max(peak) == 2


def test_stale_work_ends_and_only_the_last_of_six_moves_runs_to_its_end(gate):
    queue = WorkQueue(2)
    for move in range(5):
        ticket = queue.submit(move, JobStage(gate.work()))
        assert gate.started.wait(PATIENCE)
        ticket.leave()
    last = queue.submit("last", JobStage(lambda report: "shown"))
    assert take(last) == "shown"
    wait_until(lambda: queue.abandoned == 5)
    assert queue.finished == 1


def test_a_ticket_that_is_forgotten_is_given_up(gate):
    queue = WorkQueue(1)
    ticket = queue.submit("k", JobStage(gate.work()))
    assert gate.started.wait(PATIENCE)
    del ticket
    wait_until(lambda: queue.abandoned == 1)


def test_one_session_leaving_does_not_end_the_work_of_another(gate):
    queue = WorkQueue(1)
    stays, leaves = queue.submit("k", JobStage(gate.work())), queue.submit("k", JobStage(gate.work()))
    assert gate.started.wait(PATIENCE)
    leaves.leave()
    leaves.leave()  # twice is once
    reports = gate.reports
    wait_until(lambda: gate.reports > reports + 1)
    gate.open.set()
    assert take(stays) == "done"


def test_who_leaves_the_line_takes_nobody_elses_place(gate):
    queue = WorkQueue(1)
    busy = queue.submit("busy", JobStage(gate.work()))
    assert gate.started.wait(PATIENCE)
    stays, leaves = (queue.submit("k", JobStage(lambda report: "served")) for _ in range(2))
    leaves.leave()
    assert queue.abandoned == 0
    gate.open.set()
    assert take(stays) == "served"
    assert take(busy) == "done"


def test_an_exception_reaches_who_waits_and_harms_no_one_else():
    queue = WorkQueue(1)

    def fail(report):
        raise ValueError("no such setting")

    ticket = queue.submit("bad", JobStage(fail))
    with pytest.raises(ValueError, match="no such setting"):
        take(ticket)
    assert queue.peek("bad") is None
    assert take(queue.submit("good", JobStage(lambda report: 1))) == 1


def test_the_cache_is_bounded_and_forgets_the_least_used():
    queue = WorkQueue(1, cache=ResultCache(max_results=3))
    for i in range(3):
        take(queue.submit(i, JobStage(lambda report, i=i: i + 1)))
    assert queue.peek(0) == 1
    take(queue.submit(3, JobStage(lambda report: 4)))
    assert queue.peek(1) is None
    assert queue.peek(0) == 1


def test_a_slider_never_waits_for_the_background(gate):
    queue = WorkQueue(1, 2)
    slow = [queue.submit(("slow", i), JobStage(gate.work(), Priority.BACKGROUND)) for i in range(3)]
    assert gate.started.wait(PATIENCE)
    assert take(queue.submit("fit", JobStage(lambda report: "now"))) == "now"
    gate.open.set()
    for ticket in slow:
        assert take(ticket) == "done"


def test_a_result_wanted_again_while_its_work_is_ending_is_worked_anew():
    """The first job has seen that nobody waits and is about to end when the second is submitted: nobody may join it."""
    queue = WorkQueue(1)
    started, left, ending, submitted = (threading.Event() for _ in range(4))

    def stopped(report):
        started.set()
        left.wait(PATIENCE)
        try:
            report(0.5)
        finally:
            ending.set()
            submitted.wait(PATIENCE)

    first = queue.submit("k", JobStage(stopped))
    assert started.wait(PATIENCE)
    first.leave()
    left.set()
    assert ending.wait(PATIENCE)
    second = queue.submit("k", JobStage(lambda report: "anew"))
    third = queue.submit("k", JobStage(lambda report: pytest.fail("worked twice")))
    submitted.set()
    assert take(second) == take(third) == "anew"
    assert queue.peek("k") == "anew"


def test_a_ticket_dropped_while_the_queue_is_locked_only_leaves_a_message(gate):
    """Memory may be collected anywhere, also by a thread that holds the lock: this killed the worker for good."""
    queue = WorkQueue(1)
    busy, dropped = queue.submit("busy", JobStage(gate.work())), queue.submit("dropped", JobStage(gate.work("never")))
    assert gate.started.wait(PATIENCE)
    with queue._changed:  # not to be entered twice by one thread
        del dropped
        assert queue.abandoned == 0
    last = queue.submit("last", JobStage(lambda report: 1))  # the message has been heard by now
    assert last.before == 0
    assert queue.abandoned == 1
    gate.open.set()
    assert take(busy) == "done"
    assert take(last) == 1
    assert take(queue.submit("after", JobStage(lambda report: "served"))) == "served"


def test_a_job_that_hears_of_a_dropped_ticket_goes_on(gate):
    queue = WorkQueue(1)
    busy, dropped = queue.submit("busy", JobStage(gate.work())), queue.submit("dropped", JobStage(gate.work("never")))
    assert gate.started.wait(PATIENCE)
    del dropped
    wait_until(lambda: queue.abandoned)  # the one at work has heard of it: nobody else looks
    gate.open.set()
    assert take(busy) == "done"
    assert queue.abandoned == 1


def test_a_job_with_two_stages_gives_its_first_result_before_its_last(gate):
    queue = WorkQueue(1)
    more = gate.work("said")
    stages = (JobStage(lambda report: "model"), JobStage(lambda model, report: (model, more(report)), Priority.EXPLAIN))
    ticket = queue.submit("k", *stages)
    assert ticket.wait(PATIENCE, stage=0)
    assert ticket.result(0) == "model"
    assert gate.started.wait(PATIENCE)
    assert not ticket.has()
    assert queue.peek("k") == "model"
    assert queue.peek("k", 1) is None
    gate.open.set()
    assert take(ticket) == ("model", "said")
    assert queue.peek("k", 1) == ("model", "said")


def test_a_second_stage_waits_for_the_first_ones_of_others():
    queue = WorkQueue(1)
    order = []

    def stages(name):
        first = JobStage(lambda report: order.append(f"train {name}"))
        return first, JobStage(lambda _, report: order.append(f"explain {name}"), Priority.EXPLAIN)

    hold = threading.Event()
    held = queue.submit("hold", JobStage(lambda report: hold.wait(PATIENCE)))
    tickets = [queue.submit(name, *stages(name)) for name in "ab"]
    hold.set()
    for ticket in (held, *tickets):
        take(ticket)
    assert order == ["train a", "train b", "explain a", "explain b"]


def test_who_leaves_between_two_stages_can_come_back_and_nothing_is_done_twice(gate):
    queue = WorkQueue(1)
    trained = []
    train = JobStage(lambda report: trained.append(1) or "model")
    first = queue.submit("k", train, JobStage(lambda model, report: gate.work()(report), Priority.EXPLAIN))
    assert gate.started.wait(PATIENCE)
    first.leave()
    wait_until(lambda: queue.abandoned == 1)
    second = queue.submit("k", train, JobStage(lambda model, report: f"{model} explained", Priority.EXPLAIN))
    assert take(second) == "model explained"
    assert trained == [1]


def test_what_somebody_searches_for_comes_before_what_nobody_asked_for(gate):
    queue = WorkQueue(2)
    order = []
    busy = queue.submit("busy", JobStage(gate.work(), Priority.BACKGROUND))
    assert gate.started.wait(PATIENCE)
    shap = queue.submit("shap", JobStage(lambda report: order.append("shap"), Priority.BACKGROUND))
    search = queue.submit("search", JobStage(lambda report: order.append("search"), Priority.SEARCH))
    assert (search.before, shap.before) == (0, 1)
    gate.open.set()
    for ticket in (busy, shap, search):
        take(ticket)
    assert order == ["search", "shap"]


def test_what_is_for_later_comes_after_what_is_not_and_before_the_background(gate):
    queue = WorkQueue(1)
    order = []
    first = queue.submit("first", JobStage(gate.work()))
    assert gate.started.wait(PATIENCE)
    busy = queue.submit("busy", JobStage(gate.work(), Priority.BACKGROUND))
    wait_until(lambda: busy.progress > 0)
    tickets = [
        queue.submit("sweep", JobStage(lambda report: order.append("sweep"), Priority.BACKGROUND)),
        queue.submit("tree", JobStage(lambda report: order.append("tree"), Priority.EXPLAIN)),
        queue.submit("fit", JobStage(lambda report: order.append("fit"))),
    ]
    assert [ticket.before for ticket in tickets] == [2, 1, 0]
    gate.open.set()
    for ticket in [first, busy, *tickets]:
        take(ticket)
    assert [name for name in order if name != "sweep"] == ["fit", "tree"]


def test_results_are_kept_up_to_a_weight():
    queue = WorkQueue(1, cache=ResultCache(max_bytes=1000))
    for key in "abc":
        take(queue.submit(key, JobStage(lambda report: memoryview(bytes(400)))))
    assert [queue.peek(key) is None for key in "abc"] == [True, False, False]
    queue.forget(lambda key: key == "b")
    take(queue.submit("d", JobStage(lambda report: memoryview(bytes(500)))))
    assert queue.peek("c") is not None


def test_what_has_to_be_done_first_is_done_first_and_shown_to_who_waits(gate):
    queue = WorkQueue(1)
    order = []
    first = queue.submit("first", JobStage(gate.work(), Priority.SEARCH, apart=True))
    with queue.submit("then", JobStage(lambda report: order.append("then") or "then"), after=(first,)) as then:
        first.leave()  # who waits for the second waits for it
        wait_until(lambda: then.progress == 0.5)
        assert take(queue.submit("other", JobStage(lambda report: order.append("other")))) is None
        gate.open.set()
        assert take(then) == "then"
    assert order == ["other", "then"]


def test_what_has_to_be_done_first_ends_when_nobody_wants_what_comes_after(gate):
    queue = WorkQueue(1)
    first = queue.submit("first", JobStage(gate.work(), apart=True))
    then = queue.submit("then", JobStage(lambda report: pytest.fail("begun")), after=(first,))
    assert gate.started.wait(PATIENCE)
    first.leave()
    then.leave()
    wait_until(lambda: queue.abandoned == 2)
    assert not queue._running


def test_what_fails_first_fails_what_comes_after():
    queue = WorkQueue(1)

    def fail(report):
        raise ValueError("f takes too long")

    first = queue.submit("first", JobStage(fail, apart=True))
    then = queue.submit("then", JobStage(lambda report: pytest.fail("begun")), after=(first,))
    with pytest.raises(ValueError, match="too long"):
        take(then)


def test_work_apart_holds_up_nobody_and_large_work_leaves_a_place_for_small(gate):
    queue = WorkQueue(1, apart=2)
    large = [queue.submit(i, JobStage(gate.work(), heavy=True, apart=True)) for i in range(3)]
    assert gate.started.wait(PATIENCE)
    assert take(queue.submit("small", JobStage(lambda report: "small", apart=True))) == "small"
    assert take(queue.submit("fit", JobStage(lambda report: "fit"))) == "fit"
    assert [ticket.before for ticket in large] == [0, 0, 1]
    gate.open.set()
    assert [take(ticket) for ticket in large] == ["done"] * 3


def test_small_work_waits_neither_for_heavy_work_nor_for_the_background(gate):
    queue = WorkQueue(1, 1)
    heavy = [queue.submit(i, JobStage(gate.work(), heavy=True)) for i in range(2)]
    search = queue.submit("search", JobStage(gate.work(), Priority.SEARCH))
    assert gate.started.wait(PATIENCE)
    assert take(queue.submit("fit", JobStage(lambda report: "fit"))) == "fit"
    gate.open.set()
    assert [take(ticket) for ticket in (*heavy, search)] == ["done"] * 3


def ahead(work, priority=Priority.LINE):
    return JobStage(work, priority)


def test_what_is_asked_for_passes_all_that_is_done_ahead(gate):
    queue, order = WorkQueue(1, 1), []
    running = queue.submit("runs", ahead(gate.work()))
    assert gate.started.wait(PATIENCE)
    waiting = [queue.submit(name, ahead(lambda report, name=name: order.append(name))) for name in "abc"]
    asked = queue.submit(
        "c", JobStage(lambda report: "asked for"), JobStage(lambda first, report: f"{first}, explained")
    )
    assert take(asked) == "asked for, explained"  # at once, and with both of its stages
    assert not order
    gate.open.set()
    assert take(running) == "done"
    assert [take(ticket) for ticket in waiting] == [None, None, "asked for, explained"]
    assert order == ["a", "b"]


def test_nobody_waits_for_what_is_at_work_ahead_of_asking(gate):
    queue = WorkQueue(1, 1)
    slow = queue.submit("k", ahead(gate.work("slow")))
    assert gate.started.wait(PATIENCE)
    assert take(queue.submit("k", JobStage(lambda report: "quick"))) == "quick"
    gate.open.set()
    assert take(slow) == "slow"
    assert queue.peek("k") == "quick"  # which may have more stages


def test_who_asks_for_work_of_the_background_shares_what_is_at_work_ahead_of_asking(gate):
    queue = WorkQueue(1, 1)
    first = queue.submit("k", ahead(gate.work("shared")))
    assert gate.started.wait(PATIENCE)
    asked = queue.submit("k", JobStage(lambda report: "again", Priority.BACKGROUND))
    assert queue.idle_for == 0  # somebody waits
    gate.open.set()
    assert take(first) == take(asked) == "shared"
    assert queue.finished == 1


def test_only_so_much_is_done_ahead(gate):
    queue = WorkQueue(1, 1)
    tickets = [queue.submit(0, ahead(gate.work()))]
    assert gate.started.wait(PATIENCE)
    while not queue.is_crowded:
        tickets.append(queue.submit(len(tickets), ahead(gate.work())))
        assert len(tickets) <= MOST_PREFETCHED + 1
    assert len(tickets) == MOST_PREFETCHED + 1
    for ticket in tickets:
        ticket.leave()


def test_what_nobody_asked_for_is_the_first_to_go():
    cache = ResultCache(max_results=2)

    def kept():
        return [key for key in ("used", "ahead", "new", "more", "last") if cache.get(key, used=False)]

    cache.put("used", 1)
    cache.put("ahead", 2, first_to_go=True)
    cache.put("new", 3)
    assert kept() == ["used", "new"]
    cache.put("more", 4, first_to_go=True)
    assert kept() == ["used", "new"]
    cache.put("last", 5)
    assert kept() == ["new", "last"]  # a look is no use


def test_an_idle_thread_holds_nothing_of_what_came_before_its_job():
    class Data:
        pass

    queue, data = WorkQueue(1), Data()
    gone = weakref.ref(data)
    part = queue.submit("part", JobStage(lambda report, data=data: 1))
    with part, queue.submit("whole", JobStage(lambda report: 2), after=[part]) as whole:
        wait_until(whole.has)
    del data, part, whole
    wait_until(lambda: gc.collect() is not None and gone() is None)


def test_a_job_is_found_without_a_look_at_each_of_thousands_that_wait(gate, monkeypatch):
    looks = []

    def counted(job):
        looks.append(job)
        return job.rank

    monkeypatch.setattr(queue_module, "_rank", counted)
    queue = WorkQueue(1, 1)
    at_work = queue.submit("at work", JobStage(gate.work(), Priority.SEARCH))
    assert gate.started.wait(PATIENCE)
    behind = [queue.submit(i, JobStage(gate.work(), Priority.REFITS)) for i in range(5000)]
    looks.clear()
    assert take(queue.submit("asked for", JobStage(lambda report: 1))) == 1
    behind.pop().leave()
    assert len(looks) < 500  # some sixty
    for ticket in (*behind, at_work):
        ticket.leave()


def test_every_one_of_many_jobs_ends_whatever_it_follows_and_whoever_leaves():
    rng, queue = random.Random(0), WorkQueue(1, 2)
    tickets, kept = [], []
    for number in range(400):
        after = rng.sample(tickets, k=min(len(tickets), rng.choice((0, 0, 1, 3))))
        stage = JobStage(lambda *_, number=number: number, rng.choice([*Priority]), heavy=rng.random() < 0.2)
        ticket = queue.submit(number, *[stage] * rng.choice((1, 2)), after=after)
        tickets.append(ticket)
        if rng.random() < 0.3:
            rng.choice(tickets).leave()
    for number, ticket in enumerate(tickets):
        wait_until(lambda ticket=ticket: ticket.has())
        if not ticket.failed:
            kept.append(number)
            assert ticket.result() == number
    assert len(kept) > 100


# ---- listeners, and what is logged ----


def test_a_listener_hears_of_every_stage_and_of_a_failure_but_not_after_leaving():
    queue, heard, first, second = WorkQueue(1), [], threading.Event(), threading.Event()

    def fail(model, report):
        second.wait(PATIENCE)
        raise ValueError("no")

    ticket = queue.submit("k", JobStage(lambda report: first.wait(PATIENCE)), JobStage(fail))
    ticket.listen(lambda: heard.append((ticket.has(0), ticket.failed, ticket.before)))
    gone = queue.submit("k", JobStage(None))
    gone.listen(lambda: heard.append("gone"))
    gone.leave()
    first.set()
    wait_until(lambda: heard)
    second.set()
    wait_until(lambda: len(heard) == 2)
    assert heard == [(True, False, 0), (True, True, 0)]
    ticket.leave()


def test_a_listener_that_fails_harms_nobody(caplog):
    queue, go = WorkQueue(1), threading.Event()
    ticket = queue.submit("k", JobStage(lambda report: go.wait(PATIENCE)))
    ticket.listen(lambda: 1 / 0)
    go.set()
    assert take(ticket) is True
    assert take(queue.submit("after", JobStage(lambda report: 7))) == 7
    wait_until(lambda: "A listener failed" in caplog.text)  # it is called after those who wait are served


@pytest.mark.parametrize(("error", "is_logged"), [(RuntimeError, True), (ValueError, False)])
def test_a_failed_job_is_logged_once_with_its_traceback_and_without_its_settings(caplog, error, is_logged):
    queue = WorkQueue(1)

    def fails_here(report):
        raise error("why")

    first = queue.submit(("fit", "somebody's column"), JobStage(fails_here))
    then = queue.submit("then", JobStage(lambda report: 1), after=[first])
    with caplog.at_level(logging.ERROR):
        for ticket in (then, first):
            with pytest.raises(error):
                take(ticket)
    ours = [record for record in caplog.records if record.name == queue_module.__name__]
    assert len(ours) == is_logged
    assert ("fails_here" in caplog.text) is is_logged
    assert "column" not in caplog.text


def test_when_a_job_will_be_ready_is_told_from_the_share_done(monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(queue_module, "time", clock)
    queue, begun, later, end = WorkQueue(1), threading.Event(), threading.Event(), threading.Event()

    def work(report):
        report(0.01)
        begun.set()
        later.wait(PATIENCE)
        report(0.1)
        end.wait(PATIENCE)

    ticket = queue.submit("k", JobStage(work))
    assert begun.wait(PATIENCE)
    clock.now += 2.0
    assert ticket.seconds_left is None  # one percent says little
    later.set()
    wait_until(lambda: ticket.progress == 0.1)
    assert ticket.seconds_left == pytest.approx(18.0)
    end.set()
    take(ticket)
    assert ticket.seconds_left is None


def test_the_share_done_can_be_read_while_the_job_ends():
    class Last:
        """Lets go of what it held up the moment somebody looks at it."""

        progress, begun = 0.5, 3.0
        pace = progress, begun

        @property
        def is_over(self):
            job.after = ()
            return False

        @property
        def at_hand(self):
            return self

    job = queue_module._Job("then", (JobStage(lambda report: 1),), ())
    job.after = (Last(),)
    assert job.pace == (0.5, 3.0)
