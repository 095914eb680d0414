"""A hundred people of each group: of how many f and g say yes, and about whom they differ."""

from typing import Any

import numpy as np
import pandas as pd

from commod.datasets.task import Split, Task


def explain_hundred(task: Task, rows: Split, before: Any, after: Any) -> pd.DataFrame:
    """Every group as a hundred people, by the decisions of f (`before`) and of g (`after`) on some rows.

    Returns
    -------
    DataFrame
        One row for each group that has people, by its code: ``group`` (its name), ``count`` (rows), the weighted shares
        ``before, now`` (positive decisions of f and g) and ``raised, lowered`` (decisions that went 0→1 and 1→0), and
        these four in whole people of a hundred: ``of_100_before`` and so on. The last two of them lead from the first
        to the second, each less than 1 away from its share.
    """
    people = count_hundred(task, rows, before, after)
    names = {code: {"group": task.groups[code]} for code in people}
    found = pd.DataFrame.from_dict({code: names[code] | row for code, row in people.items()}, orient="index")
    return found.rename_axis("code")


def count_hundred(task: Task, rows: Split, before: Any, after: Any) -> dict[int, dict[str, Any]]:
    """The rows of `explain_hundred` by code, without names: a frame takes ten times as long."""
    weight = None if rows.weight is None else rows.weight.to_numpy()
    n = len(task.groups)
    sensitive = rows.sensitive.to_numpy()
    cell = 4 * sensitive + 2 * np.asarray(before, dtype=np.int64) + np.asarray(after, dtype=np.int64)
    counts = np.bincount(cell, weight, minlength=4 * n).reshape(n, 2, 2)  # (groups, f, g)
    sizes = np.bincount(sensitive, minlength=n)
    here = np.flatnonzero(counts.sum(axis=(1, 2)))
    shares = counts[here] / counts[here].sum(axis=(1, 2), keepdims=True)
    raised, lowered = shares[:, 0, 1], shares[:, 1, 0]
    found = {"before": shares[:, 1, 1] + lowered, "now": shares[:, 1, 1] + raised, "raised": raised, "lowered": lowered}
    first, then = (np.floor(100 * found[model] + 0.5).astype(int) for model in ("before", "now"))
    most = np.minimum(first, 100 - then)
    fell = np.floor(50 * (raised + lowered) - (then - first) / 2 + 0.5).astype(int)
    fell = np.clip(fell, np.maximum(0, first - then), most)
    whole = {"before": first, "now": then, "raised": fell + then - first, "lowered": fell}
    columns = {"count": sizes[here]} | found | {f"of_100_{name}": people for name, people in whole.items()}
    lists = {name: column.tolist() for name, column in columns.items()}
    return {code: {name: column[i] for name, column in lists.items()} for i, code in enumerate(here.tolist())}
