"""The opening model of your own data, judged on people held out of the training rows; test rows are not touched.

They open with the form that no other beats, at the smallest λ_fair that buys half of the fairness within reach.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from commod.datasets import Split
from commod.experiments.scene import Scene
from commod.experiments.search import Fold, folds_of
from commod.experiments.sweep import Report, concept_settings
from commod.explain.checks import SURE, certainty
from commod.explain.model_warnings import are_treated_alike
from commod.metrics.counts import compared_groups
from commod.metrics.figures import CRITERIA
from commod.models import Commod, WarmStart
from commod.models.evaluation import collapse_in_words, judged_elsewhere
from commod.wording import with_capital

TRIED = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
# The solver's tolerance for a trial: that of the points on its way.
QUICK = {"tol": 1e-4}
# As many models as bisection tries, about.
EXPECTED = 12
# The forms of the update, the paper's first, as used in a sentence.
FORMS = {
    "ratio": "multiplying, the paper's form",
    "affine": "multiplying and shifting",
    "decisions": "counting changed decisions",
}
# A start is not a result: this many training rows are enough, in two halves that judge each other.
ROWS, FOLDS = 3_000, 2
# Under equalized odds, the share (1 is fair) at which f needs no correction; and the least part of what is unfair that
# counts as a gain.
FAIR_ENOUGH, LEAST_GAIN = 0.95, 0.1
# Smaller differences of fairness, accuracy, changes, right changes and f's certainty count as none.
ALIKE = np.array([0.005, 0.005, 0.005, 0.05, 0.05])


@dataclass(frozen=True)
class Trial:
    """A model on held-out people."""

    update: str
    lambda_fair: float
    fairness: float  # 1 is fair
    accuracy: float
    changed: float
    right: float  # the share of the changes that is right by the record
    sure: float  # the share of the changes that f was sure of
    sound: bool = True

    @property
    def settings(self) -> dict[str, Any]:
        return {"lambda_fair": self.lambda_fair, "update": self.update}

    @property
    def name(self) -> str:
        return f"{FORMS[self.update]} at λ_fair {self.lambda_fair:g}"

    @property
    def is_useful(self) -> bool:
        return self.sound and self.changed > 0

    @property
    def wrong(self) -> float:
        return self.changed * (1.0 - self.right)


@dataclass(frozen=True)
class Start:
    """A setting to begin with (arguments of `Commod`) and why; `papers`: of the paper's form, where another opens."""

    settings: Mapping[str, Any]
    text: str
    papers: Mapping[str, Any] = field(default_factory=dict)


def suited_start(scene: Scene, fairness: str, report: Report | None = None) -> Start:
    """Where data open, judged on (at most `ROWS` of) the training rows, held out in folds."""
    held = _HeldOut(scene, fairness, report)
    start = held.of_f.fairness
    if held.f_is_fair:
        text = f"On training rows the groups differ by no more than chance may explain ({held.shown(start)}): "
        return Start({"lambda_fair": 0.0}, text + "the pages open with f as it is.")
    best = held.best()
    if not held.gains(best):
        return _no_gain(held.all_useful(), start, held.shown(start))
    found = 0.0
    while found < best:  # a fairer model than the first ones may turn up on the way
        found, target = best, start + 0.5 * (best - start)
        candidates = [one for update in FORMS if (one := held.least(update, target)) is not None]
        best = held.fairest()
    chosen, *others = sorted(candidates, key=lambda one: _rank(one, candidates, target))
    if chosen.fairness >= best - ALIKE[0]:
        why = f"the fairest that was tried (f has {held.shown(start)})"
    else:
        why = (
            f"the smallest λ_fair that goes {'at least ' if chosen.fairness >= target else 'almost '}half of the way "
            f"from f ({held.shown(start)}) to the fairest that was tried ({held.shown(best, named=False)})"
        )
    text = (
        f"These data open by {chosen.name}: {why}. On held-out training rows f is right for "
        f"{held.of_f.accuracy:.1%} of people, and one answer for everybody for {held.of_constant:.1%}. No other "
        f"form beats this one there: {held.in_words(chosen)}."
    )
    beside = [f"{with_capital(one.name)}: {held.in_words(one)}." for one in others]
    papers = next((one.settings for one in others if one.update == "ratio"), {})
    return Start(chosen.settings, " ".join([text, *beside]), papers)


