"""The paper's Eq. 1 as a question: "at least this fair, at most this many changes" in, a setting out.

Candidates are judged by cross-validation within the training rows. A whole line of λ_fair costs little more than its
last point (`WarmStart`), so a grid with one refinement is quicker and easier to repeat than a sampler.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from commod.datasets import Split, Task
from commod.experiments.search import LAMBDA_GRIDS, effective_weight, folds_of, logit_of_line, probabilities
from commod.experiments.sweep import Report, concept_settings
from commod.explain.checks import SURE
from commod.metrics.counts import Counts, compared_groups
from commod.metrics.figures import CRITERIA, FIGURES
from commod.metrics.report import bootstrap_counts
from commod.models import Commod, WarmStart
from commod.models.base_models import BaseModel, base_logits, train_base_model
from commod.models.evaluation import judged_elsewhere
from commod.models.rescaler import acts_on_of
from commod.models.validation import check_choice
from commod.theory import best_curve

COARSE_FAIR = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)
COARSE_RATIO = (0.0, 0.05, 0.2, 0.5)
# λ_ratio and λ_concepts tried in addition: few features, far from f, can reach what nothing else does.
FAR_LINE = (0.0, 1.0)
FINE_STEPS = 2
DRAWS = 200  # of new people, for each fold

# λ_fair, λ_ratio, λ_concepts
Lambdas = tuple[float, float, float]


@dataclass(frozen=True)
class Asked:
    """The limits, and the probability with which they must hold on new people."""

    criterion: str
    min_fairness: float
    max_change: float
    max_sure: float | None
    confidence: float

    def __post_init__(self) -> None:
        check_choice("criterion", self.criterion, tuple(CRITERIA))
        for name in ("min_fairness", "max_change", "max_sure"):
            value = getattr(self, name)
            if name == "max_sure" and value is None:
                continue
            if not (isinstance(value, int | float) and 0.0 <= value <= 1.0):
                raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")
        if not 0.5 <= self.confidence < 1.0:
            raise ValueError(f"confidence must be at least 0.5 and below 1, got {self.confidence!r}.")


class SoFar(NamedTuple):
    """What a search has found so far: how many settings it has tried, of about how many, and the best."""

    tried: int
    about: int
    settings: dict[str, Any]
    best: str  # in words


@dataclass(frozen=True)
class Target(Asked):
    """What `find_settings` found."""

    # Keyword arguments of `Commod` that meet the limits, and the model fitted with them on all training rows; or None.
    settings: dict[str, Any] | None
    model: Commod | None
    # ``accuracy, fairness, change_rate, sure`` (the share of changes in which f was surer than 90 %) on the held-out
    # folds, of `settings` or, if none meets the limits, of the likeliest candidate; and ``chance``, the probability
    # that it meets all limits on new people.
    validation: dict[str, float]
    # The strictest fairness that can be promised within `max_change`, and its setting; and the smallest limit on
    # changes at `min_fairness`, if any setting tried is that fair.
    fairest: tuple[float, dict[str, Any]] | None
    gentlest: tuple[float, dict[str, Any]] | None
    # The best fairness on the training rows by flipping `max_change` of f's decisions (in that direction), S known.
    bound: float
    # Every setting tried, with the same figures, and ``promised_fairness, promised_changes``: the strictest limit of
    # each that it keeps with the asked confidence while it keeps the others; infinite if none.
    candidates: pd.DataFrame = field(repr=False)

    @property
    def met(self) -> bool:
        return self.settings is not None

    @property
    def answer(self) -> str:
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
            chance = f"{shown['chance']:.0%}" if shown["chance"] >= 0.01 else "less than 1%"
            why = f"The likeliest setting keeps {limits} on new people with a probability of {chance}."
        near = []
        if self.fairest is not None:
            near.append(f"with at most {self.max_change:.1%} changed, {_fair_words(self.criterion, self.fairest[0])}")
        if self.gentlest is not None:
            near.append(f"{_fair_words(self.criterion, self.min_fairness)}, at most {self.gentlest[0]:.1%} changed")
        else:
            near.append(f"none of them {_fair_words(self.criterion, self.min_fairness)}, at any number of changes")
        kept = "" if self.max_sure is None else ", with f as rarely sure,"
        return (
            f"Cannot be promised with {self.confidence:.0%} confidence: {asked}. {why} The best "
            f"of the {len(self.candidates)} settings tried promise{kept}: {'; '.join(near)}."
        )


def _fair_words(criterion: str, fairness: float) -> str:
    """A limit, rounded down so as not to promise too much."""
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
    threshold: float | str | None = None,
    lambda_concepts: float | None = None,
    n_concepts: int | None = None,
    update: str = "ratio",
    direction: str = "both",
    features: Sequence[str] | None = None,
    max_changes: float | None = None,
    report: Report | None = None,
    tell: Callable[[SoFar], None] | None = None,
) -> Target:
    """The most accurate COMMOD model that is fair enough and changes few enough decisions, or why none exists.

    Parameters
    ----------
    f : the base model in any form that `Commod` takes, trained on ``task.split(seed)[0]``
        None trains a logistic regression there.
    min_fairness, max_change : float
        The least P-Rule (for equalized odds, 1 − mistreatment), and the largest share of decisions that may change.
    max_sure : float, optional
        The largest share of the changes for which f may have been more than 90 % sure. It limits the choice of setting.
    confidence : float
        Probability that all limits hold on as many new people as the test part has. It covers chance in the validation
        rows and in the new ones, so figures on validation have to be better than the limits.
    seed : int
        Of the split; its test part is not used.
    lambda_concepts, n_concepts : float, int, optional
        Where the search for λ_concepts begins, and k of the returned model; by default those of the data set.
    threshold, update, direction, features, max_changes : as in `Commod`
        A budget of training rows becomes the same share of each trial's rows.
    report, tell : callable, optional
        Called with the share done (an exception ends the search), and before that with what was found so far.
    """
    asked = Asked(criterion, min_fairness, max_change, max_sure, confidence)
    train, test = task.split(seed=seed)
    f = train_base_model(task, train, "logistic_regression") if f is None else f
    train = train.sample()
    cells, kinds = 2 * test.sensitive + test.y, 2 * len(task.groups)  # sizes only
    rows, new_people = (np.bincount(cells, weights, kinds).reshape(-1, 2) for weights in (None, effective_weight(test)))
    usual = concept_settings(task)
    concepts = float(usual["lambda_concepts"] if lambda_concepts is None else lambda_concepts)
    k = int(usual["n_concepts"] if n_concepts is None else n_concepts)
    form: dict[str, Any] = {"fairness": criterion, "update": update}
    form |= {} if threshold is None else {"threshold": threshold}
    form |= {} if features is None else {"features": list(features)}
    if direction != "both":
        form |= {"direction": direction, "favourable": task.spec.favourable}
    budget = {} if max_changes is None else {"max_changes": max_changes}  # reported as requested
    form |= {name: _share_of(train, value) for name, value in budget.items()}
    search = Search(train, f, form, asked, new_people, rows.sum(axis=1))
    search.run(concepts, k, report, tell)
    chosen, (fairest, gentlest) = search.leader(), search.offers()
    met = search.tried[chosen]["chance"] >= confidence

    def settings(lambdas: Lambdas) -> dict[str, Any]:
        return arguments_of(lambdas, k) | form | budget

    def promised(name: str, lambdas: Lambdas) -> tuple[float, dict[str, Any]] | None:
        value = search.tried[lambdas][name]
        return (value, settings(lambdas)) if math.isfinite(value) else None

    return Target(
        **asdict(asked),
        settings=settings(chosen) if met else None,
        model=search.model(chosen, k) if met else None,
        validation=search.tried[chosen],
        fairest=promised("promised_fairness", fairest),
        gentlest=promised("promised_changes", gentlest),
        bound=search.bound(),
        candidates=pd.DataFrame([arguments_of(each, k) | found for each, found in search.tried.items()]),
    )


def _share_of(train: Split, max_changes: float) -> float:
    """A budget as a share of the training rows."""
    people = float(len(train) if train.weight is None else train.weight.sum())
    return max_changes if max_changes < 1 else min(max_changes / people, 1 - 1e-9)


class Search:
    """Settings tried so far, and what is known about each; `form`: what all of them have in common."""

    def __init__(
        self, train: Split, f: BaseModel, form: dict[str, Any], asked: Asked, new_people: np.ndarray, rows: np.ndarray
    ) -> None:
        self.train, self.f, self.form, self.asked = train, f, form, asked
        self.criterion = CRITERIA[asked.criterion]
        self.new_people, self.rows = new_people, rows
        self.folds = folds_of(train, f, form.get("threshold"), compared_groups(rows))
        self.tried: dict[Lambdas, dict[str, float]] = {}
        self._warm_starts: defaultdict[Any, list[WarmStart]] = defaultdict(lambda: [WarmStart() for _ in self.folds])

    def run(self, concepts: float, k: int, report: Report | None, tell: Callable[[SoFar], None] | None) -> None:
        """Try the coarse grid, then the neighbourhood of its best setting."""
        lines = list(dict.fromkeys([*((ratio, concepts) for ratio in COARSE_RATIO), FAR_LINE]))
        total = len(lines) * len(COARSE_FAIR) + 16  # and about as many as the refinement takes

        def report_best() -> None:
            if tell is not None:
                best = self.leader()
                tell(SoFar(len(self.tried), total, arguments_of(best, k) | self.form, self.in_words(best)))
            if report is not None:
                report(min(0.98, len(self.tried) / total))

        for line in lines:
            self.try_all([(fair, *line) for fair in COARSE_FAIR], report_best)

        def refine_offers() -> None:
            for near in self.offers():
                self.try_all(_around(near)[: 2 * FINE_STEPS + 1], report_best)  # on its own line only

        # Also before the limits matter: what one refusal offers, the next search must find.
        refine_offers()
        self.try_all(_around(self.leader()), report_best)
        if self.tried[self.leader()]["chance"] < self.asked.confidence:
            refine_offers()

    def try_all(self, lambdas: Iterable[Lambdas], report: Callable[[], None]) -> None:
        """Try settings that were not tried yet; `report` is called after each."""
        for each in lambdas:
            if each not in self.tried:
                self.tried[each] = self._try(each)
                report()

    def _try(self, lambdas: Lambdas) -> dict[str, float]:
        asked, change_rate, warm_starts = self.asked, FIGURES["change_rate"].formula, self._warm_starts[lambdas[1:]]
        parts = []
        for fold, warm_start in zip(self.folds, warm_starts, strict=True):
            g = self._fit(lambdas, 1, fold.f, fold.fit, fold.scores, warm_start)
            parts.append(fold.counts(g, len(self.rows)))
        by_sure = np.sum(parts, axis=0)
        counts = by_sure.sum(axis=-1)
        if asked.max_sure is None:
            drawn = np.concatenate([_on_new_people(part.sum(axis=-1), self.new_people) for part in parts])
            spared = np.ones(len(drawn), dtype=bool)
        else:
            drawn = np.concatenate([_on_new_people(part, self.new_people) for part in parts])
            # A model that changed nobody has overruled no sure decision, whatever the draws allow.
            spared = (change_rate(counts) == 0) | (share_sure(drawn) <= asked.max_sure)
            drawn = drawn.sum(axis=-1)
        fairness, changes = self._fairness(drawn), change_rate(drawn)
        fair, few = fairness >= asked.min_fairness, changes <= asked.max_change
        return {
            "accuracy": float(FIGURES["accuracy"].formula(counts.sum(axis=-2))),
            "fairness": float(self._fairness(counts)),
            "change_rate": float(change_rate(counts)),
            "sure": float(share_sure(by_sure)),
            "chance": float(np.mean(fair & few & spared)),
            "promised_fairness": _quantile_within(fairness, few & spared, asked.confidence),
            "promised_changes": -_quantile_within(-changes, fair & spared, asked.confidence),
        }

    def _fairness(self, counts: Counts) -> np.ndarray:
        """P-Rule, or 1 − DM: the larger, the fairer."""
        return np.asarray(self.criterion.share(self.criterion.figure.of_counts(counts.sum(axis=-2), self.rows)))

    def leader(self) -> Lambdas:
        """The most accurate that meets the limits, then the one with fewest changes; if none does, the likeliest."""
        tried = self.tried
        met = [each for each, found in tried.items() if found["chance"] >= self.asked.confidence]
        if met:
            return min(met, key=lambda each: (-tried[each]["accuracy"], tried[each]["change_rate"]))
        return max(tried, key=lambda each: (tried[each]["chance"], tried[each]["promised_fairness"]))

    def offers(self) -> tuple[Lambdas, Lambdas]:
        """The setting that promises most fairness within the changes, and that with fewest changes at the fairness."""
        tried = self.tried
        fairest = max(tried, key=lambda each: tried[each]["promised_fairness"])
        return fairest, min(tried, key=lambda each: tried[each]["promised_changes"])

    def in_words(self, lambdas: Lambdas) -> str:
        found = self.tried[lambdas]
        return (
            f"{_value_words(self.criterion.name, found['fairness'])}, {found['change_rate']:.1%} changed, on held-out "
            f"people; on new people all limits are kept with a probability of {found['chance']:.0%}"
        )

    def model(self, lambdas: Lambdas, k: int) -> Commod:
        return self._fit(lambdas, k, self.f, self.train, probabilities(base_logits(self.f, self.train.X)), WarmStart())

    def _fit(
        self, lambdas: Lambdas, k: int, f: BaseModel, rows: Split, scores: np.ndarray, warm_start: WarmStart
    ) -> Commod:
        """COMMOD at a setting; its decisions show whether it converged."""
        g = Commod(f, **self.form, **arguments_of(lambdas, k))
        with judged_elsewhere():
            return g.fit(**rows.fit_arguments, base_scores=scores, warm_start=warm_start)

    def bound(self) -> float:
        """The best fairness that anybody could reach within the changes, in the direction asked for, with S known."""
        logit, groups = base_logits(self.f, self.train.X), self.train.sensitive_features
        best = best_curve(
            self.train.y,
            (logit > logit_of_line(self.form.get("threshold"), self.f, logit, self.train)).astype(int),
            fairness=self.criterion.name,
            sensitive_features=groups,
            max_changes=int(self.asked.max_change * groups.notna().sum()),
            acts_on=acts_on_of(self.form.get("direction", "both"), self.form.get("favourable", 1)),
            sample_weight=self.train.weight,
        )
        return float(self.criterion.share(best[self.criterion.figure_name].iloc[-1]))


def arguments_of(lambdas: Lambdas, k: int) -> dict[str, Any]:
    """Keyword arguments of `Commod`."""
    return dict(zip(LAMBDA_GRIDS, lambdas, strict=True)) | {"n_concepts": k}


def _quantile_within(values: np.ndarray, admitted: np.ndarray, confidence: float) -> float:
    """The largest v that admitted values reach in a share `confidence` of all draws; −∞ if none."""
    needed = math.ceil(confidence * len(values))
    inside = np.sort(values[admitted])[::-1]
    return float(inside[needed - 1]) if len(inside) >= needed else -math.inf


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


def _on_new_people(counts: Counts, sizes: np.ndarray) -> Counts:
    """Counts of one fold's model on new people, by group and label, shape (draws, *counts.shape).

    Held-out rows are resampled (the model is uncertain), then new people are drawn (they are uncertain, too). This is
    done for each fold: the returned model is one model, whose luck in training is not averaged out.
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
    """The share of the changed decisions that f was sure of, from counts (…, f, g, sure); 0 where none changed."""
    changed = (counts[..., 0, 1, :] + counts[..., 1, 0, :]).sum(axis=(-3, -2))
    return np.asarray(changed[..., 1] / np.maximum(changed.sum(axis=-1), 1.0))
