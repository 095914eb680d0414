"""What a room costs the server, in microseconds: ``python -m tests.benchmarks.rooms [DATABASE_URL]``.

200 people are in it, each at a setting, with a guess at ten steps and a vote in two rounds. Printed are the medians of
what standing somewhere, voting, guessing and looking (changed, kept, unchanged) take of a core and until it is done,
from one thread; then what 60 people wait who move, vote and look at one moment, from 60 threads.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

import numpy as np

from commod.dashboard.rooms.room_store import LOOK_SECONDS, MOST_PEOPLE, RoomStore

LINK = (
    "data=law_school&groups=&criterion=demographic_parity&lambda_fair=2&lambda_ratio=0.05&lambda_concepts=0.05&seed=0"
)
FIGURES = {"p_rule": 0.7134512, "dispdev": 0.0934512, "accuracy": 0.83, "changed": 0.05123, "worse": 12.0}
REASON = "Fewer people are worse off, and those who are can be told why."


class Clock:
    """Seconds, `step` more whenever somebody looks: with one of them no limit is met."""

    now, step = 0.0, 1.0

    def __call__(self):
        self.now += self.step
        return self.now


def filled(store):
    """A room with everybody in it."""
    room = store.open_room("bar_exam")
    leader = store.take_lead(room.secret, browser="", caller="")
    seats = [store.join(room.code, None, browser="", caller="") for _ in range(MOST_PEOPLE)]
    for step in range(10):
        for seat in seats:
            store.guess(seat, "bar_exam", f"step {step}", "30")
    store.ask_to_sign(leader)
    for again in (True, False):
        for seat in seats:
            store.stand(seat, LINK, FIGURES)
            store.send_vote(seat, LINK, FIGURES, REASON)
        if again:
            store.ask_again(leader)
    return room, leader, seats


def timed(name, act, times=200, before=lambda: None):
    own, whole = [], []
    for _ in range(times):
        before()
        start, start_own = time.perf_counter(), time.thread_time()
        act()
        own.append(1e6 * (time.thread_time() - start_own))
        whole.append(1e6 * (time.perf_counter() - start))
    print(f"{name:46}{np.median(own):>10,.0f}{np.median(whole):>10,.0f}{np.quantile(whole, 0.95):>10,.0f}")


def one_after_the_other(address):
    """Times of each act; the room, who leads it and who is in it."""
    clock = Clock()
    store, elsewhere = RoomStore(address, steady=clock), RoomStore(address, steady=clock)
    room, leader, seats = filled(store)
    anybody = iter(seats * 100)

    def move():
        store.stand(next(anybody), LINK, FIGURES)

    def look():
        elsewhere.read(room.code)

    print(f"{'microseconds':46}{'of a core':>10}{'passed':>10}{'95 %':>10}")
    timed("stand", move)
    timed("vote", lambda: store.send_vote(next(anybody), LINK, FIGURES, REASON))
    timed("guess", lambda: store.guess(next(anybody), "bar_exam", "step 9", "31"))
    timed("who is in her room", lambda: store.present(room.code, seats[0].token, browser=""))
    timed("look, changed since", look, before=move)
    clock.step = 0.0
    timed("look, kept", look)
    clock.step = LOOK_SECONDS
    timed("look, unchanged (one in ten is read anew)", look)
    store.dispose()
    elsewhere.dispose()
    return room, leader, seats


def sixty_at_once(address, room, seats):
    """What each of them waits, and when the last is done."""
    store = RoomStore(address)
    waits, ends = [], []

    def move_vote_look(seat):
        start = time.perf_counter()
        store.stand(seat, LINK, FIGURES)
        store.send_vote(seat, LINK, FIGURES, REASON)
        store.read(room.code)
        waits.append(time.perf_counter() - start)

    for _ in range(5):
        start = time.perf_counter()
        with ThreadPoolExecutor(60) as pool:
            list(pool.map(move_vote_look, seats[:60]))
        ends.append(time.perf_counter() - start)
    median, late, end = (1000 * value for value in (np.median(waits), np.quantile(waits, 0.95), np.median(ends)))
    print(f"60 at one moment, milliseconds: median {median:.0f}, 95 % {late:.0f}; all are done after {end:.0f}")
    store.dispose()


def main():
    with TemporaryDirectory() as folder:
        address = sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{folder}/rooms.sqlite"
        room, leader, seats = one_after_the_other(address)
        sixty_at_once(address, room, seats)
        store = RoomStore(address)
        store.delete(leader)
        store.dispose()


if __name__ == "__main__":
    main()
