"""Rows of the database as what a page sees of a room, and what somebody sends as it is written: bounded and checked."""

import json
import math
from collections import defaultdict
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

from sqlalchemy import Connection, Row, func, select

from commod.dashboard.rooms.contents import Figures, Model, Person, Question, RoomError, Vote
from commod.dashboard.rooms.schema import guesses

# Who was seen so many seconds ago is still there.
HERE_SECONDS = 30.0
LINK_LENGTH = 2000
WORD_LENGTH = 200  # of a lesson's name, a step's, and a guess as it is kept
MOST_FIGURES = 30


def read_guesses(connection: Connection, code: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """By step what was guessed, sorted. The database counts equal guesses: a class makes thousands in an hour."""
    what = (guesses.c.lesson, guesses.c.step, guesses.c.kept)
    counted = select(*what, func.count()).where(guesses.c.code == code).group_by(*what)
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for lesson, step, kept, times in connection.execute(counted):
        found[lesson, step] += [kept] * times
    return {key: tuple(sorted(kept)) for key, kept in found.items()}


@lru_cache(maxsize=4096)
def _read_figures(text: str) -> Figures:
    """Most of a room's figures are those of the last look, and many people stand at one setting."""
    figures: Figures = json.loads(text)
    return figures


def read_person(row: Row[Any], now: float) -> Person:
    """Somebody in a room, from a row of `people`."""
    here = row.seen > now - HERE_SECONDS
    return Person(row.number, row.name, row.leads, row.waiting, here, row.at, row.link, _read_figures(row.figures))


def read_questions(asked: Any, sent: Any, names: dict[int, str]) -> tuple[Question, ...]:
    """Questions with their votes, from rows of both; `names` are those of the people by number."""
    by_question: dict[int, list[Vote]] = defaultdict(list)
    for row in sent:
        figures = _read_figures(row.figures)
        vote = Vote(row.person, names[row.person], row.round, row.link, figures, row.reason, row.choice)
        by_question[row.question].append(vote)
    found = []
    for row in asked:
        a, b = (Model(**model) for model in json.loads(row.pair)) if row.pair else (None, None)
        state = (row.rounds, row.open, row.shown, row.ended)
        found.append(Question(row.number, row.kind, *state, a, b, tuple(by_question[row.number])))
    return tuple(found)


def checked_word(text: str) -> str:
    """A name of ours, or a guess as it is kept: bounded, and nothing in it that a database refuses."""
    if len(text) > WORD_LENGTH or not text.isprintable():
        raise RoomError("too_long")
    return text


def checked_link(link: str) -> str:
    """A setting as a link: on data that everybody has, and nobody's seat in it."""
    from commod.datasets import TASKS  # which takes seconds: the server answers before

    if len(link) > LINK_LENGTH or not link.isascii() or not link.isprintable():
        raise RoomError("too_long")
    parameters = parse_qs(link)
    if {"seat", "lead"} & set(parameters):
        raise RoomError("too_long")
    if parameters.get("data", [""])[-1] not in TASKS:
        raise RoomError("own_data")
    return link


def written_figures(figures: Figures) -> str:
    """As JSON; those that are not known (not finite) are left out."""
    known = {str(name): float(value) for name, value in figures.items() if math.isfinite(value)}
    if len(known) > MOST_FIGURES or any(len(name) > WORD_LENGTH or not name.isprintable() for name in known):
        raise RoomError("too_long")
    return json.dumps(known)
