"""Do changes make sense? The checks of matched models, as in docs/results.md: ``python -m tests.benchmarks.checks``.

COMMOD's model is that of its sweep, of those that no other beats, whose P-Rule is nearest to a level; each rival's is
the nearest to it in fairness and accuracy, as on the Compare page.
"""

import argparse
import sys
import time

from commod.experiments import prepare, sweep_method
from commod.experiments.checks import COMPARED_REFITS
from commod.experiments.match import match_models
from commod.explain.checks import CHECKS, MARKS
from commod.explain.concepts import in_percent
from commod.metrics.figures import CRITERIA
from commod.models.competitors import METHODS
from tests.checking import checks_of_match


def parser():
    """What can be asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", default="law_school=0.70,compas=0.77,adult=0.64", help="data sets and P-Rules")
    parser.add_argument("--methods", default="frappe,lpp,bayes", help="beside COMMOD")
    parser.add_argument("--fairness", default="demographic_parity")
    parser.add_argument("--seed", type=int, default=0, help="of the split")
    parser.add_argument("--refits", type=int, default=COMPARED_REFITS)
    return parser


def headings(arguments):
    """Of the columns."""
    figure = CRITERIA[arguments.fairness].figure.short_title
    return ["", "", figure, "Accuracy", "Changed", *(check.short for check in CHECKS.values())]


def main():
    arguments = parser().parse_args()
    columns = headings(arguments)
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for part in arguments.levels.split(","):
        data, level = part.split("=")
        for row in rows_of(data, float(level), arguments):
            print(f"| {' | '.join(row)} |", flush=True)


def rows_of(data, level, arguments):
    """A row of the table for each method."""
    started, figure = time.perf_counter(), CRITERIA[arguments.fairness].figure
    scene = prepare(data, seed=arguments.seed)
    names = ["commod", *arguments.methods.split(",")]
    sweeps = {name: sweep_method(scene, name, arguments.fairness) for name in names}
    match = match_models(scene, sweeps, arguments.fairness, chosen(sweeps["commod"].points, level))
    checks = checks_of_match(scene, match, sweeps, arguments.fairness, refits=arguments.refits)
    for place, row in enumerate(match.table.to_dict("records")):
        own = checks[checks["method"] == row["method"]].to_dict("records")
        yield [
            "" if place else data,
            METHODS[row["method"]].title + ("" if row["comparable"] else " (not near)"),
            figure.show(row[figure.name]),
            in_percent(row["accuracy"]),
            f"{row['changed']:,}",
            *(cell(answer) for answer in own),
        ]
    print(f"{data}: {match.table['settings'].tolist()}, {time.perf_counter() - started:.0f} s", file=sys.stderr)


def chosen(points, level):
    """The place of COMMOD's model."""
    return int((points["p_rule"] - level).abs()[points["best"]].idxmin())


def cell(answer):
    """An answer as on the page; of its counts, how many changes are wrong by the record."""
    word, sign = MARKS[answer["mark"]]
    if answer["mark"] == "open":
        return f"{sign} {word}"
    wrong = f", {answer['whole'] - answer['part']:,} wrong" if answer["check"] == "right" else ""
    return f"{sign} {word} {CHECKS[answer['check']].show(answer['value'])}{wrong}"


if __name__ == "__main__":
    main()
