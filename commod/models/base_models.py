"""The deployed model f, of any kind, as one logit per row; and the models that the command line and the app offer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from commod.datasets.blocks import WHOLE, blocks
from commod.datasets.task import Split, Task
from commod.models.adversary import Array
from commod.models.threads import single_threaded

# A fitted classifier, a function from X to probabilities, the name of a column of X, or None.
BaseModel = Any

ASKED = 2**15
# Scores of exactly 0 or 1 have no logit: they count as this far from certain.
CERTAINTY = 1e-6


def logits_of_probabilities(scores: Any, n_rows: int, source: str) -> Array:
    """Logits of probabilities of the positive class, checked."""
    p = np.asarray(scores, dtype=float)
    if p.ndim == 2 and p.shape[1] == 2:
        p = p[:, 1]
    if p.shape != (n_rows,):
        raise ValueError(f"{source} must give one probability per row: X has {n_rows} rows, the scores {p.shape}.")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(
            f"{source} must give probabilities between 0 and 1 without gaps; for raw margins apply a sigmoid first."
        )
    p = np.clip(p, CERTAINTY, 1 - CERTAINTY)
    return np.log(p / (1 - p))


def fit_weighted(pipeline: Pipeline, X: Any, y: Any, weight: Any) -> Pipeline:
    """Fit a `TabularEncoder` and the classifier behind it; `weight` may be None."""
    if weight is None:
        return pipeline.fit(X, y)
    # Not through Pipeline.fit: where metadata routing is on, it would ask whether its steps want a weight.
    encoder, classifier = pipeline
    classifier.fit(encoder.fit_transform(X, sample_weight=weight), y, sample_weight=weight)
    return pipeline


def check_base_model(base_model: BaseModel, classes: np.ndarray) -> None:
    """Raise if `base_model` cannot serve as f for labels `classes`."""
    if base_model is None or isinstance(base_model, str) or _is_function(base_model):
        return
    try:
        check_is_fitted(base_model)
    except NotFittedError as error:
        raise NotFittedError(
            f"base_model {type(base_model).__name__} is not fitted: COMMOD edits a trained model, so call "
            "base_model.fit(X, y) first."
        ) from error
    except TypeError:
        pass  # not a scikit-learn estimator: its own methods will tell
    if not (hasattr(base_model, "predict_proba") or hasattr(base_model, "decision_function")):
        raise ValueError(
            f"base_model {type(base_model).__name__} has neither predict_proba nor decision_function: pass a "
            "classifier, a function that returns probabilities, or its scores as base_scores."
        )
    known = getattr(base_model, "classes_", None)
    if known is not None and not np.array_equal(np.asarray(known), classes):
        raise ValueError(
            f"base_model was trained on classes {list(known)}, but y holds {list(classes)}: "
            "use the labels f was trained on."
        )


def base_logits(base_model: BaseModel, X: Any, base_scores: Any = None) -> Array:
    """Logit of f for each row of X, from given scores, a column of X, a function, or a fitted classifier.

    Without ``predict_proba`` (SVC, LinearSVC) it is ``decision_function``, which has the right sign.
    """
    n_rows = X.shape[0]
    if base_scores is not None:
        return logits_of_probabilities(base_scores, n_rows, "base_scores")
    if isinstance(base_model, str):
        if not isinstance(X, pd.DataFrame) or base_model not in X.columns:
            raise ValueError(f"base_model={base_model!r} names a column of scores, but X has no such column.")
        return logits_of_probabilities(X[base_model], n_rows, f"Column {base_model!r}")
    if _is_function(base_model):
        return logits_of_probabilities(_asked(base_model, X), n_rows, "base_model")
    if hasattr(base_model, "predict_proba"):
        return logits_of_probabilities(_asked(base_model.predict_proba, X), n_rows, "base_model.predict_proba")
    margins: Array = np.asarray(_asked(base_model.decision_function, X), dtype=np.float64)
    if margins.shape != (n_rows,) or not np.isfinite(margins).all():
        raise ValueError("base_model.decision_function must give one finite number per row.")
    return margins


def _asked(f: Callable[[Any], Any], X: Any) -> Any:
    """The answers of f, for some rows at a time: it may need far more memory than the rows."""
    try:
        if len(X) <= WHOLE:
            return f(X)
        return np.concatenate([np.asarray(f(_safe_indexing(X, rows))) for rows in blocks(len(X), ASKED)])
    except (TypeError, ValueError) as error:
        if not pd.DataFrame(X).isna().to_numpy().any():
            raise
        raise ValueError(
            "X contains NaN, which f may not take: fill the gaps in, give f as a pipeline with an imputer, or pass its "
            f"probabilities as base_scores. f says: {error}"
        ) from error


def _is_function(base_model: Any) -> bool:
    return callable(base_model) and not hasattr(base_model, "predict")


# f is not trained here: its scores came with the data.
GIVEN_SCORES = "scores"

# Name to (readable name, classifier). Every classifier has a fixed seed: one split gives one f.
BASE_MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "logistic_regression": ("Logistic regression", lambda: LogisticRegression(max_iter=1000)),
    "gradient_boosting": (
        "Gradient boosting",
        lambda: HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.08, max_leaf_nodes=8, early_stopping=False, random_state=0
        ),
    ),
    "random_forest": (
        "Random forest",
        # Leaves of 20 rows: a forest grown to purity is certain of its training rows, and g is trained on them, too.
        lambda: RandomForestClassifier(n_estimators=100, min_samples_leaf=20, random_state=0),
    ),
}


def train_base_model(task: Task, train: Split, name: str) -> Pipeline:
    """Fit the named base model on `train`, with its weights if it has any."""
    if name not in BASE_MODELS:
        raise ValueError(f"There is no base model {name!r}: choose one of {', '.join(BASE_MODELS)}.")
    with single_threaded():
        return fit_weighted(task.base_model(BASE_MODELS[name][1]()), train.X, train.y, train.weight)
