"""Scripts draw a few at a time; who waits lets others draw, and nobody's wait holds up everybody."""

import threading
import time

import pytest

from commod.dashboard.jobs import turns, wait
from commod.dashboard.jobs.made_once import made_once
from commod.dashboard.jobs.queue import Stage, WorkQueue
from commod.dashboard.jobs.scheduling import DRAWING
from tests.waiting import wait_until


def at_once(count, work):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def hold_all_turns(go):
    """Threads that have every turn until they are told to go."""
    inside = threading.Semaphore(0)

    def hold():
        with turns.in_turn():
            inside.release()
            go.wait(10)

    threads = [threading.Thread(target=hold) for _ in range(DRAWING)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert inside.acquire(timeout=10)
    return threads


@pytest.fixture
def in_line(monkeypatch):
    """Start a thread and return when it stands in line: whoever does looks now and then whether its run is wanted."""
    standing, unwanted = set(), set()

    def stop_if_stale():
        name = threading.current_thread().name
        standing.add(name)
        if name in unwanted:
            raise RuntimeError

    monkeypatch.setattr(turns, "stop_if_stale", stop_if_stale)

    def start(name, draw):
        thread = threading.Thread(target=draw, args=(name,), name=name)
        thread.start()
        wait_until(lambda: name in standing)
        return thread

    start.no_longer_wanted = unwanted.add
    return start


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


def test_first_pictures_come_before_the_rest_of_other_pages_and_each_in_the_order_of_its_run(in_line):
    go, inside, drawn, firsts = threading.Event(), threading.Event(), [], DRAWING + 3
    holding = hold_all_turns(go)

    def first(name):
        with turns.in_turn():
            drawn.append(name)

    def rest(name):
        with turns.in_turn_for_the_rest():
            inside.set()
            go.wait(10)
            drawn.append(name)

    at_work = threading.Thread(target=rest, args=("rest at work",))
    at_work.start()
    assert inside.wait(10)
    waiting = [in_line(f"rest {number}", rest) for number in range(3)]
    waiting += [in_line(f"first {number}", first) for number in range(firsts)]
    go.set()
    for thread in (*holding, at_work, *waiting):
        thread.join(10)
    assert [name for name in drawn if name.startswith("rest ") and name[-1].isdigit()] == ["rest 0", "rest 1", "rest 2"]
    drawn.remove("rest at work")
    assert drawn.index("rest 0") >= firsts - DRAWING, "only first pictures that were at work could come after it"


def test_a_run_that_nobody_wants_any_more_leaves_the_line(in_line):
    go, drawn = threading.Event(), []
    holding = hold_all_turns(go)

    def draws(name="more"):
        with turns.in_turn():
            drawn.append(name)

    def leaves(name):
        with pytest.raises(RuntimeError):
            draws(name)

    stale, wanted = in_line("stale", leaves), in_line("wanted", draws)
    in_line.no_longer_wanted("stale")
    stale.join(10)
    assert not stale.is_alive(), "it left though nobody had given a turn"
    assert not drawn
    go.set()
    for thread in (*holding, wanted):
        thread.join(10)
    assert drawn == ["wanted"]
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
    hanging = hold_all_turns(go)

    def draws():
        with turns.in_turn():
            drawn.append(turns.has_turn())

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
