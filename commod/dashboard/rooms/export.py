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
    """Guesses (nobody's by name), votes (one row a person and round) and people as tables.

    The figures of each model stand in columns of their own; of a pair, those of the model that was chosen.
    """
    guesses = [
        (lesson, step, (lesson, step) in room.revealed, kept)
        for (lesson, step), all_kept in sorted(room.guesses.items())
        for kept in all_kept
    ]
    votes: list[dict[str, Any]] = []
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
        "votes": _with_columns(votes, _VOTES),
        "people": _with_columns(people, _PEOPLE),
    }


def _with_columns(rows: list[dict[str, Any]], first: list[str]) -> pd.DataFrame:
    """A table that has these columns first, also if nobody has sent anything yet."""
    others = dict.fromkeys(name for row in rows for name in row if name not in first)
    return pd.DataFrame(rows, columns=[*first, *others])
