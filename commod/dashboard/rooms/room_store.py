"""Rooms in a database that the processes of a server share: who is there, where they stand, their guesses and votes."""

import json
import math
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypedDict, Unpack

from sqlalchemy import Row, and_, delete, func, insert, select, update
from sqlalchemy.engine import URL

from commod.dashboard.rooms.buckets import Buckets
from commod.dashboard.rooms.contents import (
    DOORS,
    HOURS,
    MOST_PEOPLE,
    MOST_ROOMS,
    Figures,
    Here,
    Model,
    Opened,
    Room,
    RoomError,
    Seat,
)
from commod.dashboard.rooms.names import REASON_LENGTH, clean, hash_of, new_code, tidy_code, unique_name
from commod.dashboard.rooms.room_database import (
    RoomDatabase,
    checked_link,
    checked_word,
    is_there,
    last_question,
    next_version,
    put,
    written_figures,
)
from commod.dashboard.rooms.schema import guesses, people, questions, revealed, rooms, votes
from commod.dashboard.text.language import FIRST

TOKEN_BYTES, SECRET_BYTES = 16, 24  # of a seat, and of a leader's link
MOST_LEADERS = 5  # tabs that lead one room; the one that was seen longest ago gives way to the next
MOST_QUESTIONS = 50
MOST_ROUNDS = 2
MOST_STEPS = 200  # that one person guesses at in one room
SEEN_EVERY = 5.0
SWEEP_EVERY = 60.0
SLOW_SECONDS = 5.0  # until a network that has tried many wrong codes reads of the next that it is wrong

_EVERYBODY = "everybody"


class Leading(TypedDict, total=False):
    """What a leader sets for all."""

    lesson: str
    step: str
    together: bool
    frozen: bool
    timer_ends: float | None
    door: str
    most: int


