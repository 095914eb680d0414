"""Whoever has a seat sees the room as that person, and nobody else does: random joins, removals and stale tabs."""

import tempfile
from dataclasses import dataclass

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from commod.dashboard.rooms.contents import RoomError, Seat
from commod.dashboard.rooms.room_store import MOST_LEADERS, RoomStore
from tests.dashboard.rooms.conftest import Clock
from tests.dashboard.rooms.test_room_store import FIGURES, LINK

PICK = st.integers(0, 1000)
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking takes minutes, and says little more


@dataclass
class Tab:
    """A browser's tab, and what its owner may be in the room; it stays open whatever happens."""

    seat: Seat
    browser: str
    state: str  # "leads", "inside", "waits" or "gone"
    seen: float


class Seats(RuleBasedStateMachine):
    """Two server processes, one room, and every tab that was ever opened."""

    @initialize()
    def open_room(self):
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.stores = [
            RoomStore(
                f"sqlite:///{self.folder.name}/rooms.sqlite",
                clock=self.clock,
                steady=self.clock,
                wait=self.clock.wait,
            )
            for _ in range(2)
        ]
        opened = self.stores[0].open_room("bar_exam")
        self.code, self.secret, self.door, self.tabs = opened.code, opened.secret, "open", []
        self.take_lead(0)

    def teardown(self):
        for store in self.stores:
            store.dispose()
        self.folder.cleanup()

    def store(self, pick):
        self.clock.wait(10)  # so that what the other process has changed is seen, and nobody is too fast
        return self.stores[pick % 2]

    def tab(self, pick, *states):
        found = [tab for tab in self.tabs if tab.state in states]
        return found[pick % len(found)] if found else None

    def sat_down(self, seat, browser, state):
        assert seat.number not in [tab.seat.number for tab in self.tabs], "a number is given twice"
        self.tabs.append(Tab(seat, browser, state, self.clock()))

    @rule(pick=PICK)
    def take_lead(self, pick):
        store, browser = self.store(pick), f"leader {len(self.tabs)}"
        leading = [tab for tab in self.tabs if tab.state == "leads"]
        seat = store.take_lead(self.secret, browser=browser, caller=browser)
        if len(leading) == MOST_LEADERS:  # the one that was seen longest ago gives way
            min(leading, key=lambda tab: (tab.seen, tab.seat.number)).state = "gone"
        self.sat_down(seat, browser, "leads")

    @rule(pick=PICK, name=st.sampled_from(["Ana", "Bo", None]))
    def join(self, pick, name):
        store, browser = self.store(pick), f"browser {len(self.tabs)}"
        came = []
        reason = refusal(lambda: came.append(store.join(self.code, name, browser=browser, caller=browser)))
        assert reason == ("locked" if self.door == "locked" else "")
        for seat in came:
            self.sat_down(seat, browser, "waits" if self.door == "ask" else "inside")

    @rule(pick=PICK, whom=st.lists(PICK, max_size=3))
    def remove(self, pick, whom):
        numbers = [self.tabs[one % len(self.tabs)].seat.number for one in whom]
        self.stores_leader(pick, lambda store, seat: store.remove(seat, numbers))
        for tab in self.tabs:
            if tab.seat.number in numbers and tab.state != "leads":
                tab.state = "gone"

    @rule(pick=PICK, whom=st.lists(PICK, max_size=3))
    def let_in(self, pick, whom):
        numbers = [self.tabs[one % len(self.tabs)].seat.number for one in whom]
        self.stores_leader(pick, lambda store, seat: store.let_in(seat, numbers))
        for tab in self.tabs:
            if tab.seat.number in numbers and tab.state == "waits":
                tab.state = "inside"

    @rule(pick=PICK, door=st.sampled_from(["open", "ask", "locked"]))
    def turn_key(self, pick, door):
        self.stores_leader(pick, lambda store, seat: store.lead(seat, door=door))
        self.door = door

    @rule(pick=PICK)
    def new_link(self, pick):
        old, kept = self.secret, self.tab(pick, "leads")
        self.secret = self.store(pick).new_secret(kept.seat)
        for tab in self.tabs:
            if tab.state == "leads" and tab is not kept:
                tab.state = "inside"
        assert refusal(lambda: self.store(pick).take_lead(old, browser="thief", caller="thief")) == "no_room"

    def stores_leader(self, pick, act):
        """Somebody who leads does it, and nobody else could have."""
        for state, reason in (("inside", "not_leading"), ("waits", "waiting"), ("gone", "no_seat")):
            if (tab := self.tab(pick, state)) is not None:
                assert refusal(lambda tab=tab: act(self.store(pick), tab.seat)) == reason
        act(self.store(pick), self.tab(pick, "leads").seat)

    @rule(pick=PICK)
    def stand(self, pick):
        """A stale tab can send nothing."""
        tab = self.tabs[pick % len(self.tabs)]
        reason = refusal(lambda: self.store(pick).stand(tab.seat, LINK, FIGURES))
        assert reason == {"gone": "no_seat", "waits": "waiting"}.get(tab.state, "")
        if not reason:
            tab.seen = self.clock()

    @invariant()
    def everybody_sees_what_is_theirs(self):
        for number, tab in enumerate(self.tabs):
            store = self.stores[number % 2]
            self.clock.wait(1)
            found = []
            reason = refusal(
                lambda store=store, tab=tab, found=found: found.append(
                    store.present(self.code, tab.seat.token, browser=tab.browser)
                )
            )
            assert reason == {"gone": "no_seat", "waits": "waiting"}.get(tab.state, "")
            for here in found:
                assert here.person.name == tab.seat.name
                assert here.seat.key == tab.seat.key
                assert here.leads == here.seat.leads == (tab.state == "leads")
            # The same address in another browser is nobody's seat.
            assert (
                refusal(lambda store=store, tab=tab: store.present(self.code, tab.seat.token, browser="")) == "no_seat"
            )


def refusal(act):
    """Why something cannot be done; empty if it can."""
    try:
        act()
    except RoomError as error:
        return error.reason
    return ""


class TestSeats(Seats.TestCase):
    settings = settings(max_examples=8, stateful_step_count=25, deadline=None, phases=PHASES)


@pytest.mark.slow
class TestManySeats(Seats.TestCase):
    settings = settings(max_examples=100, stateful_step_count=25, deadline=None, phases=PHASES)
