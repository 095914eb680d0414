"""What a room holds as charts: their rows and words. The board draws them on a page, the report as drawings."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from commod.charts.room import plot_answers, plot_guesses, plot_models, plot_strip
from commod.dashboard.rooms import Person, Room, Vote
from commod.dashboard.rooms import Question as Asked
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.text.language import declared, phrase
from commod.dashboard.views.lesson.script import Answer, Question
from commod.experiments import Sweep
from commod.metrics.figures import CRITERIA

# Of the numbers in a histogram, at least: one guess beside the answer is no block that fills the picture.
LEAST_SPAN = 10.0
# Bars of a histogram, at most.
MAX_BARS = 12
# Of a model that somebody stands at or has voted for: the figures in which rounds are compared.
COMPARED = ("fairness", "accuracy", "change_rate", "worse")


# ---- guesses ----


def guessed(kept: Iterable[str], question: Question) -> list[float | str]:
    """Guesses as they were made; what is no answer to this question, of a step that was changed, is left out."""
    return [
        guess for text in kept if (guess := question.guess(text if question.options else _number(text))) is not None
    ]


def _number(text: str) -> float | str:
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) else text


def histogram(numbers: Sequence[float], answer: float, *, guesses: str, model: str) -> pd.DataFrame:
    """Rows of `plot_guesses`: bars of one width, 1, 2 or 5 times a power of ten, and the answer.

    Where all are near to one another, bars that nobody has guessed keep the axis as wide as `LEAST_SPAN`.
    """
    low, high = min((*numbers, answer)), max((*numbers, answer))
    low = max(min(low, 0.0), min(low, (low + high - LEAST_SPAN) / 2))
    high = max(high, low + LEAST_SPAN)
    width = _bar_width(high - low)
    bars = Counter(math.floor(number / width) for number in numbers)
    rows = [
        {"kind": guesses, "low": bar * width, "high": (bar + 1) * width, "people": bars[bar]}
        for bar in range(math.floor(low / width), math.floor(high / width) + 1)
        if bars[bar] or bar in (math.floor(low / width), math.floor(high / width))
    ]
    return pd.DataFrame([*rows, {"kind": model, "low": answer, "high": math.nan, "people": math.nan}])


def _bar_width(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(max(span / MAX_BARS, 1.0)))
    return next(step * power for step in (1, 2, 5, 10) if span / (step * power) <= MAX_BARS)


def chosen(
    guesses: Sequence[float | str], question: Question, answer: Answer, *, right: str, other: str
) -> pd.DataFrame:
    """Rows of `plot_answers`: how many chose each option, and which the model says."""
    counts, said = Counter(guesses), {answer.value, *answer.also}
    return pd.DataFrame(
        [
            {"name": option, "rank": rank, "kind": right if option in said else other, "people": counts[option]}
            for rank, option in enumerate(question.options)
        ]
    )


# ---- models ----


@dataclass(frozen=True)
class Signed:
    """A model that somebody stands at, or has voted for in a round."""

    number: int  # of the person
    name: str
    round: int
    settings: Settings
    figures: Mapping[str, float]
    reason: str = ""


def stands(room: Room) -> list[Signed]:
    """Where those who take part stand."""
    people = [person for person in room.people if person.link and not person.leads]
    return [_signed(person, person.number, 1) for person in people]


def votes(question: Asked) -> list[Signed]:
    """What was sent to a question, round by round."""
    return [_signed(vote, vote.person_number, vote.round, vote.reason) for vote in question.votes if vote.link]


def _signed(sent: Person | Vote, number: int, round: int, reason: str = "") -> Signed:
    return Signed(number, sent.name, round, model_of_link(sent.link), sent.figures, reason)


def comparable(models: Sequence[Signed]) -> tuple[list[Signed], int]:
    """Those on the scene and criterion that most have, which one picture can hold, and how many are left out."""
    if not models:
        return [], 0
    problems = Counter(model.settings.problem() for model in models)
    usual = max(problems, key=lambda problem: problems[problem])  # of equally many, the first
    kept = [model for model in models if model.settings.problem() == usual and "fairness" in model.figures]
    return kept, len(models) - len(kept)


def points(
    models: Sequence[Signed],
    sweep: pd.DataFrame | None,
    fairness: str,
    language: str,
    *,
    kinds: Mapping[int, str],
    frontier: str,
    f: str,
) -> pd.DataFrame:
    """Rows of `plot_models`: the frontier where it is known, f, where people stand, and from where they moved.

    `kinds` says what the points of each round are called; `fairness` is the figure of the criterion in the sweep.
    """
    rows: list[dict[str, Any]] = []
    if sweep is not None:
        for value, accuracy, setting, best in sweep[[fairness, "accuracy", "settings", "best"]].itertuples(index=False):
            line = "frontier" if best else ""
            rows.append(_row(frontier, value, accuracy, 0, declared(language, setting), line, value))
    for first, last in moves(models):
        for order, end in enumerate((first, last)):
            row = _row(
                kinds[2], end.figures["fairness"], end.figures["accuracy"], 1, end.name, f"move {end.number}", order
            )
            rows.append(row)
    for (round, value, accuracy), there in _together(models, "fairness", "accuracy").items():
        who = f"{names_of(there)} ({declared(language, in_words(there[0].settings))})"
        rows.append(_row(kinds[round], value, accuracy, len(there), who))
    if models and "f_fairness" in models[0].figures:  # over those who stand at it
        rows.append(_row(f, models[0].figures["f_fairness"], models[0].figures["f_accuracy"], 0, f))
    return pd.DataFrame(rows)


def _row(
    kind: str, fairness: float, accuracy: float, people: int, who: str, line: str = "", order: float = 0.0
) -> dict[str, Any]:
    found = {"kind": kind, "fairness": fairness, "accuracy": accuracy, "people": people}
    return found | {"who": who, "line": line, "order": order}


def strip_rows(models: Sequence[Signed], figure: str, rounds: Mapping[int, str]) -> pd.DataFrame:
    """Rows of `plot_strip` of one figure."""
    rows = [
        {"round": rounds[end.round], "value": end.figures[figure], "people": 1, "who": end.name}
        | {"line": f"move {end.number}", "order": order}
        for pair in moves(models)
        for order, end in enumerate(pair)
        if all(figure in one.figures for one in pair)
    ]
    known = [model for model in models if figure in model.figures]
    for (round, value), there in _together(known, figure).items():
        row = {"round": rounds[round], "value": value, "people": len(there), "who": names_of(there)}
        rows.append(row | {"line": "", "order": 0})
    return pd.DataFrame(rows)


def _together(models: Sequence[Signed], *figures: str) -> dict[tuple[Any, ...], list[Signed]]:
    """Models by round and figures: who stands at the same point is one point."""
    found: dict[tuple[Any, ...], list[Signed]] = {}
    for model in models:
        found.setdefault((model.round, *(model.figures[name] for name in figures)), []).append(model)
    return found


def names_of(models: Sequence[Signed], most: int = 8) -> str:
    """Their names, the first of them where they are many."""
    names = [model.name for model in models]
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def moves(models: Sequence[Signed]) -> list[tuple[Signed, Signed]]:
    """First and second vote of everybody who voted for another model the second time."""
    first = {model.number: model for model in models if model.round == 1}
    pairs = [(first[model.number], model) for model in models if model.round == 2 and model.number in first]
    return [(before, after) for before, after in pairs if before.settings != after.settings]


def moves_in_words(moved: Sequence[tuple[Signed, Signed]], language: str) -> list[str]:
    """From what to what each has moved, in the figures of the chart."""
    return [
        phrase(
            language,
            "room.moved_from",
            name=after.name,
            figure=declared(language, CRITERIA[after.settings.fairness].figure.title),
            fairness=(before.figures["fairness"], after.figures["fairness"]),
            accuracy=(100 * before.figures["accuracy"], 100 * after.figures["accuracy"]),
        )
        for before, after in moved
    ]


def twice(models: Sequence[Signed]) -> set[int]:
    """Who voted in both rounds."""
    first, second = ({model.number for model in models if model.round == number} for number in (1, 2))
    return first & second


def once(models: Sequence[Signed]) -> list[Signed]:
    """Votes of the first round of those who have not voted again."""
    again = twice(models)
    return [model for model in models if model.round == 1 and model.number not in again]


def votes_table(models: Sequence[Signed], rounds: Mapping[int, str], language: str) -> pd.DataFrame:
    """Every vote: who, in which round, for what, and why."""
    rows = [
        {"name": model.name, "round": rounds[model.round], "reason": model.reason}
        | {"settings": declared(language, in_words(model.settings))}
        | {name: model.figures.get(name, math.nan) for name in COMPARED}
        for model in sorted(models, key=lambda model: (model.name.casefold(), model.round))
    ]
    return pd.DataFrame(rows)


def rounds_of(count: int, language: str) -> dict[int, str]:
    """What so many rounds of a vote are called."""
    names = {1: "first", 2: "second"}
    return {number: phrase(language, f"room.{names[number]}_vote") for number in range(1, count + 1)}


def kinds_of(rounds: Mapping[int, str], language: str, *, swept: bool) -> tuple[tuple[str, str], ...]:
    """Kinds of points of `plot_models`, with their roles."""
    frontier = ((phrase(language, "room.frontier"), "frontier"),) if swept else ()
    voted = zip(rounds.values(), ("first", "last"), strict=False)
    return (*frontier, (phrase(language, "room.f"), "f"), *voted)


def figure_titles(models: Sequence[Signed], language: str) -> dict[str, tuple[str, str]]:
    """The figures of `COMPARED`, with their titles, which have units, and formats."""
    criterion = CRITERIA[models[0].settings.fairness]
    return {
        "fairness": (declared(language, criterion.figure.axis_title), ".2f"),
        "accuracy": (declared(language, "Accuracy on test (%)"), ".1%"),
        "change_rate": (declared(language, "Decisions changed (% of test)"), ".1%"),
        "worse": (phrase(language, "room.worse_off"), ",.0f"),
    }


# ---- this model or that ----


def choice_rows(question: Asked, rounds: Mapping[int, str], called: Mapping[str, str]) -> pd.DataFrame:
    """Rows of `plot_answers`: how many chose a, b or neither, in each round."""
    counts = Counter((vote.choice, vote.round) for vote in question.votes)
    held = [number for number in rounds if number <= question.rounds]
    rows = [(choice, number) for choice in called for number in held]
    return pd.DataFrame(
        [
            {
                "name": f"{called[choice]}|{rounds[number]}" if len(held) > 1 else called[choice],
                "rank": rank,
                "kind": rounds[number],
                "people": counts[choice, number],
            }
            for rank, (choice, number) in enumerate(rows)
        ]
    )


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
        rows = chosen(found, question, answer, right=model, other=kinds[0])
        return Picture(plot_answers, rows, {"kinds": kinds, "people": people})
    name, title = say("room.guesses"), f"{say('room.guess')} ({question.unit})"
    rows = histogram([float(guess) for guess in found], float(answer.value), guesses=name, model=model)
    return Picture(plot_guesses, rows, {"title": title, "people": people, "guesses": name, "answer": model})


def choices(question: Asked, rounds: Mapping[int, str], language: str) -> Picture:
    """How many chose each of two models, or neither."""
    say = partial(phrase, language)
    called = {"a": say("room.model_a"), "b": say("room.model_b"), "neither": say("room.neither")}
    rows = choice_rows(question, rounds, called)
    return Picture(plot_answers, rows, {"kinds": tuple(rounds.values()), "people": say("room.people")})


def models(signed: Sequence[Signed], kinds: Mapping[int, str], language: str, sweep: Sweep | None = None) -> Picture:
    """Where people stand or what they voted for, with the frontier where it is known."""
    say, titles = partial(phrase, language), figure_titles(signed, language)
    rows = points(
        signed,
        None if sweep is None else sweep.points,
        CRITERIA[signed[0].settings.fairness].figure_name,
        language,
        kinds=kinds,
        frontier=say("room.frontier"),
        f=say("room.f"),
    )
    options = {
        "kinds": kinds_of(kinds, language, swept=sweep is not None),
        "x_title": titles["fairness"][0],
        "y_title": titles["accuracy"][0],
        "people": say("room.people"),
    }
    return Picture(plot_models, rows, options)


def strips(signed: Sequence[Signed], rounds: Mapping[int, str], language: str) -> dict[str, Picture]:
    """Each figure in which votes are compared, by its title."""
    how = {"rounds": tuple(rounds.values()), "people": phrase(language, "room.people")}
    return {
        title: Picture(plot_strip, strip_rows(signed, figure, rounds), {"title": title, "form": form, **how})
        for figure, (title, form) in figure_titles(signed, language).items()
    }
