"""Variants of the server measured in turn, so that a slow minute of the machine hits all of them."""

import asyncio
import statistics
from math import inf

from tests.benchmarks import latency
from tests.benchmarks.crowd import BY_ITSELF, Ours, load
from tests.benchmarks.crowd_report import middle
from tests.browsing import chromium, serve

CROWD = {
    "seen": "crowd: seen before (ms)",
    "new": "crowd: new (ms)",
    "rush": "crowd: all at once (ms)",
    "first": "crowd: first picture (ms)",
    "page": "crowd: page but for SHAP and sweep (ms)",
    "complete": "crowd: whole page before the next move (%)",
    "errors": "errors",
}
# The data sets and whether a setting had been seen.
ALONE = {
    (data, what): f"alone: {data}, {what} (ms)" for data in ("law_school", "compas") for what in ("seen before", "new")
}


def crowd_figures(root, environment, sessions, seconds):
    """Median waits of a crowd at the app of a checkout, in milliseconds, and how much went wrong."""
    with serve("app.py", environment=BY_ITSELF | environment, root=root) as address:
        crowd = asyncio.run(load(Ours, address, sessions, seconds))
    moves = crowd.moves()
    waits = {
        "seen": middle([move for move in moves if move.seen]),
        "new": middle([move for move in moves if not move.seen]),
        "rush": middle(crowd.rush),
        "first": statistics.median(person.first for person in crowd.people),
        # Infinite where the next move came first.
        "page": statistics.median([move.addressed - move.sent for move in moves]),
    }
    complete = 100 * statistics.mean([move.finished < inf for move in moves])
    problems = [problem for person in crowd.people for problem in person.tab.problems]
    for problem in problems[:3]:
        print(f"  {problem}", flush=True)
    lost = sum(not person.at_the_end() for person in crowd.people)
    return {name: 1e3 * value for name, value in waits.items()} | {"complete": complete, "errors": len(problems) + lost}


def alone_figures(root, environment, moves):
    """Median waits of one person with a mouse, in milliseconds."""
    found = {}
    environment = latency.USUAL | environment
    with serve("app.py", environment=environment, root=root) as address, chromium() as browser:
        for data in ("law_school", "compas"):
            query = f"?data={data}"
            new, seen = latency.measure(browser, address, latency.OURS, latency.places(moves), query)
            found |= {(data, "new"): statistics.median(new), (data, "seen before"): statistics.median(seen)}
    return found


def in_turn(variants, runs, measure):
    """Variant to its figures, one for each run: `measure` is called with what a variant stands for."""
    found = {name: [] for name in variants}
    for number in range(1, runs + 1):
        for name, what in variants.items():
            figures = measure(*what)
            found[name].append(figures)
            told = ", ".join(f"{key if isinstance(key, str) else ' '.join(key)} {v:.0f}" for key, v in figures.items())
            print(f"run {number} of {runs}, {name}: {told}", flush=True)
    return found


def as_table(found, columns, more=None):
    """Of each figure the median over the runs, and in brackets the smallest and the largest, as Markdown.

    A row for each variant, with the text that `more` has for it; without `more` a row for each figure.
    """
    rows = [["", *columns.values()]]
    for name, figures in found.items():
        rows.append([name, *(_spread([figure[column] for figure in figures]) for column in columns)])
    rows = [[*row, more.get(row[0], "")] for row in rows] if more else list(zip(*rows, strict=True))
    rows.insert(1, ["---"] * len(rows[0]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _spread(values):
    middle, low, high = (
        f"{value:.0f}" if value < inf else "never" for value in (statistics.median(values), min(values), max(values))
    )
    return f"{middle} [{low}, {high}]"
