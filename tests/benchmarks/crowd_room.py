"""Sixty people in a room, its board open: ``python -m tests.benchmarks.crowd --room``.

Three times, at one moment, a third of them move a slider on Explore, a third guess in the lesson and a third vote, so
that in the end everybody has done each; then all vote again at one moment, and in the middle of a last vote the server
is killed and started anew. Meanwhile others, who are in no room, open Explore. Before, in a server of its own, the same
people move and guess at the same moments, and nobody has a room.
"""

import asyncio
import os
import re
import sqlite3
import statistics
import time
from collections import defaultdict
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from commod.dashboard.rooms.room_store import RoomStore
from commod.dashboard.state.link import from_link, link_of_model, to_link
from commod.dashboard.text.language import FIRST, phrases
from tests.benchmarks.crowd import BY_ITSELF, LABELS, Crowd, Ours, Person, warm_up
from tests.benchmarks.crowd_report import Requirement, Verdict, milliseconds, most_common, waits_of
from tests.benchmarks.faults import server_of
from tests.browsing import serve
from tests.wire import Tab

SESSIONS = 60
VISITORS = 8  # who open Explore from each moment on, one after the other
BETWEEN = 0.5  # seconds between two of them
CALM = 3.0  # seconds before a moment, in which nobody does anything
LOOK_EVERY = 0.02  # seconds between two looks into the database: so exactly is known when something arrived
PATIENCE = 90.0
MAX_BEHIND = 2.0  # seconds
MAX_SLOWER = 1.3  # times
WORDS = phrases(FIRST)
COUNT = re.compile(r"(\d+) of \d+ have (voted|guessed)")


@dataclass
class Hour:
    """What was observed, in a room or without one."""

    crowd: Crowd
    firsts: list = field(default_factory=list)  # seconds to the first pictures of those who are in no room
    asked: list = field(default_factory=list)  # seconds from the leader's question to each one's page
    behind: dict = field(default_factory=dict)  # by what was sent: how long the board did not know what had arrived
    pressed: dict = field(default_factory=dict)  # the same since all had pressed their buttons
    problems: list = field(default_factory=list)
    wrong: list = field(default_factory=list)  # votes lost or counted twice, settings not told, seats gone


class Member(Person):
    """One of the class. Without a room she moves and guesses only."""

    def __init__(self, crowd, address, number, code):
        super().__init__(crowd, address, number)
        self.code = code
        self.guessed = False
        self.reason = self.voted = ""  # what she sent last, and what the page says is in

    def _note(self, kind, element):
        super()._note(kind, element)
        if kind == "alert" and element.body.startswith(WORDS["room.vote_sent"].split("{")[0]):
            self.voted = self.reason
        elif kind == "markdown" and WORDS["lesson.guessed"].split("{")[0] in element.body:
            self.guessed = True
        elif kind == "address" and self.moves and to_link(self.moves[-1].setting).items() <= self.tab.link().items():
            self.moves[-1].addressed = min(self.moves[-1].addressed, time.monotonic())

    async def come(self):
        """Join, where there is a room, and open Explore."""
        if self.code:
            self.tab.page, self.tab.query = "room", f"{self.tab.query}&room={self.code}"
            await self.tab.open()
            await self.ready(WORDS["room.join"])
            await self.tab.click(WORDS["room.join"])
            await self.until(lambda: "seat" in self.tab.link())
            await self.tab.go_to("")
        else:
            await self.tab.open()
        await self.ready(*LABELS.values())

    async def come_again(self, address):
        """The same browser at the same address, after the server was started anew."""
        before = self.tab
        self.tab = Tab(address, "room", before.query, self._note, cookie=before.cookie, headers=before.headers)
        self.voted = ""
        await self.tab.open()
        await self.until(lambda: self.can_vote() or WORDS["room.join"] in self.tab.widgets)

    async def prepare(self, act):
        """Go to the page on which something is done."""
        page = {"move": "", "guess": "lesson", "vote": "room"}[act]
        if page != self.tab.page:
            await self.tab.go_to(page)
        if act == "move":
            await self.ready(*LABELS.values())
            self.here, _ = from_link(self.tab.link())  # a lesson leaves its sliders where they were
        elif act == "guess":
            await self.ready(WORDS["lesson.guess"])
        else:
            await self.until(self.can_vote if self.code else lambda: WORDS["room.join"] in self.tab.widgets)

    async def do(self, act):
        """Do it, and wait until the page says that it is done."""
        if act == "move":
            await self.move(seen=False)
            await self.until(lambda: max(self.moves[-1].answered, self.moves[-1].addressed) < inf)
        elif act == "guess":
            label = next(label for label in self.tab.widgets if label.startswith(f"{WORDS['lesson.your_guess']} ("))
            await self.tab.click(WORDS["lesson.guess"], {label: self.rng.randrange(101)})
            await self.until(lambda: self.guessed)
        elif self.code:
            await self.vote(f"first vote of {self.tab.link()['seat']}")

    def can_vote(self):
        return any(WORDS[f"room.{name}"] in self.tab.widgets for name in ("send", "send_again"))

    async def vote(self, reason):
        """Send the model on her screen, with a reason by which the vote is known again."""
        self.reason = reason
        label = WORDS["room.send"] if WORDS["room.send"] in self.tab.widgets else WORDS["room.send_again"]
        await self.tab.click(label, {WORDS["room.why"]: reason})
        await self.until(lambda: self.voted == reason)

    async def ready(self, *labels):
        await self.until(lambda: all(label in self.tab.widgets for label in labels))

    async def until(self, condition):
        if not await self.tab.until(condition, PATIENCE):
            raise TimeoutError(f"/{self.tab.page}: {self.tab.problems or 'nothing came'}")


