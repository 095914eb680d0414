"""Whether a model is the one that a decision was signed for, as far as its file tells; nothing is trained."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from commod.metrics.counts import sizes_of_groups
from commod.metrics.figures import key_figures_of
from commod.monitoring.reference import REFERENCE, cells_in
from commod.portable import Portable
from commod.uploads.limits import count_of

__all__ = ["check_signature", "due_in_words", "signature_in_words"]

# Figures agree if they differ by no more than this: other machines round otherwise in the last digits.
TOLERANCE = 1e-9


def check_signature(record: Mapping[str, Any], model: Portable) -> pd.DataFrame:
    """Compare a decision with a model's file line by line.

    Settings are compared by name, figures with what the counts in the file give: who finds all of them equal has the
    signed model, or one that nothing signed tells from it. `commod verify` trains it again.

    Parameters
    ----------
    record : mapping
        From `commod.decisions.read_record`.
    model : Portable
        From `read_model`.

    Returns
    -------
    DataFrame
        ``line, recorded, found`` (texts), ``agrees``.
    """
    signed, settings = record["model"], model.content.get("settings")
    asked = {"fairness": signed["fairness"], "lambda_fair": signed["value"], **signed["settings"]}
    asked["threshold"] = signed["threshold"]
    here = {"threshold": 0.5, **(settings if isinstance(settings, Mapping) else {})}
    rows: list[tuple[str, Any, Any]] = [("method", signed["method"], "commod")]
    rows += [(name, asked[name], here[name]) for name in asked if name in here]
    if REFERENCE in model.content:
        cells = cells_in(model.content[REFERENCE])
        sizes = sizes_of_groups(cells.rows)
        of_f = np.zeros_like(cells.counts)
        for decided in (0, 1):
            of_f[..., decided, decided] = cells.counts[..., decided, :].sum(axis=-1)
        found = {**key_figures_of(cells.counts, sizes), "people": float(cells.rows.sum())}
        found |= {f"f_{name}": value for name, value in key_figures_of(of_f, sizes).items()}
        rows += [(name, value, found[name]) for name, value in record["figures"].items() if name in found]
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
    return f"{value:.10g}" if isinstance(value, int | float) else str(value)


def signature_in_words(lines: pd.DataFrame) -> str:
    """Whether it is the signed model."""
    other = lines.loc[~lines["agrees"], "line"].tolist()
    if not other:
        return f"This is the model that was signed: all {len(lines)} settings and figures that both files name agree."
    some = ", ".join(other[:4]) + (" …" if len(other) > 4 else "")
    return f"This is not the model that was signed: {len(other)} of {len(lines)} lines differ ({some})."


def due_in_words(record: Mapping[str, Any], today: date) -> str:
    """Who signed, and whether it is time to look again."""
    day = date.fromisoformat(record["signature"]["look_again"])
    left = (day - today).days
    due = f"in {count_of(left, 'day')}" if left > 0 else "today" if left == 0 else f"{count_of(-left, 'day')} ago"
    by = f"{record['signature']['who']}, {record['signature']['role']}"
    return f"Signed on {record['signature']['signed']} by {by}; somebody was to look again on {day.isoformat()}: {due}."
