"""What a model was like on the people it was tested on, as counts that go along in its `model.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from commod.datasets import Split, Task
from commod.datasets.choice_options import options_in
from commod.datasets.grouping import UNKNOWN, bands_of
from commod.datasets.own_groups import classes_of
from commod.decisions.facts import counts_of_changes
from commod.metrics.counts import Counts, counts_of_codes
from commod.portable import Portable, level_in
from commod.uploads.json_file import JsonError, read_json

__all__ = ["Reference", "groups_in", "labels_in", "read_model", "reference_of"]

# What a file has in place of this part, where it has it.
REFERENCE = "reference"
MAX_BYTES = 50 * 1024 * 1024
# Classes into which a number is cut, of equal size on the people tested on.
N_CLASSES = 10
# The level that stands for all that are not known.
UNSEEN = ""

Reference = Mapping[str, Any]


def reference_of(task: Task, rows: Split, margin_f: Any, margin_g: Any, *, line: float = 0.0) -> dict[str, Any]:
    """Counts and distributions of the people that a model was tested on; people are counted as rows.

    Parameters
    ----------
    task : Task
    rows : Split
        Usually the test part of a scene.
    margin_f, margin_g : arrays
        How far the logits of f and of g lie above the line.
    line : float
        Its logit.

    Returns
    -------
    dict
        As JSON has it; `commod.models.export.to_portable` takes it as `reference`.
    """
    f, g = np.asarray(margin_f, dtype=float), np.asarray(margin_g, dtype=float)
    before, after, y = (f > 0).astype(int), (g > 0).astype(int), rows.y.to_numpy()
    options = options_in(task.words[1:])  # the first is the file
    attributes = []
    for attribute in task.grouping.attributes:
        if task.words:  # of a table that somebody brought: its cells are cut and put together first
            cuts = options.get("cuts", {}).get(attribute.column, ())
            merge, levels = options.get("merge", {}).get(attribute.column, {}), list(attribute.levels)
        else:
            cuts, levels = attribute.cuts, list(attribute.groups)
            names = zip(bands_of(cuts), levels, strict=True) if cuts else attribute.levels.items()
            merge = {str(level_in(cell)): name for cell, name in names}
        attributes.append({"column": attribute.column, "cuts": list(cuts), "merge": dict(merge), "levels": levels})
    return {
        "groups": list(task.groups),
        "attributes": attributes,
        "combinations": [list(codes) for codes in task.grouping.combinations],
        "label": {
            "column": task.spec.target,
            "cut": options.get("target_cut"),
            "positive": str(options.get("favourable", "1")),
        },
        "favourable": task.spec.favourable,
        "outcomes": list(task.spec.outcomes),
        "counts": counts_of_codes(rows.sensitive, len(task.groups), y, before, after).tolist(),
        "changes": {name: list(found) for name, found in counts_of_changes(f, before, after, y).items()},
        "gaps": {name: gap_of(y, expit(margin + line)) for name, margin in (("f", f), ("g", g))},
        "columns": {name: _distribution(values) for name, values in task.features(rows.X).items()},
    }


def gap_of(y: Any, scores: Any) -> list[float]:
    """Mean of label − score, and its standard error."""
    gap = np.asarray(y, dtype=float) - np.asarray(scores, dtype=float)
    return [float(gap.mean()), float(gap.std() / math.sqrt(len(gap)))]


def _distribution(values: pd.Series) -> dict[str, Any]:
    if isinstance(values.dtype, pd.CategoricalDtype) or values.dtype == object:
        levels = [*map(str, sorted(set(values.dropna().map(str)))), UNSEEN]
        return {"levels": levels, "counts": count_levels(values, levels)}
    numbers = values.to_numpy(dtype=float)
    inner = np.linspace(0, 1, N_CLASSES + 1)[1:-1]
    edges = np.unique(np.quantile(numbers[np.isfinite(numbers)], inner, method="higher")).tolist()
    return {"edges": edges, "counts": count_numbers(numbers, edges)}


def count_levels(values: pd.Series, levels: list[str]) -> list[int]:
    """People of each level; all others, and gaps, are of the last."""
    texts = values.astype(object).map(lambda cell: None if cell is None or cell != cell else str(cell))
    codes = pd.Categorical(texts, categories=levels).codes
    return np.bincount(np.where(codes < 0, len(levels) - 1, codes), minlength=len(levels)).tolist()


def count_numbers(numbers: Any, edges: list[float]) -> list[int]:
    """People of each class of a number; gaps are of the last, which has nobody else."""
    numbers = np.asarray(numbers, dtype=float)
    places = np.where(np.isnan(numbers), len(edges) + 1, np.searchsorted(edges, numbers, side="left"))
    return np.bincount(places, minlength=len(edges) + 2).tolist()


# ---- reading ----


def read_model(content: bytes) -> Portable:
    """A model from the bytes of a `model.json`, whoever has sent it.

    Raises
    ------
    ValueError
        In one sentence, if it is none, or what it says of its people is damaged.
    """
    found = read_json(content, "a model", MAX_BYTES)
    try:
        model = Portable(found)
        if REFERENCE in found:
            _check(found[REFERENCE])
    except JsonError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        told = str(error) if isinstance(error, ValueError) else "parts of it are missing or of another kind"
        raise JsonError(
            f"The file holds no model that can be used: {' '.join(told.split())[:300].rstrip('.')}."
        ) from None
    return model


def counts_in(reference: Reference) -> Counts:
    """Counts (groups, label, f, g) of the people tested on."""
    return np.array(reference["counts"], dtype=float)


def _check(reference: Any) -> None:
    """Raise unless all that is used of a reference is there and of its kind."""
    n_groups = len(reference["groups"])
    counts = counts_in(reference)
    if counts.shape != (n_groups, 2, 2, 2) or not (counts >= 0).all() or not 2 <= n_groups <= 100:
        raise ValueError("its counts are damaged")
    if reference["favourable"] not in (0, 1) or not all(isinstance(name, str) for name in reference["groups"]):
        raise ValueError("its groups are damaged")
    if [type(name) for name in reference["outcomes"]] != [str, str]:
        raise ValueError("its outcomes are damaged")
    shape = tuple(len(attribute["levels"]) for attribute in reference["attributes"])
    combinations = np.array(reference["combinations"], dtype=np.int64)
    if combinations.shape != (n_groups, len(shape)) or (combinations < 0).any() or (combinations >= shape).any():
        raise ValueError("its groups are damaged")
    for attribute in reference["attributes"]:
        if np.array(attribute["cuts"], dtype=float).ndim != 1 or not isinstance(attribute["column"], str):
            raise ValueError("its groups are damaged")
        dict(attribute["merge"])
    if not isinstance(reference["label"]["column"], str) or not isinstance(reference["label"]["positive"], str):
        raise ValueError("its label is damaged")
    cut = reference["label"]["cut"]
    if cut is not None and (type(cut) not in (int, float) or not math.isfinite(cut)):
        raise ValueError("its label is damaged")
    for name in ("sure", "right"):
        part, whole = reference["changes"][name]
        if not 0 <= part <= whole:
            raise ValueError("its changes are damaged")
    for name in ("f", "g"):
        mean, error = map(float, reference["gaps"][name])
        if not -1 <= mean <= 1 or error < 0:
            raise ValueError("its calibration is damaged")
    for column in reference["columns"].values():
        parts = len(column["levels"]) if "levels" in column else len(column["edges"]) + 2
        people = np.array(column["counts"], dtype=float)
        if people.shape != (parts,) or not (people >= 0).all() or not people.sum() > 0:
            raise ValueError("its distributions are damaged")
        np.array(column.get("edges", []), dtype=float)


def groups_in(reference: Reference, batch: pd.DataFrame) -> np.ndarray:
    """The group of each row of a batch, -1 where it is not known."""
    parts = []
    for attribute in reference["attributes"]:
        column = attribute["column"]
        if column not in batch:
            raise ValueError(f"The batch has no column “{column}”, which says who belongs to which group: add it.")
        classes = classes_of(batch[column], tuple(attribute["cuts"]) or None)
        levels = classes.map(lambda level, names=attribute["merge"]: names.get(level, level))
        parts.append(pd.Categorical(levels, categories=attribute["levels"]).codes)
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
    return np.where(classes.isna(), -1, (classes == label["positive"]).astype(int))
