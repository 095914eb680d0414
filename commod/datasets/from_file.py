"""Make a task from a file. Whatever is not given is guessed as on the page Your data, and reported."""

import json
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from commod.datasets import roles
from commod.datasets.choice import COLUMN_FIELDS, Choice, ChoiceError, roles_of
from commod.datasets.columns import guess_columns
from commod.datasets.leaks import find_leaks, find_repeats
from commod.datasets.own import make_task, with_a_line
from commod.datasets.own_groups import MAX_VALUES, groups_of, small_together
from commod.datasets.task import Task
from commod.uploads.limits import TableError, content_of
from commod.uploads.reading import read_table
from commod.wording import first_of, some_of

Guess = Callable[[Sequence[str], pd.DataFrame], roles.Guess]
# The question where a guess would often be wrong, and the option that answers it.
_ASKED = {
    "target": ("--outcome", "Which column is the outcome?"),
    "favourable": ("--favourable", "Which value of the outcome is good for a person?"),
    "sensitive": ("--sensitive", "Which column is the sensitive attribute?"),
}
# How many letters of a file's name the page keeps.
MAX_NAME = 60
# Columns that a sentence names, at most.
MAX_NAMED = 20


def task_of_file(path: Path, given: Mapping[str, Any]) -> tuple[Task, list[str]]:
    """Read a file, guess what is not given, and make a task from it.

    `given` holds known fields of `Choice`, see `complete_choice`. Also returns sentences about what was found in the
    file, guessed and changed, and what may be wrong. Raises ValueError if the file cannot be read or used.
    """
    name, content = path.name[:MAX_NAME], content_of(path, "a CSV or Parquet file")
    try:
        table = read_table(content)
    except TableError as error:
        raise TableError(f"{name}: {error}") from None
    guesses = guess_columns(table.frame)
    choice = complete_choice(table.frame, guesses, name, given)
    if "threshold" not in given:
        choice = with_a_line(table.frame, choice)
    own = make_task(table.frame, choice, name=name)
    sentences = [*table.notices, *_guesses_in_words(choice, guesses, given), *map(str, own.done)]
    repeats = find_repeats(roles.possible_people(table.frame, guesses), choice)
    sentences += [f"Take care: {sentence}" for sentence in [*find_leaks(own), *repeats]]
    return own.task, sentences


def complete_choice(frame: pd.DataFrame, guesses: pd.DataFrame, title: str, given: Mapping[str, Any]) -> Choice:
    """The given fields of a choice, completed as the page Your data would at first.

    `frame`, `guesses`: as `read_table` and `guess_columns` give them. `title`: name of the file. `given`: fields of
    `Choice`; in ``kinds`` some columns, the others being guessed unless ``only_named`` is true.
    """
    _check_names(frame, given)
    named, only_named = given.get("kinds", {}), given.get("only_named", False)
    rest = {name: value for name, value in given.items() if name not in ("kinds", "only_named", "small_together")}
    said = _columns(rest.get("sensitive", ()))
    classes = [column for column in roles.columns_of_roles(guesses) if column not in said]
    target = _role(rest, "target", roles.guess_target, classes, guesses)
    others = [column for column in classes if column != target]
    sensitive = _columns(_role(rest, "sensitive", roles.guess_sensitive, others, guesses))
    outcomes = _classes(rest, frame[target], guesses, _columns(given.get("favourable", ())))
    columns = [str(column) for column in frame.columns]
    if "blanks" not in rest and not only_named:
        wanted = {*_columns(given.get("favourable", ())), *given.get("groups", ())}
        levels = (outcomes, *(roles.values_of(frame[column]) for column in sensitive))
        rest["blanks"] = tuple(value for each in levels for value in roles.guess_blanks(each) if value not in wanted)
    if "favourable" not in rest:
        known = [value for value in outcomes if value not in rest.get("blanks", ())]
        rest["favourable"] = _favourable(known, target, columns)
    rest |= _groups(frame, guesses, target, rest, given)
    possible = roles.possible_scores(frame, guesses, (target, *sensitive))
    scores = rest.setdefault("scores", roles.guess_scores(possible))
    rest.setdefault("scores_out_of", possible.get(scores, 1.0))
    taken = {target, *sensitive, scores, rest.get("person", ""), rest.get("weight", "")}
    free = [column for column in columns if column not in taken and (column in named or not only_named)]
    kind_of: dict[str, Any] = {column: named.get(column, guesses.loc[column, "kind"]) for column in free}
    kinds = {column: kind for column, kind in kind_of.items() if kind != "leave out"}
    return Choice(title=title, kinds=kinds, **rest)


