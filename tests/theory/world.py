"""A small world in which everything the Bayes-optimal rule asks for is known exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from commod.models.adversary import Array
from commod.models.competitors.bayes import bayes_margin, pull_of_two
from commod.models.competitors.membership import densities

__all__ = ["World", "make_world"]


@dataclass(frozen=True)
class World:
    """Finitely many kinds of people x, how common each is, who and what they are, and what f decides about them.

    A rule is the probability of deciding 1 for each kind, shape (kinds,).
    """

    share: Array  # (kinds,) P(x)
    joint: Array  # (kinds, 2, 2) P(S = s, Y = y | x)
    decided: Array  # (kinds,) of f, 0 or 1

    def _weights(self, fairness: str) -> tuple[Array, Array, NDArray[np.int64]]:
        """P(condition | x) by kind, condition and group; its mean; and the group that f favours in each condition."""
        density = densities(self.joint, fairness)
        means = np.einsum("k,kcs->cs", self.share, density)
        rates = np.einsum("k,k,kcs->cs", self.share, self.decided, density) / means
        return density, means, rates.argmax(axis=1)

    def rates(self, rule: Array, fairness: str = "demographic_parity") -> Array:
        """Positive rate by condition (one, or one per label) and group."""
        density, means, _ = self._weights(fairness)
        return np.asarray(np.einsum("k,k,kcs->cs", self.share, rule, density) / means)

    def risk(
        self,
        rule: Array,
        *,
        lambda_fair: float,
        lambda_ratio: float,
        fairness: str = "demographic_parity",
        tau: float = 1.0,
    ) -> float:
        """R_CS of the paper, corrected: CS(D, ½) − λ_fair·CS_bal(D̄, 1/(1+τ)) + λ_ratio·P(Ŷ ≠ Ŷ^f), as defined."""
        eta = self.joint[:, :, 1].sum(axis=1)
        errors = 0.5 * float(self.share @ (eta * (1 - rule) + (1 - eta) * rule))
        cost = 1.0 / (1.0 + tau)
        rates, favoured = self.rates(rule, fairness), self._weights(fairness)[2]
        balanced = sum(
            (1 - cost) * (1 - row[group]) + cost * row[1 - group] for row, group in zip(rates, favoured, strict=True)
        )
        changed = float(self.share @ (self.decided * (1 - rule) + (1 - self.decided) * rule))
        return float(errors - lambda_fair * balanced + lambda_ratio * changed)

    def optimal_rule(
        self, *, lambda_fair: float, lambda_ratio: float, fairness: str = "demographic_parity", tau: float = 1.0
    ) -> NDArray[np.int64]:
        """Decision for each kind by `bayes_margin` on the true probabilities."""
        density, means, favoured = self._weights(fairness)
        margin = bayes_margin(
            self.joint[:, :, 1].sum(axis=1),
            density / means,
            pull_of_two(favoured, tau),
            self.decided,
            lambda_fair=lambda_fair,
            lambda_ratio=lambda_ratio,
        )
        return (margin > 0).astype(np.int64)

    def sample(self, n: int, seed: int = 0) -> pd.DataFrame:
        """People drawn from the world: columns ``kind`` (text), ``sensitive``, ``y``, ``f`` (a score: 0.9 or 0.1)."""
        rng = np.random.default_rng(seed)
        kind = rng.choice(len(self.share), size=n, p=self.share)
        cell = (rng.random(n)[:, None] > self.joint.reshape(-1, 4)[kind].cumsum(axis=1)).sum(axis=1).clip(0, 3)
        return pd.DataFrame(
            {
                "kind": [f"kind {k:02d}" for k in kind],
                "sensitive": cell // 2,
                "y": cell % 2,
                "f": np.where(self.decided[kind] > 0.5, 0.9, 0.1),
            }
        )


def make_world(kinds: int = 12, seed: int = 0) -> World:
    """A world with a biased f: group 1 tends to be positive more often, and f errs now and then."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(kinds, 5.0))
    group = rng.uniform(0.15, 0.85, kinds)  # P(S = 1 | x)
    label = np.clip(0.25 + 0.5 * group + rng.normal(0.0, 0.18, kinds), 0.05, 0.95)
    tilt = rng.uniform(-0.08, 0.08, kinds) * np.minimum(label, 1 - label)  # S and Y are not independent given x
    one = np.clip(label + tilt / group * 0.5, 0.02, 0.98)
    zero = np.clip(label - tilt / (1 - group) * 0.5, 0.02, 0.98)
    joint = np.stack(
        [
            np.column_stack([(1 - group) * (1 - zero), (1 - group) * zero]),
            np.column_stack([group * (1 - one), group * one]),
        ],
        axis=1,
    )
    decided = joint[:, :, 1].sum(axis=1) > 0.5
    wrong = rng.random(kinds) < 0.1
    return World(share, joint, (decided ^ wrong).astype(float))
