"""The teacher's notes: one HTML file for the whole hour, its figures from models that are trained for it.

Its words are in ``notes.html`` and, by language, in the table ``notes`` of ``words/``.
"""

from functools import cache, partial
from typing import Any

from commod import __version__
from commod.dashboard.jobs.computation import ComputeStep, ComputeTask
from commod.dashboard.jobs.queue import SILENT, Report
from commod.dashboard.jobs.scheduling import Priority
from commod.dashboard.model.fitted import FitResult
from commod.dashboard.model.training import fit_result
from commod.dashboard.state.settings import CONTROLS, Settings, in_words
from commod.dashboard.text.glossary import without_tooltips
from commod.dashboard.text.html import document
from commod.dashboard.text.language import declared, phrase, written
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.scenarios import FIRST, Scenario
from commod.dashboard.views.lesson.steps import StepModels
from commod.experiments import Model, prepare
from commod.experiments.sweep import Cell, fit_cell
from commod.metrics.figures import CRITERIA, key_figures


def notes(taught: Scenario) -> ComputeTask:
    """The notes of a scenario, to be asked for like any other result."""
    step = ComputeStep(notes_html, (taught,), priority=Priority.SEARCH)
    return ComputeTask("notes", taught.steps[0].start.scene(), (taught.name, taught.language, hash(taught)), (step,))


def rival_of(settings: Settings, method: str, value: float) -> Model:
    """Another method on the scene of a setting, see `StepModels`."""
    return fit_cell(prepare(*settings.scene()), Cell(method, value), settings.fairness)


def notes_html(taught: Scenario, report: Report = SILENT) -> str:
    """The notes as one HTML file."""
    steps, stages = taught.steps, list[dict[str, Any]]()

    class Listen(Report):  # also in the middle of a step, which may take seconds
        def __call__(self, _: float = 0.0) -> None:
            report(len(stages) / len(steps))

    listen = Listen()
    fit = cache(lambda settings: fit_result(settings, listen))
    for step in steps:
        report.tell(len(stages))
        listen()
        stages.append(_stage(StepModels(step, fit, partial(FitResult.shap, report=listen), rival_of)))
    say = partial(phrase, taught.language)
    return document(
        "notes.html",
        language=taught.language,
        say=say,
        kicker=f"{say('notes.title')} · COMMOD Explorer · commod {__version__}",
        title=taught.title,
        link="" if taught.name == FIRST else f"lesson={taught.name}&",
        lead=say("notes.lead", steps=len(steps), minutes=taught.minutes),
        plan=[[f"{i}. {step.title}", f"{step.minutes}", step.name] for i, step in enumerate(steps, start=1)],
        titles=[declared(taught.language, figure.short_title) for figure in key_figures()],
        stages=stages,
    )


def _stage(at: StepModels) -> dict[str, Any]:
    """What the notes say of a step."""
    step, say = at.step, partial(phrase, at.step.language)
    models = {say("notes.at_start"): at.before} | ({say("notes.after_move"): at.after} if step.goal else {})
    first = at.before.figures
    rows = [["f", *(figure.show(first.loc[figure.name, "f"]) for figure in key_figures())]]
    for label, result in models.items():
        rows.append([label, *(figure.show_with_interval(result.figures.loc[figure.name]) for figure in key_figures())])
    start = at.before.task.spec.title, CRITERIA[step.start.fairness].label, in_words(step.start)
    return {
        "step": step,
        "start": ", ".join(declared(step.language, part) for part in start),
        "moves": [
            *(say("notes.to", control=CONTROLS[name].name, value=value) for name, value in step.goal),
            *(say("notes.at_will", control=CONTROLS[name].name) for name in step.free),
        ],
        "question": script.question(at),
        "answer": script.answer(at),
        "rows": [[label, *(written(step.language, cell) for cell in cells)] for label, *cells in rows],
        "text": [without_tooltips(text) for text in script.text(at)],
        "explanation": [without_tooltips(text) for text in script.explanation(at)],
    }
