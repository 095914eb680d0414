"""An older checkout beside this one: ``python -m tests.benchmarks.beside --old PATH``.

The same crowd, and the same person with a mouse, at the apps of both, in turn, by the tools of this checkout. Every
figure is printed with its spread over the runs: the smallest and the largest.
"""

import argparse
from pathlib import Path

from tests.benchmarks.in_turn import ALONE, CROWD, alone_figures, as_table, crowd_figures, in_turn
from tests.browsing import ROOT


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path, required=True, help="the other checkout")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=40, help="of the crowd; 0 for none")
    parser.add_argument("--moves", type=int, default=15, help="of the person alone; 0 for none")
    parser.add_argument("--out", type=Path, help="write the table into this file (Markdown)")
    arguments = parser.parse_args()
    columns = (CROWD if arguments.seconds else {}) | (ALONE if arguments.moves else {})

    def measure(root):
        figures = crowd_figures(root, {}, arguments.sessions, arguments.seconds) if arguments.seconds else {}
        return figures | (alone_figures(root, {}, arguments.moves) if arguments.moves else {})

    variants = {"old": (arguments.old.absolute(),), "new": (ROOT,)}
    found = in_turn(variants, arguments.runs, measure)
    table = as_table(found, columns)
    print(table)
    if arguments.out:
        arguments.out.write_text(table + "\n")


if __name__ == "__main__":
    main()
