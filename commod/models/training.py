"""What every solver gets (encoded training rows, weights of the loss) and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commod.datasets.blocks import blocks
from commod.metrics.counts import counts_of_codes
from commod.metrics.figures import key_figures_of
from commod.models.adversary import Array
from commod.models.objective import ScoreObjective
from commod.models.rescaler import Rescaler, acted_on, spread


@dataclass(frozen=True)
class TrainingData:
    """Encoded rows."""

    X: Array  # (n, d) standardised features
    logit: Array  # (n,) of f, less its cut-off: f decides positively above 0
    y: Array  # (n,) 0/1
    sensitive: Array  # (n,) number of the group, −1 where it is not known
    line: float = 0.0  # the logit of f's threshold
    n_groups: int = 2
    weight: Array | None = None  # (n,) how much each row counts; None: all alike

    @property
    def scores(self) -> Array:
        return 1.0 / (1.0 + np.exp(-(self.logit + self.line)))

    def equals(self, other: TrainingData) -> bool:
        mine, theirs = vars(self), vars(other)
        return all(mine[name] is theirs[name] or np.array_equal(mine[name], theirs[name]) for name in mine)

    def take(self, rows: np.ndarray) -> TrainingData:
        parts = {name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **parts)

    def sorted_for(self, by_label: bool) -> TrainingData:
        """All rows, in the order `ScoreObjective` wants."""
        return self if not by_label else self.take(ScoreObjective.order(self.y, by_label=True))

    def figures(self, z: Array) -> dict[str, float]:
        counts = counts_of_codes(self.sensitive, self.n_groups, self.y > 0, self.logit > 0, z > 0, self.weight)
        return key_figures_of(counts)

    def objective(self, weights: LossWeights) -> ScoreObjective:
        return ScoreObjective(
            self.y, self.sensitive, self.n_groups, self.weight, by_label=weights.by_label, line=self.line
        )


@dataclass(frozen=True)
class LossWeights:
    """The λ's of the paper's Eq. 5, the concept term separable, the criterion, and the form of the update."""

    fair: float
    ratio: float
    sparsity: float
    diversity: float
    by_label: bool  # equalized odds: the adversary sees y
    update: str = "ratio"  # as `Commod` has it
    acts_on: str = "everybody"  # whose scores it moves (`rescaler.ACTS_ON`)


def instance_weights(ratio_norm: Any, data: TrainingData) -> Array:
    """Weight of each row in L_ratio = mean of weight·(r − 1)², scaled to mean 1 so that λ_ratio keeps its meaning.

    ``"fisher"``: f(1−f)·logit², since KL(f‖g) ≈ ½ f(1−f) logit² (r−1)² (paper, Sec. 5.1, corrected: r is one number per
    instance, so the metric weighs instances, not features).
    """
    if isinstance(ratio_norm, str):
        if ratio_norm != "fisher":
            return np.ones(len(data.y)) if data.weight is None else data.weight / data.weight.mean()
        weights = data.scores * (1 - data.scores) * data.logit**2
    else:
        weights = np.asarray(ratio_norm, dtype=float)
    if data.weight is None:
        return weights / weights.mean()
    # A mean of 1 over the people, not over the rows.
    return weights / np.average(weights, weights=data.weight) * (data.weight / data.weight.mean())


def shift_unit(data: TrainingData, acts_on: str = "everybody") -> float:
    """The unit in which a shift is measured, s = a·t: a² = E[f(1−f)·logit²] / E[f(1−f)], over those acted on.

    r is a plain number and s is on the scale of the logit. In this unit they can be penalised alike: r − 1 = ε and t =
    ε for everybody lead equally far from f, KL(f‖g) ≈ ½ E[f(1−f)·(logit g − logit f)²], and cost λ_ratio·ε². The plain
    mean square of the logit would make a shift too cheap where f is very sure of many: their logits are large, their
    scores hardly move.
    """
    acted = acted_on(acts_on, data.logit)
    logit, f = data.logit[acted], data.scores[acted]
    counts = f * (1 - f) if data.weight is None else f * (1 - f) * data.weight[acted]
    return (float(np.sqrt(np.average(logit**2, weights=counts))) if len(logit) else 0.0) or 1.0


def ratio_form(ratio_norm: Any, data: TrainingData, acts_on: str = "everybody") -> Array:
    """Matrix M with L_ratio = (θ−θ₀)ᵀM(θ−θ₀), θ = (c, v) and r(x) = c + v·x.

    It is the weighted second moment of (1, x). r counts as 1 for people whom the update does not act on.
    """
    n, d = data.X.shape
    weights = instance_weights(ratio_norm, data) * acted_on(acts_on, data.logit) / n
    form = np.zeros((d + 1, d + 1))
    for rows in blocks(n):
        part = np.vstack([np.ones(rows.stop - rows.start), data.X[rows].T])
        form += (part * weights[rows]) @ part.T
    return form


Terms = dict[str, float]

# (step, n_steps, loss terms) -> true to stop
StepCallback = Callable[[int, int, Terms], object]


@dataclass(frozen=True)
class PathPoint:
    """A ratio on the way from f to g, and every loss term there."""

    rescaler: Rescaler
    terms: Terms
    n_iter: int = 0
    converged: bool = True


@dataclass
class Solution:
    """The path from g = f to the model asked for, and every step taken on it."""

    path: list[PathPoint] = field(default_factory=list)
    history: list[Terms] = field(default_factory=list)
    stopped: bool = False
    # The adversary's pull on the weight of each feature at g = f (d,), where the solver computes it.
    pull: Array | None = None
    # Unit directions (d, k) and weights (k,), where the solver learns concepts itself.
    concepts: tuple[Array, Array] | None = None

    def spread(self, columns: NDArray[np.intp], width: int) -> Solution:
        """The same for rows of `width` features; `columns` of them were solved for."""
        return replace(
            self,
            path=[replace(point, rescaler=point.rescaler.spread(columns, width)) for point in self.path],
            pull=None if self.pull is None else spread(self.pull, columns, width),
            concepts=None
            if self.concepts is None
            else (spread(self.concepts[0].T, columns, width).T, self.concepts[1]),
        )

    @property
    def rescaler(self) -> Rescaler:
        return self.path[-1].rescaler

    @property
    def converged(self) -> bool:
        return not self.stopped and self.path[-1].converged
