"""Scripts draw a few at a time; who waits lets others draw, and nobody's wait holds up everybody."""

import threading
import time

import pytest

from commod.dashboard.jobs import turns, wait
from commod.dashboard.jobs.made_once import made_once
from commod.dashboard.jobs.queue import Stage, WorkQueue
from commod.dashboard.jobs.scheduling import DRAWING


def at_once(count, work):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def test_a_few_draw_at_a_time_and_all_have_their_turn():
    drawing, most, lock = [], [], threading.Lock()

    def draw():
        with turns.in_turn(), turns.in_turn():  # a page within a page needs no second one
            with lock:
                drawing.append(1)
                most.append(len(drawing))
            time.sleep(0.01)
            with lock:
                drawing.pop()

    at_once(20, draw)
    assert len(most) == 20
    assert max(most) <= DRAWING
    assert not turns.has_turn()


def test_who_waits_lets_others_draw_and_needs_a_turn_again():
    queue, go, drawn = WorkQueue(small=1, background=1, apart=1), threading.Event(), []
    ticket = queue.submit("slow", Stage(lambda report: go.wait(10)))

    def waits():
        with turns.in_turn():
            wait.wait(ticket)
            assert turns.has_turn()
            drawn.append("waited")

    def draws():
        with turns.in_turn():
            drawn.append("drawn")
            go.set()

    waiting = [threading.Thread(target=waits) for _ in range(2 * DRAWING)]
    for thread in waiting:
        thread.start()
    time.sleep(0.1)
    at_once(1, draws)
    for thread in waiting:
        thread.join(10)
    assert drawn == ["drawn"] + ["waited"] * len(waiting)


def test_first_pictures_come_before_the_rest_of_other_pages_and_each_in_the_order_of_its_run():
    go, drawn, threads = threading.Event(), [], []

    def first(name):
        with turns.in_turn():
            go.wait(10)
            drawn.append(name)

    def rest(name):
        with turns.in_turn_for_the_rest():
            go.wait(10)
            drawn.append(name)

    def start(draw, name):
        threads.append(threading.Thread(target=draw, args=(name,)))
        threads[-1].start()
        time.sleep(0.05)

    for _ in range(DRAWING):
        start(first, "at work")
    start(rest, "rest at work")
    for number in range(3):
        start(rest, f"rest {number}")
    for number in range(3):
        start(first, f"first {number}")
    go.set()
    for thread in threads:
        thread.join(10)
    waited = [name for name in drawn if name[-1].isdigit()]
    assert [name for name in waited if name.startswith("rest")] == ["rest 0", "rest 1", "rest 2"]
    assert waited.index("rest 0") >= 2, "those in line for a first picture were before it"


def test_a_run_that_nobody_wants_any_more_leaves_the_line(monkeypatch):
    go, stale, drawn = threading.Event(), threading.Event(), []

    def stop_if_stale():
        if stale.is_set() and threading.current_thread().name == "stale":
            raise RuntimeError

    monkeypatch.setattr(turns, "stop_if_stale", stop_if_stale)

    def draws():
        with turns.in_turn():
            go.wait(10)
            drawn.append(threading.current_thread().name)

    def stands_in_line():
        with pytest.raises(RuntimeError), turns.in_turn():
            drawn.append("stale")

    at_work = [threading.Thread(target=draws, name="at work") for _ in range(DRAWING)]
    waits = [threading.Thread(target=stands_in_line, name="stale"), threading.Thread(target=draws, name="wanted")]
    for thread in (*at_work, *waits):
        thread.start()
        time.sleep(0.05)
    stale.set()
    waits[0].join(10)
    assert not waits[0].is_alive(), "it left though nobody had given a turn"
    go.set()
    for thread in (*at_work, waits[1]):
        thread.join(10)
    assert drawn == ["at work"] * DRAWING + ["wanted"]
    at_once(2 * DRAWING, draws)


def test_a_script_that_ends_early_gives_its_turn_back():
    for _ in range(DRAWING + 1):
        with pytest.raises(RuntimeError), turns.in_turn():
            raise RuntimeError
    with turns.in_turn():
        assert turns.has_turn()


def test_no_page_can_hold_up_all_others_for_good(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST_LINE", 0.1)
    go, drawn = threading.Event(), []

    def hangs():
        with turns.in_turn():
            go.wait(10)

    def draws():
        with turns.in_turn():
            drawn.append(turns.has_turn())

    hanging = [threading.Thread(target=hangs) for _ in range(DRAWING)]
    for thread in hanging:
        thread.start()
    at_once(1, draws)
    go.set()
    for thread in hanging:
        thread.join(10)
    at_once(1, draws)
    assert drawn == [False, True]


def test_who_waits_for_an_attribute_does_not_hold_up_those_of_others():
    """`functools.cached_property` did: one slow model, and the lesson of a whole class stood still."""
    go, made = threading.Event(), []

    class Step:
        @made_once
        def model(self):
            made.append(self)
            return self.wait()

    slow, quick = Step(), Step()
    slow.wait, quick.wait = (lambda: go.wait(10)), (lambda: "here")
    thread = threading.Thread(target=lambda: slow.model)
    thread.start()
    while not made:
        time.sleep(0.01)
    assert quick.model == quick.model == "here"
    assert made == [slow, quick], "each is made once"
    go.set()
    thread.join(10)
