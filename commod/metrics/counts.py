"""Everything here is a function of counts: how many rows of group s with label y got prediction ŷ.

With weights, a count is the sum of the weights. Rows whose group is not known, and rows of weight 0, are not counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import betabinom

from commod.datasets.grouping import CROSS

# (..., groups, label, prediction) or, for two models, (..., groups, label, prediction of f, prediction of g)
Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Tally:
    """Counts, and what weighted rows need in addition."""

    counts: Counts  # sums of weights; without weights, rows
    # Sums of squared weights (see `effective_size`), and how many rows there are.
    squares: Counts
    rows: Counts
    groups: list[Any]  # their values
    kept: NDArray[np.bool_]  # which rows are counted: their group is known and their weight is not 0

    @property
    def sizes(self) -> Counts:
        return sizes_of_groups(self.rows)


def as_binary(values: Any, name: str) -> NDArray[np.int64]:
    """`values` as an array of 0 and 1, or a ValueError that says what else was found."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one value per row, not shape {array.shape}.")
    if array.dtype == bool:
        return array.astype(np.int64)
    found = pd.unique(array)
    if not set(found.tolist()) <= {0, 1}:
        shown = ", ".join(repr(v) for v in found[:5].tolist())
        raise ValueError(f"{name} must hold 0 and 1 only, found {shown}: encode the positive class as 1.")
    return array.astype(np.int64)


def as_weight(sample_weight: Any) -> NDArray[np.float64]:
    """`sample_weight` as an array of numbers of 0 or more; ValueError says what is wrong."""
    try:
        weight = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must hold numbers, one for each row.") from None
    if weight.ndim != 1:
        raise ValueError(f"sample_weight must have one value per row, not shape {weight.shape}.")
    bad = ~np.isfinite(weight) | (weight < 0)
    if bad.any():
        raise ValueError(
            f"sample_weight must hold finite numbers of 0 or more; {int(bad.sum()):,} row(s) do not (the first has "
            f"{weight[bad][0]:g}): leave those rows out or give them a weight."
        )
    if len(weight) and not weight.any():
        raise ValueError("All weights are zero, so nobody counts: give at least one row a weight above 0.")
    return weight


def same_length(**arrays: Any) -> None:
    """Raise a ValueError unless the named arrays have the same length and are not empty."""
    lengths = {name: len(array) for name, array in arrays.items()}
    if 0 in lengths.values():
        raise ValueError("There are no rows: a metric needs at least one row per group.")
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"Inputs differ in length: {shown} rows.")


