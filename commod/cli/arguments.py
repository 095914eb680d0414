"""Options that commands share, and their results: data, scene and settings."""

import argparse
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from commod.cli.output import show_progress, tell
from commod.datasets import TASKS, Task, add_task, is_shipped, load_task, task_names, task_of_file
from commod.datasets.choice import add_options, given_options
from commod.explain.model_warnings import base_model_warnings, first_scores
from commod.metrics.figures import CRITERIA
from commod.models.base_models import BASE_MODELS, GIVEN_SCORES
from commod.models.threshold import check_threshold, logit_of_threshold
from commod.uploads.limits import FILE_TYPES

if TYPE_CHECKING:
    from commod.experiments import Scene

# ---- options ----


def add_data(parser: ArgumentParser, nargs: str | None = None) -> None:
    """Which data and, for a file, the roles of its columns."""
    shipped = f"one of {', '.join(task_names())}, also in other groups (adult.race_sex, see data list)"
    parser.add_argument("dataset", nargs=nargs, help=f"{shipped}, or a file (CSV, Parquet, …)")
    add_options(parser)


def add_model(parser: ArgumentParser) -> None:
    """Which model of COMMOD on which data."""
    add_data(parser)
    of_file = "of a file: as the app opens it"
    parser.add_argument("--lambda-fair", type=float, help=f"weight of fairness (default 2; {of_file})")
    parser.add_argument("--lambda-ratio", type=float, default=0.05, help="weight of staying near f (default 0.05)")
    parser.add_argument("--lambda-concepts", type=float, help=f"weight of sparse concepts (default 0.01; {of_file})")
    parser.add_argument("--n-concepts", "-k", type=int, help=f"number of concepts (default 2; {of_file})")
    add_update(parser, None)
    add_scene(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_update(parser: ArgumentParser, default: str | None) -> None:
    """The form of the update, and what limits it."""
    forms = "ratio (default): multiply; affine: multiply and shift; decisions: count changes"
    parser.add_argument("--update", default=default, help=forms)
    directions = "both (default); improve: nobody loses; worsen: nobody gains"
    parser.add_argument("--direction", default="both", help=directions)
    parser.add_argument("--without", default="", metavar="A,B", help="features that the update may not use")
    budget = "change at most N training rows (decisions only)"
    parser.add_argument("--max-changes", type=_budget, metavar="N", help=budget)


def add_scene(parser: ArgumentParser) -> None:
    """Criterion, f, split and cut-off."""
    usual, *others = CRITERIA
    parser.add_argument("--fairness", default=usual, help=f"{usual} (default) or {' or '.join(others)}")
    names = f"f: one of {', '.join(BASE_MODELS)}, or {GIVEN_SCORES}: the file's (default where there are)"
    parser.add_argument("--base-model", help=names)
    parser.add_argument("--seed", type=int, default=0, help="seed of the train/test split (default 0)")
    above = "f decides positively above this probability (default 0.5)"
    budget = "budget: as often as the labels; budget:0.2"
    parser.add_argument("--threshold", type=_threshold, help=f"{above}; {budget}")


def add_methods(parser: ArgumentParser, default: str) -> None:
    """Which methods are compared."""
    parser.add_argument("--methods", help=f"names, separated by commas (default: {default})")


def add_jobs(parser: ArgumentParser) -> None:
    """How many processes."""
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: one per core)")


def add_backend(parser: ArgumentParser) -> None:
    """Where a grid is computed."""
    parser.add_argument("--backend", help="serial, processes (default) or dask (default with --scheduler)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, tcp://… (default: a cluster on this machine)")
    add_jobs(parser)


def _threshold(text: str) -> float | str:
    """A number, or text that may be a budget."""
    try:
        return float(text)
    except ValueError:
        return text


def _budget(text: str) -> float:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of people nor a share of them") from None


# ---- what they ask for ----


def methods_in(arguments: Namespace) -> list[str] | None:
    """The methods named in the arguments; None for all."""
    return None if arguments.methods is None else [name for name in arguments.methods.split(",") if name]


def backend_in(arguments: Namespace) -> dict[str, Any]:
    """Where a grid is computed, and where its progress goes."""
    backend = arguments.backend or ("dask" if arguments.scheduler else "processes")
    if arguments.scheduler and backend != "dask":
        raise ValueError(f"--scheduler goes with --backend dask, not with {backend}.")
    return {"backend": backend, "scheduler": arguments.scheduler, "n_jobs": arguments.jobs, "progress": show_progress}


