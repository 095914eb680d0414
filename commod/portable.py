r"""A COMMOD model from a small JSON file, run with numpy alone.

This one file needs only Python ≥ 3.10 and numpy: no scikit-learn, no pandas, nothing else from this project. Copy it to
where the model will run, and::

    from commod_portable import load  # the file as downloaded; with the project: from commod.portable import load

    g = load("model.json")
    g.predict([{"lsat": 37, "ugpa": 3.1, ...}])  # decisions; rows as dicts, or one dict of columns
    g.predict_proba(rows)[:, 1]  # probability of the positive class
    g.explain(rows[0])  # from f's score through each concept to g's

`commod.models.export.to_portable` writes it (docs/model-file.md has the format). Predictions equal the model's to 1e-9.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commod.cells import ColumnRule, finite_number, finite_numbers, is_gap

__all__ = ["FORMAT", "Portable", "load"]

# The format that a file states; older ones are read, others are refused.
FORMAT = "commod-portable/6"
FORMATS = tuple(f"commod-portable/{version}" for version in range(1, 7))
# A part that a file of an older version must have: without it, it would be read as a different model.
_PART_OF = {"commod-portable/2": "s", "commod-portable/3": "acts_on", "commod-portable/5": "flips"}
# A score that is flipped from exactly the line lands this far beyond it.
ACROSS = 1e-9
# Scores of exactly 0 or 1 have no logit: they count as this far from certain.
CERTAINTY = 1e-6
# Kinds of f that are in the file.
MODELS = ("logistic", "forest", "boosting")

# What a gap becomes if nothing fills it.
REFUSED = object()

Array = NDArray[np.float64]
# A dict of columns, or a list of dicts.
Rows = Any


def load(source: str | os.PathLike[str] | Mapping[str, Any]) -> Portable:
    """Read a model.

    Parameters
    ----------
    source : path, or the text of the file (it begins with "{"), or what `json.loads` makes of it

    Raises
    ------
    ValueError
        If it is not JSON, has an unknown version, or is damaged; the message says which.
    """
    if isinstance(source, Mapping):
        return Portable(source)
    text = str(source)
    if not text.lstrip().startswith("{"):
        text = Path(source).read_text(encoding="utf-8")
    try:
        content = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"This is no JSON file: {error}.") from error
    if not isinstance(content, dict):
        raise ValueError("This JSON file holds no model: it must be one object.")
    return Portable(content)


class Portable:
    """A fitted COMMOD model.

    Attributes
    ----------
    content : mapping
        The file, as described at the top of this module.
    classes : ndarray of 2 labels
    columns : list
        Names of the columns that a row must have. Other columns are ignored.
    needs_scores : bool
        Whether f is missing from the file, so that every call needs its probabilities as `base_scores`.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        found = content.get("format")
        if found not in FORMATS:
            raise ValueError(
                f"This file has format {found!r}, but this loader reads {FORMATS[0]!r} to {FORMAT!r}: take the loader "
                "that was exported with the file."
            )
        try:
            content[_PART_OF.get(found, "encoder")]  # or KeyError
            self._encoder = _Encoder.read(content["encoder"])
            self._include_score = bool(content["r"]["include_score"])
            width = len(self._encoder.mean) + self._include_score
            self._ratio = _Linear.read(content["r"], width)
            none = _Linear(0.0, np.zeros(width), [])
            self._shift = _Linear.read(content["s"], width) if "s" in content else none
            flips = content.get("flips", {"step": 0.0, "mirror": 0.0})
            self._step, self._mirror = finite_number(flips["step"]), finite_number(flips["mirror"])
            if "s" in content and len(self._shift.concepts) != len(self._ratio.concepts) and not self._mirror:
                raise ValueError("r and s that are read through different concepts")
            self._acts_on = content.get("acts_on", "everybody")
            if self._acts_on not in ("everybody", "negative", "positive"):
                raise ValueError(f"acts_on is {self._acts_on!r}")
            self._line = finite_number(content.get("line", 0.0))
            self._rules = {rule["name"]: ColumnRule.from_json(rule) for rule in content.get("raw", [])}
            self._f = content["f"]
            self._f_encoder = _Encoder.read(self._f["encoder"]) if "encoder" in self._f else self._encoder
            width = len(self._f_encoder.mean)
            self._f_coef = finite_numbers(self._f["coef"], width) if self._f["kind"] == "logistic" else np.zeros(0)
            self._trees = [_Tree.read(tree, width) for tree in self._f.get("trees", [])]
            # The constant of the sum, under either name.
            constant = {"logistic": "intercept", "boosting": "baseline"}.get(self._f["kind"])
            self._f_constant = 0.0 if constant is None else finite_number(self._f[constant])
            labels = list(content["classes"])
            names = [*self._encoder.names, *(self._f_encoder.names if self._f["kind"] in MODELS else [])]
            names += [self._f["column"]] if self._f["kind"] == "column" else []
            self.columns = list(dict.fromkeys(names))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"This file is damaged: {type(error).__name__} {error}.") from error
        if self._f["kind"] not in (*MODELS, "column", "given") or len(labels) != 2:
            raise ValueError(f"This file is damaged: f of kind {self._f['kind']!r}, {len(labels)} classes.")
        if self._f["kind"] == "forest" and not self._trees:
            raise ValueError("This file is damaged: a forest without trees.")
        self.content = content
        self.classes = np.array(labels)
        self.needs_scores = self._f["kind"] == "given"

    def ratio(self, rows: Rows, *, base_scores: Any = None) -> Array:
        """r(x) of each row; without a shift, a decision changes where it is negative."""
        return self._ratio_and_shift(rows, base_scores)[0]

    def shift(self, rows: Rows, *, base_scores: Any = None) -> Array:
        """s(x) of each row; a decision changes where r·logit f + s and logit f have different signs."""
        return self._ratio_and_shift(rows, base_scores)[1]

    def decision_function(self, rows: Rows, *, base_scores: Any = None) -> Array:
        """How far g's logit lies above f's cut-off t: r(x)·(logit f(x) − t) + s(x)."""
        ratio, shift, logit = self._ratio_and_shift(rows, base_scores, score_needed=True)
        return ratio * logit + shift

    def predict_proba(self, rows: Rows, *, base_scores: Any = None) -> Array:
        """Probabilities of the two classes under g, rows × 2.

        Parameters
        ----------
        rows : list of dicts, or dict of columns (a DataFrame will do)
        base_scores : array, optional
            f's probability of the positive class for each row, instead of the f in the file.
        """
        p = _sigmoid(self.decision_function(rows, base_scores=base_scores) + self._line)
        return np.column_stack([1.0 - p, p])

    def predict(self, rows: Rows, *, base_scores: Any = None) -> NDArray[Any]:
        """Decisions of g: the positive class where g(x) lies above the line, which is 0.5 if the file has none."""
        positive = self.decision_function(rows, base_scores=base_scores) > 0
        return np.asarray(self.classes[positive.astype(int)])

    def scores_of_f(self, rows: Rows) -> Array:
        """Probabilities of the positive class under f, if f is in the file (or in a column of the rows)."""
        return self._scores(_Table(rows, self._rules))

    def explain(self, row: Mapping[Any, Any], *, base_scores: Any = None) -> list[dict[str, Any]]:
        """The sum that leads from f's logit to g's for one row.

        Returns
        -------
        list of dict
            Terms "f", "constant", one per concept, and "g": ``value`` (how much of the concept the row shows),
            ``weight``, ``ratio`` (what the term adds to r), ``shift`` (to s), ``logit`` (ratio times logit f, plus
            shift), ``logit_after`` (the sum so far, from f's logit to g's). If the model does not act on the row, all
            terms between f and g add 0. If it counts decisions, the terms up to "kept" add up to the number that
            decides, and "kept" leads from there to g's logit.
        """
        if not isinstance(row, Mapping):
            raise ValueError("explain takes one row, as a dict of its columns.")
        x, logits = self._encoded_and_logit([row], None if base_scores is None else np.reshape(base_scores, -1))
        logit = float(logits[0])
        acts = float(self._acted_on(logits)[0])
        constant, step = self._ratio.intercept - 1.0, self._step if logit > 0 else 0.0
        terms: list[tuple[str, float | None, float | None, float, float]] = [
            ("f", None, None, 1.0, 0.0),
            ("constant", 1.0, constant, acts * constant, acts * (self._shift.intercept + step)),
        ]
        shifts = [float(x[0] @ loadings) * weight for _, weight, loadings in self._shift.concepts]
        for j, (name, weight, loadings) in enumerate(self._shift.concepts if self._mirror else self._ratio.concepts):
            value = float(x[0] @ loadings)
            ratio = 0.0 if self._mirror else acts * value * weight
            terms.append((name, value, weight, ratio, acts * shifts[j] if shifts else 0.0))
        if self._mirror:
            ratio, shift = (float(each[0]) for each in self._act(x, logits))
            terms.append(
                ("kept", None, None, ratio - sum(term[3] for term in terms), shift - sum(term[4] for term in terms))
            )
        terms.append(("g", None, None, sum(term[3] for term in terms), sum(term[4] for term in terms)))
        out: list[dict[str, Any]] = []
        after = 0.0
        for term, shown, weighs, ratio, shift in terms:
            adds = ratio * logit + shift
            after += adds
            row_of = {"term": term, "value": shown, "weight": weighs, "ratio": ratio, "shift": shift}
            out.append({**row_of, "logit": adds, "logit_after": after})
        out[-1]["logit_after"] = out[-1]["logit"]
        return out

    def __repr__(self) -> str:
        concepts = len(self._ratio.concepts or self._shift.concepts)
        return f"<Portable: f {self._f['kind']}, {concepts} concepts, columns {self.columns}>"

    def _acted_on(self, logit: Array) -> NDArray[np.bool_]:
        if self._acts_on == "everybody":
            return np.ones(len(logit), dtype=bool)
        return np.asarray(logit > 0 if self._acts_on == "positive" else logit <= 0)

    def _ratio_and_shift(
        self, rows: Rows, base_scores: Any, *, score_needed: bool = False
    ) -> tuple[Array, Array, Array]:
        """r, s and f's logit of each row; the last is 0 where it is not needed."""
        needed = score_needed or self._include_score or self._acts_on != "everybody" or self._mirror > 0
        x, logit = self._encoded_and_logit(rows, base_scores, score_needed=needed)
        return *self._act(x, logit), logit

    def _act(self, x: Array, logit: Array) -> tuple[Array, Array]:
        """The r and s that act on encoded rows."""
        acted = self._acted_on(logit)
        ratio, shift = self._ratio(x), self._shift(x) + np.where(logit > 0, self._step, 0.0)
        if not self._mirror:
            return np.where(acted, ratio, 1.0), np.where(acted, shift, 0.0)
        flipped = acted & ((ratio * logit + shift > 0) != (logit > 0))
        return np.where(flipped, -self._mirror, 1.0), np.where(flipped, np.where(logit > 0, -ACROSS, ACROSS), 0.0)

    def _encoded_and_logit(self, rows: Rows, base_scores: Any, *, score_needed: bool = True) -> tuple[Array, Array]:
        table = _Table(rows, self._rules)
        x = self._encoder.transform(table)
        if not score_needed:
            return x, np.zeros(table.n_rows)
        scores = self._scores(table) if base_scores is None else _column_of_scores(base_scores, "base_scores")
        if scores.shape != (table.n_rows,):
            raise ValueError(f"base_scores must hold one probability per row: {table.n_rows} rows, {scores.shape}.")
        p = np.clip(scores, CERTAINTY, 1 - CERTAINTY)
        logit = np.log(p / (1 - p)) - self._line
        return (np.column_stack([x, logit]) if self._include_score else x), logit

    def _scores(self, table: _Table) -> Array:
        kind = self._f["kind"]
        if kind == "given":
            why = self._f.get("why", "no reason given")
            raise ValueError(f"f is not in this file ({why}): pass its probabilities as base_scores=[...].")
        if kind == "column":
            name = self._f["column"]
            if table.missing([name]):
                raise ValueError(f"These rows lack column {name!r} with f's scores: add it, or pass base_scores=[...].")
            return _column_of_scores(table.numbers(name), f"Column {name!r}")
        x = self._f_encoder.transform(table)
        if kind == "logistic":
            return _sigmoid(x @ self._f_coef + self._f_constant)
        if kind == "forest":
            total = np.zeros(table.n_rows)
            x = x.astype(np.float32)  # as scikit-learn compares them
            for tree in self._trees:
                total += tree.leaves(x)
            return total / len(self._trees)
        raw = np.full(table.n_rows, self._f_constant)
        for tree in self._trees:
            raw += tree.leaves(x)
        return _sigmoid(raw)


