"""The commands: training, checking downloaded files, and lists."""

import json
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from commod.cli.arguments import backend_in, form_in, methods_in, scene_in, settings_in
from commod.cli.output import check_folder, end_progress, one_line, plain, print_safely, show_progress, tell
from commod.datasets import TASKS, Task, add_task, is_shipped, load_task, task_of_file
from commod.datasets.choice import roles_in
from commod.explain.concepts import form_in_words, formula_in_words
from commod.explain.model_warnings import model_warnings
from commod.metrics.counts import new_people_interval
from commod.metrics.figures import CRITERIA, figure_of, key_figures, title_of
from commod.models import Commod, evaluate, figures_of
from commod.models.competitors import available_methods, overview, overview_in_words
from commod.models.evaluation import judged_elsewhere
from commod.uploads.limits import content_of

if TYPE_CHECKING:
    from commod.experiments import Scene


def fit(arguments: Namespace) -> None:
    """Train f and COMMOD, and print the figures on the test part."""
    scene = scene_in(arguments)
    task, f = scene.task, scene.f
    settings = settings_in(arguments, scene)
    model = Commod(f, threshold=scene.threshold, **settings, fairness=arguments.fairness, solver=arguments.solver)
    started = time.perf_counter()
    with judged_elsewhere():  # here, in words
        g = model.fit(**scene.train.fit_arguments)
    seconds = time.perf_counter() - started
    frame, test = evaluate(task, f, g, scene.test), scene.test
    margins = scene.logit_test, g.decision_function(test.X)
    text = model_warnings(task, arguments.fairness, test.y, test.sensitive, *margins, frame, g.path_)
    for sentence in text + ([] if g.converged_ else ["The solver did not settle, so a better model may exist."]):
        tell(f"Take care: {sentence}")
    if arguments.json:
        settings |= {"base_model": scene.base_model, "solver": arguments.solver, "seed": arguments.seed}
        report = {
            "dataset": task.name,
            "fairness": arguments.fairness,
            "settings": settings | {"threshold": scene.threshold},
            "f": figures_of(frame, "f"),
            "g": figures_of(frame, "g"),
            "change_rate": float(frame.loc["change_rate", "g"]),
            "fit_seconds": seconds,
        }
        print_safely(json.dumps(report))
        return
    criterion = CRITERIA[arguments.fairness].title.lower()
    print_safely(f"{task.spec.title}, {criterion}, split {arguments.seed}; fitted in {seconds:.2f} s")
    print_safely(_readable(frame, task))
    if g.max_changes is not None:
        after = g.predict(scene.test.X) != g.classes_[scene.decisions_test]
        low, high = new_people_interval(int(after.sum()), len(after))
        now = int((g.predict(scene.train.X) != g.classes_[scene.decisions_train]).sum())
        print_safely(f"\n{now:,} training rows change. On 1,000 new people expect {low} to {high} changes.")
    formula = formula_in_words(g, task.spec.outcomes, f"{scene.threshold:g}")
    print_safely(plain(f"\n{form_in_words(g, task.spec.outcomes)} {formula}"))
    print_safely("\nConcepts (unit directions in standardised features; their weights in brackets)")
    weights = [*g.concept_weights_, *g.shift_weights_]
    for weight, (name, column) in zip(weights, g.concept_directions().items(), strict=True):
        parts = column[column != 0].sort_values(key=abs, ascending=False)
        shown = ", ".join(f"{feature} {value:+.2f}" for feature, value in parts.head(6).items())
        more = f", and {len(parts) - 6} more" if len(parts) > 6 else ""
        print_safely(f"  {name} [{weight:+.3f}]: {shown or 'empty'}{more}")


def check(arguments: Namespace) -> None:
    """Say whether the changes of a model make sense."""
    from commod.experiments.checks import answers_of
    from commod.experiments.refits import refit
    from commod.experiments.sweep import Cell, train_cell

    if arguments.refits is not None and arguments.refits < 1:
        raise ValueError("--refits must be 1 or more.")
    scene = scene_in(arguments)
    settings = settings_in(arguments, scene)
    cell = Cell("commod", settings.pop("lambda_fair"), tuple(settings.items()))
    trained = train_cell(scene, cell, arguments.fairness)
    refits = refit(scene, cell, arguments.fairness, count=arguments.refits)
    answers = answers_of(scene, trained, refits)
    if arguments.json:
        found = {name: answer.plain for name, answer in answers.items()}
        print_safely(json.dumps({"dataset": scene.task.name, "fairness": arguments.fairness, "checks": found}))
        return
    for answer in answers.values():
        word, sign = answer.word_and_sign
        print_safely(plain(f"{sign} {word:12} {answer.check.title} {answer.sentence}"))


