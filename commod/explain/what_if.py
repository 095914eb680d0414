"""One person, edited: the sum from f to g, the smallest edits that matter, similar people, and merit that hurts."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.datasets.task import Task
from commod.explain.concepts import constants_in_words, explain_loadings, in_a_sentence
from commod.models.adversary import sigmoid
from commod.models.estimator import Commod
from commod.wording import with_capital

__all__ = [
    "FeatureRange",
    "edit_row",
    "explain_edits",
    "explain_merit",
    "explain_sum",
    "feature_ranges",
    "merit_step",
    "nearest_person",
    "score_rows",
]

# Values tried at once on either side of a number; where there are more, the search narrows down in rounds.
MAX_VALUES = 400
MAX_DECIMALS = 4


@dataclass(frozen=True)
class FeatureRange:
    """The values that a column takes in the data."""

    column: str
    # Range of a number and its resolution: a power of ten of which all values are multiples or, if there is none above
    # 0.0001, one that divides the range into about a thousand steps. 0 for a category.
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    decimals: int = 0  # digits that a number in steps of `step` needs
    levels: tuple[Any, ...] = ()  # of a category, the most frequent first
    # Standard deviation. For a category: half of the mean squared distance of two people drawn at random, different
    # levels being 1 apart; with two levels this is that of their 0/1 column.
    sd: float = 1.0

    @property
    def is_number(self) -> bool:
        return not self.levels

    def rounded(self, value: Any) -> Any:
        """A number with as many digits as it needs (an int if none); a level as it is."""
        if not self.is_number:
            return value
        return round(float(value)) if self.decimals == 0 else round(float(value), max(self.decimals, 6))

    def in_words(self, value: Any, sign: str = "") -> str:
        """A value as text; `sign` is a format's sign: "+" for a difference."""
        if not self.is_number:
            return str(value)
        text = f"{value:{sign},.{self.decimals}f}"
        return (text.rstrip("0").rstrip(".") if self.decimals else text).replace("-", "−")

    def distance(self, before: Any, after: Any) -> Any:
        if self.is_number:
            return np.abs(after - before) / self.sd
        return np.where(np.asarray(after != before), 1.0, 0.0) / self.sd


def feature_ranges(X: pd.DataFrame, *, leave_out: object = None) -> dict[str, FeatureRange]:
    """Range of each column of `X` except f's scores (`leave_out`), which are not a feature."""
    ranges = {}
    for column in X.columns:
        if isinstance(leave_out, str) and column == leave_out:
            continue
        values = X[column]
        if pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
            ranges[column] = _range_of_numbers(
                column, np.unique(values.to_numpy(dtype=float)), float(values.std(ddof=0))
            )
            continue
        shares = values.value_counts(normalize=True)
        shares = shares[shares > 0]
        spread = math.sqrt(max(0.0, 1.0 - float((shares**2).sum())) / 2)
        ranges[column] = FeatureRange(column, levels=tuple(shares.index), sd=spread or 1.0)
    return ranges


def _range_of_numbers(column: str, distinct: np.ndarray, sd: float) -> FeatureRange:
    low, high = float(distinct[0]), float(distinct[-1])
    for decimals in range(MAX_DECIMALS + 1):
        scaled = distinct * 10**decimals
        if np.allclose(scaled, np.round(scaled), rtol=0, atol=1e-6):
            break
    else:
        decimals = 0 if high == low else max(0, math.ceil(-math.log10((high - low) / 1000)))
    return FeatureRange(column, low, high, 10.0**-decimals, decimals, sd=sd or 1.0)


def edit_row(x: pd.DataFrame, edits: Mapping[str, Any]) -> pd.DataFrame:
    """The row `x` with other values in some columns, keeping its types."""
    for column, value in edits.items():
        x = _rows(x, [(column, [value])])
    return x


def _rows(x: pd.DataFrame, blocks: list[tuple[str, Any]]) -> pd.DataFrame:
    """Copies of the row `x` with the values of each block in its column, block after block."""
    rows = x.iloc[np.zeros(sum(len(values) for _, values in blocks), dtype=int)].reset_index(drop=True)
    at = 0
    for column, values in blocks:
        dtype = rows[column].dtype
        # Numbers as float, whatever their type, and words as objects: an array of text would cut longer ones.
        cells = rows[column].astype(float if dtype.kind in "iuf" else object).to_numpy(copy=True)
        cells[at : at + len(values)] = values
        rows[column] = pd.Series(cells).astype(dtype)
        at += len(values)
    return rows


