"""What a room contains, and the error for what cannot be done there.

A room is stored in this form, as one JSON document (`rooms/schema.py`). Pages read it and change nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from commod.dashboard.text.language import FIRST, phrase

Figures = Mapping[str, float]

MOST_ROOMS = 100
MOST_PEOPLE = 200
HOURS = 24.0  # for which a room is kept
# Who can join with the code: everybody, people whom the leader lets in, nobody.
DOORS = ("open", "ask", "locked")


class RoomError(Exception):
    """Something cannot be done in a room: `reason` is a phrase in the table ``room_refused``, filled with `facts`."""

    def __init__(self, reason: str, **facts: Any) -> None:
        self.reason, self.facts = reason, facts
        super().__init__(phrase(FIRST, self.key, **facts))

    @property
    def key(self) -> str:
        return f"room_refused.{self.reason}"


@dataclass(frozen=True)
class Opened:
    """A room that was just opened. Only this object has the secret; the store keeps its hash."""

    code: str
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Seat:
    """Somebody's place in a room. The token is in their address; the store knows them by `key`."""

    code: str
    token: str = field(repr=False)
    name: str
    leads: bool
    number: int  # as in `Member` and `Vote`
    key: str = field(repr=False)


class SharedModel(Struct):
    """A setting as a link, and the figures of the model trained at it."""

    link: str
    figures: dict[str, float]


class Member(Struct):
    """Somebody in a room."""

    number: int
    name: str
    leads: bool
    waiting: bool  # until the leader lets them in
    key: str  # of their seat
    seen: float  # when they were last there
    link: str = ""  # their setting; empty until they have one
    figures: dict[str, float] = {}
    guesses: dict[str, dict[str, str]] = {}  # by lesson and step
    here: bool = False  # whether they were seen within the last half minute


class Vote(Struct):
    """What somebody sent to one round of a question; the last one they sent."""

    person_number: int
    name: str
    round: int
    link: str = ""
    figures: dict[str, float] = {}
    reason: str = ""
    choice: str = ""  # "a", "b" or "neither" of a pair


class RoomQuestion(Struct):
    """A question to the room: "Which model would you sign?" (``sign``) or "this model or that?" (``pair``)."""

    number: int
    kind: str
    a: SharedModel | None = None
    b: SharedModel | None = None
    rounds: int = 1  # or 2 after the room was asked again; only the last one can be open
    open: bool = True  # votes are taken
    shown: int = 0  # the rounds whose result is shown to all: 0, 1 or 2
    ended: bool = False  # off the board
    votes: list[Vote] = []  # by round and person

    def of_round(self, number: int) -> list[Vote]:
        """The votes of one round."""
        return [vote for vote in self.votes if vote.round == number]


class Room(Struct):
    """Everything in a room. The page decides what somebody may see."""

    code: str
    secret: str  # hash of the secret in the leader's link
    opened: float  # seconds since the epoch, as all times here
    expires: float
    lesson: str
    most: int  # the size of the class
    step: str = ""
    closed: float | None = None
    version: int = 1  # grows with every change but presence
    together: bool = True
    frozen: bool = False
    timer_ends: float | None = None
    door: str = "open"  # one of `DOORS`
    seats: int = 0  # given so far; numbers are never used twice
    revealed: set[tuple[str, str]] = set()  # (lesson, step)
    people: list[Member] = []
    questions: list[RoomQuestion] = []

    def person_of(self, key: str) -> Member | None:
        """Who has the seat with this key."""
        return next((person for person in self.people if person.key == key), None)

    def seated(self, key: str) -> Member:
        """Who has the seat with this key; RoomError if nobody has it, or they are still waiting to be let in."""
        person = self.person_of(key)
        if person is None:
            raise RoomError("no_seat")
        if person.waiting:
            raise RoomError("waiting")
        return person

    def send_out(self, numbers: Collection[int]) -> None:
        """Remove people with all their guesses and votes."""
        self.people = [person for person in self.people if person.number not in numbers]
        for question in self.questions:
            question.votes = [vote for vote in question.votes if vote.person_number not in numbers]

    @property
    def guesses(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """All guesses by (lesson, step), sorted, so that places do not identify anybody."""
        found = defaultdict(list)
        for person in self.people:
            for lesson, steps in person.guesses.items():
                for step, kept in steps.items():
                    found[lesson, step].append(kept)
        return {step: tuple(sorted(kept)) for step, kept in sorted(found.items())}

    @property
    def taking_part(self) -> list[Member]:
        """The people who are here and do not lead."""
        return [person for person in self.people if person.here and not person.leads and not person.waiting]

    @property
    def waiting(self) -> list[Member]:
        """The people whom the leader has not let in yet."""
        return [person for person in self.people if person.waiting]

    @property
    def question(self) -> RoomQuestion | None:
        """The one that is on the board."""
        last = self.questions[-1] if self.questions else None
        return None if last is None or last.ended else last


@dataclass(frozen=True)
class Here:
    """Somebody in a room, while a page is drawn for them."""

    seat: Seat
    room: Room
    person: Member

    @property
    def leads(self) -> bool:
        return self.person.leads

    @property
    def is_led(self) -> bool:
        """Whether somebody else turns the pages of the lesson."""
        return not self.leads and self.room.together and self.room.closed is None
