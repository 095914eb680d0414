"""What each concept says and does, as frames and in words; how the update adds them up; how sparse they are."""

import re
from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets.task import Task
from commod.models.estimator import Commod
from commod.wording import listed

# A concept "activates" an instance at least this many standard deviations above the average.
ACTIVATION = 1.0
CONCEPTS = ["concept", "part", "weight", "features", "activated", "others", "changed_activated", "changed_others"]
CONCEPTS += ["raised", "lowered", "sentence"]
LOADINGS = ["concept", "feature", "label", "is_level", "loading", "contribution"]


def explain_loadings(g: Commod, task: Task) -> pd.DataFrame:
    """Features of each concept with a weight, heaviest first; a shift's concepts come after r's.

    Columns ``concept, feature, label, is_level, loading`` (in the unit direction) and ``contribution`` (loading ×
    weight of the concept: what one standard deviation of the feature adds to r, to the shift, or to the balance).
    """
    concepts = g.concept_directions()
    W, weights = concepts.to_numpy(), [*g.concept_weights_, *g.shift_weights_]
    rows = []
    for j, concept in enumerate(concepts.columns):
        for i in np.argsort(-np.abs(W[:, j]), kind="stable")[: np.count_nonzero(W[:, j])]:
            column, level = g.encoder_.origin_[i]
            rows.append(
                {
                    "concept": concept,
                    "feature": concepts.index[i],
                    "label": task.label(column, level),
                    "is_level": level is not None,
                    "loading": W[i, j],
                    "contribution": W[i, j] * weights[j],
                }
            )
    return pd.DataFrame(rows, columns=LOADINGS)


def explain_concepts(
    g: Commod, task: Task, activations: pd.DataFrame, decisions_f: np.ndarray, decisions_g: np.ndarray
) -> pd.DataFrame:
    """Share of changed decisions among the instances a concept activates and among the others (paper, Fig. 2).

    `activations` are ``g.concept_activations(X)``, and the decisions are on the same rows. One row per concept of r,
    then of the shift: ``part`` (see `sums_of`), ``weight`` in it, ``features`` (how many), ``activated, others``
    (rows), ``changed_activated, changed_others`` (shares; ``<NA>`` without rows), ``raised, lowered`` (changes among
    the activated), ``sentence``.
    """
    loadings = dict(tuple(explain_loadings(g, task).groupby("concept", sort=False)))
    changed = decisions_f != decisions_g
    rows = []
    directions, weights = g.concept_directions(), [*g.concept_weights_, *g.shift_weights_]
    for concept, weight in zip(directions.columns, weights, strict=True):
        value = activations[concept].to_numpy()
        spread = value.std()
        active = value > value.mean() + ACTIVATION * spread if spread > 0 else np.zeros(len(value), dtype=bool)
        row = {
            "concept": concept,
            "part": sums_of(g)[concept in g.shift_weights_],
            "weight": weight,
            "features": int((directions[concept] != 0).sum()),
            "activated": int(active.sum()),
            "others": int((~active).sum()),
            "changed_activated": _share(changed, active),
            "changed_others": _share(changed, ~active),
            "raised": int((changed & active & (decisions_g == 1)).sum()),
            "lowered": int((changed & active & (decisions_g == 0)).sum()),
        }
        sentence = _sentence(row, loadings.get(concept), task)
        if g.decides and loadings.get(concept) is not None:
            least = value < value.mean() - ACTIVATION * spread
            lowered, high = int((changed & least & (decisions_g == 0)).sum()), task.spec.outcomes[1]
            sentence += f" Of the {int(least.sum()):,} who show it least, {lowered:,} lost “{high}”."
        rows.append({**row, "sentence": sentence})
    frame = pd.DataFrame(rows, columns=CONCEPTS).set_index("concept")
    return frame.astype({"changed_activated": "Float64", "changed_others": "Float64"})


def _share(changed: np.ndarray, among: np.ndarray) -> Any:
    return float(changed[among].mean()) if among.any() else pd.NA


def _sentence(row: dict[str, Any], loadings: pd.DataFrame | None, task: Task) -> str:
    if loadings is None:
        return "This concept is empty: none of its features is needed at this setting."
    heaviest = abs(loadings["loading"].iloc[0])
    top = zip(loadings["label"].head(3), loadings["is_level"], loadings["loading"], strict=False)
    columns = [feature.name for feature in task.spec.features]
    shown = [item for item in top if abs(item[2]) >= 0.25 * heaviest]
    parts: dict[str, str] = {}
    for label, is_level, loading in shown:
        name, _, value = label.partition(": ")
        key = name if is_level and loading > 0 else label
        # Nobody has two levels of one feature.
        parts[key] = f"{parts[key]} or “{value}”" if key in parts else _in_words(label, is_level, loading, columns)
    described = listed(parts.values())
    more = len(loadings) - len(shown)
    tail = f" (and {more} minor feature{'s' if more > 1 else ''})" if more else ""
    people, low, high = task.spec.people, *task.spec.outcomes
    start = {
        "r": f"It takes back f's decision for {people} with {described}{tail}.",
        "s": f"It raises the score for “{high}” of {people} with {described}{tail}.",
    }.get(row["part"], f"It speaks for “{high}” for {people} with {described}{tail}, and against it for the opposite.")
    if row["activated"] == 0:
        return start
    share, others = row["changed_activated"], row["changed_others"]
    moved = []
    if row["raised"]:
        moved.append(f"{row['raised']} to “{high}”")
    if row["lowered"]:
        moved.append(f"{row['lowered']} to “{low}”")
    became = f" ({' and '.join(moved)})" if moved else ""
    beside = "" if others is pd.NA else f", against {in_percent(others)} of the others"
    return f"{start} Of the {row['activated']:,} who show it most, {in_percent(share)} changed{became}{beside}."