class Board:
    """The leader's tab, and when it said how many had guessed and voted."""

    def __init__(self, address):
        self.tab = Tab(address, "room", on_element=self._note)
        self.told = {"voted": [], "guessed": []}  # (time, how many)

    def _note(self, kind, element):
        if kind in ("markdown", "heading") and (found := COUNT.search(element.body)):
            self.told[found[2]].append((time.monotonic(), int(found[1])))

    async def press(self, name, then):
        """Press a button of the leader's, and wait until the next one is there."""
        label, then = WORDS[f"room.{name}"], WORDS[f"room.{then}"]
        await self.ready(label)
        widget = self.tab.widgets[label]
        self.tab.widgets = {label: widget}
        await self.tab.click(label)
        await self.ready(then)

    async def ready(self, label):
        if not await self.tab.until(lambda: label in self.tab.widgets, PATIENCE):
            raise TimeoutError(f"the board has no “{label}”: {self.tab.problems}")

    async def knows(self, what, count, since):
        await self.tab.until(lambda: self.first(what, count, since) < inf, PATIENCE)

    def first(self, what, count, since):
        """When the board first said that so many had."""
        return next((at for at, n in self.told[what] if at > since and n >= count), inf)


class Arrivals:
    """When guesses and votes were in the database, as somebody sees who looks into it all the time."""

    def __init__(self, file):
        self.file = file
        self.times = defaultdict(list)  # what, to the times of the first, the second …
        self._task = asyncio.create_task(self._look())

    async def _look(self):
        counts = "SELECT 'voted', count(*) FROM votes UNION SELECT 'guessed', count(*) FROM guesses"
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)) as database:
            before = time.monotonic()
            while True:
                now = time.monotonic()
                for what, count in database.execute(counts).fetchall():
                    # It came after the last look: the board is measured from then on, and not too kindly.
                    self.times[what] += [before] * (count - len(self.times[what]))
                before = now
                await asyncio.sleep(LOOK_EVERY)

    async def stop(self):
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


async def visit(hour, address, number):
    """Somebody who is in no room opens Explore."""
    visitor = Person(hour.crowd, address, number)
    await visitor.open()
    hour.firsts.append(visitor.first)
    hour.problems += visitor.tab.problems
    await visitor.tab.close()


async def attempt(hour, member, act):
    """Somebody does something; that it did not come to its end is noted, and the others go on."""
    try:
        await member.do(act)
    except TimeoutError as error:
        hour.wrong.append(f"{act} on {error}")


async def in_three_moments(hour, address, members):
    """Everybody moves, guesses and votes, a third of them each at a time, and others come to Explore."""
    acts = ("move", "guess", "vote")
    for moment in range(3):
        parts = [acts[(place + moment) % 3] for place in range(len(members))]
        await asyncio.gather(*(member.prepare(act) for member, act in zip(members, parts, strict=True)))
        await asyncio.sleep(CALM)

        async def come_later(place, moment=moment):
            await asyncio.sleep(BETWEEN * place)
            await visit(hour, address, 1000 + VISITORS * moment + place)

        await asyncio.gather(
            *(attempt(hour, member, act) for member, act in zip(members, parts, strict=True)),
            *(come_later(place) for place in range(VISITORS)),
        )
        await asyncio.sleep(CALM)  # nobody leaves Explore before the room is told the setting


def assemble(address, sessions, code=""):
    hour = Hour(Crowd(Ours))
    members = [Member(hour.crowd, address, number, code) for number in range(sessions)]
    hour.crowd.people = members
    return hour, members


