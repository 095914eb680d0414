"""The tree of the changes as a model's file has it: its questions, and how many people of whom came to each node."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from commod.explain.tree import ChangeTree

# Questions of a tree that goes along with a model.
DEPTH = 3

TreeNodes = Sequence[Mapping[str, Any]]


def tree_as_data(tree: ChangeTree) -> list[dict[str, Any]]:
    """The questions of a tree as JSON has them, without people: see `counted_tree`."""
    place = {node: i for i, node in enumerate(tree.nodes["node"].tolist())} | {-1: -1}
    found = []
    for row in tree.nodes.to_dict("records"):
        node: dict[str, Any] = {"parent": place[row["parent"]], "rule": str(row["rule"]), "predicts": row["predicts"]}
        if not row["leaf"]:
            asked = ("cut", float(row["cut"])) if pd.notna(row["cut"]) else ("level", str(row["level"]))
            node |= {"column": str(row["column"]), asked[0]: asked[1]}
        found.append(node)
    return found


def counted_tree(nodes: TreeNodes, X: pd.DataFrame, changed: Any) -> list[dict[str, Any]]:
    """The tree with ``count`` and ``changed`` of these people at each node."""
    changed = np.asarray(changed, dtype=bool)
    return [
        {**node, "count": int(here.sum()), "changed": int((here & changed).sum())}
        for node, here in zip(nodes, _reached(nodes, X), strict=True)
    ]


def f1_of(nodes: TreeNodes) -> float:
    """F1 of "changed" among the people counted: 0 where the tree says "unchanged" everywhere."""
    said = [node for node in nodes if node["predicts"]]
    right = sum(node["changed"] for node in said)
    both = sum(node["count"] for node in said) + nodes[0]["changed"]
    return 2 * right / both if both else 0.0


def _reached(nodes: TreeNodes, X: pd.DataFrame) -> list[np.ndarray]:
    """Who comes to each node; of the two below a question, the first is the left one."""
    reached = [np.ones(len(X), dtype=bool)]
    seen: set[int] = set()
    for node in nodes[1:]:
        parent = nodes[node["parent"]]
        goes_right = _answers(parent, X[parent["column"]])
        reached.append(reached[node["parent"]] & (goes_right == (node["parent"] in seen)))
        seen.add(node["parent"])
    return reached


def _answers(node: Mapping[str, Any], values: pd.Series) -> np.ndarray:
    if "level" in node:
        return np.asarray(values.astype(object).map(str) == node["level"], dtype=bool)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float32)  # as scikit-learn compares them
    return np.asarray(numbers > node["cut"])