class RoomStore(RoomDatabase):
    """All rooms of a server. Its methods can be called from any thread, and from several processes on one database.

    Whatever cannot be done raises `RoomError`, whose phrase is for the user. `clock` gives seconds since the epoch,
    which processes and restarts share; `steady` never jumps, and serves the limits on how often something is done. A
    room is kept for so many `hours`.
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
        super().__init__(url, clock, steady)
        self._hours, self._most_rooms, self._wait = hours, most_rooms, wait
        self._swept = -math.inf
        self._wrong_codes = Buckets(burst=20, per_second=1 / 60, clock=steady)
        self._joined = Buckets(burst=250, per_second=1.0, clock=steady)  # by network and room: a class behind a router
        self._joined_by_browser = Buckets(burst=10, per_second=1 / 60, clock=steady)
        self._opened = Buckets(burst=20, per_second=1 / 3600, clock=steady)
        self._seen: dict[str, str] = {}  # keys of seats, and the step open there, since it was last written
        self._presence = Buckets(burst=1, per_second=1 / SEEN_EVERY, clock=steady)

    # ---- Coming in ----

    def open_room(self, lesson: str, *, caller: str = "") -> Opened:
        """A new room for a lesson. Rooms are bounded in number, and in how many one caller opens."""
        self._sweep_now_and_then()
        if not self._opened.take(caller):
            raise RoomError("opened_too_many")
        try:
            return self._open(checked_word(lesson))
        except RoomError:
            self._opened.give_back(caller)
            raise

    def _open(self, lesson: str) -> Opened:
        secret, now = secrets.token_urlsafe(SECRET_BYTES), self._clock()
        with self._writing() as connection:
            taken = set(connection.execute(select(rooms.c.code)).scalars())
            if len(taken) >= self._most_rooms:
                raise RoomError("too_many_rooms", most=self._most_rooms)
            code = next(code for code in iter(new_code, "") if code not in taken)
            values = {"lesson": lesson, "step": "", "together": True, "frozen": False, "version": 1}
            values |= {"seats": 0, "door": "open", "most": MOST_PEOPLE}
            times = {"opened": now, "expires": now + 3600 * self._hours}
            connection.execute(insert(rooms).values(code=code, secret=hash_of(secret), **values, **times))
        return Opened(code, secret)

    def join(self, code: str, nickname: str | None, *, browser: str, caller: str, language: str = FIRST) -> Seat:
        """A seat in the room of a code, as typed. A right one always works; after many wrong ones the answer is late.

        Without a nickname, a name in `language` is drawn by lot. The seat belongs to this `browser` only. `caller` is
        the network, for the limits on tries; the room keeps a hash of it.
        """
        self._sweep_now_and_then()
        tidy = tidy_code(code)
        if tidy is None:
            raise RoomError("no_room")
        with self._reading() as connection:
            wrong = not is_there(connection, rooms, code=tidy)
        if wrong:
            if not self._wrong_codes.take(caller):
                self._wait(SLOW_SECONDS)
            raise RoomError("no_room")
        return self._sit(rooms.c.code == tidy, nickname, browser, caller, language)

    def take_lead(self, secret: str, *, browser: str, caller: str, language: str = FIRST) -> Seat:
        """A seat that leads, for whoever has the secret; also in a closed room, to take it home or delete it.

        A browser has one such seat in a room. Its token may be seen on a wall: it works only with the browser's cookie.
        """
        return self._sit(rooms.c.secret == hash_of(secret), None, browser, caller, language, leads=True)

    def _sit(
        self, which: Any, nickname: str | None, browser: str, caller: str, language: str, *, leads: bool = False
    ) -> Seat:
        now = self._clock()
        with self._writing() as connection:
            room = next_version(connection, which, now, closed_too=leads)
            token = f"lead{room.code}" if leads and browser else secrets.token_urlsafe(TOKEN_BYTES)
            key = hash_of(token, browser)
            connection.execute(delete(people).where(people.c.seat == key))  # another tab of this leader
            if room.door == "locked" and not leads:
                raise RoomError("locked")
            if not leads:  # what a network does in other rooms keeps nobody out of this one
                of_browser = not browser or self._joined_by_browser.take(browser)
                if not of_browser or not self._joined.take(f"{caller} {room.code}"):
                    raise RoomError("joined_too_often")
            sitting = connection.execute(
                select(people.c.number, people.c.name, people.c.leads, people.c.waiting)
                .where(people.c.code == room.code)
                .order_by(people.c.seen, people.c.number)
            ).all()
            if leads:
                leaders = [person.number for person in sitting if person.leads]
                gone = leaders[: max(0, len(leaders) + 1 - MOST_LEADERS)]
                connection.execute(delete(people).where(people.c.code == room.code, people.c.number.in_(gone)))
            waiting, number = room.door == "ask" and not leads, room.seats + 1
            most = MOST_PEOPLE if waiting else room.most
            counted = [person for person in sitting if not person.leads and (waiting or not person.waiting)]
            if not leads and len(counted) >= most:
                raise RoomError("room_full", most=most)
            connection.execute(update(rooms).where(rooms.c.code == room.code).values(seats=number))
            name = unique_name(nickname, [person.name for person in sitting], language)
            seat = Seat(room.code, token, name, leads, number, key)
            values = {"code": seat.code, "number": number, "seat": seat.key, "name": name, "leads": leads}
            values |= {"waiting": waiting, "network": hash_of(seat.code, caller)[:16]}
            connection.execute(insert(people).values(**values, seen=now, at="", link="", figures="{}"))
        self._look_again(room)
        return seat

    # ---- Being there ----

    def present(self, code: str, token: str, *, browser: str) -> Here:
        """Who this is, and their room. Pages see a room only this way: `look` asks nobody who they are."""
        key, room = hash_of(token, browser), self.look(code)
        if key not in room.seats:  # they may have come in since, by another process
            self._kept.pop(room.code, None)
            room = self.look(code)
        number = room.seats.get(key)
        for person in room.people:
            if person.number == number:
                if person.waiting:
                    raise RoomError("waiting")
                return Here(Seat(room.code, token, person.name, person.leads, person.number, key), room, person)
        raise RoomError("no_seat")

    def look(self, code: str) -> Room:
        """The room as it is, or was half a second ago; what this thread has changed is there at once.

        It is the same object as before if nothing has changed. Who is here may be five seconds old. Whoever comes while
        another reads the room does not wait for it: on a server that has much to do, all pages would stand in line.
        """
        self._sweep_now_and_then()
        tidy = tidy_code(code)
        if tidy is None:
            raise RoomError("no_room")
        return self._look(tidy)

    def seen(self, seat: Seat, at: str = "") -> None:
        """Heartbeat of a seat, with the step it has open (`step_address`); written to the database in batches."""
        self._seen[seat.key] = checked_word(at)
        if self._presence.take(_EVERYBODY):
            taken, self._seen = self._seen, {}
            seen = taken.copy()  # another thread may still have it in hand, to add somebody
            with self._writing() as connection:
                for place in set(seen.values()):
                    keys = [key for key, there in seen.items() if there == place]
                    values = {"seen": self._clock(), "at": place}
                    connection.execute(update(people).where(people.c.seat.in_(keys)).values(**values))

    def stand(self, seat: Seat, link: str, figures: Figures) -> None:
        """The setting that somebody stands at, as a link, with the figures of its model."""
        values = {"link": checked_link(link), "figures": written_figures(figures)}
        with self._changing(seat) as (connection, _, _):
            connection.execute(update(people).where(people.c.seat == seat.key).values(seen=self._clock(), **values))

    def guess(self, seat: Seat, lesson: str, step: str, kept: str) -> None:
        """A guess at a step; the last one counts, until the step is revealed."""
        key = {"lesson": checked_word(lesson), "step": checked_word(step)}
        with self._changing(seat) as (connection, room, person):
            if is_there(connection, revealed, code=room.code, **key):
                raise RoomError("already_revealed")
            put(connection, guesses, {"code": room.code, **key, "person": person}, {"kept": checked_word(kept)})
            own = select(func.count()).where(guesses.c.code == room.code, guesses.c.person == person)
            if connection.execute(own).scalar_one() > MOST_STEPS:
                raise RoomError("too_long")

    def send_vote(self, seat: Seat, link: str, figures: Figures, reason: str) -> None:
        """The model that somebody would sign, with one sentence why; the last one of a round counts."""
        values = {"link": checked_link(link), "figures": written_figures(figures)}
        self._vote(seat, "sign", {**values, "reason": clean(reason, REASON_LENGTH), "choice": ""})

    def choose(self, seat: Seat, choice: Literal["a", "b", "neither"]) -> None:
        """The one of two models that somebody prefers; the last one of a round counts."""
        if choice not in ("a", "b", "neither"):
            raise RoomError("no_such_choice")
        self._vote(seat, "pair", {"link": "", "figures": "{}", "reason": "", "choice": choice})

    def _vote(self, seat: Seat, kind: str, values: dict[str, str]) -> None:
        with self._changing(seat) as (connection, room, person):
            question = last_question(connection, room.code)
            if question is None or not question.open or question.kind != kind:
                raise RoomError("no_open_question")
            key = {"code": room.code, "question": question.number, "round": question.rounds, "person": person}
            put(connection, votes, key, values)

    # ---- Leading ----

    def new_secret(self, seat: Seat) -> str:
        """Another secret for the leader's link. The old link ends, and whoever else leads no longer does."""
        secret = secrets.token_urlsafe(SECRET_BYTES)
        with self._changing(seat, leading=True, closed_too=True) as (connection, room, person):
            connection.execute(update(rooms).where(rooms.c.code == room.code).values(secret=hash_of(secret)))
            others = and_(people.c.code == room.code, people.c.number != person)
            connection.execute(update(people).where(others).values(leads=False))
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
        with self._changing(seat, leading=True) as (connection, room, _):
            if values:
                connection.execute(update(rooms).where(rooms.c.code == room.code).values(**values))

    def reveal(self, seat: Seat, lesson: str, step: str) -> None:
        """Show the guesses at a step to all; no more are taken."""
        with self._changing(seat, leading=True) as (connection, room, _):
            key = {"code": room.code, "lesson": checked_word(lesson), "step": checked_word(step)}
            if not is_there(connection, revealed, **key):
                connection.execute(insert(revealed).values(**key))

    def ask_to_sign(self, seat: Seat) -> None:
        """Ask the room "Which model would you sign?". A question that is still on the board ends."""
        self._ask(seat, "sign", "")

    def ask_pair(self, seat: Seat, a: Model, b: Model) -> None:
        """Ask the room "this model or that?". A question that is still on the board ends."""
        pair = [{"link": checked_link(m.link), "figures": json.loads(written_figures(m.figures))} for m in (a, b)]
        self._ask(seat, "pair", json.dumps(pair))

    def _ask(self, seat: Seat, kind: str, pair: str) -> None:
        with self._changing(seat, leading=True) as (connection, room, _):
            last = last_question(connection, room.code)
            number = 1 if last is None else last.number + 1
            if number > MOST_QUESTIONS:
                raise RoomError("too_many_questions", most=MOST_QUESTIONS)
            connection.execute(update(questions).where(questions.c.code == room.code).values(open=False, ended=True))
            new = {"kind": kind, "pair": pair, "rounds": 1, "open": True, "shown": 0, "ended": False}
            connection.execute(insert(questions).values(code=room.code, number=number, **new))

    def ask_again(self, seat: Seat) -> None:
        """The second round of the question on the board; the first takes no more votes."""
        with self._on_the_board(seat) as (question, change):
            if question.rounds >= MOST_ROUNDS:
                raise RoomError("no_more_rounds", most=MOST_ROUNDS)
            change(rounds=question.rounds + 1, open=True)

    def show_result(self, seat: Seat) -> None:
        """Show the result of the question on the board to all; its round takes no more votes."""
        with self._on_the_board(seat) as (question, change):
            change(open=False, shown=question.rounds)

    def end_question(self, seat: Seat) -> None:
        """Take the question off the board."""
        with self._on_the_board(seat) as (_, change):
            change(open=False, ended=True)

    @contextmanager
    def _on_the_board(self, seat: Seat) -> Iterator[tuple[Row[Any], Callable[..., None]]]:
        """The question that is on the board, and how it is changed."""
        with self._changing(seat, leading=True) as (connection, room, _):
            question = last_question(connection, room.code)
            if question is None or question.ended:
                raise RoomError("no_open_question")

            def change(**values: Any) -> None:
                which = (questions.c.code == room.code, questions.c.number == question.number)
                connection.execute(update(questions).where(*which).values(**values))

            yield question, change

    def remove(self, seat: Seat, numbers: Collection[int]) -> None:
        """Take people's seats away, with all that they have guessed and sent. Who leads stays."""
        with self._changing(seat, leading=True) as (connection, room, _):
            whom = (people.c.code == room.code, people.c.number.in_(numbers), people.c.leads.is_(False))
            connection.execute(delete(people).where(*whom))

    def let_in(self, seat: Seat, numbers: Collection[int]) -> None:
        """Let people in who wait."""
        with self._changing(seat, leading=True) as (connection, room, _):
            of_room = people.c.code == room.code
            connection.execute(update(people).where(of_room, people.c.number.in_(numbers)).values(waiting=False))
            inside = select(func.count()).where(of_room, people.c.leads.is_(False), people.c.waiting.is_(False))
            if connection.execute(inside).scalar_one() > room.most:
                raise RoomError("room_full", most=room.most)

    def close(self, seat: Seat) -> None:
        """Take nothing more. What is there can be read until the room's time is over."""
        with self._changing(seat, leading=True) as (connection, room, _):
            connection.execute(update(questions).where(questions.c.code == room.code).values(open=False))
            connection.execute(update(rooms).where(rooms.c.code == room.code).values(closed=self._clock()))

    def delete(self, seat: Seat) -> None:
        """Remove the room and everything in it, now."""
        with self._changing(seat, leading=True, closed_too=True) as (connection, room, _):
            connection.execute(delete(rooms).where(rooms.c.code == room.code))
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
            with suppress(RoomError):  # it is in the log, and no fault of whoever came by
                self.sweep()