async def without_room(address, sessions):
    """The same people at the same moments, and no room."""
    await warm_up(address, server_of(address))
    hour, members = assemble(address, sessions)
    await asyncio.gather(*(member.come() for member in members))
    await in_three_moments(hour, address, members)
    hour.problems += [problem for member in members for problem in member.tab.problems]
    await asyncio.gather(*(member.tab.close() for member in members))
    return hour


async def with_room(address, sessions, file):
    """The room from its opening to the moment in which the server is killed; who was in it."""
    await warm_up(address, server_of(address))
    board = Board(address)
    await board.tab.open()
    await board.press("open", then="ask_sign")
    code = board.tab.link()["room"]
    await board.press("ask_sign", then="show_votes")
    hour, members = assemble(address, sessions, code)
    arrivals = Arrivals(file)
    await asyncio.gather(*(member.come() for member in members))

    start = time.monotonic()
    await in_three_moments(hour, address, members)
    await board.knows("voted", sessions, start)
    hour.behind["voted, a third at one moment"] = behind(board, arrivals, range(sessions), 0, start)

    await asyncio.gather(*(member.prepare("vote") for member in members))
    await board.press("show_votes", then="ask_again")
    start = await ask(hour, board, members, "ask_again")
    await asyncio.gather(*(member.vote(f"second vote of {member.tab.link()['seat']}") for member in members))
    await board.knows("voted", sessions, start)
    name = "voted, all at one moment"
    hour.behind[name] = behind(board, arrivals, range(sessions), sessions, start)
    hour.pressed[name] = [board.first("voted", 1 + place, start) - start for place in range(sessions)]
    check(hour, file, members, code, rounds=2)

    await board.press("show_votes", then="end_question")
    start = time.monotonic()
    await board.press("end_question", then="ask_sign")
    await board.knows("guessed", sessions, start)  # which nothing tells beside a vote
    if board.first("guessed", sessions, start) == inf:
        hour.wrong.append(f"the board says {board.told['guessed'][-1:]} of {sessions} guesses")
    await ask(hour, board, members, "ask_sign")
    sending = [asyncio.create_task(member.vote(f"last vote of {member.tab.link()['seat']}")) for member in members]
    while len(arrivals.times["voted"]) < 2 * sessions + sessions // 3:
        await asyncio.sleep(LOOK_EVERY)
    server_of(address).kill()
    await asyncio.gather(*sending, return_exceptions=True)
    await arrivals.stop()
    # That the line was cut is our doing.
    cut = "connection closed by the server"
    tabs = [board.tab, *(member.tab for member in members)]
    hour.problems += [problem for tab in tabs for problem in tab.problems if not problem.startswith(cut)]
    return hour, members, board.tab


async def ask(hour, board, members, name):
    """The leader asks; when all have the question on their pages, the time."""
    for member in members:
        member.tab.widgets = {}
    asked = time.monotonic()

    async def see(member):
        await member.until(member.can_vote)
        hour.asked.append(time.monotonic() - asked)

    await asyncio.gather(board.press(name, then="show_votes"), *(see(member) for member in members))
    await asyncio.sleep(CALM)
    return time.monotonic()


def behind(board, arrivals, places, before, since):
    """For each vote that arrived, how long it was until the board counted it."""
    return [board.first("voted", 1 + place, since) - arrivals.times["voted"][before + place] for place in places]


def check(hour, file, members, code, rounds):
    """Whether all that people did is in the store, once each."""
    store = RoomStore(f"sqlite:///{file}")
    room = store.read(code)
    store.dispose()
    for number, called in zip(range(1, rounds + 1), ("first", "second"), strict=False):
        votes = room.questions[0].of_round(number)
        sent = sorted(f"{called} vote of {member.tab.link()['seat']}" for member in members)
        if sorted(vote.reason for vote in votes) != sent or len({vote.person_number for vote in votes}) != len(sent):
            hour.wrong.append(f"{called} vote: {len(votes)} in the store of {len(sent)} sent")
    guessed = sum(map(len, room.guesses.values()))
    if guessed != len(members):
        hour.wrong.append(f"{guessed} guesses of {len(members)}")
    told = sorted(person.link for person in room.people if not person.leads)
    if told != sorted(link_of_model(member.moves[-1].setting) for member in members):
        hour.wrong.append("settings that people stand at are not those they moved to")
    return room


