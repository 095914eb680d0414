"""A fitted COMMOD model as plain data, for `commod.portable` to read where there is nothing but numpy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from commod.datasets.encoding import TabularEncoder
from commod.models.base_scores import BaseModel
from commod.models.estimator import Commod
from commod.models.rescaler import LinearRescaler

__all__ = ["DIRECTED_FORMAT", "PORTABLE_FORMAT", "SHIFTED_FORMAT", "portable_json", "to_portable"]

# What is written here is read by commod.portable, where the formats are described. The two must change together; the
# versions are not imported from there, because the library proper does not depend on its own reader.
PORTABLE_FORMAT = "commod-portable/1"
# Of a model with a shift: a reader that knows version 1 only would leave the shift out, and must refuse it.
SHIFTED_FORMAT = "commod-portable/2"
# Of a model that acts only on people whom f decides one way, with or without a shift.
DIRECTED_FORMAT = "commod-portable/3"


def to_portable(g: Commod, *, about: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The model as data that `json.dumps` takes, in the format that `commod.portable` describes.

    Encoder and ratio are always in it, the shift if there is one, and f where it can be written down: a Pipeline of
    `TabularEncoder` and a logistic regression, a random forest or a histogram gradient boosting. A function, an array
    of scores or any other model cannot; the file then says so, and its reader asks for f's probabilities.

    Parameters
    ----------
    g : Commod
        Fitted, with ``rescaler="linear"``.
    about : mapping of str to str, optional
        Texts to go along.

    Raises
    ------
    ValueError
        If r is a network, or a column's name or level is neither text, number nor truth value.
    """
    check_is_fitted(g, "rescaler_")
    if not isinstance(g.rescaler_, LinearRescaler):
        raise ValueError("Only a linear r can be written down: fit with rescaler='linear'.")
    encoder, acts_on = _encoder(g.encoder_), g.rescaler_.acts_on
    directed = acts_on != "everybody"
    settings = {name: g.get_params(deep=False)[name] for name in ("fairness", "solver", "n_concepts")}
    weights = {name: float(getattr(g, name)) for name in ("lambda_fair", "lambda_ratio", "lambda_concepts")}
    shift = {
        "intercept": float(g.shift_intercept_),
        "coef": g.shift_coef_.tolist(),
        "concepts": _concepts(g.shift_concepts_, g.shift_weights_),
    }
    return {
        "format": DIRECTED_FORMAT if directed else SHIFTED_FORMAT if g.has_shift else PORTABLE_FORMAT,
        "about": dict(about or {}),
        "settings": {**weights, **settings},
        "classes": [_plain(label, "label") for label in g.classes_],
        "encoder": encoder,
        "r": {
            "intercept": float(g.intercept_),
            "coef": g.coef_.tolist(),
            "features": [str(name) for name in g.coef_.index],
            "include_score": bool(g.include_score),
            "concepts": _concepts(g.concepts_, g.concept_weights_),
        },
        **({"s": shift} if g.has_shift else {}),
        **({"acts_on": acts_on} if directed else {}),
        "f": _base_model(g.base_model_, encoder),
    }


def _concepts(directions: pd.DataFrame, weights: pd.Series) -> list[dict[str, Any]]:
    return [
        {"name": str(name), "weight": float(weights[name]), "loadings": directions[name].tolist()}
        for name in directions.columns
    ]


def portable_json(g: Commod, *, about: Mapping[str, str] | None = None) -> str:
    """`to_portable` as strict JSON; every number is written so that it is read back to the last digit."""
    return json.dumps(to_portable(g, about=about), allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"


def _plain(value: Any, what: str) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (str, int, float, bool)):
        raise ValueError(f"A {what} of type {type(value).__name__} cannot be written as JSON: make it text first.")
    return value


def _encoder(encoder: TabularEncoder) -> dict[str, Any]:
    columns = list(dict.fromkeys(column for column, _ in encoder.origin_))
    # A category that had one constant level is in `levels_`; one that was all gaps cannot be fitted.
    return {
        "columns": [
            {
                "name": _plain(column, "column name"),
                "levels": [_plain(level, "level") for level in encoder.levels_[column]]
                if column in encoder.levels_
                else None,
            }
            for column in columns
        ],
        "mean": encoder.mean_.tolist(),
        "scale": encoder.scale_.tolist(),
    }


def _base_model(f: BaseModel, encoder: dict[str, Any]) -> dict[str, Any]:
    if isinstance(f, str):
        return {"kind": "column", "column": f}
    if f is None:
        return {"kind": "given", "why": "the model was fitted on scores"}
    known = isinstance(f, Pipeline) and len(f) == 2 and type(f[0]) is TabularEncoder
    written = _classifier(f[1]) if known else None
    if written is None:
        name = type(f[-1]).__name__ if isinstance(f, Pipeline) else getattr(f, "__name__", type(f).__name__)
        return {"kind": "given", "why": f"a {name} cannot be written down"}
    own = _encoder(f[0])
    return {**written, **({} if own == encoder else {"encoder": own})}


def _classifier(model: Any) -> dict[str, Any] | None:
    """Parameters of a classifier of two classes on encoded numbers; None if it is of a kind that is not known."""
    # By type, not isinstance: a subclass may predict in another way.
    if type(model) is LogisticRegression:
        return {"kind": "logistic", "intercept": float(model.intercept_[0]), "coef": model.coef_[0].tolist()}
    if type(model) is RandomForestClassifier:
        return {"kind": "forest", "trees": [_sklearn_tree(tree.tree_) for tree in model.estimators_]}
    if type(model) is HistGradientBoostingClassifier and not np.any(model.is_categorical_):
        trees = [_boosted_tree(stage[0].nodes) for stage in model._predictors]
        return {"kind": "boosting", "baseline": float(np.ravel(model._baseline_prediction)[0]), "trees": trees}
    return None


def _tree(leaf: Any, feature: Any, threshold: Any, value: Any, left: Any, right: Any) -> dict[str, list[Any]]:
    # A threshold may be infinite ("all numbers left, gaps right"); the largest number says the same of finite ones.
    largest = np.finfo(np.float64).max
    return {
        "feature": np.where(leaf, -1, feature).astype(int).tolist(),
        "number": np.where(leaf, value, np.clip(threshold, -largest, largest)).astype(float).tolist(),
        "left": np.where(leaf, 0, left).astype(int).tolist(),
        "right": np.where(leaf, 0, right).astype(int).tolist(),
    }


def _sklearn_tree(tree: Any) -> dict[str, list[Any]]:
    shares = tree.value[:, 0, :]  # (nodes, classes)
    positive = shares[:, 1] / shares.sum(axis=1)
    left, right = tree.children_left, tree.children_right
    return _tree(left == -1, tree.feature, tree.threshold, positive, left, right)


def _boosted_tree(nodes: Any) -> dict[str, list[Any]]:
    names = ("feature_idx", "num_threshold", "value", "left", "right")
    feature, threshold, value, left, right = (nodes[name] for name in names)
    return _tree(nodes["is_leaf"] == 1, feature.astype(np.int64), threshold, value, left, right)
