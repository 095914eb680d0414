"""A room to take home: what was guessed and voted, without anything by which a seat could be taken."""

import json
from dataclasses import asdict
from typing import Any

import pandas as pd

from commod.dashboard.rooms.contents import Room

_PEOPLE = ["number", "name", "leads", "link"]
_GUESSES = ["lesson", "step", "revealed", "guess"]
_VOTES = ["question", "kind", "link_a", "link_b", "round", "person", "name", "choice", "reason", "link"]


def as_json(room: Room) -> str:
    """Everything in a room, as JSON."""
    whole: dict[str, Any] = asdict(room)
    del whole["seats"], whole["networks"]
    whole["revealed"] = [{"lesson": lesson, "step": step} for lesson, step in sorted(room.revealed)]
    whole["guesses"] = as_tables(room)["guesses"].to_dict("records")
    return json.dumps(whole, ensure_ascii=False, indent=2)


def as_tables(room: Room) -> dict[str, pd.DataFrame]:
    """Guesses, votes and people as tables, the figures of each model in columns of their own.

    Returns ``guesses`` (a row each; nobody's by name), ``votes`` (a row for each person and round, of a pair with the
    model that was chosen) and ``people``.
    """
    guesses = [
        (lesson, step, (lesson, step) in room.revealed, kept)
        for (lesson, step), all_kept in sorted(room.guesses.items())
        for kept in all_kept
    ]
    votes = [
        {
            "question": question.number,
            "kind": question.kind,
            "link_a": question.a.link if question.a else "",
            "link_b": question.b.link if question.b else "",
            "round": vote.round,
            "person": vote.person_number,
            "name": vote.name,
            "choice": vote.choice,
            "reason": vote.reason,
            "link": chosen.link,
            **chosen.figures,
        }
        for question in room.questions
        for vote in question.votes
        for chosen in [{"a": question.a, "b": question.b}.get(vote.choice) or vote]
    ]
    people = [
        {"number": one.number, "name": one.name, "leads": one.leads, "link": one.link, **one.figures}
        for one in room.people
    ]
    return {
        "guesses": pd.DataFrame(guesses, columns=_GUESSES),
        "votes": _with_columns(votes, _VOTES),
        "people": _with_columns(people, _PEOPLE),
    }


def _with_columns(rows: list[dict[str, Any]], first: list[str]) -> pd.DataFrame:
    """A table that has these columns first, also if nobody has sent anything yet."""
    others = dict.fromkeys(name for row in rows for name in row if name not in first)
    return pd.DataFrame(rows, columns=[*first, *others])
