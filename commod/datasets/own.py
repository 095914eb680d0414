"""A task out of anybody's table: types guessed, choices checked, missing values handled in the open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from commod.datasets.choice_options import written_options
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
from commod.uploads.limits import FILE_TYPES, short

__all__ = [
    "Choice",
    "ChoiceError",
    "Done",
    "OwnTask",
    "classes_of",
    "make_task",
    "sides_of",
]

Kind = Literal["number", "category", "leave out"]

# An outcome or a sensitive attribute has at most this many values to choose from.
MAX_VALUES = 50
# Each group needs so many rows of each label, or nothing can be trained and held out.
LEAST_ROWS = 20
# Numbers that a table may become once its categories are written out as columns of 0 and 1: 400 MB.
MAX_ENCODED = 50_000_000


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
    turned : bool
        Whether the scores are of the other outcome, so that 1 less them are f's.
    threshold : float, default 0.5
        The probability of the favourable outcome above which f decides for it.
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
    turned: bool = False
    threshold: float = 0.5


class Done(str):
    """A sentence on what was done to a table, and its parts for a row of a table: column, rows (or cells), and what."""

    column: str
    rows: int
    what: str

    def __new__(cls, template: str, column: str = "", rows: int = 0) -> Done:
        """The sentence of a template with places for ``{rows}`` and ``{column}``."""
        done = super().__new__(cls, template.format(rows=f"{rows:,}", column=f"“{_short(column)}”"))
        what = template.format(rows="", column="it").strip()
        done.column, done.rows, done.what = column, rows, what[:1].upper() + what[1:]
        return done


@dataclass(frozen=True)
class OwnTask:
    """A task made from a table, and what was done to the table on the way."""

    task: Task
    done: tuple[Done, ...]


def as_text(values: pd.Series) -> pd.Series:
    """Values as texts, which stand for classes and levels; missing ones stay missing."""
    return read_levels(values)


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
    for column in choice.merits:
        if choice.kinds.get(column) != "number":
            raise ChoiceError(f"“{_short(column)}” is no number among the features, so it cannot be a merit.")
    if not 0 < choice.threshold < 1:
        raise ChoiceError(f"A cut-off lies between 0 and 1, and {choice.threshold:g} does not: choose another.")
    done: list[Done] = []
    outcome = classes_of(frame[choice.target], choice.target_cut)
    group = classes_of(frame[choice.sensitive], choice.sensitive_cut)
    keep = outcome.notna() & group.isin(choice.groups)
    scores = None
    if choice.scores:
        scores = _checked_scores(frame[choice.scores], choice)
        _check_line(scores, choice)
        keep &= scores.notna()
    times = None
    if choice.time:
        times = _checked_times(frame[choice.time], choice.time)
        keep &= times.notna()
    _tell_dropped(done, outcome, group, scores, times, choice)
    names = [column for column, kind in choice.kinds.items() if kind != "leave out" and column in frame.columns]
    names = [
        column for column in names if column not in (choice.target, choice.sensitive, choice.scores, choice.person)
    ]
    if not names:
        raise ChoiceError("No feature is left: choose at least one column as a number or a category.")
    X, contract, told = _features(frame.loc[keep, names], choice)
    done += told
    whole = X.notna().all(axis=1)
    if not whole.all():
        done.append(Done("{rows} rows with a missing feature are left out.", rows=int((~whole).sum())))
    index = X.index[whole]
    X = X.loc[index]  # the numbers of the file's rows stay, so that a person can be found in it
    y = (outcome.loc[index] == choice.favourable).astype(int)
    s = (group.loc[index] == choice.groups[1]).astype(int)
    _check_cells(y, s, choice)
    constant = [column for column in X.columns if len(pd.unique(X[column])) == 1]
    if constant:
        done += [Done("{column}: the same in all rows that are left, and so left out.", column) for column in constant]
        X = X.drop(columns=constant)
    contract = tuple(rule for rule in contract if rule.name in X.columns)
    if X.empty or not len(X.columns):
        raise ChoiceError("No feature is left that differs between people: choose other columns.")
    _check_size(X)
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
        groups=(_group_name(choice.sensitive, choice.groups[0]), _group_name(choice.sensitive, choice.groups[1])),
        filter=_split_in_words(choice),
        scores=choice.scores,
        threshold=choice.threshold,
    )
    if choice.turned:
        done.append(Done("The scores in {column} are turned round: 1 less each of them is used.", choice.scores))
    if scores is not None:
        X = X.assign(**{choice.scores: scores.loc[index].to_numpy(dtype=float)})
        decimal = _decimal(frame, choice.scores) or "."
        rule = ColumnRule(choice.scores, "number", decimal, divide=choice.scores_out_of, turned=choice.turned)
        contract = (*contract, rule)
    if 0.7 * len(X) > MAX_TRAINING:
        done.append(Done(f"g learns from {MAX_TRAINING:,} of the training rows, drawn at random; f from all of them."))
    about = f"{choice.title}, uploaded in this session: {len(X):,} rows, {len(spec.features)} features, in memory only."
    sheet = "\n\n".join([about, *done])  # no markup: names of files and columns may hold anything
    task = Task(
        spec=spec,
        X=X,
        y=y,
        sensitive=s,
        datasheet=sheet,
        recipe=_recipe(choice, contract),
        contract=contract,
        words=_words(choice),
        person=_people(frame[choice.person].loc[index]) if choice.person else None,
        time=times.loc[index] if times is not None else None,
    )
    _check_split(task, choice)
    return OwnTask(task, tuple(done))


def _check_size(X: pd.DataFrame) -> None:
    """Whether the rows to test on and those that g learns from fit into memory, encoded."""
    columns = sum(X[name].nunique() if isinstance(X[name].dtype, pd.CategoricalDtype) else 1 for name in X.columns)
    rows = int(0.3 * len(X) + min(0.7 * len(X), MAX_TRAINING))
    if rows * columns > MAX_ENCODED:
        raise ChoiceError(
            f"Written out as columns of 0 and 1, the categories of this table make {columns:,} columns of {rows:,} "
            f"rows; at most {MAX_ENCODED // 10**6} million numbers fit: leave out categories with many values, or "
            "bring a sample of the rows."
        )


def _group_name(column: str, value: str) -> str:
    """A value that says nothing by itself ("0", "yes") gets the name of its column."""
    bare = value.lower() in ("yes", "no", "true", "false", "y", "n", "t", "f") or not any(map(str.isalpha, value))
    return f"{column}: {value}" if bare else value


def _split_in_words(choice: Choice) -> str:
    if choice.time:
        return f"The latest rows by “{_short(choice.time)}” are the test part, whatever the seed."
    if choice.person:
        return f"Rows of one “{_short(choice.person)}” are on one side of the split; what is counted are rows."
    return ""


def _feature(rule: ColumnRule, choice: Choice) -> Feature:
    name = str(rule.name)
    if rule.kind == "category":
        return Feature(name, name, "category")
    unit = "days since 1970" if rule.kind == "date" else ""
    return Feature(name, name, "number", unit, merit=choice.merits.get(name, 0))


def _recipe(choice: Choice, contract: Contract) -> str:
    defaults = vars(Choice("", "", "", ("", ""), {}))
    chosen = {key: value for key, value in vars(choice).items() if value != defaults[key]}
    arguments = "\n".join(f"    {key}={value!r}," for key, value in chosen.items())
    file = choice.title if choice.title.lower().endswith(FILE_TYPES) else "your_file.csv"
    return (
        "from pathlib import Path\n\n"
        "from commod.datasets import Choice, make_task, read_table\n\n"
        f"table = read_table(Path({file!r}).read_bytes()).frame\n"
        f"choice = Choice(\n{arguments}\n)\n"
        "task = make_task(table, choice).task\n"
        "# task.contract says how a cell of the file is read:\n"
        + "".join(f"#   {str(rule.name)!r}: {' '.join(in_words(rule).split())}\n" for rule in contract)
    )


def _words(choice: Choice) -> tuple[str, ...]:
    """File and options of a command; a file whose name begins like an option is named by its folder."""
    return (f"./{choice.title}" if choice.title.startswith("-") else choice.title, *written_options(choice))


def _check_columns(frame: pd.DataFrame, choice: Choice) -> None:
    roles = (
        ("outcome", choice.target),
        ("sensitive attribute", choice.sensitive),
        ("scores", choice.scores),
        ("people", choice.person),
        ("times", choice.time),
    )
    for role, column in roles:
        if column not in frame.columns and (column or role in ("outcome", "sensitive attribute")):
            raise ChoiceError(f"There is no column “{_short(column)}” for the {role}: choose one of the file's.")
    if choice.target == choice.sensitive:
        raise ChoiceError("Outcome and sensitive attribute are the same column: choose two.")
    if choice.scores in (choice.target, choice.sensitive):
        raise ChoiceError("The column of scores is the outcome or the sensitive attribute: choose another.")
    if choice.person and choice.time:
        raise ChoiceError("The rows are split by person or by time: choose one of the two.")
    if choice.target in (choice.person, choice.time):
        raise ChoiceError("The rows cannot be split by the outcome: choose another column for that.")
    outcomes = _check_classes(frame[choice.target], choice.target_cut, "outcome", "class")
    if choice.favourable not in outcomes:
        raise ChoiceError(
            f"“{_short(choice.favourable)}” is no value of “{_short(choice.target)}”: choose one that is."
        )
    groups = _check_classes(frame[choice.sensitive], choice.sensitive_cut, "sensitive attribute", "group")
    if len(set(choice.groups)) != 2 or not set(choice.groups) <= groups:
        raise ChoiceError(f"Choose two different groups of “{_short(choice.sensitive)}”.")


def _check_classes(values: pd.Series, cut: float | None, role: str, what: str) -> set[str]:
    """The classes of a column that is to be outcome or sensitive attribute."""
    column = _short(values.name)
    if cut is not None and not np.isfinite(cut):
        raise ChoiceError(f"“{column}” is to be cut at {cut}: choose a number.")
    found = set(classes_of(values, cut).dropna())
    if cut is not None and len(found) < 2:
        raise ChoiceError(f"All numbers of “{column}” are on one side of {cut:.10g}: cut it elsewhere.")
    if len(found) < 2:
        raise ChoiceError(f"“{column}” has one {what} only: choose a column with two or more as {role}.")
    if len(found) > MAX_VALUES:
        raise ChoiceError(
            f"“{column}” has {len(found):,} different values; the {role} can have at most {MAX_VALUES}: choose another "
            "column, or cut its numbers in two."
        )
    return found


def _checked_scores(values: pd.Series, choice: Choice) -> pd.Series:
    column, most = _short(choice.scores), choice.scores_out_of
    numbers, wrong = _as_numbers(values)
    if wrong:
        raise ChoiceError(f"“{column}” holds {wrong} cells that are no numbers: scores are probabilities.")
    low, high = numbers.min(), numbers.max()
    if not (np.isfinite(most) and most > 0):
        raise ChoiceError(f"Scores cannot be out of {most:g}: choose 1, 10 or 100.")
    if not (low >= 0 and high <= most):
        hint = "say that they are out of 100" if low >= 0 and high <= 100 else "apply a sigmoid to margins"
        raise ChoiceError(
            f"The scores in “{column}” go from {low:.3g} to {high:.3g}: probabilities of the favourable outcome, "
            f"between 0 and {most:g}, are needed; {hint}."
        )
    if low == high:
        raise ChoiceError(f"All scores in “{column}” are the same, so f decides alike about everybody: choose others.")
    numbers = numbers / most
    return 1.0 - numbers if choice.turned else numbers


def with_a_line(frame: pd.DataFrame, choice: Choice) -> Choice:
    """The choice with a cut-off at which f decides both ways: f can be looked at even where the chosen one is none."""
    if not choice.scores:
        return choice
    scores = _checked_scores(frame[choice.scores], choice)
    low, high = float(scores.min()), float(scores.max())
    return choice if low <= choice.threshold < high else replace(choice, threshold=(low + high) / 2)


def _check_line(scores: pd.Series, choice: Choice) -> None:
    low, high = scores.min(), scores.max()
    if not low <= choice.threshold < high:
        raise ChoiceError(
            f"All scores in “{_short(choice.scores)}” are on one side of {choice.threshold:g}, so f decides alike "
            f"about everybody: choose a cut-off between {low:.3g} and {high:.3g}."
        )


def _checked_times(values: pd.Series, column: str) -> pd.Series:
    times, _ = _as_numbers(values)
    if times.notna().sum() < 0.5 * values.notna().sum():
        raise ChoiceError(f"“{_short(column)}” holds no dates and no numbers: choose another column to split by time.")
    return times


def _people(values: pd.Series) -> pd.Series:
    """A number for each person; a row that does not say whose it is, is a person of its own."""
    codes = pd.factorize(as_text(values))[0]
    unknown = codes < 0
    codes[unknown] = codes.max(initial=-1) + 1 + np.arange(unknown.sum())
    return pd.Series(codes, index=values.index)


def _check_split(task: Task, choice: Choice) -> None:
    """Whether both parts of a split by person or time have people of each group and label."""
    if not choice.person and not choice.time:
        return
    way = f"by “{_short(choice.person or choice.time)}”"
    try:
        parts = task.split()
    except ValueError:  # a group and label that fewer than two people begin with
        raise ChoiceError(f"Too few people are left to split {way}: split at random, or bring more data.") from None
    for part, what in zip(parts, ("train on", "test on"), strict=True):
        if len(np.unique(2 * part.sensitive + part.y)) < 4:
            raise ChoiceError(
                f"Split {way}, the rows to {what} lack an outcome in one of the groups: split at random, or choose "
                "another column."
            )


def _tell_dropped(
    done: list[Done],
    outcome: pd.Series,
    group: pd.Series,
    scores: pd.Series | None,
    times: pd.Series | None,
    choice: Choice,
) -> None:
    parts = [(int(outcome.isna().sum()), "without an outcome in", choice.target)]
    parts.append((int(group.isna().sum()), "without a value in", choice.sensitive))
    other = int((group.notna() & ~group.isin(choice.groups)).sum())
    parts.append((other, "of other groups of", choice.sensitive))
    if scores is not None:
        parts.append((int(scores.isna().sum()), "without a score in", choice.scores))
    if times is not None:
        parts.append((int(times.isna().sum()), "without a time in", choice.time))
    done += [
        Done(f"{{rows}} rows {what} {{column}} are left out.", column, rows) for rows, what, column in parts if rows
    ]


def _features(frame: pd.DataFrame, choice: Choice) -> tuple[pd.DataFrame, Contract, list[Done]]:
    """The columns as a model gets them, the rules by which they were read, and what that did to them."""
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
                told.append(Done(f"{{rows}} rare levels of {{column}} become “{OTHER}”.", name, rare))
            if gaps and rule.fill:
                told.append(Done("{rows} missing in {column} become a level of their own.", name, gaps))
        else:
            if gaps == len(cells):
                raise ChoiceError(f"“{_short(name)}” holds no numbers: make it a category, or leave it out.")
            if rule.kind == "date":
                told.append(Done("The dates in {column} are counted in days since 1 January 1970.", name))
            wrong = int((unfilled.isna() & ~missing_in(cells)).sum()) if gaps else 0
            if wrong:
                told.append(
                    Done(f"{{rows}} cells of {{column}} are no {rule.kind}s and count as missing.", name, wrong)
                )
            if gaps and rule.fill is not None:
                told.append(Done(f"{{rows}} missing in {{column}} are set to its median, {rule.fill:g}.", name, gaps))
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
