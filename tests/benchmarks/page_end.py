"""When the last parts of Explore are there after a move: ``python -m tests.benchmarks.page_end [--people 30]``.

Over websockets. One person alone moves λ_fair, whose refits know the way up from the last move, then λ_ratio, whose
refits know nothing; with ``--people``, so many move for a while and then all at one moment, each to a setting that
nobody has asked for, and that last move is measured. ``--simulate`` lets the server's own queue work through the same
jobs as sleep, with as many processes as a machine of so many cores would have.
"""

import argparse
import asyncio
import json
import statistics
import time
from dataclasses import replace
from math import inf

from streamlit.proto.WidgetStates_pb2 import WidgetState

from commod.charts.pareto import SWEEP
from commod.dashboard.jobs import tasks
from commod.dashboard.jobs.queue import JobStage, WorkQueue
from commod.dashboard.jobs.scheduling import Priority
from commod.dashboard.jobs.tasks import PART
from commod.dashboard.model import training
from commod.dashboard.state.settings import GRIDS, defaults, in_words
from tests.benchmarks.crowd import BY_ITSELF, Crowd, Ours, Person, at_rest, served, warm_up
from tests.benchmarks.faults import server_of
from tests.wire import data_of

PATIENCE = 40.0
PAUSE = 1.0  # of one person alone, once all parts are there
PARTS = ("tree", "SHAP", "sweep", "refits, first answer", "refits, all")


def part_of(kind, element):
    """Which part of the page an element completes, if any."""
    if kind == "metric":
        return {"F1 of the tree on test": "tree", "Rank agreement of the two": "SHAP"}.get(element.label)
    if kind == "vega_lite_chart" and element.id.endswith("-pareto"):
        return "sweep" if SWEEP in data_of(element)["kind"].to_pylist() else None
    if kind == "markdown" and "trained on other samples of people" in element.body:
        return "refits, first answer" if "% computed" in element.body else "refits, all"
    return None