def score_rows(g: Commod, X: pd.DataFrame) -> pd.DataFrame:
    """Scores and decisions of f and g for each row, f asked once.

    Returns
    -------
    DataFrame
        Columns ``logit_f, ratio, shift, logit_g`` (= ratio · logit_f + shift; both less the logit of the threshold),
        ``balance`` (what decides, see `Commod.balance`), ``f, g`` (decisions, 0 or 1) and ``changed``.
    """
    logit = g.margin_of_f(X)
    scores = sigmoid(logit + g.line_)
    ratio, shift = g.ratio_and_shift(X, base_scores=scores)
    after = ratio * logit + shift
    return pd.DataFrame(
        {
            "logit_f": logit,
            "ratio": ratio,
            "shift": shift,
            "logit_g": after,
            "balance": g.balance(X, base_scores=scores),
            "f": (logit > 0).astype(int),
            "g": (after > 0).astype(int),
            "changed": (logit > 0) != (after > 0),
        }
    )


def explain_sum(g: Commod, task: Task, x: pd.DataFrame, *, by: str = "concept") -> pd.DataFrame:
    """The sum that leads from f's logit to g's for one person, ready to be drawn as a waterfall.

    Parameters
    ----------
    by : {"concept", "column"}
        One term for each concept, or for each input column (all levels of a category together), heaviest first.

    Returns
    -------
    DataFrame
        Columns ``term, label`` (two lines, parted by "|"), ``part`` ("f", "term" or "g"), ``value`` (of the concept),
        ``ratio`` (what it adds to r), ``shift`` (to the shift), ``logit`` (to the score by both), ``start, end`` (of
        its bar). The bars of the terms begin where the one before ends; those of f and g begin at 0. Terms that are 0
        are left out. Where the sum only decides (`Commod.decides`), a term "kept" leads from it to g's score.
    """
    if by not in ("concept", "column"):
        raise ValueError(f"by must be 'concept' or 'column', got {by!r}.")
    terms = g.explain_prediction(x, by="concept" if by == "concept" else "feature")
    adds = ["ratio", "shift", "logit"]
    first, constant, last = (terms.loc[name] for name in ("f", "constant", "g"))
    inner = terms.iloc[2:-1].drop(index="kept", errors="ignore")
    if by == "column":
        origins = [str(column) for column, _ in g.encoder_.origin_]
        inner = inner[adds].groupby(np.array(origins), sort=False).sum().assign(value=np.nan)
        inner = inner.iloc[np.argsort(-inner["logit"].abs().to_numpy(), kind="stable")]
    names = _term_names(g, task, x, by)
    rows: list[tuple[Any, ...]] = [("f", "Score of f", "f", np.nan, *first[adds])]
    rows.append(("constant", constants_in_words(g), "term", np.nan, *constant[adds]))
    for name, row in inner.iterrows():
        rows.append((str(name), names.get(str(name), str(name)), "term", row["value"], *row[adds]))
    if g.decides:
        same = (first["logit"] > 0) == (last["logit"] > 0)
        label = "Kept|back to f's score" if same else "Changed|to just across the line"
        rows.append(("kept", label, "term", np.nan, *terms.loc["kept", adds]))
    rows = [row for row in rows if row[2] != "term" or row[4] != 0 or row[5] != 0]
    rows.append(("g", "Score of g", "g", np.nan, *last[adds]))
    frame = pd.DataFrame(rows, columns=["term", "label", "part", "value", *adds])
    after = frame["logit"].iloc[:-1].cumsum().to_numpy()
    frame["start"] = np.concatenate([[0.0], after[:-1], [0.0]])
    frame["end"] = np.append(after, last["logit"])
    return frame


def _term_names(g: Commod, task: Task, x: pd.DataFrame, by: str) -> dict[str, str]:
    """What this person shows ("Low LSAT score"): of each column, or of each concept what adds most to it."""
    terms, shown = g.explain_prediction(x, by="feature"), {}
    values = terms["value"].iloc[2 : 2 + len(g.encoder_.origin_)]
    for (column, level), value in zip(g.encoder_.origin_, values, strict=True):
        cell, label = x[column].iloc[0], in_a_sentence(task.label(column), str(column))
        words = f"{label} “{cell}”" if level is not None else f"{'low' if value < 0 else 'high'} {label}"
        shown[str(column)] = label if pd.isna(cell) else words
    if by == "column":
        return {name: text if text.startswith(name) else with_capital(text) for name, text in shown.items()}
    loadings, names = explain_loadings(g, task), {}
    origins = dict(zip(values.index, (str(column) for column, _ in g.encoder_.origin_), strict=True))
    times = np.where(loadings["concept"].isin(g.shift_weights_.index), 1.0, terms["logit"].iloc[0])
    loadings["adds"] = loadings["contribution"] * loadings["feature"].map(values) * times
    for concept, part in loadings.groupby(loadings["concept"].str.removesuffix(", shift"), sort=False):
        adds = part.groupby(part["feature"].map(origins), sort=False)["adds"].sum()
        most = shown[str((adds * np.sign(adds.sum())).idxmax())]
        names[str(concept)] = f"{concept}|{'mostly ' if len(adds) > 1 else ''}{most}"
    return names


