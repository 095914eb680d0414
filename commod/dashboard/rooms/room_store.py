"""Rooms in a database that the processes of a server share: who is there, where they stand, their guesses and votes."""

import logging
import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypedDict, Unpack

from msgspec.json import decode, encode
from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from commod.dashboard.rooms.buckets import Buckets
from commod.dashboard.rooms.contents import (
    DOORS,
    HOURS,
    MOST_PEOPLE,
    MOST_ROOMS,
    Figures,
    Here,
    Member,
    Opened,
    Room,
    RoomError,
    RoomQuestion,
    Seat,
    SharedModel,
    Vote,
)
from commod.dashboard.rooms.names import (
    REASON_LENGTH,
    checked_figures,
    checked_link,
    checked_word,
    clean,
    hash_of,
    new_code,
    tidy_code,
    unique_nickname,
)
from commod.dashboard.rooms.schema import locked, open_database, rooms, write, writing
from commod.dashboard.text.language import FIRST
from commod.installation import MissingExtraError

TOKEN_BYTES, SECRET_BYTES = 16, 24  # of a seat, and of a leader's link
MOST_LEADERS = 5  # tabs that lead one room; the one that was seen longest ago gives way to the next
MOST_QUESTIONS = 50
MOST_ROUNDS = 2
MOST_STEPS = 200  # that one person guesses at in one room
SEEN_EVERY = 5.0
SWEEP_EVERY = 60.0
SLOW_SECONDS = 5.0  # delay of the answer to a wrong code, for a network that has tried many

# Changes by others are seen at most this many seconds later. A room of 200 people takes about 2 ms to read.
LOOK_SECONDS = 0.5
HERE_SECONDS = 30.0  # people seen at most this many seconds ago are still there

_EVERYBODY = "everybody"
_log = logging.getLogger(__name__)


class Leading(TypedDict, total=False):
    """What a leader sets for all."""

    lesson: str
    step: str
    together: bool
    frozen: bool
    timer_ends: float | None
    door: str
    most: int


@dataclass
class _Kept:
    """A room as it was last read or written, and when that was."""

    room: Room
    checked: float


