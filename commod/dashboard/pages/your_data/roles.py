"""What is what in a table: outcome, f with its scores and cut-off, weights, who is trained on, and the features."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from commod.dashboard.pages.your_data.draft import UnansweredError, ask, draft, kept, select
from commod.dashboard.state.page_state import mirrored
from commod.dashboard.text.escape import escape_markdown
from commod.dashboard.text.glossary import tip
from commod.dashboard.text.html import html_table
from commod.datasets import Choice, ChoiceError, roles
from commod.datasets.own_groups import MAX_VALUES, classes_of
from commod.datasets.raw import read_numbers
from commod.models.base_models import BASE_MODELS
from commod.models.threshold import ONE_HALF
from commod.uploads.limits import count_of, short

# Values of an outcome that are all shown; more of them are in a list to open.
MAX_SHOWN = 12


@dataclass(frozen=True)
class Classes:
    """A column that has classes, or gets them by a cut, and the values of these with the number of rows."""

    column: str
    cut: float | None
    rows: dict[str, int]
    blanks: tuple[str, ...] = ()

    def label(self, value: str) -> str:
        """A value for a list to choose from."""
        return f"{value} ({count_of(self.rows[value], 'row')})"


def choose_outcome() -> tuple[Classes, str | tuple[str, ...]]:
    """The outcome, where it is cut, and its favourable values."""
    outcome = _outcome()
    values, is_cut = list(outcome.rows), outcome.cut is not None
    name = f"favourable_{outcome.column}"
    if len(values) > 2:
        return outcome, _choose_several(outcome, name)
    value_of = {value[0] if is_cut else value: value for value in values}  # a side stays chosen where the cut moves
    guess = roles.guess_favourable(values, outcome.column, [str(column) for column in draft().frame.columns])
    if is_cut or not guess.is_sure:  # where good begins, nobody but the user knows
        answers = {key: f"{outcome.column} is {outcome.label(value)}" for key, value in value_of.items()}
        ask("Which is good for a person?", answers, name)
    at_first = next(key for key, value in value_of.items() if value == guess)
    labels = {key: outcome.label(value) for key, value in value_of.items()}
    return outcome, value_of[select("The favourable outcome", list(labels), name, at_first, format_func=labels.get)]


def _choose_several(outcome: Classes, name: str) -> str | tuple[str, ...]:
    """Which of many values are good; at first those that say so, if each says what it is."""
    numbers = read_numbers(pd.Series(list(outcome.rows)))[0]
    values = (
        [list(outcome.rows)[place] for place in numbers.argsort()] if numbers.notna().all() else sorted(outcome.rows)
    )
    chosen = [value for value in draft().chosen.get(name, roles.guess_good_values(values)) if value in values]
    draw = partial(st.pills, selection_mode="multi") if len(values) <= MAX_SHOWN else st.multiselect
    picked = draw(
        "Which of these are good for a person?",
        values,
        format_func=lambda value: f"{value} ({outcome.rows[value]:,})",
        **kept(name, chosen),
    )
    found = [value for value in values if value in picked]
    if not found:
        raise UnansweredError
    return found[0] if len(found) == 1 else tuple(found)


def ask_column(question: str, guess: roles.Guess, columns: list[str], name: str) -> None:
    """Ask for a column, if the guess is often wrong: the best candidates with what they hold, and all others."""
    if not guess.is_sure:
        examples = draft().guesses["examples"]
        best = [str(column) for column in (guess, *guess.others)]
        answers = {column: f"{short(column)} ({short(examples[column])})" for column in best}
        ask(question, answers, name, [column for column in columns if column not in best])


def _outcome() -> Classes:
    here = draft()
    columns, label = roles.columns_of_roles(here.guesses), "Outcome (target)"
    guess = roles.guess_target(columns, here.guesses)
    ask_column("Which column says what was decided, or what happened?", guess, columns, "target")
    column = select(label, columns, "target", str(guess))
    cut = None
    if is_to_be_cut("target", column, "Cut these numbers in two"):
        cut = choose_cut(f"target_cut_{column}", column, roles.guess_cut(here.frame[column]))
    rows = {str(value): int(count) for value, count in classes_of(here.frame[column], cut).value_counts().items()}
    blanks = choose_blanks(column, list(rows))
    rows = {value: count for value, count in rows.items() if value not in blanks}
    if len(rows) < 2:
        raise ChoiceError(f"“{short(column)}” has one class only: choose a column with two or more as {label.lower()}.")
    return Classes(column, cut, rows, blanks)


def choose_blanks(column: str, values: list[str]) -> tuple[str, ...]:
    """Values of a column that say nothing, if some seem to."""
    found = roles.guess_blanks(values)
    if not found:
        return ()
    name = f"blanks_{column}"
    chosen = draft().chosen.get(name, found)
    label = f"Values of “{escape_markdown(column)}” that count as empty"
    return tuple(st.multiselect(label, values, **kept(name, chosen), placeholder="None"))


def is_to_be_cut(role: str, column: str, label: str) -> bool:
    """Whether a column of numbers is cut: one of few values only if somebody wants it, any other always."""
    here = draft()
    if column not in roles.columns_of_numbers(here.guesses):
        return False
    if int(here.guesses.loc[column, "values"]) > MAX_VALUES:
        return True
    name = f"{role}_is_cut_{column}"
    return st.toggle(label, **kept(name, here.chosen.get(name, roles.is_cut(column, here.guesses))))


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
            escape_markdown(f"{', '.join(named)} {seems} for how many people a row stands. If so, choose it here.")
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
    if not scores and (named := [column for column, out_of in found.items() if out_of > 1]):  # by its name
        st.caption(
            escape_markdown(f"Did a model make “{short(named[0])}”? Then choose it here; otherwise it is a feature.")
        )
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


TURN = {True: "Reverse them: use 1 − score", False: "Leave them as they are"}


def choose_line(choice: Choice) -> tuple[Choice, bool]:
    """The choice with f's cut-off, its scores turned round if wanted; and whether all that is asked is answered."""
    here, about = draft(), f"{choice.target}_{choice.favourable}_{choice.scores}"
    answered = True
    preview = here.preview(choice)
    turned = next((concern for concern in preview.concerns(choice) if concern.kind == "turned"), None)
    if turned is not None:
        name = f"turned_{about}"
        if here.chosen.get(name) is None:
            st.warning(f"{escape_markdown(turned.text)} Reverse them?", icon=":material/swap_vert:")
        answer = st.radio(
            "The scores",
            list(TURN),
            format_func=TURN.get,
            label_visibility="collapsed",
            horizontal=True,
            **kept(name, here.chosen.get(name)),
        )
        answered = answer is not None
        choice = replace(choice, turned=bool(answer))
    proposals = (concern.threshold for concern in preview.concerns(choice))
    proposed = next((threshold for threshold in proposals if threshold is not None), ONE_HALF)
    name = f"threshold_{about}_{choice.turned}"
    line = st.number_input(
        "Cut-off of f: the favourable outcome above this probability",
        0.001,
        0.999,
        step=0.01,
        format="%.3f",
        help=tip("threshold"),
        **kept(name, here.chosen.get(name, proposed)),
    )
    if proposed != ONE_HALF:
        st.caption(
            f"At {proposed:g}, f says it as often as the record does; at one half, hardly ever or nearly always."
        )
    choice = replace(choice, threshold=round(float(line), 3))
    if any(concern.kind == "worse" for concern in preview.concerns(choice)):
        name = f"worse_{about}_{choice.turned}"
        answered &= st.checkbox(
            "f does worse than always saying the same: use it anyway", **kept(name, here.chosen.get(name, False))
        )
    return choice, answered


KINDS = {"number": "Use as a number", "category": "Use as a category", "leave out": "Leave out"}
MERITS = {"more": "More of it is a merit", "less": "Less of it is a merit"}


def choose_features(taken: dict[str, str]) -> dict[str, Any]:
    """What each column is used as, but for those that are `taken` (column to what for)."""
    here = draft()
    free = [str(column) for column in here.frame.columns if column not in taken]
    place = st.container()
    rest = select(
        "All columns not named below",
        ["guess", "leave out"],
        "rest",
        "guess",
        format_func={"guess": "use as guessed", "leave out": "leave out"}.get,
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
    text = f"{count['number']} as numbers, {count['category']} as categories, {count['leave out']} left out"
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
    headings = ["Column", "Use as", "Why", "Different values", "Missing rows", "Examples"]
    st.caption(f"The columns: {text}.")
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
