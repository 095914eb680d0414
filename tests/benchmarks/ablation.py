"""What each scheduling piece is worth, and whether an older checkout was quicker, by the same crowd in turn.

``python -m tests.benchmarks.ablation`` drives thirty sessions against the server as it is, and against servers that go
without one piece of `commod.dashboard.jobs.scheduling` each; ``--old PATH`` against another checkout of this project in
place of these. The variants take turns, so that a slow minute of the machine hits all of them, and every figure is
printed with its spread over the runs: the smallest and the largest.
"""

import argparse
import asyncio
import statistics
from math import inf
from pathlib import Path

from commod.dashboard.jobs.scheduling import PIECES
from tests.benchmarks.crowd import Ours, load
from tests.benchmarks.crowd_report import middle
from tests.browsing import ROOT, serve

COLUMNS = {
    "seen": "seen before (ms)",
    "new": "new (ms)",
    "rush": "all at once (ms)",
    "first": "first picture (ms)",
    "end": "page complete (ms)",
}


def measure(root, environment, sessions, seconds):
    """Median waits in milliseconds of one crowd."""
    # As many processes as the server takes by itself, under the name of today and of earlier versions.
    quiet = {"COMMOD_PROCESSES": "", "COMMOD_HANDS": ""}
    with serve("app.py", environment=quiet | environment, root=root) as address:
        crowd = asyncio.run(load(Ours, address, sessions, seconds))
    moves = crowd.moves()
    problems = [problem for person in crowd.people for problem in person.tab.problems]
    assert not problems, problems[:3]
    ends = [move.finished - move.sent for move in moves if move.finished < inf]
    waits = {
        "seen": middle([move for move in moves if move.seen]),
        "new": middle([move for move in moves if not move.seen]),
        "rush": middle(crowd.rush),
        "first": statistics.median(person.first for person in crowd.people),
        "end": statistics.median(ends) if ends else inf,
    }
    return {name: 1e3 * value for name, value in waits.items()}


def in_turn(variants, runs, sessions, seconds):
    """Variant to its figures, one for each run."""
    found = {name: [] for name in variants}
    for number in range(runs):
        for name, (root, environment) in variants.items():
            found[name].append(measure(root, environment, sessions, seconds))
            print(f"run {number + 1}, {name}: {found[name][-1]}", flush=True)
    return found


def as_table(found):
    """Median over the runs, and in brackets the smallest and the largest."""
    lines = [f"| | {' | '.join(COLUMNS.values())} |", f"|---|{'---|' * len(COLUMNS)}"]
    for name, figures in found.items():
        cells = []
        for column in COLUMNS:
            values = [figure[column] for figure in figures]
            cells.append(f"{statistics.median(values):.0f} [{min(values):.0f}, {max(values):.0f}]")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--old", type=Path, help="another checkout, measured in place of the pieces")
    parser.add_argument("--pieces", default=",".join(PIECES), help="names, parted by commas (default: all)")
    parser.add_argument("--out", type=Path, help="write the table into this file (Markdown)")
    arguments = parser.parse_args()
    variants = {"as it is": (ROOT, {})}
    if arguments.old:
        variants = {"old": (arguments.old.absolute(), {}), "new": (ROOT, {})}
    else:
        variants |= {f"without {name}": (ROOT, {"COMMOD_WITHOUT": name}) for name in arguments.pieces.split(",")}
    table = as_table(in_turn(variants, arguments.runs, arguments.sessions, arguments.seconds))
    print(table)
    if arguments.out:
        arguments.out.write_text(table + "\n")


if __name__ == "__main__":
    main()
