"""A later batch of people beside those a model was tested on: figures, drift, and requirements checked again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtri
from scipy.stats import chi2

from commod.datasets.raw import read_column
from commod.decisions.facts import CONFIDENCE, counts_of_changes, facts_of_counts
from commod.decisions.requirements import Requirements
from commod.decisions.verdicts import check_requirements
from commod.metrics.counts import Counts, counts_of_codes
from commod.metrics.figures import FIGURES, title_of
from commod.metrics.intervals import wilson_interval
from commod.metrics.report import compare_counts
from commod.monitoring.reference import (
    REFERENCE,
    Reference,
    count_levels,
    count_numbers,
    counts_in,
    gap_of,
    groups_in,
    labels_in,
)
from commod.portable import CERTAINTY, ColumnRule, Portable

__all__ = ["DRIFTED", "LOOK", "Watched", "difference_of", "stability_index", "watch"]

# Bounds of the population stability index that are in use (Siddiqi 2006, Credit Risk Scorecards): below the first a
# column is called stable, beyond the second shifted.
LOOK, DRIFTED = 0.1, 0.25
# The least number of people in a batch.
LEAST_PEOPLE = 20
# Added to every class, so that one without people has a logarithm.
PRIOR = 0.5
# Figures that rest on labels.
_BY_LABEL = {"accuracy", "dm", "delta_tpr", "delta_fpr", "backward_trust", "backward_error"}
_Z = float(ndtri(0.5 + CONFIDENCE / 2))


@dataclass(frozen=True)
class Watched:
    """What became of a model on a later batch.

    Attributes
    ----------
    figures : DataFrame
        One row per figure and model: ``figure, model`` ("f", "g" or "change"), ``title``, ``old, old_low, old_high,
        new, new_low, new_high, difference`` (new − old), ``low, high`` (its 95 % interval) and ``moved``, whether that
        leaves out 0. Each interval is one of 95 %: of twenty figures that stay, one is called moved.
    drift : DataFrame
        One row per column: ``column, index`` (population stability), ``by_chance`` (what the index stays below in 95 %
        of batches without drift), ``drift`` ("stable", "look" or "shifted") and ``sentence``.
    requirements : DataFrame
        See `check_requirements`; empty if nothing is required.
    people, left_out : int
        Rows of the batch that are counted, and those whose group (or label, if it has labels) is not known.
    labelled : bool
    """

    figures: pd.DataFrame
    drift: pd.DataFrame
    requirements: pd.DataFrame
    people: int
    left_out: int
    labelled: bool


def watch(
    model: Portable, batch: pd.DataFrame, requirements: Requirements | None = None, *, base_scores: Any = None
) -> Watched:
    """Look at a later batch; nothing is trained.

    Parameters
    ----------
    model : Portable
        From `read_model`, with what it was like on the people tested on.
    batch : DataFrame
        Raw rows, as `commod.uploads.reading.read_table` gives them: the columns that the model needs, those of the
        groups and, if it is known, the label.
    requirements : Requirements, optional
        Checked again on the batch alone. What takes refits cannot be told.
    base_scores : array, optional
        f's probabilities, where f is not in the file.

    Raises
    ------
    ValueError
        In one sentence, if the file lacks what it was like, or the batch lacks columns or people.
    """
    reference = model.content.get(REFERENCE)
    if reference is None:
        raise ValueError("This model says nothing of the people it was tested on: download it again from Take home.")
    if missing := [name for name in model.columns if name not in batch]:
        raise ValueError(f"The batch has no column “{missing[0]}”, which the model needs: add it.")
    codes, labels = groups_in(reference, batch), labels_in(reference, batch)
    known = codes >= 0
    labelled = labels is not None and bool((labels >= 0).any())
    if labels is not None and labelled:
        known &= labels >= 0
    if known.sum() < LEAST_PEOPLE:
        raise ValueError(f"Only {int(known.sum())} rows have a known group and label; at least {LEAST_PEOPLE} must.")
    left_out = int((~known).sum())
    batch, codes = batch.loc[known], codes[known]
    y = labels[known] if labels is not None and labelled else np.zeros(len(codes), dtype=int)
    scores = model.scores_of_f(batch) if base_scores is None else np.asarray(base_scores, dtype=float)[known]
    line = float(model.content.get("line", 0.0))
    margin_f = logit(np.clip(scores, CERTAINTY, 1 - CERTAINTY)) - line
    margin_g = model.decision_function(batch, base_scores=scores)
    before, after = (margin_f > 0).astype(int), (margin_g > 0).astype(int)
    counts = counts_of_codes(codes, len(reference["groups"]), y, before, after)
    changes = counts_of_changes(margin_f, before, after, y if labelled else None)
    rows = _figures(reference, counts, labelled) + _shares(reference, changes)
    if labelled:
        gaps = {"f": gap_of(y, scores), "g": gap_of(y, expit(margin_g + line))}
        rows += [_gap(name, reference["gaps"][name], gaps[name]) for name in ("f", "g")]
    figures = pd.DataFrame(rows)
    figures["moved"] = (figures["low"] > 0) | (figures["high"] < 0)
    checked = pd.DataFrame()
    if requirements:
        facts = facts_of_counts(
            counts,
            reference["favourable"],
            changes=changes,
            labelled=labelled,
            direction=_direction(model, reference["favourable"]),
            uses=_uses(model),
        )
        checked = check_requirements(requirements, facts)
    return Watched(figures, _drift(model, reference, batch), checked, len(codes), left_out, labelled)


def difference_of(old: float, old_ends: Any, new: float, new_ends: Any) -> tuple[float, float, float]:
    """New − old of two independent samples and its interval, from those of both (Zou and Donner 2008).

    Of two shares with Wilson's intervals that is Newcombe's (1998).
    """
    (old_low, old_high), (new_low, new_high) = old_ends, new_ends
    difference = new - old
    low = difference - math.hypot(new - new_low, old_high - old)
    return difference, low, difference + math.hypot(new_high - new, old - old_low)


def _row(figure: str, model: str, title: str, old: tuple[float, ...], new: tuple[float, ...]) -> dict[str, Any]:
    difference, low, high = difference_of(old[0], old[1:], new[0], new[1:])
    named: dict[str, Any] = {"figure": figure, "model": model, "title": title}
    named |= {
        "old": old[0],
        "old_low": old[1],
        "old_high": old[2],
        "new": new[0],
        "new_low": new[1],
        "new_high": new[2],
    }
    return named | {"difference": difference, "low": low, "high": high}


def _figures(reference: Reference, counts: Counts, labelled: bool) -> list[dict[str, Any]]:
    old_counts = counts_in(reference)
    if not labelled:  # as if all had one label, old and new
        old_counts = np.stack([old_counts.sum(axis=1), np.zeros_like(old_counts[:, 0])], axis=1)
    old, new = (compare_counts(each, confidence=CONFIDENCE) for each in (old_counts, counts))
    rows = []
    outcomes = (str(reference["outcomes"][0]), str(reference["outcomes"][1]))
    for name in [name for name in old.index if name in new.index and (labelled or name not in _BY_LABEL)]:
        title = title_of(str(name), reference["groups"], outcomes)
        of_change = (name in FIGURES and FIGURES[str(name)].of_change) or str(name).startswith("change_rate")
        for model in ("g",) if of_change else ("f", "g"):
            ends = [
                tuple(float(each.loc[name, f"{model}{end}"]) for end in ("", "_low", "_high")) for each in (old, new)
            ]
            if not np.isnan(ends).any():
                rows.append(_row(str(name), "change" if of_change else model, title, *ends))
    return rows


def _shares(reference: Reference, changes: dict[str, tuple[int, int]]) -> list[dict[str, Any]]:
    """Of the changes, those of which f was sure and those right by the record."""
    titles = {"sure": "… of which f was sure", "right": "… of which right by the record"}
    rows = []
    for name, (part, whole) in changes.items():
        old_part, old_whole = reference["changes"][name]
        if whole and old_whole:
            both = [
                (p / w, *map(float, wilson_interval(p, w, CONFIDENCE)))
                for p, w in ((old_part, old_whole), (part, whole))
            ]
            rows.append(_row(name, "change", titles[name], *both))
    return rows


def _gap(name: str, old: list[float], new: list[float]) -> dict[str, Any]:
    """Calibration at large: the share with the label less the mean score."""
    ends = [(mean, mean - _Z * error, mean + _Z * error) for mean, error in (old, new)]
    return _row("calibration_gap", name, "Share with the label less the mean score", *ends)


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


# ---- drift ----


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


def _drift(model: Portable, reference: Reference, batch: pd.DataFrame) -> pd.DataFrame:
    rules = {rule["name"]: ColumnRule.from_json(rule) for rule in model.content.get("raw", [])}
    rows = []
    for name, old in reference["columns"].items():
        if name not in batch:
            continue
        values = read_column(batch[name], rules[name]) if name in rules else batch[name]
        if "levels" in old:
            new = count_levels(values, old["levels"])
        else:
            new = count_numbers(pd.to_numeric(values, errors="coerce"), old["edges"])
        index, chance = stability_index(old["counts"], new)
        drift = "stable" if index <= max(LOOK, chance) else "look" if index <= DRIFTED else "shifted"
        rows.append((name, index, chance, drift, _sentence(name, index, chance, drift)))
    found = pd.DataFrame(rows, columns=["column", "index", "by_chance", "drift", "sentence"])
    return found.sort_values("index", ascending=False, ignore_index=True)


def _sentence(name: str, index: float, chance: float, drift: str) -> str:
    told = f"“{name}” has a stability index of {index:.3f}"
    if drift == "stable":
        few = f"; a batch of so few people reaches {chance:.2f} by chance" if chance > LOOK else ""
        return f"{told}: its values are spread as they were{few}."
    much = "somewhat otherwise than" if drift == "look" else "quite otherwise than"
    return f"{told}: its values are spread {much} they were ({LOOK:g} asks for a look, {DRIFTED:g} is a shift)."
