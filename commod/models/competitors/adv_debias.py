"""Adversarial debiasing (Zhang, Lemoine & Mitchell 2018): a new model, trained against one that reads the group."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from commod.datasets.encoding import TabularEncoder
from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array
from commod.models.classifier import NOBODY, Given, TabularClassifier, warn_caller
from commod.models.networks import tensor_of
from commod.models.threads import single_threaded
from commod.models.threshold import check_threshold, logit_of_threshold
from commod.models.validation import check_choice, check_numbers


@dataclass(eq=False, repr=False)
class AdvDebias(TabularClassifier):
    """An in-processing method: it does not edit f but trains a predictor of its own, so many decisions change.

    Predictor: one hidden layer with dropout. Adversary: linear in u = σ((1+|c|)·logit), for equalized odds in [u, uy,
    u(1−y)], and a softmax over more than two groups. Seeds differ by nature: report several, never the best one. Rows
    of unknown group train the predictor only.

    Parameters
    ----------
    alpha : float, default 0.1
        Weight of the adversary's gradient.
    threshold : float, "budget", "budget:0.2" or None
        Cut-off for its own probabilities, in the forms that `Commod` takes; None is one half.
    fairness : {"demographic_parity", "equalized_odds"}
    width, dropout : int, float, default 200, 0.2
    epochs, max_steps : int, default 50, 2000
        Training ends after this many epochs or batches: a large data set needs fewer passes.
    pretrain_epochs : int, default 3
        Epochs in which predictor and adversary learn side by side before they meet; without them some seeds end with
        the groups exchanged.
    batch_size : int, default 128
    learning_rate, adversary_learning_rate : float, default 1e-3, 1e-2
        Of Adam. At the predictor's pace the adversary stays behind, and the groups end exchanged.
    random_state : int
        Of initial weights, batches and dropout.
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sensitive_features": True}
    for_two: ClassVar[bool] = False
    weights: ClassVar[bool] = True

    _: KW_ONLY
    alpha: float = 0.1
    threshold: float | str | None = None
    fairness: str = "demographic_parity"
    width: int = 200
    dropout: float = 0.2
    epochs: int = 50
    max_steps: int = 2000
    pretrain_epochs: int = 3
    batch_size: int = 128
    learning_rate: float = 1e-3
    adversary_learning_rate: float = 1e-2
    random_state: int = 0

    def fit(self, X: Any, y: Any, *, sensitive_features: Any = None, sample_weight: Any = None) -> AdvDebias:
        """Train predictor and adversary; without `sensitive_features` the predictor alone, with a warning."""
        check_choice("fairness", self.fairness, tuple(CRITERIA))
        check_numbers(self)
        check_threshold(self.threshold)
        given = self._given(X, y, sensitive_features, sample_weight)
        encoder = TabularEncoder()
        encoded = encoder.fit_transform(given.X, sample_weight=given.weight)
        if given.sensitive is None:
            warn_caller(f"{NOBODY}: no adversary is trained.")
        with single_threaded():
            network = self._train(encoded, given)
        self.classes_, self.groups_, self.encoder_ = given.classes, given.groups, encoder
        self.weights_, self.line_ = [tensor.double().numpy() for tensor in network.tensors()], 0.0
        own = self.decision_function(given.X)
        self.line_ = logit_of_threshold(self.threshold, None, own, given.labels, given.weight)
        return self

    def _train(self, X: Array, given: Given) -> Network:
        lost = round(256 * self.dropout)  # of 256 hidden units
        if lost > 255:
            raise ValueError(f"dropout is a share below 1 (0.996 at most), got {self.dropout!r}.")
        by_label = CRITERIA[self.fairness].by_label
        x, labels = tensor_of(X), tensor_of(given.labels)
        groups = None if given.sensitive is None else tensor_of(given.sensitive)
        counts = None if given.weight is None else tensor_of(given.weight / given.weight.mean())
        asked = counts
        if groups is not None and (groups < 0).any():  # rows of unknown group do not train the adversary
            asked = (groups >= 0) * (1.0 if counts is None else counts)
        # All that is random comes from a generator of our own: others may train beside us.
        dice = np.random.default_rng(int(self.random_state))
        network = Network.start(X.shape[1], self.width, dice)
        adversary = LinearAdversary.start(3 if by_label else 1, 2 if given.groups is None else len(given.groups), dice)
        sides: list[dict[str, Any]] = [
            {"params": network.tensors()},
            {"params": adversary.tensors(), "lr": self.adversary_learning_rate},
        ]
        optimizer = torch.optim.Adam(sides, lr=self.learning_rate, fused=True)
        left, scale = self.max_steps, np.float32(256 / (256 - lost))
        for epoch in range(self.epochs):
            together = groups is not None and epoch >= self.pretrain_epochs
            for batch in np.array_split(dice.permutation(len(x)), range(self.batch_size, len(x), self.batch_size)):
                rows, label = x[batch], labels[batch]
                kept = dice.integers(0, 256, (len(batch), self.width), dtype=np.uint8) >= lost
                step = network.forward(rows, torch.from_numpy(kept * scale), float(scale))
                error = torch.sigmoid(step.logit) - label
                gradients = step.gradients((error if counts is None else error * counts[batch]) / len(batch))
                if groups is not None:
                    each = None if asked is None else asked[batch]
                    own, pull = adversary.gradients(step.logit, groups[batch], label if by_label else None, each)
                    if together:
                        against = step.gradients(pull)
                        gradients = [
                            debiased_gradient(g, a, self.alpha) for g, a in zip(gradients, against, strict=True)
                        ]
                    gradients += own
                for tensor, gradient in zip(network.tensors() + adversary.tensors(), gradients, strict=False):
                    tensor.grad = gradient
                optimizer.step()
                left -= 1
                if not left:
                    return network
        return network

    def decision_function(self, X: Any) -> Array:
        check_is_fitted(self, "weights_")
        hidden, hidden_bias, output, output_bias = self.weights_
        encoded = self.encoder_.transform(self._validated(X, reset=False))
        with single_threaded():
            return np.maximum(encoded @ hidden.T + hidden_bias, 0.0) @ output + output_bias - self.line_

    def predict_proba(self, X: Any) -> Array:
        return self._probabilities(self.decision_function(X))

    def predict(self, X: Any) -> np.ndarray:
        return self._classes(self.decision_function(X))


