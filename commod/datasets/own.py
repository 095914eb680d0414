"""A task out of anybody's table: types guessed, choices checked, missing values handled in the open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from commod.datasets.raw import (
    DECIMAL_COMMAS,
    MAX_LEVELS,
    OTHER,
    Contract,
    in_words,
    learn_rule,
    missing_in,
    read_column,
    read_levels,
    read_numbers,
)
from commod.datasets.task import MAX_TRAINING, Feature, Task, TaskSpec
from commod.portable import ColumnRule
from commod.uploads.limits import short

__all__ = ["Choice", "ChoiceError", "OwnTask", "find_leaks", "guess_columns", "make_task"]

Kind = Literal["number", "category", "leave out"]

# An outcome or a sensitive attribute has at most this many values to choose from.
MAX_VALUES = 50
# Each group needs so many rows of each label, or nothing can be trained and held out.
LEAST_ROWS = 20


class ChoiceError(ValueError):
    """What is wrong with what was chosen, in a sentence that says what to do."""


@dataclass(frozen=True)
class Choice:
    """What is what in a table.

    Attributes
    ----------
    target, favourable : str
        The outcome's column, and the value (as text) that is good for a person; all other values count as the other
        outcome.
    sensitive : str
        Column of the sensitive attribute.
    groups : (str, str)
        Two of its values, as text; rows of other groups are left out.
    kinds : mapping of column to "number", "category" or "leave out"
        Columns that are not named are left out.
    scores : str
        Column with f's probabilities of the favourable outcome; empty, if f is to be trained here.
    missing : {"fill", "drop"}
        Missing features: the median for a number and a level of their own for a category, or leave those rows out.
    title : str
    merits : mapping of column to 1 or -1
        Numbers of which more (1) or less (-1) should never count against a person.
    """

    target: str
    favourable: str
    sensitive: str
    groups: tuple[str, str]
    kinds: dict[str, Kind] = field(hash=False)
    scores: str = ""
    missing: Literal["fill", "drop"] = "fill"
    title: str = "Your data"
    merits: dict[str, Literal[1, -1]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class OwnTask:
    """A task made from a table, and what was done to the table on the way, in sentences."""

    task: Task
    done: tuple[str, ...]


def as_text(values: pd.Series) -> pd.Series:
    """Values as texts, which stand for classes and levels; missing ones stay missing."""
    return read_levels(values)


def guess_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """What each column seems to be.

    Returns
    -------
    DataFrame
        Indexed by column: ``kind`` ("number", "category", "leave out"), ``why`` (in words), ``values`` (how many
        different), ``missing`` (rows), ``not_numbers`` (cells of a column of numbers that are none) and ``examples``.
    """
    rows = [_guess(frame[name]) for name in frame.columns]
    return pd.DataFrame(rows, index=pd.Index(frame.columns, name="column"))


def _guess(values: pd.Series) -> dict[str, Any]:
    present = values.dropna()
    different = int(present.nunique())
    numbers, wrong = _as_numbers(values)
    shown = ", ".join(_short(value) for value in pd.unique(present)[:3])
    found: dict[str, Any] = {"values": different, "missing": int(values.isna().sum()), "examples": shown}
    is_number = len(present) > 0 and wrong <= 0.2 * len(present)
    found["not_numbers"] = wrong if is_number else 0
    whole = is_number and bool((numbers.dropna() % 1 == 0).all())
    if different <= 1:
        return {"kind": "leave out", "why": "the same in every row", **found}
    if is_number and whole and different == len(values) and len(values) >= 50:
        return {"kind": "leave out", "why": "a different whole number in every row: a code, it seems", **found}
    if is_number:
        odd = _short(present[numbers.loc[present.index].isna()].iloc[0]) if wrong else ""
        why = f"numbers; {wrong:,} cells are none (“{odd}”) and count as missing" if wrong else "numbers"
        return {"kind": "number", "why": why, **found}
    if different > max(MAX_LEVELS, 0.2 * len(present)):
        return {"kind": "leave out", "why": "nearly as many texts as rows: names or notes, it seems", **found}
    why = "texts" if different <= MAX_LEVELS else f"texts; all but the {MAX_LEVELS - 1} most common become “{OTHER}”"
    return {"kind": "category", "why": why, **found}


def _as_numbers(values: pd.Series) -> tuple[pd.Series, int]:
    """Values as numbers (dates as days), and how many cells are none though they hold something."""
    numbers, _ = read_numbers(values)
    return numbers, int((numbers.isna() & ~missing_in(values)).sum())


def _short(value: object) -> str:
    return short(value, 24)


# ---- the task ----


def make_task(frame: pd.DataFrame, choice: Choice, *, name: str = "own") -> OwnTask:
    """Make a task from a table.

    Parameters
    ----------
    frame : DataFrame
        As `read_table` gives it.
    choice : Choice
    name : str
        Of the task.

    Raises
    ------
    ChoiceError
        If a column is missing, an outcome or a group has too few rows, or scores are no probabilities.
    """
    _check_columns(frame, choice)
    done: list[str] = []
    outcome, group = as_text(frame[choice.target]), as_text(frame[choice.sensitive])
    keep = outcome.notna() & group.isin(choice.groups)
    scores = None
    if choice.scores:
        scores = _checked_scores(frame[choice.scores], choice.scores)
        keep &= scores.notna()
    _tell_dropped(done, frame, outcome, group, scores, choice)
    names = [column for column, kind in choice.kinds.items() if kind != "leave out" and column in frame.columns]
    names = [column for column in names if column not in (choice.target, choice.sensitive, choice.scores)]
    if not names:
        raise ChoiceError("No feature is left: choose at least one column as a number or a category.")
    X, contract, told = _features(frame.loc[keep, names], choice)
    done += told
    whole = X.notna().all(axis=1)
    if not whole.all():
        done.append(f"{int((~whole).sum()):,} rows with a missing feature are left out.")
    index = X.index[whole]
    X = X.loc[index].reset_index(drop=True)
    y = (outcome.loc[index] == choice.favourable).astype(int).reset_index(drop=True)
    s = (group.loc[index] == choice.groups[1]).astype(int).reset_index(drop=True)
    _check_cells(y, s, choice)
    constant = [column for column in X.columns if len(pd.unique(X[column])) == 1]
    if constant:
        done.append(f"{_listed(constant)}: the same in all rows that are left, and so left out.")
        X = X.drop(columns=constant)
    contract = tuple(rule for rule in contract if rule.name in X.columns)
    if X.empty or not len(X.columns):
        raise ChoiceError("No feature is left that differs between people: choose other columns.")
    others = [value for value in pd.unique(outcome.loc[index]) if value != choice.favourable]
    bad = others[0] if len(others) == 1 else f"not {choice.favourable}"
    spec = TaskSpec(
        name=name,
        title=choice.title,
        features=tuple(_feature(rule, choice) for rule in contract),
        target=choice.target,
        target_label=f"{choice.target} is {choice.favourable}",
        outcomes=(f"{choice.target}: {bad}", f"{choice.target}: {choice.favourable}"),
        favourable=1,
        sensitive=choice.sensitive,
        groups=choice.groups,
        filter="",
        scores=choice.scores,
    )
    if scores is not None:
        X = X.assign(**{choice.scores: scores.loc[index].to_numpy(dtype=float)})
        decimal = _decimal(frame, choice.scores) or "."
        contract = (*contract, ColumnRule(choice.scores, "number", decimal))
    if 0.7 * len(X) > MAX_TRAINING:
        done.append(f"g learns from {MAX_TRAINING:,} of the training rows, drawn at random; f from all of them.")
    about = f"{choice.title}, uploaded in this session: {len(X):,} rows, {len(spec.features)} features, in memory only."
    sheet = "\n\n".join([about, *done])  # no markup: names of files and columns may hold anything
    task = Task(spec=spec, X=X, y=y, sensitive=s, datasheet=sheet, recipe=_recipe(choice, contract), contract=contract)
    return OwnTask(task, tuple(done))


def _feature(rule: ColumnRule, choice: Choice) -> Feature:
    name = str(rule.name)
    if rule.kind == "category":
        return Feature(name, name, "category")
    unit = "days since 1970" if rule.kind == "date" else ""
    return Feature(name, name, "number", unit, merit=choice.merits.get(name, 0))


def _recipe(choice: Choice, contract: Contract) -> str:
    arguments = "\n".join(f"    {key}={value!r}," for key, value in vars(choice).items())
    file = choice.title if choice.title.lower().endswith((".csv", ".tsv", ".txt", ".parquet")) else "your_file.csv"
    return (
        "from pathlib import Path\n\n"
        "from commod.datasets import Choice, make_task, read_table\n\n"
        f"table = read_table(Path({file!r}).read_bytes()).frame\n"
        f"choice = Choice(\n{arguments}\n)\n"
        "task = make_task(table, choice).task\n"
        "# task.contract says how a cell of the file is read:\n"
        + "".join(f"#   {str(rule.name)!r}: {' '.join(in_words(rule).split())}\n" for rule in contract)
    )


def _check_columns(frame: pd.DataFrame, choice: Choice) -> None:
    for role, column in (("outcome", choice.target), ("sensitive attribute", choice.sensitive)):
        if column not in frame.columns:
            raise ChoiceError(f"There is no column “{_short(column)}” for the {role}: choose one of the file's.")
    if choice.scores and choice.scores not in frame.columns:
        raise ChoiceError(f"There is no column “{_short(choice.scores)}” with scores: choose one of the file's.")
    if choice.target == choice.sensitive:
        raise ChoiceError("Outcome and sensitive attribute are the same column: choose two.")
    if choice.scores in (choice.target, choice.sensitive):
        raise ChoiceError("The column of scores is the outcome or the sensitive attribute: choose another.")
    for role, column in (("outcome", choice.target), ("sensitive attribute", choice.sensitive)):
        values = as_text(frame[column]).nunique()
        if values < 2:
            what = "class" if role == "outcome" else "group"
            raise ChoiceError(f"“{_short(column)}” has one {what} only: choose a column with two or more as {role}.")
        if values > MAX_VALUES:
            raise ChoiceError(
                f"“{_short(column)}” has {values:,} different values; the {role} can have at most {MAX_VALUES}: "
                "choose another column, or cut it into classes first."
            )
    if choice.favourable not in set(as_text(frame[choice.target]).dropna()):
        raise ChoiceError(
            f"“{_short(choice.favourable)}” is no value of “{_short(choice.target)}”: choose one that is."
        )
    known = set(as_text(frame[choice.sensitive]).dropna())
    if len(set(choice.groups)) != 2 or not set(choice.groups) <= known:
        raise ChoiceError(f"Choose two different groups of “{_short(choice.sensitive)}”.")


def _checked_scores(values: pd.Series, column: str) -> pd.Series:
    numbers, wrong = _as_numbers(values)
    if wrong:
        raise ChoiceError(f"“{_short(column)}” holds {wrong} cells that are no numbers: scores are probabilities.")
    low, high = numbers.min(), numbers.max()
    if not (low >= 0 and high <= 1):
        hint = "divide them by 100" if low >= 0 and high <= 100 else "apply a sigmoid to margins"
        raise ChoiceError(
            f"The scores in “{_short(column)}” go from {low:.3g} to {high:.3g}: probabilities of the favourable "
            f"outcome, between 0 and 1, are needed; {hint}."
        )
    if low > 0.5 or high <= 0.5:
        raise ChoiceError(
            f"All scores in “{_short(column)}” are on one side of one half, so f decides alike about everybody: scores "
            "must be probabilities with the decision at 0.5."
        )
    return numbers


def _tell_dropped(
    done: list[str],
    frame: pd.DataFrame,
    outcome: pd.Series,
    group: pd.Series,
    scores: pd.Series | None,
    choice: Choice,
) -> None:
    parts = [(int(outcome.isna().sum()), f"without an outcome in “{_short(choice.target)}”")]
    parts.append((int(group.isna().sum()), f"without a value in “{_short(choice.sensitive)}”"))
    other = int((group.notna() & ~group.isin(choice.groups)).sum())
    parts.append((other, f"of other groups of “{_short(choice.sensitive)}”"))
    if scores is not None:
        parts.append((int(scores.isna().sum()), f"without a score in “{_short(choice.scores)}”"))
    done += [f"{count:,} rows {what} are left out." for count, what in parts if count]


def _features(frame: pd.DataFrame, choice: Choice) -> tuple[pd.DataFrame, Contract, list[str]]:
    """The columns as a model gets them, the rules by which they were read, and what that did to them, in sentences."""
    columns: dict[str, pd.Series] = {}
    contract = []
    told = []
    for name in frame.columns:
        cells = frame[name]
        kind: Any = choice.kinds[name]
        rule = learn_rule(cells, kind, fill=choice.missing == "fill", decimal=_decimal(frame, name))
        unfilled = read_column(cells, replace(rule, fill=None))
        gaps = int(unfilled.isna().sum())
        if rule.kind == "category":
            if rule.other:
                rare = read_levels(cells, rule.decimal).nunique() - (MAX_LEVELS - 1)
                told.append(f"{rare:,} rare levels of “{_short(name)}” become “{OTHER}”.")
            if gaps and rule.fill:
                told.append(f"{gaps:,} missing in “{_short(name)}” become a level of their own.")
        else:
            if gaps == len(cells):
                raise ChoiceError(f"“{_short(name)}” holds no numbers: make it a category, or leave it out.")
            if rule.kind == "date":
                told.append(f"The dates in “{_short(name)}” are counted in days since 1 January 1970.")
            wrong = int((unfilled.isna() & ~missing_in(cells)).sum()) if gaps else 0
            if wrong:
                told.append(f"{wrong:,} cells of “{_short(name)}” are no {rule.kind}s and count as missing.")
            if gaps and rule.fill is not None:
                told.append(f"{gaps:,} missing in “{_short(name)}” are set to its median, {rule.fill:g}.")
        values = unfilled if rule.fill is None else unfilled.where(unfilled.notna(), rule.fill)
        columns[name] = values.astype("category") if rule.kind == "category" else values
        contract.append(rule)
    return pd.DataFrame(columns), tuple(contract), told


def _decimal(frame: pd.DataFrame, column: str) -> str:
    """The decimal mark of a column in the file, where that is known."""
    return "," if column in frame.attrs.get(DECIMAL_COMMAS, ()) else ""


def _check_cells(y: pd.Series, s: pd.Series, choice: Choice) -> None:
    if not len(y):
        raise ChoiceError("No row is left: choose other columns or groups, or fill missing values in.")
    if y.nunique() < 2:
        raise ChoiceError("Only one outcome is left among the rows that can be used: choose other groups.")
    for code, group in enumerate(choice.groups):
        for label, what in ((1, "with"), (0, "without")):
            rows = int(((s == code) & (y == label)).sum())
            if rows < LEAST_ROWS:
                raise ChoiceError(
                    f"Group “{_short(group)}” has {rows} rows {what} the favourable outcome; at least {LEAST_ROWS} are "
                    "needed to train and to hold some out. Choose other groups, or bring more data."
                )


def _listed(names: list[str]) -> str:
    return ", ".join(f"“{_short(name)}”" for name in names[:5]) + (" …" if len(names) > 5 else "")


def find_leaks(own: OwnTask) -> list[str]:
    """Features that give the outcome or the sensitive attribute away, one sentence each."""
    task = own.task
    found = []
    for feature in task.spec.features:
        values = task.X[feature.name]
        for what, truth in (("outcome", task.y), ("sensitive attribute", task.sensitive)):
            share = _predicted(values, truth)
            if share >= 0.995:
                says = "is the same as" if share == 1.0 else "gives away"
                found.append(
                    f"“{_short(feature.name)}” {says} the {what} ({share:.1%} of the rows can be told from it): leave "
                    "it out, unless it is known before the decision."
                )
    return found


def _predicted(values: pd.Series, truth: pd.Series) -> float:
    """Share of rows whose truth is told by the one feature: by level, or by one cut of a number."""
    if values.dtype == float:
        order = np.argsort(values.to_numpy(), kind="stable")
        ranked = truth.to_numpy()[order]
        below = np.cumsum(ranked)
        place = np.arange(1, len(ranked) + 1)
        ends = np.r_[np.diff(values.to_numpy()[order]) > 0, True]  # a cut lies between different values
        right = (place - below) + (below[-1] - below)  # 0 below the cut, 1 above
        best = np.maximum(right, len(ranked) - right)[ends]
        return float(best.max() / len(ranked))
    table = pd.crosstab(values, truth)
    return float(table.max(axis=1).sum() / len(truth))