async def after_the_kill(address, file, hour, members, leader):
    """Whether everybody has her seat, and every vote that a page said was in; the others send theirs again."""
    code = members[0].code
    said = {member.reason for member in members if member.voted == member.reason}
    room = check(hour, file, members, code, rounds=2)
    kept = {vote.reason for vote in room.questions[1].votes}
    if said - kept:
        hour.wrong.append(f"{len(said - kept)} votes that were said to be in are lost")
    if len(room.people) != len(members) + 1:
        hour.wrong.append(f"{len(room.people) - 1} people of {len(members)} are left")
    board = Board(address)
    board.tab = Tab(address, "room", leader.query, board._note, cookie=leader.cookie)
    await board.tab.open()
    await board.ready(WORDS["room.show_votes"])
    await asyncio.gather(*(member.come_again(address) for member in members))
    lost = [member for member in members if not member.can_vote()]
    if lost:
        hour.wrong.append(f"{len(lost)} seats lost")
    start = time.monotonic()
    left = [member for member in members if member not in lost and member.reason not in kept]
    await asyncio.gather(*(member.vote(member.reason) for member in left))
    await board.knows("voted", len(members), start)
    if board.told["voted"][-1][1] != len(members):
        hour.wrong.append(f"after the kill the board counts {board.told['voted'][-1][1]} votes of {len(members)}")
    tabs = [board.tab, *(member.tab for member in members)]
    hour.problems += [problem for tab in tabs for problem in tab.problems]
    await asyncio.gather(*(tab.close() for tab in tabs if not tab.closed))
    return len(said), len(kept)


@contextmanager
def logged(environment):
    """A server whose first fault is printed."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with serve(environment=environment, log=log) as address:
            yield address
        _, _, fault = log.read_text().partition("Traceback")
        if fault:
            print(f"The first fault of a server:{fault[:6000]}")


def measure(sessions):
    """The two runs, one after the other: without a room, and with one."""
    usual = BY_ITSELF | {"COMMOD_DATABASE_URL": ""}

    def alone():
        with logged(usual) as address:
            return asyncio.run(without_room(address, sessions))

    async def killed(file):
        environment = {**usual, "COMMOD_ROOMS_FILE": str(file)}
        with logged(environment) as address:
            hour, members, leader = await with_room(address, sessions, file)
        with logged(environment) as address:
            return hour, await after_the_kill(address, file, hour, members, leader)

    plain = alone()
    with TemporaryDirectory() as folder:
        hour, kept = asyncio.run(killed(Path(folder) / "rooms.sqlite"))
    return plain, hour, kept


def judge(sessions):
    """Hold a room against what was asked for."""
    load = os.getloadavg()[1]
    plain, hour, (said, kept) = measure(sessions)
    verdict = Verdict(sessions)
    problems = [problem for each in (plain, hour) for problem in each.problems]
    behind = [seconds for each in hour.behind.values() for seconds in each]
    first = statistics.median(hour.firsts)
    base = statistics.median(plain.firsts)
    text = f"{first / base:.2f}× ({milliseconds(first)} against {milliseconds(base)}; {len(hour.firsts)} people)"
    wrong = [*plain.wrong, *hour.wrong]
    killed = f"{said} pages had said that the vote is in, {kept} were kept; {most_common(wrong) or 'nothing lost'}"
    verdict.requirements = [
        Requirement("errors", "none", most_common(problems) or "none", not problems),
        Requirement("guesses and votes counted once, killed in the middle", "all", killed, not wrong),
        Requirement(
            "board behind what has arrived, 95 %",
            f"≤ {MAX_BEHIND:g} s",
            f"{share(behind, 0.95):.2f} s (median {statistics.median(behind):.2f} s, {max(behind):.2f} s at the most)",
            share(behind, 0.95) <= MAX_BEHIND,
        ),
        Requirement("first pictures of the others, median", f"≤ {MAX_SLOWER:g}×", text, first <= MAX_SLOWER * base),
    ]
    verdict.waits = [
        waits_of("new settings without a room", [move for person in plain.crowd.people for move in person.moves]),
        waits_of("new settings in the room", [move for person in hour.crowd.people for move in person.moves]),
    ]
    for name, seconds in (
        *((f"board behind: {what}", times) for what, times in hour.behind.items()),
        *((f"all pressed to the board: {what}", times) for what, times in hour.pressed.items()),
        ("question asked to everybody's page", hour.asked),
        ("first pictures of the others without a room", plain.firsts),
        ("first pictures of the others with a room", hour.firsts),
    ):
        spread = f"median {statistics.median(seconds):.2f} s, 95 % {share(seconds, 0.95):.2f} s"
        verdict.notes.append(f"{name}: {spread}, {max(seconds):.2f} s at the most ({len(seconds)} times)")
    verdict.notes.append(f"{sessions} people; load of the machine before the run {load:.1f}.")
    return verdict


def share(values, part):
    """The value that so many are at most."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