@dataclass(frozen=True)
class ForwardPass:
    """A batch passed through the network, ready for derivatives: written out, they take a third of autograd's time."""

    rows: Tensor  # (n, d)
    hidden: Tensor  # (n, width) after dropout
    jacobian: Tensor  # (n, width) d logit / d (weight·x + bias)
    logit: Tensor  # (n,)

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Of a loss with derivative `slope` (n,) in the logits, by each tensor of the network."""
        return [
            self.jacobian.T @ (slope[:, None] * self.rows),
            slope @ self.jacobian,
            slope @ self.hidden,
            slope.sum(),
        ]


@dataclass(frozen=True)
class Network:
    """logit = output·relu(weight·x + bias) + output_bias."""

    weight: Tensor  # (width, d)
    bias: Tensor  # (width,)
    output: Tensor  # (width,)
    output_bias: Tensor  # ()

    @classmethod
    def start(cls, n_features: int, width: int, dice: np.random.Generator) -> Network:
        weight, output = _glorot(width, n_features, dice), _glorot(1, width, dice)[0]
        return cls(weight, torch.zeros(width), output, torch.zeros(()))

    def tensors(self) -> list[Tensor]:
        return [self.weight, self.bias, self.output, self.output_bias]

    def forward(self, rows: Tensor, kept: Tensor, scale: float) -> ForwardPass:
        """`kept` has `scale` for the hidden units that are kept, else 0."""
        hidden = torch.addmm(self.bias, rows, self.weight.T).relu_().mul_(kept)
        jacobian = hidden.sign().mul_(self.output * scale)  # a sign takes a fifth of the time of a comparison
        return ForwardPass(rows, hidden, jacobian, hidden @ self.output + self.output_bias)


@dataclass(frozen=True)
class LinearAdversary:
    """Logit of S (of more than two groups, one each): linear in u = σ((1+|c|)·logit), or in [u, uy, u(1−y)]."""

    sharpness: Tensor  # (), c
    output: Tensor  # (inputs,) or (groups, inputs)
    bias: Tensor  # () or (groups,)

    @classmethod
    def start(cls, n_inputs: int, n_groups: int, dice: np.random.Generator) -> LinearAdversary:
        if n_groups == 2:
            return cls(torch.ones(()), _glorot(1, n_inputs, dice)[0], torch.zeros(()))
        return cls(torch.ones(()), _glorot(n_groups, n_inputs, dice), torch.zeros(n_groups))

    def tensors(self) -> list[Tensor]:
        return [self.sharpness, self.output, self.bias]

    def gradients(
        self, logit: Tensor, sensitive: Tensor, y: Tensor | None, weight: Tensor | None = None
    ) -> tuple[list[Tensor], Tensor]:
        """Gradients of its weighted mean cross-entropy: in its own tensors, and in the predictor's logits."""
        steep = 1.0 + self.sharpness.abs()
        u = torch.sigmoid(steep * logit)
        jacobian = torch.ones(1, len(u)) if y is None else torch.stack([torch.ones_like(y), y, 1.0 - y])
        # The adversary's inputs are jacobian·u.
        if self.output.ndim == 1:
            error = torch.sigmoid(self.output @ (jacobian * u) + self.bias) - sensitive
        else:
            guess = torch.softmax(self.output @ (jacobian * u) + self.bias[:, None], dim=0)  # (groups, n)
            error = guess - (sensitive == torch.arange(len(self.bias))[:, None]).float()
        error = (error if weight is None else error * weight) / len(u)
        by_input = error * (self.output @ jacobian)
        through = (by_input if error.ndim == 1 else by_input.sum(dim=0)) * u * (1.0 - u)  # d loss / d (steep·logit)
        by_output = (jacobian * u) @ error if error.ndim == 1 else error @ (jacobian * u).T
        return [(through @ logit) * self.sharpness.sign(), by_output, error.sum(dim=-1)], steep * through


def debiased_gradient(own: Tensor, adversary: Tensor, alpha: float) -> Tensor:
    """g_P − ⟨g_P, ĝ_A⟩ĝ_A − α·g_A with the Frobenius product of one tensor (Zhang et al. 2018, Eq. 1).

    The middle term keeps the predictor from helping the adversary; the last one harms it.
    """
    along = (own * adversary).sum() / ((adversary * adversary).sum() + torch.finfo(adversary.dtype).tiny)
    return own - (along + alpha) * adversary


def _glorot(n_out: int, n_in: int, dice: np.random.Generator) -> Tensor:
    limit = (6.0 / (n_in + n_out)) ** 0.5
    return tensor_of(dice.uniform(-limit, limit, (n_out, n_in)))
