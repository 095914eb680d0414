"""What each scheduling piece is worth: ``python -m tests.benchmarks.ablation``.

Thirty sessions (or, with ``--alone``, one person with a mouse) at the server as it is, and at servers that go without
one piece of `commod.dashboard.jobs.scheduling` each. They take turns, and every figure is printed with its spread over
the runs: the smallest and the largest. With all pieces and three runs of 40 seconds it takes about an hour.
"""

import argparse
from pathlib import Path

from commod.dashboard.jobs.scheduling import PIECES
from tests.benchmarks.in_turn import ALONE, CROWD, alone_figures, as_table, crowd_figures, in_turn
from tests.browsing import ROOT


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="one person with a mouse in place of a crowd")
    parser.add_argument("--moves", type=int, default=10, help="of the mouse (default 10)")
    parser.add_argument("--pieces", default=",".join(PIECES), help="names, parted by commas (default: all)")
    parser.add_argument("--out", type=Path, help="write the table into this file (Markdown)")
    arguments = parser.parse_args()
    pieces = arguments.pieces.split(",")
    if unknown := set(pieces) - set(PIECES):
        parser.error(f"There is no piece {', '.join(unknown)}: choose from {', '.join(PIECES)}.")
    variants = {"as it is": ""} | {f"without `{piece}`": piece for piece in pieces}

    def measure(piece):
        if arguments.alone:
            return alone_figures(ROOT, {"COMMOD_WITHOUT": piece}, arguments.moves)
        return crowd_figures(ROOT, {"COMMOD_WITHOUT": piece}, arguments.sessions, arguments.seconds)

    found = in_turn({name: (piece,) for name, piece in variants.items()}, arguments.runs, measure)
    why = {name: PIECES.get(piece, "") for name, piece in variants.items()}
    table = as_table(found, ALONE if arguments.alone else CROWD, why)
    print(table)
    if arguments.out:
        arguments.out.write_text(table + "\n")


if __name__ == "__main__":
    main()
