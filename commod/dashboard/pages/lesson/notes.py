"""The teacher's notes: one HTML file for the whole hour, its figures from models that are trained for it."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from commod import __version__
from commod.dashboard.jobs.results import FitResult, fit_result, shap_comparison
from commod.dashboard.pages.lesson import script
from commod.dashboard.pages.lesson.stage import Stage
from commod.dashboard.pages.lesson.steps import STEPS
from commod.dashboard.state.settings import CONTROLS, Settings, in_words
from commod.dashboard.text.document import facts, html_document, listed
from commod.dashboard.text.escape import bold
from commod.dashboard.text.glossary import without_tooltips
from commod.dashboard.text.html import html_table
from commod.explain import ShapComparison
from commod.metrics.figures import CRITERIA

_FIGURES = {
    "p_rule": ("P-Rule", ".2f"),
    "dm": ("Mistreatment", ".2f"),
    "accuracy": ("Accuracy", ".1%"),
    "change_rate": ("Changed", ".1%"),
}


class _Direct:
    """Models without the app: the notes may be made in a thread that has no session to wait in."""

    def __init__(self) -> None:
        self._kept: dict[Settings, FitResult] = {}

    def fit(self, settings: Settings) -> FitResult:
        model = settings.model()
        if model not in self._kept:
            self._kept[model] = fit_result(model)
        return self._kept[model]

    def shap(self, settings: Settings) -> ShapComparison:
        return shap_comparison(self.fit(settings))


@lru_cache(maxsize=1)
def notes_html() -> str:
    """The notes as one HTML file."""
    models = _Direct()
    plan = [[f"{i}. {step.title}", f"{step.minutes}", step.name] for i, step in enumerate(STEPS, start=1)]
    total = sum(step.minutes for step in STEPS)
    sections = {
        "The hour": _paragraphs(
            "Each step asks for a guess before a slider is moved, then the model answers. Let everybody write the "
            "guess "
            "down before anybody presses; the talk afterwards is what the hour is for.",
            "Guesses stay in the learner's own session and in the address of their page. A link to a step ends in "
            "?step= and its name; with &controls=lambda_fair,k only these controls can be moved, and with &rest=hidden "
            "the others are not shown.",
        )
        + html_table({"Step": "", "Minutes": "", "Name in links": ""}, plan, caption="The steps", text={2})
    }
    for i, step in enumerate(STEPS, start=1):
        sections[f"Step {i}: {step.title}"] = _step(Stage(step, models))
    return html_document(
        f"Teacher's notes · COMMOD Explorer · commod {__version__}",
        "A guided hour on fairness and its price",
        f"{len(STEPS)} steps, {total} minutes. All figures below were computed when this file was made, by the models "
        "that the learners will see.",
        sections,
    )


def _paragraphs(*texts: str) -> str:
    return "".join(f"<p>{bold(without_tooltips(text))}</p>" for text in texts)


def _step(at: Stage) -> str:
    step, question, answer = at.step, script.question(at), script.answer(at)
    moves = [f"{CONTROLS[name].name} to {value:g}" for name, value in step.goal] + [
        f"{CONTROLS[name].name}, at will" for name in step.free
    ]
    about = [
        ("Minutes", f"{step.minutes}"),
        ("What for", escape(step.teacher)),
        (
            "Begins at",
            escape(f"{at.before.task.spec.title}, {CRITERIA[step.start.fairness].label}, {in_words(step.start)}"),
        ),
        ("Learners move", escape(", ".join(moves) or "nothing")),
        ("Link", escape(f"/lesson?step={step.name}")),
        ("Asked", escape(question.text + (f" ({', '.join(question.options)})" if question.options else ""))),
        ("Answer", _paragraphs(answer.words + _allowed(answer)).removeprefix("<p>").removesuffix("</p>")),
    ]
    pairs = [("At the start", at.before)] + ([("After the move", at.after)] if step.goal else [])
    rows = [["f", *(format(pairs[0][1].figures.loc[name, "f"], form) for name, (_, form) in _FIGURES.items())]]
    for label, result in pairs:
        rows.append([f"g, {label.lower()}", *(_with_interval(result, name) for name in _FIGURES)])
    headings = dict.fromkeys(["Model", *(title for title, _ in _FIGURES.values())], "")
    return (
        facts(about)
        + "<h3>Figures on test, with 95 % intervals</h3>"
        + html_table(headings, rows, caption=f"Figures of the step {step.title}")
        + "<h3>What the page says first</h3>"
        + _paragraphs(*script.text(at))
        + "<h3>What the page says after the guess</h3>"
        + _paragraphs(*script.told(at))
        + "<h3>To talk about</h3>"
        + listed(step.talk)
    )


def _allowed(answer: script.Answer) -> str:
    return f" A guess within {answer.near:g} is called close." if answer.near else ""


def _with_interval(result: FitResult, name: str) -> str:
    row, form = result.figures.loc[name], _FIGURES[name][1]
    return f"{row['g']:{form}}\n[{row['g_low']:{form}}, {row['g_high']:{form}}]"