def _check_names(frame: pd.DataFrame, given: Mapping[str, Any]) -> None:
    for value in (given[field] for field in COLUMN_FIELDS & set(given)):
        for column in [value] if isinstance(value, str) else value:
            if column and column not in frame.columns:
                known = some_of([*map(str, frame.columns)], MAX_NAMED)
                raise ChoiceError(f"There is no column “{column}” in the file: choose from {known}.")


def _columns(said: str | tuple[str, ...]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else said


def _role(rest: dict[str, Any], field: str, guess: Guess, columns: list[str], guesses: pd.DataFrame) -> Any:
    if field not in rest:
        if not columns:
            option, _ = _ASKED[field]
            raise ChoiceError(f"No column of 2 to {MAX_VALUES} values is left for {option}: add one, or cut a column.")
        rest[field] = _sure(guess(columns, guesses), field)
    return rest[field]


def _favourable(outcomes: list[str], target: str, columns: list[str]) -> str | tuple[str, ...]:
    if not 2 <= len(outcomes) <= MAX_VALUES:  # reported later
        return ""
    good = roles.guess_good_values(outcomes) if len(outcomes) > 2 else ()
    return tuple(good) or _sure(roles.guess_favourable(outcomes, target, columns), "favourable")


def _sure(guess: roles.Guess, field: str) -> str:
    """A guess that is right often enough; otherwise the command asks for the option that answers it."""
    if guess.is_sure:
        return str(guess)
    option, question = _ASKED[field]
    ways = [f"{option} {shlex.quote(value)}" for value in (guess, *guess.others)[:3]]
    raise ChoiceError(f"{question} Say {' or '.join(ways)}.")


def _classes(rest: dict[str, Any], values: pd.Series, guesses: pd.DataFrame, named: Collection[str]) -> list[str]:
    """The classes of the outcome; numbers are cut as on the page, unless the named value is one of them."""
    if "target_cut" not in rest and not set(named) & set(roles.values_of(values)):
        rest["target_cut"] = roles.guess_cut(values) if roles.is_cut(str(values.name), guesses) else None
    return roles.values_of(values, rest.get("target_cut"))


def _groups(
    frame: pd.DataFrame, guesses: pd.DataFrame, target: str, rest: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields that define the groups; numbers are cut unless a named group is one of them."""
    so_far = {name: rest[name] for name in ("sensitive", "sensitive_cut", "cuts", "merge", "blanks") if name in rest}
    choice = Choice(target=target, favourable="", groups=given.get("groups", ()), kinds={}, **so_far)
    cuts = {
        column: (roles.guess_cut(frame[column]),)
        for column in choice.sensitive_columns
        if not choice.cuts and roles.is_cut(column, guesses)
        if not set(choice.groups) & set(roles.values_of(frame[column]))
    }
    choice = replace(choice, cuts={**choice.cuts, **cuts})
    if (small := given.get("small_together")) is not None:
        for column in choice.sensitive_columns:
            together = small_together(roles.count_levels(frame, choice, column), small)
            choice = replace(choice, merge={**choice.merge, column: {**choice.merge.get(column, {}), **together}})
    elif not choice.groups and not choice.merge:
        choice = replace(choice, merge=roles.guess_merge(frame, choice))
    if not choice.groups:
        choice = replace(choice, groups=roles.guess_groups(frame, choice))
    is_known = groups_of(frame, choice).notna()
    unknown = "train" if not is_known.all() and not given.get("only_named") else "drop"
    found = {"groups": choice.groups, "cuts": choice.cuts, "merge": choice.merge}
    return {"unknown": unknown, **rest, **found, "sensitive_cut": None}


def _guesses_in_words(choice: Choice, guesses: pd.DataFrame, given: Mapping[str, Any]) -> list[str]:
    """What was guessed, in the form in which it could have been given."""
    names = set("target target_cut favourable sensitive cuts merge groups blanks".split()) - set(given)
    if choice.scores and "scores" not in given:
        names |= {"scores", "scores_out_of"}
    guessed = {name: value for name, value in roles_of(choice).items() if name in names}
    sentences = [f"Guessed: {json.dumps(guessed, ensure_ascii=False)[1:-1]}."] if guessed else []
    if given.get("only_named"):
        return sentences
    for kind, title in (("number", "Numbers"), ("category", "Categories")):
        if columns := [column for column, own in choice.kinds.items() if own == kind]:
            sentences.append(f"{title}: {first_of(columns, MAX_NAMED)}.")
    taken = {choice.target, *choice.sensitive_columns, choice.scores, choice.person, choice.weight}
    taken |= {*choice.kinds, *given.get("kinds", {})}
    left_out = [f"{column} ({row['why']})" for column, row in guesses.iterrows() if column not in taken]
    return [*sentences, *([f"Left out: {first_of(left_out, MAX_NAMED)}."] if left_out else [])]
