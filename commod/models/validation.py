"""Checks of what a user passes to `Commod`: each failure is one sentence that says what to do."""

from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from commod.metrics.counts import as_weight, codes_of_groups
from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array
from commod.models.rescaler import DIRECTIONS, acts_on_of
from commod.models.training import LossWeights

# Every group is one more question to the adversary; with more groups than this, hardly any has enough people.
MAX_GROUPS = 50


def check_weight(name: str, value: Any) -> float:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)) or float(value) < 0:
        raise ValueError(f"{name} must be a number of 0 or more, got {value!r}.")
    return float(value)


def check_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of {least} or more, got {value!r}.")
    return int(value)


# Settings that may be 0, of the whole numbers, and the largest values of others.
MAY_BE_0 = ("random_state", "pretrain_epochs")
MOST = {"strength": 1.0, "margin": 0.5, "min_leaf": 0.5}


def check_numbers(estimator: Any) -> None:
    """Raise unless every float field is from 0 to `MOST`, and every int field 1 or more."""
    for field in fields(estimator):
        value, kind = getattr(estimator, field.name), getattr(field.type, "__name__", str(field.type))
        if "str" in kind or (value is None and "None" in kind):
            continue
        if kind.startswith("float"):
            check_weight(field.name, value)
        elif kind.startswith("int"):
            check_count(field.name, value, least=0 if field.name in MAY_BE_0 else 1)
        if field.name in MOST and value > MOST[field.name]:
            raise ValueError(f"{field.name} must be a number from 0 to {MOST[field.name]:g}, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """One of the named choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def check_labels(y: Any, n_rows: int) -> tuple[Array, np.ndarray]:
    """Labels as 0/1 and the two classes, the second being the positive one."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    values = column_or_1d(y, warn=True)
    if len(values) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: X {n_rows}, y {len(values)}.")
    if pd.isna(values).any():
        raise ValueError("Input y contains NaN: drop the rows without a label.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("Input y contains infinity: labels are two classes, such as 0 and 1.")
    kind = type_of_target(values, input_name="y")
    if kind not in ("binary", "multiclass"):
        check_classification_targets(values)
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) > 2 or kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}; y holds {len(classes)} "
            "classes: keep two of them or merge the rest."
        )
    if len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes[0]!r}): there is nothing to decide.")
    return codes.astype(float), classes


def check_sensitive(sensitive_features: Any, n_rows: int) -> tuple[Array, np.ndarray]:
    """Number of each row's group, −1 where it is not known, and the groups' values."""
    shape = np.shape(sensitive_features)
    if len(shape) not in (1, 2) or shape[0] != n_rows:
        raise ValueError(
            f"sensitive_features must have one value per row: X has {n_rows} rows, sensitive_features {shape}."
        )
    codes, groups = codes_of_groups(sensitive_features)
    if len(groups) > MAX_GROUPS:
        raise ValueError(
            f"sensitive_features holds {len(groups):,} groups, but at most {MAX_GROUPS} are possible: cut a "
            "number into bands (pandas.cut), or merge groups that belong together."
        )
    return codes.astype(float), np.array(groups)


def check_sample_weight(sample_weight: Any, n_rows: int) -> Array | None:
    """How much each row counts, (n,); None if all count alike."""
    if sample_weight is None:
        return None
    weight = as_weight(sample_weight)
    if len(weight) != n_rows:
        raise ValueError(
            f"sample_weight must have one value per row: X has {n_rows} rows, sample_weight {len(weight)}."
        )
    return weight


UPDATES = ("ratio", "affine", "decisions")
# The options of each solver and rescaler, and their types.
OPTIONS: dict[tuple[str, str], dict[str, type]] = {
    ("best_response", "linear"): {"tol": float},
    ("best_response", "mlp"): {"width": int, "max_iter": int},
    ("adversarial", "linear"): {
        "epochs": int,
        "batch_size": int,
        "learning_rate": float,
        "adversary_learning_rate": float,
        "adversary_width": int,
        "adversary_steps": int,
        "warmup_epochs": int,
    },
}
OPTIONS["adversarial", "mlp"] = OPTIONS["adversarial", "linear"] | {"width": int}


def loss_weights(g: Any, classes: np.ndarray) -> LossWeights:
    """The weights of the loss; `classes` are the labels; one may be named as favourable."""
    check_choice("fairness", g.fairness, tuple(CRITERIA))
    check_choice("update", g.update, UPDATES)
    check_choice("direction", g.direction, DIRECTIONS)
    good = classes[1] if g.favourable is None else g.favourable
    if good not in classes:
        raise ValueError(f"favourable must be one of the labels in y, {classes.tolist()}, got {good!r}.")
    check_numbers(g)
    return LossWeights(
        fair=float(g.lambda_fair),
        ratio=float(g.lambda_ratio),
        sparsity=float(g.lambda_concepts * g.sparsity_weight),
        diversity=float(g.lambda_concepts * g.diversity_weight),
        by_label=CRITERIA[g.fairness].by_label,
        update=g.update,
        acts_on=acts_on_of(g.direction, int(good == classes[1])),
    )


def check_settings(g: Any, X: Any, d: int) -> None:
    """Raise unless the settings fit each other, the rows and their `d` encoded features."""
    check_choice("rescaler", g.rescaler, ("linear", "mlp"))
    check_choice("solver", g.solver, ("best_response", "adversarial"))
    for name, usual in (("update", "ratio"), ("direction", "both")):
        chosen = getattr(g, name)
        if chosen != usual and (g.rescaler, g.solver) != ("linear", "best_response"):
            raise ValueError(
                f"{name}={chosen!r} is available for rescaler='linear' with solver='best_response': choose these, "
                f"or {name}={usual!r}."
            )
    if g.n_concepts > d:
        raise ValueError(
            f"n_concepts = {g.n_concepts} is more than there are encoded features (n_features = {d}): lower n_concepts."
        )
    if g.max_changes is not None and g.update != "decisions":
        raise ValueError("max_changes needs update='decisions': choose that update, or leave max_changes out.")
    if g.update == "decisions" and not (isinstance(g.ratio_norm, str) and g.ratio_norm == "identity"):
        raise ValueError("update='decisions' counts people, not scores: use ratio_norm='identity'.")
    if isinstance(g.ratio_norm, str):
        check_choice("ratio_norm", g.ratio_norm, ("identity", "fisher"))
    else:
        n, given = np.shape(X)[0], np.asarray(g.ratio_norm, dtype=float)
        if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
            raise ValueError(
                f"ratio_norm as an array must hold one weight of 0 or more for each of the {n} rows, not all 0."
            )


def allowed_columns(g: Any, origins: list[object]) -> NDArray[np.intp]:
    """Indices of the encoded features that r may use."""
    given = g.features
    if given is None or isinstance(given, str) or not len(given):
        raise ValueError(f"features must be a list of one or more columns of X, got {given!r}.")
    unknown = [name for name in given if name not in origins]
    if unknown:
        raise ValueError(f"features names {unknown}, which r cannot use: X has {list(dict.fromkeys(origins))}.")
    return np.flatnonzero([origin in given for origin in origins])


def solver_options(g: Any) -> dict[str, Any]:
    """The options of the solver, by name and type."""
    given, known = dict(g.solver_options or {}), OPTIONS[g.solver, g.rescaler]
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(
            f"solver_options {unknown} are not known to solver={g.solver!r}: it takes {', '.join(sorted(known))}."
        )
    for name, value in given.items():
        if known[name] is int:
            check_count(f"solver_options[{name!r}]", value, least=0)
        else:
            check_weight(f"solver_options[{name!r}]", value)
    return given
