"""What somebody can try in a room: guess codes, take another's seat, flood it, write what is not a name."""

import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import make_url

from commod.dashboard.rooms import room_store
from commod.dashboard.rooms.contents import Seat, SharedModel
from commod.dashboard.rooms.names import (
    ALPHABET,
    CODE_LENGTH,
    NAME_LENGTH,
    REASON_LENGTH,
    clean,
    hash_of,
    new_code,
    nicknames,
    unique_nickname,
)
from commod.dashboard.rooms.room_store import MOST_PEOPLE, MOST_ROOMS, SLOW_SECONDS, RoomStore
from commod.dashboard.text.language import LANGUAGES
from tests.dashboard.rooms.test_room_store import FIGURES, LINK, join, opened, refused

WRONG = ["AAAAAAAAA", "BBBBBBBBB"]
HOSTILE = [
    "<script>alert(1)</script>",
    "**bold** [link](http://example.org) :material/home: $x$",
    "'; DROP TABLE rooms; --",
    "a\x00b\x07c\x1b[31m",
    "two\nlines\r\nand\u2028more\u2029and\x85more",
    "\u202egnp.exe\u202c \u2066x\u2069 \u200f\u200b\ufeff",
    "Z" + "\u0301\u0316\u0330" * 400,
    "\U0001f469\u200d\U0001f4bb\U0001f600" * 3000,
    "x" * 10_240,
    "\ud800 half a pair",
    "\ue000\U000e0041\ufff9",
]


@pytest.fixture(params=["sqlite"])
def database(tmp_path):
    """What is tried here is our own doing, whichever database is behind it."""
    return f"sqlite:///{tmp_path}/rooms.sqlite"


# ---- Codes ----


def test_a_code_has_enough_of_chance():
    codes = {new_code() for _ in range(2000)}
    assert len(codes) == 2000
    assert set("".join(codes)) == set(ALPHABET)
    assert not set(ALPHABET) & set("IL1O0")


def guess(store, caller, times, code=None):
    """Try wrong codes; how many seconds the tries took."""
    before = store._clock()
    for number in range(times):
        with refused("no_room"):
            store.join(code or WRONG[number % 2], None, browser="", caller=caller)
    return store._clock() - before


def test_guessing_a_code_takes_years():
    """As docs/threats.md reckons: a thousand tries a second, with as many rooms as a server holds."""
    per_year = 1000 * 365 * 24 * 3600
    assert len(ALPHABET) ** CODE_LENGTH / MOST_ROOMS / per_year > 8


def test_only_whoever_guesses_is_slowed_down(store, clock):
    assert guess(store, "thief", 20) == 0
    assert guess(store, "thief", 10) == 10 * SLOW_SECONDS
    assert guess(store, "library", 20) == 0
    clock.wait(60)
    assert guess(store, "thief", 1) == 0


def test_typed_nonsense_is_not_a_guess(store):
    assert guess(store, "school", 100, "nonsense") == 0
    assert guess(store, "school", 20) == 0


def test_a_right_code_always_works(store):
    """Whoever else guesses, also in the same network."""
    room, _ = opened(store)
    for network in (*map(str, range(5)), "school"):
        guess(store, network, 60)
    for caller in ("elsewhere", "school", "0"):
        before = store._clock()
        assert store.join(room.code, None, browser=f"at {caller}", caller=caller).code == room.code
        assert store._clock() == before


def test_a_browser_takes_a_few_seats_and_a_network_a_class(store, clock):
    room, _ = opened(store)
    for _ in range(10):
        join(store, room, None, "one")
    with refused("joined_too_often"):
        join(store, room, None, "one")
    clock.wait(60)
    join(store, room, None, "one")


def test_a_network_that_fills_one_room_gets_into_another(store):
    (room, leader), (other, _) = opened(store), opened(store)
    for number in range(249):
        seat = join(store, other, None, f"script {number}")
        if number > 100:
            leading = store.take_lead(other.secret, browser=f"leader's {number}", caller="school")
            store.remove(leading, [seat.number])
    with refused("joined_too_often"):
        for number in range(3):
            join(store, other, None, f"script again {number}")
    store.take_lead(other.secret, browser="leader's", caller="school")
    assert join(store, room, "Ana").code == room.code
    store.lead(leader, frozen=True)


def test_one_network_does_not_open_all_the_rooms(store, clock):
    for _ in range(20):
        store.open_room("bar_exam", caller="school")
    with refused("opened_too_many"):
        store.open_room("bar_exam", caller="school")
    store.open_room("bar_exam", caller="another")
    clock.wait(3600)
    store.open_room("bar_exam", caller="school")


# ---- Seats ----


