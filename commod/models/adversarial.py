"""The listing of the paper (Algorithm 1), as faithful as it can be: r and an MLP adversary take turns.

Kept for comparison. Minibatches, a random start and an adversary that is always a step behind move its result from
seed to seed, and it takes thousands of steps; the default solver (`best_response`) solves the adversary at every step
and looks for the lowest minimum of the same loss.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from commod.models.adversary import Array
from commod.models.networks import Adversary, ConceptNetwork, MLPNetwork, diversity_loss, seeded, sparsity_loss
from commod.models.objective import DesignMatrix
from commod.models.rescaler import LinearRescaler
from commod.models.training import LossWeights, PathPoint, Solution, StepCallback, Terms, TrainingData, instance_weights

LOSSES = ("objective", "label_loss", "adversary_loss", "ratio_loss", "sparsity_loss", "diversity_loss")


def train_adversarial(
    data: TrainingData,
    weights: LossWeights,
    ratio_norm: Any,
    *,
    architecture: Literal["linear", "mlp"] = "linear",
    n_concepts: int = 2,
    epochs: int = 100,
    batch_size: int = 128,
    learning_rate: float = 1e-3,
    adversary_learning_rate: float = 1e-2,
    adversary_width: int = 16,
    adversary_steps: int = 1,
    warmup_epochs: int = 5,
    width: int = 16,
    random_state: int = 0,
    callback: StepCallback | None = None,
) -> Solution:
    """Train r against h by alternating minibatch steps.

    Each step updates the adversary on the current scores (the listing's "warm-up", `adversary_steps` times), then r
    on L_Y − λ_fair·L_S + λ_ratio·L_ratio + λ_concepts·(L_sparsity + L_diversity). The epoch gates: the fairness and
    concept terms are off for the first `warmup_epochs`, in which the adversary learns to read S.

    Both losses differ from the printed ones as their docstrings say, and the Lasso is measured in the same unit as
    the default solver's, so that one setting means one thing under both.
    """
    n, d = data.X.shape
    scale = _sparsity_scale(data, weights)
    objective = data.objective(replace(weights, by_label=False))
    (asked,) = objective.adversaries
    of_label, of_asked = (np.ones(n) if each is None else each for each in (objective.weight, objective.asked_weight))
    of_question = len(asked.counts_for) * asked.counts_for
    rows, X, logit, y = map(_tensor, (instance_weights(ratio_norm, data), data.X, data.logit, data.y))
    answers, label_weight, asked_weight = map(_tensor, (asked.truth.T, of_label, np.outer(of_asked, of_question)))
    with seeded(random_state):
        network = ConceptNetwork(d, n_concepts) if architecture == "linear" else MLPNetwork(d, width)
        adversary = Adversary(2 if weights.by_label else 1, adversary_width, answers.shape[1])
    shuffle = torch.Generator().manual_seed(random_state)
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    adversary_optimizer = torch.optim.Adam(adversary.parameters(), lr=adversary_learning_rate)

    def adversary_loss(z: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        inputs = torch.stack([z, y[batch]], dim=1) if weights.by_label else z[:, None]
        return cross_entropy(adversary(inputs), answers[batch], weight=asked_weight[batch])

    solution = Solution()
    solution.path.append(PathPoint(LinearRescaler(1.0, np.zeros(d)), {"lambda_fair": 0.0}))
    n_steps = epochs * -(-n // batch_size)
    terms: Terms = {}
    deals = (torch.split(torch.randperm(n, generator=shuffle), batch_size) for _ in range(epochs))
    for epoch, batch in ((epoch, batch) for epoch, deal in enumerate(deals) for batch in deal):
        gate = float(epoch >= warmup_epochs)
        ratio = network(X[batch])
        z = ratio * logit[batch]
        for _ in range(adversary_steps):
            adversary_optimizer.zero_grad()
            adversary_loss(z.detach(), batch).backward()  # type: ignore[no-untyped-call]
            adversary_optimizer.step()
        label = cross_entropy(z + data.line, y[batch], weight=label_weight[batch])
        fooled = adversary_loss(z, batch)
        ratio_loss = (rows[batch] * (ratio - 1.0) ** 2).mean()
        sparsity = diversity = label.new_zeros(())
        if isinstance(network, ConceptNetwork):
            sparsity, diversity = scale * sparsity_loss(network), diversity_loss(network)
        concepts = weights.sparsity * sparsity + weights.diversity * diversity
        loss = label - gate * weights.fair * fooled + weights.ratio * ratio_loss + gate * concepts
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses = (loss, label, fooled, ratio_loss, sparsity, diversity)
        terms = {"lambda_fair": gate * weights.fair}
        terms |= {name: value.item() for name, value in zip(LOSSES, losses, strict=True)}
        step = len(solution.history) + 1
        solution.history.append({"step": step, **terms})
        if callback is not None and callback(step, n_steps, terms):
            solution.stopped = True
            break
    if isinstance(network, ConceptNetwork):
        solution.concepts = network.directions()
    # Alternating steps do not converge in any sense that could be checked; all planned steps were taken, or not.
    solution.path.append(PathPoint(network.rescaler(), terms, len(solution.history), not solution.stopped))
    return solution


def _tensor(values: Array) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _sparsity_scale(data: TrainingData, weights: LossWeights) -> float:
    ordered = data.sorted_for(weights.by_label)
    objective = ordered.objective(weights)
    pull = objective.pull(objective.evaluate(ordered.logit), DesignMatrix(ordered.X, [ordered.logit]))
    return float(pull[1:].max(initial=0.0))
