"""The solver of ``update="tree"``: the rules that change a decision are the leaves of a tree, so the tree is the model.

People whom f rejects get a tree of at most `DEPTH` questions, those whom it accepts another. Each tree is grown to part
those whose flip narrows the gaps between groups from those whose flip widens them; it does not depend on λ_fair. A leaf
is flipped as a whole or not at all. Of all sets of leaves (65,536 at most) that bring the training rows as near to
parity as λ_fair asks, the cheapest is taken, at the prices of ``update="decisions"``: errors, changes, and λ_concepts
for each leaf. No set may change more people than the budget allows, or than half of those whom it would take to decide
everybody alike.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from commod.metrics.counts import counts_of_codes
from commod.models.adversary import Array
from commod.models.prices import PARITY, PricePath, PriceStep, stages_to
from commod.models.rescaler import Ask, Rule, RuleRescaler
from commod.models.solution import PathPoint, Solution, StepCallback
from commod.models.training import LossWeights, TrainingData

# Questions on either side of f's line, and the fewest training rows of a leaf.
DEPTH, LEAST_ROWS = 3, 20
# The price of a leaf at λ_concepts = 1, in errors as a share of all people.
LEAF_PRICE = 0.02
# As a share of what it would take to decide everybody alike, which is perfectly fair: the most that may change.
MOST = 0.5
# Sets of leaves that are counted at once.
CHUNK = 4096


class RulePath(PricePath):
    """The trees of one data set, and every set of their leaves counted: the same for all λ_fair."""

    def __init__(self, data: TrainingData, weights: LossWeights, steps: Sequence[PriceStep] = ()) -> None:
        super().__init__(data, weights, steps)
        gain = self._gains(-self.gaps(data.logit > 0))
        self._trees: list[tuple[bool, Any, int]] = []  # whether f accepts, the tree, the number of its first leaf
        self._leaf = np.full(len(data.y), -1)  # of each row
        self.n_leaves = 0
        for accepted in (False, True):
            rows = self._rows[(data.logit[self._rows] > 0) == accepted]
            if len(rows) == 0:
                continue
            tree = DecisionTreeRegressor(max_depth=DEPTH, min_samples_leaf=LEAST_ROWS, random_state=0)
            here = np.isin(self._rows, rows)
            tree = tree.fit(data.X[rows], gain[here], self._weight[here]).tree_
            self._trees.append((accepted, tree, self.n_leaves))
            for number, rule in enumerate(_rules_of(tree, accepted), start=self.n_leaves):
                self._leaf[rule.holds(data.X, data.logit)] = number
            self.n_leaves += tree.n_leaves

    @cached_property
    def _row_weight(self) -> Array:
        """For how many people each row counts."""
        return np.ones(len(self.data.y)) if self.data.weight is None else self.data.weight

    @cached_property
    def _sets(self) -> tuple[Array, Array, Array]:
        """People changed, cost and fairness of each set of leaves; the first set is empty."""
        data, known = self.data, self._leaf >= 0
        people = np.bincount(self._leaf[known], self._row_weight[known], self.n_leaves)
        of_rows = self._leaf[self._rows]
        cost = np.bincount(of_rows, self._weight * self._cost, self.n_leaves) / max(float(self._weight.sum()), 1e-300)
        cost += LEAF_PRICE * self.weights.sparsity
        accepted = data.logit > 0

        def counts(decided: NDArray[np.bool_]) -> Array:
            return counts_of_codes(data.sensitive, data.n_groups, data.y > 0, decided, weight=data.weight)

        start = counts(accepted)
        moved = np.array([counts(accepted ^ (self._leaf == leaf)) - start for leaf in range(self.n_leaves)])
        moved = moved.reshape(self.n_leaves, *start.shape)  # also where there is no leaf
        found = []
        for first in range(0, 2**self.n_leaves, CHUNK):
            some = self._members(np.arange(first, min(first + CHUNK, 2**self.n_leaves)))
            with np.errstate(invalid="ignore", divide="ignore"):
                figure = self._figure.of_counts(start + np.tensordot(some, moved, 1))
            found.append((some @ people, some @ cost, self._shares(figure)))
        changed, costs, fairness = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return changed, costs, fairness

    def _members(self, sets: NDArray[np.int64]) -> Array:
        """Which leaves belong to sets, given by their numbers, (sets, leaves)."""
        return ((sets[:, None] >> np.arange(self.n_leaves)) & 1).astype(np.float64)

    def best_set(self, share: float, most: float = np.inf) -> int:
        """The cheapest set that brings the training rows this share of the way to parity, or as far as they come."""
        changed, cost, fairness = self._sets
        accepted = float(self._row_weight @ (self.data.logit > 0))
        allowed = changed <= min(most, MOST * min(accepted, float(self._row_weight.sum()) - accepted))
        goal = min(share, float(fairness[allowed].max()))
        if goal <= 0:
            return 0
        good = np.flatnonzero(allowed & (fairness >= goal))
        return int(good[np.argmin(cost[good])])

    def rules_of(self, chosen: int) -> tuple[Rule, ...]:
        """The leaves of a set as rules; two that meet at a question become one."""
        flips = self._members(np.array([chosen]))[0] > 0
        return tuple(
            rule
            for accepted, tree, first in self._trees
            for rule in _rules_of(tree, accepted, flips[first : first + tree.n_leaves])
        )

    def point_of(self, lambda_fair: float, share: float, most: float) -> PathPoint:
        """The model for a share of the way to parity."""
        chosen = self.best_set(share, most)
        rules = RuleRescaler(self.rules_of(chosen), self.weights.acts_on)
        decided = rules.score(self.data.X, self.data.logit) > 0
        terms = {
            "lambda_fair": lambda_fair,
            "objective": float(self._sets[1][chosen]),
            "fairness": float(self._sets[2][chosen]),
            **self._counts(decided),
            "sparsity_loss": LEAF_PRICE * float(chosen.bit_count()),
        }
        return PathPoint(rules, terms, 1)


def solve_rules(
    path: RulePath, lambda_fair: float, callback: StepCallback | None = None, most: float = np.inf
) -> Solution:
    """The models from g = f up to λ_fair, each with at most so many changed people."""
    solution, stages = Solution(pull=path.pull), stages_to(lambda_fair)
    for step, value in enumerate(stages, start=1):
        solution.path.append(path.point_of(value, min(value / PARITY, 1.0), most))
        solution.history.append({"step": step, **solution.path[-1].terms})
        if callback is not None and callback(step, len(stages), solution.path[-1].terms):
            solution.stopped = True
            break
    return solution


def _rules_of(tree: Any, accepted: bool, flips: NDArray[np.bool_] | None = None) -> list[Rule]:
    """The leaves of a tree, from left to right; or those that are flipped, joined where they meet."""
    leaves = iter(range(tree.n_leaves))

    def below(node: int) -> list[tuple[Ask, ...]]:
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            leaf = next(leaves)
            return [()] if flips is None or flips[leaf] else []
        low, high = below(left), below(right)
        if flips is not None and low == high == [()]:
            return [()]
        asked = int(tree.feature[node]), float(tree.threshold[node])
        return [((*asked, False), *asks) for asks in low] + [((*asked, True), *asks) for asks in high]

    return [Rule(accepted, asks) for asks in below(0)]
