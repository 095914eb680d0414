"""Thirty people at once, or two hundred, over websockets: ``python -m tests.benchmarks.crowd [--sessions 200]``.

Each moves a slider every 2 to 4 seconds, whether or not the last move has been answered; beyond thirty, more rarely, so
that there are ten moves a second however many they are. As in a browser, a move asks ``GET /model`` for the first
picture and then Streamlit for the rest of the page. Half of the moves go to
settings that somebody has seen, half to new ones. At the end all move at the same moment, each to a setting of its own.
Meanwhile others do what nobody should (``faults.py``), and beside more than thirty people three bring the largest files
and want a random forest as f (``upload.py``). The floor app has the same crowd, in a server of its own, before
and after: on two cores the two would disturb each other. With ``--apart`` the server has two cores and the crowd all
others, as in a class, where everybody brings a computer. With ``--report`` the load goes on for ten minutes, for the
memory, and uploads are fuzzed afterwards.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import psutil
from websockets.exceptions import InvalidStatus

from commod.charts.pareto import CURRENT
from commod.dashboard.state.link import to_link
from commod.dashboard.state.settings import GRIDS, STOPS, Settings, defaults, in_words
from tests.benchmarks import upload
from tests.benchmarks.crowd_report import as_text, judge, write
from tests.benchmarks.faults import misbehave, server_of
from tests.browsing import serve
from tests.test_balanced import balance
from tests.wire import Fetcher, Tab, data_of

LABELS = {
    "lambda_fair": "Fairness (λ_fair)",
    "lambda_ratio": "Stay near f (λ_ratio)",
    "lambda_concepts": "Few features (λ_concepts)",
}
STEPS = {**GRIDS, "lambda_fair": STOPS}
USUAL = 30
# Two of three look at what the app opens with.
DATA = ("law_school", "law_school", "compas")
PAUSE = (2.0, 4.0)
EVERY = 5.0  # seconds between two looks at the memory
# As many processes and refits as the server takes by itself, and all pieces of its scheduling.
BY_ITSELF = {"COMMOD_PROCESSES": "", "COMMOD_REFITS": "", "COMMOD_PREFETCH": "", "COMMOD_BACKGROUND": ""}


class Ours:
    """Where the Explore page says which setting it shows."""

    script = "app.py"
    sliders = tuple(LABELS)
    chances = (3, 1, 1)

    @staticmethod
    def words(setting):
        return in_words(setting)

    @staticmethod
    def shown(chart):
        if not chart.id.endswith("-pareto"):
            return None
        table = data_of(chart)
        return table["settings"][table["kind"].to_pylist().index(CURRENT)].as_py()


class Floor:
    """The same of the app with one slider, one chart and no computing."""

    script = "tests/benchmarks/floor_app.py"
    sliders = ("lambda_fair",)
    chances = (1,)

    @staticmethod
    def words(setting):
        return f"{setting.lambda_fair:g}"

    @staticmethod
    def shown(chart):
        return f"{data_of(chart)['x'][0].as_py():g}"


@dataclass
class Move:
    """A slider moved, and when it was answered."""

    setting: Settings
    seen: bool  # somebody had been shown this setting when it was asked for
    sent: float
    run: int  # runs of the script begun before
    answered: float = inf  # the first picture is there; never, if the next move came first
    drawn: float = inf  # the chart with the new point is there, too
    addressed: float = inf  # the address says it, too: the page is complete but for what is computed last
    finished: float = inf

    @property
    def wait(self):
        return self.answered - self.sent


@dataclass
class Crowd:
    """What all people of a run share, and what was observed."""

    app: type
    slowness: float = 1.0  # how much more rarely each moves, and how much longer all at once may take, than with thirty
    started: float = 0.0
    asked: set = field(default_factory=set)
    answered: set = field(default_factory=set)
    people: list = field(default_factory=list)
    outside: list = field(default_factory=list)  # for whom there was no place
    memory: list = field(default_factory=list)  # (seconds, bytes, threads)
    faults: list = field(default_factory=list)
    rush: list = field(default_factory=list)  # the moves that all made at one moment
    uploads: list = field(default_factory=list)
    newcomer: float = inf  # seconds for a new setting when all is over
    idle: float = inf  # share of a core that the server uses when all are gone

    @property
    def pause(self):
        """Seconds between two moves of a person, from and to."""
        return tuple(self.slowness * seconds for seconds in PAUSE)

    def moves(self, until=inf):
        """All moves but the last, which is the rush."""
        return [m for person in self.people for m in person.moves[:-1] if m.sent - self.started <= until]


@dataclass
class Upload:
    """A large file brought: how long each step took, and what went wrong."""

    steps: dict = field(default_factory=dict)  # name to seconds
    full: str = ""  # the sentence of a server that can hold no more
    trouble: str = ""


class Person:
    """One session: moves sliders and notes what comes back."""

    def __init__(self, crowd, address, number):
        self.crowd, self.rng = crowd, random.Random(number)
        self.here = defaults(DATA[number % len(DATA)])
        query = f"data={self.here.data}" if crowd.app is Ours else ""
        # Everybody at an address of their own, as a proxy on this machine would tell.
        at = {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"}
        self.tab = Tab(address, query=query, on_element=self._note, headers=at)
        self.fetcher = Fetcher(address, {**at, "Cookie": self.tab.cookie})
        self.following = None
        self.moves = []
        self.full = ""  # the sentence, if there was no place
        self.first = inf  # seconds to the first chart
        self.opened = 0.0
        self.places = []  # each n of "n before you"
        self.lost = False  # the connection was gone before we hung up

    async def open(self):
        self.opened = time.monotonic()
        try:
            await self.tab.open()
        except InvalidStatus:
            self.full = await asyncio.to_thread(sentence_outside, self.tab.address)
            return
        wanted = [LABELS[name] for name in self.crowd.app.sliders]
        await self.tab.until(lambda: self.first < inf and all(label in self.tab.widgets for label in wanted), 120)

    async def live(self, until):
        """Move a slider every few seconds."""
        while True:
            pause = self.rng.uniform(*self.crowd.pause)
            if time.monotonic() + pause > until or self.tab.closed:
                return
            await asyncio.sleep(pause)
            await self.move(seen=self.rng.random() < 0.5)

    async def move(self, seen):
        """Move one slider, to a setting seen before or to a new one; to the other kind if there is none."""
        setting = self._choose(seen) or self._choose(not seen) or self._choose(None)
        name = next(name for name in LABELS if getattr(setting, name) != getattr(self.here, name))
        self.here = setting
        known = setting in self.crowd.answered
        self.crowd.asked.add(setting)
        self.moves.append(Move(setting, known, time.monotonic(), self.tab.runs))
        if self.crowd.app is Ours:
            self.stop_following()
            self.following = asyncio.create_task(self._follow(self.moves[-1]))
        await self.tab.rerun({LABELS[name]: [f"{getattr(setting, name):g}"]})

    async def _follow(self, move):
        """Fetch the picture of a move as the component does: the first one, and then the complete one."""
        path, complete = f"/model?{urlencode(to_link(move.setting))}", False
        try:
            while not complete:
                status, content = await self.fetcher.get(path)
                document = json.loads(content)
                if document["status"] == "queued":
                    self.places.append(document["position"])
                    continue
                if status != 200:
                    self.tab.problems.append(f"GET /model: {status} {document.get('reason')}")
                    return
                if move.answered == inf:
                    move.answered = time.monotonic()
                    self.crowd.answered.add(move.setting)
                complete, path = document["complete"], f"{path}&wait=complete"
        except (OSError, EOFError) as error:  # a connection that was cut
            self.tab.problems.append(f"GET /model: {error!r}")
        finally:
            self.tab._change.set()

    def stop_following(self):
        """Abort the request of the last move."""
        if self.following is not None and not self.following.done():
            self.following.cancel()
            self.fetcher.abort()

    async def leave(self):
        """Close the tab."""
        self.stop_following()
        self.fetcher.abort()
        if not self.tab.closed:
            await self.tab.close()

    def _choose(self, seen):
        """A neighbour that somebody was shown, or that nobody has asked for, or (None) any; None if there is none."""
        names = list(self.crowd.app.sliders)
        weights = list(self.crowd.app.chances)
        while names:
            name = self.rng.choices(names, weights)[0]
            weights.pop(names.index(name))
            names.remove(name)
            others = [replace(self.here, **{name: v}) for v in STEPS[name] if v != getattr(self.here, name)]
            if seen:
                others = [s for s in others if s in self.crowd.answered]
            elif seen is False and self.crowd.app is Ours:
                others = [s for s in others if s not in self.crowd.asked]
            if others:
                return self.rng.choice(others)
        return None

    def _note(self, kind, element):
        now = time.monotonic()
        if kind == "progress" and "before you" in element.text:
            self.places.append(int(element.text.split(" before")[0].rsplit(" ", 1)[1]))
        elif kind == "address" and self.moves and self.tab.link() == to_link(self.moves[-1].setting):
            self.moves[-1].addressed = min(self.moves[-1].addressed, now)
        elif kind == "finished" and self.moves and self.moves[-1].answered < inf:
            self.moves[-1].finished = min(self.moves[-1].finished, now)
        elif kind == "vega_lite_chart" and (shown := self.crowd.app.shown(element)):
            if not self.moves:
                self.first = min(self.first, now - self.opened)
                self.crowd.answered.add(self.here)
                return
            last = self.moves[-1]
            if last.drawn == inf and self.tab.runs > last.run and shown == self.crowd.app.words(last.setting):
                last.drawn = now
                if self.crowd.app is not Ours:
                    last.answered = now

    def at_the_end(self):
        """Whether the last setting was answered, by the chart and, in our app, in the address."""
        if not self.moves or inf in (self.moves[-1].answered, self.moves[-1].drawn):
            return False
        return self.crowd.app is not Ours or self.tab.link() == to_link(self.here)


def sentence_outside(address):
    """What the page says to those for whom there is no place."""
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return f"status {answer.status}, though the websocket was refused"
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        return text.partition("<p>")[2].partition("</p>")[0] if error.code == 503 else f"status {error.code}"


async def bring_large(address, crowd, content):
    """A stranger with the largest file: brings it, uses it, opens it, wants a random forest, goes; and again."""
    while True:
        guest, note = upload.Stranger(address), Upload()
        crowd.uploads.append(note)

        async def forest(guest=guest):
            done = guest.tab.finished
            await guest.tab.rerun({"Base model f": "Random forest"})
            await guest.tab.until(lambda: guest.tab.finished > done, upload.PATIENCE)

        steps = {
            "read": lambda: guest.bring("people.csv", content),  # noqa: B023 - called in this round
            "used": lambda: guest.press("Use these data"),  # noqa: B023
            "opened": guest.explore,
            "random forest": forest,
        }
        try:
            for name, step in steps.items():
                started = time.monotonic()
                await step()
                note.steps[name] = time.monotonic() - started
        except Exception as error:
            note.trouble = f"{type(error).__name__}: {error}"
        finally:
            said = [problem for problem in guest.tab.problems if "ry again" in problem]
            note.full = said[0] if said else ""
            wrong = [problem for problem in guest.tab.problems if problem not in said]
            note.trouble = "" if said else "; ".join(wrong) or note.trouble
            if not guest.tab.closed:
                await guest.tab.close()
        await asyncio.sleep(PAUSE[1])


def family_of(process, measure):
    """What `measure` gives for a process and its children, by id; those that end meanwhile are left out."""
    found = {}
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            found[member.pid] = measure(member)
    return found


def resident(process):
    """Bytes that a process and its children hold in memory, shared ones once, and its threads."""
    return sum(family_of(process, lambda each: each.memory_full_info().pss).values()), process.num_threads()


async def watch(crowd, process):
    """Note the memory every few seconds."""
    while True:
        crowd.memory.append((time.monotonic() - crowd.started, *resident(process)))
        await asyncio.sleep(EVERY)


async def at_rest(process, patience=60):
    """Wait until a server and its processes have started and do nothing."""
    await asyncio.sleep(10)  # until it has loaded its modules and begun to start them
    until, before = time.monotonic() + patience, {}
    while time.monotonic() < until:
        used = family_of(process, lambda each: sum(each.cpu_times()[:2]))
        if before and sum(max(0.0, used[pid] - before.get(pid, 0.0)) for pid in used) < 0.05:
            return
        before = used
        await asyncio.sleep(1)


async def warm_up(address, process, patience=60.0, data=("",)):
    """A visitor for each of `data`, until the page is complete; then a while, for a server compiles and climbs."""
    for name in data:
        visitor = await Tab(address, query=name and f"data={name}").open()
        await visitor.until(lambda visitor=visitor: visitor.finished > 0, 180)
        await visitor.close()
    await at_rest(process, patience)


async def load(
    app,
    address,
    sessions,
    seconds,
    *,
    trouble=False,
    visit=True,
    patience=60.0,
    uploaders=0,
    process=None,
    ready=0.0,
):
    """A crowd for some seconds; what was observed."""
    crowd = Crowd(app, slowness=max(1.0, sessions / USUAL))
    patience *= crowd.slowness
    process = process or server_of(address)
    if visit:
        await (warm_up(address, process, ready, sorted({*DATA})) if ready else warm_up(address, process))
    crowd.people = [Person(crowd, address, number) for number in range(sessions)]
    crowd.started = time.monotonic()
    watching = asyncio.create_task(watch(crowd, process))
    beside = [asyncio.create_task(misbehave(address, crowd))] if trouble else []
    content = upload.table().to_csv(index=False).encode() if uploaders else b""
    beside += [asyncio.create_task(bring_large(address, crowd, content)) for _ in range(uploaders)]
    until = crowd.started + seconds

    async def live(person):
        await person.open()
        if not person.full:
            await person.live(until)

    await asyncio.gather(*(live(person) for person in crowd.people))
    await asyncio.sleep(max(0.0, until + PAUSE[0] - time.monotonic()))
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    crowd.outside = [person for person in crowd.people if person.full]
    crowd.people = [person for person in crowd.people if not person.full]
    await asyncio.gather(*(person.move(seen=False) for person in crowd.people))
    crowd.rush = [person.moves[-1] for person in crowd.people]
    await asyncio.gather(*(person.tab.until(person.at_the_end, patience) for person in crowd.people))
    crowd.memory.append((time.monotonic() - crowd.started, *resident(process)))
    watching.cancel()
    for person in crowd.people:
        person.lost = person.tab.closed
    if trouble:
        await aftermath(crowd, address, process)
    await asyncio.gather(*(person.leave() for person in crowd.people))
    return crowd


async def aftermath(crowd, address, process):
    """Whether every place at work is free again: how long a newcomer waits, and what the server does when all rest."""
    patience = 60 * crowd.slowness
    await asyncio.gather(*(p.tab.until(lambda p=p: p.moves[-1].finished < inf, patience) for p in crowd.people))
    newcomer = Person(crowd, address, len(crowd.people))
    await newcomer.open()
    await newcomer.move(seen=False)
    await newcomer.tab.until(lambda: newcomer.moves[-1].finished < inf, 60)
    crowd.newcomer = newcomer.moves[-1].wait
    await newcomer.leave()
    process.cpu_percent()
    await asyncio.sleep(3)
    crowd.idle = process.cpu_percent() / 100


@contextmanager
def served(script, *, apart, environment=BY_ITSELF):
    """A server for a crowd. If they are `apart`, it has two cores, and the crowd has the others."""
    cores = os.sched_getaffinity(0)
    if apart and len(cores) < 3:
        sys.exit("--apart needs a machine with more than two cores.")
    two = set(sorted(cores)[:2]) if apart else cores
    try:
        os.sched_setaffinity(0, two)  # which the server inherits
        with serve(script, environment=environment) as address:
            os.sched_setaffinity(0, cores - two or cores)
            yield address
    finally:
        os.sched_setaffinity(0, cores)


def run(app, sessions, seconds, *, apart=False, **options):
    with served(app.script, apart=apart) as address:
        return asyncio.run(load(app, address, sessions, seconds, **options))


def run_behind_nginx(sessions, seconds):
    """The crowd at two app processes, nginx in front of them; the memory is that of the first."""
    with ExitStack() as stack:
        addresses = [stack.enter_context(serve(Ours.script, environment=BY_ITSELF)) for _ in range(2)]
        processes = [server_of(address) for address in addresses]
        for address, process in zip(addresses, processes, strict=True):
            asyncio.run(warm_up(address, process))
        folder = Path(stack.enter_context(TemporaryDirectory()))
        front, _ = stack.enter_context(balance(folder, *addresses))
        return asyncio.run(load(Ours, front, sessions, seconds, visit=False, process=processes[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, help="30, or 60 in a room")
    parser.add_argument("--uploaders", type=int, help="who bring the largest files (beside more than 30 sessions: 3)")
    parser.add_argument("--seconds", type=float, default=120, help="of load in which waits are measured")
    parser.add_argument("--floor-seconds", type=float, default=40, help="half before and half after")
    parser.add_argument(
        "--memory-seconds", type=float, help="go on with the load until then, for the memory (with --report: 600)"
    )
    parser.add_argument("--report", type=Path, help="write the figures into this file (Markdown)")
    parser.add_argument("--inputs", type=int, help="uploads to fuzz afterwards (with --report: 10000)")
    parser.add_argument(
        "--ready", type=float, default=0.0, help="seconds before, at most, since somebody has looked at each data set"
    )
    parser.add_argument("--no-faults", action="store_true", help="nobody misbehaves")
    parser.add_argument("--apart", action="store_true", help="the server gets two cores, the crowd all others")
    parser.add_argument("--behind-nginx", action="store_true", help="two app processes, and nobody misbehaves")
    parser.add_argument("--room", action="store_true", help="a class in a room, its board open")
    arguments = parser.parse_args()
    if arguments.room:
        from tests.benchmarks import crowd_room  # which builds on this file

        verdict = crowd_room.judge(arguments.sessions or crowd_room.SESSIONS)
        print(as_text(verdict))
        sys.exit(0 if verdict.met else 1)
    sessions = arguments.sessions or USUAL
    memory_seconds = arguments.memory_seconds or (600 if arguments.report else 0)
    inputs = arguments.inputs if arguments.inputs is not None else (10_000 if arguments.report else 0)

    half = arguments.floor_seconds / 2
    floor = [run(Floor, sessions, half, apart=arguments.apart)]
    uploaders = arguments.uploaders if arguments.uploaders is not None else 3 * (sessions > USUAL)
    whole = max(arguments.seconds, memory_seconds)
    if arguments.behind_nginx:
        ours = run_behind_nginx(sessions, whole)
    else:
        beside = {"trouble": not arguments.no_faults, "uploaders": uploaders}
        ours = run(Ours, sessions, whole, apart=arguments.apart, **beside, ready=arguments.ready)
    floor.append(run(Floor, sessions, half, apart=arguments.apart))
    verdict = judge(floor, ours, arguments.seconds, inputs)
    print(as_text(verdict))
    if arguments.report:
        write(arguments.report, verdict)
    sys.exit(0 if verdict.met else 1)


if __name__ == "__main__":
    main()
