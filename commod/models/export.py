"""A fitted COMMOD model as plain data, for `commod.portable` to read with numpy alone."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from commod import cells, portable
from commod.cells import ColumnRule
from commod.datasets.encoding import TabularEncoder
from commod.datasets.raw import MISSING, OTHER, Contract
from commod.models.base_models import BaseModel
from commod.models.estimator import Commod
from commod.models.rescaler import LinearRescaler
from commod.portable import FORMAT

__all__ = ["portable_json", "portable_source", "to_portable"]


def to_portable(
    g: Commod,
    *,
    about: Mapping[str, str] | None = None,
    contract: Contract | None = None,
) -> dict[str, Any]:
    """The model as data that `json.dumps` takes, in the format that `commod.portable` describes.

    It always has encoder and ratio, the shift if there is one, and f if it can be written: a logistic regression, a
    random forest or a histogram gradient boosting, alone or in a Pipeline behind a `TabularEncoder`, or behind a
    `StandardScaler`, a `SimpleImputer` or both. For a function, an array of scores or any other model the file says so,
    and its reader asks for f's probabilities.

    Parameters
    ----------
    g : Commod
        Fitted, with ``rescaler="linear"``.
    about : mapping of str to str, optional
        Texts to store with the model.
    contract : tuple of ColumnRule, optional
        How the cells of a raw row become what `g` was fitted on, such as ``task.contract``: a row of text from the file
        then gives the score of `g`. Without it, rows must hold what X held; gaps are filled as the encoder of `g` does
        if it was fitted on a table with gaps, and refused if not.

    Raises
    ------
    ValueError
        If r is a network, or a column's name or level is not text, a number or a truth value.
    """
    check_is_fitted(g, "rescaler_")
    if not isinstance(g.rescaler_, LinearRescaler):
        raise ValueError("Only a linear r can be written down: fit with rescaler='linear'.")
    encoder, acts_on = _encoder(g.encoder_), g.rescaler_.acts_on
    columns = list(getattr(g, "feature_names_in_", range(g.n_features_in_)))
    names = [name if isinstance(name, str) else f"x{name}" for name in columns]
    f = _base_model(g.base_model_, encoder, names)
    rules = _rules(g, f, encoder, contract)
    settings = {name: g.get_params(deep=False)[name] for name in ("fairness", "solver", "n_concepts")}
    weights = {name: float(getattr(g, name)) for name in ("lambda_fair", "lambda_ratio", "lambda_concepts")}
    shift = {
        "intercept": float(g.shift_intercept_),
        "coef": g.shift_coef_.tolist(),
        "concepts": _concepts(g.shift_concepts_, g.shift_weights_),
    }
    return {
        "format": FORMAT,
        "about": dict(about or {}),
        "settings": {**weights, **settings, **({"threshold": g.threshold_} if g.line_ != 0 else {})},
        "classes": [_plain(label, "label") for label in g.classes_],
        **({"raw": rules} if rules else {}),
        "encoder": encoder,
        "r": {
            "intercept": float(g.intercept_),
            "coef": g.coef_.tolist(),
            "features": [str(name) for name in g.coef_.index],
            "include_score": False,
            "concepts": _concepts(g.concepts_, g.concept_weights_),
        },
        **({"s": shift} if g.has_shift else {}),
        **({"flips": {"step": g.rescaler_.shift_step, "mirror": g.rescaler_.mirror}} if g.decides else {}),
        **({"acts_on": acts_on} if acts_on != "everybody" else {}),
        **({"line": float(g.line_)} if g.line_ != 0 else {}),
        "f": f,
    }


def _concepts(directions: pd.DataFrame, weights: pd.Series) -> list[dict[str, Any]]:
    return [
        {"name": str(name), "weight": float(weights[name]), "loadings": directions[name].tolist()}
        for name in directions.columns
    ]


def portable_json(g: Commod, **given: Any) -> str:
    """`to_portable` as strict JSON; every number is read back to the last digit."""
    return json.dumps(to_portable(g, **given), allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"


def _plain(value: Any, what: str) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (str, int, float, bool)):
        raise ValueError(f"A {what} of type {type(value).__name__} cannot be written as JSON: make it text first.")
    return value


def _rules(
    g: Commod, f: Mapping[str, Any], encoder: Mapping[str, Any], contract: Contract | None
) -> list[dict[str, Any]]:
    """The rules for the columns that r and f read; without a contract, for dates alone."""
    dates = [ColumnRule(name, "date") for name in g.encoder_.dates_]
    read = {column["name"] for part in (encoder, f.get("encoder", encoder)) for column in part["columns"]}
    read.add(f.get("column"))
    usual = asdict(ColumnRule("", "number"))
    return [
        {key: value for key, value in asdict(rule).items() if key in ("name", "kind") or value != usual[key]}
        for rule in (dates if contract is None else contract)
        if rule.name in read
    ]


def _encoder(encoder: TabularEncoder) -> dict[str, Any]:
    columns = []
    for name in dict.fromkeys(column for column, _ in encoder.origin_):
        levels = encoder.levels_.get(name)
        column = {"name": _plain(name, "column name"), "levels": None}
        if levels is not None:
            column["levels"] = [_plain(level, "level") for level in levels]
        if encoder.gaps_:  # the table had some: then they may turn up anywhere
            column["fill"] = encoder.medians_.get(name, MISSING if name in encoder.gaps_ else None)
        if name in encoder.joined_:
            column["other"] = OTHER
        columns.append(column)
    return {"columns": columns, "mean": encoder.mean_.tolist(), "scale": encoder.scale_.tolist()}


def _base_model(f: BaseModel, encoder: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    if isinstance(f, str):
        return {"kind": "column", "column": f}
    if f is None:
        return {"kind": "given", "why": "the model was fitted on scores"}
    if type(f) in (FixedThresholdClassifier, TunedThresholdClassifierCV):
        f = f.estimator_  # its line is in g
    *steps, model = (
        [step for _, step in f.steps if step not in (None, "passthrough")] if isinstance(f, Pipeline) else [f]
    )
    own = _encoder(steps[0]) if [type(step) for step in steps] == [TabularEncoder] else _scaling(steps, model, names)
    gaps = own is not None and any(column.get("fill", 0) is None for column in own["columns"])
    written = None if own is None else _classifier(model, gaps=gaps)
    if written is None or own is None:
        name = type(model).__name__ if isinstance(f, Pipeline) else getattr(f, "__name__", type(f).__name__)
        behind = " behind other steps" if _classifier(model, gaps=False) is not None else ""
        return {"kind": "given", "why": f"a {name}{behind} cannot be written down"}
    return {**written, **({} if own == encoder else {"encoder": own})}


def _scaling(steps: Sequence[Any], model: Any, names: Sequence[str]) -> dict[str, Any] | None:
    """The encoder of a model of numbers: all columns as they are, then imputed and scaled; None for other steps."""
    mean, scale = np.zeros(len(names)), np.ones(len(names))
    fill: np.ndarray | None = None
    for step in steps:
        # By type, not isinstance: a subclass may do something else.
        if type(step) is StandardScaler:
            mean = mean + scale * (step.mean_ if step.with_mean else 0.0)
            scale = scale * (step.scale_ if step.with_std else 1.0)
        elif type(step) is SimpleImputer and fill is None and not step.add_indicator and _all_finite(step.statistics_):
            fill = mean + scale * step.statistics_
        else:
            return None
    columns: list[dict[str, Any]] = [{"name": name, "levels": None} for name in names]
    takes_gaps = type(model) in (HistGradientBoostingClassifier, RandomForestClassifier)
    for i, column in enumerate(columns):
        if fill is not None or takes_gaps:
            column["fill"] = None if fill is None else float(fill[i])
    return _with_native_categories(model, {"columns": columns, "mean": mean.tolist(), "scale": scale.tolist()})


def _all_finite(values: Any) -> bool:
    return values.dtype.kind in "fiu" and bool(np.isfinite(values).all())


def _with_native_categories(model: Any, encoder: dict[str, Any]) -> dict[str, Any]:
    """Gradient boosting takes its categories as places in a list of levels, and puts them before the numbers."""
    is_category = getattr(model, "is_categorical_", None)
    if is_category is None:
        return encoder
    levels = model._preprocessor.named_transformers_["encoder"].categories_
    categories = [column for column, is_ in zip(encoder["columns"], is_category, strict=True) if is_]
    numbers = [column for column, is_ in zip(encoder["columns"], is_category, strict=True) if not is_]
    for column, known in zip(categories, levels, strict=True):
        column["levels"] = [_plain(level, "level") for level in known if not pd.isna(level)]
        column["codes"] = True
    return {**encoder, "columns": [*categories, *numbers]}


def _classifier(model: Any, *, gaps: bool) -> dict[str, Any] | None:
    """Parameters of a classifier on encoded numbers, or None; with `gaps`, trees say where they go."""
    # By type, not isinstance: a subclass may predict in another way.
    if type(model) is LogisticRegression:
        return {"kind": "logistic", "intercept": float(model.intercept_[0]), "coef": model.coef_[0].tolist()}
    if type(model) is RandomForestClassifier:
        return {"kind": "forest", "trees": [_sklearn_tree(tree.tree_, gaps) for tree in model.estimators_]}
    if type(model) is HistGradientBoostingClassifier:
        trees = [_boosted_tree(stage[0], gaps) for stage in model._predictors]
        return {"kind": "boosting", "baseline": float(np.ravel(model._baseline_prediction)[0]), "trees": trees}
    return None


def _tree(
    leaf: Any, feature: Any, threshold: Any, value: Any, left: Any, right: Any, gaps_left: Any
) -> dict[str, list[Any]]:
    """A tree as plain lists; `gaps_left` is None where no gap can come."""
    # A threshold may be infinite ("all numbers left, gaps right"); the largest number says the same of finite ones.
    largest = np.finfo(np.float64).max
    tree = {
        "feature": np.where(leaf, -1, feature).astype(int).tolist(),
        "number": np.where(leaf, value, np.clip(threshold, -largest, largest)).astype(float).tolist(),
        "left": np.where(leaf, 0, left).astype(int).tolist(),
        "right": np.where(leaf, 0, right).astype(int).tolist(),
    }
    return tree if gaps_left is None else {**tree, "gaps_left": np.where(leaf, 0, gaps_left).astype(int).tolist()}


def _sklearn_tree(tree: Any, gaps: bool) -> dict[str, list[Any]]:
    shares = tree.value[:, 0, :]  # (nodes, classes)
    positive = shares[:, 1] / shares.sum(axis=1)
    left, right = tree.children_left, tree.children_right
    gaps_left = tree.missing_go_to_left if gaps else None
    return _tree(left == -1, tree.feature, tree.threshold, positive, left, right, gaps_left)


def _boosted_tree(predictor: Any, gaps: bool) -> dict[str, Any]:
    nodes = predictor.nodes
    names = ("feature_idx", "num_threshold", "value", "left", "right")
    feature, threshold, value, left, right = (nodes[name] for name in names)
    gaps_left = nodes["missing_go_to_left"] if gaps else None
    tree = _tree(nodes["is_leaf"] == 1, feature.astype(np.int64), threshold, value, left, right, gaps_left)
    of_levels = np.flatnonzero((nodes["is_categorical"] == 1) & (nodes["is_leaf"] == 0))
    if not len(of_levels):
        return tree
    bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][of_levels]]  # (nodes, 8 words of 32 bits)
    goes_left = (bits[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    sides = goes_left.reshape(len(of_levels), -1)
    return {
        **tree,
        "levels_left": {str(node): np.flatnonzero(side).tolist() for node, side in zip(of_levels, sides, strict=True)},
    }


def portable_source() -> str:
    """`commod.portable` as one file that needs nothing else of this project: with `commod.cells` in it."""
    here, other = (Path(str(module.__file__)).read_text(encoding="utf-8") for module in (portable, cells))
    after = other.partition("from __future__ import annotations\n")[2].strip()
    return re.sub("from commod.cells import .*", lambda _: after, here)
