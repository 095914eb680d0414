"""A task out of anybody's table: types guessed, choices checked, missing values handled in the open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from commod.datasets.choice_options import written_options
from commod.datasets.task import MAX_TRAINING, Feature, Task, TaskSpec
from commod.uploads.limits import short

__all__ = [
    "Choice",
    "ChoiceError",
    "OwnTask",
    "classes_of",
    "find_leaks",
    "guess_columns",
    "make_task",
    "sides_of",
]

Kind = Literal["number", "category", "leave out"]

# A category with more levels than this keeps the most common ones; the rest become OTHER.
MAX_LEVELS = 30
OTHER, MISSING = "other", "missing"
# An outcome or a sensitive attribute has at most this many values to choose from.
MAX_VALUES = 50
# Numbers beyond this, and infinity, count as missing: the square of one has to be a number, too.
LARGEST = 1e100
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
    target_cut, sensitive_cut : float, optional
        Where to cut a column of numbers in two: the classes are then called as `sides_of` says.
    scores_out_of : float, default 1
        What a score of certainty is in the column of scores: they are divided by it (100 for percentages).
    person : str
        Column that says whose row it is: all rows of a person are on the same side of the split.
    time : str
        Column of dates or numbers: the latest rows are the test part, whatever the seed.
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
    target_cut: float | None = None
    sensitive_cut: float | None = None
    scores_out_of: float = 1.0
    person: str = ""
    time: str = ""


@dataclass(frozen=True)
class OwnTask:
    """A task made from a table, and what was done to the table on the way, in sentences."""

    task: Task
    done: tuple[str, ...]


def as_text(values: pd.Series) -> pd.Series:
    """Values as text, whole numbers without a decimal point; missing ones stay missing."""
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.map({True: "True", False: "False"})
    if pd.api.types.is_numeric_dtype(values.dtype):
        # Few different numbers among many rows: format each once.
        return values.map({number: f"{number:.10g}" for number in pd.unique(values.dropna())})
    return values.astype("string").str.strip().replace("", pd.NA).astype(object)


def sides_of(cut: float) -> tuple[str, str]:
    """What the two classes of a column that is cut are called."""
    return f"< {cut:.10g}", f"≥ {cut:.10g}"


def classes_of(values: pd.Series, cut: float | None = None) -> pd.Series:
    """The classes of a column as text: its values or, if it is cut, the side of each number; missing stay missing."""
    if cut is None:
        return as_text(values)
    numbers, _ = _as_numbers(values)
    below, above = sides_of(cut)
    return pd.Series(np.where(numbers >= cut, above, below), index=values.index, dtype=object).where(numbers.notna())


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
    """Values as numbers, and how many cells that are not empty are none."""
    if pd.api.types.is_bool_dtype(values.dtype):
        return pd.Series(np.nan, index=values.index), len(values)
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = values.astype(float)
    else:
        codes, levels = pd.factorize(values)  # few different texts among many rows: read each once
        read = pd.to_numeric(pd.Series(levels, dtype=object), errors="coerce").astype(float)
        numbers = pd.Series(read.reindex(codes).to_numpy(), index=values.index)
    numbers = numbers.where(numbers.abs() <= LARGEST)
    return numbers, int((numbers.isna() & values.notna()).sum())


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
    X, told = _features(frame.loc[keep, names], choice)
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
    if X.empty or not len(X.columns):
        raise ChoiceError("No feature is left that differs between people: choose other columns.")
    others = [value for value in pd.unique(outcome.loc[index]) if value != choice.favourable]
    bad = others[0] if len(others) == 1 else f"not {choice.favourable}"
    spec = TaskSpec(
        name=name,
        title=choice.title,
        features=tuple(_feature(X[column], choice) for column in X.columns),
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
    if 0.7 * len(X) > MAX_TRAINING:
        done.append(f"g learns from {MAX_TRAINING:,} of the training rows, drawn at random; f from all of them.")
    about = f"{choice.title}, uploaded in this session: {len(X):,} rows, {len(spec.features)} features, in memory only."
    sheet = "\n\n".join([about, *done])  # no markup: names of files and columns may hold anything
    task = Task(spec=spec, X=X, y=y, sensitive=s, datasheet=sheet, recipe=_recipe(choice), words=_words(choice))
    return OwnTask(task, tuple(done))


def _feature(values: pd.Series, choice: Choice) -> Feature:
    name = str(values.name)
    if values.dtype != float:
        return Feature(name, name, "category")
    return Feature(name, name, "number", merit=choice.merits.get(name, 0))


def _recipe(choice: Choice) -> str:
    arguments = "\n".join(f"    {key}={value!r}," for key, value in vars(choice).items())
    file = choice.title if choice.title.lower().endswith((".csv", ".tsv", ".txt", ".parquet")) else "your_file.csv"
    return (
        "from pathlib import Path\n\n"
        "from commod.datasets import Choice, make_task, read_table\n\n"
        f"table = read_table(Path({file!r}).read_bytes()).frame\n"
        f"choice = Choice(\n{arguments}\n)\n"
        "task = make_task(table, choice).task\n"
    )


def _words(choice: Choice) -> tuple[str, ...]:
    """File and options of a command; a file whose name begins like an option is named by its folder."""
    return (f"./{choice.title}" if choice.title.startswith("-") else choice.title, *written_options(choice))


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


def _features(frame: pd.DataFrame, choice: Choice) -> tuple[pd.DataFrame, list[str]]:
    columns: dict[str, pd.Series] = {}
    told = []
    for name in frame.columns:
        if choice.kinds[name] == "number":
            values, wrong = _as_numbers(frame[name])
            if values.notna().sum() == 0:
                raise ChoiceError(f"“{_short(name)}” holds no numbers: make it a category, or leave it out.")
            if wrong:
                told.append(f"{wrong:,} cells of “{_short(name)}” are no numbers and count as missing.")
            if choice.missing == "fill" and values.isna().any():
                middle = float(values.median())
                told.append(
                    f"{int(values.isna().sum()):,} missing in “{_short(name)}” are set to its median, {middle:g}."
                )
                values = values.fillna(middle)
            columns[name] = values.astype(float)
            continue
        levels = as_text(frame[name])
        common = levels.value_counts()
        if len(common) > MAX_LEVELS:
            kept = set(common.index[: MAX_LEVELS - 1])
            rare = levels.notna() & ~levels.isin(kept)
            told.append(f"{len(common) - len(kept):,} rare levels of “{_short(name)}” become “{OTHER}”.")
            levels = levels.where(~rare, OTHER)
        if choice.missing == "fill" and levels.isna().any():
            told.append(f"{int(levels.isna().sum()):,} missing in “{_short(name)}” become a level of their own.")
            levels = levels.astype(object).where(levels.notna(), MISSING)  # be it text or, all of it missing, numbers
        columns[name] = levels.astype("category")
    return pd.DataFrame(columns), told


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
