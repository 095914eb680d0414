"""One encoding of tables for every model: numbers standardised, categories as 0/1 columns, standardised too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

__all__ = ["TabularEncoder"]

# Joins column and level in the name of a 0/1 column: "tier=cluster 3".
LEVEL_SEPARATOR = "="


class TabularEncoder(TransformerMixin, BaseEstimator):
    """Encode a table as standardised numbers, one column per number and per level of a category.

    A category with two levels becomes one column (its second level). Standardising the 0/1 columns as well makes
    all weights of a linear model comparable: each is "per standard deviation", and a penalty treats a rare level as
    what it is, a column with little variance. A level not seen in ``fit`` encodes as "none of the known ones".

    scikit-learn's ColumnTransformer would do the same with three nested transformers; this is one step, an order of
    magnitude faster on a slider, and keeps for each encoded column where it comes from (``origin_``), which every
    explanation needs.

    Attributes
    ----------
    feature_names_out_ : list of str
        ``"lsat"`` for a number, ``"tier=cluster 3"`` for a level.
    origin_ : list of (str, level or None)
        The input column behind each output column, and the level it stands for.
    mean_, scale_ : ndarray
        Standardisation; a constant column has scale 1 and so encodes as 0.
    """

    def fit(self, X: Any, y: Any = None) -> TabularEncoder:
        """Learn levels, means and scales from `X` (DataFrame or 2-d array of numbers)."""
        self._fit_raw(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> np.ndarray:
        """Fit and encode the same rows at the cost of one pass."""
        return (self._fit_raw(X) - self.mean_) / self.scale_

    def _fit_raw(self, X: Any) -> np.ndarray:
        frame = self._as_frame(X, reset=True)
        self.levels_: dict[Any, list[Any]] = {}
        self.origin_: list[tuple[Any, Any]] = []
        for column in frame.columns:
            values = frame[column]
            if _is_number(values):
                self.origin_.append((column, None))
                continue
            levels = sorted(pd.unique(values.dropna()), key=str)
            self.levels_[column] = levels
            shown = levels[1:] if len(levels) == 2 else levels
            self.origin_.extend((column, level) for level in shown)
        self.feature_names_out_ = [
            str(column) if level is None else f"{column}{LEVEL_SEPARATOR}{level}" for column, level in self.origin_
        ]
        raw = self._raw(frame)
        self.mean_ = raw.mean(axis=0)
        scale = raw.std(axis=0)
        # A constant column leaves rounding noise in std; it must not be blown up to unit variance.
        tiny = 10 * np.finfo(float).eps * np.maximum(1.0, np.abs(self.mean_))
        self.scale_ = np.where(scale > tiny, scale, 1.0)
        return raw

    def transform(self, X: Any) -> np.ndarray:
        """Return the encoded matrix, rows × ``feature_names_out_``."""
        check_is_fitted(self)
        return (self._raw(self._as_frame(X, reset=False)) - self.mean_) / self.scale_

    def raw(self, X: Any) -> np.ndarray:
        """Like `transform`, but in original units: numbers as they are, levels as 0 and 1."""
        check_is_fitted(self)
        return self._raw(self._as_frame(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the encoded columns."""
        check_is_fitted(self)
        return np.asarray(self.feature_names_out_, dtype=object)

    def _as_frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        if not isinstance(X, pd.DataFrame):
            array = validate_data(self, X, reset=reset, dtype="numeric")
            return pd.DataFrame(check_array(array, dtype=float), columns=[f"x{i}" for i in range(array.shape[1])])
        # skip_check_array: the array checks would turn categories into objects; names and count are still checked.
        validate_data(self, X, reset=reset, skip_check_array=True)
        if reset and X.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        missing = X.columns[X.isna().any()].tolist()
        if missing:
            raise ValueError(
                f"Input X contains NaN in column(s) {missing}: fill them in or drop those rows before fitting."
            )
        return X

    def _raw(self, frame: pd.DataFrame) -> np.ndarray:
        """Numbers as they are, levels as 0/1; shape (rows, encoded columns)."""
        blocks: list[np.ndarray] = []
        for column in frame.columns:
            values = frame[column]
            if column not in self.levels_:
                numbers = pd.to_numeric(values, errors="raise").to_numpy(dtype=float)
                if not np.isfinite(numbers).all():
                    raise ValueError(f"Input X contains infinity in column {column!r}: clip or drop those rows.")
                blocks.append(numbers[:, None])
                continue
            levels = self.levels_[column]
            codes = _level_codes(values, levels)
            shown = range(1, 2) if len(levels) == 2 else range(len(levels))
            blocks.append(np.equal.outer(codes, np.asarray(shown)).astype(float))
        return np.hstack(blocks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _is_number(values: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)


def _level_codes(values: pd.Series, levels: list[Any]) -> np.ndarray:
    """Position of each value in `levels`, −1 where it is none of them."""
    known = pd.Index(levels, dtype=object)
    if isinstance(values.dtype, pd.CategoricalDtype):
        # Look up the few categories, not the many rows; the last place serves missing codes (−1).
        places = np.append(known.get_indexer(values.cat.categories.astype(object)), -1)
        return places[values.cat.codes.to_numpy()]
    return known.get_indexer(values.astype(object))
