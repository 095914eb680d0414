"""What is what in a table: outcome, f and its scores, weights, and who is trained on."""

from collections.abc import Collection
from dataclasses import dataclass

import streamlit as st

from commod.dashboard.pages.your_data.draft import draft, kept, select
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.datasets import ChoiceError, roles
from commod.datasets.own_groups import MAX_VALUES, classes_of
from commod.datasets.raw import read_numbers
from commod.models.base_models import BASE_MODELS
from commod.uploads.limits import count_of, short


@dataclass(frozen=True)
class Classes:
    """A column that has classes, or gets them by a cut, and the values of these with the number of rows."""

    column: str
    cut: float | None
    rows: dict[str, int]

    def label(self, value: str) -> str:
        """A value for a list to choose from."""
        return f"{value} ({count_of(self.rows[value], 'row')})"


def choose_outcome() -> tuple[Classes, str]:
    """The outcome, where it is cut, and its favourable value."""
    here = draft()
    outcome = _outcome()
    values = list(outcome.rows)
    good = roles.guess_favourable(values, outcome.column, [str(column) for column in here.frame.columns])
    name = f"favourable_{outcome.column}"
    return outcome, select("The favourable outcome", values, name, good, format_func=outcome.label)


def _outcome() -> Classes:
    here = draft()
    columns, label = roles.columns_of_roles(here.guesses), "Outcome (target)"
    column = select(label, columns, "target", roles.guess_target(columns, here.guesses))
    cut = None
    if column in roles.columns_of_numbers(here.guesses):
        is_cut = True
        if int(here.guesses.loc[column, "values"]) <= MAX_VALUES:
            key = f"target_is_cut_{column}"
            at_first = here.chosen.get(key, roles.is_cut(column, here.guesses))
            is_cut = st.toggle("Cut these numbers in two", **kept(key, at_first))
        if is_cut:
            cut = choose_cut(f"target_cut_{column}", column, roles.guess_cut(here.frame[column]))
    rows = classes_of(here.frame[column], cut).value_counts()
    if len(rows) < 2:
        raise ChoiceError(f"“{short(column)}” has one class only: choose a column with two or more as {label.lower()}.")
    return Classes(column, cut, {str(value): int(count) for value, count in rows.items()})


def choose_cut(name: str, column: str, guess: float, label: str = "Cut at (this number and above, or below)") -> float:
    """Where to cut numbers, such that there are some on both sides."""
    here = draft()
    numbers = read_numbers(here.frame[column])[0].dropna()
    low, high = float(numbers[numbers > numbers.min()].min()), float(numbers.max())
    value = min(max(here.chosen.get(name, guess), low), high)
    whole = bool((numbers % 1 == 0).all())
    step = 1.0 if whole and high - low > 1 else (high - low) / 100 or 0.01
    return float(st.number_input(label, low, high, step=step, format="%.10g", **kept(name, value)))


def choose_weight(taken: Collection[str]) -> str:
    """The column that says for how many people a row stands, if the rows are of a survey."""
    guesses = draft().guesses
    columns = [column for column in roles.possible_weights(guesses) if column not in taken]
    titles = {"": "no: each row is one person", **{column: f"yes, by “{column}”" for column in columns}}
    chosen = select("Weights of a survey", list(titles), "weight", "", format_func=titles.get, help=tip("weight"))
    named = [f"“{short(column)}”" for column in columns if guesses.loc[column, "special"] == "weight"]
    if named and not chosen:
        seems = "seems to say" if len(named) == 1 else "seem to say"
        st.caption(
            escape_markdown(f"{', '.join(named)} {seems} for how many people a row stands: chosen here, it does.")
        )
    return chosen


def choose_scores(taken: tuple[str, ...]) -> tuple[str, float]:
    """The column of f's scores, if there is one, and what they are out of."""
    here = draft()
    found = roles.possible_scores(here.frame, here.guesses, taken)

    def label(column: str) -> str:
        if not column:
            return f"is trained here ({', '.join(title.lower() for title, _ in BASE_MODELS.values())})"
        scale = "" if found[column] == 1 else f", out of {found[column]:g}"
        return f"its scores are in “{column}”{scale}"

    name, guess = f"scores_{'_'.join(taken)}", roles.guess_scores(found)
    scores = select("The model f", ["", *found], name, guess, format_func=label, help=tip("given_scores"))
    return scores, found.get(scores, 1.0)


def choose_split(target: str) -> tuple[str, str]:
    """Column of people and column of times by which rows are split: at most one of them, the other is empty."""
    here = draft()
    ways = {"": "at random"}
    ways |= {f"person {column}": f"by person, “{column}”" for column in here.repeats if column != target}
    times = roles.possible_times(here.guesses)
    ways |= {f"time {column}": f"by time, “{column}”: the latest are tested on" for column in times if column != target}
    if len(ways) == 1:
        return "", ""
    chosen = select("Rows to train on and to test on", list(ways), "split", "", format_func=ways.get)
    way, _, column = chosen.partition(" ")
    return (column, "") if way == "person" else ("", column)
