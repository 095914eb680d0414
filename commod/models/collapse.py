"""Whether an update has destroyed the model it was to correct: what no figure of fairness shows."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from commod.metrics.auc import auc_of

# Of what f's AUC is above one half, g keeps less than this share: it hardly tells people apart any more.
KEPT_EDGE = 0.5


class CollapseWarning(UserWarning):
    """The fitted model has collapsed: it is fair, but no longer tells people apart."""


def collapse_in_words(y: Any, margin_f: Any, margin_g: Any, subject: str = "g") -> list[str]:
    """A sentence for each sign that g has collapsed; margins are logits minus that of the cut-off."""
    f, g = np.asarray(margin_f, dtype=float), np.asarray(margin_g, dtype=float)
    found = []
    auc_f, auc_g = auc_of(f, y), auc_of(g, y)
    if auc_f > 0.5 and auc_g - 0.5 < KEPT_EDGE * (auc_f - 0.5):
        found.append(
            f"{subject} hardly tells people apart any more: the AUC of its scores falls from {auc_f:.2f} to "
            f"{auc_g:.2f}, where 0.5 is chance."
        )
    return found + overturned_in_words(f > 0, g > 0, subject)


def overturned_in_words(before: Any, after: Any, subject: str = "g") -> list[str]:
    """A sentence if more decisions (true and false) change than by deciding everybody alike; else none."""
    before, after = np.asarray(before), np.asarray(after)
    changed, trivial = float((before != after).mean()), float(min(before.mean(), 1 - before.mean()))
    if not changed > trivial > 0:
        return []
    return [
        f"{subject} changes {changed:.1%} of all decisions. Deciding everybody alike would be fair and change "
        f"{trivial:.1%}."
    ]


# Set for the thread that fits. Warning filters are shared by all threads, and those of a server fit side by side.
_is_judged_elsewhere: ContextVar[bool] = ContextVar("is_judged_elsewhere", default=False)


@contextmanager
def judged_elsewhere() -> Iterator[None]:
    """Fit without warnings about the result, for those who look at it themselves."""
    before = _is_judged_elsewhere.set(True)
    try:
        yield
    finally:
        _is_judged_elsewhere.reset(before)


def warn_of_result(sentence: str, kind: type[UserWarning]) -> None:
    """Warn of a model that was fitted, unless whoever called `fit` looks at it."""
    if not _is_judged_elsewhere.get():
        warnings.warn(sentence, kind, stacklevel=3)
