"""The lowest loss that random starts find, polished by the solver's own Newton steps: what a search is held against."""

import numpy as np

from commod.models.base_models import base_logits
from commod.models.best_response import LinearProblem, _newton, _Point
from commod.models.training import TrainingData, ratio_form, shift_unit
from commod.models.validation import loss_weights


def training_data(case, model):
    """The rows that `model` was trained on, as its solver saw them."""
    X, y, s = case.train.X, case.train.y.to_numpy(float), case.train.sensitive
    logit = base_logits(case.f, X)
    sensitive = (s.to_numpy() == model.groups_[1]).astype(float)
    return TrainingData(model.encoder_.transform(X), logit, y, sensitive)


def lowest_loss(case, model, n_starts=20, seed=0):
    """Of `n_starts` random r, the mean between −0.5 and 1.5 and the standard deviation between 0.2 and 2.

    A shift, in its unit, has a mean between −1 and 1 and the same standard deviations.
    """
    weights = loss_weights(model, np.array([0, 1]))
    data = training_data(case, model)
    unit, width = shift_unit(data) if model.update == "affine" else 0.0, 1 + data.X.shape[1]
    problem = LinearProblem(data.sorted_for(weights.by_label), weights, ratio_form("identity", data), unit)
    rng = np.random.default_rng(seed)
    losses = []
    for _ in range(n_starts):
        theta = rng.normal(size=len(problem.identity))
        theta[1:width] *= rng.uniform(0.2, 2.0) / np.std(data.X @ theta[1:width])
        theta[0] = rng.uniform(-0.5, 1.5)
        if unit:
            theta[width + 1 :] *= rng.uniform(0.2, 2.0) / np.std(data.X @ theta[width + 1 :])
            theta[width] = rng.uniform(-1.0, 1.0)
        phis = tuple(fit.phi for fit in problem.start.fits)
        start = _Point(theta, phis, {})
        losses.append(_newton(problem, start, model.lambda_fair, 1e-9, lambda terms: False).terms["objective"])
    return min(losses)