def _task(arguments: Namespace) -> Task:
    """The data set named in the arguments. For a file, stderr gets what was guessed and changed."""
    name, given = arguments.dataset, given_options(arguments)
    if is_shipped(name):
        if given:
            raise ValueError(f"The roles of columns in {name} are declared: options for them are only for files.")
        return load_task(name)
    path, threshold = Path(name), arguments.threshold
    if name.partition(".")[0] in TASKS and path.suffix.lower() not in FILE_TYPES and not path.exists():
        return load_task(name)  # which says what groups there are
    if not path.exists() and not path.suffix and path.name == name:
        known = ", ".join(task_names())
        raise ValueError(f"There is no task {name!r} and no such file: choose one of {known}, or the path of a table.")
    task, sentences = task_of_file(path, given | ({"threshold": threshold} if isinstance(threshold, float) else {}))
    for sentence in sentences:
        tell(sentence)
    add_task(task)
    return task


def scene_in(arguments: Namespace) -> "Scene":
    """Data set, training and test rows, and f."""
    from commod.experiments.scene import SceneKey, prepare

    check_threshold(arguments.threshold)
    if arguments.seed < 0:
        raise ValueError("--seed must be 0 or more.")
    task = _task(arguments)
    f = str(arguments.base_model or (GIVEN_SCORES if task.spec.scores else "logistic_regression"))
    if f == GIVEN_SCORES and not task.spec.scores:
        raise ValueError(f"{task.spec.title} comes without scores: choose one of {', '.join(BASE_MODELS)}.")
    usual = prepare(task.name, f, arguments.seed)
    threshold = task.spec.threshold
    if arguments.threshold is None and not is_shipped(task.name):
        threshold = _proposed_threshold(task) or threshold
    elif arguments.threshold is not None:
        logit, labels = usual.logit_train, usual.train.y.to_numpy(dtype=float)
        line = logit_of_threshold(arguments.threshold, None, logit, labels)
        threshold = round(float(1.0 / (1.0 + np.exp(-line))), 6)
    scene = prepare(*SceneKey(task.name, usual.base_model, arguments.seed, threshold))
    _tell_concerns(scene, answered="turned" in given_options(arguments))
    return scene


def _proposed_threshold(task: Task) -> float | None:
    """The cut-off of f for a file, as Your data proposes it; None if one half will do."""
    rows, scores = first_scores(task)
    concerns = base_model_warnings(task, rows.y, rows.sensitive, scores)
    proposed = next((concern for concern in concerns if concern.threshold is not None), None)
    if proposed is None or any(concern.kind == "turned" for concern in concerns):  # which is asked about first
        return None
    tell(f"Cut-off of f: {proposed.threshold:g}. {proposed.text}")
    return proposed.threshold


def _tell_concerns(scene: "Scene", *, answered: bool) -> None:
    """Print doubts about f to stderr; ask if the scores seem to be of the other outcome."""
    task, test = scene.task, scene.test
    for concern in base_model_warnings(
        task, test.y, test.sensitive, scene.scores_test, scene.threshold, people=len(task.y)
    ):
        if concern.kind == "turned" and scene.base_model == GIVEN_SCORES and not answered:
            raise ValueError(f"{concern.text} Use --scores-of other to turn them round, or --scores-of favourable.")
        if not is_shipped(task.name):
            tell(f"Take care: {concern.text}")


def form_in(arguments: Namespace, task: Task) -> dict[str, Any]:
    """What limits the update, and its form."""
    form = {"update": arguments.update, "direction": arguments.direction}
    form |= {} if arguments.max_changes is None else {"max_changes": arguments.max_changes}
    kept_out = [name for name in arguments.without.split(",") if name]
    known = [feature.name for feature in task.spec.features]
    if unknown := [name for name in kept_out if name not in known]:
        raise ValueError(f"--without names {', '.join(unknown)}; the features are {', '.join(known)}.")
    return form | ({"features": tuple(name for name in known if name not in kept_out)} if kept_out else {})


def settings_in(arguments: Namespace, scene: "Scene") -> dict[str, Any]:
    """Settings of COMMOD; for a file, those not given are the app's opening settings."""
    task, usual = scene.task, {"lambda_fair": 2.0, "lambda_concepts": 0.01, "n_concepts": 2, "update": "ratio"}
    if not is_shipped(task.name):
        usual |= task.spec.commod_settings
        if arguments.lambda_fair is None and arguments.update is None:
            from commod.experiments.start import suited_start

            start = suited_start(scene, arguments.fairness)
            tell(start.text)
            usual |= start.settings
    for name, value in usual.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    names = ("lambda_fair", "lambda_ratio", "lambda_concepts", "n_concepts")
    settings = {name: getattr(arguments, name) for name in names} | form_in(arguments, task)
    return settings | ({} if arguments.direction == "both" else {"favourable": task.spec.favourable})
