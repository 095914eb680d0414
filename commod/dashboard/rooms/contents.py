"""What is in a room, and what is said when something cannot be done there.

A room is stored as it stands here, as one JSON document (`rooms/schema.py`). Pages read it and change nothing.
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
# Who comes in with the code: everybody, those whom the leader lets in, nobody.
DOORS = ("open", "ask", "locked")


class RoomError(Exception):
    """What cannot be done in a room: `reason` is a name in the phrases' table ``room_refused``, filled with `facts`."""

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
    """Somebody's place in a room. The token stands in their address; `key` is what the store knows them by."""

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
    rounds: int = 1  # or 2 after the room was asked again; the last one is that which is open, if any
    open: bool = True  # votes are taken
    shown: int = 0  # the rounds whose result is shown to all: 0, 1 or 2
    ended: bool = False  # off the board
    votes: list[Vote] = []  # by round and person

    def of_round(self, number: int) -> list[Vote]:
        """The votes of one round."""
        return [vote for vote in self.votes if vote.round == number]


class Room(Struct):
    """Everything of a room. What of it somebody may see yet is for the page to decide."""

    code: str
    secret: str  # the hash of that of the leader's link
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
    seats: int = 0  # given so far: the number of one that was taken away is never given again
    revealed: set[tuple[str, str]] = set()  # (lesson, step)
    people: list[Member] = []
    questions: list[RoomQuestion] = []

    def person_of(self, key: str) -> Member | None:
        """Who has the seat with this key."""
        return next((person for person in self.people if person.key == key), None)

    def seated(self, key: str) -> Member:
        """Who has the seat with this key; RoomError if nobody has it, or they are still to be let in."""
        person = self.person_of(key)
        if person is None:
            raise RoomError("no_seat")
        if person.waiting:
            raise RoomError("waiting")
        return person

    def send_out(self, numbers: Collection[int]) -> None:
        """Take people out, with all that they have guessed and sent."""
        self.people = [person for person in self.people if person.number not in numbers]
        for question in self.questions:
            question.votes = [vote for vote in question.votes if vote.person_number not in numbers]

    @property
    def guesses(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By (lesson, step) what was guessed, sorted: nobody's by place."""
        found = defaultdict(list)
        for person in self.people:
            for lesson, steps in person.guesses.items():
                for step, kept in steps.items():
                    found[lesson, step].append(kept)
        return {step: tuple(sorted(kept)) for step, kept in sorted(found.items())}

    @property
    def taking_part(self) -> list[Member]:
        """Those who are here and do not lead."""
        return [person for person in self.people if person.here and not person.leads and not person.waiting]

    @property
    def waiting(self) -> list[Member]:
        """Those whom the leader has not let in yet."""
        return [person for person in self.people if person.waiting]

    @property
    def question(self) -> RoomQuestion | None:
        """The one that is on the board."""
        last = self.questions[-1] if self.questions else None
        return None if last is None or last.ended else last


@dataclass(frozen=True)
class Here:
    """Somebody in a room, as long as a page is drawn for them."""

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