class _Table:
    """Rows as columns, in either form they were given."""

    def __init__(self, rows: Rows, rules: Mapping[Any, ColumnRule]) -> None:
        self._rules = rules
        self._is_empty = False  # a list without rows, which lacks no column
        if hasattr(rows, "keys") and hasattr(rows, "__getitem__"):
            self._columns = {name: _listed(name, rows[name]) for name in rows.keys()}  # noqa: SIM118 — a DataFrame
            lengths = {name: len(values) for name, values in self._columns.items()}
            if len(set(lengths.values())) > 1:
                raise ValueError(f"The columns differ in length: {lengths}.")
            self.n_rows = next(iter(lengths.values()), 0)
            return
        if isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
            raise ValueError(f"Rows must be a list of dicts or a dict of columns, not {type(rows).__name__}.")
        given = list(rows)
        for i, row in enumerate(given):
            if not isinstance(row, Mapping):
                raise ValueError(f"Row {i} must be a dict of its columns, not {type(row).__name__}.")
        names = [name for name in (given or [{}])[0] if all(name in row for row in given)]
        self._columns = {name: [row[name] for row in given] for name in names}
        self.n_rows, self._is_empty = len(given), not given

    def missing(self, names: Sequence[Any]) -> list[Any]:
        return [name for name in names if not self._is_empty and self._spaced(name) not in self._columns]

    def _spaced(self, name: Any) -> Any:
        """The column of this name, or with spaces around it, or the second one of a name, as pandas calls that."""
        if name in self._columns:
            return name
        twice = re.fullmatch(r"(.*) \((\d+)\)", str(name))
        names = (name, f"{twice[1]}.{int(twice[2]) - 1}") if twice else (name,)
        return next((key for key in self._columns if isinstance(key, str) and key.strip() in names), name)

    def values(self, name: Any, fill: Any = REFUSED) -> Sequence[Any]:
        """The cells of a column as its rule reads them, gaps filled with `fill`."""
        values = self._columns.get(self._spaced(name), [])
        if name in self._rules:
            values = [self._rules[name].read(value) for value in values]
        gaps = [is_gap(value) for value in values]
        if fill is REFUSED and any(gaps):
            raise ValueError(f"Column {name!r} has no value in row {gaps.index(True)}: fill it in or drop the row.")
        return [fill if gap else value for gap, value in zip(gaps, values, strict=True)]

    def numbers(self, name: Any, fill: Any = REFUSED) -> Array:
        out = np.empty(self.n_rows)
        values = self.values(name, fill)
        for i, value in enumerate(values):
            if value is None:
                out[i] = np.nan
                continue
            try:
                out[i] = float(value)
            except (TypeError, ValueError):
                raise ValueError(f"Column {name!r} must hold numbers, but row {i} holds {value!r}.") from None
        endless = np.isinf(out) if fill is None else ~np.isfinite(out)
        if endless.any():
            raise ValueError(f"Column {name!r} must hold finite numbers; row {np.argmax(endless)} does not.")
        return out


