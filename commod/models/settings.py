"""Whether a `Commod` (`g`) has settings that it can be fitted with: each failure is one sentence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from commod.metrics.figures import CRITERIA
from commod.models.rescaler import DIRECTIONS, acts_on_of
from commod.models.training import LossWeights
from commod.models.validation import check_choice, check_count, check_numbers, check_weight

UPDATES = ("ratio", "affine", "decisions")
# The options of each solver and kind of rescaler, and their types.
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
    """The weights of the loss; `classes` are the labels, of which one may be called the favourable."""
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
    """Raise unless the settings go together, and with the rows and their `d` encoded features."""
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
        raise ValueError("max_changes is a budget of update='decisions': choose it, or no budget.")
    if g.update == "decisions" and not (isinstance(g.ratio_norm, str) and g.ratio_norm == "identity"):
        raise ValueError("update='decisions' counts people, not scores: it needs ratio_norm='identity'.")
    if isinstance(g.ratio_norm, str):
        check_choice("ratio_norm", g.ratio_norm, ("identity", "fisher"))
    else:
        n, given = np.shape(X)[0], np.asarray(g.ratio_norm, dtype=float)
        if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
            raise ValueError(
                f"ratio_norm as an array must hold one weight of 0 or more for each of the {n} rows, not all 0."
            )


def allowed_columns(g: Any, origins: list[object]) -> NDArray[np.intp]:
    """Numbers of the encoded features that r may use."""
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
