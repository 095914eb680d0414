"""Whether a model is the one that a decision is for, as far as its file tells; nothing is trained."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pandas as pd

from commod.monitoring.watch import Watched
from commod.uploads.limits import count_of

# Figures agree if they differ by no more than this: other machines round otherwise in the last digits.
TOLERANCE = 1e-9


def check_signature(record: Mapping[str, Any], found: Watched) -> pd.DataFrame:
    """Compare a decision with the model that was looked at, line by line.

    Settings are compared by name, figures with what the counts in the model's file give: who finds all of them equal
    has the signed model, or one that nothing signed tells from it. `commod verify` trains it again.

    Parameters
    ----------
    record : mapping
        From `commod.decisions.read_record`.
    found : Watched

    Returns
    -------
    DataFrame
        ``line, recorded, found`` (texts), ``agrees``.
    """
    signed = record["model"]
    asked = {"fairness": signed["fairness"], "lambda_fair": signed["value"], **signed["settings"]}
    asked["threshold"] = signed["threshold"]
    here, figures = {"threshold": 0.5, **found.about["settings"]}, found.about["figures"]
    rows: list[tuple[str, Any, Any]] = [("method", signed["method"], "commod")]
    rows += [(name, asked[name], here[name]) for name in asked if name in here]
    rows += [(name, value, figures[name]) for name, value in record["figures"].items() if name in figures]
    lines = [(name, _shown(then), _shown(now), _agree(then, now)) for name, then, now in rows]
    return pd.DataFrame(lines, columns=["line", "recorded", "found", "agrees"])


def _agree(recorded: Any, found: Any) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (recorded, found)]
    if all(numbers):
        return bool(abs(recorded - found) <= TOLERANCE) or (found != found and recorded != recorded)
    return bool(recorded == found) or (recorded is None and found != found)


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.10g}".replace("-", "−") if isinstance(value, int | float) else str(value)


def signature_in_words(lines: pd.DataFrame) -> str:
    """Whether it is the model that was decided for."""
    other = lines.loc[~lines["agrees"], "line"].tolist()
    if not other:
        return f"This is the model of the decision: all {len(lines)} settings and figures that both files name agree."
    some = ", ".join(other[:4]) + (" …" if len(other) > 4 else "")
    return f"This is not the model of the decision: {len(other)} of {len(lines)} lines differ ({some})."


def due_in_words(record: Mapping[str, Any], today: date) -> str:
    """Who decided, and whether it is time to look again."""
    day = date.fromisoformat(record["signature"]["look_again"])
    left = (day - today).days
    due = f"in {count_of(left, 'day')}" if left > 0 else "today" if left == 0 else f"{count_of(-left, 'day')} ago"
    by = f"{record['signature']['who']}, {record['signature']['role']}"
    sealed = record["signature"]["signed"]
    return f"Sealed on {sealed}, in the name of {by}; somebody was to look again on {day.isoformat()}: {due}."
