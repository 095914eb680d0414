"""A later batch of people beside those a model was tested on: figures, changes, drift, and requirements again."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri

from commod.datasets.raw import read_column
from commod.decisions.facts import CONFIDENCE, Facts, counts_of_changes, facts_of_counts
from commod.decisions.requirements import Requirements
from commod.decisions.verdicts import check_requirements
from commod.metrics.counts import Counts, effective_size, sizes_of_groups
from commod.metrics.figures import CRITERIA, figure_of, figures_of_changes, figures_of_counts, key_figures_of, title_of
from commod.metrics.intervals import wilson_interval
from commod.metrics.report import compare_counts
from commod.monitoring.change_tree import TreeNodes, counted_tree, f1_of, learn_tree
from commod.monitoring.drift import compare_spread, scores_as_values
from commod.monitoring.reference import (
    Cells,
    Reference,
    bins_of,
    cells_in,
    cells_of,
    gaps_of,
    groups_in,
    labels_in,
    reference_in,
    tree_in,
    weights_in,
)
from commod.portable import CERTAINTY, CONTRACTED, ColumnRule, Portable
from commod.uploads.limits import count_of, short

__all__ = ["LEAST_PEOPLE", "Watched", "difference_of", "watch"]

# The least number of people in a batch, and of a group whose calibration is told.
LEAST_PEOPLE = 20
# Numbers that a batch may become, encoded: 400 MB.
MAX_ENCODED = 50_000_000
EVERYONE = "everyone"
# Settings by which a model is known again.
SIGNED = ("fairness", "lambda_fair", "lambda_ratio", "lambda_concepts", "n_concepts", "threshold")
_Z = float(ndtri(0.5 + CONFIDENCE / 2))
# Value, and the ends of its interval.
Ends = tuple[float, float, float]


@dataclass(frozen=True)
class Watched:
    """What became of a model on a later batch.

    Old and new are independent samples. Wherever both are told there are the columns ``old, old_low, old_high, new,
    new_low, new_high, difference`` (new − old), ``low, high`` (its 95 % interval) and ``moved``, whether that leaves
    out 0. Each interval is one of 95 %: of twenty values that stay, one is called moved.

    Attributes
    ----------
    figures : DataFrame
        One row per figure and model: ``figure, model`` ("f", "g" or "change"), ``title``. Without groups in the batch,
        or without labels, what rests on them is left out.
    who : DataFrame
        Whose decisions change, two rows per group: ``group, better`` (changes for the better), ``old_count, old_people,
        new_count, new_people`` (changed, and of how many); the share of the group is compared.
    right : DataFrame
        Of those changes, the share right by the record, with the same columns; empty without labels.
    bins : DataFrame
        Calibration by tenths of the score: ``model, time`` ("old" or "new"), ``mean_score, rate, rate_low, rate_high,
        count``; empty without labels.
    tree : DataFrame
        Nodes of the tree of the changes: ``node, parent, depth, rule, leaf, predicts, old_count, old_changed,
        new_count, new_changed``; the share of changed people is compared.
    tree_learnt : bool
        Whether the tree is none of the file's, but learnt from every other person of the batch and counted on the rest;
        its old columns are then NaN.
    f1 : (float, float)
        F1 of the tree, old and new.
    drift : DataFrame
        One row per column: ``column, kind`` ("column", or "score" of f's and g's), ``index`` (population stability),
        ``by_chance`` (what the index stays below in 95 % of batches without drift), ``drift`` ("stable", "look" or
        "shifted"), ``unseen`` (people with a level that nobody had) and ``sentence``.
    spread : DataFrame
        Its classes: ``column, kind, class, place, old, new`` (shares).
    facts : Facts
        What is known of the model on the batch, for `check_requirements`.
    requirements : DataFrame
        See `check_requirements`; empty if nothing is required.
    people : int
        Rows of the batch that are counted.
    old_people : int
        People tested on.
    left_out : dict of str to int
        Why rows are not counted, and how many.
    labelled, grouped, weighted : bool
        What the batch has.
    notices : tuple of str
        What else is to be known, in sentences.
    about : dict
        ``fairness`` (the criterion that the model was trained for), ``outcomes, favourable``, and what a signature is
        held against: ``settings`` and ``figures`` (key figures of g and, with an f in front, of f on the people tested
        on, and their number as ``people``).
    """

    figures: pd.DataFrame
    who: pd.DataFrame
    right: pd.DataFrame
    bins: pd.DataFrame
    tree: pd.DataFrame
    tree_learnt: bool
    f1: tuple[float, float]
    drift: pd.DataFrame
    spread: pd.DataFrame
    facts: Facts
    requirements: pd.DataFrame
    people: int
    old_people: int
    left_out: dict[str, int]
    labelled: bool
    grouped: bool
    weighted: bool
    notices: tuple[str, ...]
    about: dict[str, Any]


def watch(
    model: Portable, batch: pd.DataFrame, requirements: Requirements | None = None, *, base_scores: Any = None
) -> Watched:
    """Look at a later batch; nothing is trained.

    Parameters
    ----------
    model : Portable
        From `read_model`, with what it was like on the people tested on.
    batch : DataFrame
        Raw rows, as `commod.uploads.reading.read_table` gives them, in any order of columns: those that the model needs
        and, if they are known, groups, label and weight. Rows whose group, label, weight or needed value is missing
        though the batch has such a column are left out, and counted.
    requirements : Requirements, optional
        Checked again on the batch alone. What takes refits cannot be told.
    base_scores : array, optional
        f's probabilities, where f is not in the file.

    Raises
    ------
    ValueError
        In one sentence, if the file lacks what it was like, or the batch lacks columns or people.
    """
    reference = reference_in(model)
    if not len(batch):
        raise ValueError(f"The batch has no rows: at least {LEAST_PEOPLE} are needed.")
    _check_width(model, len(batch))
    rows = _Rows(model, reference, batch.reset_index(drop=True), base_scores)
    old, new = cells_in(reference), rows.cells
    if not rows.labelled:  # as if all had one label, old and new
        old = Cells(*(_of_one_label(each) for each in old))
    if not rows.grouped:
        old = Cells(*(each.sum(axis=0, keepdims=True) for each in old))
    changes = counts_of_changes(rows.margin_f, rows.before, rows.after, rows.y if rows.labelled else None)
    with np.errstate(divide="ignore", invalid="ignore"):  # rates of a group that has nobody in the batch
        figures = _figures(reference, old, new, labelled=rows.labelled, grouped=rows.grouped)
        facts = _facts(model, reference, rows, changes)
    figures += _shares(reference["changes"], changes)
    figures += _gaps(reference, rows) if rows.labelled else []
    names = reference["groups"] if rows.grouped else [EVERYONE]
    good = reference["favourable"]
    nodes, learnt = _tree(reference, rows)
    scores = {"f": "The score of f", "g": "The score of g"}
    parts = [
        compare_spread(reference["columns"], rows.read),
        compare_spread(
            {scores[name]: each for name, each in reference["scores"].items() if name in scores},
            {scores["f"]: scores_as_values(rows.scores_f), scores["g"]: scores_as_values(rows.scores_g)},
            "score",
        ),
    ]
    return Watched(
        figures=_framed(figures),
        who=_framed(_who(names, old, new, good)),
        right=_framed(_right(names, old, new, good)) if rows.labelled else pd.DataFrame(),
        bins=_bins(reference, rows) if rows.labelled else pd.DataFrame(),
        tree=nodes,
        tree_learnt=learnt,
        f1=_f1(reference, nodes, learnt),
        drift=pd.concat([drift for drift, _ in parts], ignore_index=True),
        spread=pd.concat([spread for _, spread in parts], ignore_index=True),
        facts=facts,
        requirements=check_requirements(requirements, facts) if requirements else pd.DataFrame(),
        people=len(rows.y),
        old_people=int(old.rows.sum()),
        left_out=rows.left_out,
        labelled=rows.labelled,
        grouped=rows.grouped,
        weighted=rows.weight is not None,
        notices=tuple(rows.notices),
        about={
            "fairness": _criterion(model),
            "outcomes": list(reference["outcomes"]),
            "favourable": good,
            "settings": _settings(model),
            "figures": _signed_figures(cells_in(reference)),
        },
    )


def _settings(model: Portable) -> dict[str, Any]:
    """Those of its settings that a decision has, too."""
    settings = model.content.get("settings")
    found = settings if isinstance(settings, Mapping) else {}
    known = {name: found[name] for name in SIGNED if name in found}
    return {
        name: value for name, value in known.items() if isinstance(value, int | float | str) and len(str(value)) < 40
    }


def _criterion(model: Portable) -> str:
    """What it was trained for; empty if its file does not say so."""
    asked = _settings(model).get("fairness")
    return asked if asked in CRITERIA else ""


def _signed_figures(cells: Cells) -> dict[str, float]:
    """The figures of a decision's record, from counts."""
    sizes, of_f = sizes_of_groups(cells.rows), np.zeros_like(cells.counts)
    for decided in (0, 1):
        of_f[..., decided, decided] = cells.counts[..., decided, :].sum(axis=-1)
    found = {f"f_{name}": value for name, value in key_figures_of(of_f, sizes).items()}
    return key_figures_of(cells.counts, sizes) | found | {"people": float(cells.rows.sum())}


