"""The paper's Eq. 1 the way it is asked: "at least this fair, at most so many changes" in, a setting out.

Candidates are judged on people that neither f nor g was trained on, by cross-validation within the training rows
(`Search`). The whole line of λ_fair costs little more than its last point (`WarmStart`), so a grid with one refinement
is both quicker and easier to repeat than a sampler.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from commod.datasets import Task
from commod.experiments.search import LAMBDA_GRIDS, Asked, Lambdas, Search, arguments_of, effective_weight
from commod.experiments.sweep import concept_settings
from commod.explain.plausibility import SURE
from commod.metrics.figures import CRITERIA
from commod.models import Commod
from commod.models.base_models import BaseModel, train_base_model
from commod.models.validation import check_choice

COARSE_FAIR = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)
COARSE_RATIO = (0.0, 0.05, 0.2, 0.5)
# λ_ratio and λ_concepts that are tried beside these: few features, far from f, can reach what nothing else does.
FAR_LINE = (0.0, 1.0)
FINE_STEPS = 2


@dataclass(frozen=True)
class SoFar:
    """What a search has found before it is done: how many settings it has tried of about how many, and the best."""

    tried: int
    about: int
    criterion: str
    settings: dict[str, Any]
    validation: dict[str, float]

    @property
    def best(self) -> str:
        """The best setting so far in words."""
        shown = self.validation
        return (
            f"{_value_words(self.criterion, shown['fairness'])}, {shown['change_rate']:.1%} changed, on held-out "
            f"people; on new people all limits are kept with a probability of {shown['chance']:.0%}"
        )


@dataclass(frozen=True)
class Target:
    """What `find_settings` found.

    Attributes
    ----------
    settings, model : dict, Commod, or None
        Keyword arguments of `Commod` that meet the limits, and the model fitted with them on all training rows; None if
        none does.
    validation : dict
        ``accuracy, fairness, change_rate, sure`` (of the changes, the share in which f was surer than 90 %) of the
        candidate behind `settings` (or, if none meets the limits, of the likeliest one) on the held-out folds, and
        ``chance``, the probability that it meets all limits on new people.
    fairest, gentlest : (float, dict) or None
        With at most `max_change`, the strictest fairness that can be promised as confidently, and its setting; at
        `min_fairness`, the smallest limit on changes, and its setting, if any setting tried is that fair.
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
    threshold: float | str | None = None,
    lambda_concepts: float | None = None,
    n_concepts: int | None = None,
    update: str = "ratio",
    direction: str = "both",
    features: Sequence[str] | None = None,
    max_changes: float | None = None,
    report: Callable[[float], None] | None = None,
    tell: Callable[[SoFar], None] | None = None,
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
        are taken, not the training.
    confidence : float
        With which probability all limits are to hold on new people, as many as the test part has. It covers the chance
        in the validation rows and in the new ones, so single figures on validation have to be better than the limits.
    seed : int
        Of the split; its test part is not looked at.
    threshold : float, "budget", "budget:0.2" or None
        Where f draws its line, as `Commod` takes it.
    lambda_concepts, n_concepts : float, int, optional
        Where the search for λ_concepts begins, and k of the model returned, which moves no decision; default, what goes
        with the data set.
    update, direction, features, max_changes : as in `Commod`
        Form of the models; which outcome is favourable, the task says. A budget of so many training rows is the same
        share of the rows that a trial is trained on.
    report, tell : callable, optional
        Called with the share done (what it raises ends the search), and before that with what was found so far.
    """
    check_choice("criterion", criterion, tuple(CRITERIA))
    asked = _checked(min_fairness, max_change, max_sure, confidence)
    train, test = task.split(seed=seed)
    f = train_base_model(task, train, "logistic_regression") if f is None else f
    train = train.sample()
    cells, kinds = 2 * test.sensitive + test.y, 2 * len(task.groups)  # sizes only
    rows, new_people = (np.bincount(cells, weights, kinds).reshape(-1, 2) for weights in (None, effective_weight(test)))
    usual = concept_settings(task)
    concepts = usual["lambda_concepts"] if lambda_concepts is None else float(lambda_concepts)
    k = usual["n_concepts"] if n_concepts is None else int(n_concepts)
    form: dict[str, Any] = {"fairness": criterion, "update": update}
    if threshold is not None:
        form["threshold"] = threshold
    if direction != "both":
        form |= {"direction": direction, "favourable": task.spec.favourable}
    if features is not None:
        form["features"] = list(features)
    if max_changes is not None:
        people = float(len(train) if train.weight is None else train.weight.sum())
        form["max_changes"] = max_changes if max_changes < 1 else min(max_changes / people, 1 - 1e-9)
    search = Search(train, f, form, new_people, asked, rows.sum(axis=1))
    _search(search, k, concepts, report, tell)
    return _target(search, k, {} if max_changes is None else {"max_changes": max_changes})


def _search(
    search: Search,
    k: int,
    concepts: float,
    report: Callable[[float], None] | None,
    tell: Callable[[SoFar], None] | None,
) -> None:
    """Try the coarse grid, then what lies around the best of it."""
    lines = [(ratio, concepts) for ratio in COARSE_RATIO]
    if FAR_LINE not in lines:
        lines.append(FAR_LINE)
    total = len(lines) * len(COARSE_FAIR) + 16  # and about as many as the refinement takes

    def told() -> None:
        if tell is not None:
            best = search.leader()
            settings = arguments_of(best, k) | search.form
            tell(SoFar(len(search.tried), total, search.criterion, settings, search.tried[best]))
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


def _checked(min_fairness: float, max_change: float, max_sure: float | None, confidence: float) -> Asked:
    shares = {"min_fairness": min_fairness, "max_change": max_change}
    for name, value in (shares if max_sure is None else shares | {"max_sure": max_sure}).items():
        if not (isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= 1.0):
            raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")
    if not 0.5 <= confidence < 1.0:
        raise ValueError(f"confidence must be at least 0.5 and below 1, got {confidence!r}.")
    return Asked(min_fairness, max_change, max_sure, confidence)


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


def _target(search: Search, k: int, budget: dict[str, Any]) -> Target:
    """What a search has found, with the model trained on all training rows; a `budget` is told as it was asked for."""
    asked, met, chosen = search.asked, bool(search.meeting()), search.leader()
    by_fairness, by_changes = search.promised_fairness(), search.promised_changes()
    fairest, gentlest = search.offers()

    def settings(lambdas: Lambdas) -> dict[str, Any]:
        return arguments_of(lambdas, k) | search.form | budget

    return Target(
        asked.fairness,
        asked.changes,
        asked.sure,
        asked.confidence,
        search.criterion,
        settings(chosen) if met else None,
        search.model(chosen, k) if met else None,
        search.tried[chosen],
        _if_finite(by_fairness[fairest], settings(fairest)),
        _if_finite(by_changes[gentlest], settings(gentlest)),
        search.bound(),
        pd.DataFrame([{**arguments_of(each, k), **found} for each, found in search.tried.items()]),
    )


def _if_finite(value: float, settings: dict[str, Any]) -> tuple[float, dict[str, Any]] | None:
    return (value, settings) if math.isfinite(value) else None