def test_nobody_votes_for_another(store):
    room, leader = opened(store)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "mine")
    # What the board tells of Ana, with a token of one's own: it is Bo's number that counts, and Bo's key.
    forged = Seat(room.code, bo.token, "Ana", True, ana.number, hash_of(bo.token, "browser of Bo"))
    store.send_vote(forged, LINK, {}, "forged")
    votes = store.read(room.code).question.votes
    assert [(vote.name, vote.reason) for vote in votes] == [("Ana", "mine"), ("Bo", "forged")]
    with refused("not_leading"):
        store.close(forged)
    copied = Seat(room.code, ana.token, "Ana", False, ana.number, hash_of(ana.token, "browser of Bo"))
    with refused("no_seat"):
        store.send_vote(copied, LINK, {}, "from another browser")
    elsewhere, _ = opened(store)
    with refused("no_seat"):
        store.send_vote(Seat(elsewhere.code, ana.token, "Ana", False, 2, ana.key), LINK, {}, "in another room")


def test_a_flood_slows_only_who_sends_it(store, clock):
    room, _ = opened(store)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    version = store.read(room.code).version
    for _ in range(20):
        store.stand(ana, LINK, FIGURES)
    for _ in range(1000):
        with refused("too_fast"):
            store.stand(ana, LINK, FIGURES)
    assert store.read(room.code).version == version + 20
    for _ in range(20):
        store.stand(bo, LINK, FIGURES)
    clock.wait(1)
    for _ in range(4):
        store.stand(ana, LINK, FIGURES)
    with refused("too_fast"):
        store.guess(ana, "bar_exam", "one", "1")


def test_presence_is_written_now_and_then(store, clock, monkeypatch):
    room, _ = opened(store)
    ana, bo = join(store, room, "Ana"), join(store, room, "Bo")
    writes, writing = [], store._writing
    monkeypatch.setattr(store, "_writing", lambda: writes.append(1) or writing())
    for _ in range(100):
        store.seen(ana)
        store.seen(bo)
        clock.wait(0.5)
    assert len(writes) == 10, "once for all in five seconds"
    assert all(person.here for person in store.read(room.code).people if person.name in ("Ana", "Bo"))


# ---- What people write ----


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_reasons_are_bounded(store, text):
    room, leader = opened(store)
    ana = join(store, room, text, "hers")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, text)
    seen = store.read(room.code)
    name, reason = seen.people[1].name, seen.question.votes[0].reason
    assert 0 < len(name) <= NAME_LENGTH
    assert len(reason) <= REASON_LENGTH
    for shown in (name, reason):
        assert not [sign for sign in shown if unicodedata.category(sign)[0] == "C"]
        assert not {"\n", "\r", "\u2028", "\u2029"} & set(shown)
    name.encode()


@given(st.text(max_size=400), st.integers(1, 40))
def test_a_cleaned_text_stays_as_it_is(text, length):
    cleaned = clean(text, length)
    assert len(cleaned) <= length
    assert cleaned == cleaned.strip()
    assert clean(cleaned, length) == cleaned
    cleaned.encode()


@given(
    st.lists(st.one_of(st.none(), st.text(max_size=30), st.just("Ana"), st.sampled_from(nicknames("en"))), max_size=30)
)
def test_however_people_call_themselves_names_are_unique(asked):
    names = []
    for nickname in asked:
        names.append(unique_nickname(nickname, names))
    assert len({name.casefold() for name in names}) == len(names)
    assert all(0 < len(name) <= NAME_LENGTH for name in names)


@pytest.mark.parametrize("language", LANGUAGES)
def test_everybody_can_stay_without_a_name(language):
    names = []
    for _ in range(MOST_PEOPLE + 10):
        names.append(unique_nickname(None, names, language))
    assert len(set(names)) == len(names)
    assert set(names) <= set(nicknames(language))
    assert max(map(len, nicknames(language))) <= NAME_LENGTH


def test_a_name_by_lot_is_in_the_language_of_who_joins(store):
    room, _ = opened(store)
    seat = store.join(room.code, None, browser="", caller="", language="fr")
    assert seat.name in nicknames("fr")
    assert not set(nicknames("fr")) & set(nicknames("en"))


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("data=own-0123&lambda_fair=2", "own_data"),
        ("data=own-lesson-mine-table", "own_data"),
        ("data=law_school&data=own-0123", "own_data"),
        ("lambda_fair=2", "own_data"),
        ("", "own_data"),
        ("data=law_school&seat=abc", "too_long"),
        ("data=law_school&lead=abc", "too_long"),
        ("data=law_school&x=" + "1" * 2000, "too_long"),
        ("data=law_school&x=\x00", "too_long"),
        ("data=law_school&x=é", "too_long"),
    ],
)
def test_only_settings_on_built_in_data_are_taken(store, link, reason):
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    store.ask_to_sign(leader)
    before = store.read(room.code)
    for act in (
        lambda: store.stand(ana, link, FIGURES),
        lambda: store.send_vote(ana, link, FIGURES, "why"),
        lambda: store.ask_pair(leader, SharedModel(LINK, {}), SharedModel(link, {})),
    ):
        with refused(reason):
            act()
    assert store.read(room.code) == before


