"""Forms of the update that were tried and are not in the library; `tests.benchmarks.tuned` compares them.

- Two-sided ratio: r of people whom f rejects and r of those it accepts have weights of their own; the paper's loss.
- Capped ratio: λ_ratio·mean min((r − 1)², 1) in the paper's loss. Whoever is flipped costs one, however far.
- Decisions, ramp loss: the solver of ``update="decisions"`` with a loss that stops rising for people who are far on the
  wrong side. It is the difference of two convex functions; the second is replaced by its tangent, a few times.
"""

import numpy as np
import pandas as pd

from commod import Commod
from commod.experiments.sweep import concept_settings
from commod.metrics.figures import CRITERIA
from commod.models.evaluation import judged_elsewhere
from commod.models.prices import MAX_STEPS, RIDGE, TOL, PricePath, lasso_step, solve_prices
from commod.models.training import LossWeights, TrainingData

ROUNDS = 3


def _settings(scene, cell, fairness, options):
    own = {key: value for key, value in cell.others if key not in options}
    return {"lambda_fair": cell.value, "fairness": fairness, **concept_settings(scene.task), **own, **options}


def two_sided(scene, cell, fairness, shared, options):
    train, test = (
        _by_side(encoded, logit)
        for encoded, logit in ((scene.encoded_train, scene.logit_train), (scene.encoded_test, scene.logit_test))
    )
    g = Commod(scene.f, **_settings(scene, cell, fairness, options))
    with judged_elsewhere():
        g.fit(
            shared.memory.__dict__.setdefault("by_side", train),
            scene.train.y,
            sensitive_features=scene.train.sensitive,
            base_scores=scene.scores_train,
            warm_start=shared.warm_start,
        )
    return (g.rescaler_.score(g.encoder_.transform(test), scene.logit_test) > 0).astype(int)


def _by_side(encoded, logit):
    """Every feature twice: of those f rejects, and of those it accepts."""
    accepts = (logit > 0)[:, None]
    both = np.hstack([np.where(accepts, 0.0, encoded), np.where(accepts, encoded, 0.0), accepts])
    return pd.DataFrame(both, columns=[f"x{i}" for i in range(both.shape[1])])


def capped(scene, cell, fairness, shared, options):
    """Reweighted until nothing moves, or a few times: who is flipped has weight 0 in L_ratio, all others 1."""
    settings = _settings(scene, cell, fairness, options)
    price, weight = settings.pop("lambda_ratio"), np.ones(len(scene.train))
    for _ in range(ROUNDS):
        g = Commod(scene.f, **settings, lambda_ratio=price * weight.mean(), ratio_norm=weight)
        with judged_elsewhere():
            g.fit(**scene.train.fit_arguments, base_scores=scene.scores_train)
        ratio = g.rescaler_.ratio_and_shift(scene.encoded_train, scene.logit_train)[0]
        stays = (ratio > 0).astype(float)
        if price == 0 or np.array_equal(stays, weight) or not stays.any():
            break
        weight = stays
    return (g.rescaler_.score(scene.encoded_test, scene.logit_test) > 0).astype(int)


class RampPath(PricePath):
    """Log loss of the margin less that of the margin plus `width`: at most about `width` for anybody."""

    width = 2.0

    def _solve(self, prices, start):
        theta, count, value = super()._solve(prices, start)
        for _ in range(ROUNDS):
            theta, more, value = self._tilted(prices, theta)
            count += more
        return theta, count, value

    def _tilted(self, prices, start):
        benefit = self._gains(prices) - self._cost
        sign, weight = np.sign(benefit), self._weight * np.abs(benefit)
        weight = weight / max(float(weight.sum()), 1e-300)
        features, penalty, theta = self._features, self._penalty, start
        margin = sign * (features @ theta)
        beyond = 1.0 / (1.0 + np.exp(np.minimum(margin + self.width, 700.0)))
        tilt = (weight * sign * beyond) @ features

        def loss(at, margin):
            own = weight @ np.logaddexp(0.0, -margin) + tilt @ at
            return float(own + penalty @ np.abs(at) + 0.5 * RIDGE * at @ at)

        value = loss(theta, margin)
        step = 0
        while (step := step + 1) <= MAX_STEPS:
            wrong = 1.0 / (1.0 + np.exp(np.minimum(margin, 700.0)))
            gradient = RIDGE * theta + tilt - (weight * sign * wrong) @ features
            free = np.flatnonzero((theta != 0) | (penalty == 0) | (np.abs(gradient) > penalty))
            few = features[:, free]
            hessian = (few.T * (weight * wrong * (1.0 - wrong))) @ few + RIDGE * np.eye(len(free))
            goal = theta.copy()
            goal[free] = lasso_step(gradient[free], hessian, theta[free], penalty[free])
            move = goal - theta
            drop = float(gradient @ move + penalty @ (np.abs(goal) - np.abs(theta)))
            if drop > -TOL:
                break
            size = 1.0
            while True:
                trial = theta + size * move
                margin = sign * (features @ trial)
                reached = loss(trial, margin)
                if reached <= value + 0.1 * size * drop or size < 1e-8:
                    break
                size *= 0.5
            theta, value = trial, reached
        return theta, step, value


def ramp(scene, cell, fairness, shared, options):
    settings = _settings(scene, cell, fairness, {})
    weights = LossWeights(
        fair=cell.value,
        ratio=settings["lambda_ratio"],
        sparsity=settings["lambda_concepts"],
        diversity=settings["lambda_concepts"],
        by_label=CRITERIA[fairness].by_label,
        update="decisions",
    )
    if not hasattr(shared, "path"):
        codes = scene.train.sensitive.to_numpy()
        y = scene.train.y.to_numpy(dtype=float)
        data = TrainingData(scene.encoded_train, scene.logit_train, y, codes, scene.line, len(scene.task.groups))
        shared.path = RampPath(data, weights)
    rule = solve_prices(shared.path, cell.value).rescaler
    return (rule.score(scene.encoded_test, scene.logit_test) > 0).astype(int)


# By name: the method whose settings it gets, and its decisions on the test rows of a scene.
TRIED_FORMS = {
    "COMMOD, two-sided ratio": ("commod", two_sided),
    "COMMOD, capped ratio": ("commod", capped),
    "COMMOD, decisions with a ramp loss": ("commod_decisions", ramp),
}
