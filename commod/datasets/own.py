"""A task from any table: types guessed, choices checked, missing values handled in the open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from commod.cells import ColumnRule
from commod.datasets import own_groups, raw
from commod.datasets.choice import Choice, ChoiceError, roles_of
from commod.datasets.grouping import CROSS, UNKNOWN, Grouping
from commod.datasets.task import MAX_TRAINING, Feature, Task, TaskSpec
from commod.uploads.limits import DECIMAL_COMMAS, FILE_TYPES, count_of, short
from commod.wording import some_of, with_capital

# Numbers that a table may become once its categories are written out as columns of 0 and 1: 400 MB.
MAX_ENCODED = 50_000_000


@dataclass(frozen=True)
class Done:
    """A step taken with a table: what was done to how many rows, cells, levels or values of a column."""

    what: str
    column: str = ""
    count: int = 0
    of: str = "row"

    def __str__(self) -> str:
        counted = f"{count_of(self.count, self.of)} {self.what}" if self.count else self.what
        return f"“{_short(self.column)}”: {counted}." if self.column else f"{with_capital(counted)}."


@dataclass(frozen=True)
class OwnTask:
    """A task made from a table, and what was done to the table on the way."""

    task: Task
    done: tuple[Done, ...]


def _short(value: object) -> str:
    return short(value, 24)


# ---- the task ----


def make_task(frame: pd.DataFrame, choice: Choice, *, name: str = "own") -> OwnTask:
    """Make a task from a table that `read_table` has read; ChoiceError says why columns cannot be used as chosen."""
    _check_columns(frame, choice)
    outcome = own_groups.outcomes_of(frame, choice)
    grouping, codes = own_groups.find_groups(frame, choice)
    scores = _scores_beside_line(frame, choice) if choice.scores else None
    times = _checked_times(frame[choice.time], choice.time) if choice.time else None
    keep, done = _kept(outcome, codes, scores, times, choice)
    done += chain(*(_respelled(frame[column]) for column in (choice.target, *choice.sensitive_columns)))
    done += _merges(choice)
    taken = (choice.target, *choice.sensitive_columns, choice.scores, choice.person, choice.weight)
    kinds = {column: kind for column, kind in choice.kinds.items() if column in frame.columns and column not in taken}
    names = [column for column, kind in kinds.items() if kind != "leave out"]
    if not names:
        raise ChoiceError("No feature is left: choose at least one column as a number or a category.")
    X, contract, notes = _features(frame.loc[keep, names], choice)
    done += notes
    whole = X.notna().all(axis=1)
    if not whole.all():
        done.append(Done("with a missing feature, left out", count=int((~whole).sum())))
    index = X.index[whole]
    X = X.loc[index]  # the row numbers of the file stay, so that a person can be found in it
    y = outcome.loc[index].isin(choice.good_values).astype(int)
    s = codes.loc[index]
    _check_cells(y, s, grouping.groups)
    weight = _checked_weight(frame.loc[index, choice.weight]) if choice.weight else None
    constant = [column for column in X.columns if len(pd.unique(X[column])) == 1]
    done += [Done("the same in all rows that are left, and so left out", column) for column in constant]
    X = X.drop(columns=constant)
    contract = tuple(rule for rule in contract if rule.name in X.columns)
    if X.empty or not len(X.columns):
        raise ChoiceError("No feature is left that differs between people: choose other columns.")
    _check_size(X)
    spec = _spec(name, choice, grouping, contract, outcome.loc[index])
    if weight is not None:
        span = f"{weight.min():g} to {weight.max():g}"
        done.append(Done(f"says for how many people a row stands, {span}", choice.weight))
    if choice.turned:
        done.append(Done("scores turned round: 1 less each of them is used", choice.scores))
    if scores is not None:
        X = X.assign(**{choice.scores: scores.loc[index].to_numpy(dtype=float)})
        decimal = _decimal(frame, choice.scores) or "."
        rule = ColumnRule(choice.scores, "number", decimal, divide=choice.scores_out_of, turned=choice.turned)
        contract = (*contract, rule)
    if 0.7 * len(X) > MAX_TRAINING:
        done.append(Done(f"g learns from {MAX_TRAINING:,} of the training rows, drawn at random; f from all of them"))
    task = Task(
        spec=spec,
        X=X,
        y=y,
        sensitive=s,
        recipe=_recipe(choice, contract),
        contract=contract,
        roles=roles_of(choice),
        person=_people(frame[choice.person].loc[index]) if choice.person else None,
        time=times.loc[index] if times is not None else None,
        # Survey weights add up to a nation: scaled to a mean of 1, a small group still counts as few people.
        weight=weight / weight.mean() if weight is not None else None,
    )
    if choice.confirm:
        task = _sealed(task, choice.confirm)
        done.append(Done("sealed: no page looks at them before a decision opens them", count=len(X) - len(task.y)))
    _check_split(task, choice)
    rows = f"{len(task.y):,} rows to train and test on, {len(spec.features)} features"
    about = f"{choice.title}, uploaded in this session and in memory only: {rows}."
    # No markup: names of files and columns may hold anything.
    task = replace(task, datasheet="\n\n".join([about, *map(str, done)]))
    return OwnTask(task, tuple(done))


def _sealed(task: Task, share: float) -> Task:
    try:
        task = task.seal(share)
        own_groups.check_sizes(task.y, task.sensitive, task.groups)
    except ValueError as error:
        raise ChoiceError(f"Nobody can be sealed here: switch that off. {error}") from None
    return task


def _spec(name: str, choice: Choice, grouping: Grouping, contract: raw.Contract, outcome: pd.Series) -> TaskSpec:
    good = " or ".join(choice.good_values)
    others = [value for value in pd.unique(outcome) if value not in choice.good_values]
    bad = others[0] if len(others) == 1 else f"not {good}"
    return TaskSpec(
        name=name,
        title=choice.title,
        features=tuple(_feature(rule, choice) for rule in contract),
        target=choice.target,
        target_label=f"{choice.target} is {good}",
        outcomes=(f"{choice.target}: {bad}", f"{choice.target}: {good}"),
        favourable=1,
        sensitive=CROSS.join(choice.sensitive_columns),
        groups=grouping.groups,
        groupings=(grouping,),
        filter=_made_in_words(choice),
        scores=choice.scores,
        threshold=choice.threshold,
    )


def _check_size(X: pd.DataFrame) -> None:
    """Check that the test rows and the rows that g learns from fit into memory, encoded."""
    columns = sum(X[name].nunique() if isinstance(X[name].dtype, pd.CategoricalDtype) else 1 for name in X.columns)
    rows = int(0.3 * len(X) + min(0.7 * len(X), MAX_TRAINING))
    if rows * columns > MAX_ENCODED:
        most = MAX_ENCODED // 10**6
        raise ChoiceError(
            f"The categories of this table become {columns:,} columns of {rows:,} rows; at most {most} million numbers "
            "fit: leave out categories with many values, or bring a sample of the rows."
        )


def _made_in_words(choice: Choice) -> str:
    """How the outcome, groups, weights and the split were chosen."""
    sentences = []
    if choice.target_cut is not None or len(choice.good_values) > 1:
        sentences.append(f"Good values of “{_short(choice.target)}”: {', '.join(map(_short, choice.good_values))}.")
    sentences += [
        f"“{_short(column)}” is cut at {', '.join(f'{cut:.10g}' for cut in cuts)}."
        for column, cuts in choice.cuts.items()
    ]
    sentences += map(str, _merges(choice))
    if choice.weight:
        sentences.append(f"Rows are weighted by “{_short(choice.weight)}”.")
    if choice.time:
        sentences.append(f"The latest rows by “{_short(choice.time)}” are the test part, whatever the seed.")
    if choice.person:
        sentences.append(
            f"Rows of one “{_short(choice.person)}” are on one side of the split; what is counted are rows."
        )
    return " ".join(sentences)


def _feature(rule: ColumnRule, choice: Choice) -> Feature:
    name = str(rule.name)
    if rule.kind == "category":
        return Feature(name, name, "category")
    unit = "days since 1970" if rule.kind == "date" else ""
    return Feature(name, name, "number", unit, merit=choice.merits.get(name, 0))


def _recipe(choice: Choice, contract: raw.Contract) -> str:
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
        + "".join(f"#   {str(rule.name)!r}: {' '.join(raw.rule_in_words(rule).split())}\n" for rule in contract)
    )


def _check_columns(frame: pd.DataFrame, choice: Choice) -> None:
    for column in choice.merits:
        if choice.kinds.get(column) != "number":
            raise ChoiceError(f"“{_short(column)}” is not a number among the features, so it cannot be a merit.")
    if not 0 < choice.threshold < 1:
        raise ChoiceError(f"A cut-off must lie between 0 and 1, but {choice.threshold:g} does not: choose another.")
    columns = choice.sensitive_columns
    roles = (
        ("outcome", choice.target),
        *(("sensitive attribute", column) for column in columns or ("",)),
        ("scores", choice.scores),
        ("people", choice.person),
        ("times", choice.time),
        ("weights", choice.weight),
    )
    for role, column in roles:
        if column not in frame.columns and (column or role in ("outcome", "sensitive attribute")):
            raise ChoiceError(f"There is no column “{_short(column)}” for the {role}: choose one from the file.")
    if len(columns) > 2 or len(set(columns)) < len(columns):
        raise ChoiceError("Groups come from one column, or from two different ones: choose at most two.")
    if choice.target in columns:
        raise ChoiceError("Outcome and sensitive attribute are the same column: choose two.")
    if choice.scores in (choice.target, *columns):
        raise ChoiceError("The column of scores is the outcome or the sensitive attribute: choose another.")
    if choice.weight and choice.weight in (choice.target, *columns, choice.scores):
        raise ChoiceError("The column of weights is outcome, sensitive attribute or scores: choose another.")
    if choice.person and choice.time:
        raise ChoiceError("The rows are split by person or by time: choose one of the two.")
    if choice.target in (choice.person, choice.time):
        raise ChoiceError("The rows cannot be split by the outcome: choose another column for that.")
    cut = None if choice.target_cut is None else (choice.target_cut,)
    classes = own_groups.check_classes(frame[choice.target], cut, "outcome", "class") - set(choice.blanks)
    for value in choice.good_values or ("",):
        if value not in classes:
            raise ChoiceError(f"“{_short(value)}” is not a value of “{_short(choice.target)}”: choose one that is.")
    if not classes - set(choice.good_values):
        raise ChoiceError(f"All values of “{_short(choice.target)}” are chosen as good: keep only the good ones.")
    own_groups.check_groups(frame, choice)


def _checked_weight(values: pd.Series) -> pd.Series:
    column = _short(values.name)
    numbers, wrong = own_groups.as_numbers(values)
    if wrong:
        raise ChoiceError(f"{count_of(wrong, 'cell')} of “{column}” cannot be read as a weight: choose another column.")
    if missing := int(numbers.isna().sum()):
        rows = count_of(missing, "row")
        raise ChoiceError(f"“{column}” has no weight for {rows}: fill it in, drop those rows, or use no weights.")
    if below := int((numbers < 0).sum()):
        raise ChoiceError(
            f"“{column}” holds {count_of(below, 'weight')} below 0. A weight counts people: correct these rows, or "
            "leave them out."
        )
    if not (numbers > 0).any():
        raise ChoiceError(f"All weights in “{column}” are 0, so nobody counts: choose another column.")
    return numbers.astype(float)


def _checked_scores(values: pd.Series, choice: Choice) -> pd.Series:
    column, most = _short(choice.scores), choice.scores_out_of
    numbers, wrong = own_groups.as_numbers(values)
    if wrong:
        raise ChoiceError(f"{count_of(wrong, 'cell')} of “{column}” cannot be read as a number: scores are numbers.")
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
        raise ChoiceError(f"All scores in “{column}” are the same, so f treats everybody alike: choose another column.")
    numbers = numbers / most
    return 1.0 - numbers if choice.turned else numbers


def with_a_line(frame: pd.DataFrame, choice: Choice) -> Choice:
    """The choice with a cut-off at which f decides both ways, so that f can be shown even if the chosen one is not."""
    if not choice.scores:
        return choice
    scores = _checked_scores(frame[choice.scores], choice)
    low, high = float(scores.min()), float(scores.max())
    return choice if low <= choice.threshold < high else replace(choice, threshold=(low + high) / 2)


def _scores_beside_line(frame: pd.DataFrame, choice: Choice) -> pd.Series:
    scores = _checked_scores(frame[choice.scores], choice)
    low, high = scores.min(), scores.max()
    if not low <= choice.threshold < high:
        text = f"All scores in “{_short(choice.scores)}” are on one side of {choice.threshold:g}"
        raise ChoiceError(f"{text}: choose a cut-off between {low:.3g} and {high:.3g}.")
    return scores


def _checked_times(values: pd.Series, column: str) -> pd.Series:
    times, _ = own_groups.as_numbers(values)
    if times.notna().sum() < 0.5 * values.notna().sum():
        raise ChoiceError(f"“{_short(column)}” holds no dates and no numbers: choose another column to split by time.")
    return times


def _people(values: pd.Series) -> pd.Series:
    """A number for each person; a row without a person counts as a person of its own."""
    codes = pd.factorize(raw.read_levels(values))[0]
    unknown = codes < 0
    codes[unknown] = codes.max(initial=-1) + 1 + np.arange(unknown.sum())
    return pd.Series(codes, index=values.index)


def _check_split(task: Task, choice: Choice) -> None:
    """Check that both parts of a split by person or time have each group, and both labels in two of the groups."""
    if not choice.person and not choice.time:
        return
    way = f"by “{_short(choice.person or choice.time)}”"
    try:
        parts = task.split()
    except ValueError:  # fewer people than there are groups and labels
        raise ChoiceError(f"Too few people are left to split {way}: split at random, or bring more data.") from None
    for part, what in zip(parts, ("train on", "test on"), strict=True):
        known = part.sensitive != UNKNOWN
        labels = part.y[known].groupby(part.sensitive[known]).nunique()
        if len(labels) < len(task.groups) or (labels == 2).sum() < 2:
            raise ChoiceError(f"Split {way}, the rows to {what} lack an outcome in a group: split in another way.")


def _kept(
    outcome: pd.Series, codes: pd.Series, scores: pd.Series | None, times: pd.Series | None, choice: Choice
) -> tuple[pd.Series, list[Done]]:
    """Which rows can be used, and why the others cannot."""
    by, left, done = CROSS.join(choice.sensitive_columns), pd.Series(True, outcome.index), []
    unknown = codes == UNKNOWN
    parts = [(outcome.isna(), "without an outcome", choice.target), (codes == own_groups.OTHERS, "of other groups", by)]
    parts += [(unknown, "without a value", by)] * (choice.unknown == "drop")
    for known, what, column in ((scores, "score", choice.scores), (times, "time", choice.time)):
        parts += [] if known is None else [(known.isna(), f"without a {what}", column)]
    for rows, what, column in parts:  # each row counts for the first reason only, so that the counts add up
        if count := int((rows & left).sum()):
            done.append(Done(f"{what}, left out", column, count))
        left &= ~rows
    if choice.unknown == "train" and (count := int((unknown & left).sum())):
        done.append(Done("without a value: trained on, never measured on", by, count))
    return left, done


def _respelled(values: pd.Series) -> list[Done]:
    what = "read as a more common value that differs only in capitals or spaces"
    return [Done(what, str(values.name), cells, "cell")] if (cells := raw.respelled(values)) else []


def _merges(choice: Choice) -> list[Done]:
    """What was put together, a step for each new name."""
    done = []
    for column, names in choice.merge.items():
        for name in dict.fromkeys(names.values()):
            levels = [f"“{_short(level)}”" for level, new in names.items() if new == name != level]
            if levels:
                done.append(Done(f"called “{_short(name)}”: {some_of(levels)}", column, len(levels), "value"))
    return done


def _features(frame: pd.DataFrame, choice: Choice) -> tuple[pd.DataFrame, raw.Contract, list[Done]]:
    """The columns as a model gets them, the rules for reading them, and what these changed."""
    columns: dict[str, pd.Series] = {}
    contract = []
    sentences = []
    for name in frame.columns:
        cells = frame[name]
        kind: Any = choice.kinds[name]
        rule = raw.learn_rule(cells, kind, fill=choice.missing == "fill", decimal=_decimal(frame, name))
        unfilled = raw.read_column(cells, replace(rule, fill=None))
        gaps = int(unfilled.isna().sum())
        if rule.kind == "category":
            sentences += _respelled(cells)
            if rule.other:
                rare = raw.read_levels(cells, rule.decimal).nunique() - (raw.MAX_LEVELS - 1)
                sentences.append(Done(f"that are rare, now “{raw.OTHER}”", name, rare, "level"))
            if gaps and rule.fill:
                sentences.append(Done("missing, now a level of their own", name, gaps, "cell"))
        else:
            if gaps == len(cells):
                raise ChoiceError(f"“{_short(name)}” has no numbers: make it a category, or leave it out.")
            if rule.kind == "date":
                sentences.append(Done("dates, counted in days since 1 January 1970", name))
            if wrong := int((unfilled.isna() & ~raw.missing_in(cells)).sum()):
                sentences.append(Done(f"without a {rule.kind}, counted as missing", name, wrong, "cell"))
            if gaps and rule.fill is not None:
                sentences.append(Done(f"missing, set to the median, {rule.fill:g}", name, gaps, "cell"))
        values = unfilled if rule.fill is None else unfilled.where(unfilled.notna(), rule.fill)
        columns[name] = values.astype("category") if rule.kind == "category" else values
        contract.append(rule)
    return pd.DataFrame(columns), tuple(contract), sentences


def _decimal(frame: pd.DataFrame, column: str) -> str:
    """The decimal mark of a column in the file, if known."""
    return "," if column in frame.attrs.get(DECIMAL_COMMAS, ()) else ""


def _check_cells(y: pd.Series, codes: pd.Series, groups: Sequence[str]) -> None:
    if not len(y):
        raise ChoiceError("No row is left: choose other columns or groups, or fill missing values in.")
    if y.nunique() < 2:
        raise ChoiceError("Only one outcome is left among the rows that can be used: choose other groups.")
    own_groups.check_sizes(y, codes, groups)
