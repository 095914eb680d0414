"""What COMMOD and its competitors share: checks of tables, f in any form, and scikit-learn's contract."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from commod.datasets.encoding import TabularEncoder, as_table
from commod.models.adversary import Array, sigmoid
from commod.models.base_models import BaseModel, base_logits, check_base_model, fit_weighted
from commod.models.threshold import logit_of_threshold
from commod.models.validation import check_labels, check_sample_weight, check_sensitive


@dataclass(frozen=True)
class Given:
    """Arguments of a fit, checked."""

    X: Any  # DataFrame, or array of numbers
    labels: Array  # (n,) 0/1
    classes: np.ndarray
    sensitive: Array | None  # (n,) number of the group, −1 where it is not known
    groups: np.ndarray | None
    weight: Array | None = None  # (n,) how much each row counts, more than 0; None: all alike
    rows: np.ndarray | None = None  # which of the given rows these are; None: all

    def those(self, values: Any) -> Any:
        """From values for all given rows, the values of these rows."""
        return values if values is None or self.rows is None else _safe_indexing(values, self.rows)


NOBODY = "fit was called without sensitive_features, so there is no one to be fair to"


def warn_caller(sentence: str) -> None:
    """Warn at the line that called `fit`, which calls this."""
    warnings.warn(sentence, UserWarning, stacklevel=3)


class TabularClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes on tables, whose positive class is the second in sorted order."""

    classes_: np.ndarray
    line_: float  # the logit of its cut-off

    def _given(self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any = None) -> Given:
        """The checked arguments, without rows of weight 0."""
        return self._those_given(self._validated(X, reset=True), y, sensitive_features, sample_weight)

    def _those_given(self, frame: Any, y: Any, sensitive_features: Any, sample_weight: Any) -> Given:
        n = frame.shape[0]
        weight = check_sample_weight(sample_weight, n)
        rows = None if weight is None or weight.all() else np.flatnonzero(weight)
        if rows is not None and np.shape(y)[:1] == (n,):
            frame, y, sensitive_features, weight = (
                None if part is None else _safe_indexing(part, rows) for part in (frame, y, sensitive_features, weight)
            )
        labels, classes = check_labels(y, frame.shape[0])
        sensitive = groups = None
        if sensitive_features is not None:
            sensitive, groups = check_sensitive(sensitive_features, len(labels))
        return Given(frame, labels, classes, sensitive, groups, weight, rows)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        X = as_table(X)
        if isinstance(X, pd.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        # There may be gaps: the edit's encoder fills them, and f gets what it was trained on.
        array = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan")
        return check_array(array, dtype=float, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _classes(self, margin: Array) -> np.ndarray:
        return self.classes_[(margin > 0).astype(int)]

    def _probabilities(self, margin: Array) -> Array:
        p = sigmoid(margin + self.line_)
        return np.column_stack([1.0 - p, p])


class EditedModel(TabularClassifier):
    """A classifier made from another one, f, which it keeps."""

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sensitive_features": True, "base_scores": True}

    base_model: BaseModel
    threshold: Any
    base_model_: BaseModel

    @property
    def threshold_(self) -> float:
        """The probability above which f decides positively."""
        return float(1.0 / (1.0 + np.exp(-self.line_)))

    def _base(self, given: Given, y: Any, base_scores: Any) -> tuple[BaseModel, Array, float]:
        """The f in use (trained here if there is none), its logits minus the cut-off's, and the cut-off's logit."""
        base_model = self.base_model
        frame = self._seen_by_base(given.X, base_model)
        y, base_scores = given.those(y), given.those(base_scores)
        if base_model is None and base_scores is None:
            base_model = fit_weighted(make_pipeline(TabularEncoder(), LogisticRegression()), frame, y, given.weight)
        check_base_model(base_model, given.classes)
        logit = base_logits(base_model, frame, base_scores)
        line = logit_of_threshold(self.threshold, base_model, logit, given.labels, given.weight)
        return base_model, logit - line, line

    def margin_of_f(self, X: Any, *, base_scores: Any = None) -> Array:
        """How far f's logit lies above its cut-off: f decides positively above 0."""
        if self.base_model_ is None and base_scores is None:
            raise ValueError("This model was fitted on base_scores: pass the scores of these rows as base_scores too.")
        return base_logits(self.base_model_, self._seen_by_base(X, self.base_model_), base_scores) - self.line_

    def _seen_by_base(self, X: Any, base_model: BaseModel) -> Any:
        """The part of X that f gets."""
        return X

    def _inputs(self, X: Any, base_model: BaseModel) -> Any:
        """Features of the edit: all columns but the one that holds f's scores."""
        return X.drop(columns=base_model) if isinstance(base_model, str) else X

    def _checked(self, X: Any, fitted: str) -> Any:
        check_is_fitted(self, fitted)
        return self._validated(X, reset=False)

    def __sklearn_clone__(self) -> EditedModel:
        """Clone the settings but keep a fitted f: without its model there would be nothing to edit."""
        params = self.get_params(deep=False)
        base_model = params.pop("base_model")
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(base_model, **copies)