def nearest_person(
    X: pd.DataFrame, x: pd.DataFrame, ranges: Mapping[str, FeatureRange], *, skip: int | None = None
) -> tuple[int, float]:
    """Position of the row of `X` nearest to the row `x`, and how far it is.

    The distance is the root of the summed squares of the differences, each in standard deviations of its column
    (`FeatureRange.sd`); of equally close rows the first. The row at `skip` is not considered.
    """
    total = np.zeros(len(X))
    for column, known in ranges.items():
        total += np.asarray(known.distance(x[column].iloc[0], X[column]), dtype=float) ** 2
    if skip is not None:
        total[skip] = np.inf
    place = int(np.argmin(total))
    return place, float(np.sqrt(total[place]))


def explain_edits(
    g: Commod, task: Task, x: pd.DataFrame, *, ranges: Mapping[str, FeatureRange] | None = None
) -> pd.DataFrame:
    """The smallest edits of a single feature that undo the change of a decision, or cause one.

    Where g decides otherwise than f on `x`, an edit counts if they agree after it; where they agree, if they differ.
    Categories are tried at all levels, numbers at all multiples of their resolution within the data's range. Where
    there are more than 400 on one side, 400 are tried and the search narrows down, so that a narrow gap closer by can
    be missed. Nothing is trained. If f is a column of scores it stays as it is: only g can move.

    Parameters
    ----------
    x : DataFrame of one row, with the columns that g was fitted on
    ranges : mapping, optional
        `feature_ranges` of the task's data, if they are at hand.

    Returns
    -------
    DataFrame
        One row for each number that has such an edit and one for each level, smallest first: ``column, label, before,
        after, size`` (in standard deviations, see `FeatureRange`), ``f, g`` (decisions after the edit) and ``moved``
        ("f" or "g", whose decision has changed). Of levels of equal size the most frequent comes first.
    """
    if ranges is None:
        ranges = feature_ranges(task.X, leave_out=g.base_model_)
    now = score_rows(g, x).iloc[0]
    sides = [
        _Side(known, float(x[column].iloc[0]), up)
        for column, known in ranges.items()
        if known.is_number
        for up in (True, False)
    ]

    def answers(tried: list[tuple[str, Any]]) -> list[tuple[Any, Any]]:
        """Which of the values tried in each column count, and the decisions after them."""
        scores = score_rows(g, _rows(x, tried))
        counts = (scores["changed"] != now["changed"]).to_numpy()
        ends = np.cumsum([len(values) for _, values in tried])[:-1]
        return list(zip(np.split(counts, ends), np.split(scores[["f", "g"]].to_numpy(), ends), strict=True))

    found: list[dict[str, Any]] = []
    others = {
        column: [level for level in known.levels if level != x[column].iloc[0]]
        for column, known in ranges.items()
        if not known.is_number
    }
    tried = [(column, levels) for column, levels in others.items() if levels]
    for (column, levels), (counts, decided) in zip(tried, answers(tried) if tried else [], strict=True):
        for rank in np.flatnonzero(counts):
            found.append(_edit(task, ranges[column], x[column].iloc[0], levels[rank], decided[rank], int(rank)))
    while asked := [(side, values) for side in sides if len(values := side.values())]:
        for (side, values), answer in zip(asked, answers([(s.known.column, v) for s, v in asked]), strict=True):
            side.narrow(values, *answer)
    best: dict[str, _Side] = {}
    for side in sides:
        other = best.get(side.known.column)
        if side.outer is not None and (other is None or side.size < other.size):
            best[side.known.column] = side
    found += [_edit(task, side.known, side.own, side.outer, side.decided, 0) for side in best.values()]
    columns = ["column", "label", "before", "after", "size", "f", "g", "rank"]
    frame = pd.DataFrame(found, columns=columns).sort_values(["size", "rank"], kind="stable", ignore_index=True)
    frame["moved"] = np.where(frame["g"] != now["g"], "g", "f")
    return frame.drop(columns="rank")


def _edit(task: Task, known: FeatureRange, before: Any, after: Any, decided: np.ndarray, rank: int) -> dict[str, Any]:
    return {
        "column": known.column,
        "label": task.label(known.column),
        "before": before,
        "after": after,
        "size": float(known.distance(before, after)),
        "f": int(decided[0]),
        "g": int(decided[1]),
        "rank": rank,
    }


