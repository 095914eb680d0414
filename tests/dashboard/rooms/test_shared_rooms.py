"""Rooms that several threads and processes write at one moment, that one of them leaves in the middle, and that are
older or newer than the program."""

import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from types import SimpleNamespace

import pytest
from sqlalchemy import inspect, select, text

from commod.dashboard import rooms
from commod.dashboard.rooms import schema
from commod.dashboard.rooms.contents import RoomError
from commod.dashboard.rooms.room_store import LOOK_SECONDS, SEEN_EVERY, RoomStore
from tests.dashboard.rooms.conftest import Clock
from tests.dashboard.rooms.test_room_store import FIGURES, LINK, join, opened, refused
from tests.waiting import PATIENCE, wait_until

if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)
# As nginx's processes, but without their start.
process = multiprocessing.get_context("fork")
STEPS = 15  # guessed at in turn, the last guess at each counts


def patient(database):
    """A store whose limits are never met: for it, a second passes whenever it looks at its clock."""
    seconds = count()
    return RoomStore(database, steady=lambda: float(next(seconds)))


def _vote(database, seats, begin):
    store = RoomStore(database)
    begin.wait(timeout=PATIENCE)
    with ThreadPoolExecutor(len(seats)) as pool:
        list(pool.map(lambda seat: store.send_vote(seat, LINK, FIGURES, f"of {seat.name}"), seats))
    store.dispose()


def test_two_hundred_votes_at_one_moment_count_once_each(database):
    """Each person in a thread of its own, in two processes."""
    store = patient(database)
    room, leader = opened(store)
    seats = [join(store, room, f"person {number}") for number in range(200)]
    store.ask_to_sign(leader)
    before = store.read(room.code).version
    store.dispose()
    begin = process.Barrier(2)
    # Half of the people vote by both processes: a second click that meets another process replaces the first.
    shares = [seats[:120], seats[80:]]
    voters = [process.Process(target=_vote, args=(database, share, begin)) for share in shares]
    for voter in voters:
        voter.start()
    for voter in voters:
        voter.join(timeout=PATIENCE)
    assert [voter.exitcode for voter in voters] == [0, 0]
    seen = store.read(room.code)
    assert sorted(vote.name for vote in seen.question.votes) == sorted(seat.name for seat in seats)
    assert all(vote.reason == f"of {vote.name}" for vote in seen.question.votes)
    assert seen.version == before + 240
    store.dispose()


def _lead_for_a_while(database, seat, begin):
    store = patient(database)
    begin.wait(timeout=PATIENCE)
    for _ in range(15):
        for act in (store.ask_to_sign, store.show_result, store.ask_again, store.end_question):
            with suppress(RoomError):  # the other one was quicker
                act(seat)
    store.dispose()


def test_two_leaders_who_compete_leave_one_question_at_a_time(database):
    store = patient(database)
    room, leader = opened(store)
    other = store.take_lead(room.secret, browser="other's", caller="school")
    store.dispose()
    begin = process.Barrier(2)
    leaders = [process.Process(target=_lead_for_a_while, args=(database, seat, begin)) for seat in (leader, other)]
    for each in leaders:
        each.start()
    for each in leaders:
        each.join(timeout=PATIENCE)
    assert [each.exitcode for each in leaders] == [0, 0]
    store.ask_to_sign(leader)
    asked = store.read(room.code).questions
    assert [question.number for question in asked] == [*range(1, 32)]
    assert [question.number for question in asked if question.open or not question.ended] == [31]
    assert all(question.shown <= question.rounds <= 2 for question in asked)
    store.dispose()


def _vote_without_end(database, leader, seats, confirmed):
    store = patient(database)
    for place in count():
        seat = seats[place % len(seats)]
        if place and place % len(seats) == 0:
            store.ask_to_sign(leader)
        store.send_vote(seat, LINK, FIGURES, f"vote {place}")
        confirmed.value = place  # as the page says "Your vote is in"


def test_a_confirmed_vote_survives_kill_9(database):
    store = patient(database)
    room, leader = opened(store)
    seats = [join(store, room, f"person {number}") for number in range(20)]
    store.ask_to_sign(leader)
    store.dispose()
    confirmed = process.Value("q", -1, lock=False)
    voter = process.Process(target=_vote_without_end, args=(database, leader, seats, confirmed))
    voter.start()
    wait_until(lambda: confirmed.value >= 50)
    os.kill(voter.pid, signal.SIGKILL)
    voter.join(timeout=PATIENCE)
    assert voter.exitcode == -signal.SIGKILL
    last = confirmed.value
    again = patient(database)
    reasons = [vote.reason for question in again.read(room.code).questions for vote in question.votes]
    assert reasons in [[f"vote {number}" for number in range(end)] for end in (last + 1, last + 2)]
    again.dispose()


def _vote_until_the_end(database, seats, begin, told):
    store = patient(database)
    begin.wait(timeout=PATIENCE)
    for place in count():
        try:
            store.send_vote(seats[place % len(seats)], LINK, FIGURES, f"vote {place}")
        except RoomError as error:
            told.put(error.reason)
            return


