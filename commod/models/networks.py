"""The networks of the paper in torch, its concept losses, and two trainings.

`solve_mlp` is the best response for a ratio that is a small ReLU network (the paper's architecture comparison, Fig. 8).
`train_adversarial` is the paper's listing (Algorithm 1), kept for comparison: with minibatches, a random start and an
adversary that is always a step behind, its result depends on the seed, and it takes thousands of steps.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import Any, Literal

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy

from commod.models.adversary import Array
from commod.models.best_response import values_up_to
from commod.models.objective import DesignMatrix, ScoreObjective
from commod.models.rescaler import LinearRescaler, MLPRescaler
from commod.models.training import LossWeights, PathPoint, Solution, StepCallback, Terms, TrainingData, instance_weights

_seeding = Lock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make networks inside, one at a time: the generator belongs to the process and is restored afterwards."""
    with _seeding, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


class ConceptNetwork(nn.Module):
    """The paper's r: a linear bottleneck of k concepts and a linear output, no activation; starts near r ≡ 1."""

    def __init__(self, n_features: int, n_concepts: int) -> None:
        super().__init__()
        self.concepts = nn.Linear(n_features, n_concepts, bias=False)
        self.output = nn.Linear(n_concepts, 1)
        nn.init.normal_(self.output.weight, std=0.01)
        nn.init.ones_(self.output.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.concepts(x)).squeeze(1)

    def directions(self) -> tuple[Array, Array]:
        """Concepts of unit norm (d, k) and their weights (k,); their product does not change."""
        W = self.concepts.weight.detach().double().numpy().T
        norm = np.linalg.norm(W, axis=0)
        safe = np.where(norm > 0, norm, 1.0)
        return W / safe, self.output.weight.detach().double().numpy()[0] * norm

    def rescaler(self) -> LinearRescaler:
        directions, strengths = self.directions()
        return LinearRescaler(float(self.output.bias.detach().double()[0]), directions @ strengths)