class _Side:
    """The values of a number above (or below) a person's own, in steps, and how far the search has come.

    The edit looked for lies beyond ``inner`` and at ``outer`` at the latest.
    """

    def __init__(self, known: FeatureRange, own: float, up: bool) -> None:
        self.known = known
        self.own = own
        self.sign = 1 if up else -1
        unit = known.step
        # The next multiple of the step beyond the person's own value, which may not be a multiple itself.
        self.inner = math.floor(own / unit + 1e-6) if up else math.ceil(own / unit - 1e-6)
        self.last = math.floor(known.high / unit + 1e-6) if up else math.ceil(known.low / unit - 1e-6)
        self.outer: float | None = None
        self.decided = np.zeros(2, dtype=int)
        self.done = False

    def values(self) -> np.ndarray:
        end = self.last if self.outer is None else round(self.outer / self.known.step) - self.sign
        count = self.sign * (end - self.inner)
        if self.done or count <= 0:
            return np.array([])
        steps = np.unique(np.linspace(1, count, min(count, MAX_VALUES)).round().astype(int))
        return np.round((self.inner + self.sign * steps) * self.known.step, self.known.decimals)

    def narrow(self, values: np.ndarray, counts: np.ndarray, decided: np.ndarray) -> None:
        """Note which of the values tried count."""
        if not counts.any():
            if self.outer is None:
                self.done = True
            else:
                self.inner = round(values[-1] / self.known.step)
            return
        first = int(np.argmax(counts))
        if first:
            self.inner = round(values[first - 1] / self.known.step)
        self.outer = float(values[first])
        self.decided = decided[first]

    @property
    def size(self) -> float:
        assert self.outer is not None
        return float(self.known.distance(self.own, self.outer))


Margin = Callable[[pd.DataFrame], NDArray[np.float64]]


def merit_step(known: FeatureRange) -> float:
    """One meaningful step of a number: one point of the LSAT, 0.1 of a grade, one prior offence.

    A tenth of the standard deviation, rounded up to 1, 2 or 5 times a power of ten, and at least the resolution.
    """
    least = known.sd / 10
    unit = 10.0 ** math.floor(math.log10(least)) if least > 0 else known.step
    nice = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= least * (1 - 1e-9))
    return max(nice, known.step)


def explain_merit(
    task: Task,
    X: pd.DataFrame,
    margin_f: Margin,
    margin_g: Margin,
    *,
    ranges: Mapping[str, FeatureRange] | None = None,
) -> pd.DataFrame:
    """For whom one more step of merit lowers the outcome, under f and under g.

    Each feature with a declared direction (`Feature.merit`) is moved by one step (`merit_step`), for everyone who stays
    within the data's range; all other features stay. It is an edit of an input, not of its causes.

    Parameters
    ----------
    margin_f, margin_g : callable
        From rows to logits of the positive decision. An f known only by its scores never responds to an edit.
    ranges : mapping, optional
        `feature_ranges` of the task's data, if they are at hand.

    Returns
    -------
    DataFrame
        One row per such feature, the one that hurts most people under g first: ``feature, label, unit, step`` (with its
        sign), ``people`` (who were moved), ``turned_f, turned_g`` (of them, the favourable decision turns into the
        other one), ``lowered_f, lowered_g`` (the score of the favourable outcome falls).
    """
    if ranges is None:
        ranges = feature_ranges(task.X)
    sign = 1.0 if task.spec.favourable == 1 else -1.0
    now = [sign * margin(X) for margin in (margin_f, margin_g)]
    rows: list[dict[str, Any]] = []
    for feature in task.spec.features:
        known = ranges.get(feature.name)
        if not feature.merit or known is None or not known.is_number:
            continue
        step = feature.merit * merit_step(known)
        values = X[feature.name].to_numpy(dtype=float) + step
        inside = (values >= known.low - 1e-9) & (values <= known.high + 1e-9)
        row = {"feature": feature.name, "label": feature.label, "unit": feature.unit, "step": step}
        row |= {"people": int(inside.sum())}
        moved = X[inside].assign(**{feature.name: values[inside]})
        for name, margin, before in zip("fg", (margin_f, margin_g), now, strict=True):
            old = before[inside]
            new = sign * margin(moved) if inside.any() else old
            # A positive decision needs a margin above 0; the negative one has the tie.
            favourable_old, favourable_new = (old > 0, new > 0) if sign > 0 else (old >= 0, new >= 0)
            row[f"turned_{name}"] = int((favourable_old & ~favourable_new).sum())
            row[f"lowered_{name}"] = int((new < old - 1e-12).sum())
        rows.append(row)
    columns = "feature label unit step people turned_f turned_g lowered_f lowered_g".split()
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values(["turned_g", "lowered_g"], ascending=False, kind="stable", ignore_index=True)
