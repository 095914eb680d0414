"""The database of the rooms: transactions in it, and rooms as they were last read."""

import logging
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import parse_qs

from msgspec.json import decode, encode
from sqlalchemy import Connection, select, update
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from commod.dashboard.rooms.buckets import Buckets
from commod.dashboard.rooms.contents import Figures, Member, Room, RoomError, Seat
from commod.dashboard.rooms.schema import open_database, rooms, writing
from commod.installation import MissingExtraError

# What others have changed, and who is still there, is seen so many seconds later at most.
LOOK_SECONDS = 0.5
PRESENCE_SECONDS = 5.0
# Who was seen so many seconds ago is still there.
HERE_SECONDS = 30.0
LINK_LENGTH = 2000
WORD_LENGTH = 200  # of a lesson's name, a step's, and a guess as it is kept
MOST_FIGURES = 30

_log = logging.getLogger(__name__)


@dataclass
class _Kept:
    """A room as it was last read or written. The lock lets one of those who look read for all."""

    lock: Lock = field(default_factory=Lock)
    room: Room | None = None
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
        # SQLite takes one writer at a time, and lets those of a process who wait sleep: a lock wakes them at once.
        self._turn = Lock() if self._is_sqlite else nullcontext()
        self._messages = Buckets(burst=20, per_second=4.0, clock=steady)  # by seat
        self._kept: dict[str, _Kept] = defaultdict(_Kept)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with _said_in_a_sentence(), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with _said_in_a_sentence(), self._turn, self._writer.begin() as connection:
            yield connection

    @contextmanager
    def _room(self, which: Any, *, closed_too: bool = False) -> Iterator[Room]:
        """A room to be changed, by one after the other; its next version is written when the block ends."""
        with self._writing() as connection:
            room = locked(connection, which, self._clock())
            if room is None:
                raise RoomError("no_room")
            if room.closed is not None and not closed_too:
                raise RoomError("closed")
            yield room
            room.version += 1
            write(connection, room)
        kept = self._kept[room.code]
        with kept.lock:
            if kept.room is None or kept.room.version < room.version:  # or somebody has written meanwhile
                kept.room = _with_presence(room, self._clock())

    @contextmanager
    def _changing(
        self, seat: Seat, *, leading: bool = False, closed_too: bool = False
    ) -> Iterator[tuple[Room, Member]]:
        """A room to be changed by somebody who sits in it, and leads if that is needed."""
        if not self._messages.take(seat.key):
            raise RoomError("too_fast")
        with self._room(rooms.c.code == seat.code, closed_too=closed_too) as room:
            person = room.person_of(seat.key)
            if person is None:
                raise RoomError("no_seat")
            if person.waiting:
                raise RoomError("waiting")
            if leading and not person.leads:
                raise RoomError("not_leading")
            yield room, person

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
        kept = self._kept[code]
        if kept.room is None:
            kept.lock.acquire()
        elif not kept.lock.acquire(blocking=False):
            return kept.room
        try:
            now = self._steady()
            if kept.room is None or now - kept.checked >= LOOK_SECONDS:
                kept.checked = now
                kept.room = self._read(code, kept)
            return kept.room
        except RoomError:
            self._kept.pop(code, None)
            raise
        finally:
            kept.lock.release()

    def _read(self, code: str, kept: _Kept) -> Room:
        """The room as it is in the database; the same object as before if nothing has changed there."""
        now = self._clock()
        which = (rooms.c.code == code, rooms.c.expires > now)
        with self._reading() as connection:
            version = connection.execute(select(rooms.c.version).where(*which)).scalar()
            fresh = kept.room is not None and kept.room.version == version
            if fresh and kept.checked - kept.read < PRESENCE_SECONDS:
                assert kept.room is not None
                return kept.room
            document = connection.execute(select(rooms.c.document).where(*which)).scalar()
        if document is None:
            raise RoomError("no_room")
        kept.read = kept.checked
        room = _with_presence(decode(document, type=Room), now)
        return kept.room if kept.room == room else room


def _with_presence(room: Room, now: float) -> Room:
    """The room with who is here in place of when: it is the same as long as the same people are."""
    for person in room.people:
        person.here, person.seen = person.seen > now - HERE_SECONDS, 0.0
    return room


@contextmanager
def _said_in_a_sentence() -> Iterator[None]:
    """Turn what a database says into a sentence for the user; its own words go to the log."""
    try:
        yield
    except (SQLAlchemyError, OSError, MissingExtraError) as error:
        _log.error("The database of the rooms: %s", error)
        raise RoomError("unreachable") from error


def locked(connection: Connection, which: Any, now: float) -> Room | None:
    """A room whose row nobody else changes until the transaction ends; None if there is none."""
    found = select(rooms.c.document).where(which, rooms.c.expires > now).with_for_update()
    document = connection.execute(found).scalar()
    return None if document is None else decode(document, type=Room)


def write(connection: Connection, room: Room) -> None:
    """Put a room that is locked in place of what the database has of it."""
    values = {"version": room.version, "secret": room.secret, "document": encode(room)}
    connection.execute(update(rooms).where(rooms.c.code == room.code).values(**values))


# ---- What somebody sends as it is kept ----


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


def checked_figures(figures: Figures) -> dict[str, float]:
    """Those that are known (finite)."""
    known = {str(name): float(value) for name, value in figures.items() if math.isfinite(value)}
    if len(known) > MOST_FIGURES or any(len(name) > WORD_LENGTH or not name.isprintable() for name in known):
        raise RoomError("too_long")
    return known
