"""The networks of the paper in torch, and its concept losses."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np
import torch
from torch import Tensor, nn

from commod.models.adversary import Array
from commod.models.rescaler import LinearRescaler, MLPRescaler

_seeding = Lock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make networks inside: their initial weights follow the seed, and torch's generator stays as it was.

    The generator belongs to the process, so networks are made one at a time.
    """
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


class Adversary(nn.Module):
    """The paper's h: a small network on the new logit (and the label), with one answer for each of the `questions`."""

    def __init__(self, n_inputs: int, width: int, n_questions: int = 1) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n_inputs, width), nn.ReLU(), nn.Linear(width, n_questions))

    def forward(self, inputs: Tensor) -> Tensor:
        answers: Tensor = self.layers(inputs)
        return answers


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
