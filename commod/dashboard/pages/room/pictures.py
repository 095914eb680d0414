"""What a room holds as charts: their rows and words."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from commod.charts.room import plot_answers, plot_guesses, plot_models
from commod.dashboard.rooms.contents import Room, RoomQuestion, Vote
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import Settings, in_words
from commod.dashboard.text.language import declared, phrase
from commod.dashboard.views.impact import FOUR_FIFTHS, has_four_fifths
from commod.dashboard.views.lesson.script import StepAnswer, StepQuestion
from commod.experiments import Sweep
from commod.metrics.figures import CRITERIA
from commod.wording import some_of

# Of the numbers in a histogram, at least: one guess beside the answer is no block that fills the picture.
LEAST_SPAN = 10.0
# Bars of a histogram, at most.
MAX_BARS = 12
# Names of people in one place, at most.
MAX_NAMES = 8
# Of a model that somebody stands at or has voted for: the figures in which rounds are compared.
COMPARED = ("fairness", "accuracy", "change_rate", "worse")


# ---- guesses ----


def guessed(kept: Iterable[str], question: StepQuestion) -> list[float | str]:
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


def histogram(
    numbers: Sequence[float], answer: float, *, guesses: str, model: str, most: float | None = None
) -> pd.DataFrame:
    """Rows of `plot_guesses`: bars of one width, 1, 2 or 5 times a power of ten, and the answer.

    Where all are near to one another, bars that nobody has guessed keep the axis as wide as `LEAST_SPAN`. With `most`,
    bars are as wide as on an axis from 0 to there.
    """
    if most is None:
        low, high = min((*numbers, answer)), max((*numbers, answer))
        low = max(min(low, 0.0), min(low, (low + high - LEAST_SPAN) / 2))
        high = max(high, low + LEAST_SPAN)
    else:
        low, high = 0.0, most
    width = _bar_width(high - low)

    def bar_of(number: float) -> int:
        return math.floor(number / width) - (number == most)  # the end of the axis belongs to the last bar

    bars = Counter(map(bar_of, numbers))
    ends = bar_of(low), bar_of(high)
    rows = [
        {"kind": guesses, "low": bar * width, "high": (bar + 1) * width, "people": bars[bar]}
        for bar in range(ends[0], ends[1] + 1)
        if bars[bar] or bar in ends
    ]
    return pd.DataFrame([*rows, {"kind": model, "low": answer, "high": math.nan, "people": math.nan}])


def _bar_width(span: float) -> float:
    power = 10.0 ** math.floor(math.log10(max(span / MAX_BARS, 1.0)))
    return next(step * power for step in (1, 2, 5, 10) if span / (step * power) <= MAX_BARS)


# ---- models ----


def stands(room: Room) -> list[Vote]:
    """Where those who take part stand, as if they had voted for it."""
    people = [person for person in room.people if person.link and not person.leads]
    return [Vote(person.number, person.name, 1, person.link, person.figures) for person in people]


def votes(question: RoomQuestion) -> list[Vote]:
    """The models that were sent to a question, round by round."""
    return [vote for vote in question.votes if vote.link]


def settings_of(vote: Vote) -> Settings:
    """The model that somebody voted for."""
    return model_of_link(vote.link)


def comparable(models: Sequence[Vote]) -> tuple[list[Vote], int]:
    """Those on the scene and criterion that most have, which one picture can hold, and how many are left out."""
    usual = Counter(settings_of(model).problem() for model in models).most_common(1)  # of equally many, the first
    kept = [model for model in models if settings_of(model).problem() == usual[0][0] and "fairness" in model.figures]
    return kept, len(models) - len(kept)


def _row(
    kind: str, fairness: float, accuracy: float, people: int, who: str, line: str = "", order: float = 0.0
) -> dict[str, Any]:
    found = {"kind": kind, "fairness": fairness, "accuracy": accuracy, "people": people}
    return found | {"who": who, "line": line, "order": order}


def _together(models: Sequence[Vote]) -> dict[tuple[int, float, float], list[Vote]]:
    """Models by round and figures: people at the same place are one point."""
    found = defaultdict(list)
    for model in models:
        found[model.round, model.figures["fairness"], model.figures["accuracy"]].append(model)
    return found


def in_both_rounds(models: Sequence[Vote]) -> list[tuple[Vote, Vote]]:
    """First and second vote of everybody who voted twice."""
    first = {model.person_number: model for model in models if model.round == 1}
    return [
        (first[model.person_number], model) for model in models if model.round == 2 and model.person_number in first
    ]


def moves(models: Sequence[Vote]) -> list[tuple[Vote, Vote]]:
    """First and second vote of everybody who voted for another model the second time."""
    return [pair for pair in in_both_rounds(models) if settings_of(pair[0]) != settings_of(pair[1])]


def moves_in_words(moved: Sequence[tuple[Vote, Vote]], language: str) -> list[str]:
    """From what to what each has moved, in the figures of the chart."""
    return [
        phrase(
            language,
            "room.moved_from",
            name=after.name,
            figure=declared(language, CRITERIA[settings_of(after).fairness].figure.title),
            fairness=(before.figures["fairness"], after.figures["fairness"]),
            accuracy=(100 * before.figures["accuracy"], 100 * after.figures["accuracy"]),
        )
        for before, after in moved
    ]


def votes_table(models: Sequence[Vote], rounds: Mapping[int, str], language: str) -> pd.DataFrame:
    """Every vote: who, in which round, for what, and why."""
    rows = [
        {"name": model.name, "round": rounds[model.round], "reason": model.reason}
        | {"settings": declared(language, in_words(settings_of(model)))}
        | {name: model.figures.get(name, math.nan) for name in COMPARED}
        for model in sorted(models, key=lambda model: (model.name.casefold(), model.round))
    ]
    return pd.DataFrame(rows)


def rounds_of(count: int, language: str) -> dict[int, str]:
    """What so many rounds of a vote are called."""
    names = {1: "first", 2: "second"}
    return {number: phrase(language, f"room.{names[number]}_vote") for number in range(1, count + 1)}


def figure_titles(models: Sequence[Vote], language: str) -> dict[str, tuple[str, str]]:
    """The figures of `COMPARED`, with their titles, which have units, and formats."""
    criterion = CRITERIA[settings_of(models[0]).fairness]
    return {
        "fairness": (declared(language, criterion.figure.axis_title), ".2f"),
        "accuracy": (declared(language, "Accuracy on test (%)"), ".1%"),
        "change_rate": (declared(language, "Decisions changed (% of test)"), ".1%"),
        "worse": (phrase(language, "room.worse_off"), ",.0f"),
    }


# ---- pictures ----


@dataclass(frozen=True)
class Picture:
    """A chart that is not yet drawn."""

    plot: Callable[..., Any]
    rows: pd.DataFrame
    options: dict[str, Any]


def guesses(found: Sequence[float | str], question: StepQuestion, answer: StepAnswer, language: str) -> Picture:
    """What was guessed at a step, and what the model says."""
    say = partial(phrase, language)
    people, model = say("room.people"), say("room.model_says")
    if question.options:
        other, counts, right = say("room.other_answer"), Counter(found), {answer.value, *answer.also}
        rows = [
            {"name": option, "rank": rank, "kind": model if option in right else other, "people": counts[option]}
            for rank, option in enumerate(question.options)
        ]
        return Picture(plot_answers, pd.DataFrame(rows), {"kinds": (other, model), "people": people})
    name, title = say("room.guesses"), f"{say('room.guess')} ({question.unit})"
    most = 100 if question.most == 100 else None
    bars = histogram([float(guess) for guess in found], float(answer.value), guesses=name, model=model, most=most)
    options = {"title": title, "people": people, "guesses": name, "answer": model, "most": most}
    return Picture(plot_guesses, bars, options)


def choices(question: RoomQuestion, rounds: Mapping[int, str], language: str) -> Picture:
    """How many chose each of two models, or neither, in each round."""
    say = partial(phrase, language)
    called = {"a": say("room.model_a"), "b": say("room.model_b"), "neither": say("room.neither")}
    counts = Counter((vote.choice, vote.round) for vote in question.votes)
    held = [number for number in rounds if number <= question.rounds]
    rows = [
        {
            "name": f"{title}|{rounds[number]}" if len(held) > 1 else title,
            "kind": rounds[number],
            "people": counts[choice, number],
        }
        for choice, title in called.items()
        for number in held
    ]
    frame = pd.DataFrame(rows).assign(rank=range(len(rows)))
    return Picture(plot_answers, frame, {"kinds": tuple(rounds.values()), "people": say("room.people")})


def models(signed: Sequence[Vote], kinds: Mapping[int, str], language: str, sweep: Sweep | None = None) -> Picture:
    """The frontier where it is known, f, where people stand or what they voted for, and from where they moved.

    `kinds` says what the points of each round are called.
    """
    say, titles = partial(phrase, language), figure_titles(signed, language)
    rows: list[dict[str, Any]] = []
    roles = [(say("room.f"), "f"), *zip(kinds.values(), ("first", "last"), strict=False)]
    if sweep is not None:
        roles.insert(0, (say("room.frontier"), "frontier"))
        columns = [CRITERIA[settings_of(signed[0]).fairness].figure_name, "accuracy", "settings", "best"]
        for fairness, accuracy, setting, best in sweep.points[columns].itertuples(index=False):
            line = "frontier" if best else ""
            rows.append(_row(roles[0][0], fairness, accuracy, 0, declared(language, setting), line, fairness))
    for pair in moves(signed):
        for order, end in enumerate(pair):
            at = end.figures["fairness"], end.figures["accuracy"]
            rows.append(_row(kinds[2], *at, 1, end.name, f"move {end.person_number}", order))
    for (round, fairness, accuracy), there in _together(signed).items():
        names = some_of([model.name for model in there], MAX_NAMES)
        who = f"{names} ({declared(language, in_words(settings_of(there[0])))})"
        rows.append(_row(kinds[round], fairness, accuracy, len(there), who))
    if signed and "f_fairness" in signed[0].figures:  # drawn over those who stand at it
        rows.append(
            _row(say("room.f"), signed[0].figures["f_fairness"], signed[0].figures["f_accuracy"], 0, say("room.f"))
        )
    options: dict[str, Any] = {
        "x_title": titles["fairness"][0],
        "y_title": titles["accuracy"][0],
        "people": say("room.people"),
    }
    if signed and has_four_fifths(settings_of(signed[0])):
        options |= {"line": FOUR_FIFTHS, "line_name": say("explore.four_fifths")}
    return Picture(plot_models, pd.DataFrame(rows), {"kinds": tuple(roles), **options})
