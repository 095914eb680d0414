"""A depth-limited decision tree that says where decisions changed (paper, Sec. 6.3, "Locality")."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from commod.datasets.encoding import TabularEncoder
from commod.datasets.task import Task

# Depths of the trees that are fitted to the changes.
DEPTHS = range(1, 7)
# A tree of six questions needs no more rows than this, and takes seconds with more.
MAX_ROWS = 10_000


@dataclass(frozen=True)
class ChangeTree:
    """A fitted tree, read out.

    Attributes
    ----------
    nodes : DataFrame
        One row per node in the order it is read: ``node, parent, depth, rule`` (how one gets here from the parent),
        ``leaf, count, changed, share`` (of the evaluated rows that reach the node), ``predicts`` (whether the leaf says
        "changed") and what is asked here: ``column``, and either ``level`` (who has it goes right) or ``cut`` (who has
        more goes right); all None in a leaf.
    f1, f1_by_depth : float, DataFrame
        F1 of "changed" on the evaluated rows, 0 where nobody is called so; and ``depth, f1, leaves`` of each depth
        tried.
    ends : array of int
        Node in which each evaluated row ends.
    """

    nodes: pd.DataFrame
    f1: float
    f1_by_depth: pd.DataFrame
    ends: np.ndarray


def explain_tree(
    task: Task,
    encoder: TabularEncoder,
    X_fit: Any,
    changed_fit: np.ndarray,
    X: Any,
    changed: np.ndarray,
    depth: int,
    *,
    class_weight: str | None = None,
    depths: Iterable[int] = DEPTHS,
) -> ChangeTree:
    """Fit trees of these depths to 1[Ŷ ≠ Ŷ^f] on some rows, and read the one of `depth` out on others.

    The trees see features in original units. They are fitted where g was (`X_fit`) and judged where it was not
    (`X`), so that a tree which memorises scattered changes gets no credit for it.
    With ``class_weight="balanced"`` those who changed weigh as much as all others together: few change, and a tree
    without weights may find it best to say "unchanged" of everybody.
    """
    if depth not in DEPTHS:
        raise ValueError(f"depth must be a whole number from {DEPTHS[0]} to {DEPTHS[-1]}, got {depth!r}.")
    fitting, rows = encoder.raw(task.features(X_fit)), encoder.raw(task.features(X))
    if len(fitting) > MAX_ROWS:
        drawn = np.sort(np.random.default_rng(0).permutation(len(fitting))[:MAX_ROWS])
        fitting, changed_fit = fitting[drawn], changed_fit[drawn]
    trees, table = {}, []
    for d in depths:
        tree = DecisionTreeClassifier(max_depth=d, min_samples_leaf=5, random_state=0, class_weight=class_weight)
        tree.fit(fitting, changed_fit)
        trees[d] = tree
        score = f1_score(changed, tree.predict(rows), zero_division=0.0)
        table.append({"depth": d, "f1": float(score), "leaves": int(tree.get_n_leaves())})
    by_depth = pd.DataFrame(table)
    nodes = _read(trees[depth], task, encoder, fitting, rows, changed)
    ends = trees[depth].apply(rows).astype(np.int64)
    return ChangeTree(nodes, float(by_depth.set_index("depth").loc[depth, "f1"]), by_depth, ends)


def _read(
    fitted: DecisionTreeClassifier,
    task: Task,
    encoder: TabularEncoder,
    fitting: np.ndarray,
    rows: np.ndarray,
    changed: np.ndarray,
) -> pd.DataFrame:
    tree = fitted.tree_
    reached = np.asarray(fitted.decision_path(rows).todense(), dtype=bool)  # (rows, nodes)
    whole = {i for i in range(fitting.shape[1]) if (fitting[:, i] == np.round(fitting[:, i])).all()}
    count, n_changed = reached.sum(axis=0), reached[changed].sum(axis=0)
    leaf, votes = tree.children_left == -1, tree.value[:, 0]  # (nodes, classes)
    says_changed = votes[:, list(fitted.classes_).index(True)] > 0.5 if True in fitted.classes_ else np.zeros_like(leaf)
    nodes = pd.DataFrame(
        {
            "node": np.arange(tree.node_count),
            "parent": -1,
            "depth": 0,
            "rule": "everyone",
            "leaf": leaf,
            "count": count,
            "changed": n_changed,
            "share": n_changed / np.maximum(count, 1),
            "predicts": leaf & says_changed,
        }
    )
    asked: dict[str, list[Any]] = {name: [None] * len(nodes) for name in ("column", "level", "cut")}
    for node in np.flatnonzero(~leaf):  # a parent comes before its children
        feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
        asked["column"][node], level = encoder.origin_[feature]
        asked["level" if level is not None else "cut"][node] = threshold if level is None else level
        children = [int(tree.children_left[node]), int(tree.children_right[node])]
        nodes.loc[children, "rule"] = _rules(task, encoder, feature, threshold, feature in whole)
        nodes.loc[children, "parent"], nodes.loc[children, "depth"] = node, nodes.loc[node, "depth"] + 1
    return nodes.assign(**asked)


def _rules(task: Task, encoder: TabularEncoder, feature: int, threshold: float, whole: bool) -> tuple[str, str]:
    """Words for going left (≤) and right (>) in original units."""
    column, level = encoder.origin_[feature]
    label = task.label(column)
    if level is not None:
        levels = encoder.levels_[column]
        if len(levels) == 2:
            return f"{label} is {levels[0]}", f"{label} is {levels[1]}"
        return f"{label} is not {level}", f"{label} is {level}"
    unit = next((f" {f.unit}" for f in task.spec.features if f.name == column and f.unit not in ("", "count")), "")
    if whole:
        return f"{label} ≤ {int(np.floor(threshold))}{unit}", f"{label} ≥ {int(np.floor(threshold)) + 1}{unit}"
    cut = f"{threshold:,.0f}" if abs(threshold) >= 10_000 else f"{threshold:.4g}"
    return f"{label} ≤ {cut}{unit}", f"{label} > {cut}{unit}"
