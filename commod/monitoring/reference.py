"""What a model was like on the people it was tested on: counts and distributions in its `model.json`, and drift."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from msgspec import UNSET, Meta, Struct, UnsetType
from scipy.special import expit
from scipy.stats import chi2

from commod.datasets import Split, Task
from commod.datasets.grouping import UNKNOWN, bands_of
from commod.datasets.own_groups import as_numbers, classes_of
from commod.decisions.record import FORMAT as DECISION
from commod.explain.checks import certainty, counts_of_changes
from commod.metrics.counts import Counts, counts_of_codes
from commod.portable import Portable, level_in
from commod.uploads.json_file import JsonError, check_schema, read_json
from commod.uploads.limits import MAX_BYTES, MAX_COLUMNS, MAX_TEXT, count_of, short

# Bounds of the population stability index that are in use (Siddiqi 2006, Credit Risk Scorecards): below the first a
# column is called stable, beyond the second shifted.
LOOK, DRIFTED = 0.1, 0.25
# Classes into which a number is cut, of equal size on the people tested on.
N_CLASSES = 10
# Added to every class, so that one without people has a logarithm.
PRIOR = 0.5
# The level that stands for all that are not known.
UNSEEN = ""
# So many values that were never seen are named.
NAMED = 3
COLUMNS = "column shown kind index by_chance drift unseen sentence".split()

Distribution = Mapping[str, Any]


def scores_as_values(scores: Any) -> pd.Series:
    """Scores so far rounded that the same person is in the same class, whichever way they were computed."""
    return pd.Series(np.round(np.asarray(scores, dtype=float), 9))


def distribution_of(values: pd.Series) -> dict[str, Any]:
    """How many people have each level, or each tenth of a number, as JSON has it; gaps are counted last."""
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == object:
        levels = [*map(str, sorted(set(values.dropna().map(str)))), UNSEEN]
        return {"levels": levels, "counts": _count(values, {"levels": levels})}
    numbers = values.to_numpy(dtype=float)
    inner = np.linspace(0, 1, N_CLASSES + 1)[1:-1]
    edges = np.unique(np.quantile(numbers[np.isfinite(numbers)], inner, method="higher")).tolist()
    return {"edges": edges, "counts": _count(values, {"edges": edges})}


def _count(values: pd.Series, old: Distribution) -> list[int]:
    """People of each class; of levels, all that are not known are of the last, of numbers the gaps."""
    if "levels" in old:
        levels = old["levels"]
        codes = pd.Index(levels, dtype=object).get_indexer(_texts(values))
        return np.bincount(np.where(codes < 0, len(levels) - 1, codes), minlength=len(levels)).tolist()
    numbers, edges = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float), old["edges"]
    places = np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, side="left"))
    return np.bincount(places, minlength=len(edges) + 2).tolist()


def _texts(values: pd.Series) -> pd.Series:
    return values.astype(object).map(lambda cell: None if cell is None or cell != cell else str(cell)).astype(object)


def stability_index(old: Any, new: Any) -> tuple[float, float]:
    """Population stability index Σ (new − old) · ln(new / old) over the shares of classes, and what chance reaches.

    Without drift it is about (1/n + 1/m) times χ² with one degree of freedom less than there are classes (Yurdakul
    2018): the second number is the 95 % quantile of that. A batch of few people drifts by chance.
    """
    a, b = (np.asarray(each, dtype=float) for each in (old, new))
    used = (a > 0) | (b > 0)
    n, m = a.sum(), b.sum()
    a, b = ((each[used] + PRIOR) / (each[used] + PRIOR).sum() for each in (a, b))
    chance = (1 / n + 1 / m) * chi2.ppf(0.95, max(1, int(used.sum()) - 1))
    return float(((b - a) * np.log(b / a)).sum()), float(chance)


def compare_columns(
    old: Mapping[str, Distribution], new: Mapping[str, pd.Series], called: Mapping[str, str], kind: str = "column"
) -> pd.DataFrame:
    """Drift of each column that is in both, `called` by another name where it has one, as `Watched` has it."""
    rows = []
    for name, before in old.items():
        if name not in new:
            continue
        counts = _count(new[name], before)
        index, chance = stability_index(before["counts"], counts)
        drift = "stable" if index <= max(LOOK, chance) else "look" if index <= DRIFTED else "shifted"
        text = _distributed(index, chance, drift)
        if drift != "stable":
            then, now = (np.asarray(each, dtype=float) / sum(each) for each in (before["counts"], counts))
            moved = int(np.argmax(np.abs(now - then)))
            text += f" {now[moved]:.0%} are {_classes(before)[moved]}; {then[moved]:.0%} were before."
        unseen = _never_seen(new[name], before)
        if len(unseen):
            some = ", ".join(f"“{short(level)}”" for level in unseen.index[:NAMED])
            more = " and others" if len(unseen) > NAMED else ""
            people = count_of(int(unseen.sum()), "person has a value", "people have values")
            text += f" {people} that nobody had before: {some}{more}."
        shown = called.get(name, name)
        who = f"“{short(shown)}”" if kind == "column" else name
        rows.append((name, shown, kind, index, chance, drift, int(unseen.sum()), f"{who} {text}"))
    return pd.DataFrame(rows, columns=COLUMNS)


def _classes(old: Distribution) -> list[str]:
    if "levels" in old:
        return [*(f"“{short(level)}”" for level in old["levels"][:-1]), "something else, or nothing"]
    edges = [f"{edge:.4g}".replace("-", "−") for edge in old["edges"]]
    if not edges:
        return ["some number", "without a value"]
    between = [f"between {low} and {high}" for low, high in pairwise(edges)]
    return [f"at most {edges[0]}", *between, f"above {edges[-1]}", "without a value"]


def _never_seen(values: pd.Series, old: Distribution) -> pd.Series:
    """How many have each level that nobody had among the people tested on."""
    if "levels" not in old:
        return pd.Series(dtype=int)
    texts = _texts(values).dropna()
    return texts[~texts.isin(old["levels"])].value_counts()


def _distributed(index: float, chance: float, drift: str) -> str:
    if drift == "stable":
        few = f", as a batch of so few people reaches {chance:.2f} by chance" if chance > LOOK else ""
        return f"is distributed as before (stability index {index:.3f}{few})."
    much = "somewhat differently than" if drift == "look" else "quite differently than"
    return f"is distributed {much} before (stability index {index:.2f})."


Name = Annotated[str, Meta(max_length=MAX_TEXT)]
# Of people, or of weights, of which only the ratio matters: how many there may be.
MOST = 1e9
Count = Annotated[float, Meta(ge=0, le=MOST)]
Pair = tuple[Count, Count]
Cube = tuple[tuple[Pair, Pair], tuple[Pair, Pair]]  # label, f, g


def _rising(numbers: list[float]) -> bool:
    return all(low < high for low, high in pairwise(numbers))


class _Attribute(Struct):
    column: Name
    cuts: list[float]
    merge: dict[Name, Name]
    levels: list[Name]

    def __post_init__(self) -> None:
        if not _rising(self.cuts):
            raise ValueError("cuts must rise")


class _Label(Struct):
    column: Name
    positive: Name | Annotated[list[Name], Meta(min_length=1)]
    negative: Name | None
    cut: float | None


class _Changes(Struct):
    # How many, of how many changed decisions.
    sure: Pair
    right: Pair

    def __post_init__(self) -> None:
        if self.sure[0] > self.sure[1] or self.right[0] > self.right[1]:
            raise ValueError("a part must not be larger than the whole")


class _Distribution(Struct):
    counts: Annotated[list[Count], Meta(max_length=2_000)]
    levels: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    edges: list[float] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if isinstance(self.levels, list):
            sound, size = len(set(self.levels)) == len(self.levels), len(self.levels)
        else:
            edges = [] if isinstance(self.edges, UnsetType) else self.edges
            sound, size = self.edges is not UNSET and _rising(edges), len(edges) + 2
        if not sound or len(self.counts) != size or not sum(self.counts) > 0:
            raise ValueError("counts must be one for each level, or two more than edges, which rise")


class _Scores(Struct):
    f: _Distribution
    g: _Distribution


class _Reference(Struct):
    # Older files also hold calibration and a tree of the changes; both are ignored.
    groups: Annotated[list[Name], Meta(min_length=2, max_length=100)]
    attributes: Annotated[list[_Attribute], Meta(min_length=1)]
    combinations: list[list[Annotated[int, Meta(ge=0)]]]
    label: _Label
    favourable: Literal[0, 1]
    outcomes: tuple[Name, Name]
    counts: list[Cube]
    changes: _Changes
    columns: Annotated[dict[Name, _Distribution], Meta(max_length=MAX_COLUMNS)]
    scores: _Scores
    called: dict[Name, Name] = {}  # what the app calls its columns, where that is another name
    weight: Name | UnsetType = UNSET
    squares: list[Cube] | UnsetType = UNSET
    rows: list[Cube] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if UNSET in (self.scores.f.edges, self.scores.g.edges):
            raise ValueError("scores need edges")
        sizes = [len(attribute.levels) for attribute in self.attributes]
        sound = len(self.combinations) == len(self.groups) and all(
            len(codes) == len(sizes) and all(code < size for code, size in zip(codes, sizes, strict=True))
            for codes in self.combinations
        )
        if not sound:
            raise ValueError("combinations must name one level of each attribute for each group")
        for cubes in (self.counts, *((self.squares, self.rows) if self.weight is not UNSET else ())):
            if isinstance(cubes, UnsetType) or len(cubes) != len(self.groups):
                raise ValueError("counts must be there for each group, and with weights squares and rows, too")
            if not sum(number for cube in cubes for table in cube for pair in table for number in pair) > 0:
                raise ValueError("counts must not all be 0")


class ModelFile(Struct):
    """What of a `model.json` is checked here; `commod.portable.Portable` checks the rest."""

    reference: _Reference | UnsetType = UNSET


Reference = Mapping[str, Any]


class Cells(NamedTuple):
    """Counts (groups, label, f, g) of people, and what is needed beside them where rows have weights."""

    counts: Counts  # sums of weights
    squares: Counts  # of squared weights
    rows: Counts  # people


def cells_of(codes: Any, n_groups: int, y: Any, before: Any, after: Any, weight: Any = None) -> Cells:
    """Count people whose groups are codes; each counts as one if there are no weights."""
    rows = counts_of_codes(codes, n_groups, y, before, after)
    if weight is None:
        return Cells(rows, rows, rows)
    weight = np.asarray(weight, dtype=float)
    counts, squares = (counts_of_codes(codes, n_groups, y, before, after, each) for each in (weight, weight**2))
    return Cells(counts, squares, rows)


def reference_of(task: Task, rows: Split, margin_f: Any, margin_g: Any, *, line: float = 0.0) -> dict[str, Any]:
    """Counts and distributions of the people that a model was tested on, as JSON, for `to_portable`.

    `margin_f, margin_g`: how far the logits of f and g on `rows` are above `line`, the logit of the cut-off.
    """
    f, g = np.asarray(margin_f, dtype=float), np.asarray(margin_g, dtype=float)
    before, after, y = (f > 0).astype(int), (g > 0).astype(int), rows.y.to_numpy()
    cells = cells_of(rows.sensitive, len(task.groups), y, before, after, rows.weight)
    changes = counts_of_changes(certainty(f, line), before, after, y)
    scores = {"f": expit(f + line), "g": expit(g + line)}
    found = {
        "groups": list(task.groups),
        "attributes": _attributes(task),
        "combinations": [list(codes) for codes in task.grouping.combinations],
        "label": _label(task),
        "favourable": task.spec.favourable,
        "outcomes": list(task.spec.outcomes),
        "counts": cells.counts.tolist(),
        "changes": {name: list(pair) for name, pair in changes.items()},
        "columns": {name: distribution_of(values) for name, values in task.features(rows.X).items()},
        "scores": {name: distribution_of(scores_as_values(each)) for name, each in scores.items()},
        "called": {name: shown for name in task.X if (shown := task.label(name)) != name},
    }
    if rows.weight is not None:
        found |= {"weight": task.roles["weight"], "squares": cells.squares.tolist(), "rows": cells.rows.tolist()}
    return found


def _attributes(task: Task) -> list[dict[str, Any]]:
    attributes = []
    for attribute in task.grouping.attributes:
        if task.roles:  # of an uploaded table: its cells are cut and put together first
            cuts = task.roles.get("cuts", {}).get(attribute.column, ())
            merge, levels = task.roles.get("merge", {}).get(attribute.column, {}), list(attribute.levels)
        else:
            cuts, levels = attribute.cuts, list(attribute.groups)
            names = zip(bands_of(cuts), levels, strict=True) if cuts else attribute.levels.items()
            merge = {str(level_in(cell)): name for cell, name in names}
        attributes.append({"column": attribute.column, "cuts": list(cuts), "merge": dict(merge), "levels": levels})
    return attributes


def _label(task: Task) -> dict[str, Any]:
    """How a label is read; of an outcome of three values or more, all but one are the negative one (None)."""
    column, cut = task.spec.target, task.roles.get("target_cut")
    positive = task.roles.get("favourable", "1")  # or a list of them
    other = task.spec.outcomes[0].removeprefix(f"{column}: ") if task.roles else "0"
    negative = None if other == f"not {' or '.join(_several(positive))}" else other
    return {"column": column, "cut": cut, "positive": positive, "negative": negative}


def _several(positive: str | list[str]) -> list[str]:
    return [positive] if isinstance(positive, str) else positive


# ---- rows as a file has them ----


def batch_of(task: Task, rows: Split) -> pd.DataFrame:
    """Rows of a task as a file would have them, with groups, label and weight: a batch for `commod.monitoring.watch`.

    A band of a number that parts people into groups, or cuts the label, is stood for by one number of it.
    """
    X = rows.X.copy()
    for rule in task.contract:
        if rule.name in X and rule.kind == "number" and (rule.divide != 1 or rule.turned):
            X[rule.name] = rule.divide * ((1.0 - X[rule.name]) if rule.turned else X[rule.name])
    combinations = np.array(task.grouping.combinations)[rows.sensitive.to_numpy()]  # (rows, attributes)
    for place, attribute in enumerate(_attributes(task)):
        cells = _within(attribute["cuts"]) if attribute["cuts"] else attribute["levels"]
        X[attribute["column"]] = np.array(cells, dtype=object)[combinations[:, place]]
    label = _label(task)
    positive = _several(label["positive"])[0]
    cells = _within([label["cut"]]) if label["cut"] is not None else [label["negative"] or "0", positive]
    if label["cut"] is not None and bands_of((label["cut"],))[1] != positive:
        cells = cells[::-1]
    X[label["column"]] = np.array(cells, dtype=object)[rows.y.to_numpy()]
    return X if rows.weight is None else X.assign(**{task.roles["weight"]: rows.weight.to_numpy()})


def _within(cuts: Sequence[float]) -> list[float]:
    """A number of each band."""
    return [cuts[0] - 1, *cuts]


# ---- reading ----


def read_model(content: bytes) -> Portable:
    """A model from the bytes of a `model.json`; ValueError if it is none, or its counts are damaged."""
    found = read_json(content, "a model", MAX_BYTES)
    if found.get("format") == DECISION:
        raise JsonError(
            "This is the file of a decision, not of a model. Bring the model.json from Take home; the decision goes "
            "into “What is required” (on the command line: --requirements)."
        )
    check_schema(found, ModelFile)
    try:
        with np.errstate(all="ignore"):
            model = Portable(found)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        text = str(error) if isinstance(error, ValueError) else "parts of it are missing or of another kind"
        raise JsonError(f"The file holds no model that can be used: {short(text.rstrip('.'), 300)}.") from None
    if len(model.columns) > MAX_COLUMNS or not all(isinstance(n, str) and len(n) <= MAX_TEXT for n in model.columns):
        needs = f"{len(model.columns):,} columns"
        raise JsonError(f"The model needs {needs}; a table has at most {MAX_COLUMNS}, with names: choose another.")
    return model


def reference_in(model: Portable) -> Reference:
    """What a model was like on the people it was tested on; ValueError if its file does not say so."""
    found: Reference | None = model.content.get("reference")
    if found is None:
        raise ValueError("This model says nothing of the people it was tested on: download it again from Take home.")
    return found


def cells_in(reference: Reference) -> Cells:
    """The people tested on."""
    counts = np.array(reference["counts"], dtype=float)
    if "weight" not in reference:
        return Cells(counts, counts, counts)
    return Cells(counts, *(np.array(reference[name], dtype=float) for name in ("squares", "rows")))


def groups_in(reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
    """The group of each row of a batch, -1 where it is not known; None where a column is missing that says it."""
    parts = []
    for attribute in reference["attributes"]:
        column = attribute["column"]
        if column not in batch:
            return None
        classes = classes_of(batch[column], tuple(attribute["cuts"]) or None)
        levels = classes.map(lambda level, names=attribute["merge"]: names.get(level, level))
        parts.append(pd.Index(attribute["levels"], dtype=object).get_indexer(levels.astype(object)))
    code = np.full(len(batch), UNKNOWN)
    for group, combination in enumerate(reference["combinations"]):
        code[np.all([part == own for part, own in zip(parts, combination, strict=True)], axis=0)] = group
    return code


def labels_in(reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
    """The label of each row of a batch, -1 where it is not known; None where the batch has no such column."""
    label = reference["label"]
    if label["column"] not in batch:
        return None
    classes = classes_of(batch[label["column"]], label["cut"])
    all_others = label["negative"] is None or label["cut"] is not None
    is_negative = classes.notna() if all_others else classes == label["negative"]
    return np.where(classes.isin(_several(label["positive"])), 1, np.where(is_negative, 0, -1))


def weights_in(reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
    """The weight of each row of a batch, NaN where it has none above 0; None where rows are not weighted."""
    if "weight" not in reference or reference["weight"] not in batch:
        return None
    weight = as_numbers(batch[reference["weight"]])[0].to_numpy(dtype=float)
    return np.where((weight > 0) & (weight <= MOST), weight, np.nan)
