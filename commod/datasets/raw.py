"""The contract for raw rows: how a cell of a table becomes the number or level that a model uses.

Rules are learned from a table here and applied to it at once. `ColumnRule.read` in `commod.portable` applies them to a
cell. It travels with a model, so a row of text from the file is read there as it was read here.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from commod.cells import LARGEST, ColumnRule, decimal_marks, folded, is_missing, level_in
from commod.uploads.limits import short
from commod.wording import first_of

# A category with more levels than this keeps the most common ones; the rest become OTHER.
MAX_LEVELS = 30
OTHER, MISSING = "other", "missing"
# How many distinct texts of a column decide its decimal mark and the order of its dates.
ENOUGH_TEXTS = 10_000
# How many levels of a category its rule names in words.
SHOWN_LEVELS = 6

# How the columns of a table are read, in the order of the features, then the column of f's scores if there is one.
Contract = tuple[ColumnRule, ...]


def learn_rule(values: pd.Series, kind: Literal["number", "category"], *, fill: bool, decimal: str = "") -> ColumnRule:
    """The rule for one column; dates that are to be a number get a rule for dates.

    With `fill`, a missing number becomes the median and a missing level a level of its own; without it, a row must have
    both. `decimal` is the decimal mark in the file, if known ("": the texts decide).
    """
    if kind == "number":
        numbers, rule = read_numbers(values, decimal)
        return replace(rule, fill=float(numbers.median())) if fill and numbers.notna().any() else rule
    mark = decimal or ("." if holds_numbers(values) else "")
    found = read_levels(values, mark)
    common = found.value_counts()
    kept, other = list(common.index), None
    if len(kept) > MAX_LEVELS:
        kept, other = [*kept[: MAX_LEVELS - 1], OTHER], OTHER
    if fill and found.isna().any():
        kept.append(MISSING)
    levels = tuple(sorted(set(kept)))
    return ColumnRule(values.name, "category", mark, fill=MISSING if fill else None, levels=levels, other=other)


def read_column(values: pd.Series, rule: ColumnRule) -> pd.Series:
    """A column as its rule reads it, floats or levels; NaN or None for a missing cell that is not filled."""
    if rule.kind == "category":
        return _each(values, rule.read)
    if rule.kind == "number" and holds_numbers(values):  # as they are, but for those too large to compute with
        numbers = values.astype(float)
        numbers = numbers.where(numbers.abs() <= LARGEST) / rule.divide
        numbers = 1.0 - numbers if rule.turned else numbers
        return numbers if rule.fill is None else numbers.fillna(rule.fill)
    return _each(values, rule.read).astype(float)


def read_numbers(values: pd.Series, decimal: str = "") -> tuple[pd.Series, ColumnRule]:
    """A column as numbers, NaN where a cell has none, and the rule for reading them.

    Numbers may be written as people write them ("69,487.00", "67,8", "$1,200", "45%"). If more of the cells are dates
    than numbers, they are days since 1 January 1970. `decimal` as in `learn_rule`.
    """
    rule = ColumnRule(values.name, "number", decimal or _decimal_mark(values))
    numbers = read_column(values, rule)
    if holds_numbers(values) or numbers.notna().sum() > 0.5 * values.notna().sum():
        return numbers, rule
    dates = ColumnRule(values.name, "date", order=_order_of_dates(values))
    days = read_column(values, dates)
    return (days, dates) if days.notna().sum() > numbers.notna().sum() else (numbers, rule)


def read_levels(values: pd.Series, decimal: str = "") -> pd.Series:
    """A column as levels (texts), None where a cell has none; spellings that differ in capitals or spaces are one."""
    found = _as_written(values, decimal)
    names = _one_spelling(found)
    return found.where(~found.isin(list(names)), found.map(names)) if names else found


def respelled(values: pd.Series) -> int:
    """How many cells of a column differ from a level only in capitals or spaces."""
    found = values.iloc[:0] if holds_numbers(values) else _as_written(values, "")
    return int(found.isin(list(_one_spelling(found))).sum())


def _one_spelling(levels: pd.Series) -> dict[str, str]:
    """The rarer spellings of levels, and the most common one of each."""
    counts, first = levels.value_counts(), dict[str, str]()
    for level, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        first.setdefault(folded(level), level)
    return {level: first[folded(level)] for level in counts.index if first[folded(level)] != level}


def _as_written(values: pd.Series, decimal: str) -> pd.Series:
    levels = _each(values, lambda cell: level_in(cell, decimal=decimal))
    # Some tables write the two outcomes as "+" and "-".
    kept = {"-"} if (levels == "+").any() else set()
    return _each(levels, lambda level: None if is_missing(level) and level not in kept else level)


def contract_of(X: pd.DataFrame) -> Contract:
    """The contract of features that a model uses unchanged: numbers and levels as they are, and no gaps."""
    return tuple(
        ColumnRule(name, "category", "", levels=tuple(str(level) for level in X[name].cat.categories))
        if isinstance(X[name].dtype, pd.CategoricalDtype)
        else ColumnRule(name, "number")
        for name in X.columns
    )


def missing_in(values: pd.Series) -> pd.Series:
    """Whether each cell is empty, or has a word for "missing"."""
    return values.isna() if holds_numbers(values) else _each(values, is_missing).astype(bool)


def rule_in_words(rule: ColumnRule) -> str:
    """A rule in words: what a cell may hold, and what a missing one becomes."""
    if rule.kind == "category":
        known = first_of([f"“{short(level)}”" for level in rule.levels], SHOWN_LEVELS)
        read = f"a level: {known}; " + (f"all others are “{rule.other}”" if rule.other else "no other is known")
        filled = f"“{rule.fill}”" if rule.fill in rule.levels else "none of these levels"
    else:
        order = ", the day before the month" if rule.order == "dmy" else ""
        date = f"a date, counted in days since 1 January 1970{order}"
        number = "a number" + (", with a decimal comma" if rule.decimal == "," else "")
        read = (date if rule.kind == "date" else number) + (f", divided by {rule.divide:g}" if rule.divide != 1 else "")
        read += ", of which 1 less it is used" if rule.turned else ""
        filled = f"{rule.fill:g}" if isinstance(rule.fill, float) else ""
    return f"{read}; a missing one {'is refused' if rule.fill is None else f'counts as {filled}'}"


def holds_numbers(values: pd.Series) -> bool:
    """Whether a column is of numbers; booleans are levels."""
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def _each(values: pd.Series, read: Callable[[Any], Any]) -> pd.Series:
    """`read` applied to every cell; equal cells are read once."""
    cells = values.astype(object)
    if pd.api.types.infer_dtype(cells, skipna=True).startswith("mixed"):
        # To pandas, True, 1 and 1.0 are the same.
        keys = pd.Series([f"{type(cell).__name__} {cell}" for cell in cells], dtype=object)
        codes, first = pd.factorize(keys)[0], ~keys.duplicated()
        different = cells.to_numpy()[first.to_numpy()]
    else:
        codes, different = pd.factorize(cells.to_numpy(), use_na_sentinel=False)
    found = np.empty(len(different), dtype=object)
    found[:] = [read(cell) for cell in different]
    return pd.Series(found[codes], index=values.index, name=values.name, dtype=object)


def _some_texts(values: pd.Series) -> list[str]:
    """The first distinct texts of a column: enough to see how all are written."""
    return [cell for cell in pd.unique(values.astype(object).dropna())[:ENOUGH_TEXTS] if isinstance(cell, str)]


def _decimal_mark(values: pd.Series) -> str:
    """The decimal mark of a column of texts, judged by texts that only one mark can explain."""
    if holds_numbers(values):
        return "."
    marks = [decimal_marks(text) for text in _some_texts(values)]
    return "," if marks.count(",") > marks.count(".") else "."


def _order_of_dates(values: pd.Series) -> str:
    """Whether day or month comes first in dates that do not begin with the year, judged by unambiguous ones."""
    parts = [re.match(r"\s*(\d{1,2})([-/.])(\d{1,2})\2\d{4}", text) for text in _some_texts(values)]
    first = max((int(part[1]) for part in parts if part), default=0)
    second = max((int(part[3]) for part in parts if part), default=0)
    in_doubt = "dmy" if any(part[2] == "." for part in parts if part) else "mdy"
    return "dmy" if first > 12 else "mdy" if second > 12 else in_doubt
