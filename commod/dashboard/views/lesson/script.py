"""What the lesson says, asks and answers: the texts of a step, filled in from its models."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.html import html_table
from commod.dashboard.text.language import fill, phrase, written
from commod.dashboard.views.lesson.facts import groups_of_model, names_at
from commod.dashboard.views.lesson.steps import Paragraph, StepModels
from commod.wording import with_capital

# Of the options of a question.
LETTERS = "abcdefgh"


@dataclass(frozen=True)
class StepQuestion:
    """What is asked before anything is moved: for a number, or, if there are options, for one of them."""

    text: str
    unit: str = ""
    most: int = 0
    options: tuple[str, ...] = ()

    def in_words(self, guess: float | str) -> str:
        """A guess or an answer as it is read."""
        return guess if isinstance(guess, str) else f"{guess:g} {self.unit}"

    def kept(self, guess: Any) -> float | str:
        """A guess as it is kept, and written into links: an option as a letter."""
        return LETTERS[self.options.index(guess)] if self.options else float(guess)

    def guess(self, kept: float | str) -> float | str | None:
        """What was kept as it was guessed; None if that is no answer to this question: of a link that was edited."""
        if bool(self.options) != isinstance(kept, str):
            return None
        if not isinstance(kept, str):
            return kept
        place = LETTERS.find(kept) if len(kept) == 1 else -1
        return self.options[place] if 0 <= place < len(self.options) else None


@dataclass(frozen=True)
class StepAnswer:
    """What the model says: the number or the option, and the sentence that tells it."""

    value: float | str
    words: str
    near: float = 0.0  # a number within this counts as right
    also: tuple[str, ...] = ()  # options that are right, too


def text(at: StepModels) -> list[str]:
    """Paragraphs before the question."""
    return _paragraphs(at, at.step.text)


def explanation(at: StepModels, *, rivals: bool | None = None) -> list[str]:
    """Paragraphs after the answer; if asked, only those that wait for other methods to be trained, or the others."""
    return _paragraphs(at, [said for said in at.step.explanation if rivals in (None, "rivals." in said.text)])


def _paragraphs(at: StepModels, paragraphs: Iterable[Paragraph]) -> list[str]:
    names = names_at(at)
    return [fill(at.step.language, said.text, **names) for said in paragraphs if _value(said.when, names)]


def question(at: StepModels) -> StepQuestion:
    """What is asked."""
    step, names = at.step, names_at(at)
    written, unit = (fill(step.language, text, **names) for text in (step.question, step.unit))
    return StepQuestion(written, unit, int(_value(step.most or 0, names)), step.options)


def answer(at: StepModels) -> StepAnswer:
    """What the models say to it."""
    step, names = at.step, names_at(at)
    value, options = round(_value(step.answer, names)), step.options
    also = str(_value(step.also, names)) if step.also != "" else ""
    shown = options[value] if options else value
    return StepAnswer(
        shown if options else float(value),
        fill(step.language, step.says, **names, value=shown),
        min(step.near, abs(value) // 2),  # off by more than half is never close
        tuple(options[int(place)] for place in also.split()),
    )


def groups_table(at: StepModels) -> str:
    """What f does to each group, as HTML."""
    step, language = at.step, at.step.language
    rows = [
        [
            with_capital(step.called(row.group)),
            written(language, f"{row.people:,}"),
            *(written(language, f"{rate:.0%}") for rate in (row.base_rate, row.positive, row.wrong)),
        ]
        for row in groups_of_model(at.after).itertuples()
    ]
    outcome = step.called(at.after.task.spec.outcomes[1])
    names = ("group", "people", "label", "f_says", "f_wrong")
    headings = [phrase(language, f"lesson.{name}", outcome=outcome) for name in names]
    return html_table(headings, rows, caption=phrase(language, "lesson.groups_table"))


def check(answer: StepAnswer, said: float | str, language: str) -> tuple[bool, str]:
    """Whether a guess is right, and a word on it."""
    if isinstance(answer.value, str) or isinstance(said, str):
        right = said == answer.value
        word = "right_option" if right else "also_right" if said in answer.also else "other_option"
        return right or said in answer.also, phrase(language, f"lesson.{word}", said=said)
    off = abs(said - answer.value)
    word = "right" if off <= 0.5 else "near" if off <= answer.near else "too_many" if said > answer.value else "too_few"
    return off <= max(answer.near, 0.5), phrase(language, f"lesson.{word}", said=said, off=off)


def in_markdown(text: str) -> str:
    """A text of a scenario for Markdown, in which ** is bold and nothing else means anything."""
    return escape_markdown(text).replace(r"\*\*", "**")


# ---- conditions and values: expressions of Jinja, such as "after.worse < before.worse and not move.played" ----

_SANDBOX = ImmutableSandboxedEnvironment(undefined=StrictUndefined)


@lru_cache(maxsize=500)
def _compiled(expression: str) -> Callable[..., Any]:
    return _SANDBOX.compile_expression(expression, undefined_to_none=False)


def facts_in(expression: str) -> set[str]:
    """The facts that an expression names, as ``before.groups[0].people``; raises TemplateError if it cannot be read."""
    return set(_facts(_SANDBOX.parse(f"{{{{ {expression} }}}}")))


def _facts(node: nodes.Node) -> Iterator[str]:
    if name := _written(node):
        yield name
    else:
        for child in node.iter_child_nodes():
            yield from _facts(child)


def _written(node: nodes.Node) -> str:
    """A name, its attributes and its places as they are written; empty for anything else."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr) and (of := _written(node.node)):
        return f"{of}.{node.attr}"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and (of := _written(node.node)):
        return f"{of}[{node.arg.value}]"
    return ""


def _value(expression: str | float, names: Mapping[str, Any]) -> Any:
    return _compiled(str(expression))(names)
