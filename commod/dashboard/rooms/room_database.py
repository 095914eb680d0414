"""The database of the rooms: transactions in it, and rooms as they were last read."""

import json
import logging
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock, local
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from sqlalchemy import Connection, Row, Table, func, insert, select, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from commod.dashboard.rooms.buckets import Buckets
from commod.dashboard.rooms.contents import Figures, Model, Person, Question, Room, RoomError, Seat, Vote
from commod.dashboard.rooms.schema import guesses, open_database, people, questions, revealed, rooms, votes, writing
from commod.installation import MissingExtraError

# A look at a room is this old at most, in seconds, and if it was changed through this store, this; who is still there,
# this.
LOOK_SECONDS = 0.5
LOOK_AGAIN_SECONDS = 0.1
PRESENCE_SECONDS = 5.0
# Who was seen so many seconds ago is still there.
HERE_SECONDS = 30.0
LINK_LENGTH = 2000
WORD_LENGTH = 200  # of a lesson's name, a step's, and a guess as it is kept
MOST_FIGURES = 30

_log = logging.getLogger(__name__)


class Change(NamedTuple):
    """A transaction that changes a room, in the name of one person."""

    connection: Connection
    room: Row[Any]
    person: int


@dataclass
class _Kept:
    """A room as it was last read. The lock lets one of those who look read for all."""

    lock: Lock = field(default_factory=Lock)
    room: Room | None = None
    changed: bool = False  # through this store, since then
    checked: float = -math.inf
    read: float = -math.inf