def in_percent(share: float, digits: int = 1) -> str:
    """A share in percent; a small one that would be rounded to 0 becomes "<0.1%"."""
    least = 10.0 ** -(digits + 2)
    return f"<{least:.{digits}%}" if 0 < share < least / 2 else f"{share:.{digits}%}"


def in_a_sentence(label: str, column: str = "") -> str:
    """One of our labels within a sentence: in lower case, except "LSAT score" and names of columns."""
    return label[0].lower() + label[1:] if label[1:2].islower() and label != column else label


def _in_words(label: str, is_level: bool, loading: float, columns: Collection[str]) -> str:
    name, _, value = label.partition(": ")
    name = in_a_sentence(name, name if name in columns else "")
    if not is_level:
        return f"{'high' if loading > 0 else 'low'} {name}"
    return f"{name} “{value}”" if loading > 0 else f"{name} other than “{value}”"


def sums_of(g: Commod) -> tuple[str, str]:
    """What concepts of r, and those of the shift, add to."""
    return "r", "the balance" if g.decides else "s"


def starts_in_words(g: Commod, outcomes: tuple[str, str]) -> str:
    """Where the sums start, before any concept adds to them."""
    if not g.decides:
        return _minus(f"r = {g.intercept_:.2f}" + (f" and s = {g.shift_intercept_:.2f}" if g.has_shift else ""))
    step, acts_on = g.rescaler_.shift_step, g.rescaler_.acts_on
    starts = {"negative": g.shift_intercept_, "positive": g.shift_intercept_ + step}
    sides = zip(starts.items(), outcomes, strict=True)
    shown = [f"{at:.2f} where f says “{word}”" for (side, at), word in sides if acts_on in ("everybody", side)]
    return _minus(f"balance = {' or '.join(shown)}, plus {g.intercept_:.2f} times f's logit")


def form_in_words(g: Commod, outcomes: tuple[str, str]) -> str:
    """How g's decision comes about."""
    if g.decides:
        return f"Everyone has a balance, which each concept raises or lowers: above 0, g says “{outcomes[1]}”."
    starts = starts_in_words(g, outcomes)
    if g.has_shift:
        moves = "each concept raises or lowers r or, if named “shift”, s. At r = 1 and s = 0, f's score stays"
        return f"Everyone starts at {starts}; {moves}."
    moves = "and each concept raises or lowers it. At 1, f's score stays; below 0, the decision changes"
    return f"Each person gets a number r. It starts at {starts.removeprefix('r = ')}, {moves}."


def formula_in_words(g: Commod, outcomes: tuple[str, str], line: str) -> str:
    """The same as a formula; `line` is f's score at which the decision turns."""
    if g.decides:
        starts = starts_in_words(g, outcomes).removeprefix("balance = ")
        return (
            f"The balance starts at {starts} (0 at {line}). People whose decision stays keep f's score; a changed "
            "score lands just across the line."
        )
    also = " and adds s; where that has another sign than f's logit, the decision changes" if g.has_shift else ""
    taken = "A concept “takes back” a decision by lowering r."
    return f"g multiplies the logit of f's score (0 at {line}) by r{also}. {taken}"


def constants_in_words(g: Commod) -> str:
    """The first term of the sum that leads from f to g."""
    if g.decides:
        return "Start of the balance"
    return "Everybody's starting values" if g.has_shift else "Everybody's starting value"


# With an AUC below this, a concept tells the groups apart only a little.
LITTLE = 0.6


def guess_in_words(concepts: pd.DataFrame) -> str:
    """How well the rule guesses the group; `concepts` has ``features, auc, low, high, group``, one row per concept."""
    used = concepts[concepts["features"] > 0].sort_values("auc", ascending=False, kind="stable")
    if used.empty:
        return ""
    best = used.iloc[0]
    text = f"“{best['group']}” from the others" if best["group"] else "the groups apart"
    auc = f"AUC {best['auc']:.2f} [{best['low']:.2f}, {best['high']:.2f}]; 0.5 is a coin toss, 1 is certainty"
    if best["low"] <= 0.5:
        hardly = "g never sees the group, and its concepts hardly give it away"
        return f"{hardly}: the best, {used.index[0]}, may tell {text} only by chance ({auc})."
    little = " a little" if round(best["auc"], 2) < LITTLE else ""
    return f"g never sees the group, but its concepts give it away: {used.index[0]} alone tells {text}{little} ({auc})."


def _minus(text: str) -> str:
    return re.sub(r"(?<![\w\d])-(?=\d)", "−", text)


# A weight of a unit direction that is smaller than this counts as none (the paper's ε).
NULL_WEIGHT = 0.01


def concept_size(concepts: pd.DataFrame) -> int:
    """Number of non-zero weights in all concepts, |W| > 0.01 (the paper prints W > ε); fewer is sparser."""
    return int((concepts.abs().to_numpy() > NULL_WEIGHT).sum())


def concept_redundancy(concepts: pd.DataFrame) -> float:
    """Mean over pairs of concepts of the Jaccard index of their signed features, 0 (nothing shared) to 1.

    A feature is shared if both weigh it with the same sign. With a single concept the redundancy is 0.
    """
    W = concepts.to_numpy()
    signed = [
        set(zip(np.flatnonzero(np.abs(w) > NULL_WEIGHT), np.sign(w[np.abs(w) > NULL_WEIGHT]), strict=True)) for w in W.T
    ]
    pairs = [len(a & b) / len(a | b) if a | b else 0.0 for a, b in combinations(signed, 2)]
    return float(np.mean(pairs)) if pairs else 0.0
