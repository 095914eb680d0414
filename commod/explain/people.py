"""Who changed: the people one by one, the segments they come from, and what became of each group."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier

from commod.datasets.encoding import TabularEncoder
from commod.datasets.task import Feature, Split, Task
from commod.explain.checks import certainty
from commod.metrics.counts import as_binary, tally, wilson_interval
from commod.models.estimator import Commod

FIFTHS = "fifths of the population"
# A number in these units says nothing on its own: it is shown by its quarters.
STANDARDISED = "standardised points"
QUARTERS = "lowest quarter", "second quarter", "third quarter", "highest quarter"
DEPTHS = range(1, 7)
# A tree of six questions needs no more rows than this, and takes seconds with more.
MAX_ROWS = 10_000


@dataclass(frozen=True)
class ChangeTree:
    """A fitted tree, read out."""

    # One row per node, in reading order: ``node, parent, depth, rule`` (how one gets here from the parent), ``leaf,
    # count, changed, share`` (of the evaluated rows that reach the node), ``predicts`` (whether the leaf says
    # "changed") and the question: ``column``, and either ``level`` (those who have it go right) or ``cut`` (those with
    # more go right); all None in a leaf.
    nodes: pd.DataFrame
    f1: float  # of "changed" on the evaluated rows; 0 if nobody is called so
    f1_by_depth: pd.DataFrame  # ``depth, f1, leaves`` of each depth tried
    ends: np.ndarray  # the node in which each evaluated row ends


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
    """Fit trees of these depths to 1[Ŷ ≠ Ŷ^f] on some rows, and read out the one of `depth` on others.

    The trees see features in original units. They are fitted where g was (`X_fit`) and judged where it was not (`X`):
    memorised changes earn nothing. ``class_weight="balanced"`` gives changed people as much weight as all others
    together: few change, so a tree may do best by answering "unchanged" for everybody.
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
        nodes.loc[children, "rule"] = _rules(task, encoder, feature, threshold, fitting[:, feature])
        nodes.loc[children, "parent"], nodes.loc[children, "depth"] = node, nodes.loc[node, "depth"] + 1
    return nodes.assign(**asked)


def _rules(task: Task, encoder: TabularEncoder, feature: int, threshold: float, values: np.ndarray) -> tuple[str, str]:
    column, level = encoder.origin_[feature]
    known = task.feature(column)
    label, unit = known.label, known.after_number
    if level is not None:
        levels = encoder.levels_[column]
        if len(levels) == 2:
            return f"{label} is {levels[0]}", f"{label} is {levels[1]}"
        return f"{label} is not {level}", f"{label} is {level}"
    if known.unit == STANDARDISED:
        below = float((values <= threshold).mean())
        return f"{label} in the lowest {below:.0%}", f"{label} in the highest {1 - below:.0%}"
    whole = (values == np.round(values)).all()
    if whole and known.unit == FIFTHS:
        return known.fifths(high=np.floor(threshold)), known.fifths(low=np.floor(threshold) + 1)
    if whole:
        return f"{label} ≤ {int(np.floor(threshold))}{unit}", f"{label} ≥ {int(np.floor(threshold)) + 1}{unit}"
    cut = f"{threshold:,.0f}" if abs(threshold) >= 10_000 else f"{threshold:.4g}"
    return f"{label} ≤ {cut}{unit}", f"{label} > {cut}{unit}"


__all__ = [
    "FEW",
    "MAX_LEVELS",
    "ChangeSegments",
    "explain_outcomes",
    "explain_people",
    "explain_segments",
    "leaf_words",
    "open_gaps",
    "rank_segments",
]

# About fewer people than this nothing is said: if 3 of 29 changed, the 95 % interval goes from 4 % to 26 %.
FEW = 30
# This many of a category's most frequent levels become segments.
MAX_LEVELS = 12
SHARES = ("changed", "better", "worse")


