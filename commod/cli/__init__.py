"""Command line: ``python -m commod fit law_school``, ``… compare my_file.csv --outcome hired``, ``… data list``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commod.cli import commands
from commod.cli.arguments import add_backend, add_data, add_jobs, add_methods, add_model, add_scene, add_update
from commod.cli.output import print_safely, tell
from commod.metrics.figures import CRITERIA


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one sentence on stderr and exit code 2."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments) or 0)
    except BrokenPipeError:  # the reader, head or less, has seen enough
        return 0
    except OSError as error:  # such as a folder that may not be written to
        print_safely(f"commod: {error.filename}: {error.strerror}. Choose another place.", file=sys.stderr)
        return 2
    except ValueError as error:
        tell(f"commod: {error}")
        return 2


def _parser() -> argparse.ArgumentParser:
    command = "commod" if Path(sys.argv[0]).stem == "commod" else "python -m commod"
    parser = argparse.ArgumentParser(prog=command, description="Controlled model debiasing.")
    subcommands = parser.add_subparsers(required=True, metavar="command")

    def add(name: str, run: Any, summary: str, to: Any = subcommands, **more: Any) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = to.add_parser(name, help=summary, **more)
        added.set_defaults(run=run)
        return added

    fit = add("fit", commands.fit, "train f and COMMOD on a data set and print the figures on its test part")
    add_model(fit)
    fit.add_argument("--solver", default="best_response", help="best_response (default) or adversarial")

    check = add("check", commands.check, "do the changes of a model make sense? right or wrong, merit, refits, …")
    add_model(check)
    check.add_argument("--refits", type=int, help="refits on resampled training rows (default: 30 to 80, by size)")

    target = add("target", commands.target, "find the setting that is fair enough and changes few enough decisions")
    add_data(target)
    target.add_argument("--min-fairness", type=float, default=0.8, help=f"least {_any_fairness()} (default 0.8)")
    target.add_argument("--max-change", type=float, default=0.08, help="largest share of changes (default 0.08)")
    target.add_argument("--max-sure", type=float, help="of the changes, the largest share in which f was 90 %% sure")
    target.add_argument("--confidence", type=float, default=0.9, help="that both hold on new people (default 0.9)")
    add_update(target, "ratio")
    add_scene(target)

    compare = add("compare", commands.compare, "sweep every method on a data set and write all points as CSV")
    add_data(compare)
    compare.add_argument("--out", type=Path, help="CSV file to write (default: only a summary on the screen)")
    add_methods(compare, "all that are defined for the criterion")
    add_scene(compare)
    compare.add_argument("--json", action="store_true", help="print all points as JSON instead of a summary")
    add_jobs(compare)

    sweep = add("sweep", commands.sweep, "sweep methods over data sets and splits, here or on a Dask cluster")
    sweep.add_argument("--out", type=Path, required=True, help="CSV file; FILE.jsonl next to it keeps what is finished")
    sweep.add_argument("--dataset", action="append", help="name; may be repeated (default: five built-in ones)")
    add_methods(sweep, "all")
    sweep.add_argument("--fairness", help=f"{' or '.join(CRITERIA)} (default: both)")
    sweep.add_argument("--splits", type=int, default=10, help="train/test splits, seeds 0, 1, … (default 10)")
    add_backend(sweep)

    paper = add("paper", commands.paper, "run the experiments of the paper and write their results")
    named = "table1, sensitivity, figure2, figure8, figure9 or figure10 (default: all)"
    paper.add_argument("experiment", nargs="?", help=named)
    paper.add_argument("--dataset", action="append", help="law_school or compas (default: both)")
    paper.add_argument("--seeds", type=int, help="splits (default: 5; sensitivity 20; figure8 3)")
    add_backend(paper)
    paper.add_argument("--out", type=Path, help="folder of the results (default: data/results)")

    verify = add("verify", commands.verify, "train the model of a signed decision again and say what agrees")
    verify.add_argument("decision", type=Path, help="the JSON file of the decision")
    verify.add_argument("--data", type=Path, metavar="FILE", help="the table, if the decision is about a file")

    page = add("page", commands.page, "write an HTML file with all sliders that needs no server")
    add_data(page, nargs="?")
    page.add_argument("--all", action="store_true", help="a page for each data set that ships, and an index")
    page.add_argument("-o", "--out", type=Path, required=True, help="file to write, or with --all the folder")
    page.add_argument("--rows", action="store_true", help="of a file: put rows of some test people into the page")
    page.add_argument("--app", default="", metavar="URL", help="address of the full app, for a link on the page")
    add_jobs(page)
    add_scene(page)

    add("methods", commands.list_methods, "list the methods: what each needs and whether it runs here")
    data = subcommands.add_parser("data", help="the data files").add_subparsers(required=True, metavar="action")
    add("list", commands.list_data, "list the data sets with their sizes and groups", data)
    return parser


def _any_fairness() -> str:
    """The measures of fairness for which 1 is fair: "P-Rule, or 1 - mistreatment"."""
    names = [("" if each.upward else "1 - ") + each.figure.short_in_sentence for each in CRITERIA.values()]
    return ", or ".join(names)
