"""The tables of a room to take home, with what was asked and answered in words."""

import io
import zipfile

from commod.dashboard.pages.room import frames
from commod.dashboard.rooms import Room
from commod.dashboard.rooms.export import as_tables
from commod.dashboard.state.link import model_of_link
from commod.dashboard.state.settings import data_in_words, in_words
from commod.dashboard.text.escape import safe_csv
from commod.dashboard.views.lesson import script
from commod.dashboard.views.lesson.asking import live_stage
from commod.dashboard.views.lesson.scenarios import all_scenarios, scenario


def setting_in_words(link: str) -> str:
    """The setting of a link, with its data; empty without one."""
    if not link:
        return ""
    settings = model_of_link(link)
    return f"{data_in_words(settings)}: {in_words(settings)}"


def zipped_tables(room: Room, language: str) -> bytes:
    """Guesses, votes and people as CSV files in one file; the same room gives the same bytes."""
    tables = as_tables(room)
    guesses, votes = tables["guesses"], tables["votes"]
    asked = {at: _asked(room, *at, language) for at in room.guesses}
    steps = list(zip(guesses["lesson"], guesses["step"], strict=True))
    guesses["question"] = [asked[at][0].text for at in steps]
    guesses["guess_in_words"] = [
        ", ".join(asked[at][0].in_words(guess) for guess in frames.guessed([kept], asked[at][0]))
        for at, kept in zip(steps, guesses["guess"], strict=True)
    ]
    guesses["answer"] = [asked[at][1] for at in steps]
    for name, link in (("model_a", "link_a"), ("model_b", "link_b"), ("setting", "link")):
        votes[name] = votes[link].map(setting_in_words)
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
