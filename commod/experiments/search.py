"""Settings tried on people held out of the training rows, and what can be promised of each.

f is trained anew in each fold where it can be, so that its scores there are those of a model on strangers. The test
rows are not touched.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

from commod.datasets import Split, TabularEncoder
from commod.explain.plausibility import SURE, certainty
from commod.metrics.counts import Counts, counts_of_codes
from commod.metrics.figures import CRITERIA, FIGURES
from commod.metrics.report import bootstrap_counts
from commod.metrics.small_groups import compared_groups
from commod.models import Commod, WarmStart
from commod.models.base_models import BaseModel, base_logits, fit_weighted
from commod.models.collapse import judged_elsewhere
from commod.models.rescaler import acts_on_of
from commod.models.threshold import logit_of_threshold
from commod.theory import best_curve

# What may be found, and what the app's sliders can be set to.
LAMBDA_GRIDS: dict[str, tuple[float, ...]] = {
    "lambda_fair": tuple([i * 0.25 for i in range(17)] + [4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0]),
    "lambda_ratio": (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "lambda_concepts": (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
FOLDS = 3
DRAWS = 200  # for each fold

# λ_fair, λ_ratio, λ_concepts
Lambdas = tuple[float, float, float]


@dataclass(frozen=True)
class Asked:
    """The limits, and with which probability they are to hold on new people."""

    fairness: float  # at least
    changes: float  # at most
    sure: float | None  # at most
    confidence: float


@dataclass(frozen=True)
class Draws:
    """What a setting does to new people, once for each draw of them."""

    fairness: np.ndarray
    changes: np.ndarray
    spared: np.ndarray  # whether few enough of the changes are against what f was sure of


@dataclass(frozen=True)
class Fold:
    """Rows to train on, and rows to judge by."""

    fit: Split
    f: BaseModel
    scores: np.ndarray  # of f on the rows of `fit`
    held: Split
    logit: np.ndarray  # of f on the held-out rows, less that of its threshold
    line: float  # that logit

    def counts(self, g: Commod, n_groups: int) -> Counts:
        """Held-out people (effective size) by group, label, f, g, and whether f was sure, (groups, 2, 2, 2, 2)."""
        held, after, weight = self.held, g.decision_function(self.held.X) > 0, effective_weight(self.held)
        codes, sure = held.sensitive.to_numpy(), certainty(self.logit, self.line) > SURE
        parts = [
            counts_of_codes(np.where(sure == here, codes, -1), n_groups, held.y, self.logit > 0, after, weight)
            for here in (False, True)
        ]
        return np.stack(parts, axis=-1)


def effective_weight(rows: Split) -> np.ndarray | None:
    """Weights of rows, in a unit in which they add up to Kish's effective size; None if all count one."""
    if rows.weight is None:
        return None
    weight = rows.weight.to_numpy(dtype=float)
    return np.asarray(weight * weight.sum() / (weight**2).sum())