def test_a_room_that_is_deleted_while_people_vote_leaves_nothing(database):
    store = patient(database)
    (room, leader), (_, another) = opened(store), opened(store)
    seats = [join(store, room, f"person {number}") for number in range(10)]
    store.ask_to_sign(leader)
    store.dispose()
    begin, told = process.Barrier(3), process.Queue()
    voters = [process.Process(target=_vote_until_the_end, args=(database, seats, begin, told)) for _ in range(2)]
    for voter in voters:
        voter.start()
    begin.wait(timeout=PATIENCE)
    time.sleep(0.2)
    store.delete(leader)
    for voter in voters:
        voter.join(timeout=PATIENCE)
    assert [voter.exitcode for voter in voters] == [0, 0]
    assert [told.get(timeout=PATIENCE) for _ in voters] == ["no_room", "no_room"]
    with store._reader.begin() as connection:
        for table in reversed(schema.metadata.sorted_tables):
            if "code" in table.c:
                assert connection.execute(select(table).where(table.c.code == room.code)).all() == []
    store.lead(another, frozen=True)
    store.dispose()


@pytest.mark.parametrize("jump", [-30 * 86400.0, -3600.0, 3600.0, 20 * 3600.0])
def test_a_clock_that_jumps_changes_no_vote_and_opens_no_flood(database, jump):
    """The time of day ends a room, and nothing else goes by it."""
    now, steady = Clock(), Clock(50.0)
    store = RoomStore(database, clock=now, steady=steady)
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "before")
    now.wait(jump)
    steady.wait(LOOK_SECONDS)
    here = store.present(room.code, ana.token, browser="browser of Ana")
    assert [vote.reason for vote in here.room.question.votes] == ["before"]
    store.send_vote(ana, LINK, FIGURES, "after")
    assert [vote.reason for vote in store.read(room.code).question.votes] == ["after"]
    for _ in range(100):
        with suppress(RoomError):
            store.stand(ana, LINK, FIGURES)
    with refused("too_fast"):
        store.stand(ana, LINK, FIGURES)
    store.seen(ana)
    steady.wait(SEEN_EVERY)
    store.seen(ana)
    steady.wait(LOOK_SECONDS)
    assert "Ana" in [person.name for person in store.read(room.code).taking_part]
    now.wait(24 * 3600 - jump)
    with refused("no_room"):
        store.send_vote(ana, LINK, FIGURES, "after its end")
    store.dispose()


def _write_without_end(database, seat, written):
    store = patient(database)
    for number in count():
        store.guess(seat, "bar_exam", f"step {number % STEPS}", str(number))
        store.stand(seat, LINK, {"p_rule": float(number)})
        written.value = number


def test_a_process_that_is_killed_while_it_writes_loses_nothing(database):
    store = patient(database)
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.dispose()
    written = process.Value("q", -1, lock=False)
    writer = process.Process(target=_write_without_end, args=(database, ana, written))
    writer.start()
    wait_until(lambda: written.value >= 20)
    os.kill(writer.pid, signal.SIGKILL)
    writer.join(timeout=PATIENCE)
    assert writer.exitcode == -signal.SIGKILL
    last = written.value

    again = patient(database)
    seen = again.read(room.code)
    guessed = {int(kept) for values in seen.guesses.values() for kept in values}
    # All that was told as written, and perhaps the one that it was killed at.
    assert guessed in [set(range(max(0, end - STEPS), end)) for end in (last + 1, last + 2)]
    assert seen.people[1].figures["p_rule"] in (last, last + 1)
    again.ask_to_sign(leader)
    again.send_vote(ana, LINK, FIGURES, "still here")
    assert again.read(room.code).question.votes
    if database.startswith("sqlite"):
        with again._reader.connect() as connection:
            assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
            assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
    again.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_database_server_that_was_killed_is_found_again(store, postgres_server):
    room, leader = opened(store)
    postgres_server.restart()
    store.lead(leader, frozen=True)
    assert store.read(room.code).frozen


def test_who_writes_sees_it_at_once_whoever_else_looks(database):
    store = patient(database)
    store._steady = time.monotonic  # looks are kept for their half second
    room, _ = opened(store)
    seats = [join(store, room, f"person {number}") for number in range(4)]

    def move_and_look(seat):
        versions = []
        for number in range(15):
            store.stand(seat, LINK, {"p_rule": number})
            seen = store.read(room.code)
            assert seen.people[seat.number - 1].figures == {"p_rule": number}
            versions.append(seen.version)
        return versions

    with ThreadPoolExecutor(len(seats)) as pool:
        for versions in pool.map(move_and_look, seats):
            assert versions == sorted(set(versions))
    store.dispose()


