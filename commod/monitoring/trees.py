"""The tree of the changes then and now."""

import math
from typing import Any

import pandas as pd

from commod.monitoring.batch_rows import BatchRows
from commod.monitoring.change_tree import TreeNodes, counted_tree, f1_of
from commod.monitoring.differences import compared, framed, share
from commod.monitoring.reference import Reference, tree_in


def compare_trees(reference: Reference, rows: BatchRows) -> tuple[pd.DataFrame, tuple[float, float]]:
    """The file's tree laid over the batch beside its people, and its F1 old and new; empty if the file has none."""
    old = tree_in(reference)
    if not old or not all(node["column"] in rows.read for node in old if "column" in node):
        return pd.DataFrame(), (math.nan, math.nan)
    new = counted_tree(old, rows.read, rows.before != rows.after)
    return _nodes(old, new), (f1_of(old), f1_of(new))


def _nodes(old: TreeNodes, new: TreeNodes) -> pd.DataFrame:
    found: list[dict[str, Any]] = []
    for place, (then, node) in enumerate(zip(old, new, strict=True)):
        depth = 0 if place == 0 else found[node["parent"]]["depth"] + 1
        named: dict[str, Any] = {"node": place, "parent": node["parent"], "depth": depth, "rule": node["rule"]}
        named |= {"leaf": "column" not in node, "predicts": node["predicts"]}
        for time, each in (("old", then), ("new", node)):
            named |= {f"{time}_{name}": int(each[name]) for name in ("count", "changed")}
        ends = [share(each["changed"], each["count"], each["count"]) for each in (then, node)]
        found.append(compared(named, *ends))
    return framed(found)
