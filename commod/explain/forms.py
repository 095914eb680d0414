"""The forms of the update in words: what its concepts add up to, and where that changes a decision."""

import re

import pandas as pd

from commod.models.estimator import Commod


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


def form_in_words(g: Commod, outcomes: tuple[str, str], line: str) -> str:
    """How g's decision comes about; `line` is where f's score turns it."""
    adds = "plus, for each concept, its weight times how much a person shows of it"
    if g.decides:
        starts = starts_in_words(g, outcomes).replace(" =", ":", 1)
        return (
            f"Everyone has a {starts} (0 at {line}), {adds}. g says “{outcomes[1]}” "
            "where it is above 0. People whose decision stays keep f's score; a changed score lands just across the "
            "line."
        )
    if not g.has_shift:
        return (
            f"{starts_in_words(g, outcomes)} {adds}. g multiplies the logit of f's score (0 at {line}) by r; below 0 "
            "the decision changes. A concept “takes back” a decision by lowering r."
        )
    return (
        f"{starts_in_words(g, outcomes)}, each {adds}; s goes by those named “shift”. g multiplies the logit of f's "
        f"score (0 at {line}) by r and adds s; where the sum has another sign than f's logit, the decision changes. A "
        "concept “takes back” a decision by lowering r."
    )


def constants_in_words(g: Commod) -> str:
    """The first term of the sum that leads from f to g."""
    if g.decides:
        return "Start of the balance"
    return "Constants of r, less 1, and s" if g.has_shift else "Constant of r, less 1"


def guess_in_words(concepts: pd.DataFrame) -> str:
    """How well the rule guesses the group; `concepts` has ``features, auc, low, high, told``, a row per concept."""
    used = concepts[concepts["features"] > 0].sort_values("auc", ascending=False, kind="stable")
    if used.empty:
        return ""
    best = used.iloc[0]
    told = f"“{best['told']}” from the others" if best["told"] else "the groups apart"
    auc = f"AUC {best['auc']:.2f} [{best['low']:.2f}, {best['high']:.2f}]; 0.5 is a coin toss, 1 is certainty"
    tells = f"{used.index[0]} alone tells {told} ({auc})"
    if best["low"] <= 0.5:
        tells = f"here it hardly does: its best concept, {used.index[0]}, may tell {told} by chance only ({auc})"
    return f"g is never told the group, but a rule that changes people who look like a group guesses it: {tells}."


def _minus(text: str) -> str:
    return re.sub(r"(?<![\w\d])-(?=\d)", "−", text)
