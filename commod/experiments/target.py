"""The paper's Eq. 1 the way it is asked: "at least this fair, at most so many changes" in, a setting out.

Candidates are judged on people that neither f nor g was trained on, by cross-validation within the training rows: f is
trained anew in each fold where it can be, so that its scores there are those of a model on strangers. The test rows are
not touched. The whole line of λ_fair costs little more than its last point (`WarmStart`), so a grid with one refinement
is both quicker and easier to repeat than a sampler.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from commod.datasets import Split, Task
from commod.experiments.sweep import concept_settings
from commod.explain.sense import SURE, certainty
from commod.metrics.counts import Counts
from commod.metrics.figures import CRITERIA, FIGURES
from commod.metrics.report import bootstrap_counts
from commod.models import Commod, WarmStart
from commod.models.base_models import train_base_model
from commod.models.base_scores import BaseModel, base_logits
from commod.models.rescaler import acts_on_of
from commod.models.validation import check_choice
from commod.theory import best_curve

__all__ = ["LAMBDA_GRIDS", "Target", "find_settings"]

# What may be found, and what the app's sliders can be set to.
LAMBDA_GRIDS: dict[str, tuple[float, ...]] = {
    "lambda_fair": tuple([i * 0.25 for i in range(17)] + [4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0]),
    "lambda_ratio": (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "lambda_concepts": (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
}
COARSE_FAIR = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)
COARSE_RATIO = (0.0, 0.05, 0.2, 0.5)
# λ_ratio and λ_concepts that are tried beside these: few features, far from f, can reach what nothing else does.
FAR_LINE = (0.0, 1.0)
FINE_STEPS = 2
FOLDS = 3
DRAWS = 200  # for each fold

# λ_fair, λ_ratio, λ_concepts
Lambdas = tuple[float, float, float]


@dataclass(frozen=True)
class Target:
    """What `find_settings` found.

    Attributes
    ----------
    settings : dict or None
        Keyword arguments of `Commod` that meet the limits; None if none does.
    model : Commod or None
        Fitted on all training rows at `settings`.
    validation : dict
        ``accuracy, fairness, change_rate, sure`` (of the changes, the share in which f was surer than 90 %) of the
        candidate behind `settings` (or, if none meets the limits, of the one most likely to) on the held-out folds, and
        ``chance``, the probability that it meets all limits on new people.
    fairest : (float, dict) or None
        With at most `max_change`: the strictest fairness that can be promised as confidently, and its setting.
    gentlest : (float, dict) or None
        At `min_fairness`: the smallest limit on changes that can be promised, and its setting; None if no setting tried
        is that fair.
    bound : float
        The best fairness that anybody could reach by flipping `max_change` of f's decisions (in the direction asked
        for) on the training rows, with S known.
    candidates : DataFrame
        Every setting tried, with the same figures.
    """

    min_fairness: float
    max_change: float
    max_sure: float | None
    confidence: float
    criterion: str
    settings: dict[str, Any] | None
    model: Commod | None
    validation: dict[str, float]
    fairest: tuple[float, dict[str, Any]] | None
    gentlest: tuple[float, dict[str, Any]] | None
    bound: float
    candidates: pd.DataFrame = field(repr=False)

    @property
    def met(self) -> bool:
        """Whether a setting meets the limits."""
        return self.settings is not None

    @property
    def answer(self) -> str:
        """The result in words."""
        asked = f"{_fair_words(self.criterion, self.min_fairness)} with at most {self.max_change:.1%} changed"
        limits, sure, shown = "both limits", "", self.validation
        if self.max_sure is not None:
            asked += f", f surer than {SURE:.0%} in at most {self.max_sure:.0%} of them"
            limits, sure = "all limits", f" (f surer than {SURE:.0%} in {shown['sure']:.0%} of them)"
        if self.met:
            return (
                f"Found: {asked}. On held-out people: {_value_words(self.criterion, shown['fairness'])}, "
                f"{shown['change_rate']:.1%} changed{sure}, accuracy {shown['accuracy']:.1%}, the most of all that "
                f"keep {limits}; on new people they are kept with a probability of {shown['chance']:.0%}."
            )
        if self.bound < self.min_fairness:
            why = (
                f"Nobody can: on the training rows, even with the group of everyone known, {self.max_change:.1%} of "
                f"changed decisions reach {_value_words(self.criterion, self.bound)} at best."
            )
        else:
            why = f"The likeliest setting keeps {limits} on new people with a probability of {shown['chance']:.0%}."
        near = []
        if self.fairest is not None:
            near.append(f"with at most {self.max_change:.1%} changed, {_fair_words(self.criterion, self.fairest[0])}")
        if self.gentlest is not None:
            near.append(f"{_fair_words(self.criterion, self.min_fairness)}, at most {self.gentlest[0]:.1%} changed")
        else:
            near.append(f"none of them {_fair_words(self.criterion, self.min_fairness)}, at any number of changes")
        return (
            f"Cannot be promised with {self.confidence:.0%} confidence: {asked}. {why} The best "
            f"of the {len(self.candidates)} settings tried promise: {'; '.join(near)}."
        )


def _fair_words(criterion: str, fairness: float) -> str:
    """A limit; rounded down, so that what is promised is not more than it is."""
    asked = CRITERIA[criterion]
    limit = asked.share(math.floor(fairness * 1000 + 1e-6) / 1000)
    return f"{asked.noun} of {asked.side} {limit:g}"


def _value_words(criterion: str, fairness: float) -> str:
    asked = CRITERIA[criterion]
    return f"{asked.noun} of {asked.figure.show(asked.share(fairness))}"


def find_settings(
    task: Task,
    f: BaseModel = None,
    criterion: str = "demographic_parity",
    *,
    min_fairness: float = 0.8,
    max_change: float = 0.08,
    max_sure: float | None = None,
    confidence: float = 0.9,
    seed: int = 0,
    lambda_concepts: float | None = None,
    n_concepts: int | None = None,
    update: str = "ratio",
    direction: str = "both",
    features: Sequence[str] | None = None,
    report: Callable[[float], None] | None = None,
) -> Target:
    """The most accurate COMMOD model that is fair enough and changes few enough decisions, or why there is none.

    Parameters
    ----------
    task : Task
    f : the base model in any form that `Commod` takes, trained on ``task.split(seed)[0]``
        None trains a logistic regression there.
    criterion : {"demographic_parity", "equalized_odds"}
    min_fairness : float
        The least P-Rule; for equalized odds, of 1 − mistreatment.
    max_change : float
        The largest share of decisions that may differ from f's.
    max_sure : float, optional
        Of the decisions changed, the largest share in which f may have been surer than 90 %. It limits which settings
        are taken, not the training: the loss does not know of it.
    confidence : float
        With which probability all limits are to hold on new people, as many as the test part has. It covers the chance
        in the validation rows and in the new ones, so single figures on validation have to be better than the limits.
    seed : int
        Of the split; its test part is not looked at.
    lambda_concepts : float, optional
        Where the search for it begins; default, what goes with the data set.
    n_concepts : int, optional
        k of the model returned. It is not searched: k is a reading of a linear r and moves no decision.
    update : {"ratio", "affine"}
    direction : {"both", "improve", "worsen"}
    features : list of columns, optional
        Form of the models that are tried, as `Commod` has them; which outcome is favourable, the task says.
    report : callable, optional
        Called with the share done; what it raises ends the search.
    """
    check_choice("criterion", criterion, tuple(CRITERIA))
    _check_share("min_fairness", min_fairness)
    _check_share("max_change", max_change)
    if max_sure is not None:
        _check_share("max_sure", max_sure)
    if not 0.5 <= confidence < 1.0:
        raise ValueError(f"confidence must be at least 0.5 and below 1, got {confidence!r}.")
    train, test = task.split(seed=seed)
    f = train_base_model(task, train, "logistic_regression") if f is None else f
    train = train.sample()
    new_people = np.bincount(2 * test.sensitive + test.y, minlength=4).reshape(2, 2)  # sizes only
    usual = concept_settings(task)
    concepts = usual["lambda_concepts"] if lambda_concepts is None else float(lambda_concepts)
    k = usual["n_concepts"] if n_concepts is None else int(n_concepts)
    form: dict[str, Any] = {"fairness": criterion, "update": update}
    if direction != "both":
        form |= {"direction": direction, "favourable": task.spec.favourable}
    if features is not None:
        form["features"] = list(features)
    asked = _Asked(min_fairness, max_change, max_sure, confidence)
    search = _Search(train, f, form, new_people, asked)
    lines = [(ratio, concepts) for ratio in COARSE_RATIO]
    if FAR_LINE not in lines:
        lines.append(FAR_LINE)
    total = len(lines) * len(COARSE_FAIR) + 16  # and about as many as the refinement takes

    def told() -> None:
        if report is not None:
            report(min(0.98, len(search.tried) / total))

    for ratio, sparse in lines:
        search.try_all([(fair, ratio, sparse) for fair in COARSE_FAIR], told)

    def refine_offers() -> None:
        for near in search.offers():
            search.try_all(_around(near)[: 2 * FINE_STEPS + 1], told)  # on its own line only

    # Before what is asked for plays a part, too: what one refusal offers, the next search finds.
    refine_offers()
    search.try_all(_around(search.leader()), told)
    if not search.meeting():
        refine_offers()
    return search.result(k)


def _check_share(name: str, value: float) -> None:
    if not (isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= 1.0):
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")


def _around(lambdas: Lambdas) -> list[Lambdas]:
    """Neighbours on the fine grids: in λ_fair, and in λ_ratio and λ_concepts with λ_fair beside it."""
    fair, ratio, concepts = lambdas
    fairs = _near(LAMBDA_GRIDS["lambda_fair"], fair, FINE_STEPS)
    lines = [(ratio, concepts)]
    lines += [(other, concepts) for other in _near(LAMBDA_GRIDS["lambda_ratio"], ratio, 1) if other != ratio]
    lines += [(ratio, other) for other in _near(LAMBDA_GRIDS["lambda_concepts"], concepts, 1) if other != concepts]
    return [(value, *line) for line in lines for value in fairs]


def _near(grid: tuple[float, ...], value: float, steps: int) -> list[float]:
    place = int(np.argmin(np.abs(np.array(grid) - value)))
    return list(grid[max(0, place - steps) : place + steps + 1])


@dataclass(frozen=True)
class _Asked:
    fairness: float  # at least
    changes: float  # at most
    sure: float | None  # at most
    confidence: float


@dataclass(frozen=True)
class _Draws:
    """What a setting does to new people, once for each draw of them."""

    fairness: np.ndarray
    changes: np.ndarray
    spared: np.ndarray  # whether few enough of the changes are against what f was sure of


@dataclass(frozen=True)
class _Fold:
    fit: Split
    f: BaseModel
    scores: np.ndarray  # of f on the rows of `fit`
    held: Split
    logit: np.ndarray  # of f on the held-out rows

    def counts(self, g: Commod) -> Counts:
        """Held-out people by group, label, decision of f, of g, and whether f was sure, (2, 2, 2, 2, 2)."""
        after = g.decision_function(self.held.X) > 0
        axes = (self.held.sensitive.to_numpy(), self.held.y.to_numpy(), self.logit > 0, after, _sure(self.logit))
        cell = np.zeros(len(after), dtype=np.int64)
        for axis in axes:
            cell = 2 * cell + axis
        return np.bincount(cell, minlength=32).reshape(2, 2, 2, 2, 2).astype(float)


class _Search:
    """Settings tried so far, and what is known of each."""

    def __init__(
        self,
        train: Split,
        f: BaseModel,
        form: dict[str, Any],
        new_people: np.ndarray,
        asked: _Asked,
    ) -> None:
        self.train, self.f = train, f
        self.form, self.criterion = form, form["fairness"]  # what all settings tried have in common
        self.new_people = new_people
        self.asked = asked
        self.folds = _folds(train, f)
        self.tried: dict[Lambdas, dict[str, float]] = {}
        self.draws: dict[Lambdas, _Draws] = {}
        self._warm_starts: dict[tuple[float, float], list[WarmStart]] = {}

    def try_all(self, lambdas: Iterable[Lambdas], told: Callable[[], None]) -> None:
        for each in lambdas:
            if each not in self.tried:
                self._try(each)
                told()

    def _try(self, lambdas: Lambdas) -> None:
        _, ratio, concepts = lambdas
        warm_starts = self._warm_starts.setdefault((ratio, concepts), [WarmStart() for _ in self.folds])
        parts = []
        for fold, warm_start in zip(self.folds, warm_starts, strict=True):
            g = _commod(fold.f, self.form, lambdas, 1, fold.fit, fold.scores, warm_start)
            parts.append(fold.counts(g))
        by_sure = np.sum(parts, axis=0)
        counts = by_sure.sum(axis=-1)
        if self.asked.sure is None:
            drawn = np.concatenate([_on_new_people(part.sum(axis=-1), self.new_people) for part in parts])
            spared = np.ones(len(drawn), dtype=bool)
        else:
            drawn = np.concatenate([_on_new_people(part, self.new_people) for part in parts])
            # A model that changed nobody has changed nobody against f's certainty, whatever the draws hold possible.
            none = FIGURES["change_rate"].formula(counts) == 0
            drawn, spared = drawn.sum(axis=-1), none | (_share_sure(drawn) <= self.asked.sure)
        draws = _Draws(self._fairness(drawn), FIGURES["change_rate"].formula(drawn), spared)
        self.draws[lambdas] = draws
        met = (draws.fairness >= self.asked.fairness) & (draws.changes <= self.asked.changes) & draws.spared
        self.tried[lambdas] = {
            "accuracy": float(FIGURES["accuracy"].formula(counts.sum(axis=-2))),
            "fairness": float(self._fairness(counts)),
            "change_rate": float(FIGURES["change_rate"].formula(counts)),
            "sure": float(_share_sure(by_sure)),
            "chance": float(np.mean(met)),
        }

    def _fairness(self, counts: Counts) -> np.ndarray:
        """To be large: P-Rule, or 1 − DM."""
        criterion = CRITERIA[self.criterion]
        return np.asarray(criterion.share(criterion.figure.formula(counts.sum(axis=-2))))

    def meeting(self) -> list[Lambdas]:
        """Settings that meet the limits, the most accurate first; of equals, the one that changes least."""
        met = [each for each, found in self.tried.items() if found["chance"] >= self.asked.confidence]
        return sorted(met, key=lambda each: (-self.tried[each]["accuracy"], self.tried[each]["change_rate"]))

    def leader(self) -> Lambdas:
        """The best setting so far: of those that meet the limits, else the most likely to."""
        met = self.meeting()
        if met:
            return met[0]
        by_fairness = self._promised_fairness()
        return max(self.tried, key=lambda each: (self.tried[each]["chance"], by_fairness[each]))

    def _promised_fairness(self) -> dict[Lambdas, float]:
        """For each setting, the strictest fairness it has with the asked confidence while it changes few enough."""
        most, confidence = self.asked.changes, self.asked.confidence
        return {
            each: _quantile_within(drawn.fairness, (drawn.changes <= most) & drawn.spared, confidence)
            for each, drawn in self.draws.items()
        }

    def _promised_changes(self) -> dict[Lambdas, float]:
        """For each setting, the smallest limit on changes it keeps with the asked confidence while fair enough."""
        least, confidence = self.asked.fairness, self.asked.confidence
        return {
            each: -_quantile_within(-drawn.changes, (drawn.fairness >= least) & drawn.spared, confidence)
            for each, drawn in self.draws.items()
        }

    def offers(self) -> tuple[Lambdas, Lambdas]:
        """The setting that promises most fairness within the changes, and fewest changes at the fairness."""
        by_fairness, by_changes = self._promised_fairness(), self._promised_changes()
        return max(by_fairness, key=by_fairness.__getitem__), min(by_changes, key=by_changes.__getitem__)

    def result(self, k: int) -> Target:
        asked, met = self.asked, self.meeting()
        chosen = self.leader()
        by_fairness, by_changes = self._promised_fairness(), self._promised_changes()
        fairest, gentlest = self.offers()
        model = None
        if met:
            scores = _probabilities(self.f, self.train.X)
            model = _commod(self.f, self.form, chosen, k, self.train, scores, WarmStart())
        rows = [{**_arguments(each, k), **found} for each, found in self.tried.items()]
        return Target(
            asked.fairness,
            asked.changes,
            asked.sure,
            asked.confidence,
            self.criterion,
            _arguments(chosen, k) | self.form if met else None,
            model,
            self.tried[chosen],
            _if_finite(by_fairness[fairest], _arguments(fairest, k) | self.form),
            _if_finite(by_changes[gentlest], _arguments(gentlest, k) | self.form),
            self._bound(),
            pd.DataFrame(rows),
        )

    def _bound(self) -> float:
        decided = (base_logits(self.f, self.train.X) > 0).astype(int)
        flips = int(self.asked.changes * len(decided))
        groups, criterion = self.train.sensitive, CRITERIA[self.criterion]
        best = best_curve(
            self.train.y,
            decided,
            fairness=criterion.name,
            sensitive_features=groups,
            max_changes=flips,
            acts_on=acts_on_of(self.form.get("direction", "both"), self.form.get("favourable", 1)),
        )
        return float(criterion.share(best[criterion.figure_name].iloc[-1]))


def _if_finite(value: float, settings: dict[str, Any]) -> tuple[float, dict[str, Any]] | None:
    return (value, settings) if math.isfinite(value) else None


def _arguments(lambdas: Lambdas, k: int) -> dict[str, Any]:
    return dict(zip(LAMBDA_GRIDS, lambdas, strict=True)) | {"n_concepts": k}


def _quantile_within(values: np.ndarray, admitted: np.ndarray, confidence: float) -> float:
    """The largest v that values reach, where they are admitted, in a share `confidence` of all draws; −∞ if none."""
    needed = math.ceil(confidence * len(values))
    inside = np.sort(values[admitted])[::-1]
    return float(inside[needed - 1]) if len(inside) >= needed else -math.inf


def _folds(train: Split, f: BaseModel) -> list[_Fold]:
    cell = (2 * train.sensitive + train.y).to_numpy()
    smallest = int(np.bincount(cell, minlength=4).min())
    if smallest < FOLDS:
        raise ValueError(
            f"One group has only {smallest} training rows of some label: too few to hold any out. Use more data."
        )
    folds = []
    for inside, outside in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(train.X, cell):
        fit, held = train.take(inside), train.take(outside)
        own = clone(f).fit(fit.X, fit.y) if isinstance(f, BaseEstimator) else f
        folds.append(_Fold(fit, own, _probabilities(own, fit.X), held, base_logits(own, held.X)))
    return folds


def _probabilities(f: BaseModel, X: pd.DataFrame) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-base_logits(f, X))))


def _commod(
    f: BaseModel,
    form: dict[str, Any],
    lambdas: Lambdas,
    k: int,
    rows: Split,
    scores: np.ndarray,
    warm_start: WarmStart,
) -> Commod:
    g = Commod(f, **form, **_arguments(lambdas, k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is judged by its decisions
        return g.fit(rows.X, rows.y, sensitive_features=rows.sensitive, base_scores=scores, warm_start=warm_start)


def _on_new_people(counts: Counts, sizes: np.ndarray) -> Counts:
    """Counts of one fold's model on people not seen, within group and label, shape (draws, *counts.shape).

    Its held-out rows are resampled (what is not known of the model), then as many new people drawn as there will be
    (what is not known of them). Fold by fold and not on all rows together: the model returned will be one model, too,
    and what luck in training it had is not averaged out.
    """
    resampled = bootstrap_counts(counts.reshape(2, 2, 2, -1), n_bootstrap=DRAWS)
    rng = np.random.default_rng(1)
    out = np.zeros_like(resampled)
    for s, y in np.ndindex(2, 2):
        cells = resampled[:, s, y].reshape(DRAWS, -1)
        drawn = rng.multinomial(int(sizes[s, y]), cells / cells.sum(axis=1, keepdims=True))
        out[:, s, y] = drawn.reshape(out[:, s, y].shape)
    return out.reshape(DRAWS, *counts.shape)


def _sure(logit: np.ndarray) -> np.ndarray:
    return certainty(logit) > SURE


def _share_sure(counts: Counts) -> np.ndarray:
    """Of the decisions changed, the share in which f was sure, from counts (…, f, g, sure); 0 where none changed."""
    changed = (counts[..., 0, 1, :] + counts[..., 1, 0, :]).sum(axis=(-3, -2))
    return np.asarray(changed[..., 1] / np.maximum(changed.sum(axis=-1), 1.0))