def _check_width(model: Portable, n_rows: int) -> None:
    """Whether the batch fits into memory, encoded as r and f take it."""
    content = model.content
    width = max(len(part["encoder"]["mean"]) for part in (content, content["f"]) if "encoder" in part)
    if n_rows * width > MAX_ENCODED:
        raise ValueError(
            f"Written out as the model takes them, these {n_rows:,} rows make {width:,} columns; at most "
            f"{MAX_ENCODED // 10**6} million numbers fit: bring a sample of the rows."
        )


# ---- the rows ----


class _Rows:
    """The rows of a batch that are counted, as the model reads them, and what f and g say of them."""

    def __init__(self, model: Portable, reference: Reference, batch: pd.DataFrame, base_scores: Any) -> None:
        self.notices: list[str] = []
        if missing := [name for name in model.columns if name not in batch]:
            some = ", ".join(f"“{short(name)}”" for name in missing[:5]) + (" …" if len(missing) > 5 else "")
            column, them = ("column", "it") if len(missing) == 1 else ("columns", "them")
            raise ValueError(f"The batch has no {column} {some}, which the model needs: add {them}.")
        rules = {rule["name"]: ColumnRule.from_json(rule) for rule in _newest(model, "raw", [])}
        wanted = [name for name in dict.fromkeys([*model.columns, *reference["columns"]]) if name in batch]
        read = {name: read_column(batch[name], rules[name]) if name in rules else batch[name] for name in wanted}
        codes, labels = self._groups(reference, batch), self._labels(reference, batch)
        weight = self._weights(reference, batch)
        kept = np.ones(len(batch), dtype=bool)
        self.left_out: dict[str, int] = {}

        def keep(which: np.ndarray, why: str) -> None:
            if count := int((kept & ~which).sum()):
                self.left_out[why] = count
            kept[:] &= which

        for name in _refusing(model):
            keep(read[name].notna().to_numpy(), f"no value of “{short(name)}”")
        if codes is not None:
            keep(codes >= 0, "group not known")
        if labels is not None:
            keep(labels >= 0, "label not known")
        if weight is not None:
            keep(~np.isnan(weight), "no weight above 0")
        if codes is not None and kept.any() and len(np.unique(codes[kept])) < 2:
            only = short(reference["groups"][codes[kept][0]])
            self.notices.append(
                f"All that are counted are of one group, “{only}”: nothing is told of fairness, and they stand beside "
                "everyone tested on."
            )
            codes = None
        self.grouped, self.labelled = codes is not None, labels is not None
        if kept.sum() < LEAST_PEOPLE:
            why = max(self.left_out, key=self.left_out.__getitem__, default="")
            most = f"; most are left out for this: {why}" if why else ""
            raise ValueError(
                f"{count_of(int(kept.sum()), 'row')} of {len(batch):,} can be counted, and at least {LEAST_PEOPLE} are "
                f"needed{most}."
            )
        self.read = pd.DataFrame({name: values[kept].reset_index(drop=True) for name, values in read.items()})
        self.codes = np.zeros(int(kept.sum()), dtype=int) if codes is None else codes[kept]
        self.y = np.zeros(len(self.codes), dtype=int) if labels is None else labels[kept]
        self.weight = None if weight is None else weight[kept]
        self._decide(model, None if base_scores is None else np.asarray(base_scores, dtype=float)[kept])
        n_groups = len(reference["groups"]) if self.grouped else 1
        self.cells = cells_of(self.codes, n_groups, self.y, self.before, self.after, self.weight)
        if self.grouped:
            sizes = zip(reference["groups"], sizes_of_groups(self.cells.rows), strict=True)
            absent = ", ".join(f"“{short(name)}”" for name, people in sizes if not people)
            self.notices += [f"Nobody in the batch is of the group {absent}."] if absent else []
        lacking = [name for name in reference["columns"] if name not in read]
        if lacking:
            some = ", ".join(f"“{short(name)}”" for name in lacking[:5]) + (" …" if len(lacking) > 5 else "")
            self.notices.append(f"Not in the batch, nor needed by the model: {some}. Nothing is told of their drift.")

    def _decide(self, model: Portable, base_scores: np.ndarray | None) -> None:
        # The columns are read already: a rule would divide a score twice.
        plain = Portable({name: part for name, part in model.content.items() if name != "raw"})
        line = float(_newest(model, "line", 0.0))
        with np.errstate(all="ignore"):
            self.scores_f = plain.scores_of_f(self.read) if base_scores is None else base_scores
            self.margin_f = logit(np.clip(self.scores_f, CERTAINTY, 1 - CERTAINTY)) - line
            self.margin_g = plain.decision_function(self.read, base_scores=self.scores_f)
            self.scores_g = expit(self.margin_g + line)
        if not (np.isfinite(self.margin_f).all() and np.isfinite(self.margin_g).all()):
            raise ValueError(
                "On these people the model gives numbers without end: its file is damaged, or a column of the batch "
                "holds what it never held."
            )
        self.before, self.after = (self.margin_f > 0).astype(int), (self.margin_g > 0).astype(int)

    def _groups(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        codes = groups_in(reference, batch)
        columns = " × ".join(f"“{short(attribute['column'])}”" for attribute in reference["attributes"])
        if codes is None:
            self.notices.append(
                f"The batch does not say who belongs to which group ({columns}): nothing is told of it."
            )
        elif not (codes >= 0).any():
            known = ", ".join(f"“{short(name)}”" for name in reference["groups"][:6])
            self.notices.append(
                f"No row of {columns} names a group that the model knows ({known}): nothing is told of it."
            )
            return None
        return codes

    def _labels(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        labels, name = labels_in(reference, batch), short(reference["label"]["column"])
        if labels is None:
            self.notices.append(f"The batch has no label (“{name}”): what rests on what happened is not told.")
        elif not (labels >= 0).any():
            self.notices.append(
                f"No row has a label that the model knows (“{name}”): nothing that rests on it is told."
            )
            return None
        return labels

    def _weights(self, reference: Reference, batch: pd.DataFrame) -> np.ndarray | None:
        weight = weights_in(reference, batch)
        if weight is None and "weight" in reference:
            name = short(reference["weight"])
            self.notices.append(
                f"The people tested on are weighted by “{name}”, which the batch lacks: each counts as one."
            )
        return weight


def _newest(model: Portable, part: str, without: Any) -> Any:
    """A part of a file that only the newest version knows."""
    return model.content.get(part, without) if model.content["format"] == CONTRACTED else without


def _refusing(model: Portable) -> list[str]:
    """Columns in which the model takes no gap."""
    content = model.content
    encoders = [part["encoder"] for part in (content, content["f"]) if "encoder" in part]
    without = [column["name"] for encoder in encoders for column in encoder["columns"] if "fill" not in column]
    return list(dict.fromkeys([*without, *([content["f"]["column"]] if content["f"]["kind"] == "column" else [])]))


# ---- old beside new ----


def difference_of(old: float, old_ends: Any, new: float, new_ends: Any) -> tuple[float, float, float]:
    """New − old of two independent samples and its interval, from those of both (Zou and Donner 2008).

    Of two shares with Wilson's intervals that is Newcombe's (1998).
    """
    (old_low, old_high), (new_low, new_high) = old_ends, new_ends
    difference = new - old
    low = difference - math.hypot(new - new_low, old_high - old)
    return difference, low, difference + math.hypot(new_high - new, old - old_low)


def _row(named: Mapping[str, Any], old: Ends, new: Ends) -> dict[str, Any]:
    difference, low, high = difference_of(old[0], old[1:], new[0], new[1:])
    ends = {"old": old[0], "old_low": old[1], "old_high": old[2], "new": new[0], "new_low": new[1], "new_high": new[2]}
    return {**named, **ends, "difference": difference, "low": low, "high": high}


def _framed(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    if len(frame):
        frame["moved"] = (frame["low"] > 0) | (frame["high"] < 0)
    return frame


def _share(part: float, whole: float, people: float) -> Ends:
    """A share and Wilson's interval, `people` being as many as it rests on; NaN of nobody."""
    if not whole > 0:
        return math.nan, math.nan, math.nan
    low, high = wilson_interval(part / whole * people, people, CONFIDENCE)
    return part / whole, float(low), float(high)


def _share_in(cells: Cells, part: Callable[[Counts], Counts], whole: Callable[[Counts], Counts]) -> Ends:
    """The same of weighted people, with their effective size."""
    sums = [float(whole(each).sum()) for each in (cells.counts, cells.squares)]
    return _share(float(part(cells.counts).sum()), sums[0], float(effective_size(*sums)))


def _all(counts: Counts) -> Counts:
    return counts


def _compared(cells: Cells) -> Cells:
    """Cells for what compares groups: people who are not parted are put into two groups that are alike."""
    return cells if len(cells.rows) > 1 else Cells(*(np.repeat(each / 2, 2, axis=0) for each in cells))


def _of_one_label(counts: Counts) -> Counts:
    return np.stack([counts.sum(axis=1), np.zeros_like(counts[:, 0])], axis=1)


@lru_cache
def _resting_on(what: str) -> frozenset[str]:
    """Names of the figures that are another thing once people are counted without their labels, or groups."""
    counts = np.arange(1.0, 17.0).reshape(2, 2, 2, 2) ** 1.5
    merged = _of_one_label(counts) if what == "labels" else counts.sum(axis=0, keepdims=True)
    with np.errstate(all="ignore"):
        whole, part = (
            {**figures_of_counts(each.sum(axis=-1)), **figures_of_changes(each)} for each in (counts, merged)
        )
    other = [name for name in whole if name not in part or not np.isclose(whole[name], part[name])]
    return frozenset(figure_of(name)[0].name for name in other)


def _figures(reference: Reference, old: Cells, new: Cells, *, labelled: bool, grouped: bool) -> list[dict[str, Any]]:
    frames = [
        compare_counts(each.counts, squares=each.squares, rows=sizes_of_groups(each.rows), confidence=CONFIDENCE)
        for each in map(_compared, (old, new))
    ]
    left_out = (frozenset() if labelled else _resting_on("labels")) | (
        frozenset() if grouped else _resting_on("groups")
    )
    outcomes = (str(reference["outcomes"][0]), str(reference["outcomes"][1]))
    rows = []
    for model, positive in (("f", lambda counts: counts[..., 1, :]), ("g", lambda counts: counts[..., 1])):
        decided = [_share_in(each, positive, _all) for each in (old, new)]
        named = {"figure": "decided", "model": model, "title": f"Decided “{outcomes[1]}”: {EVERYONE}"}
        rows.append(_row(named, *decided))
    for name in [str(name) for name in frames[0].index if name in frames[1].index]:
        figure, _ = figure_of(name)
        if figure.name in left_out:
            continue
        title = title_of(name, reference["groups"], outcomes)
        for model in ("g",) if figure.of_change else ("f", "g"):
            ends = [_ends_in(each.loc[name], model) for each in frames]
            if not np.isnan(ends).any():
                rows.append(
                    _row({"figure": name, "model": "change" if figure.of_change else model, "title": title}, *ends)
                )
    return rows


def _ends_in(row: pd.Series, model: str) -> Ends:
    return float(row[model]), float(row[f"{model}_low"]), float(row[f"{model}_high"])


def _shares(old: Mapping[str, Any], new: Mapping[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """Of the changes, those of which f was sure and those right by the record; people are counted as rows."""
    titles = {"sure": "… of which f was sure", "right": "… of which right by the record"}
    rows = []
    for name, counted in new.items():
        ends = [_share(part, whole, whole) for part, whole in (old[name], counted)]
        if not np.isnan(ends).any():
            rows.append(_row({"figure": name, "model": "change", "title": titles[name]}, *ends))
    return rows


def _gaps(reference: Reference, rows: _Rows) -> list[dict[str, Any]]:
    """Calibration at large: the share with the label less the mean score, of everyone and of each group."""
    found = []
    names = [EVERYONE, *(reference["groups"] if rows.grouped else [])]
    sizes = [sizes_of_groups(each) for each in (cells_in(reference).rows, rows.cells.rows)]
    for model, scores in (("f", rows.scores_f), ("g", rows.scores_g)):
        old, new = reference["gaps"][model], gaps_of(rows.y, scores, rows.codes, len(names) - 1, rows.weight)
        for place, name in enumerate(names):
            both = [gaps[place] for gaps in (old, new)]
            few = place and min(sizes[0][place - 1], sizes[1][place - 1]) < LEAST_PEOPLE
            ends = [(gap[0], gap[0] - _Z * gap[1], gap[0] + _Z * gap[1]) for gap in both if gap is not None]
            if few or len(ends) < 2:
                continue
            suffix = "" if place == 0 else f"_{place - 1}"
            title = f"Label less score: {name}"
            found.append(_row({"figure": f"calibration_gap{suffix}", "model": model, "title": title}, *ends))
    return found


def _changed(was: int, now: int) -> Callable[[Counts], Counts]:
    """Of counts (label, f, g), those whose decision went this way."""
    return lambda counts: counts[:, was, now]


def _ways(favourable: int) -> list[tuple[bool, int, int]]:
    """Whether a change is for the better, and the decisions before and after it."""
    return [(True, 1 - favourable, favourable), (False, favourable, 1 - favourable)]


def _who(names: list[str], old: Cells, new: Cells, favourable: int) -> list[dict[str, Any]]:
    rows = []
    for code, name in enumerate(names):
        for better, was, now in _ways(favourable):
            of_group = [Cells(*(part[code] for part in each)) for each in (old, new)]
            ends = [_share_in(each, _changed(was, now), _all) for each in of_group]
            named: dict[str, Any] = {"group": name, "better": better}
            for time, each in zip(("old", "new"), of_group, strict=True):
                named |= {f"{time}_count": int(each.rows[:, was, now].sum()), f"{time}_people": int(each.rows.sum())}
            rows.append(_row(named, *ends))
    return rows


def _right(names: list[str], old: Cells, new: Cells, favourable: int) -> list[dict[str, Any]]:
    """People are counted as rows, as wherever changes are held against the record."""
    rows = []
    for code, name in enumerate(names):
        for better, was, now in _ways(favourable):
            named: dict[str, Any] = {"group": name, "better": better}
            ends = []
            for time, each in (("old", old.rows[code]), ("new", new.rows[code])):
                part, whole = int(each[now, was, now]), int(each[:, was, now].sum())
                named |= {f"{time}_count": part, f"{time}_people": whole}
                ends.append(_share(part, whole, whole))
            rows.append(_row(named, *ends))
    return rows


def _bins(reference: Reference, rows: _Rows) -> pd.DataFrame:
    frames = []
    for model, scores in (("f", rows.scores_f), ("g", rows.scores_g)):
        for time, bins in (("old", reference["bins"][model]), ("new", bins_of(rows.y, scores))):
            count, positive, total = np.array(bins, dtype=float).T
            used = count > 0
            count, positive, total = count[used], positive[used], total[used]
            low, high = wilson_interval(positive, count, CONFIDENCE)
            columns = {"mean_score": total / count, "rate": positive / count, "rate_low": low, "rate_high": high}
            frames.append(pd.DataFrame({"model": model, "time": time, **columns, "count": count.astype(int)}))
    return pd.concat(frames, ignore_index=True)


# ---- the tree ----


def _tree(reference: Reference, rows: _Rows) -> tuple[pd.DataFrame, bool]:
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
        ends = [_share(each["changed"], each["count"], each["count"]) for each in (then, node)]
        found.append(_row(named, *ends))
    return _framed(found)


def _f1(reference: Reference, nodes: pd.DataFrame, learnt: bool) -> tuple[float, float]:
    now = [{"predicts": row.predicts, "count": row.new_count, "changed": row.new_changed} for row in nodes.itertuples()]
    return math.nan if learnt else f1_of(tree_in(reference)), f1_of(now) if now else math.nan


# ---- requirements ----


def _facts(model: Portable, reference: Reference, rows: _Rows, changes: Mapping[str, tuple[int, int]]) -> Facts:
    cells = _compared(rows.cells)
    facts = facts_of_counts(
        cells.counts,
        reference["favourable"],
        squares=cells.squares,
        rows=cells.rows,
        changes=changes,
        labelled=rows.labelled,
        direction=_direction(model, reference["favourable"]),
        uses=_uses(model),
    )
    if rows.grouped:
        return facts
    # Of groups that are alike every model is fair: what compares them was not measured.
    compares = _resting_on("groups")
    return replace(facts, measured={name: each for name, each in facts.measured.items() if name not in compares})


def _direction(model: Portable, favourable: int) -> str:
    acts_on = model.content.get("acts_on")
    if acts_on is None:
        return "both"
    return "improve" if (acts_on == "negative") == (favourable == 1) else "worsen"


def _uses(model: Portable) -> tuple[str, ...]:
    """Features whose weight in r or s is not 0."""
    weights = [np.abs(np.array(model.content[part]["coef"])) for part in ("r", "s") if part in model.content]
    used, at, total = [], 0, np.sum(weights, axis=0)
    for column in model.content["encoder"]["columns"]:
        levels = column["levels"]
        width = 1 if levels is None or column.get("codes") or len(levels) == 2 else len(levels)
        used += [str(column["name"])] if total[at : at + width].any() else []
        at += width
    return tuple(used)