@dataclass(frozen=True)
class _EncoderColumn:
    """A column of an encoder."""

    name: Any
    places: dict[Any, int] | None  # level to its encoded column, −1 for the first of two; None for a number
    width: int  # encoded columns
    fill: Any  # of gaps: a number or a level, None for gaps that stay, REFUSED
    other: Any  # the level that unknown ones become
    codes: bool  # one encoded column, the place of the level

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> _EncoderColumn:
        levels, codes = content["levels"], bool(content.get("codes", False))
        fill = content.get("fill", REFUSED)
        if levels is None:
            fill = fill if fill is REFUSED or fill is None else finite_number(fill)
            return cls(content["name"], None, 1, fill, None, False)
        first = 1 if len(levels) == 2 and not codes else 0
        places = {level: i - first for i, level in enumerate(levels)}
        return cls(content["name"], places, 1 if codes else len(levels) - first, fill, content.get("other"), codes)

    def encoded(self, table: _Table) -> Array:
        """The encoded columns, not yet standardised, (rows, width)."""
        if self.places is None:
            return table.numbers(self.name, self.fill)[:, None]
        block = np.full((table.n_rows, 1), np.nan) if self.codes else np.zeros((table.n_rows, self.width))
        unknown = self.places.get(self.other, -1)
        for i, value in enumerate(table.values(self.name, self.fill)):
            try:
                place = -1 if value is None else self.places.get(value, unknown)
            except TypeError:  # a list, a dict
                raise ValueError(
                    f"Column {self.name!r} must hold levels of a category, but row {i} holds {value!r}."
                ) from None
            if place >= 0:
                block[i, 0 if self.codes else place] = place if self.codes else 1.0
        return block


