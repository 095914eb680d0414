"""The interface of competitors that edit f: rows checked and encoded, S at predict only if it is needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets.encoding import TabularEncoder, as_table
from commod.metrics.counts import values_of_groups
from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array, sigmoid
from commod.models.base_models import BaseModel
from commod.models.classifier import NOBODY, EditedModel, warn_caller
from commod.models.competitors.registry import METHODS
from commod.models.threads import single_threaded
from commod.models.validation import check_choice, check_numbers


class Memory:
    """What fits on the same rows share if they differ only in the knob; each gives what it would give alone."""

    def __init__(self) -> None:
        self._made_for: tuple[Any, ...] = ()
        self._found: dict[Any, Any] = {}

    def of(self, *made_for: Any) -> dict[Any, Any]:
        """What is known for these arrays and settings, to be extended; empty if they differ from the last ones."""
        if len(self._made_for) != len(made_for) or not all(map(np.array_equal, self._made_for, made_for)):
            self._made_for, self._found = made_for, {}
        return self._found


@dataclass(frozen=True)
class Rows:
    """Encoded rows, as a competitor sees them."""

    X: Array  # (n, d) standardised features
    logit: Array  # (n,) of f, less that of its threshold: f decides positively above 0
    sensitive: NDArray[np.int64] | None  # (n,) place in `groups_`; at predict only for methods that need it
    weight: Array | None = None  # (n,) how much each row counts in a fit; None: all alike
    memory: Memory = field(default_factory=Memory, repr=False)  # of other fits on these rows

    @property
    def score(self) -> Array:
        """The score of f, with its cut-off moved to one half."""
        return sigmoid(self.logit)

    @property
    def groups(self) -> NDArray[np.int64]:
        assert self.sensitive is not None
        return self.sensitive

    @property
    def total(self) -> float:
        return len(self.logit) if self.weight is None else float(self.weight.sum())

    def weighed(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.weight is None else (values.T * self.weight).T

    def mean(self, values: NDArray[Any]) -> Array:
        return np.asarray(values.mean(axis=0) if self.weight is None else self.weighed(values).sum(axis=0) / self.total)

    def at(self, here: NDArray[np.bool_]) -> Rows:
        weight = None if self.weight is None else self.weight[here]
        return replace(self, X=self.X[here], logit=self.logit[here], sensitive=self.groups[here], weight=weight)

    def of(self, group: int) -> Rows:
        return self.at(self.groups == group)


def chance_of_rows(rows: Rows, seed: int) -> Array:
    """One number in [0, 1) per row, drawn by the row's own content and the seed, shape (n,).

    So a randomised rule treats a person the same alone, in a batch or in another order, and equal people alike.
    """
    # Not by f's score, whose last digit depends on how many rows f gets at once.
    columns = {str(i): column for i, column in enumerate(rows.X.T)} | {"seed": np.full(len(rows.X), seed)}
    if rows.sensitive is not None:
        columns["sensitive"] = rows.sensitive
    hashed = pd.util.hash_pandas_object(pd.DataFrame(columns), index=False).to_numpy()
    return (hashed >> np.uint64(11)).astype(float) / 2.0**53


@dataclass(eq=False, repr=False)
class Competitor(EditedModel, ABC):
    """Template of the post-processing methods. A subclass says how it learns and how it scores.

    Without the sensitive attribute there is nobody to be fair to, so g = f, with a warning. A method learns from the
    rows whose group is known.
    """

    base_model: BaseModel = None  # in any form that `Commod` takes, as is the threshold
    _: KW_ONLY
    threshold: float | str | None = None
    fairness: str = "demographic_parity"  # one of `criteria`
    random_state: int = 0  # not used where nothing is random

    # These three must match the registry.
    criteria: ClassVar[tuple[str, ...]] = tuple(CRITERIA)  # what it can be made to meet
    for_two: ClassVar[bool] = False  # whether it is defined for two groups only
    weights: ClassVar[bool] = True  # whether its fit takes a `sample_weight`

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for method in METHODS.values():
            if method.estimator == (cls.__module__, cls.__name__):
                cls.criteria, cls.for_two, cls.weights = method.criteria, method.groups == 2, method.weights

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sensitive_features: Any = None,
        base_scores: Any = None,
        sample_weight: Any = None,
        memory: Memory | None = None,
    ) -> Competitor:
        """Learn from training rows; arguments as in `Commod.fit`, and the `memory` of other fits on the same rows."""
        check_choice("fairness", self.fairness, self.criteria)
        check_numbers(self)
        if sample_weight is not None and not self.weights:
            raise ValueError(
                f"{type(self).__name__} takes no sample_weight: leave it out, or choose a method that can weight rows."
            )
        given = self._given(X, y, self._groups_in(X, sensitive_features), sample_weight)
        if given.groups is not None and len(given.groups) > 2 and self.for_two:
            raise ValueError(
                f"{type(self).__name__} is defined for two groups, but sensitive_features holds {len(given.groups)}: "
                "compare one group with the rest, or choose a method for any number of groups."
            )
        base_model, logit, line = self._base(given, y, base_scores)
        encoder = TabularEncoder()
        encoded = encoder.fit_transform(self._inputs(given.X, base_model), sample_weight=given.weight)
        before = dict(vars(self))
        self.classes_, self.groups_ = given.classes, given.groups
        self.base_model_, self.line_, self.encoder_ = base_model, line, encoder
        self.edits_ = given.sensitive is not None
        if given.sensitive is None:
            warn_caller(f"{NOBODY}: g = f.")
            if hasattr(self, "max_iter"):
                self.n_iter_ = 1  # one step, with nothing to do
            return self
        try:
            with single_threaded():
                rows = Rows(encoded, logit, given.sensitive.astype(np.int64), given.weight, memory or Memory())
                known, labels = rows.groups >= 0, given.labels
                if not known.all():
                    rows, labels = rows.at(known), labels[known]
                if CRITERIA[self.fairness].by_label and lacks_a_label(rows.groups, labels):
                    raise ValueError(
                        f"{CRITERIA[self.fairness].title} compares the groups under each label, and one group has no "
                        "row of some label: each group needs rows of both labels. Merge groups, or ask for demographic "
                        "parity."
                    )
                self._learn(rows, labels)
        except BaseException:
            # A fit that fails or is interrupted leaves the old model whole.
            self.__dict__ = before
            raise
        return self

    def _groups_in(self, X: Any, sensitive_features: Any) -> Any:
        return sensitive_features

    @abstractmethod
    def _learn(self, rows: Rows, y: Array) -> None:
        """Learn from rows whose group is known."""

    @abstractmethod
    def _margin(self, rows: Rows) -> Array:
        """The number by which g decides, shape (n,): positive above 0."""

    def _rows(self, X: Any, base_scores: Any) -> Rows:
        frame = self._checked(X, "encoder_")
        logit = self.margin_of_f(frame, base_scores=base_scores)
        return Rows(self.encoder_.transform(self._inputs(frame, self.base_model_)), logit, None)

    def _decide_by(self, rows: Rows) -> Array:
        if not self.edits_:
            return rows.logit
        with single_threaded():
            return self._margin(rows)

    def decision_function(self, X: Any, *, base_scores: Any = None) -> Array:
        """The number by which g decides: positive above 0."""
        return self._decide_by(self._rows(X, base_scores))

    def predict(self, X: Any, *, base_scores: Any = None) -> np.ndarray:
        return self._classes(self.decision_function(X, base_scores=base_scores))


class Scored(Competitor):
    """A method whose margin is a logit, so that g has probabilities."""

    def predict_proba(self, X: Any, *, base_scores: Any = None) -> Array:
        return self._probabilities(self.decision_function(X, base_scores=base_scores))


@dataclass(eq=False, repr=False, kw_only=True)
class GroupAware(Competitor):
    """A method that decides by group: it needs S at predict, as `sensitive_features` or as a named column of X.

    That column is not a feature, and f sees it only if it was trained with it. It makes the method work with
    scikit-learn's scorers, which pass only X to predict.
    """

    sensitive_column: str | None = None

    def _groups_in(self, X: Any, sensitive_features: Any) -> Any:
        if sensitive_features is not None or self.sensitive_column is None:
            return sensitive_features
        X = as_table(X)
        if not isinstance(X, pd.DataFrame) or self.sensitive_column not in X.columns:
            raise ValueError(f"sensitive_column={self.sensitive_column!r} names no column of X.")
        return X[self.sensitive_column]

    def _inputs(self, X: Any, base_model: BaseModel) -> Any:
        return self._without_groups(super()._inputs(X, base_model))

    def _seen_by_base(self, X: Any, base_model: BaseModel) -> Any:
        known = getattr(base_model, "feature_names_in_", ())
        return X if self.sensitive_column in known else self._without_groups(X)

    def _without_groups(self, X: Any) -> Any:
        is_there = isinstance(X, pd.DataFrame) and self.sensitive_column in X.columns
        return X.drop(columns=self.sensitive_column) if is_there else X

    def _aware_rows(self, X: Any, sensitive_features: Any, base_scores: Any) -> Rows:
        rows = self._rows(X, base_scores)
        if not self.edits_:
            return rows
        values = self._groups_in(X, sensitive_features)
        if values is None:
            raise ValueError(
                f"{type(self).__name__} decides by group and cannot predict without the sensitive attribute: pass "
                "sensitive_features to predict, or put it into X and name its column as sensitive_column."
            )
        values = values_of_groups(values)
        if len(values) != len(rows.logit):
            raise ValueError(
                "sensitive_features must have one value per row: "
                f"X has {len(rows.logit)} rows, sensitive_features {len(values)}."
            )
        assert self.groups_ is not None
        places = {group: place for place, group in enumerate(self.groups_.tolist())}
        strange = [value for value in pd.unique(values).tolist() if value not in places]
        if strange:
            raise ValueError(f"sensitive_features holds {strange[:3]}, but the groups of fit were {list(places)}.")
        return Rows(rows.X, rows.logit, values.map(places).to_numpy(dtype=np.int64))

    def decision_function(self, X: Any, *, sensitive_features: Any = None, base_scores: Any = None) -> Array:
        return self._decide_by(self._aware_rows(X, sensitive_features, base_scores))

    def predict(self, X: Any, *, sensitive_features: Any = None, base_scores: Any = None) -> np.ndarray:
        return self._classes(self.decision_function(X, sensitive_features=sensitive_features, base_scores=base_scores))


class GroupAwareScored(GroupAware):
    """A method that needs S at predict and whose margin is a logit."""

    def predict_proba(self, X: Any, *, sensitive_features: Any = None, base_scores: Any = None) -> Array:
        margin = self.decision_function(X, sensitive_features=sensitive_features, base_scores=base_scores)
        return self._probabilities(margin)


def lacks_a_label(sensitive: NDArray[np.int64], labels: Array) -> bool:
    """Whether a group has no row of some label."""
    return len(np.unique(2 * sensitive + labels)) < 2 * len(np.unique(sensitive))
