"""The only wait loop: who waits is shown how long, and nobody waits while it has its turn to draw."""

import threading
import time
from types import SimpleNamespace

import pytest

from commod.dashboard.jobs import service
from commod.dashboard.jobs.queue import JobStage, WorkQueue
from commod.dashboard.jobs.scheduling import Priority
from commod.dashboard.jobs.service import deferred_paint, first_paint
from tests.waiting import PATIENCE, wait_until


@pytest.fixture
def queue():
    return WorkQueue(2)


class Place:
    """What a script writes its progress to."""

    def __init__(self):
        self.shown, self.seen = [], None

    def progress(self, share, text):
        self.shown.append(text)
        if self.seen:
            self.seen()

    def empty(self):
        self.shown.append("")


@pytest.mark.parametrize("turn", [first_paint, deferred_paint])
def test_a_wait_while_a_page_has_its_turn_raises_and_the_next_page_has_its_own(queue, turn):
    ticket = queue.submit("k", JobStage(lambda report: 7))
    with pytest.raises(RuntimeError, match="cannot wait while it draws"), turn():
        service.wait(ticket)
    assert service.wait(ticket) == 7
    with turn():  # the turn was given back
        pass


def test_other_threads_may_wait_while_one_draws(queue):
    found = []
    with first_paint():
        other = threading.Thread(
            target=lambda: found.append(service.wait(queue.submit("k", JobStage(lambda report: 7))))
        )
        other.start()
        other.join(PATIENCE)
    assert found == [7]


def test_a_long_wait_is_shown_and_a_short_one_is_not(queue, monkeypatch):
    place = Place()
    monkeypatch.setattr(service, "PATIENCE", PATIENCE)
    assert service.wait(queue.submit("short", JobStage(lambda report: 7)), place, "Training") == 7
    assert place.shown == []
    monkeypatch.setattr(service, "PATIENCE", 0.0)
    go = threading.Event()

    def work(report):
        report(0.01)
        go.wait(PATIENCE)
        return 8

    place.seen = go.set
    assert service.wait(queue.submit("long", JobStage(work)), place, "Training") == 8
    assert place.shown[0] == "Training …"
    assert place.shown[-1] == ""


@pytest.mark.parametrize(
    ("before", "seconds", "told"),
    [
        (3, 12.0, "Searching: 3 before you"),
        (0, None, "Searching …"),
        (0, 2.0, "Searching …"),
        (0, 4.4, "Searching: ready in about 4 s"),
        (0, 33.0, "Searching: ready in about 35 s"),
        (0, 590.0, "Searching: ready in about 10 min"),
    ],
)
def test_who_waits_is_told_how_many_come_before_and_when_it_will_be_ready(before, seconds, told):
    assert service.in_line("Searching", SimpleNamespace(before=before, note="", seconds_left=seconds)) == told


def test_parts_of_a_page_are_drawn_as_their_results_come_and_all_are_looked_at_meanwhile(queue, monkeypatch):
    monkeypatch.setattr(service._here, "next_look", 0.0, raising=False)
    go, drawn, looked = threading.Event(), [], set()
    slow = queue.submit("slow", JobStage(lambda report: go.wait(PATIENCE) and "slow", Priority.BACKGROUND))
    quick = queue.submit("quick", JobStage(lambda report: "quick"))

    def draw(ticket):
        drawn.append(ticket.result())
        go.set()

    parts = [service.Pending(ticket, draw, looked.add) for ticket in (slow, quick)]
    service.while_waiting(lambda: looked.add("the room"))
    try:
        service.draw_pending(parts[0], None, parts[1])
    finally:
        service.while_waiting(None)
    assert drawn == ["quick", "slow"]
    assert {slow, "the room"} <= looked


def test_a_place_that_outlives_the_run_is_not_given_up(queue):
    go = threading.Event()
    held = queue.submit("k", JobStage(lambda report: go.wait(PATIENCE)))

    class StaleError(Exception):
        pass

    def stale(ticket):
        raise StaleError

    with pytest.raises(StaleError):
        service.draw_pending(service.Pending(held, stale, stale, held=True))
    assert queue.abandoned == 0
    go.set()
    wait_until(held.has)
    assert held.result() is True


def test_the_rest_of_pages_is_drawn_one_session_after_the_other_and_nobody_waits_for_very_long(monkeypatch):
    at_once, most, lock = [], [], threading.Lock()
    monkeypatch.setattr(service, "LONGEST_LINE", PATIENCE)

    def draw():
        with deferred_paint():
            with lock:
                at_once.append(1)
                most.append(len(at_once))
            time.sleep(0.01)
            with lock:
                at_once.pop()

    threads = [threading.Thread(target=draw) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert most == [1] * 10
    monkeypatch.setattr(service, "LONGEST_LINE", 0.1)
    with deferred_paint():
        other = threading.Thread(target=draw)
        other.start()
        other.join(PATIENCE)
    assert len(most) == 11, "it did not wait for ever"


def test_a_run_that_nobody_wants_any_more_leaves_the_line(monkeypatch):
    left = []

    def stale():
        raise RuntimeError

    def draw():
        try:
            with deferred_paint():
                left.append("drawn")
        except RuntimeError:
            left.append("left")

    monkeypatch.setattr(service, "stop_if_stale", stale)
    with deferred_paint():
        other = threading.Thread(target=draw)
        other.start()
        other.join(PATIENCE)
    assert left == ["left"]
    with deferred_paint():
        pass
