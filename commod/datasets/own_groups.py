"""Groups and classes of any table: levels (small ones merged), bands of numbers, and crossings."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from commod.datasets.choice import Choice, ChoiceError
from commod.datasets.grouping import CROSS, UNKNOWN, Attribute, Grouping, bands_of
from commod.datasets.raw import OTHER, missing_in, read_levels, read_numbers
from commod.uploads.limits import count_of, short

# An outcome or a sensitive attribute has at most this many values to choose from.
MAX_VALUES = 50
# With more groups than this, pictures and tables cannot be read.
MAX_GROUPS = 12
MAX_BANDS = 6
# At least two groups need this many rows of each label, or nothing can be trained and held out; any other group needs
# some rows, or there may be nobody to train or test on.
LEAST_ROWS, LEAST_IN_GROUP = 20, 10
# The code of a row whose group is known but not among those compared.
OTHERS = -2


def as_numbers(values: pd.Series) -> tuple[pd.Series, int]:
    """Values as numbers (dates as days), and how many cells hold something that is not a number."""
    numbers, _ = read_numbers(values)
    return numbers, int((numbers.isna() & ~missing_in(values)).sum())


def classes_of(values: pd.Series, cut: float | Sequence[float] | None = None) -> pd.Series:
    """The classes of a column as text: its values or, if it is cut, the band of each number; missing stays missing."""
    if cut is None:
        return read_levels(values)
    cuts = (cut,) if isinstance(cut, int | float) else tuple(cut)
    numbers, _ = as_numbers(values)
    bands = np.array(bands_of(cuts), dtype=object)[np.searchsorted(cuts, numbers, side="right")]
    return pd.Series(bands, index=values.index, dtype=object).where(numbers.notna())


def outcomes_of(frame: pd.DataFrame, choice: Choice) -> pd.Series:
    """The outcome of each row as text, missing if unknown."""
    classes = classes_of(frame[choice.target], choice.target_cut)
    return classes.where(~classes.isin(choice.blanks))


def levels_of(frame: pd.DataFrame, choice: Choice, column: str) -> pd.Series:
    """The level of each row in a sensitive column, after cuts and merges."""
    classes = classes_of(frame[column], choice.cuts.get(column))
    classes = classes.where(~classes.isin(choice.blanks))
    names = choice.merge.get(column, {})
    return classes.where(~classes.isin(list(names)), classes.map(names)) if names else classes


def groups_of(frame: pd.DataFrame, choice: Choice) -> pd.Series:
    """The group of each row as text, missing if unknown."""
    first, *others = (levels_of(frame, choice, column) for column in choice.sensitive_columns)
    return first.str.cat(others, sep=CROSS) if others else first


def find_groups(frame: pd.DataFrame, choice: Choice) -> tuple[Grouping, pd.Series]:
    """The groups of a choice, and the code of each row: `UNKNOWN` if its group is not known, `OTHERS` if not chosen."""
    columns = choice.sensitive_columns
    levels = pd.DataFrame({column: levels_of(frame, choice, column) for column in columns})
    in_order = {column: _in_order(levels[column], choice.cuts.get(column)) for column in columns}
    found = [tuple(row) for row in levels.dropna().drop_duplicates().itertuples(index=False)]
    found.sort(key=lambda row: [in_order[column].index(level) for column, level in zip(columns, row, strict=True)])
    level_of = {CROSS.join(row): row for row in found}
    names = choice.groups or tuple(level_of)
    attributes = tuple(
        Attribute(column, column, _names_of_levels(column, in_order[column], column in choice.cuts))
        for column in columns
    )
    combinations = tuple(
        tuple(in_order[column].index(level) for column, level in zip(columns, level_of[name], strict=True))
        for name in names
    )
    group = groups_of(frame, choice)
    codes = group.map({name: code for code, name in enumerate(names)}).astype(float).fillna(OTHERS)
    codes = codes.where(group.notna(), UNKNOWN).astype(np.int64)
    return Grouping("", CROSS.join(columns), attributes, combinations=combinations), codes


def _in_order(levels: pd.Series, cuts: Sequence[float] | None) -> list[str]:
    present = set(levels.dropna())
    bands = [band for band in bands_of(cuts) if band in present] if cuts else []
    return bands + sorted(present - set(bands))


def _names_of_levels(column: str, levels: list[str], is_cut: bool) -> dict[str, str]:
    """Names of levels; one that says nothing on its own ("0", "yes", "≥ 25") gets the name of its column."""
    empty = {"yes", "no", "true", "false"}
    if {level.lower() for level in levels} <= {"y", "n", "t", "f"}:  # F next to M is a sex
        empty |= {"y", "n", "t", "f"}
    return {
        level: f"{column}: {level}" if is_cut or level.lower() in empty or not any(map(str.isalpha, level)) else level
        for level in levels
    }


def small_together(rows: Mapping[str, int], fewer_than: int) -> dict[str, str]:
    """Merges all levels with few rows into one, as in ``Choice.merge``; empty if fewer than two are small."""
    small = [level for level, count in rows.items() if count < fewer_than]
    return dict.fromkeys(small, OTHER) if len({*small, *({OTHER} & set(rows))}) > 1 else {}


def count_groups(frame: pd.DataFrame, choice: Choice) -> pd.DataFrame:
    """Rows with an outcome of each group, and ``favourable`` ones among them, the largest group first."""
    outcome = outcomes_of(frame, choice)
    known = outcome.notna()
    favourable = outcome[known].isin(choice.good_values).groupby(groups_of(frame[known], choice))
    counted = pd.DataFrame({"rows": favourable.size(), "favourable": favourable.sum()})
    return counted.sort_values("rows", ascending=False, kind="stable")


# ---- what cannot be used ----


def check_classes(values: pd.Series, cuts: Sequence[float] | None, role: str, what: str) -> set[str]:
    """The classes of a column chosen as outcome or sensitive attribute, or an error that says why it cannot be."""
    column = short(values.name, 24)
    for cut in cuts or ():
        if not np.isfinite(cut):
            raise ChoiceError(f"“{column}” is to be cut at {cut}: choose a number.")
    if cuts and list(cuts) != sorted(set(cuts)):
        raise ChoiceError(f"The cuts of “{column}” are not in rising order: {', '.join(f'{cut:g}' for cut in cuts)}.")
    if cuts and len(cuts) >= MAX_BANDS:
        raise ChoiceError(f"“{column}” is cut into {len(cuts) + 1} bands, at most {MAX_BANDS} can be: choose fewer.")
    found = set(classes_of(values, cuts or None).dropna())
    if cuts and len(found) < 2:
        raise ChoiceError(f"All numbers of “{column}” are on one side of {cuts[0]:.10g}: cut it elsewhere.")
    if len(found) < 2:
        raise ChoiceError(f"“{column}” has one {what} only: choose a column with two or more as {role}.")
    if len(found) > MAX_VALUES:
        many = f"{len(found):,} different values"
        raise ChoiceError(f"“{column}” has {many}; the {role} can have {MAX_VALUES}: choose another, or cut it.")
    return found


def check_groups(frame: pd.DataFrame, choice: Choice) -> None:
    """Check that the groups of a choice exist and are not too many."""
    for column in choice.sensitive_columns:
        check_classes(frame[column], choice.cuts.get(column), "sensitive attribute", "group")
    for said, what in ((choice.cuts, "cut"), (choice.merge, "merged")):
        if other := [column for column in said if column not in choice.sensitive_columns]:
            raise ChoiceError(f"“{short(other[0], 24)}” is to be {what}, but is no sensitive attribute: make it one.")
    found = set(groups_of(frame, choice).dropna())
    about = CROSS.join(short(column, 24) for column in choice.sensitive_columns)
    wanted = set(choice.groups or found)
    if len(wanted) < 2 or len(wanted) < len(choice.groups) or not wanted <= found:
        raise ChoiceError(f"Choose two different groups of “{about}”, or more of them.")
    if len(wanted) > MAX_GROUPS:
        raise ChoiceError(f"“{about}” has {len(wanted)} groups; at most {MAX_GROUPS} can be compared: merge some.")


def check_sizes(y: pd.Series, codes: pd.Series, groups: Sequence[str]) -> None:
    """Check that the groups have enough people to train on and to hold some out."""
    known = codes != UNKNOWN
    rows = pd.crosstab(codes[known], y[known]).reindex(index=range(len(groups)), columns=[0, 1], fill_value=0)
    for code, group in enumerate(groups if len(groups) == 2 else ()):
        for label, what in ((1, "with"), (0, "without")):
            if rows.loc[code, label] < LEAST_ROWS:
                size = count_of(rows.loc[code, label], "row")
                raise ChoiceError(
                    f"Group “{short(group, 24)}” has {size} {what} the favourable outcome; at least {LEAST_ROWS} are "
                    "needed: choose other groups, or bring more data."
                )
    sizes = rows.sum(axis=1)
    if sizes.min() < LEAST_IN_GROUP:
        name, size = short(groups[sizes.argmin()], 24), count_of(sizes.min(), "row")
        raise ChoiceError(f"Group “{name}” has {size}; at least {LEAST_IN_GROUP} are needed: merge it or leave it out.")
    if (rows >= LEAST_ROWS).all(axis=1).sum() < 2:
        raise ChoiceError(
            f"Two groups at least need {LEAST_ROWS} rows with and {LEAST_ROWS} without the favourable outcome: merge "
            "groups, or bring more data."
        )
