"""A fitted linear r, and its shift, read through concepts: what the model is told by."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from commod.models.adversary import Array
from commod.models.concepts import group_features, orient, unit_concepts
from commod.models.rescaler import LinearRescaler
from commod.models.solution import Solution

# Attributes of a fitted `Commod` whose r is linear.
READ = "intercept_ coef_ concepts_ concept_weights_ shift_intercept_ shift_coef_ shift_concepts_ shift_weights_".split()
READ += ["feature_groups_"]


def read_concepts(
    solution: Solution, distances: Array, names: list[str], k: int, derive: Callable[..., Any]
) -> dict[str, Any]:
    """Read a solution through k concepts over the encoded features `names`: `READ`, or nothing if r is a network.

    Features are grouped by the adversary's pull at g = f and by `distances`, unless the solver learned concepts. The
    shift is read through the same groups, which `derive` (see `WarmStart`) remembers.
    """
    fitted = solution.rescaler
    if not isinstance(fitted, LinearRescaler):
        return {}
    d, shifted = len(names), fitted.shift_coef is not None
    shift_coef = np.zeros(d) if fitted.shift_coef is None else fitted.shift_coef
    shift, groups = (np.zeros((d, 0)), np.zeros(0)), []
    if solution.concepts is not None:
        ratio = solution.concepts
    else:
        mass = np.zeros(d) if solution.pull is None else solution.pull
        groups = derive(f"{k} groups", (mass, distances), lambda: group_features(mass, distances, k))
        ratio = unit_concepts(fitted.coef, groups, k)
        shift = unit_concepts(shift_coef, groups, k) if shifted else shift
    decides = fitted.mirror is not None
    if decides:  # r is a constant: all that concepts do is in the shift
        ratio = np.zeros((d, 0)), np.zeros(0)
    features = pd.Index(names, name="feature")
    titles = [f"Concept {j + 1}" for j in range(k)]
    concepts, weights = _named(*orient(*ratio), features, [] if decides else titles)
    titles = titles if decides else [f"{title}, shift" for title in titles]
    shift_concepts, shift_weights = _named(*shift, features, titles if shifted else [])
    coef, shift_coef = (pd.Series(values, index=features, name="weight") for values in (fitted.coef, shift_coef))
    ratio_read = (fitted.intercept, coef, concepts, weights)
    shift_read = (fitted.shift_intercept, shift_coef, shift_concepts, shift_weights)
    return dict(zip(READ, (*ratio_read, *shift_read, groups), strict=True))


def _named(
    directions: Array, strengths: Array, features: pd.Index, titles: list[str]
) -> tuple[pd.DataFrame, pd.Series]:
    """Directions (d, k) and weights (k,) of concepts as frames."""
    labels = pd.Index(titles, name="concept")
    return pd.DataFrame(directions, index=features, columns=labels), pd.Series(strengths, index=labels, name="weight")