def _no_gain(trials: Sequence[Trial], fairness: float, figure: str) -> Start:
    if fairness >= FAIR_ENOUGH:
        text = f"f is nearly fair ({figure} on held-out training rows), and no λ_fair makes it fairer"
        return Start({"lambda_fair": 0.0}, f"{text}: the pages open with f as it is.")
    text = (
        f"No λ_fair up to {TRIED[-1]:g} makes f fairer on held-out training rows ({figure}) without ruining it: look "
        "at what other methods do on the page Compare."
    )
    if not trials:
        return Start({}, f"{text} Nor does any change a single decision.")
    return Start(trials[0].settings, f"{text} It opens where the first decisions change.")


def _merits(trial: Trial, target: float) -> np.ndarray:
    """Its marks, larger being better; fairness beyond the aim does not count."""
    return np.array([min(trial.fairness, target), trial.accuracy, -trial.changed, trial.right, -trial.sure])


def _beats(one: Trial, other: Trial, target: float) -> bool:
    """Whether one is at least as good as another in all respects, and better in one."""
    gain = (_merits(one, target) - _merits(other, target)) / ALIKE
    return bool((gain > -1).all() and (gain > 1).any())


def _rank(one: Trial, all_of_them: Iterable[Trial], target: float) -> tuple[bool, bool, float]:
    """Smallest for the model to open with: not beaten, fair enough, with the fewest wrong changes."""
    return any(_beats(other, one, target) for other in all_of_them), one.fairness < target, one.wrong