@dataclass(frozen=True)
class _Encoder:
    """Numbers standardised, categories as 0/1 columns, standardised too."""

    columns: list[_EncoderColumn]
    mean: Array
    scale: Array

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> _Encoder:
        columns = [_EncoderColumn.read(column) for column in content["columns"]]
        width = sum(column.width for column in columns)
        scale = finite_numbers(content["scale"], width)
        if (scale <= 0).any():
            raise ValueError("a scale that is not above 0")
        return cls(columns, finite_numbers(content["mean"], width), scale)

    @property
    def names(self) -> list[Any]:
        return [column.name for column in self.columns]

    def transform(self, table: _Table) -> Array:
        missing = table.missing(self.names)
        if missing:
            raise ValueError(f"These rows lack {_listing(missing)}: every row needs {_listing(self.names)}.")
        blocks = [np.zeros((table.n_rows, 0)), *(column.encoded(table) for column in self.columns)]
        return np.asarray((np.hstack(blocks) - self.mean) / self.scale)


@dataclass(frozen=True)
class _Linear:
    """r or s: a weighted sum of the encoded columns, also expressed through concepts."""

    intercept: float
    coef: Array
    concepts: list[tuple[str, float, Array]]  # name, weight, loadings

    @classmethod
    def read(cls, content: Mapping[str, Any], width: int) -> _Linear:
        concepts = [
            (str(concept["name"]), finite_number(concept["weight"]), finite_numbers(concept["loadings"], width))
            for concept in content["concepts"]
        ]
        return cls(finite_number(content["intercept"]), finite_numbers(content["coef"], width), concepts)

    def __call__(self, x: Array) -> Array:
        return np.asarray(x @ self.coef + self.intercept)


