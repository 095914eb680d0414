"""Which columns are features, as what, and which of them are merits: a table, and lists of what is to be changed."""

from functools import partial
from typing import Any

import streamlit as st

from commod.dashboard.pages.your_data.draft import draft, select
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table

KINDS = {"number": "Use as a number", "category": "Use as a category", "leave out": "Leave out"}
MERITS = {"more": "More of it is a merit", "less": "Less of it is a merit"}


def choose_features(taken: dict[str, str]) -> dict[str, Any]:
    """What each column is used as, but for those that are `taken` (column to what for)."""
    here = draft()
    free = [str(column) for column in here.frame.columns if column not in taken]
    place = st.container()
    rest = select(
        "Columns that are not named below",
        ["guess", "leave out"],
        "rest",
        "guess",
        format_func={"guess": "are used as what they seem to be", "leave out": "are left out"}.get,
    )
    named = _named("features", KINDS, free, placeholder="No change")
    kinds = {
        column: named.get(column) or (rest if rest != "guess" else here.guesses.loc[column, "kind"]) for column in free
    }
    with place:
        _draw_columns(taken, kinds)
    return kinds


def _draw_columns(taken: dict[str, str], kinds: dict[str, str]) -> None:
    """Every column, what it is used as and why."""
    count = {kind: list(kinds.values()).count(kind) for kind in KINDS}
    told = f"{count['number']} as numbers, {count['category']} as categories, {count['leave out']} left out"
    guesses = draft().guesses
    rows = [
        [
            str(name),
            taken.get(str(name)) or kinds[str(name)],
            "as you say" if str(name) in kinds and kinds[str(name)] != row["kind"] else row["why"],
            f"{row['values']:,}",
            f"{row['missing']:,}",
            row["examples"],
        ]
        for name, row in guesses.iterrows()
    ]
    headings = {"Column": "", "Use as": "", "Why": "", "Different values": "", "Missing": "rows", "Examples": ""}
    with st.expander(f"The columns: {told}", expanded=len(guesses) <= 12):
        st.html(html_table(headings, rows, caption="The columns of the file", text=(1, 2, 5), tall=len(rows) > 15))


def leave_out(*columns: str) -> None:
    """Use these columns no longer."""
    lists: dict[str, list[str]] = draft().chosen["features"]
    for key in lists:
        lists[key] = [column for column in lists[key] if column not in columns]
    lists["leave out"] += columns


def choose_merits(numbers: list[str]) -> dict[str, Any]:
    """Numbers of which more, or less, should never count against a person; none at first, since it is a judgement."""
    ways = _named("merits", MERITS, numbers, help=tip("merit"), placeholder="None")
    return {column: 1 if way == "more" else -1 for column, way in ways.items()}


def _named(name: str, titles: dict[str, str], columns: list[str], **more: Any) -> dict[str, str]:
    """Columns named in some lists, none at first; one that is chosen for a list leaves the others."""
    lists: dict[str, list[str]] = draft().chosen.setdefault(name, {})
    for key in titles:
        lists[key] = [column for column in lists.get(key, []) if column in columns]

    def take(key: str, chosen: list[str]) -> None:
        for other in lists:
            lists[other] = [column for column in lists[other] if column not in chosen]
        lists[key] = chosen

    for place, (key, title) in zip(st.columns(len(titles), gap="medium"), titles.items(), strict=True):
        place.multiselect(title, columns, **mirrored(f"own_{name}_{key}", lists[key], partial(take, key)), **more)
    return {column: key for key, chosen in lists.items() for column in chosen}
