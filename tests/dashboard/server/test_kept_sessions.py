"""Sessions whose browser is gone: who is kept, who makes way, and that none outlives its time."""

import asyncio
from types import SimpleNamespace

import pandas as pd
import pytest

from commod.dashboard.pages.your_data.draft import Draft
from commod.dashboard.server import kept_sessions
from commod.dashboard.server.kept_sessions import KeptSessions
from commod.dashboard.state.own_data import OwnData
from commod.datasets import load_task
from commod.uploads.reading import ReadTable


class Held(SimpleNamespace):
    """What a session holds that has uploaded data."""

    is_own_data = True


class Closed:
    """A session of Streamlit's, as far as it is asked here."""

    def __init__(self, address, *held):
        self.id, self.address, self.held, self.ended = f"{address}-{id(self)}", address, held, False

    def shutdown(self):
        self.ended = True


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1_000.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(kept_sessions, "time", clock)
    return clock


def close(sessions, monkeypatch, at_most=128, before_the_end=lambda kept: None, seconds=600.0):
    """The sessions lose their browsers one after the other; what is kept of them."""
    known = {session.id: session for session in sessions}
    monkeypatch.setattr(kept_sessions, "address_of_session", lambda name: known[name].address)
    monkeypatch.setattr(kept_sessions, "values_held_by", lambda session: [1, "text", *session.held])
    kept = KeptSessions(at_most, seconds)

    async def lose_them():
        for session in sessions:
            kept.save(SimpleNamespace(session=session))
        before_the_end(kept)
        await asyncio.sleep(0)  # what is due is done

    asyncio.run(lose_them())
    return kept


def test_140_cut_sockets_of_one_address_push_out_their_own_sessions(monkeypatch):
    lid = Closed("192.0.2.1")
    flood = [Closed("198.51.100.7") for _ in range(140)]
    kept = close([lid, *flood], monkeypatch)
    assert kept.get(lid.id).session is lid
    assert not lid.ended
    assert [session.ended for session in flood] == [True] * 13 + [False] * 127  # the oldest first


def test_own_data_are_kept_longest_even_within_the_address_of_a_flood(monkeypatch):
    own = Closed("198.51.100.7", Held())
    elsewhere = Closed("192.0.2.1")
    kept = close([own, elsewhere, *(Closed("198.51.100.7") for _ in range(140))], monkeypatch)
    assert kept.get(own.id)
    assert kept.get(elsewhere.id)
    addresses = [Closed(f"203.0.113.{n}") for n in range(200)]  # of many addresses
    own = Closed("198.51.100.7", Held())
    assert close([own, *addresses], monkeypatch).get(own.id)


def test_one_address_of_ipv6_is_all_that_a_customer_is_given(monkeypatch):
    lids = [Closed(f"2001:db8:{n}::1") for n in range(100)]
    kept = close([*lids, *(Closed(f"2001:db8:ffff::{n:x}") for n in range(140))], monkeypatch)
    assert all(kept.get(lid.id) for lid in lids)


def test_a_session_ends_when_its_time_is_over_though_nobody_comes(monkeypatch, clock):
    early = Closed("192.0.2.1", Held())
    late = Closed("192.0.2.1")

    def pass_time(kept):
        clock.now += 400
        monkeypatch.setattr(kept_sessions, "address_of_session", lambda name: late.address)
        kept.save(SimpleNamespace(session=late))
        kept.end_old()
        assert kept.get(early.id)
        clock.now += 200
        assert kept.get(early.id) is None  # and it is not given out while it waits for its end
        kept.end_old()

    kept = close([early], monkeypatch, before_the_end=pass_time)
    assert early.ended
    assert not late.ended
    assert [info.session for info in kept.list()] == [late]


def test_the_clock_of_the_wall_may_jump(monkeypatch):
    lid = Closed("192.0.2.1")

    def jump(kept):
        for wall in (0.0, 4e9):
            monkeypatch.setattr("time.time", lambda wall=wall: wall)
            kept.end_old()

    assert close([lid], monkeypatch, before_the_end=jump).get(lid.id)
    assert not lid.ended


def test_who_is_taken_up_again_is_no_longer_kept_and_not_ended(monkeypatch):
    lid = Closed("192.0.2.1")
    kept = close([lid], monkeypatch, before_the_end=lambda kept: kept.delete(lid.id))
    kept.delete("nobody")
    assert kept.get(lid.id) is None
    assert not lid.ended


def test_data_in_use_and_files_that_were_only_read_are_own_data():
    own = OwnData(load_task("german"))
    assert own.is_own_data
    own.forget()
    assert not own.is_own_data
    assert not Draft().is_own_data
    assert Draft(table=ReadTable(pd.DataFrame({"a": [1]}), ())).is_own_data
