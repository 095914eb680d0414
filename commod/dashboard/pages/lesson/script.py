"""What the lesson says, asks and answers: the texts of a step, filled in from its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from commod.dashboard.pages.lesson.facts import names_at
from commod.dashboard.pages.lesson.steps import Stage

# Of the options of a question.
LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Question:
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

    def guess(self, kept: float | str) -> float | str:
        """What was kept as it was guessed."""
        if not isinstance(kept, str):
            return kept
        place = LETTERS.index(kept)
        return self.options[place] if place < len(self.options) else "none of these"


@dataclass(frozen=True)
class Answer:
    """What the model says: the number or the option, and the sentence that tells it.

    A number within `near` counts as right, and so do the options in `also`.
    """

    value: float | str
    words: str
    near: float = 0.0
    also: tuple[str, ...] = ()


def text(at: Stage) -> list[str]:
    """Paragraphs before the question."""
    return _paragraphs(at, at.step.text)


def told(at: Stage) -> list[str]:
    """Paragraphs after the answer."""
    return _paragraphs(at, at.step.told)


def _paragraphs(at: Stage, paragraphs: Iterable[str | Mapping[str, str]]) -> list[str]:
    names = names_at(at)
    said = []
    for paragraph in paragraphs:
        if isinstance(paragraph, str):
            said.append(paragraph.format(**names))
        elif Formatter().get_field(paragraph["when"], (), names)[0] not in (None, False):
            said.append(paragraph["text"].format(**names))
    return said


def question(at: Stage) -> Question:
    """What is asked."""
    declared, names = at.step.question, names_at(at)
    return Question(
        declared["text"].format(**names),
        declared.get("unit", "").format(**names),
        int(declared.get("most", "0").format(**names)),
        tuple(declared.get("options", ())),
    )


def answer(at: Stage) -> Answer:
    """What the models say to it. With options, ``value`` and ``also`` of the declaration are their places."""
    declared, options, names = at.step.answer, at.step.question.get("options", ()), names_at(at)
    value = declared["value"].format(**names)
    also = declared.get("also", "").format(**names)
    shown = options[int(value)] if options else value
    return Answer(
        shown if options else float(value),
        declared["words"].format(**names, value=shown),
        declared.get("near", 0.0),
        tuple(options[int(place)] for place in also.split()),
    )


def check(answer: Answer, said: float | str) -> tuple[bool, str]:
    """Whether a guess is right, and a word on it."""
    if isinstance(answer.value, str) or isinstance(said, str):
        if said in answer.also:
            return True, f"You said: {said}. As far as so few people can tell, that is right, too."
        right = said == answer.value
        return right, "That is what you said." if right else f"You said: {said}."
    off = abs(float(said) - answer.value)
    if off <= 0.5:
        return True, "That is just what you said."
    if off <= answer.near:
        return True, f"You said {said:,.0f}: close."
    return False, f"You said {said:,.0f}: {off:,.0f} {'too many' if said > answer.value else 'too few'}."
