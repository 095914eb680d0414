"""Whether changes agree with the record, and how sure f was of what is changed."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from commod.datasets.task import Task
from commod.metrics.counts import as_binary, tally
from commod.metrics.intervals import wilson_interval

# A model that gives its decision more than this probability is called sure of it.
SURE = 0.9
# Edges of the classes of certainty; the last class is that of the sure.
CERTAINTY_CLASSES = (0.0, 0.5, 0.6, 0.7, 0.8, SURE, 1.0)


def explain_record(task: Task, y: Any, sensitive: Any, before: Any, after: Any, certain: Any = None) -> pd.DataFrame:
    """Changes of each group and direction, and how many of them agree with the record: g is right where f was wrong.

    Parameters
    ----------
    certain : array, optional
        f's probability for its own decision (`certainty`). If f is calibrated, a change is right with the chance that
        is left, whoever is changed.

    Returns
    -------
    DataFrame
        Two rows per group, changes for the better first: ``group`` (its name), ``better``, ``count`` (changed people),
        ``right`` (g agrees with the label), ``wrong`` (f did), ``share`` (of the right; NaN of nobody) with ``low,
        high``, Wilson's 95 % interval, and ``expected`` (that share by f's own probabilities; NaN without).
    """
    found = tally(y, {"before": before, "after": after}, sensitive)
    counts, groups, good = found.counts, found.groups, task.spec.favourable
    # (groups, direction): people whose decision is now this one, and of them those with that label.
    ways = [(1 - now, now) for now in (good, 1 - good)]
    moved = np.array([[cells[:, old, new].sum() for old, new in ways] for cells in counts], dtype=int).ravel()
    right = np.array([[cells[new, old, new] for old, new in ways] for cells in counts], dtype=int).ravel()
    low, high = wilson_interval(right, moved)
    left = np.full(len(np.asarray(after)), np.nan) if certain is None else 1.0 - np.asarray(certain)
    codes, was, now = (np.asarray(each) for each in (sensitive, before, after))
    sums = [left[(codes == code) & (was == old) & (now == new)].sum() for code in groups for old, new in ways]
    with np.errstate(invalid="ignore"):  # 0 of 0
        share, expected = right / moved, np.array(sums) / moved
    return pd.DataFrame(
        {
            "group": np.repeat([task.groups[int(code)] for code in groups], 2),
            "better": np.tile([True, False], len(groups)),
            "count": moved,
            "right": right,
            "wrong": moved - right,
            "share": share,
            "low": low,
            "high": high,
            "expected": expected,
        }
    )


def certainty(margin: Any, line: float = 0.0) -> NDArray[np.float64]:
    """The probability that a model gives to its own decision; `margin` is its logit minus `line`, that of its cut-off.

    At a cut-off of 0.5 it is 0.5 or more. At 0.2, "yes" to somebody with a score of 0.3 has a probability of 0.3.
    """
    margin = np.asarray(margin, dtype=float)
    return np.asarray(expit(np.where(margin > 0, 1.0, -1.0) * (margin + line)))


def explain_certainty(certain: Any, before: Any, after: Any) -> pd.DataFrame:
    """How sure f was of those whom g decides otherwise, beside everyone.

    Parameters
    ----------
    certain, before, after : arrays (n,)
        f's probability for its own decision (`certainty`), and the decisions of f and of g.

    Returns
    -------
    DataFrame
        One row per class of certainty, least sure first: ``low, high`` (its edges; `high` belongs to it), ``everyone,
        changed`` (people) and ``share_everyone, share_changed`` (of everyone, and of all changed; 0 where nobody
        changed). The class below 0.5 is there only if somebody is in it.
    """
    changed = as_binary(before, "before") != as_binary(after, "after")
    certain = np.asarray(certain, dtype=float)
    edges = np.asarray(CERTAINTY_CLASSES if (certain < 0.5).any() else CERTAINTY_CLASSES[1:])
    place = np.clip(np.searchsorted(edges, certain, side="left") - 1, 0, len(edges) - 2)
    everyone = np.bincount(place, minlength=len(edges) - 1)
    moved = np.bincount(place[changed], minlength=len(edges) - 1)
    return pd.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "everyone": everyone,
            "changed": moved,
            "share_everyone": everyone / max(len(changed), 1),
            "share_changed": moved / max(int(changed.sum()), 1),
        }
    )


def counts_of_changes(certain: Any, before: Any, after: Any, y: Any = None) -> dict[str, tuple[int, int]]:
    """Of the changed decisions, how many f was sure of and, where labels are given, how many are right by them.

    `certain` is f's probability for its own decision (`certainty`). Returns ``sure`` and ``right``, each with the
    number of changed decisions behind it.
    """
    after = np.asarray(after)
    changed = np.asarray(before) != after
    whole = int(changed.sum())
    found = {"sure": (int((np.asarray(certain)[changed] > SURE).sum()), whole)}
    if y is not None:
        found["right"] = (int((after == np.asarray(y))[changed].sum()), whole)
    return found
