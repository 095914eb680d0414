"""What a leader takes home of a room: guesses and votes as tables, with questions and answers in words."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pandas as pd

from commod.dashboard.pages.room import pictures
from commod.dashboard.rooms.contents import Room, SharedModel, Vote
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import data_in_words, in_words
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.text.language import FIRST, declared, phrase
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.asking import live_stage
from commod.dashboard.views.lesson.scenarios import all_scenarios, scenario


def zipped_tables(room: Room, language: str) -> bytes:
    """Guesses (nobody's by name) and votes as CSV files in one file, if there are any; equal rooms give equal bytes."""
    columns = dict(zip(*(phrase(text, "room.columns").split() for text in (FIRST, language)), strict=True))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in (("guesses", _guesses(room, language)), ("votes", _votes(room, language))):
            table = pd.DataFrame(rows)
            if len(table):
                text = safe_csv(table.rename(columns=columns))
                archive.writestr(zipfile.ZipInfo(f"{name}.csv", (1980, 1, 1, 0, 0, 0)), text)
    return file.getvalue()


def _guesses(room: Room, language: str) -> Iterator[dict[str, Any]]:
    for (lesson, step), all_kept in room.guesses.items():
        question, answer = _asked(room, lesson, step, language)
        for kept in all_kept:
            said = ", ".join(question.in_words(guess) for guess in pictures.guessed([kept], question))
            found = {"lesson": lesson, "step": step, "question": question.text}
            yield {**found, "guess": kept, "guess_in_words": said, "answer": answer}


def _asked(room: Room, lesson: str, name: str, language: str) -> tuple[script.StepQuestion, str]:
    """What was asked at a step and, once that was revealed, what the model says; nothing of a step not known here."""
    places = scenario(lesson, language).places if lesson in all_scenarios()[0] else {}
    if name not in places:
        return script.StepQuestion(""), ""
    at = live_stage(scenario(lesson, language).steps[places[name]], None)
    question = script.question(at)
    return question, question.in_words(script.answer(at).value) if (lesson, name) in room.revealed else ""


def _votes(room: Room, language: str) -> Iterator[dict[str, Any]]:
    """A row for each person and round, with the figures of the model that was sent, or chosen of a pair."""

    def setting(model: SharedModel | Vote | None) -> str:
        if model is None or not model.link:
            return ""
        settings = model_of_link(model.link)
        data, sliders = (declared(language, text) for text in (data_in_words(settings), in_words(settings)))
        return f"{data} ({sliders})"

    for question in room.questions:
        asked = f"{question.number}. {phrase(language, f'room.{question.kind}_open')}"
        for vote in question.votes:
            chosen = {"a": question.a, "b": question.b}.get(vote.choice) or vote
            found = {"question": asked, "round": vote.round, "name": vote.name, "choice": vote.choice}
            found |= {"reason": vote.reason, "model_a": setting(question.a), "model_b": setting(question.b)}
            yield {**found, "setting": setting(chosen), "link": chosen.link, **chosen.figures}