@dataclass(frozen=True)
class _Tree:
    feature: NDArray[np.int64]
    number: Array
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    gaps_left: NDArray[np.bool_]
    levels_left: dict[int, Array]  # of the nodes that ask for a level

    @classmethod
    def read(cls, content: Mapping[str, Any], width: int) -> _Tree:
        number = finite_numbers(content["number"], len(content["number"]))
        feature, left, right = (np.array(content[name], dtype=np.int64) for name in ("feature", "left", "right"))
        nodes = np.arange(len(number))
        inner = feature >= 0
        gaps_left = np.array(content.get("gaps_left", np.zeros(len(number))), dtype=bool)
        if not (len(number) and feature.shape == left.shape == right.shape == gaps_left.shape == nodes.shape):
            raise ValueError("a tree whose lists differ in length")
        if (feature >= width).any():
            raise ValueError("a tree that asks for a column that is not there")
        # Children come after their parent, so that every walk ends.
        for child in (left[inner], right[inner]):
            if (child <= nodes[inner]).any() or (child >= len(nodes)).any():
                raise ValueError("a tree whose nodes are out of order")
        levels = {int(node): finite_numbers(some, len(some)) for node, some in content.get("levels_left", {}).items()}
        return cls(feature, number, left, right, gaps_left, levels)

    def leaves(self, x: NDArray[Any]) -> Array:
        """Value of the leaf of each row."""
        at = np.zeros(len(x), dtype=np.int64)
        going = np.flatnonzero(self.feature[at] >= 0)
        while len(going):
            node = at[going]
            asked = x[going, self.feature[node]]
            goes_left = (asked <= self.number[node]) | (np.isnan(asked) & self.gaps_left[node])
            for place, levels in self.levels_left.items():
                here = (node == place) & ~np.isnan(asked)
                goes_left[here] = np.isin(asked[here], levels)
            at[going] = np.where(goes_left, self.left[node], self.right[node])
            going = going[self.feature[at[going]] >= 0]
        return self.number[at]


def _sigmoid(z: Array) -> Array:
    """1 / (1 + e^-z) without overflow: tanh saturates instead."""
    return np.asarray(0.5 * np.tanh(0.5 * z) + 0.5)


def _column_of_scores(values: Any, what: str) -> Array:
    try:
        p = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must hold numbers, the probabilities of f.") from None
    if p.ndim == 2 and p.shape[1] == 2:
        p = p[:, 1]
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"{what} must hold probabilities between 0 and 1 without gaps.")
    return p


def _listed(name: Any, values: Any) -> Sequence[Any]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise ValueError(f"Column {name!r} must be a list of values; for one row, pass a list with one dict.")
    return list(values)


def _listing(names: Sequence[Any]) -> str:
    return ("column " if len(names) == 1 else "columns ") + ", ".join(repr(name) for name in names)


def _no_constant(text: str) -> Any:
    raise ValueError(f"This file holds {text}, which is not a number in strict JSON: it is damaged.")
