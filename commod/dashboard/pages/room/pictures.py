"""The charts of a room, each with its rows and its words: the board draws them on a page, the report as drawings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from commod.charts.room import plot_answers, plot_guesses, plot_models, plot_strip
from commod.dashboard.pages.room import frames
from commod.dashboard.rooms import Question as Asked
from commod.dashboard.text.language import phrase
from commod.dashboard.views.lesson.script import Answer, Question
from commod.experiments import Sweep
from commod.metrics.figures import CRITERIA


@dataclass(frozen=True)
class Picture:
    """A chart that is not yet drawn."""

    plot: Callable[..., Any]
    rows: pd.DataFrame
    options: dict[str, Any]

    def chart(self) -> Any:
        """The chart with its rows in it."""
        return self.plot(self.rows, **self.options)


def guesses(found: Sequence[float | str], question: Question, answer: Answer, language: str) -> Picture:
    """What was guessed at a step, and what the model says."""
    say = partial(phrase, language)
    people, model = say("room.people"), say("room.model_says")
    if question.options:
        kinds = (say("room.other_answer"), model)
        rows = frames.chosen(found, question, answer, right=model, other=kinds[0])
        return Picture(plot_answers, rows, {"kinds": kinds, "people": people})
    name, title = say("room.guesses"), f"{say('room.guess')} ({question.unit})"
    rows = frames.histogram([float(guess) for guess in found], float(answer.value), guesses=name, model=model)
    return Picture(plot_guesses, rows, {"title": title, "people": people, "guesses": name, "answer": model})


def choices(question: Asked, rounds: Mapping[int, str], language: str) -> Picture:
    """How many chose each of two models, or neither."""
    say = partial(phrase, language)
    called = {"a": say("room.model_a"), "b": say("room.model_b"), "neither": say("room.neither")}
    rows = frames.choices(question, rounds, called)
    return Picture(plot_answers, rows, {"kinds": tuple(rounds.values()), "people": say("room.people")})


def models(
    signed: Sequence[frames.Signed], kinds: Mapping[int, str], language: str, sweep: Sweep | None = None
) -> Picture:
    """Where people stand or what they voted for, with the frontier where it is known."""
    say, titles = partial(phrase, language), frames.figure_titles(signed, language)
    rows = frames.points(
        signed,
        None if sweep is None else sweep.points,
        CRITERIA[signed[0].settings.fairness].figure_name,
        kinds=kinds,
        frontier=say("room.frontier"),
        f=say("room.f"),
    )
    options = {
        "kinds": frames.kinds_of(kinds, language, swept=sweep is not None),
        "x_title": titles["fairness"][0],
        "y_title": titles["accuracy"][0],
        "people": say("room.people"),
    }
    return Picture(plot_models, rows, options)


def strips(signed: Sequence[frames.Signed], rounds: Mapping[int, str], language: str) -> dict[str, Picture]:
    """Each figure in which votes are compared, by its title."""
    how = {"rounds": tuple(rounds.values()), "people": phrase(language, "room.people")}
    return {
        title: Picture(plot_strip, frames.strip_rows(signed, figure, rounds), {"title": title, "form": form, **how})
        for figure, (title, form) in frames.figure_titles(signed, language).items()
    }
