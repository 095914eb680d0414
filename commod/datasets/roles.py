"""Which column of anybody's table plays which part: guesses by names and values, for somebody to confirm."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import pandas as pd

from commod.datasets.own import MAX_VALUES, as_text

__all__ = [
    "columns_of_classes",
    "guess_favourable",
    "guess_scores",
    "guess_sensitive",
    "guess_target",
    "possible_scores",
    "values_of",
]

# Names under which outcomes, sensitive attributes and scores often go, and values that are good for a person.
_TARGETS = re.compile(r"^(y|target|label|outcome|class|hired|default|approved|accepted|pass\w*|recid\w*|income)$", re.I)
_SENSITIVE = re.compile(r"(sex|gender|race|ethnic|group|nationality|religion|minority|disab)", re.I)
_SCORES = re.compile(r"(score|prob|pred)", re.I)
_GOOD = {"1", "yes", "true", "y", "good", "pass", "approved", "hired", "ja", "oui", "si", "sí", "sim", "да", "是"}


def columns_of_classes(guesses: pd.DataFrame) -> list[str]:
    """Columns that can be an outcome or a sensitive attribute: with two values or more, but not too many.

    Parameters
    ----------
    guesses : DataFrame
        As `guess_columns` gives it; so in all functions here.
    """
    return [str(column) for column in guesses.index[guesses["values"].between(2, MAX_VALUES)]]


def values_of(column: pd.Series) -> list[str]:
    """The values of a column as text, the most common first."""
    return [str(value) for value in as_text(column).value_counts().index]


def guess_target(columns: Sequence[str], guesses: pd.DataFrame) -> str:
    """The outcome among `columns`: by its name, one of two values rather than of more, and the last of these.

    Outcomes tend to stand at the end of a table.
    """
    return _likeliest(columns, guesses, _TARGETS)[-1]


def guess_sensitive(columns: Sequence[str], guesses: pd.DataFrame) -> str:
    """The sensitive attribute among `columns`: by its name, one of two values rather than of more; the first one."""
    return _likeliest(columns, guesses, _SENSITIVE)[0]


def _likeliest(columns: Sequence[str], guesses: pd.DataFrame, pattern: re.Pattern[str]) -> Sequence[str]:
    named = [column for column in columns if pattern.search(column)]
    two = [column for column in named or columns if guesses.loc[column, "values"] == 2]
    return two or named or columns


def guess_favourable(values: Sequence[str]) -> str:
    """The value of an outcome that is good for a person: by its name, else the first."""
    return next((value for value in values if value.lower() in _GOOD), values[0])


def possible_scores(frame: pd.DataFrame, guesses: pd.DataFrame, taken: Collection[str] = ()) -> list[str]:
    """Columns that can hold a model's scores: numbers between 0 and 1, of three values or more, and not `taken`."""
    found = []
    for column in frame.columns:
        if column in taken or guesses.loc[column, "kind"] != "number" or guesses.loc[column, "values"] < 3:
            continue
        numbers = pd.to_numeric(frame[column].astype(object), errors="coerce")
        if numbers.min() >= 0 and numbers.max() <= 1:
            found.append(str(column))
    return found


def guess_scores(columns: Sequence[str]) -> str:
    """The column of scores among `columns`: by its name, else none ("")."""
    return next((column for column in columns if _SCORES.search(column)), "")
