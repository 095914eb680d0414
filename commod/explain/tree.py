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
    out: list[dict[str, Any]] = []

    def visit(node: int, parent: int, depth: int, rule: str) -> None:
        here = reached[:, node]
        count, n_changed = int(here.sum()), int(changed[here].sum())
        leaf = tree.children_left[node] == -1
        votes = tree.value[node][0]
        says_changed = len(votes) > 1 and bool(votes[list(fitted.classes_).index(True)] > 0.5)
        out.append(
            {
                "node": node,
                "parent": parent,
                "depth": depth,
                "rule": rule,
                "leaf": bool(leaf),
                "count": count,
                "changed": n_changed,
                "share": n_changed / count if count else 0.0,
                "predicts": bool(leaf and says_changed),
                "column": None,
                "level": None,
                "cut": None,
            }
        )
        if not leaf:
            feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
            column, level = encoder.origin_[feature]
            out[-1] |= {"column": column, "level": level} if level is not None else {"column": column, "cut": threshold}
            low, high = _rules(task, encoder, feature, threshold, feature in whole)
            visit(int(tree.children_left[node]), node, depth + 1, low)
            visit(int(tree.children_right[node]), node, depth + 1, high)

    visit(0, -1, 0, "everyone")
    return pd.DataFrame(out)


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