def _readable(frame: pd.DataFrame, task: Task) -> str:
    """Figures as text: title, values with intervals, and the name in --json and in frames."""
    titles = [one_line(title_of(str(name), task.groups, task.spec.outcomes)) for name in frame.index]
    width = max(len(title) for title in titles) + 2
    lines = [f"{'':{width}}{'f':>22}{'g':>22}{'difference':>30}  name"]
    for title, (name, row) in zip(titles, frame.iterrows(), strict=True):
        figure, _ = figure_of(str(name))
        cells = [figure.show_with_interval(row, column, " ") for column in ("f", "g", "difference")]
        lines.append(f"{title:{width}}{cells[0]:>22}{cells[1]:>22}{cells[2]:>30}  {name}")
    return plain("\n".join(lines))


def target(arguments: Namespace) -> int:
    """Find the setting that is fair enough and changes few enough decisions."""
    from commod.experiments import find_settings

    scene = scene_in(arguments)
    task, f = scene.task, scene.f
    asked = {name: getattr(arguments, name) for name in ("min_fairness", "max_change", "max_sure", "confidence")}
    asked |= form_in(arguments, task) | {"threshold": scene.threshold, "seed": arguments.seed}
    found = find_settings(task, f, arguments.fairness, **asked)
    print_safely(found.answer)
    if found.settings is None:
        return 1
    print_safely(", ".join(f"{name}={value!r}" for name, value in found.settings.items()))
    frame = evaluate(task, f, found.model, scene.test)
    print_safely(_readable(frame.loc[[figure.name for figure in key_figures() if figure.name in frame.index]], task))
    return 0


def compare(arguments: Namespace) -> int:
    """Sweep every method on a data set."""
    from commod import experiments
    from commod.experiments.compare import SweepWarning
    from commod.experiments.sweep import rows_in_words

    out: Path | None = arguments.out
    if out is not None:
        check_folder("--out", out)
    scene = scene_in(arguments)
    if text := rows_in_words(scene):
        print_safely(text, file=sys.stderr)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as failed:
        warnings.simplefilter("always", SweepWarning)
        points = experiments.compare(
            scene.task.name,
            methods=methods_in(arguments),
            fairness=arguments.fairness,
            base_model=scene.base_model,
            seed=arguments.seed,
            threshold=scene.threshold,
            n_jobs=arguments.jobs,
            progress=show_progress,
        )
    end_progress()
    for warning in failed:
        print_safely(plain(str(warning.message)), file=sys.stderr)
    status = int(any(issubclass(warning.category, SweepWarning) for warning in failed))
    if out is not None:
        points.to_csv(out, index=False)
    if arguments.json:
        print_safely(points.to_json(orient="records", force_ascii=False, double_precision=15))
        return status
    figures = CRITERIA[arguments.fairness].key_figures
    headings = "".join(f"{figure.short_title:>18}" for figure in figures)
    print_safely(f"{'method':26}{'models':>8}{headings}   (least to most, on test)")
    for title, rows in points.groupby("title", sort=False):
        values = [(figure, rows[figure.name]) for figure in figures]
        spans = [f"{figure.show(column.min())} to {figure.show(column.max())}" for figure, column in values]
        print_safely(plain(f"{title:26}{len(rows):>8}" + "".join(f"{span:>18}" for span in spans)))
    written = "" if out is None else f"; all points in {out}"
    print_safely(f"{len(points)} models in {time.perf_counter() - started:.0f} s{written}")
    return status


def sweep(arguments: Namespace) -> None:
    """Sweep methods over data sets and splits."""
    from commod.experiments import grid_of, run_grid
    from commod.experiments.grid import SWEPT

    out: Path = arguments.out
    check_folder("--out", out)
    if arguments.splits < 1:
        raise ValueError("--splits must be 1 or more.")
    criteria = list(CRITERIA) if arguments.fairness is None else [arguments.fairness]
    defined = list(dict.fromkeys(name for criterion in criteria for name in available_methods(criterion)))
    asked = methods_in(arguments)
    methods = defined if asked is None else asked
    if unknown := [name for name in methods if name not in defined]:
        raise ValueError(f"There is no method {unknown[0]!r} here: choose from {', '.join(defined)}.")
    jobs = grid_of(arguments.dataset or SWEPT, methods, criteria, range(arguments.splits))
    store, started = Path(f"{out}.jsonl"), time.perf_counter()
    table = run_grid(jobs, store=store, measures=["checks"], **backend_in(arguments))
    end_progress()
    table.to_csv(out, index=False)
    failed = int((table["error"] != "").sum())
    text = f"; {failed} of them failed, see the column error" if failed else ""
    print_safely(f"{len(table)} models in {out} after {time.perf_counter() - started:.0f} s{text}. {store} keeps them.")


def paper(arguments: Namespace) -> None:
    """Run the experiments of the paper."""
    from commod.experiments.paper import ALL, DATASETS, run_experiment

    chosen = {"datasets": arguments.dataset or DATASETS, "seeds": arguments.seeds, "folder": arguments.out}
    for name in ALL if arguments.experiment is None else (arguments.experiment,):
        started = time.perf_counter()
        path = run_experiment(name, **chosen, **backend_in(arguments))
        end_progress()
        print_safely(
            f"{name}: {path.name}, {path.stat().st_size / 1e3:.0f} kB, in {time.perf_counter() - started:.0f} s"
        )