def codes_of_groups(sensitive_features: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """Group number of each row, −1 where it is not known, and the sorted group values.

    `sensitive_features`: (n,) or (n, columns); missing values are unknown groups. With several columns the groups are
    the combinations, named "Black × Female". Raises ValueError if fewer than two groups are known.
    """
    series = values_of_groups(sensitive_features)
    known = series.notna()
    groups = sorted(series[known].unique().tolist(), key=lambda v: (str(type(v)), v))
    if len(groups) < 2:
        found = f"holds one group only ({groups})" if groups else "holds no group that is known"
        raise ValueError(f"sensitive_features {found}: fairness compares two or more groups.")
    return pd.Categorical(series, categories=groups).codes.astype(np.int64), groups


def values_of_groups(sensitive_features: Any) -> pd.Series:
    """One value per row; with several columns, their names joined."""
    if isinstance(sensitive_features, pd.DataFrame):
        columns = [pd.Series(np.asarray(column)) for _, column in sensitive_features.items()]
    else:
        array = np.asarray(sensitive_features)
        if array.ndim > 2:
            raise ValueError(f"sensitive_features must have a row for each person, not shape {array.shape}.")
        columns = [pd.Series(column) for column in (array.T if array.ndim == 2 else [array])]
    if not columns:
        raise ValueError("sensitive_features has no column: give at least one.")
    if len(columns) == 1:
        return columns[0]
    known = np.logical_and.reduce([column.notna() for column in columns])
    return columns[0].astype(str).str.cat([column.astype(str) for column in columns[1:]], sep=CROSS).where(known)


def counts_of_codes(codes: Any, n_groups: int, y: Any, f: Any, g: Any = None, weight: Any = None) -> Counts:
    """Counts of rows whose groups are codes 0 … n_groups − 1; −1, an unknown group, is not counted. Nothing is checked.

    `y`, `f`, `g`: labels and the decisions of one model or two, (n,) of 0 and 1, or of bool.
    """
    return _count(codes, n_groups, [y, f] if g is None else [y, f, g], weight)


def _count(codes: Any, n_groups: int, columns: list[Any], weight: Any) -> Counts:
    """Counts over the group and any number of columns of 0 and 1."""
    cell = np.asarray(codes, dtype=np.int64)
    for column in columns:
        cell = 2 * cell + np.asarray(column)  # −1 becomes −2 or −1, and stays below 0
    known = cell >= 0
    if not known.all():
        cell, weight = cell[known], weight if weight is None else np.asarray(weight)[known]
    flat = np.bincount(cell, weights=weight, minlength=n_groups << len(columns))
    return flat.reshape(n_groups, *[2] * len(columns)).astype(float)


def tally(
    y_true: Any,
    predictions: dict[str, Any],
    sensitive_features: Any,
    sample_weight: Any = None,
    n_groups: int | None = None,
) -> Tally:
    """Checked rows as counts.

    `predictions`: of one model or two, by the name that errors use. `n_groups`: for `sensitive_features` that are codes
    0 … n_groups − 1 and −1; a group without rows then keeps its place.
    """
    y = as_binary(y_true, "y_true")
    decided = {name: as_binary(values, name) for name, values in predictions.items()}
    of_groups = values_of_groups(sensitive_features)
    weight = np.ones(len(y)) if sample_weight is None else as_weight(sample_weight)
    given = {} if sample_weight is None else {"sample_weight": weight}
    same_length(y_true=y, **decided, sensitive_features=of_groups, **given)
    kept = weight > 0
    if n_groups is None:
        codes, groups = codes_of_groups(of_groups[kept])
    else:
        codes, groups = of_groups[kept].to_numpy(), list(range(n_groups))
        known = codes[codes >= 0]
        if not len(known) or known.min() == known.max():
            codes_of_groups(known)  # says that there must be two groups at least
        if known.max() >= n_groups:
            raise ValueError(
                f"sensitive_features has the code {known.max()}, but n_groups is {n_groups}: codes start at 0."
            )
    kept[kept] = codes >= 0
    codes, weight, columns = codes[codes >= 0], weight[kept], [values[kept] for values in (y, *decided.values())]
    rows, counts, squares = (_count(codes, len(groups), columns, weight**power) for power in range(3))
    return Tally(counts, squares, rows, groups, kept)


def sizes_of_groups(counts: Counts) -> Counts:
    """People of each group, from (groups, label, prediction …)."""
    return counts.reshape(len(counts), -1).sum(axis=1)


def effective_size(weight: Any, squares: Any) -> Counts:
    """Kish's effective sample size, (Σw)² / Σw²; 0 without people."""
    total, squared = np.asarray(weight, dtype=float), np.asarray(squares, dtype=float)
    return np.asarray(total**2 / np.where(squared > 0, squared, 1.0))


def wilson_interval(part: Any, whole: Any, confidence: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson's interval of a share, for whole columns at once; NaN where `whole` is 0.

    As ``scipy.stats.binomtest(…).proportion_ci(confidence, method="wilson")``, which takes one share at a time. It
    stays in [0, 1], and does not shrink to nothing where nobody, or everybody, changed.
    """
    k, n = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    z = float(ndtri(0.5 + confidence / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = k / n
        middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # Exact at the ends, where rounding would leave 1e-17.
    low, high = np.where(k == 0, 0.0, middle - reach), np.where(k == n, 1.0, middle + reach)
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def new_people_interval(part: int, whole: int, people: int = 1000, confidence: float = 0.95) -> tuple[int, int]:
    """How many of `people` new people will be like `part` of the `whole` seen (beta-binomial, Jeffreys' prior)."""
    tail = (1 - confidence) / 2
    low, high = betabinom.ppf([tail, 1 - tail], people, part + 0.5, whole - part + 0.5)
    return int(low), int(high)


# Next to nine groups of 500 people, all with the same true rate of 0.3, a group of 99 has the smallest or the largest
# rate in every second sample; a group of 49, in two of three.
MIN_GROUP = 100
# Used if fewer than two groups have MIN_GROUP people; if fewer than two have this many, all groups count.
SCARCE = 30


def least_people(rows: Any) -> int:
    """How many rows a group must have to count in the extremes, given the rows of each group."""
    sizes = np.asarray(rows)
    return next((least for least in (MIN_GROUP, SCARCE, 1) if (sizes >= least).sum() >= 2), 0)


def compared_groups(rows: Any) -> NDArray[np.bool_]:
    """Which groups count in the extremes (P-Rule, largest differences, DM), given the rows of each group.

    Groups with `MIN_GROUP` rows or more, if there are two; otherwise those with `SCARCE` or more, if there are two;
    otherwise all with rows. So with two groups neither is ever left out. Rows are counted without weights, which make
    no rate more certain.
    """
    return np.asarray(np.asarray(rows) >= least_people(rows))


def left_out_in_words(names: Sequence[Any], sizes: Any) -> str:
    """Which groups the extremes leave out and why, in a sentence or two; empty if none. Sizes are in rows."""
    kept = compared_groups(sizes)
    out = [(name, int(size)) for name, size, has in zip(names, sizes, kept, strict=True) if not has]
    if not out:
        return ""
    shown = ", ".join(f"{name} ({size:,} {'person' if size == 1 else 'people'})" for name, size in out)
    of_them = "Its rate is" if len(out) == 1 else "Their rates are"
    return (
        f"P-Rule and differences of groups compare {int(kept.sum())} of {len(kept)} groups and leave out {shown}: of "
        f"fewer than {least_people(sizes)} people, chance alone can make a rate the smallest or the largest. {of_them} "
        "shown with an interval."
    )


def undominated(*gains: Any) -> NDArray[np.bool_]:
    """Which points no other beats in one gain (to be large) without losing in another; equal points count together."""
    values = np.column_stack([np.asarray(gain, dtype=float) for gain in gains])  # (n, gains)
    at_least = np.all(values[None] >= values[:, None], axis=2)
    more = np.any(values[None] > values[:, None], axis=2)
    return ~np.any(at_least & more, axis=1)
