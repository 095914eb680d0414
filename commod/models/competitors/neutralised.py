"""RNF (Du et al. 2021): a network's head is trained again on encodings in which the groups are mixed."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from commod.models.adversary import Array
from commod.models.competitors.base import Rows, Scored
from commod.models.networks import tensor_of
from commod.models.threshold import logit_of_threshold

# λ of Eq. 3, as in the publication's experiments.
MIXTURES, DROPOUT = (0.6, 0.7, 0.8, 0.9), 0.2


@dataclass(eq=False, repr=False, kw_only=True)
class RNF(Scored):
    """A network of its own: one layer encodes, and the two above it are trained again on neutralised encodings.

    First all three layers learn the labels by cross-entropy. Then the encoder is frozen, and each person is paired with
    one of the same label and another group, drawn from the batch: the head c learns the mean of their two softened
    scores from the mean of their two encodings, and is held to one answer on the way from one to the other, L =
    (c(½z₁+½z₂) − ½(p₁+p₂))² + α·Σ_λ |c(λz₁+(1−λ)z₂) − c(½z₁+½z₂)|, λ = 0.6, 0.7, 0.8, 0.9 (Eqs. 1, 3 and 4, with the
    groups as they are: the publication's RNF_GT). p = σ(logit/T). f only sets the cut-off (a budget counts the
    network's own decisions); changes are counted against f. One training serves both criteria.

    Ours: the number of units, the number of steps (the publication stops by a validation part), no dropout while the
    head is trained again, any number of groups, and that the head's logit, which has learnt softened scores, is
    multiplied by T (which moves no decision at one half). Rows are drawn into batches, not weighted.

    Parameters
    ----------
    alpha : float, default 0.05
        Weight of the smoothness. At 0 the encodings are still mixed; no value gives f. A large value flattens the
        scores until all lie on one side of the line (on law_school and compas from about 0.2 on).
    temperature : float, default 2.0
        T, 1 or more.
    width, steps, batch_size : int, default 32, 400, 64
        Units of each of the two hidden layers, and batches of each of the two trainings.
    learning_rate : float, default 3e-3
        Of Adam.
    """

    alpha: float = 0.05
    temperature: float = 2.0
    width: int = 32
    steps: int = 400
    batch_size: int = 64
    learning_rate: float = 3e-3

    def _learn(self, rows: Rows, y: Array) -> None:
        if self.temperature < 1:
            raise ValueError(f"temperature must be 1 or more, got {self.temperature!r}.")
        # All that is random comes from a generator of our own: others may train beside us.
        dice = np.random.default_rng(int(self.random_state))
        X = tensor_of(rows.X)
        settings = (self.width, self.steps, self.batch_size, self.learning_rate, self.random_state)
        known = rows.memory.of("RNF", rows.X, y, settings)
        if not known:  # all but the head's second training is the same for every α
            encoder, top = self._first_training(X, tensor_of(y), dice)
            known |= {"encoder": encoder, "top": top, "dice": dice.bit_generator.state}
        dice.bit_generator.state = known["dice"]
        encoder, top = known["encoder"], [tensor.detach().clone().requires_grad_() for tensor in known["top"]]
        with torch.no_grad():
            z = _encoded(encoder, X)
            softened = torch.sigmoid(head(top, z) / self.temperature)
        optimizer = torch.optim.Adam(top, lr=self.learning_rate, fused=True)
        for batch in _batches(len(y), self.batch_size, self.steps, dice):
            ones, twos = (batch[place] for place in partners(y[batch], rows.groups[batch], dice))
            if len(ones):
                _step(optimizer, neutralised_loss(top, z[ones], z[twos], softened[ones], softened[twos], self.alpha))
        self.encoder_weights_, self.head_weights_ = (
            [tensor.detach().double().numpy() for tensor in part] for part in (encoder, top)
        )
        self.own_line_ = 0.0
        own = self._margin(rows)
        self.own_line_ = logit_of_threshold(self.threshold, self.base_model_, own, y)

    def _first_training(
        self, X: Tensor, labels: Tensor, dice: np.random.Generator
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Encoder and head that have learnt the labels."""
        width = self.width
        encoder = [*_layer(X.shape[1], width, dice)]
        top = [*_layer(width, width, dice), *_layer(width, 1, dice)]
        optimizer = torch.optim.Adam([*encoder, *top], lr=self.learning_rate, fused=True)
        for batch in _batches(len(labels), self.batch_size, self.steps, dice):
            kept = [tensor_of(dice.random((len(batch), width)) >= DROPOUT) / (1 - DROPOUT) for _ in range(2)]
            logit = head(top, _encoded(encoder, X[batch]) * kept[0], kept[1])
            _step(optimizer, torch.nn.functional.binary_cross_entropy_with_logits(logit, labels[batch]))
        return encoder, top

    def _margin(self, rows: Rows) -> Array:
        weight, bias = self.encoder_weights_
        hidden, hidden_bias, output, output_bias = self.head_weights_
        z = np.maximum(rows.X @ weight + bias, 0.0)
        above = np.maximum(z @ hidden + hidden_bias, 0.0)
        softened = (above * output[:, 0]).sum(axis=1) + output_bias[0]
        return self.temperature * softened - self.own_line_


def head(tensors: list[Tensor], z: Tensor, kept: Tensor | None = None) -> Tensor:
    """Logit of encodings (…, width) under the two layers of the head."""
    hidden, hidden_bias, output, output_bias = tensors
    above = torch.relu(z @ hidden + hidden_bias)
    return ((above if kept is None else above * kept) @ output + output_bias).squeeze(-1)


def neutralised_loss(tensors: list[Tensor], z1: Tensor, z2: Tensor, p1: Tensor, p2: Tensor, alpha: float) -> Tensor:
    """Mean of Eq. 4 over pairs of encodings (n, width) and softened scores (n,)."""
    share = torch.tensor((0.5, *MIXTURES))[:, None, None]
    scores = torch.sigmoid(head(tensors, share * z1 + (1 - share) * z2))  # (mixtures, n)
    smooth = (scores[1:] - scores[0]).abs().sum(dim=0)
    return ((scores[0] - 0.5 * (p1 + p2)) ** 2 + alpha * smooth).mean()


def partners(y: Array, sensitive: np.ndarray, dice: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Places of people who have a partner with the same label in another group, and the partners' places."""
    fits = (y[:, None] == y) & (sensitive[:, None] != sensitive)
    ones = np.flatnonzero(fits.any(axis=1))
    return ones, (dice.random(fits.shape) * fits)[ones].argmax(axis=1)


def _batches(n: int, size: int, steps: int, dice: np.random.Generator) -> list[np.ndarray]:
    """As many batches as `steps`; nobody is drawn twice before everybody was drawn once."""
    found: list[np.ndarray] = []
    while len(found) < steps:
        found += np.array_split(dice.permutation(n), range(size, n, size))
    return found[:steps]


def _encoded(encoder: list[Tensor], X: Tensor) -> Tensor:
    return torch.relu(X @ encoder[0] + encoder[1])


def _layer(n_in: int, n_out: int, dice: np.random.Generator) -> tuple[Tensor, Tensor]:
    limit = (6.0 / (n_in + n_out)) ** 0.5
    weight = tensor_of(dice.uniform(-limit, limit, (n_in, n_out)))
    return weight.requires_grad_(), torch.zeros(n_out, requires_grad=True)


def _step(optimizer: torch.optim.Adam, loss: Tensor) -> None:
    tensors = optimizer.param_groups[0]["params"]
    for tensor, gradient in zip(tensors, torch.autograd.grad(loss, tensors), strict=True):
        tensor.grad = gradient
    optimizer.step()