class MLPNetwork(nn.Module):
    """The architecture the paper compares with (Fig. 8): one hidden ReLU layer; starts at r ≡ 1 exactly."""

    def __init__(self, n_features: int, width: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(n_features, width)
        self.output = nn.Linear(width, 1)
        nn.init.zeros_(self.output.weight)
        nn.init.ones_(self.output.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(torch.relu(self.hidden(x))).squeeze(1)

    def rescaler(self) -> MLPRescaler:
        return MLPRescaler(
            self.hidden.weight.detach().double().numpy().copy(),
            self.hidden.bias.detach().double().numpy().copy(),
            self.output.weight.detach().double().numpy()[0].copy(),
            float(self.output.bias.detach().double()[0]),
        )


def sparsity_loss(network: ConceptNetwork) -> Tensor:
    """L_sparsity, corrected: the Lasso on the contributions Σ |w_j|·|W_ij|.

    As printed (a Lasso on W alone) it can be driven to zero without any weight vanishing, since r is unchanged under
    W → aW, w → w/a.
    """
    return (network.output.weight.abs() @ network.concepts.weight.abs()).sum()


def diversity_loss(network: ConceptNetwork) -> Tensor:
    """L_diversity, corrected: mean squared cosine *similarity* over pairs i ≠ j (the paper prints the distance)."""
    W = nn.functional.normalize(network.concepts.weight, dim=1)
    k = len(W)
    if k == 1:
        return W.new_zeros(())
    cosine = W @ W.T
    return ((cosine**2).sum() - (cosine.diagonal() ** 2).sum()) / (k * (k - 1))


def solve_mlp(
    data: TrainingData,
    weights: LossWeights,
    ratio_norm: Any,
    *,
    width: int = 16,
    max_iter: int = 200,
    random_state: int = 0,
    callback: StepCallback | None = None,
) -> Solution:
    """Follow the same schedule as `solve_linear`, with L-BFGS on the network's weights at each value.

    The network has no concepts, so the concept weights play no part. Its hidden layer starts at random.
    """
    rows = instance_weights(ratio_norm, data)[ScoreObjective.order(data.y, by_label=weights.by_label)]
    data = data.sorted_for(weights.by_label)
    objective = data.objective(weights)
    with seeded(random_state):
        network = MLPNetwork(data.X.shape[1], width).double()
    X, logit, row_weights = torch.from_numpy(data.X), torch.from_numpy(data.logit), torch.from_numpy(rows)
    parameters = list(network.parameters())

    def ratio_and_penalty() -> tuple[Tensor, Tensor]:
        ratio = network(X)
        return ratio, (row_weights * (ratio - 1.0) ** 2).mean()

    def terms_at(flat: Array, lambda_fair: float) -> Terms:
        torch.nn.utils.vector_to_parameters(torch.from_numpy(flat.copy()), parameters)
        with torch.no_grad():
            ratio, penalty = ratio_and_penalty()
        state = objective.evaluate((ratio * logit).numpy())
        return {
            "lambda_fair": lambda_fair,
            "objective": state.value(lambda_fair) + weights.ratio * float(penalty),
            "label_loss": state.label_loss,
            "adversary_loss": state.adversary_loss,
            "ratio_loss": float(penalty),
            "sparsity_loss": 0.0,
            "diversity_loss": 0.0,
        }

    def loss(flat: Array, lambda_fair: float) -> tuple[float, Array]:
        torch.nn.utils.vector_to_parameters(torch.from_numpy(flat.copy()), parameters)
        network.zero_grad()
        ratio, penalty = ratio_and_penalty()
        z = ratio * logit
        state = objective.evaluate(z.detach().numpy())
        slope = torch.from_numpy(objective.gradient(state, lambda_fair))
        ((z * slope).sum() + weights.ratio * penalty).backward()  # type: ignore[no-untyped-call]
        gradient = torch.cat([p.grad.reshape(-1) for p in parameters if p.grad is not None])
        return state.value(lambda_fair) + weights.ratio * float(penalty.detach()), gradient.numpy()

    solution = Solution()
    flat = torch.nn.utils.parameters_to_vector(parameters).detach().numpy().copy()
    solution.path.append(PathPoint(network.rescaler(), terms_at(flat, 0.0)))
    schedule = values_up_to(weights.fair)
    for step, value in enumerate(schedule, start=1):

        def report(flat: Array, step: int = step, value: float = value) -> None:
            terms = terms_at(flat, value)
            solution.history.append({"step": step, **terms})
            if callback is not None and callback(step, len(schedule), terms):
                solution.stopped = True
                raise StopIteration

        options = {"maxiter": max_iter, "ftol": 1e-9}
        found = minimize(loss, flat, args=(value,), jac=True, method="L-BFGS-B", callback=report, options=options)
        flat = found.x
        terms = terms_at(flat, value)
        solution.path.append(PathPoint(network.rescaler(), terms, int(found.nit), found.status == 0))
        if solution.stopped:
            break
    return solution


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

    Each step updates the adversary `adversary_steps` times on the current scores, then r on the whole loss. Its
    fairness and concept terms are off for the first `warmup_epochs`, in which the adversary learns to read S.
    """
    n, d = data.X.shape
    scale = _sparsity_scale(data, weights)
    objective = data.objective(replace(weights, by_label=False))
    (asked,) = objective.adversaries
    of_label, of_asked = (np.ones(n) if each is None else each for each in (objective.weight, objective.asked_weight))
    of_question = len(asked.counts_for) * asked.counts_for
    rows, X, logit, y = map(tensor_of, (instance_weights(ratio_norm, data), data.X, data.logit, data.y))
    answers, label_weight, asked_weight = map(tensor_of, (asked.truth.T, of_label, np.outer(of_asked, of_question)))
    with seeded(random_state):
        network = ConceptNetwork(d, n_concepts) if architecture == "linear" else MLPNetwork(d, width)
        # The paper's h: from the new logit (and the label) to an answer for each of the `questions`.
        hidden = nn.Linear(2 if weights.by_label else 1, adversary_width)
        adversary = nn.Sequential(hidden, nn.ReLU(), nn.Linear(adversary_width, answers.shape[1]))
    shuffle = torch.Generator().manual_seed(random_state)
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    adversary_optimizer = torch.optim.Adam(adversary.parameters(), lr=adversary_learning_rate)

    def adversary_loss(z: Tensor, batch: Tensor) -> Tensor:
        inputs = torch.stack([z, y[batch]], dim=1) if weights.by_label else z[:, None]
        return cross_entropy(adversary(inputs), answers[batch], weight=asked_weight[batch])

    solution = Solution([PathPoint(LinearRescaler(1.0, np.zeros(d)), {"lambda_fair": 0.0})])
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


def tensor_of(values: Any) -> Tensor:
    """Numbers in single precision."""
    return torch.from_numpy(np.array(values, dtype=np.float32))


def _sparsity_scale(data: TrainingData, weights: LossWeights) -> float:
    ordered = data.sorted_for(weights.by_label)
    objective = ordered.objective(weights)
    pull = objective.pull(objective.evaluate(ordered.logit), DesignMatrix(ordered.X, [ordered.logit]))
    return float(pull[1:].max(initial=0.0))