def page(arguments: Namespace) -> None:
    """Write HTML files with all sliders that need no server."""
    from commod.dashboard.model import standalone

    out: Path = arguments.out
    if (arguments.dataset is None) != arguments.all:
        raise ValueError("Name one data set, or use --all.")
    if arguments.app and not arguments.app.startswith(("https://", "http://")):
        raise ValueError("--app must be an address that begins with https:// or http://.")
    if arguments.all:
        out.mkdir(parents=True, exist_ok=True)
        (out / "index.html").write_text(standalone.index_html(TASKS), encoding="utf-8")
    else:
        check_folder("-o", out)
    for name in TASKS if arguments.all else [arguments.dataset]:
        arguments.dataset = name
        settings = _page_settings(arguments, scene := scene_in(arguments))
        grid, started = standalone.settings_on_page(settings), time.perf_counter()
        print_safely(f"{scene.task.spec.title}: {standalone.in_words_of(grid)}", file=sys.stderr)
        parts = standalone.compute(settings, grid, jobs=arguments.jobs, progress=show_progress)
        text = standalone.page_html(settings, grid, parts, people=arguments.rows, app=arguments.app)
        file = out / f"{name}.html" if arguments.all else out
        file.write_text(text, encoding="utf-8")
        print_safely(f"{file}: {len(text.encode()) / 1e6:.2f} MB, in {time.perf_counter() - started:.0f} s")


def _page_settings(arguments: Namespace, scene: "Scene") -> Any:
    """Where the page opens: as the app does."""
    from commod.dashboard.state.settings import CONTROLS, defaults
    from commod.experiments.start import suited_start

    spec = scene.task.spec
    usual = defaults(spec.data, spec.grouping)
    settings = replace(usual, f=scene.base_model, seed=scene.seed, threshold=scene.threshold)
    if arguments.fairness != next(iter(CRITERIA)):
        settings = replace(settings, fairness=arguments.fairness)
    if is_shipped(scene.task.name):
        return settings
    start = suited_start(scene, arguments.fairness).settings
    suited = {name: start[known.argument] for name, known in CONTROLS.items() if known.argument in start}
    return replace(settings, **suited)


def verify(arguments: Namespace) -> int:
    """Train the model of a signed decision again, and say what agrees."""
    from commod.decisions import confirmation, not_checked, other_versions, read_record, verify_record

    record = read_record(content_of(arguments.decision, "the file of a decision"))
    task = _task_of_record(record, arguments.data)
    said = {name: one_line(str(text)) for name, text in record["signature"].items()}
    print_safely(
        f"Signed on {said['signed']}, in the name of {said['who']}, {said['role']}; look again {said['look_again']}."
    )
    if sentence := confirmation(record):
        print_safely(sentence)
    for difference in other_versions(record):
        tell(f"Other software: {difference}.")
    lines = verify_record(record, task)
    for row in lines.itertuples():
        word = "agrees" if row.agrees else "DIFFERS"
        sentence = f"{row.recorded}" if row.agrees else f"{row.recorded} in the file, {row.found} here"
        print_safely(f"{word:8}{row.line:28}{one_line(sentence)}")
    unchecked = not_checked(record)
    for line, text in unchecked:
        print_safely(one_line(f"not checked {line:24}{text}"))
    agreed = int(lines["agrees"].sum())
    print_safely(f"{agreed} of {len(lines)} lines agree. {len(unchecked)} more cannot be checked by training again.")
    return 0 if agreed == len(lines) else 1


def _task_of_record(record: Mapping[str, Any], path: Path | None) -> Task:
    """The data of a decision: built-in data, or the given file, read as it was then."""
    data = record["data"]
    if path is None and is_shipped(data["name"]):
        return load_task(data["name"])
    if path is None:
        raise ValueError("This decision is about an uploaded table: give its path with --data.")
    task, _ = task_of_file(path, roles_in(data["words"]) | {"threshold": record["model"]["threshold"]})
    add_task(task)
    return task


def list_methods(_: Namespace) -> None:
    """List the methods: what each needs, and whether it runs here."""
    print_safely(f"{'name':20}{'runs':>8}{'needs S':>9}{'criteria':>10}{'groups':>8}{'knob':>12}  method")
    for name, row in overview().iterrows():
        needs = "yes" if row["needs_sensitive"] else "no"
        title = f"{row['method']} ({row['reference']})"
        print_safely(
            f"{name:20}{row['runs']:>8}{needs:>9}{row['criteria']:>10}{row['groups']:>8}{row['knob']:>12}  {title}"
        )
    print_safely(overview_in_words())


def list_data(_: Namespace) -> None:
    """List the data sets with their sizes and groups."""
    for spec in TASKS.values():
        for name in spec.task_names.values():
            task = load_task(name)
            sizes = task.sensitive.value_counts().sort_index().tolist()
            groups = ", ".join(f"{group} {size:,}" for group, size in zip(task.groups, sizes, strict=True))
            print_safely(f"{name:25} {len(task.y):>7,} rows, {task.X.shape[1]:>2} features; {groups}")