def test_a_driver_that_is_not_installed_is_named_in_the_log(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for address in ("postgresql://host/rooms", "postgres://host/rooms"):
        with refused("unreachable"):
            RoomStore(address)
    assert (
        caplog.text.count("needs psycopg, which is an optional extra: pip install 'commod-explorer[postgresql]'") == 2
    )


def test_a_new_database_has_the_version_of_the_program(make_store):
    store = make_store()
    with store._reader.begin() as connection:
        assert connection.execute(text("SELECT version FROM schema_version")).all() == [(schema.VERSION,)]


def test_two_processes_that_start_at_once_make_the_tables_once(database):
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: RoomStore(database), range(4)))
    room, _ = opened(stores[0])
    assert stores[3].read(room.code).people
    for store in stores:
        store.dispose()


def test_a_database_that_another_process_is_making_is_waited_for(tmp_path, monkeypatch):
    other = sqlite3.connect(tmp_path / "rooms.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(schema, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: other.commit()))
    schema.open_database(f"sqlite:///{tmp_path}/rooms.sqlite").dispose()
    assert not other.in_transaction
    other.close()


def test_an_older_database_is_emptied_and_used(make_store):
    """A room lives for a day; the tables of an older version go with theirs."""
    store = make_store()
    room, _ = opened(store)
    store.dispose()
    with store._writer.begin() as connection:
        connection.execute(text("CREATE TABLE people (code VARCHAR(9), name TEXT)"))
        connection.execute(text("UPDATE schema_version SET version = 4"))
    newer = make_store()
    with refused("no_room"):
        newer.read(room.code)
    room, leader = opened(newer)
    newer.lead(leader, timer_ends=5.0)
    assert make_store().read(room.code).timer_ends == 5.0  # now there is nothing to do
    with newer._reader.begin() as connection:
        assert connection.execute(text("SELECT version FROM schema_version")).scalar_one() == schema.VERSION
        assert "people" not in inspect(connection).get_table_names()


def test_a_newer_database_is_left_alone(make_store):
    store = make_store()
    with store._writer.begin() as connection:
        connection.execute(text("UPDATE schema_version SET version = 7"))
    with pytest.raises(
        RoomError, match="newer version of this program saved the rooms .tables version 7; this one reads 6"
    ):
        make_store()


# ---- The store of a server ----


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A server that has not opened its store yet."""
    monkeypatch.delenv("COMMOD_DATABASE_URL", raising=False)
    monkeypatch.setenv("COMMOD_ROOMS_FILE", str(tmp_path / "of the server" / "rooms?.sqlite"))
    rooms._made.cache_clear()
    yield monkeypatch
    if rooms._made.cache_info().currsize:
        rooms.store().dispose()
    rooms._made.cache_clear()


def test_a_server_makes_its_store_when_it_is_asked_for(server):
    rooms.remove_old_rooms()
    assert not rooms.rooms_file().exists()
    assert rooms.store() is rooms.store()
    assert rooms.rooms_file().exists()
    rooms.remove_old_rooms()


def test_without_a_file_of_its_own_it_is_in_the_users_folder(server, tmp_path):
    server.delenv("COMMOD_ROOMS_FILE")
    server.setenv("XDG_STATE_HOME", "")
    server.setenv("HOME", str(tmp_path))
    assert rooms.rooms_file() == tmp_path / ".local/state/commod-explorer/rooms.sqlite"


def test_the_environment_names_the_database_and_the_bounds(server, database):
    server.setenv("COMMOD_DATABASE_URL", database)
    server.setenv("COMMOD_ROOM_HOURS", "0.5")
    server.setenv("COMMOD_MAX_ROOMS", "1")
    room = rooms.store().open_room("bar_exam")
    assert not rooms.rooms_file().exists()
    seen = rooms.store().read(room.code)
    assert seen.expires - seen.opened == 1800
    with refused("too_many_rooms"):
        rooms.store().open_room("bar_exam")


def test_a_server_that_is_started_again_removes_what_the_last_one_left(server):
    server.setenv("COMMOD_ROOM_HOURS", "0.000001")
    rooms.store().open_room("bar_exam")
    rooms.store().dispose()
    rooms._made.cache_clear()
    time.sleep(0.01)
    rooms.remove_old_rooms()
    with rooms.store()._reader.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM rooms")).scalar_one() == 0


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("COMMOD_ROOM_HOURS", "-1"),
        ("COMMOD_ROOM_HOURS", "nan"),
        ("COMMOD_ROOM_HOURS", "a day"),
        ("COMMOD_ROOM_HOURS", "inf"),
        ("COMMOD_MAX_ROOMS", "0"),
        ("COMMOD_MAX_ROOMS", "2.5"),
    ],
)
def test_a_bound_that_is_no_number_is_named(server, variable, text):
    server.setenv(variable, text)
    with pytest.raises(SystemExit, match=f"{variable} must be a .*number above 0, not '{text}'"):
        rooms.bounds()


def test_a_sweep_that_fails_is_in_the_log_and_nowhere_else(server, tmp_path, caplog):
    file = tmp_path / "no database"
    file.write_text("nothing that SQLite knows" * 100)
    server.setenv("COMMOD_ROOMS_FILE", str(file))
    rooms.remove_old_rooms()
    assert "not a database" in caplog.text