class _HeldOut:
    """People held out of the training rows, and f on them."""

    def __init__(self, scene: Scene, fairness: str, report: Report | None = None) -> None:
        self.scene, self.fairness = scene, fairness
        self._report = report or (lambda share: None)
        self._trials: dict[tuple[str, float], Trial] = {}
        self._warm_starts: dict[str, list[WarmStart]] = {}
        rows = np.sort(np.random.default_rng(0).permutation(len(scene.train))[:ROWS])
        train = scene.train.take(rows)
        self.folds = self._folds(train, rows)
        held = [fold.held for fold in self.folds]
        self.y, self.groups = (np.concatenate([getattr(part, name) for part in held]) for name in ("y", "sensitive"))
        weights = [part.weight.to_numpy() for part in held if part.weight is not None]
        self.weight = np.concatenate(weights) if weights else None
        self.logit = np.concatenate([fold.logit for fold in self.folds])
        self.of_f = self._judge("ratio", 0.0, self.logit)

    def _folds(self, train: Split, rows: np.ndarray) -> list[Fold]:
        sizes = np.bincount(train.sensitive[train.sensitive >= 0], minlength=len(self.scene.task.groups))
        try:
            return folds_of(train, self.scene.f, self.scene.threshold, compared_groups(sizes), FOLDS)
        except ValueError:  # too few people of some kind to hold any out
            scores, logit = self.scene.scores_train[rows], self.scene.logit_train[rows]
            return [Fold(train, self.scene.f, scores, train, logit, self.scene.line)]

    @property
    def of_constant(self) -> float:
        """How often the same answer for everybody is right."""
        positive = float(np.average(self.y, weights=self.weight))
        return max(positive, 1.0 - positive)

    @property
    def f_is_fair(self) -> bool:
        if CRITERIA[self.fairness].by_label:
            return self.of_f.fairness >= FAIR_ENOUGH
        return are_treated_alike(self.groups, self.logit > 0)

    def gains(self, fairness: float) -> bool:
        start = self.of_f.fairness
        return fairness - start >= LEAST_GAIN * (1.0 - start)

    def trial(self, update: str, lambda_fair: float) -> Trial:
        """A model, fitted once; the next one of its form starts from it."""
        key = update, lambda_fair
        if key not in self._trials:
            starts = self._warm_starts.setdefault(update, [WarmStart() for _ in self.folds])
            margins = [self._margin(*each, *key) for each in zip(self.folds, starts, strict=True)]
            self._trials[key] = self._judge(*key, np.concatenate(margins))
            self._report(min(1.0, len(self._trials) / EXPECTED))
        return self._trials[key]

    def best(self) -> float:
        """The best fairness of each form's first trial; if none gains anything, of all trials."""
        middle = TRIED[len(TRIED) // 2]
        for update in FORMS:
            self.trial(update, TRIED[-1] if update == "decisions" else middle)
        if not self.gains(self.fairest()):
            self.all_useful()
        return self.fairest()

    def fairest(self) -> float:
        return max((trial.fairness for trial in self._trials.values() if trial.is_useful), default=0.0)

    def all_useful(self) -> list[Trial]:
        trials = (self.trial(update, value) for update in FORMS for value in TRIED)
        return [trial for trial in trials if trial.is_useful]

    def least(self, update: str, target: float) -> Trial | None:
        """A form's model with the smallest λ_fair that is fair enough, or else its fairest, by bisection."""
        bisect_left(TRIED, target, key=lambda value: self.trial(update, value).fairness)
        own = [trial for key, trial in sorted(self._trials.items()) if key[0] == update and trial.is_useful]
        enough = (trial for trial in own if trial.fairness >= target)
        return next(enough, max(own, key=lambda trial: trial.fairness, default=None))

    def _margin(self, fold: Fold, warm_start: WarmStart, update: str, lambda_fair: float) -> np.ndarray:
        g = Commod(
            fold.f,
            threshold=self.scene.threshold,
            lambda_fair=lambda_fair,
            fairness=self.fairness,
            update=update,
            solver_options=QUICK if update != "decisions" else None,
            **concept_settings(self.scene.task),
        )
        with judged_elsewhere():
            g.fit(**fold.fit.fit_arguments, base_scores=fold.scores, warm_start=warm_start)
        return g.decision_function(fold.held.X)

    def _judge(self, update: str, lambda_fair: float, margin: np.ndarray) -> Trial:
        criterion, decided = CRITERIA[self.fairness], margin > 0
        changed, right = decided != (self.logit > 0), decided == self.y
        known = np.ones(len(self.y)) if self.weight is None else self.weight
        groups = len(self.scene.task.groups)
        figure = criterion.figure.of_decisions(self.groups, groups, self.y, decided.astype(int), self.weight)

        def of_changes(what: np.ndarray) -> float:
            return float(np.average(what[changed], weights=known[changed])) if changed.any() else 0.0

        return Trial(
            update,
            lambda_fair,
            float(criterion.share(figure)),
            float(np.average(right, weights=known)),
            float(np.average(changed, weights=known)),
            of_changes(right),
            of_changes(certainty(self.logit, self.scene.line) > SURE),
            not collapse_in_words(self.y, self.logit, margin),
        )

    def shown(self, fairness: float, *, named: bool = True) -> str:
        criterion = CRITERIA[self.fairness]
        value = criterion.figure.show(criterion.share(fairness))
        return f"{criterion.figure.in_sentence} {value}" if named else value

    def in_words(self, trial: Trial) -> str:
        return (
            f"{self.shown(trial.fairness)}, accuracy {trial.accuracy:.1%}, {trial.changed:.1%} of decisions changed, "
            f"{trial.right:.0%} of these right by the record, f {SURE:.0%} sure of {trial.sure:.0%} of them"
        )
