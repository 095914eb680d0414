"""FRAPPE (Țifrea et al. 2023): an additive correction of f's logit that hides the group from the score."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array, cross_entropy
from commod.models.competitors.base import Rows, Scored
from commod.models.networks import ConceptNetwork, MLPNetwork, seeded
from commod.models.validation import check_choice

BANDWIDTH = 0.1
# λ_mmd values passed on the way up from T ≡ 0: the MMD has many minima, and this path leads to one of them.
SCHEDULE = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


@dataclass(eq=False, repr=False, kw_only=True)
class Frappe(Scored):
    """g = σ(logit f(x) + T(x)), f frozen, T trained to hide the group from the score; S is not needed at predict.

    Loss: KL(f‖g) + λ_mmd·MMD²(scores of the groups), and for equalized odds the sum of the MMD² within each label. (The
    published knob is on the KL term, so that a larger value is less fair.) With more than two groups, each is compared
    with everyone, Σ_s MMD²(scores of s, scores of all). L-BFGS minimises on all rows from T ≡ 0, where g = f. A linear
    T follows λ_mmd up to its target, so that seeds end in the same minimum.

    Parameters
    ----------
    lambda_mmd : float, default 10.0
    architecture : {"linear", "mlp"}
        "linear" is a bottleneck of `n_concepts` like COMMOD's r, for the comparison of concepts; "mlp" has one hidden
        layer of `width`.
    n_concepts, width : int, default 2, 64
    max_iter : int, optional
        Steps of L-BFGS: 100 at each value of λ_mmd passed ("linear"); 50 in all ("mlp"), where stopping early keeps the
        network from learning the training rows by heart.
    """

    lambda_mmd: float = 10.0
    architecture: str = "linear"
    n_concepts: int = 2
    width: int = 64
    max_iter: int | None = None

    def _learn(self, rows: Rows, y: Array) -> None:
        check_choice("architecture", self.architecture, ("linear", "mlp"))
        linear = self.architecture == "linear"
        max_iter = (100 if linear else 50) if self.max_iter is None else self.max_iter
        network = self._network(rows.X.shape[1])
        f, X = rows.score, torch.from_numpy(rows.X)
        by_label = CRITERIA[self.fairness].by_label
        strata = [y == label for label in (0, 1)] if by_label else [np.ones(len(y), dtype=bool)]
        pairs = [(here, _contrasts(rows, here)) for here in map(np.flatnonzero, strata)]
        parameters = list(network.parameters())

        parts = None if rows.weight is None else rows.weight / rows.weight.sum()

        def loss(values: np.ndarray, weight: float) -> tuple[float, np.ndarray]:
            torch.nn.utils.vector_to_parameters(torch.from_numpy(values.copy()), parameters)
            correction = network(X)
            z = rows.logit + correction.detach().numpy()
            total, u = cross_entropy(z, f, parts)
            slope = rows.weighed(u - f) / rows.total
            for here, contrasts in pairs:
                apart, by_score = mmd(u[here], contrasts)
                total += weight * apart
                slope[here] += weight * by_score * (u[here] * (1 - u[here]))
            gradient = torch.autograd.grad(correction, parameters, torch.from_numpy(slope))
            return float(total), torch.nn.utils.parameters_to_vector(gradient).numpy()

        values = torch.nn.utils.parameters_to_vector(parameters).detach().numpy().copy()
        settings = (self.fairness, self.architecture, self.n_concepts, self.width, max_iter, self.random_state)
        known = rows.memory.of("FRAPPE", rows.X, rows.logit, y, rows.groups, rows.weight, settings)
        self.n_iter_ = 0
        for value in [*(value for value in SCHEDULE if value < self.lambda_mmd and linear), self.lambda_mmd]:
            if value not in known:  # every λ_mmd passes the same values
                options = {"maxiter": max_iter}
                found = minimize(loss, values, args=(value,), jac=True, method="L-BFGS-B", options=options)
                known[value] = found.x, self.n_iter_ + int(found.nit), float(found.fun)
            values, self.n_iter_, self.loss_ = known[value]
        torch.nn.utils.vector_to_parameters(torch.from_numpy(values.copy()), parameters)
        self.correction_ = network.rescaler()
        for name in ("concepts_", "concept_weights_"):
            self.__dict__.pop(name, None)
        if isinstance(network, ConceptNetwork):
            directions, strengths = network.directions()
            names = pd.Index([f"Concept {j + 1}" for j in range(self.n_concepts)], name="concept")
            index = pd.Index(self.encoder_.feature_names_out_, name="feature")
            self.concepts_ = pd.DataFrame(directions, index=index, columns=names)
            self.concept_weights_ = pd.Series(strengths, index=names, name="weight")

    def _network(self, n_features: int) -> Any:
        network: Any
        with seeded(int(self.random_state)):
            if self.architecture == "linear":
                if self.n_concepts > n_features:
                    raise ValueError(
                        f"n_concepts = {self.n_concepts} is more than there are encoded features ({n_features}): "
                        "lower n_concepts."
                    )
                network = ConceptNetwork(n_features, self.n_concepts)
            else:
                network = MLPNetwork(n_features, self.width)
        torch.nn.init.zeros_(network.output.weight)
        torch.nn.init.zeros_(network.output.bias)
        return network.double()

    def _margin(self, rows: Rows) -> Array:
        return rows.logit + self.correction_(rows.X)


def _contrasts(rows: Rows, here: NDArray[np.int64]) -> Array:
    """Factors that give each group's mean minus everyone's, (rows here, groups); with two groups, their difference."""
    n_groups = int(rows.groups.max()) + 1
    member = (rows.groups[here, None] == np.arange(n_groups)) * rows.weighed(np.ones(len(rows.logit)))[here, None]
    of_group = member / member.sum(axis=0)
    if n_groups == 2:
        return of_group[:, :1] - of_group[:, 1:]
    return of_group - (member.sum(axis=1) / member.sum())[:, None]


def mmd(u: Array, contrasts: Array) -> tuple[float, Array]:
    """MMD² between pairs of samples out of u in [0, 1], added up, and its derivative in u.

    A column of `contrasts` (n, pairs) has the weights of one sample less those of the other. The kernel is
    exp(−(u−v)²/BANDWIDTH²). On a circle so long that its seam is out of the kernel's reach, that is Σ_m c_m cos(ω_m(u −
    v)) with c_m falling like a Gaussian. So MMD² = Σ_m c_m |Σ_i contrast_i e^{iω_m u_i}|²: linear in the rows, exact to
    1e-8.
    """
    omega, weight = _waves()
    waves = _powers(np.exp(1j * omega[0] * u), len(omega))
    difference = waves @ contrasts  # (m, pairs)
    value = float((weight[:, None] * np.abs(difference) ** 2).sum())
    factor = 2.0 * (weight * omega)[:, None] * np.conj(difference)
    return value, -((factor.T @ waves).imag * contrasts.T).sum(axis=0)


def _waves() -> tuple[Array, Array]:
    """Frequencies ω_m and weights c_m of the kernel's expansion."""
    period = 1.0 + 6.0 * BANDWIDTH
    m = np.arange(1, int(np.ceil(4.7 * period / (np.pi * BANDWIDTH))) + 1)
    weight = 2.0 * BANDWIDTH * np.pi**0.5 / period * np.exp(-((np.pi * BANDWIDTH / period * m) ** 2))
    return np.asarray(2.0 * np.pi / period * m), np.asarray(weight)


def _powers(wave: np.ndarray, n: int) -> np.ndarray:
    """First n powers of each number, shape (n, len(wave)): two exponentials would cost ten times as much."""
    out = np.empty((n, len(wave)), dtype=complex)
    out[0] = wave
    for i in range(1, n):
        np.multiply(out[i - 1], wave, out=out[i])
    return out