class Watcher(Person):
    """A person who notes when each part of the page is there."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.seen = {}  # number of the move to what was seen

    def _note(self, kind, element):
        super()._note(kind, element)
        if kind == "bidi_component" and element.component_name.endswith("commod_below"):  # as if it were on the screen
            self.tab.states[element.id] = WidgetState(id=element.id, json_value=json.dumps({"near": True}))
        if not self.moves or self.moves[-1].answered == inf:
            return
        name, now = part_of(kind, element), time.monotonic() - self.moves[-1].sent
        parts = self.seen.setdefault(len(self.moves), {})
        if name is not None:
            parts.setdefault(name, now)
        if name == "refits, all":  # there may have been no need for a first answer
            parts.setdefault("refits, first answer", now)

    def is_complete(self):
        """Whether every part of the last move is there."""
        return len(self.seen.get(len(self.moves), {})) == len(PARTS)

    async def go_to(self, setting):
        """Move to a setting and wait for every part."""
        self._choose = lambda seen: setting
        await self.move(seen=False)
        await self.tab.until(self.is_complete, PATIENCE)
        times = {name: f"{seconds:.2f}" for name, seconds in self.seen.get(len(self.moves), {}).items()}
        print(in_words(setting), times, flush=True)
        await asyncio.sleep(PAUSE)


async def alone(address, data, moves):
    """What one person sees of moves along λ_fair, and of moves along λ_ratio."""
    await warm_up(address, server_of(address))
    person = Watcher(Crowd(Ours), address, 0)
    person.here = defaults(data)
    person.tab.query = f"data={data}"
    await person.open()
    await asyncio.sleep(PAUSE)
    await at_rest(server_of(address), 30)
    found = {}
    for name in ("lambda_fair", "lambda_ratio"):
        others = [value for value in GRIDS[name] if value not in (0.0, getattr(person.here, name))][-moves:]
        first = len(person.moves)
        for value in others:
            await person.go_to(replace(person.here, **{name: value}))
        found[f"{data}, alone, moves of {name}"] = [person.seen.get(n + 1, {}) for n in range(first, len(person.moves))]
    await person.tab.close()
    return found


async def together(address, people, seconds):
    """What people see of a move that all make at one moment, after some seconds of moves."""
    await warm_up(address, server_of(address))
    crowd = Crowd(Ours)
    everybody = [Watcher(crowd, address, number) for number in range(people)]
    await asyncio.gather(*(person.open() for person in everybody))
    until = time.monotonic() + seconds
    await asyncio.gather(*(person.live(until) for person in everybody))
    await asyncio.gather(*(person.move(seen=False) for person in everybody))
    await asyncio.gather(*(person.tab.until(person.is_complete, PATIENCE) for person in everybody))
    seen = [person.seen.get(len(person.moves), {}) for person in everybody]
    await asyncio.gather(*(person.tab.close() for person in everybody))
    return {f"{people} people at one moment": seen}


def tell(found):
    """A line for each part: median and 95 % of the seconds; what never came counts as never."""
    for title, moves in found.items():
        print(f"\n{title} ({len(moves)} moves), seconds after the move: median, 95 %")
        for name in (*PARTS, "the whole page"):
            times = sorted(max(m.get(part, inf) for part in (PARTS if name not in PARTS else (name,))) for m in moves)
            most = times[min(len(times) - 1, int(0.95 * len(times)))]
            print(f"  {name:22} {statistics.median(times):6.2f} {most:6.2f}")


# ---- beyond the cores of this machine ----


def measured(data="law_school"):
    """Seconds of a core of each job behind a move to a new setting: name to (priority, seconds each, how many)."""
    settings = defaults(data)
    result = training.fit_result(settings)
    result.shap()

    def seconds(function, *arguments):
        started = time.process_time()
        function(*arguments)
        return time.process_time() - started

    parts = -(-training.n_refits(result.scene) // PART["rows"])
    refit = seconds(tasks.some_refits, result, "rows", 0, PART["rows"], None)
    split = seconds(tasks.some_refits, result, "splits", 0, PART["splits"], None)
    other = replace(settings, lambda_ratio=GRIDS["lambda_ratio"][-1])
    return {
        "tree": (Priority.EXPLAIN, seconds(tasks.tree.compute, result, settings.depth), 1),
        "SHAP": (Priority.BACKGROUND, seconds(tasks.FitResult.shap, result), 1),
        "merit": (Priority.BACKGROUND, seconds(tasks.merit.compute, result), 1),
        "sweep": (Priority.BACKGROUND, seconds(tasks.sweep.compute, result.scene, settings.fairness, "commod"), 1),
        "refits, first": (Priority.FIRST_REFITS, refit, 1),
        "other splits": (Priority.REFITS, split, 2),
        "refits, rest": (Priority.REFITS, refit, parts - 1),
        "ahead": (Priority.LINE, seconds(training.fit_result, other), 30),
    }


def simulate(cores, background, jobs):
    """Seconds until each kind of job is done where `background` processes share `cores`, all else being idle."""
    queue = WorkQueue(1, background)
    slower = max(1.0, background / cores)
    tickets = [
        (name, queue.submit((name, i), JobStage(lambda _, s=seconds: time.sleep(slower * s), priority)))
        for name, (priority, seconds, count) in jobs.items()
        for i in range(count)
    ]
    started, done = time.monotonic(), {}
    left = list(tickets)
    while left:
        time.sleep(0.005)
        for name, ticket in [pair for pair in left if pair[1].has()]:
            done[name] = time.monotonic() - started
            left.remove((name, ticket))
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="law_school")
    parser.add_argument("--moves", type=int, default=6, help="of each slider, alone")
    parser.add_argument("--people", type=int, help="so many, instead of one alone")
    parser.add_argument("--seconds", type=float, default=20, help="for which they move before")
    parser.add_argument("--apart", action="store_true", help="the server gets two cores, the people all others")
    parser.add_argument("--simulate", action="store_true", help="the queue with 2 to 16 cores, jobs as sleep")
    arguments = parser.parse_args()
    if arguments.simulate:
        jobs = measured(arguments.data)
        print("seconds of a core:", {name: f"{count} × {seconds:.2f}" for name, (_, seconds, count) in jobs.items()})
        for cores in (2, 4, 8, 16):
            for background in sorted({max(1, cores // 4), max(3, cores)}):
                done = simulate(cores, background, jobs)
                told = ", ".join(f"{name} {seconds:.2f}" for name, seconds in done.items())
                print(f"{cores:2} cores, {background:2} in the background: {told}")
        return
    with served("app.py", apart=arguments.apart, environment=BY_ITSELF | {"COMMOD_WARM_UP": "1"}) as address:
        if arguments.people:
            tell(asyncio.run(together(address, arguments.people, arguments.seconds)))
        else:
            tell(asyncio.run(alone(address, arguments.data, arguments.moves)))


if __name__ == "__main__":
    main()