class RoomDatabase:
    """Rooms in a database, for `RoomStore`. Its methods can be called from any thread."""

    def __init__(self, url: str | URL, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._clock, self._steady = clock, steady
        with _said_in_a_sentence():
            self._reader = open_database(url)
        self._writer = writing(self._reader)
        self._is_sqlite = self._reader.dialect.name == "sqlite"
        if not self._is_sqlite:  # SQLite's transactions see one state of the database as it is
            self._reader = self._reader.execution_options(isolation_level="REPEATABLE READ")
        # SQLite takes one writer at a time, and lets those of a process who wait sleep: a lock wakes them at once.
        self._turn = Lock() if self._is_sqlite else nullcontext()
        self._messages = Buckets(burst=20, per_second=4.0, clock=steady)  # by seat
        self._kept: dict[str, _Kept] = defaultdict(_Kept)
        self._mine = local()  # versions of rooms that this thread has made

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database from its first statement to its last."""
        with _said_in_a_sentence(), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with _said_in_a_sentence(), self._turn, self._writer.begin() as connection:
            yield connection

    @contextmanager
    def _changing(self, seat: Seat, *, leading: bool = False, closed_too: bool = False) -> Iterator[Change]:
        """A transaction that changes a room, for somebody who sits in it, and leads if that is needed."""
        if not self._messages.take(seat.key):
            raise RoomError("too_fast")
        with self._writing() as connection:
            room = next_version(connection, rooms.c.code == seat.code, self._clock(), closed_too=closed_too)
            who = (people.c.code == room.code, people.c.seat == seat.key)
            person = connection.execute(select(people).where(*who)).first()
            if person is None:
                raise RoomError("no_seat")
            if person.waiting:
                raise RoomError("waiting")
            if leading and not person.leads:
                raise RoomError("not_leading")
            yield Change(connection, room, person.number)
        self._look_again(room)

    def _write_over(self) -> None:
        """Let nothing of what was removed stay in SQLite's log of writes: in its file it is zeros already."""
        if self._is_sqlite:
            # Where others keep it busy, the next time will do.
            with suppress(SQLAlchemyError, sqlite3.Error), closing(self._reader.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def dispose(self) -> None:
        """Close the connections."""
        self._reader.dispose()

    # ---- Rooms as they were last read ----

    def _look(self, code: str) -> Room:
        """The room of a code, as `RoomStore.look` gives it."""
        kept, mine = self._kept[code], self._versions().get(code, 0)
        if not kept.lock.acquire(blocking=kept.room is None or kept.room.version < mine):
            assert kept.room is not None
            return kept.room
        try:
            now = self._steady()
            old = LOOK_AGAIN_SECONDS if kept.changed else LOOK_SECONDS
            if kept.room is not None and kept.room.version >= mine and now - kept.checked < old:
                return kept.room
            kept.checked, kept.changed = now, False  # before it is read: it may be changed meanwhile
            room = self._read(code, kept)
            if room != kept.room:
                kept.room = room
            return kept.room
        except RoomError:
            self._kept.pop(code, None)
            raise
        finally:
            kept.lock.release()

    def _versions(self) -> dict[str, int]:
        """The version of each room that this thread has made."""
        found: dict[str, int] = self._mine.__dict__.setdefault("versions", {})
        return found

    def _look_again(self, room: Row[Any]) -> None:
        """Have the room read soon by those who look, and by this thread the next time it does."""
        self._versions()[room.code] = room.version
        kept = self._kept.get(room.code)
        if kept is not None:
            kept.changed = True

    def _read(self, code: str, kept: _Kept) -> Room:
        """The room as it is in the database, or as it was kept if nothing has changed there."""
        now = self._clock()
        with self._reading() as connection:
            room = connection.execute(select(rooms).where(rooms.c.code == code, rooms.c.expires > now)).first()
            if room is None:
                raise RoomError("no_room")
            unchanged = kept.room is not None and kept.room.version == room.version
            if unchanged and kept.checked - kept.read < PRESENCE_SECONDS:
                assert kept.room is not None
                return kept.room
            kept.read = kept.checked
            found = {
                table: connection.execute(select(table).where(table.c.code == code).order_by(*table.primary_key)).all()
                for table in (people, revealed, questions, votes)
            }
            guessed = read_guesses(connection, code)
        shown = {name: value for name, value in room._mapping.items() if name in Room.__dataclass_fields__}
        shown |= {
            "revealed": frozenset((row.lesson, row.step) for row in found[revealed]),
            "people": tuple(read_person(row, now) for row in found[people]),
            "guesses": guessed,
            "questions": read_questions(
                found[questions], found[votes], {row.number: row.name for row in found[people]}
            ),
            "seats": {row.seat: row.number for row in found[people]},
            "networks": {row.number: row.network for row in found[people]},
        }
        return Room(**shown)


@contextmanager
def _said_in_a_sentence() -> Iterator[None]:
    """Turn what a database says into a sentence for the user; its own words go to the log."""
    try:
        yield
    except (SQLAlchemyError, OSError, MissingExtraError) as error:
        _log.error("The database of the rooms: %s", error)
        raise RoomError("unreachable") from error


def next_version(connection: Connection, which: Any, now: float, *, closed_too: bool = False) -> Row[Any]:
    """The room, with its next version. Its row is locked from here on: changes of a room come one after the other."""
    step = update(rooms).where(which, rooms.c.expires > now).values(version=rooms.c.version + 1)
    room = connection.execute(step.returning(rooms)).first()
    if room is None:
        raise RoomError("no_room")
    if room.closed is not None and not closed_too:
        raise RoomError("closed")
    return room


def is_there(connection: Connection, table: Table, **key: Any) -> bool:
    """Whether a table has a row with this key."""
    return connection.execute(select(table.c.code).filter_by(**key)).first() is not None


def put(connection: Connection, table: Table, key: dict[str, Any], values: dict[str, Any]) -> None:
    """Write a row, in place of the one with the same key. The room's row is locked, so nobody comes in between."""
    if not connection.execute(update(table).filter_by(**key).values(**values)).rowcount:
        connection.execute(insert(table).values(**key, **values))


def last_question(connection: Connection, code: str) -> Row[Any] | None:
    """The row of the question that a room was asked last."""
    ordered = select(questions).where(questions.c.code == code).order_by(questions.c.number.desc())
    return connection.execute(ordered.limit(1)).first()


# ---- Rows as what a page sees, and what somebody sends as it is written ----


def read_guesses(connection: Connection, code: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """By step what was guessed, sorted. The database counts equal guesses: a class makes thousands in an hour."""
    what = (guesses.c.lesson, guesses.c.step, guesses.c.kept)
    counted = select(*what, func.count()).where(guesses.c.code == code).group_by(*what)
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for lesson, step, kept, times in connection.execute(counted):
        found[lesson, step] += [kept] * times
    return {key: tuple(sorted(kept)) for key, kept in found.items()}


@lru_cache(maxsize=4096)
def _read_figures(text: str) -> Figures:
    """Most of a room's figures are those of the last look, and many people stand at one setting."""
    figures: Figures = json.loads(text)
    return figures


def read_person(row: Row[Any], now: float) -> Person:
    """Somebody in a room, from a row of `people`."""
    here = row.seen > now - HERE_SECONDS
    return Person(row.number, row.name, row.leads, row.waiting, here, row.at, row.link, _read_figures(row.figures))


def read_questions(asked: Any, sent: Any, names: dict[int, str]) -> tuple[Question, ...]:
    """Questions with their votes, from rows of both; `names` are those of the people by number."""
    by_question: dict[int, list[Vote]] = defaultdict(list)
    for row in sent:
        figures = _read_figures(row.figures)
        vote = Vote(row.person, names[row.person], row.round, row.link, figures, row.reason, row.choice)
        by_question[row.question].append(vote)
    found = []
    for row in asked:
        a, b = (Model(**model) for model in json.loads(row.pair)) if row.pair else (None, None)
        state = (row.rounds, row.open, row.shown, row.ended)
        found.append(Question(row.number, row.kind, *state, a, b, tuple(by_question[row.number])))
    return tuple(found)


def checked_word(text: str) -> str:
    """A name of ours, or a guess as it is kept: bounded, and nothing in it that a database refuses."""
    if len(text) > WORD_LENGTH or not text.isprintable():
        raise RoomError("too_long")
    return text


def checked_link(link: str) -> str:
    """A setting as a link: on data that everybody has, and nobody's seat in it."""
    from commod.datasets import TASKS  # which takes seconds: the server answers before

    if len(link) > LINK_LENGTH or not link.isascii() or not link.isprintable():
        raise RoomError("too_long")
    parameters = parse_qs(link)
    if {"seat", "lead"} & set(parameters):
        raise RoomError("too_long")
    if parameters.get("data", [""])[-1] not in TASKS:
        raise RoomError("own_data")
    return link


def written_figures(figures: Figures) -> str:
    """As JSON; those that are not known (not finite) are left out."""
    known = {str(name): float(value) for name, value in figures.items() if math.isfinite(value)}
    if len(known) > MOST_FIGURES or any(len(name) > WORD_LENGTH or not name.isprintable() for name in known):
        raise RoomError("too_long")
    return json.dumps(known)
