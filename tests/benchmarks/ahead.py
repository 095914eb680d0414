"""How often the next step of a slider has been trained ahead: ``python -m tests.benchmarks.ahead [--people 30]``.

People move one slider by one step every 3 to 12 seconds, as in the lesson's steps that say "move it and look": λ_fair
in six of ten moves, λ_ratio in two, λ_concepts and k in one each. Each model is followed by SHAP and refits, as on
Explore. Nobody has recorded a real hour: this is a simulated one, with a queue and processes as the server has them.
"""

import argparse
import random
import time
from collections import Counter
from dataclasses import replace
from threading import Thread

from commod.dashboard.jobs import service, tasks
from commod.dashboard.pages.explore.ahead import all_ahead
from commod.dashboard.state.settings import GRIDS, defaults
from commod.experiments import prepare

DATA = ("law_school", "law_school", "compas")
SLIDERS = {"lambda_fair": 6, "lambda_ratio": 2, "lambda_concepts": 1, "k": 1}
PAUSE = (3.0, 12.0)


class Person(Thread):
    """One session: moves, waits for the model, and leaves the rest to the background."""

    def __init__(self, number, until):
        super().__init__(daemon=True)
        self.rng, self.until = random.Random(number), until
        self.here, self.moves = defaults(DATA[number % len(DATA)]), []

    def run(self):
        kept = {}
        while time.monotonic() < self.until:
            with service.submit(tasks.fit(self.here)) as ticket:
                while not ticket.wait(1.0, 0):
                    pass
                result = ticket.result(0)
                wanted = [tasks.shap(result), tasks.refits(result)]
                if service.can_work_ahead():
                    wanted += all_ahead(self.here, lambda name: True)
                wanted = {task.key: task for task in wanted if service.get(task) is None}
                for key in [key for key in kept if key not in wanted]:
                    kept.pop(key).leave()
                kept |= {key: service.submit(task) for key, task in wanted.items() if key not in kept}
                time.sleep(self.rng.uniform(*PAUSE))
            name = self.rng.choices(list(SLIDERS), SLIDERS.values())[0]
            grid = GRIDS[name]
            place = grid.index(getattr(self.here, name)) + self.rng.choice((-1, 1))
            self.here = replace(self.here, **{name: grid[min(max(place, 0), len(grid) - 1)]})
            self.moves.append((name, service.get(tasks.fit(self.here), 0) is not None))
        for ticket in kept.values():
            ticket.leave()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=5.0)
    arguments = parser.parse_args()
    pool = service.process_pool()  # as a server has it, and its queue
    for data in set(DATA):
        prepare(*defaults(data).scene())
    while not pool.workers or not all(worker.ready for worker in pool.workers):
        time.sleep(0.1)
    people = [Person(number, time.monotonic() + 60 * arguments.minutes) for number in range(arguments.people)]
    for person in people:
        person.start()
    for person in people:
        person.join()
    moves = [move for person in people for move in person.moves]
    total, seen = Counter(name for name, _ in moves), Counter(name for name, known in moves if known)
    print(
        f"{arguments.people} people, {arguments.minutes:g} minutes: {seen.total() / total.total():.0%} of "
        f"{total.total()} one-step moves had been trained"
    )
    for name in total:
        print(f"  {name:16} {seen[name] / total[name]:.0%} of {total[name]}")
    for worker in pool.workers:
        worker.close()


if __name__ == "__main__":
    main()
