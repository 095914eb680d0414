"""What is in a room, as the pages see it, and what is said when something cannot be done there."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commod.dashboard.text.language import FIRST, phrase

Figures = Mapping[str, float]

MOST_ROOMS = 100
MOST_PEOPLE = 200
HOURS = 24.0  # for which a room is kept
# Who comes in with the code: everybody, those whom the leader lets in, nobody.
DOORS = ("open", "ask", "locked")
# A room says that most of its people share a network if it has at least so many.
CROWD = 10


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
    """A room that was just opened. The secret is here and nowhere else: the store keeps its hash."""

    code: str
    secret: str = field(repr=False)


@dataclass(frozen=True)
class Seat:
    """Somebody's place in a room. The token stands in their address; `key` is what the store knows them by."""

    code: str
    token: str = field(repr=False)
    name: str
    leads: bool
    number: int  # as in `Person` and `Vote`
    key: str = field(repr=False)


@dataclass(frozen=True)
class Person:
    """Somebody in a room, as the others see them."""

    number: int
    name: str
    leads: bool
    waiting: bool  # until the leader lets them in
    here: bool  # seen within the last half minute
    at: str  # the step of a lesson that they have open, as `step_address` writes it; empty elsewhere
    link: str  # their setting; empty until they have one
    figures: Figures


@dataclass(frozen=True)
class Model:
    """A setting as a link, and the figures of the model trained at it."""

    link: str
    figures: Figures


@dataclass(frozen=True)
class Vote:
    """What somebody sent to one round of a question; the last one they sent."""

    person_number: int
    name: str
    round: int
    link: str
    figures: Figures
    reason: str
    choice: str  # "a", "b" or "neither" of a pair, else empty


@dataclass(frozen=True)
class Question:
    """A question to the room: "Which model would you sign?" (``sign``) or "this model or that?" (``pair``)."""

    number: int
    kind: str
    rounds: int  # 1, or 2 after the room was asked again; the last one is that which is open, if any
    open: bool  # votes are taken
    shown: int  # the rounds whose result is shown to all: 0, 1 or 2
    ended: bool  # off the board
    a: Model | None
    b: Model | None
    votes: tuple[Vote, ...]

    def of_round(self, number: int) -> tuple[Vote, ...]:
        """The votes of one round."""
        return tuple(vote for vote in self.votes if vote.round == number)


def step_address(lesson: str, step: str) -> str:
    """A step of a lesson as one word."""
    return f"{lesson}/{step}"


@dataclass(frozen=True)
class Room:
    """Everything of a room that a page may need. What of it somebody may see yet is for the page to decide."""

    code: str
    version: int  # grows with every change but presence
    opened: float  # seconds since the epoch, as all times here
    expires: float
    closed: float | None
    lesson: str
    step: str
    together: bool
    frozen: bool
    timer_ends: float | None
    door: str  # one of `DOORS`
    most: int  # the size of the class
    revealed: frozenset[tuple[str, str]]  # (lesson, step)
    people: tuple[Person, ...]
    guesses: Mapping[tuple[str, str], tuple[str, ...]]  # (lesson, step) to what was guessed, sorted: nobody's by place
    questions: tuple[Question, ...]
    seats: Mapping[str, int] = field(repr=False)  # keys of seats to numbers of people
    networks: Mapping[int, str] = field(repr=False)  # numbers of people to what the room knows their networks by

    @property
    def taking_part(self) -> tuple[Person, ...]:
        """Those who are here and do not lead."""
        return tuple(person for person in self.people if person.here and not person.leads and not person.waiting)

    @property
    def waiting(self) -> tuple[Person, ...]:
        """Those whom the leader has not let in yet."""
        return tuple(person for person in self.people if person.waiting)

    @property
    def crowd(self) -> tuple[int, ...]:
        """Numbers of those who share one network, if that is most of a class; else none."""
        numbers = [person.number for person in self.people if not person.leads]
        common = Counter(self.networks[number] for number in numbers).most_common(1)
        if len(numbers) < CROWD or 2 * common[0][1] <= len(numbers):
            return ()
        return tuple(number for number in numbers if self.networks[number] == common[0][0])

    @property
    def at_step(self) -> int:
        """How many of them have the room's step open."""
        return sum(person.at == step_address(self.lesson, self.step) for person in self.taking_part)

    @property
    def question(self) -> Question | None:
        """The one that is on the board."""
        last = self.questions[-1] if self.questions else None
        return None if last is None or last.ended else last


@dataclass(frozen=True)
class Here:
    """Somebody in a room, as long as a page is drawn for them."""

    seat: Seat
    room: Room
    person: Person

    @property
    def leads(self) -> bool:
        return self.person.leads

    @property
    def is_led(self) -> bool:
        """Whether somebody else turns the pages of the lesson."""
        return not self.leads and self.room.together and self.room.closed is None