class Search:
    """Settings tried so far, and what is known of each.

    `new_people`: sizes of the test part by group and label, (groups, 2). `rows`: its rows of each group.
    """

    def __init__(
        self,
        train: Split,
        f: BaseModel,
        form: dict[str, Any],
        new_people: np.ndarray,
        asked: Asked,
        rows: np.ndarray | None = None,
    ) -> None:
        self.train, self.f = train, f
        self.form, self.criterion = form, form["fairness"]  # what all settings tried have in common
        self.new_people = new_people
        self.rows = new_people.sum(axis=1) if rows is None else rows
        self.asked = asked
        self.folds = folds_of(train, f, form.get("threshold"), compared_groups(self.rows))
        self.tried: dict[Lambdas, dict[str, float]] = {}
        self.draws: dict[Lambdas, Draws] = {}
        self._warm_starts: dict[tuple[float, float], list[WarmStart]] = {}

    def try_all(self, lambdas: Iterable[Lambdas], told: Callable[[], None]) -> None:
        """Try settings that were not tried yet; `told` is called after each."""
        for each in lambdas:
            if each not in self.tried:
                self._try(each)
                told()

    def _try(self, lambdas: Lambdas) -> None:
        _, ratio, concepts = lambdas
        warm_starts = self._warm_starts.setdefault((ratio, concepts), [WarmStart() for _ in self.folds])
        parts = []
        for fold, warm_start in zip(self.folds, warm_starts, strict=True):
            g = fit_on(fold.f, self.form, lambdas, 1, fold.fit, fold.scores, warm_start)
            parts.append(fold.counts(g, len(self.rows)))
        by_sure = np.sum(parts, axis=0)
        counts = by_sure.sum(axis=-1)
        if self.asked.sure is None:
            drawn = np.concatenate([_on_new_people(part.sum(axis=-1), self.new_people) for part in parts])
            spared = np.ones(len(drawn), dtype=bool)
        else:
            drawn = np.concatenate([_on_new_people(part, self.new_people) for part in parts])
            # A model that changed nobody has changed nobody against f's certainty, whatever the draws hold possible.
            none = FIGURES["change_rate"].formula(counts) == 0
            drawn, spared = drawn.sum(axis=-1), none | (share_sure(drawn) <= self.asked.sure)
        draws = Draws(self._fairness(drawn), FIGURES["change_rate"].formula(drawn), spared)
        self.draws[lambdas] = draws
        met = (draws.fairness >= self.asked.fairness) & (draws.changes <= self.asked.changes) & draws.spared
        self.tried[lambdas] = {
            "accuracy": float(FIGURES["accuracy"].formula(counts.sum(axis=-2))),
            "fairness": float(self._fairness(counts)),
            "change_rate": float(FIGURES["change_rate"].formula(counts)),
            "sure": float(share_sure(by_sure)),
            "chance": float(np.mean(met)),
        }

    def _fairness(self, counts: Counts) -> np.ndarray:
        """To be large: P-Rule, or 1 − DM."""
        criterion = CRITERIA[self.criterion]
        return np.asarray(criterion.share(criterion.figure.of_counts(counts.sum(axis=-2), self.rows)))

    def meeting(self) -> list[Lambdas]:
        """Settings that meet the limits, the most accurate first; of equals, the one that changes least."""
        met = [each for each, found in self.tried.items() if found["chance"] >= self.asked.confidence]
        return sorted(met, key=lambda each: (-self.tried[each]["accuracy"], self.tried[each]["change_rate"]))

    def leader(self) -> Lambdas:
        """The best setting so far: of those that meet the limits, else the most likely to."""
        met = self.meeting()
        if met:
            return met[0]
        by_fairness = self.promised_fairness()
        return max(self.tried, key=lambda each: (self.tried[each]["chance"], by_fairness[each]))

    def promised_fairness(self) -> dict[Lambdas, float]:
        """For each setting, the strictest fairness it has with the asked confidence while it changes few enough."""
        most, confidence = self.asked.changes, self.asked.confidence
        return {
            each: _quantile_within(drawn.fairness, (drawn.changes <= most) & drawn.spared, confidence)
            for each, drawn in self.draws.items()
        }

    def promised_changes(self) -> dict[Lambdas, float]:
        """For each setting, the smallest limit on changes it keeps with the asked confidence while fair enough."""
        least, confidence = self.asked.fairness, self.asked.confidence
        return {
            each: -_quantile_within(-drawn.changes, (drawn.fairness >= least) & drawn.spared, confidence)
            for each, drawn in self.draws.items()
        }

    def offers(self) -> tuple[Lambdas, Lambdas]:
        """The setting that promises most fairness within the changes, and fewest changes at the fairness."""
        by_fairness, by_changes = self.promised_fairness(), self.promised_changes()
        return max(by_fairness, key=by_fairness.__getitem__), min(by_changes, key=by_changes.__getitem__)

    def model(self, lambdas: Lambdas, k: int) -> Commod:
        """Trained at a setting on all training rows."""
        scores = _probabilities(base_logits(self.f, self.train.X))
        return fit_on(self.f, self.form, lambdas, k, self.train, scores, WarmStart())

    def bound(self) -> float:
        """The best fairness that anybody could reach within the changes, in the direction asked for, with S known."""
        logit = base_logits(self.f, self.train.X)
        line = _line(self.form.get("threshold"), self.f, logit, self.train)
        decided = (logit > line).astype(int)
        groups, criterion = self.train.sensitive_features, CRITERIA[self.criterion]
        flips = int(self.asked.changes * groups.notna().sum())
        best = best_curve(
            self.train.y,
            decided,
            fairness=criterion.name,
            sensitive_features=groups,
            max_changes=flips,
            acts_on=acts_on_of(self.form.get("direction", "both"), self.form.get("favourable", 1)),
            sample_weight=self.train.weight,
        )
        return float(criterion.share(best[criterion.figure_name].iloc[-1]))