class RoomStore:
    """All rooms of a server. Its methods can be called from any thread, and from several processes on one database.

    Anything that cannot be done raises `RoomError`, whose phrase is for the user. `clock` gives seconds since the
    epoch, which processes and restarts share; `steady` never jumps and is used for rate limits. A room is kept for
    `hours`.
    """

    def __init__(
        self,
        url: str | URL,
        *,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
        hours: float = HOURS,
        most_rooms: int = MOST_ROOMS,
    ) -> None:
        self._clock, self._steady = clock, steady
        with _said_in_a_sentence():
            self._reader = open_database(url)
        self._writer = writing(self._reader)
        self._is_sqlite = self._reader.dialect.name == "sqlite"
        # SQLite takes one writer at a time and lets waiting ones sleep: a lock wakes those of this process at once.
        self._turn = Lock() if self._is_sqlite else nullcontext()
        self._kept: dict[str, _Kept] = {}
        self._keeping = Lock()
        self._hours, self._most_rooms, self._wait = hours, most_rooms, wait
        self._swept = -math.inf
        self._messages = Buckets(burst=20, per_second=4.0, clock=steady)  # by seat
        self._wrong_codes = Buckets(burst=20, per_second=1 / 60, clock=steady)
        self._joined = Buckets(burst=250, per_second=1.0, clock=steady)  # by network and room: a class behind a router
        self._joined_by_browser = Buckets(burst=10, per_second=1 / 60, clock=steady)
        self._opened = Buckets(burst=20, per_second=1 / 3600, clock=steady)
        self._seen: dict[str, str] = {}  # key of a seat to its room, since last written
        self._presence = Buckets(burst=1, per_second=1 / SEEN_EVERY, clock=steady)

    # ---- Coming in ----

    def open_room(self, lesson: str, *, caller: str = "") -> Opened:
        """A new room for a lesson. The number of rooms is limited, in all and per caller."""
        self._sweep_now_and_then()
        lesson = checked_word(lesson)
        if not self._opened.take(caller):
            raise RoomError("opened_too_many")
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()
        with self._writing() as connection:
            taken = set(connection.execute(select(rooms.c.code)).scalars())
            if len(taken) >= self._most_rooms:
                raise RoomError("too_many_rooms", most=self._most_rooms)
            code = next(code for code in iter(new_code, "") if code not in taken)
            room = Room(code, hash_of(secret), now, now + 3600 * self._hours, lesson, MOST_PEOPLE)
            values = {"secret": room.secret, "expires": room.expires, "document": encode(room)}
            connection.execute(insert(rooms).values(code=code, **values))
        return Opened(code, secret)

    def join(self, code: str, nickname: str | None, *, browser: str, caller: str, language: str = FIRST) -> Seat:
        """A seat in the room of a typed code. A right code always works; after many wrong ones the answer is slow.

        Without a nickname, a name in `language` is drawn by lot. The seat belongs to this `browser` only; that of a
        leader gets the seat back that leads. `caller` is the network, for the limits on tries.
        """
        tidy = self._tidy(code)
        with self._reading() as connection:
            wrong = connection.execute(select(rooms.c.code).where(rooms.c.code == tidy)).first() is None
        if wrong:
            if not self._wrong_codes.take(caller):
                self._wait(SLOW_SECONDS)
            raise RoomError("no_room")
        with suppress(RoomError):
            return self.present(tidy, f"lead{tidy}", browser=browser).seat
        return self._sit(rooms.c.code == tidy, nickname, browser, caller, language)

    def take_lead(self, secret: str, *, browser: str, caller: str, language: str = FIRST) -> Seat:
        """A leading seat, for anybody who has the secret; also in a closed room, to download or delete it.

        A browser has one such seat in a room. Its token may be projected: it works only with the browser's cookie.
        """
        return self._sit(rooms.c.secret == hash_of(secret), None, browser, caller, language, leads=True)

    def _sit(
        self, which: Any, nickname: str | None, browser: str, caller: str, language: str, *, leads: bool = False
    ) -> Seat:
        with self._room(which, closed_too=leads) as room:
            token = f"lead{room.code}" if leads and browser else secrets.token_urlsafe(TOKEN_BYTES)
            key = hash_of(token, browser)
            room.send_out({person.number for person in room.people if person.key == key})  # another tab of this leader
            if room.door == "locked" and not leads:
                raise RoomError("locked")
            if not leads:  # a network's actions in other rooms keep nobody out of this one
                of_browser = not browser or self._joined_by_browser.take(browser)
                if not of_browser or not self._joined.take(f"{caller} {room.code}"):
                    raise RoomError("joined_too_often")
            name = unique_nickname(nickname, [person.name for person in room.people], language)
            if leads:
                leaders = sorted((person for person in room.people if person.leads), key=lambda person: person.seen)
                room.send_out({person.number for person in leaders[: max(0, len(leaders) + 1 - MOST_LEADERS)]})
            waiting = room.door == "ask" and not leads
            most = MOST_PEOPLE if waiting else room.most
            counted = [person for person in room.people if not person.leads and (waiting or not person.waiting)]
            if not leads and len(counted) >= most:
                raise RoomError("room_full", most=most)
            room.seats += 1
            room.people.append(Member(room.seats, name, leads, waiting, key, self._clock()))
        return Seat(room.code, token, name, leads, room.seats, key)

    def _tidy(self, code: str) -> str:
        self._sweep_now_and_then()
        if (tidy := tidy_code(code)) is None:
            raise RoomError("no_room")
        return tidy

    # ---- Being there ----

    def present(self, code: str, token: str, *, browser: str) -> Here:
        """Who this is, and their room. Pages see a room only this way: `read` asks nobody who they are."""
        key, room = hash_of(token, browser), self.read(code)
        if room.person_of(key) is None:  # they may have joined since, through another process
            self._kept.pop(room.code, None)
            room = self.read(code)
        person = room.seated(key)
        return Here(Seat(room.code, token, person.name, person.leads, person.number, key), room, person)

    def read(self, code: str) -> Room:
        """The room as it is, or was half a second ago; changes by this store are visible at once."""
        code, now = self._tidy(code), self._steady()
        if (kept := self._kept.get(code)) is not None:
            if now - kept.checked < LOOK_SECONDS:
                return kept.room
            kept.checked = now  # others need not check at the same time
        try:
            with self._reading() as connection:
                found = select(rooms.c.document).where(rooms.c.code == code, rooms.c.expires > self._clock())
                document = connection.execute(found).scalar()
            if document is None:
                raise RoomError("no_room")
        except RoomError:
            self._kept.pop(code, None)
            raise
        return self._keep(decode(document, type=Room))

    def _keep(self, room: Room) -> Room:
        """Keep a room as it is now, with who is here in place of when; another thread may have kept a later one."""
        for person in room.people:
            person.here, person.seen = person.seen > self._clock() - HERE_SECONDS, 0.0
        with self._keeping:
            kept = self._kept.get(room.code)
            if kept is None or kept.room.version <= room.version:
                kept = self._kept[room.code] = _Kept(room, self._steady())
            return kept.room

    def seen(self, seat: Seat) -> None:
        """Heartbeat of a seat; written to the database in batches."""
        self._seen[seat.key] = seat.code
        if self._presence.take(_EVERYBODY):
            taken, self._seen = self._seen, {}
            seen = taken.copy()  # another thread may still have it in hand, to add somebody
            with self._writing() as connection:
                for code in sorted(set(seen.values())):
                    if (room := locked(connection, rooms.c.code == code, self._clock())) is not None:
                        for person in room.people:
                            if person.key in seen:
                                person.seen = self._clock()
                        write(connection, room)

    def stand(self, seat: Seat, link: str, figures: Figures) -> None:
        """Somebody's current setting, as a link, with the figures of its model."""
        link, known = checked_link(link), checked_figures(figures)
        with self._changing(seat) as (_, person):
            person.link, person.figures, person.seen = link, known, self._clock()

    def guess(self, seat: Seat, lesson: str, step: str, kept: str) -> None:
        """A guess at a step; the last one counts, until the step is revealed."""
        lesson, step, kept = map(checked_word, (lesson, step, kept))
        with self._changing(seat) as (room, person):
            if (lesson, step) in room.revealed:
                raise RoomError("already_revealed")
            person.guesses.setdefault(lesson, {})[step] = kept
            if sum(map(len, person.guesses.values())) > MOST_STEPS:
                raise RoomError("too_long")

    def send_vote(self, seat: Seat, link: str, figures: Figures, reason: str) -> None:
        """The model that somebody would sign, with a one-sentence reason; the last one in a round counts."""
        link, known = checked_link(link), checked_figures(figures)
        self._vote(seat, "sign", link=link, figures=known, reason=clean(reason, REASON_LENGTH))

    def choose(self, seat: Seat, choice: Literal["a", "b", "neither"]) -> None:
        """The one of two models that somebody prefers; the last one of a round counts."""
        if choice not in ("a", "b", "neither"):
            raise RoomError("no_such_choice")
        self._vote(seat, "pair", choice=choice)

    def _vote(self, seat: Seat, kind: str, **values: Any) -> None:
        with self._changing(seat) as (room, person):
            question = room.question
            if question is None or not question.open or question.kind != kind:
                raise RoomError("no_open_question")
            sent = {(vote.round, vote.person_number): vote for vote in question.votes}
            sent[question.rounds, person.number] = Vote(person.number, person.name, question.rounds, **values)
            question.votes = [vote for _, vote in sorted(sent.items())]

    # ---- Leading ----

    def new_secret(self, seat: Seat) -> str:
        """A new secret for the leader's link. The old link ends, and all other leaders stop leading."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with self._changing(seat, leading=True, closed_too=True) as (room, leader):
            room.secret = hash_of(secret)
            for person in room.people:
                person.leads = person is leader
        return secret

    def lead(self, seat: Seat, **changes: Unpack[Leading]) -> None:
        """Set what holds for all, as `Leading` has it."""
        values: dict[str, Any] = dict(changes)
        for name in ("lesson", "step"):
            if name in values:
                values[name] = checked_word(values[name])
        ends = values.get("timer_ends")
        if ends is not None and not math.isfinite(ends):
            raise RoomError("too_long")
        if values.get("door", "open") not in DOORS or not 1 <= values.get("most", 1) <= MOST_PEOPLE:
            raise RoomError("too_long")
        with self._changing(seat, leading=True) as (room, _):
            for name, value in values.items():
                setattr(room, name, value)

    def reveal(self, seat: Seat, lesson: str, step: str) -> None:
        """Show the guesses at a step to all; no more are taken."""
        place = checked_word(lesson), checked_word(step)
        with self._changing(seat, leading=True) as (room, _):
            room.revealed.add(place)

    def ask_to_sign(self, seat: Seat) -> None:
        """Ask the room "Which model would you sign?". A question that is still on the board ends."""
        self._ask(seat, "sign")

    def ask_pair(self, seat: Seat, a: SharedModel, b: SharedModel) -> None:
        """Ask the room "this model or that?". A question that is still on the board ends."""
        a, b = (SharedModel(checked_link(one.link), checked_figures(one.figures)) for one in (a, b))
        self._ask(seat, "pair", a, b)

    def _ask(self, seat: Seat, kind: str, a: SharedModel | None = None, b: SharedModel | None = None) -> None:
        with self._changing(seat, leading=True) as (room, _):
            if len(room.questions) >= MOST_QUESTIONS:
                raise RoomError("too_many_questions", most=MOST_QUESTIONS)
            for question in room.questions:
                question.open, question.ended = False, True
            room.questions.append(RoomQuestion(len(room.questions) + 1, kind, a, b))

    def ask_again(self, seat: Seat) -> None:
        """The second round of the question on the board; the first takes no more votes."""
        with self._on_the_board(seat) as question:
            if question.rounds >= MOST_ROUNDS:
                raise RoomError("no_more_rounds", most=MOST_ROUNDS)
            question.rounds, question.open = question.rounds + 1, True

    def show_result(self, seat: Seat) -> None:
        """Show the result of the question on the board to all; its round takes no more votes."""
        with self._on_the_board(seat) as question:
            question.shown, question.open = question.rounds, False

    def end_question(self, seat: Seat) -> None:
        """Take the question off the board."""
        with self._on_the_board(seat) as question:
            question.ended, question.open = True, False

    @contextmanager
    def _on_the_board(self, seat: Seat) -> Iterator[RoomQuestion]:
        with self._changing(seat, leading=True) as (room, _):
            if room.question is None:
                raise RoomError("no_open_question")
            yield room.question

    def remove(self, seat: Seat, numbers: Collection[int]) -> None:
        """Take people's seats away, with all their guesses and votes. Leaders stay."""
        with self._changing(seat, leading=True) as (room, _):
            room.send_out({person.number for person in room.people if not person.leads} & set(numbers))

    def let_in(self, seat: Seat, numbers: Collection[int]) -> None:
        """Let waiting people in."""
        with self._changing(seat, leading=True) as (room, _):
            for person in room.people:
                person.waiting = person.waiting and person.number not in numbers
            if sum(not person.leads and not person.waiting for person in room.people) > room.most:
                raise RoomError("room_full", most=room.most)

    def close(self, seat: Seat) -> None:
        """Accept nothing more. The room can be read until its time is over."""
        with self._changing(seat, leading=True) as (room, _):
            room.closed = self._clock()
            for question in room.questions:
                question.open = False

    def delete(self, seat: Seat) -> None:
        """Remove the room and everything in it, now."""
        with self._changing(seat, leading=True, closed_too=True):
            pass
        with self._writing() as connection:
            connection.execute(delete(rooms).where(rooms.c.code == seat.code))
        self._kept.pop(seat.code, None)
        self._write_over()

    # ---- The end ----

    def sweep(self) -> int:
        """Remove the rooms whose time is over; how many there were."""
        self._swept = self._steady()
        with self._writing() as connection:
            count: int = connection.execute(delete(rooms).where(rooms.c.expires <= self._clock())).rowcount
        for code, kept in list(self._kept.items()):
            if kept.checked < self._swept - SWEEP_EVERY:
                self._kept.pop(code, None)
        if count:
            self._write_over()
        return count

    def _sweep_now_and_then(self) -> None:
        if self._steady() - self._swept >= SWEEP_EVERY:
            with suppress(RoomError):  # it is in the log; the visitor did nothing wrong
                self.sweep()

    def dispose(self) -> None:
        """Close the connections."""
        self._reader.dispose()

    # ---- Transactions ----

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
        """A room to be changed, one change after the other; its next version is written when the block ends."""
        with self._writing() as connection:
            room = locked(connection, which, self._clock())
            if room is None:
                raise RoomError("no_room")
            if room.closed is not None and not closed_too:
                raise RoomError("closed")
            yield room
            room.version += 1
            write(connection, room)
        self._keep(room)

    @contextmanager
    def _changing(
        self, seat: Seat, *, leading: bool = False, closed_too: bool = False
    ) -> Iterator[tuple[Room, Member]]:
        """A room to be changed by somebody with a seat in it, who leads if required."""
        if not self._messages.take(seat.key):
            raise RoomError("too_fast")
        with self._room(rooms.c.code == seat.code, closed_too=closed_too) as room:
            person = room.seated(seat.key)
            if leading and not person.leads:
                raise RoomError("not_leading")
            yield room, person

    def _write_over(self) -> None:
        """Remove deleted data from SQLite's log of writes, too: in its file they are zeros already."""
        if self._is_sqlite:
            # If others keep it busy, the next time will do.
            with suppress(SQLAlchemyError, sqlite3.Error), closing(self._reader.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


@contextmanager
def _said_in_a_sentence() -> Iterator[None]:
    """Turn what a database says into a sentence for the user; its own words go to the log."""
    try:
        yield
    except (SQLAlchemyError, OSError, MissingExtraError) as error:
        _log.error("The database of the rooms: %s", error)
        raise RoomError("unreachable") from error