def test_nothing_grows_without_bound(store, clock, monkeypatch):
    monkeypatch.setattr(room_store, "MOST_STEPS", 10)
    monkeypatch.setattr(room_store, "MOST_QUESTIONS", 5)
    room, leader = opened(store)
    ana = join(store, room, "Ana")
    for act in (
        lambda: store.stand(ana, LINK, {f"figure {n}": 1.0 for n in range(31)}),
        lambda: store.stand(ana, LINK, {"x" * 201: 1.0}),
        lambda: store.guess(ana, "bar_exam", "x" * 201, "1"),
        lambda: store.guess(ana, "bar_exam", "one", "x" * 201),
        lambda: store.guess(ana, "bar\x00exam", "one", "1"),
        lambda: store.lead(leader, step="x" * 201),
        lambda: store.lead(leader, timer_ends=float("nan")),
        lambda: store.open_room("x" * 201),
    ):
        with refused("too_long"):
            act()
    for number in range(10):
        clock.wait(1)
        store.guess(ana, "bar_exam", f"step {number}", "1")
    store.guess(ana, "bar_exam", "step 0", "changed")
    with refused("too_long"):
        store.guess(ana, "bar_exam", "one more", "1")
    for _ in range(5):
        clock.wait(1)
        store.ask_to_sign(leader)
    with refused("too_many_questions"):
        store.ask_to_sign(leader)


# ---- What is stored ----


def all_bytes(database):
    path = Path(make_url(database).database)
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def test_the_file_has_no_secret_no_token_no_browser_and_no_address(store, database):
    room = store.open_room("bar_exam", caller="203.0.113.9")
    leader = store.take_lead(room.secret, browser="cookie-of-the-leader", caller="203.0.113.9")
    ana = store.join(room.code, "Ana of the file", browser="cookie-of-ana", caller="203.0.113.9")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "a reason in the file")
    store.seen(ana)
    secret = store.new_secret(leader)
    stored = all_bytes(database)
    for key in (room.secret, secret, leader.token, ana.token, "cookie-of", "203.0.113"):
        assert key.encode() not in stored
    for text in ("Ana of the file", "a reason in the file", ana.key, LINK):  # so that the search would find it
        assert text.encode() in stored


@pytest.mark.parametrize("way", ["delete", "sweep"])
def test_nothing_of_a_room_that_is_gone_stays_in_the_file(store, database, clock, way):
    room, leader = opened(store)
    ana = join(store, room, "Ana of the file")
    store.ask_to_sign(leader)
    store.send_vote(ana, LINK, FIGURES, "a reason in the file")
    if way == "delete":
        store.delete(leader)
    else:
        clock.wait(24 * 3600)
        assert store.sweep() == 1
    stored = all_bytes(database)
    assert len(stored) > 1000
    for text in ("Ana of the file", "a reason in the file", ana.key, LINK, room.code):
        assert text.encode() not in stored


def test_the_file_is_for_its_owner_alone(store, database):
    opened(store)
    path = Path(make_url(database).database)
    assert {file.stat().st_mode & 0o777 for file in path.parent.glob(f"{path.name}*")} == {0o600}


def test_a_database_that_fails_is_told_in_a_sentence(store, database, tmp_path, caplog):
    _, leader = opened(store)
    with closing(sqlite3.connect(make_url(database).database)) as connection:
        connection.execute("DROP TABLE rooms")
    with refused("unreachable"):
        store.stand(leader, LINK, FIGURES)
    assert "no such table" in caplog.text
    assert leader.key not in caplog.text
    (tmp_path / "file").write_text("")
    for address in (f"sqlite:///{tmp_path}/file/rooms.sqlite", "nonsense", "mysql://host/rooms"):
        with refused("unreachable"):
            RoomStore(address)


def test_the_token_of_a_leader_is_worth_nothing_in_another_browser(store):
    room = store.open_room("bar_exam")
    first, second = (store.take_lead(room.secret, browser="teacher's", caller="school") for _ in range(2))
    assert first.token == second.token == f"lead{room.code}"  # an address on a wall shows no secret
    for seat in (first, second):
        assert store.present(room.code, seat.token, browser="teacher's").leads
    assert sum(person.leads for person in store.read(room.code).people) == 1
    with refused("no_seat"):
        store.present(room.code, first.token, browser="student's")
