"""A room to take home: one HTML file in the style of the report, and its tables with questions and answers in words."""

import io
import math
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

import pandas as pd
from markupsafe import Markup

from commod import __version__
from commod.charts import export_chart
from commod.dashboard.pages.room import pictures
from commod.dashboard.pages.room.pictures import Picture
from commod.dashboard.rooms import Question, Room
from commod.dashboard.rooms.export import as_tables
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import data_in_words, in_words
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.html import document, drawing
from commod.dashboard.text.language import declared, fill, phrase
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.asking import live_stage
from commod.dashboard.views.lesson.scenarios import all_scenarios, scenario


def setting_in_words(link: str, language: str) -> str:
    """The setting of a link, with its data; empty without one."""
    if not link:
        return ""
    settings = model_of_link(link)
    return declared(language, f"{data_in_words(settings)}: {in_words(settings)}")


def zipped_tables(room: Room, language: str) -> bytes:
    """Guesses, votes and people as CSV files in one file; the same room gives the same bytes."""
    tables = as_tables(room)
    guesses, votes = tables["guesses"], tables["votes"]
    asked = {at: _asked(room, *at, language) for at in room.guesses}
    steps = list(zip(guesses["lesson"], guesses["step"], strict=True))
    guesses["question"] = [asked[at][0].text for at in steps]
    guesses["guess_in_words"] = [
        ", ".join(asked[at][0].in_words(guess) for guess in pictures.guessed([kept], asked[at][0]))
        for at, kept in zip(steps, guesses["guess"], strict=True)
    ]
    guesses["answer"] = [asked[at][1] for at in steps]
    for name, link in (("model_a", "link_a"), ("model_b", "link_b"), ("setting", "link")):
        votes[name] = [setting_in_words(each, language) for each in votes[link]]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in tables.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.csv", (1980, 1, 1, 0, 0, 0)), safe_csv(table))
    return file.getvalue()


def _asked(room: Room, lesson: str, name: str, language: str) -> tuple[script.Question, str]:
    """What was asked at a step and, once that was revealed, what the model says; nothing of a step not known here."""
    places = scenario(lesson, language).places if lesson in all_scenarios()[0] else {}
    if name not in places:
        return script.Question(""), ""
    at = live_stage(scenario(lesson, language).steps[places[name]], None)
    question = script.question(at)
    return question, question.in_words(script.answer(at).value) if (lesson, name) in room.revealed else ""


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


def _figure(picture: Picture, caption: str) -> tuple[Markup, str]:
    """A chart as a drawing in the page, with its caption."""
    svg = export_chart(picture.chart(), "svg", width=CHART_WIDTH)
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
    found = pictures.guessed(kept, question)
    counts = pd.Series(found).value_counts().sort_index() if found else pd.Series(dtype=int)
    return {
        "title": say("room.at_step", step=place + 1, title=taught.steps[place].title),
        "question": question.text,
        "answer": answer.words,
        "chart": _figure(pictures.guesses(found, question, answer, language), say("room.guesses_alt"))[0]
        if found
        else "",
        "headings": [say("room.guess"), say("room.people")],
        "rows": [[question.in_words(guess), str(count)] for guess, count in counts.items()],
    }


def _question(question: Question, language: str) -> dict[str, Any]:
    """The votes for a question."""
    say = partial(phrase, language)
    rounds = pictures.rounds_of(question.rounds, language)
    title = f"{question.number}. {say(f'room.{question.kind}_open')}"
    found = _pair if question.kind == "pair" else _sign
    return {"title": title, "models": [], "moved": "", "text": [0], **found(question, rounds, language)}


def _pair(question: Question, rounds: Mapping[int, str], language: str) -> dict[str, Any]:
    say = partial(phrase, language)
    models = [(name, model) for name, model in (("a", question.a), ("b", question.b)) if model is not None]
    picture = pictures.choices(question, rounds, language)
    return {
        "models": [(say(f"room.model_{name}"), setting_in_words(model.link, language)) for name, model in models],
        "charts": [_figure(picture, say("room.choices_alt"))],
        "headings": [say("room.answer_column"), say("room.people")],
        "rows": [[row["name"].replace("|", " · "), str(row["people"])] for row in picture.rows.to_dict("records")],
    }


def _sign(question: Question, rounds: Mapping[int, str], language: str) -> dict[str, Any]:
    say = partial(phrase, language)
    sent = pictures.votes(question)
    models, _ = pictures.comparable(sent)
    table = pictures.votes_table(sent, rounds, language)
    moved = pictures.moves(sent)
    figures = pictures.figure_titles(sent, language) if sent else {}
    columns = {"name": "who", "round": "round", "settings": "setting", "reason": "reason"}
    return {
        "charts": _vote_charts(models, rounds, language),
        "moved": say("room.moved", n=len(moved), of=len(pictures.twice(sent))) if question.rounds > 1 else "",
        "headings": [*(say(f"room.{word}") for word in columns.values()), *(title for title, _ in figures.values())],
        "rows": [
            [
                *(str(row[name]) for name in columns),
                *(_written(row[name], form, language) for name, (_, form) in figures.items()),
            ]
            for row in table.to_dict("records")
        ],
        "text": [0, 1, 2, 3],
    }


def _written(value: float, form: str, language: str) -> str:
    """A figure as the language writes it; a dash where it is not known."""
    return "–" if math.isnan(value) else fill(language, f"{{value:{form}}}", value=value)


def _vote_charts(models: list[pictures.Signed], rounds: Mapping[int, str], language: str) -> list[tuple[Markup, str]]:
    if not models:
        return []
    strips = pictures.strips(models, rounds, language)
    where = _figure(pictures.models(models, rounds, language), phrase(language, "room.votes_alt"))
    return [where, *(_figure(picture, title) for title, picture in strips.items())]