def explain_people(g: Commod, task: Task, rows: Split, *, leaf: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Everyone whose decision changed, in original units, the smallest r (or the largest balance) first.

    Parameters
    ----------
    leaf : array of int, optional
        Node of the tree in which each row ends (`ChangeTree.ends`).

    Returns
    -------
    DataFrame
        One row per changed person, indexed as `rows`: ``group, better`` (whether g's decision is the favourable one),
        ``decision, label`` (of g and in the data, in words), ``right`` (whether the two agree), ``f, r, g`` (scores and
        r; with a shift also ``s``; where g `decides` by its balance, ``balance`` in place of both), ``sure`` (see
        `certainty`), ``concept:…`` (what each concept adds to r or s), ``leaf``, ``feature:…``.
    """
    spec = task.spec
    encoded, logit = g.encoder_.transform(task.features(rows.X)), g.margin_of_f(rows.X)
    ratio, shift = g.rescaler_.ratio_and_shift(encoded, logit)
    margin = ratio * logit + shift  # of g
    after = (margin > 0).astype(int)
    at = np.flatnonzero((logit > 0) != (margin > 0))
    balance = g.rescaler_.balance(encoded, logit) if g.decides else None
    at = at[np.argsort(ratio[at] if balance is None else -np.abs(balance[at]), kind="stable")]
    sums = {"r": ratio[at], **({"s": shift[at]} if g.has_shift else {})}
    words = np.asarray(spec.outcomes, dtype=object)
    columns: dict[str, Any] = {
        "group": np.asarray(spec.groups, dtype=object)[rows.sensitive.to_numpy()[at]],
        "better": after[at] == spec.favourable,
        "decision": words[after[at]],
        "label": words[rows.y.to_numpy()[at]],
        "right": after[at] == rows.y.to_numpy()[at],
        "f": expit(logit[at] + g.line_),
        **(sums if balance is None else {"balance": balance[at]}),
        "g": expit(margin[at] + g.line_),
        "sure": certainty(logit[at], g.line_),
    }
    concepts, weights = g.concept_directions(), np.array([*g.concept_weights_, *g.shift_weights_])
    parts = g.activations_of(encoded[at]).to_numpy() * weights  # (changed, concepts)
    for j, concept in enumerate(concepts.columns):
        if concepts[concept].any():
            columns[f"concept:{concept}"] = parts[:, j]
    if leaf is not None:
        columns["leaf"] = leaf[at]
    shown = rows.X.iloc[at]
    for feature in spec.features:
        columns[f"feature:{feature.name}"] = shown[feature.name].to_numpy()
    return pd.DataFrame(columns, index=shown.index)


def leaf_words(tree: ChangeTree) -> dict[int, str]:
    """The way to each leaf: its rules in the order they are asked."""
    rows = {int(row.node): row for row in tree.nodes.itertuples()}
    words = {}
    for node, row in rows.items():
        if not row.leaf:
            continue
        rules = []
        while row.parent >= 0:
            rules.append(str(row.rule))
            row = rows[int(row.parent)]
        words[node] = ", ".join(reversed(rules)) or str(row.rule)
    return words


def explain_outcomes(task: Task, y: Any, sensitive: Any, before: Any, after: Any) -> pd.DataFrame:
    """How many of each group and label were decided 1 before and are now: true and false positives, in people.

    Returns
    -------
    DataFrame
        One row per group and label, label 1 (true positives) first: ``group`` (its name), ``label, count`` (people),
        ``before, after`` (of them decided 1), ``gained, lost`` (decided 1 now only, before only), and the rates
        ``rate_before, rate_after`` (TPR for label 1, FPR for label 0) with ``low, high``, Wilson's 95 % interval of
        the latter. Rates of empty groups are NaN; ``enough`` says whether there are `FEW` people or more.
    """
    found = tally(y, {"before": before, "after": after}, sensitive)
    rows = []
    for code, cells in zip(found.groups, found.counts.astype(int), strict=True):
        for label in (1, 0):
            cell = cells[label]  # (before, after)
            rows.append(
                {
                    "group": task.groups[int(code)],
                    "label": label,
                    "count": int(cell.sum()),
                    "before": int(cell[1].sum()),
                    "after": int(cell[:, 1].sum()),
                    "gained": int(cell[0, 1]),
                    "lost": int(cell[1, 0]),
                }
            )
    frame = pd.DataFrame(rows)
    sizes = frame["count"].where(frame["count"] > 0)
    frame["rate_before"], frame["rate_after"] = frame["before"] / sizes, frame["after"] / sizes
    frame["low"], frame["high"] = wilson_interval(frame["after"], frame["count"])
    return frame.assign(enough=frame["count"] >= FEW)


@dataclass(frozen=True)
class ChangeSegments:
    """All segments that were examined."""

    # One row per segment: ``first, second`` (its attributes in words; the second may be empty), ``count, changed,
    # better, worse`` (people) and ``enough`` (`FEW` or more). Small intersections are left out.
    table: pd.DataFrame
    total: dict[str, int]  # the same counts of everyone
    ranked: int  # segments with enough people
    cut: dict[str, int]  # how many levels of large categories were left out, by label


def explain_segments(task: Task, X: pd.DataFrame, sensitive: Any, before: Any, after: Any) -> ChangeSegments:
    """Count changes in every group, level and quarter, and in all their intersections of two.

    A number is cut at its quartiles on these rows; where quartiles coincide there are fewer parts, and values that are
    equal are never separated. A category gives its `MAX_LEVELS` most frequent levels. A part with everybody is not a
    segment, and an intersection with the same people as one of its two parts is not counted again.
    """
    f, g = as_binary(before, "before"), as_binary(after, "after")
    better, changed = (f != g) & (g == task.spec.favourable), f != g
    attributes, cut = _attributes(task, X, sensitive)
    # A column for each level, 1 where a row has it: products of these count people of two levels at once.
    labels = np.concatenate([[], *(names for _, names in attributes)]).astype(object)
    attribute = np.repeat(np.arange(len(attributes)), [len(names) for _, names in attributes])
    member = np.hstack(
        [np.zeros((len(f), 0)), *(codes[:, None] == np.arange(len(names)) for codes, names in attributes)]
    )
    count, moved, gained = (member[here].T @ member[here] for here in (np.ones(len(f), dtype=bool), changed, better))
    sizes = np.diag(count)
    parts = (count > 0) & (count < sizes[:, None]) & (count < sizes) & (attribute[:, None] < attribute)
    first, second = np.nonzero(parts & (count >= FEW))
    order = np.lexsort((second, first, attribute[second], attribute[first]))
    first, second = first[order], second[order]
    alone = np.arange(len(labels))
    at = np.r_[alone, first], np.r_[alone, second]
    counts = {"count": count[at], "changed": moved[at], "better": gained[at], "worse": (moved - gained)[at]}
    names = {"first": labels[at[0]], "second": np.r_[np.full(len(alone), "", dtype=object), labels[second]]}
    table = pd.DataFrame(names | {name: values.astype(np.int64) for name, values in counts.items()})
    table["enough"] = table["count"] >= FEW
    total = {"count": len(f), "changed": int(changed.sum()), "better": int(better.sum())}
    total["worse"] = total["changed"] - total["better"]
    return ChangeSegments(table, total, int(table["enough"].sum()), cut)


def rank_segments(table: pd.DataFrame, of: str = "changed") -> pd.DataFrame:
    """Segments with the share that `of` names (`SHARES`), largest share first, then largest segment.

    Adds ``share, low, high`` (Wilson's 95 % interval); they are NaN for segments that are too small, which come last.
    """
    if of not in SHARES:
        raise ValueError(f"of must be one of {', '.join(SHARES)}, got {of!r}.")
    enough = table["enough"].to_numpy(dtype=bool)
    low, high = wilson_interval(table[of], table["count"])
    share = table[of] / table["count"]
    ranked = table.assign(share=share.where(enough), low=np.where(enough, low, np.nan))
    ranked["high"] = np.where(enough, high, np.nan)
    return ranked.sort_values(["share", "count"], ascending=False, kind="stable", ignore_index=True)


def open_gaps(task: Task, X: pd.DataFrame, sensitive: Any, before: Any, after: Any) -> pd.DataFrame:
    """In each segment of one attribute, the gap between the two groups that f treats most unequally.

    Returns
    -------
    DataFrame
        The widest gap of g first: ``segment``, ``behind, ahead`` (names of the groups, the same everywhere), ``count``
        (people of the group behind), ``changed`` (of these), and how much less often they get the favourable decision
        than the others there: ``before, after``, with ``low, high``, Newcombe's 95 % interval of the latter. Segments
        with fewer than `FEW` people of either group are left out; it is empty where no two groups can be compared.
    """
    codes, good = np.asarray(sensitive), task.spec.favourable
    f, g = as_binary(before, "before") == good, as_binary(after, "after") == good
    groups = [code for code in range(len(task.groups)) if (codes == code).sum() >= FEW]
    columns = "segment behind ahead count changed before after low high".split()
    if len(groups) < 2:
        return pd.DataFrame(columns=columns)
    rate = {code: f[codes == code].mean() for code in groups}
    pair = [min(groups, key=rate.__getitem__), max(groups[::-1], key=rate.__getitem__)]  # two, also if all are equal
    rows = []
    for places, labels in _attributes(task, X, sensitive)[0][1:]:  # the first is the group itself
        for place, label in enumerate(labels):
            parts = [(places == place) & (codes == code) for code in pair]
            sizes = [int(part.sum()) for part in parts]
            if min(sizes) < FEW:
                continue
            (f_behind, f_ahead), (g_behind, g_ahead) = ([model[part].mean() for part in parts] for model in (f, g))
            low, high = wilson_interval([g[part].sum() for part in parts], sizes)
            gap = g_ahead - g_behind
            ends = (
                gap - np.hypot(g_ahead - low[1], high[0] - g_behind),
                gap + np.hypot(high[1] - g_ahead, g_behind - low[0]),
            )
            known = [label, *(task.groups[code] for code in pair), sizes[0], int((f != g)[parts[0]].sum())]
            rows.append([*known, f_ahead - f_behind, gap, *ends])
    found = pd.DataFrame(rows, columns=columns)
    return found.sort_values(["after", "count"], ascending=False, kind="stable", ignore_index=True)


def _attributes(
    task: Task, X: pd.DataFrame, sensitive: Any
) -> tuple[list[tuple[NDArray[np.int64], NDArray[Any]]], dict[str, int]]:
    """Code of each row (the number after the last: no segment) and labels, by attribute; and what was cut."""
    found = [_levels(pd.Series(np.asarray(task.groups, dtype=object)[np.asarray(sensitive)]), "")]
    cut = {}
    for feature in task.spec.features:
        values = X[feature.name]
        if feature.kind == "number" and pd.api.types.is_numeric_dtype(values.dtype):
            found.append(_quarters(values.to_numpy(dtype=float), feature))
            continue
        codes, labels = _levels(values, f"{feature.label}: ")
        left = int(values.nunique()) - len(labels)
        if left:
            cut[feature.label] = left
        found.append((codes, labels))
    return [(codes, labels) for codes, labels in found if len(labels) > 1], cut


def _levels(values: pd.Series, prefix: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
    codes, levels = pd.factorize(values)
    codes = codes.astype(np.int64)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    names = np.asarray([str(level) for level in levels], dtype=object)
    # Equally frequent levels by name, so that the order of the rows does not matter.
    order = np.lexsort((names, -counts))[:MAX_LEVELS]
    places = np.full(len(levels) + 1, len(order), dtype=np.int64)  # the last one is for −1, a missing value
    places[order] = np.arange(len(order))
    return places[codes], np.asarray([f"{prefix}{name}" for name in names[order]], dtype=object)


def _quarters(values: NDArray[np.float64], feature: Feature) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Quarters of a number, or fewer parts where many values are equal; each is named by what is in it."""
    cuts = np.unique(np.quantile(values, [0.25, 0.5, 0.75])) if len(values) else np.empty(0)
    codes = np.searchsorted(cuts, values, side="left")  # a value on a cut belongs below it
    if len(cuts) and not codes.any():  # three quarters have the largest value: separate them from the rest
        codes = (values == cuts[0]).astype(int)
    _, codes = np.unique(codes, return_inverse=True)  # parts without anybody are none
    n = int(codes.max()) + 1 if len(codes) else 0
    ends = [(values[codes == i].min(), values[codes == i].max()) for i in range(n)]
    # Ends that look alike when rounded get more digits.
    exact = {end for pair in ends for end in pair}
    digits = next((d for d in (3, 4, 6, 9) if len({_number(end, d) for end in exact}) == len(exact)), 17)
    names = [f"{feature.label} {_span(low, high, digits)}{feature.after_number}" for low, high in ends]
    if feature.unit == FIFTHS:
        names = [feature.fifths(low, high) for low, high in ends]
    elif feature.unit == STANDARDISED and n == len(QUARTERS):
        names = [f"{feature.label}: {quarter}" for quarter in QUARTERS]
    return codes.astype(np.int64), np.asarray(names, dtype=object)


def _span(low: float, high: float, digits: int) -> str:
    return _number(low, digits) if low == high else f"{_number(low, digits)} to {_number(high, digits)}"


def _number(value: float, digits: int) -> str:
    if abs(value) < 1e12 and (value == round(value) or abs(value) >= 10.0**digits):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", "−")
