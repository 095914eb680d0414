"""A room to take home: one HTML file in the style of the report, and its tables with questions and answers in words."""

import io
import math
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
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
from commod.dashboard.rooms.contents import Room, RoomQuestion
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import data_in_words, in_words
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.html import document, drawing
from commod.dashboard.text.language import FIRST, declared, fill, phrase
from commod.dashboard.views.chart import NUMBERS
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.asking import live_stage
from commod.dashboard.views.lesson.scenarios import all_scenarios, scenario

_PEOPLE = ["number", "name", "leads", "link"]
_GUESSES = ["lesson", "step", "revealed", "guess"]
_VOTES = ["question", "kind", "link_a", "link_b", "round", "person", "name", "choice", "reason", "link"]


def as_tables(room: Room) -> dict[str, pd.DataFrame]:
    """Guesses (nobody's by name), votes (one row a person and round) and people as tables.

    The figures of each model stand in columns of their own; of a pair, those of the model that was chosen.
    """
    guesses = [
        (lesson, step, (lesson, step) in room.revealed, kept)
        for (lesson, step), all_kept in sorted(room.guesses.items())
        for kept in all_kept
    ]
    votes = []
    for question in room.questions:
        links = [model.link if model else "" for model in (question.a, question.b)]
        for vote in question.votes:
            chosen = {"a": question.a, "b": question.b}.get(vote.choice) or vote
            asked = (question.number, question.kind, *links, vote.round)
            row = (*asked, vote.person_number, vote.name, vote.choice, vote.reason, chosen.link)
            votes.append({**dict(zip(_VOTES, row, strict=True)), **chosen.figures})
    people = [{**{name: getattr(one, name) for name in _PEOPLE}, **one.figures} for one in room.people]
    return {
        "guesses": pd.DataFrame(guesses, columns=_GUESSES),
        "votes": pd.DataFrame(votes, columns=list(dict.fromkeys([*_VOTES, *(name for row in votes for name in row)]))),
        "people": pd.DataFrame(
            people, columns=list(dict.fromkeys([*_PEOPLE, *(name for row in people for name in row)]))
        ),
    }


def setting_in_words(link: str, language: str) -> str:
    """The setting of a link, with its data; empty without one."""
    if not link:
        return ""
    settings = model_of_link(link)
    data, sliders = (declared(language, text) for text in (data_in_words(settings), in_words(settings)))
    return f"{data} ({sliders})"


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
        votes[name] = votes[link].map(partial(setting_in_words, language=language))
    columns = dict(zip(*(phrase(text, "room.columns").split() for text in (FIRST, language)), strict=True))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, table in tables.items():
            text = safe_csv(table.rename(columns=columns))
            archive.writestr(zipfile.ZipInfo(f"{name}.csv", (1980, 1, 1, 0, 0, 0)), text)
    return file.getvalue()


def _asked(room: Room, lesson: str, name: str, language: str) -> tuple[script.StepQuestion, str]:
    """What was asked at a step and, once that was revealed, what the model says; nothing of a step not known here."""
    places = scenario(lesson, language).places if lesson in all_scenarios()[0] else {}
    if name not in places:
        return script.StepQuestion(""), ""
    at = live_stage(scenario(lesson, language).steps[places[name]], None)
    question = script.question(at)
    return question, question.in_words(script.answer(at).value) if (lesson, name) in room.revealed else ""


CHART_WIDTH = 640


def room_report_html(room: Room, language: str) -> str:
    """Everything that was shown in a room; guesses that were not revealed are counted only."""
    say, taught = partial(phrase, language), scenario(room.lesson, language)
    facts = [
        (say("room.code"), room.code),
        (say("room.opened"), f"{datetime.fromtimestamp(room.opened, UTC):%Y-%m-%d %H:%M} UTC"),
        (say("lesson.choose"), taught.title),
        (say("room.people"), str(sum(not person.leads for person in room.people))),
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


def _figure(picture: Picture, caption: str, language: str) -> tuple[Markup, str]:
    chart = picture.chart()
    if language != FIRST:
        chart = chart.configure(locale={"number": NUMBERS[language]})
    svg = export_chart(chart, "svg", width=CHART_WIDTH)
    return drawing(svg.decode(), caption, f"d{sha256(svg).hexdigest()[:8]}-"), caption


def _step(room: Room, lesson: str, name: str, language: str) -> dict[str, Any]:
    say, kept, taught = partial(phrase, language), room.guesses[lesson, name], scenario(lesson, language)
    place = taught.places.get(name)
    title = name if place is None else say("room.at_step", step=place + 1, title=taught.steps[place].title)
    found = {"title": title, "headings": [say("room.guess"), say("room.people")]}
    if place is None or (lesson, name) not in room.revealed:
        rows = [[say("room.not_revealed"), str(len(kept))]]
        return {**found, "rows": rows, "question": "", "answer": "", "chart": ""}
    at = live_stage(taught.steps[place], None)
    question, answer = script.question(at), script.answer(at)
    guesses, chart = pictures.guessed(kept, question), Markup()
    if guesses:
        picture = pictures.guesses(guesses, question, answer, language)
        chart, _ = _figure(picture, say("room.guesses_alt"), language)
    counts = sorted(Counter(guesses).items())  # all numbers, or all texts
    rows = [[question.in_words(guess), str(count)] for guess, count in counts]
    return {**found, "rows": rows, "question": question.text, "answer": answer.words, "chart": chart}


def _question(question: RoomQuestion, language: str) -> dict[str, Any]:
    title = f"{question.number}. {phrase(language, f'room.{question.kind}_open')}"
    rounds = pictures.rounds_of(question.rounds, language)
    found = (_pair if question.kind == "pair" else _sign)(question, rounds, partial(phrase, language), language)
    return {"title": title, "models": [], "moved": "", "text": [0], **found}


def _pair(question: RoomQuestion, rounds: Mapping[int, str], say: Callable[..., str], language: str) -> dict[str, Any]:
    models = [(name, model) for name, model in (("a", question.a), ("b", question.b)) if model is not None]
    picture = pictures.choices(question, rounds, language)
    return {
        "models": [(say(f"room.model_{name}"), setting_in_words(model.link, language)) for name, model in models],
        "charts": [_figure(picture, say("room.choices_alt"), language)],
        "headings": [say("room.answer_column"), say("room.people")],
        "rows": [[row["name"].replace("|", " · "), str(row["people"])] for row in picture.rows.to_dict("records")],
    }


def _sign(question: RoomQuestion, rounds: Mapping[int, str], say: Callable[..., str], language: str) -> dict[str, Any]:
    sent = pictures.votes(question)
    models, _ = pictures.comparable(sent)
    moved, both = pictures.moves(sent), pictures.in_both_rounds(sent)
    figures = pictures.figure_titles(sent, language) if sent else {}
    columns = {"name": "who", "round": "round", "settings": "setting", "reason": "reason"}

    def written(value: float, form: str) -> str:
        return "–" if math.isnan(value) else fill(language, f"{{value:{form}}}", value=value)

    return {
        "charts": [_figure(pictures.models(models, rounds, language), say("room.votes_alt"), language)]
        if models
        else [],
        "moved": say("room.moved", n=len(moved), of=len(both)) if question.rounds > 1 else "",
        "headings": [*(say(f"room.{word}") for word in columns.values()), *(title for title, _ in figures.values())],
        "rows": [
            [*(str(row[name]) for name in columns), *(written(row[name], form) for name, (_, form) in figures.items())]
            for row in pictures.votes_table(sent, rounds, language).to_dict("records")
        ],
        "text": [0, 1, 2, 3],
    }
