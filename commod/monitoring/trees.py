"""The tree of the changes then and now."""

import math
from typing import Any

import pandas as pd

from commod.monitoring.batch_rows import BatchRows
from commod.monitoring.change_tree import TreeNodes, counted_tree, f1_of, learn_tree
from commod.monitoring.differences import compared, framed, share
from commod.monitoring.reference import Reference, tree_in


def compare_trees(reference: Reference, rows: BatchRows) -> tuple[pd.DataFrame, bool]:
    """The file's tree laid over the batch beside its people; else one that is learnt from the batch."""
    changed = rows.before != rows.after
    old = tree_in(reference)
    if old and all(node["column"] in rows.read for node in old if "column" in node):
        return _nodes(old, counted_tree(old, rows.read, changed)), False
    new = learn_tree(rows.read[[name for name in reference["columns"] if name in rows.read]], changed)
    return _nodes(None, new), True


def _nodes(old: TreeNodes | None, new: TreeNodes) -> pd.DataFrame:
    found: list[dict[str, Any]] = []
    for place, node in enumerate(new):
        depth = 0 if place == 0 else found[node["parent"]]["depth"] + 1
        then = {"count": 0, "changed": 0} if old is None else old[place]
        named: dict[str, Any] = {"node": place, "parent": node["parent"], "depth": depth, "rule": node["rule"]}
        named |= {"leaf": "column" not in node, "predicts": node["predicts"]}
        for time, each in (("old", then), ("new", node)):
            named |= {f"{time}_{name}": int(each[name]) for name in ("count", "changed")}
        ends = [share(each["changed"], each["count"], each["count"]) for each in (then, node)]
        found.append(compared(named, *ends))
    return framed(found)


def f1_then_and_now(reference: Reference, nodes: pd.DataFrame, learnt: bool) -> tuple[float, float]:
    """F1 of the tree, old and new; NaN where there is none."""
    now = [{"predicts": row.predicts, "count": row.new_count, "changed": row.new_changed} for row in nodes.itertuples()]
    return math.nan if learnt else f1_of(tree_in(reference)), f1_of(now) if now else math.nan
