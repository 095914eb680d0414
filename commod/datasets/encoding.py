"""One encoding of tables for every model: numbers standardised, categories as 0/1 columns, standardised too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from commod.cells import days_in
from commod.datasets.blocks import mean_of
from commod.datasets.raw import MISSING, OTHER, holds_numbers

# Joins column and level in the name of a 0/1 column: "tier=cluster 3".
LEVEL_SEPARATOR = "="


def as_table(X: Any) -> Any:
    """`X` for pandas or numpy: a polars frame keeps its names; a sparse matrix is refused, with a way out."""
    if issparse(X):
        raise TypeError(
            "Sparse data was passed for X, but an edit needs dense columns: pass X.toarray(), or a dense X with fewer "
            "columns and the probabilities of f as base_scores."
        )
    return X if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas") else X.to_pandas()


class TabularEncoder(TransformerMixin, BaseEstimator):
    """Encode a table as standardised numbers, one column per number and per level of a category.

    A category with two levels becomes one column (its second level). The 0/1 columns are standardised, too, so all
    weights of a linear model are comparable: each is "per standard deviation", and a penalty treats a rare level as a
    column with little variance. A level not seen in ``fit`` is encoded as "none of the known ones".

    A missing number becomes the median of ``fit``. Missing levels become the level "missing" if ``fit`` saw any,
    otherwise none of the known ones. Dates become numbers, days since 1 January 1970.

    scikit-learn's ColumnTransformer would do the same with three nested transformers; this is one step, an order of
    magnitude faster on a slider, and keeps for each encoded column where it comes from (``origin_``), which every
    explanation needs.

    Parameters
    ----------
    max_levels : int, default 100
        A category with more levels keeps one fewer than this, the most common ones; all others, seen in ``fit`` or not,
        are one level, "other".

    Attributes
    ----------
    feature_names_out_ : list of str
        ``"lsat"`` for a number, ``"tier=cluster 3"`` for a level.
    origin_ : list of (str, level or None)
        The input column behind each output column, and the level it stands for.
    mean_, scale_ : ndarray
        Standardisation; a constant column has scale 1 and so encodes as 0.
    levels_ : dict
        Levels of each category, with "missing" and "other" if needed.
    medians_ : dict
        What a missing number becomes, by column.
    gaps_, dates_, joined_ : sets of columns
        Columns with gaps in ``fit``, with dates, and with rare levels that are joined.
    """

    def __init__(self, *, max_levels: int = 100) -> None:
        self.max_levels = max_levels

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> TabularEncoder:
        """Learn levels, medians, means and scales from `X`, a frame or 2-d array; rows count by `sample_weight`."""
        self._fit_raw(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, sample_weight: Any = None, **_: Any) -> np.ndarray:
        """Fit and encode the same rows at the cost of one pass."""
        return self._standardised(self._fit_raw(X, sample_weight))

    def _fit_raw(self, X: Any, sample_weight: Any) -> np.ndarray:
        frame = self._as_frame(X, reset=True)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.levels_: dict[Any, list[Any]] = {}
        self.medians_: dict[Any, float] = {}
        columns = [*frame.items()]
        self.gaps_ = {column for column, values in columns if values.hasnans}
        self.dates_ = {column for column, values in columns if _holds_dates(values)}
        self.joined_: set[Any] = set()
        self.origin_: list[tuple[Any, Any]] = []
        for column, values in columns:
            if column in self.dates_ or holds_numbers(values):
                self.origin_.append((column, None))
                median = _median(self._numbers(values), weight)
                self.medians_[column] = 0.0 if pd.isna(median) else float(median)
                continue
            levels = self._levels_of(values, weight)
            self.levels_[column] = levels
            shown = levels[1:] if len(levels) == 2 else levels
            self.origin_.extend((column, level) for level in shown)
        self.feature_names_out_ = [
            str(column) if level is None else f"{column}{LEVEL_SEPARATOR}{level}" for column, level in self.origin_
        ]
        raw = self._raw(frame)
        self.mean_ = mean_of(raw, weight)
        scale = np.sqrt(mean_of(raw, weight, lambda part: (part - self.mean_) ** 2))
        # A constant column leaves rounding noise in std; it must not be blown up to unit variance.
        tiny = 10 * np.finfo(float).eps * np.maximum(1.0, np.abs(self.mean_))
        self.scale_ = np.where(scale > tiny, scale, 1.0)
        return raw

    def _levels_of(self, values: pd.Series, weight: np.ndarray | None) -> list[Any]:
        """The levels of a category in order, rare ones joined."""
        if isinstance(values.dtype, pd.CategoricalDtype):  # look at the few categories, not the many rows
            codes, categories = values.array.codes, values.array.categories.tolist()
            levels = [categories[code] for code in pd.unique(codes[codes >= 0])]
        else:
            levels = list(pd.unique(values.dropna()))
        if len(levels) > self.max_levels:
            people = None if weight is None else pd.Series(weight, index=values.index)
            counts = values.value_counts() if people is None else people.groupby(values, observed=True).sum()
            common = sorted(levels, key=lambda level: (-counts[level], str(level)))
            levels = [*common[: self.max_levels - 1], OTHER]
            self.joined_.add(values.name)
        if values.name in self.gaps_:
            levels.append(MISSING)
        return sorted(dict.fromkeys(levels), key=str)

    def transform(self, X: Any) -> np.ndarray:
        """Return the encoded matrix, rows × ``feature_names_out_``."""
        check_is_fitted(self)
        return self._standardised(self._raw(self._as_frame(X, reset=False)))

    def raw(self, X: Any) -> np.ndarray:
        """Like `transform`, but in original units: numbers as they are, levels as 0 and 1."""
        check_is_fitted(self)
        return self._raw(self._as_frame(X, reset=False))

    def _standardised(self, raw: np.ndarray) -> np.ndarray:
        """Encoded rows from raw ones, in place: they may be as large as memory allows."""
        raw -= self.mean_
        raw /= self.scale_
        return raw

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the encoded columns."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_out_, dtype=object)

    def _as_frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        X = as_table(X)
        if not isinstance(X, pd.DataFrame):
            array = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
            array = check_array(array, dtype=float, ensure_all_finite="allow-nan")
            return pd.DataFrame(array, columns=[f"x{i}" for i in range(array.shape[1])], copy=False)
        # skip_check_array: the array checks would turn categories into objects; names and count are still checked.
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset and X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        return X

    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        """Numbers as they are, levels as 0/1; shape (rows, encoded columns)."""
        raw = np.empty((len(frame), len(self.origin_)))
        filled = 0
        for column, values in frame.items():
            if column not in self.levels_:
                numbers = self._numbers(values).to_numpy()
                gaps = np.isnan(numbers)
                if gaps.any():
                    numbers = np.where(gaps, self.medians_[column], numbers)
                if not np.isfinite(numbers).all():
                    raise ValueError(f"Input X contains infinity in column {column!r}: clip or drop those rows.")
                raw[:, filled] = numbers
                filled += 1
                continue
            levels = self.levels_[column]
            codes = _level_codes(values, levels)
            if column in self.joined_:
                codes = np.where((codes < 0) & values.notna().to_numpy(), levels.index(OTHER), codes)
            if column in self.gaps_:
                codes = np.where(values.isna().to_numpy(), levels.index(MISSING), codes)
            shown = np.arange(1, 2) if len(levels) == 2 else np.arange(len(levels))
            raw[:, filled : filled + len(shown)] = np.equal.outer(codes, shown)
            filled += len(shown)
        return raw

    def _numbers(self, values: pd.Series) -> pd.Series:
        """A column of numbers or dates as floats; gaps are NaN."""
        if values.name not in self.dates_:
            if values.dtype == np.float64:
                return values
            return pd.to_numeric(values, errors="raise").astype(float)
        if not pd.api.types.is_datetime64_any_dtype(values.dtype):
            return values.map(days_in).astype(float)
        since = values.dt.tz_convert(None) if values.dt.tz is not None else values
        return (since - pd.Timestamp(0)) / pd.Timedelta(days=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _median(numbers: pd.Series, weight: np.ndarray | None) -> float:
    """The median of the values present; with weights, midway if half of the weight ends exactly at a value."""
    values = numbers.to_numpy()
    there = ~np.isnan(values)
    values = values[there]
    if not len(values):
        return np.nan
    if weight is None:
        return float(np.median(values))
    weights = weight[there]
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    half = total[-1] / 2
    return float(values[order][[np.searchsorted(total, half, side) for side in ("left", "right")]].mean())


def _holds_dates(values: pd.Series) -> bool:
    if values.dtype == object:
        return pd.api.types.infer_dtype(values, skipna=True) in ("date", "datetime", "datetime64")
    return pd.api.types.is_datetime64_any_dtype(values.dtype)


def _level_codes(values: pd.Series, levels: list[Any]) -> np.ndarray:
    """Position of each value in `levels`, −1 where it is none of them."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        # The last place serves missing codes (−1).
        known = {level: place for place, level in enumerate(levels)}
        places = np.array([*(known.get(level, -1) for level in values.array.categories.tolist()), -1])
        return places[values.array.codes]
    return pd.Index(levels, dtype=object).get_indexer(values.astype(object))
