"""A room as one HTML file, in the style of the report: guesses with the models' answers, votes and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

import pandas as pd
from markupsafe import Markup

from commod import __version__
from commod.charts import export_chart
from commod.charts.room import plot_answers, plot_guesses, plot_models, plot_strip
from commod.dashboard.pages.room import frames
from commod.dashboard.rooms import Question, Room
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import data_in_words, in_words
from commod.dashboard.text.html import document, drawing
from commod.dashboard.text.language import phrase
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.live import live_stage
from commod.dashboard.views.lesson.scenarios import scenario

CHART_WIDTH = 640


def report_html(room: Room, language: str) -> str:
    """Everything that was shown in a room; guesses that were not revealed are counted only."""
    say = partial(phrase, language)
    taught = scenario(room.lesson, language)
    people = [person for person in room.people if not person.leads]
    facts = [
        (say("room.code"), room.code),
        (say("room.opened"), f"{datetime.fromtimestamp(room.opened, UTC):%Y-%m-%d %H:%M} UTC"),
        (say("lesson.choose"), taught.title),
        (say("room.people"), str(len(people))),
    ]
    return document(
        "room.html",
        language=language,
        kicker=f"COMMOD Explorer · commod {__version__}",
        title=say("room.room", code=room.code),
        lead=taught.title,
        words={name: say(f"room.{name}") for name in ("kept", "guesses_alt")} | {"room": say("frame.room")},
        facts=facts,
        steps=[_step(room, *at, language) for at in room.guesses],
        questions=[_question(question, language) for question in room.questions if question.votes],
    )


def _figure(chart: Any, caption: str) -> tuple[Markup, str]:
    """A chart as a drawing in the page, with its caption."""
    svg = export_chart(chart, "svg", width=CHART_WIDTH)
    return drawing(svg.decode(), caption, f"d{sha256(svg).hexdigest()[:8]}-"), caption


def _step(room: Room, lesson: str, name: str, language: str) -> dict[str, Any]:
    """The guesses at a step."""
    say, kept = partial(phrase, language), room.guesses[lesson, name]
    taught = scenario(lesson, language)
    place = taught.places.get(name)
    if place is None or (lesson, name) not in room.revealed:
        title = name if place is None else say("room.at_step", step=place + 1, title=taught.steps[place].title)
        count = [[say("room.not_revealed"), str(len(kept))]]
        empty = {"question": "", "answer": "", "chart": ""}
        return empty | {"title": title, "headings": [say("room.guess"), say("room.people")], "rows": count}
    at = live_stage(taught.steps[place], None)
    question, answer = script.question(at), script.answer(at)
    found = frames.guessed(kept, question)
    counts = pd.Series(found).value_counts().sort_index() if found else pd.Series(dtype=int)
    return {
        "title": say("room.at_step", step=place + 1, title=taught.steps[place].title),
        "question": question.text,
        "answer": answer.words,
        "chart": _figure(_guesses(found, question, answer, say), say("room.guesses_alt"))[0] if found else "",
        "headings": [say("room.guess"), say("room.people")],
        "rows": [[question.in_words(guess), str(count)] for guess, count in counts.items()],
    }


def _guesses(found: list[float | str], question: script.Question, answer: script.Answer, say: Any) -> Any:
    """The guesses at a step as a chart."""
    people, model = say("room.people"), say("room.model_says")
    if question.options:
        kinds = (say("room.other_answer"), model)
        rows = frames.chosen(found, question, answer, right=model, other=kinds[0])
        return plot_answers(rows, kinds=kinds, people=people)
    rows = frames.histogram(
        [float(guess) for guess in found], float(answer.value), guesses=say("room.guesses"), model=model
    )
    title = f"{say('room.guess')} ({question.unit})"
    return plot_guesses(rows, title=title, people=people, guesses=say("room.guesses"), answer=model)


def _question(question: Question, language: str) -> dict[str, Any]:
    """The votes for a question."""
    say = partial(phrase, language)
    rounds = frames.rounds_of(question.rounds, language)
    title = f"{question.number}. {say(f'room.{question.kind}_open')}"
    found = _pair if question.kind == "pair" else _sign
    return {"title": title, "models": [], "moved": "", "text": [0], **found(question, rounds, language)}


def _pair(question: Question, rounds: Mapping[int, str], language: str) -> dict[str, Any]:
    say = partial(phrase, language)
    called = {"a": say("room.model_a"), "b": say("room.model_b"), "neither": say("room.neither")}
    rows = frames.choices(question, rounds, called)
    models = [(called[name], model) for name, model in (("a", question.a), ("b", question.b)) if model is not None]
    chart = plot_answers(rows, kinds=tuple(rounds.values()), people=say("room.people"))
    return {
        "models": [(name, _in_words(model.link)) for name, model in models],
        "charts": [_figure(chart, say("room.choices_alt"))],
        "headings": [say("room.answer_column"), say("room.people")],
        "rows": [[row["name"].replace("|", " · "), str(row["people"])] for row in rows.to_dict("records")],
    }


def _in_words(link: str) -> str:
    settings = model_of_link(link)
    return f"{data_in_words(settings)}: {in_words(settings)}"


def _sign(question: Question, rounds: Mapping[int, str], language: str) -> dict[str, Any]:
    say = partial(phrase, language)
    sent = frames.votes(question)
    models, _ = frames.comparable(sent)
    table = frames.votes_table(sent, rounds)
    moved = frames.moves(sent)
    columns = {"name": "who", "round": "round", "settings": "setting", "reason": "reason"}
    return {
        "charts": _vote_charts(models, rounds, language),
        "moved": say("room.moved", n=len(moved), of=len(frames.twice(sent))) if question.rounds > 1 else "",
        "headings": [say(f"room.{word}") for word in columns.values()],
        "rows": [[str(row[name]) for name in columns] for row in table.to_dict("records")],
        "text": [0, 1, 2, 3],
    }


def _vote_charts(models: list[frames.Signed], rounds: Mapping[int, str], language: str) -> list[tuple[Markup, str]]:
    say = partial(phrase, language)
    if not models:
        return []
    titles = frames.figure_titles(models, language)
    roles = frames.kinds_of(rounds, language, swept=False)
    rows = frames.points(models, None, "", kinds=rounds, frontier=say("room.frontier"), f=say("room.f"))
    where = plot_models(
        rows, kinds=roles, x_title=titles["fairness"][0], y_title=titles["accuracy"][0], people=say("room.people")
    )
    how: dict[str, Any] = {"rounds": tuple(rounds.values()), "people": say("room.people")}
    strips = [
        _figure(plot_strip(frames.strip_rows(models, figure, rounds), title=title, form=form, **how), title)
        for figure, (title, form) in titles.items()
    ]
    return [_figure(where, say("room.votes_alt")), *strips]