def arguments_of(lambdas: Lambdas, k: int) -> dict[str, Any]:
    """Keyword arguments of `Commod`."""
    return dict(zip(LAMBDA_GRIDS, lambdas, strict=True)) | {"n_concepts": k}


def _quantile_within(values: np.ndarray, admitted: np.ndarray, confidence: float) -> float:
    """The largest v that values reach, where they are admitted, in a share `confidence` of all draws; −∞ if none."""
    needed = math.ceil(confidence * len(values))
    inside = np.sort(values[admitted])[::-1]
    return float(inside[needed - 1]) if len(inside) >= needed else -math.inf


def folds_of(
    train: Split, f: BaseModel, threshold: float | str | None, compared: np.ndarray, count: int = FOLDS
) -> list[Fold]:
    """The training rows in folds, within group and label; f is trained anew in each where it can be."""
    cell = (2 * train.sensitive + train.y).to_numpy()
    sizes = np.bincount(cell[cell >= 0], minlength=2 * len(compared))
    smallest = int(sizes.reshape(-1, 2)[compared].min())
    if smallest < count:
        raise ValueError(
            f"One group has only {smallest} training rows of some label: too few to hold any out. Use more data."
        )
    # Cells of few people, whose groups are not compared, are parted with the largest.
    cell = np.where((cell >= 0) & (sizes[cell] < count), sizes.argmax(), cell)
    folds = []
    for inside, outside in StratifiedKFold(count, shuffle=True, random_state=0).split(train.X, cell):
        fit, held = train.take(inside), train.take(outside)
        own = _trained_anew(f, fit) if isinstance(f, BaseEstimator) else f
        logit = base_logits(own, fit.X)
        line = _line(threshold, own, logit, fit)
        folds.append(Fold(fit, own, _probabilities(logit), held, base_logits(own, held.X) - line, line))
    return folds


def _trained_anew(f: BaseEstimator, rows: Split) -> BaseModel:
    """The same f on other rows, by their weights where it is one of ours."""
    ours = isinstance(f, Pipeline) and len(f) == 2 and isinstance(f[0], TabularEncoder)
    return fit_weighted(clone(f), rows.X, rows.y, rows.weight if ours else None)


def _probabilities(logit: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))


def _line(threshold: float | str | None, f: BaseModel, logit: np.ndarray, rows: Split) -> float:
    weight = None if rows.weight is None else rows.weight.to_numpy(dtype=float)
    return logit_of_threshold(threshold, f, logit, rows.y.to_numpy(dtype=float), weight)


def fit_on(
    f: BaseModel,
    form: dict[str, Any],
    lambdas: Lambdas,
    k: int,
    rows: Split,
    scores: np.ndarray,
    warm_start: WarmStart,
) -> Commod:
    """COMMOD at a setting; whether it converged is seen by its decisions."""
    g = Commod(f, **form, **arguments_of(lambdas, k))
    with judged_elsewhere():
        return g.fit(**rows.fit_arguments, base_scores=scores, warm_start=warm_start)


def _on_new_people(counts: Counts, sizes: np.ndarray) -> Counts:
    """Counts of one fold's model on new people, by group and label, shape (draws, *counts.shape).

    Held-out rows are resampled (the model is uncertain), then new people are drawn (they are, too). This is done for
    each fold: the model returned is one model, whose luck in training is not averaged out.
    """
    resampled = bootstrap_counts(counts.reshape(-1, 2, 2, counts[0, 0, 0].size), n_bootstrap=DRAWS)
    rng = np.random.default_rng(1)
    out = np.zeros_like(resampled)
    for s, y in np.ndindex(*sizes.shape):
        cells = resampled[:, s, y].reshape(DRAWS, -1)
        if not cells.any():  # nobody of that kind was held out
            continue
        drawn = rng.multinomial(int(sizes[s, y]), cells / cells.sum(axis=1, keepdims=True))
        out[:, s, y] = drawn.reshape(out[:, s, y].shape)
    return out.reshape(DRAWS, *counts.shape)


def share_sure(counts: Counts) -> np.ndarray:
    """Of the decisions changed, the share in which f was sure, from counts (…, f, g, sure); 0 where none changed."""
    changed = (counts[..., 0, 1, :] + counts[..., 1, 0, :]).sum(axis=(-3, -2))
    return np.asarray(changed[..., 1] / np.maximum(changed.sum(axis=-1), 1.0))
