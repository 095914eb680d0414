"""The solver of ``update="decisions"``: every changed decision has a price, and pays only where it buys fairness.

The paper's loss prices the movement of scores. This one counts people. f decides d, and a = 1 − 2d is +1 for those it
rejects and −1 for those it accepts. Flipping person i of group s and label y pays

    b_i = a_i·(τ_s − 2(t − y_i)) − price of a change,

τ being the price of a group: what a positive decision for one of its members is worth. (For equalized odds, each label
has its own.) The term with the label counts errors, at f's own cut-off t: with a calibrated f nobody is flipped for the
sake of accuracy alone. Learning the sign of b with weights |b| from (a·x, f's confidence) is logistic regression with a
Lasso: convex, no adversary, nothing random. A person is flipped where

    h(x) = a·(w·x) + c_d + v·|logit f(x)| > 0.

One direction w is read upwards for people whom f rejects and downwards for those it accepts.

A fixed price on the gap is all or nothing: below some price nothing happens, above it the model jumps to parity. So
the prices rise step by step, each by how far its group is from everyone, until the training rows are as fair as
λ_fair asks: it moves that target from f's own value (0) to parity (`PARITY`). Between two steps, h is interpolated.

Since a·h = w·x − v·logit + a·c_d is positive exactly where the new decision is, the rule is kept as a `LinearRescaler`:
a constant ratio and a shift, with another constant on either side of f's cut-off.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from commod.metrics.counts import counts_of_codes
from commod.metrics.figures import CRITERIA
from commod.models.adversary import Array
from commod.models.rescaler import MIRROR, LinearRescaler, acted_on
from commod.models.training import LossWeights, PathPoint, Solution, StepCallback, Terms, TrainingData

# With more weights than this, what costs d³ is done less often: zero weights enter together, not one at a time, and the
# minimum need not be exact, since a Newton step that is begun anew does more for the loss than one that is polished.
WIDE = 256
WIDE_STEPS = 6


def lasso_step(gradient: Array, hessian: Array, start: Array, penalty: Array) -> Array:
    """Minimise g·(x−x₀) + ½(x−x₀)ᵀH(x−x₀) + Σⱼ penaltyⱼ·|xⱼ| for positive definite H and penalties of 0 or more.

    Feature-sign search (Lee, Battle, Raina & Ng 2007): Newton steps on the weights that are not zero, their signs
    held, with a look at every sign change on the way; zero weights enter one at a time while their gradient exceeds
    the penalty. Ends after finitely many steps at the exact minimum, zeros included, and warm starts from x₀. Of more
    than `WIDE` weights, all whose gradient exceeds the penalty enter together, and after `WIDE_STEPS` solves it ends
    where it is, lower than it began.
    """
    if not penalty.any():
        return start - np.linalg.solve(hessian, gradient)
    free = penalty == 0
    x, sign = start.copy(), np.sign(start)
    base = gradient - hessian @ start  # the slope of the quadratic at x is base + Hx
    active = ((sign != 0) | free).nonzero()[0]
    optimal_for_signs = False
    together = len(x) > WIDE
    solve = _solve_positive if together else np.linalg.solve
    for _ in range(WIDE_STEPS if together else 50 * len(x)):
        if optimal_for_signs:
            slope = base + hessian @ x
            excess = np.abs(slope)
            excess -= penalty
            excess[active] = -np.inf
            first = excess.argmax()
            if excess[first] <= 1e-12:
                break
            enter = excess > 1e-12 if together else first
            sign[enter] = -np.sign(slope[enter])
        active = ((sign != 0) | free).nonzero()[0]
        block = hessian[active][:, active]
        base_, penalty_, before, sign_ = base[active], penalty[active], x[active], sign[active]
        target = solve(block, -base_ - penalty_ * sign_)
        after, optimal_for_signs = _best_before_target(block, base_, penalty_, before, target, sign_ * (penalty_ > 0))
        x[active] = after
        if together and np.array_equal(after, before):
            together, optimal_for_signs = False, True  # signs that contradict each other: one at a time from here
        sign[active] = np.sign(after)
    return x


def _solve_positive(matrix: Array, right: Array) -> Array:
    """Solve a positive definite system, in half the time of any other; rounding may have left it not quite so."""
    solution: Array
    try:
        solution = cho_solve(cho_factor(matrix, check_finite=False), right, check_finite=False)
    except LinAlgError:
        solution = np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    return solution


def _best_before_target(
    block: Array, base: Array, penalty: Array, current: Array, target: Array, sign: Array
) -> tuple[Array, bool]:
    """The best of `target` and the points before it where a weight crosses zero; true if it is the target itself."""
    wrong = target * sign < 0
    if not wrong.any():
        return target, True
    step = target - current
    times = np.full(len(step), np.inf)
    times[wrong] = -current[wrong] / step[wrong]
    # Along the way the quadratic is a parabola in time: nothing of d² is left to do for each of its points.
    slope, bend = float((base + block @ current) @ step), 0.5 * float(step @ block @ step)
    best, best_value = current, np.inf
    for time in sorted({*times[wrong].tolist(), 1.0}):
        point = current + time * step
        point[times == time] = 0.0
        value = time * (slope + time * bend) + float(penalty @ np.abs(point))
        if value < best_value:
            best, best_value = point, value
    return best, False


# Called with the number of the step and its terms; a true answer stops the solver.
Report = Callable[[int, Terms], bool]
# λ_fair that asks for parity on the training rows; half of it asks for half the way there.
PARITY = 10.0
# The price of a change, in errors, for each unit of λ_ratio: at the default of 0.05 a change costs as much as an error.
CHANGE_PRICE = 20.0
# Prices begin too low to flip anybody and rise by a share of what flips somebody, a little faster each time.
FIRST_PRICE, PRICE_STEP, GROWTH, MAX_PRICES = 0.4, 0.15, 1.04, 60
# Prices stop rising once so many steps in a row have gained no more fairness than this.
PATIENCE, PROGRESS = 12, 1e-3
# No step of 0.1 along λ_fair may turn more than 3 % of the decisions. So a rule is passed over if it turns more people,
# as a share, than this times what it gains in fairness; and on the way to the next, people turn evenly, give or take
# this share of everybody. That is 2.2 % of the training people at the most, and two standard errors less than 3 %.
MAX_TURNOVER, LEEWAY = 1.2, 0.005
MAX_STEPS, TOL, RIDGE = 50, 1e-8, 1e-6
# The Lasso is in units of this times the strongest pull of fairness on any weight: about as many features are then left
# as in the paper's form at the same λ_concepts (compas at 0.2: 33 of 61, both).
SPARSITY = 0.5
# With more rows, prices are solved on a fixed random sample of as many; what they achieve is counted on all rows.
MAX_ROWS = 8192
STAGES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)


@dataclass(frozen=True)
class PriceStep:
    """Prices, the weights that respond to them, and their effect on the training rows."""

    prices: Array  # (strata, groups)
    size: float  # of the next rise, for the group that is furthest from everyone
    theta: Array  # w, c_0, c_1, v
    gaps: Array  # (strata, groups)
    way: float  # from 0, f's own fairness, to 1, parity; above 1 the groups have changed places
    n_iter: int
    terms: Terms

    @property
    def fairness(self) -> float:
        """From 0, f's own, to 1, parity."""
        return min(self.way, 2.0 - self.way)


class PricePath:
    """Prices on one data set at one setting except λ_fair; `steps` found earlier are kept, more are added."""

    def __init__(self, data: TrainingData, weights: LossWeights, steps: Sequence[PriceStep] = ()) -> None:
        self.data, self.weights = data, weights
        n = len(data.y)
        self._figure = next(each.figure for each in CRITERIA.values() if each.by_label == weights.by_label)
        self._side = np.where(data.logit > 0, -1.0, 1.0)
        self._acted = acted_on(weights.acts_on, data.logit)
        strata = data.y.astype(np.int64) if weights.by_label else np.zeros(n, dtype=np.int64)
        self._shape = (2 if weights.by_label else 1, data.n_groups)
        group = data.sensitive.astype(np.int64)
        self._cell = np.where(group < 0, -1, strata * data.n_groups + group)
        self._known = group >= 0
        self._of_known = np.ones(int(self._known.sum())) if data.weight is None else data.weight[self._known]
        self._sizes = self._sums(self._of_known)
        confidence = np.abs(data.logit)
        self._unit = float(np.sqrt(np.mean(confidence**2))) or 1.0
        self._rows = np.flatnonzero(self._acted)
        if len(self._rows) > MAX_ROWS:
            self._rows = np.sort(np.random.default_rng(0).permutation(self._rows)[:MAX_ROWS])
        rows, side = self._rows, self._side[self._rows]
        sides = np.column_stack([side > 0, side < 0, confidence[rows] / self._unit])
        self._features = np.hstack([side[:, None] * data.X[rows], sides])
        self._weight = np.ones(len(rows)) if data.weight is None else data.weight[rows] / data.weight.mean()
        cut_off = 1.0 / (1.0 + np.exp(-data.line))
        change = CHANGE_PRICE * weights.ratio
        self._cost = change + side * 2.0 * (cut_off - data.y[rows])
        self._scale = 1.0 + change
        self._start, self._start_gaps = self._figure_of(data.logit > 0), self.gaps(data.logit > 0)
        first = self._gains(-self._start_gaps)
        pull = 0.5 * np.abs((self._weight * first) @ self._features[:, :-3])
        self.pull = pull / max(float(self._weight @ np.abs(first)), 1e-300)
        self.sparsity_scale = SPARSITY * float(self.pull.max(initial=0.0))
        self._penalty = np.append(np.full(len(pull), weights.sparsity * self.sparsity_scale), np.zeros(3))
        self.steps = tuple(steps)  # replaced whole: another thread may read them
        self._decided: dict[int, NDArray[np.bool_]] = {}

    def fits(self, data: TrainingData, weights: LossWeights) -> bool:
        """Whether it was made for these data and this setting, at any λ_fair."""
        return replace(self.weights, fair=0.0) == replace(weights, fair=0.0) and self.data.equals(data)

    def gaps(self, decided: NDArray[np.bool_]) -> Array:
        """By how much each group's rate of positive decisions exceeds everyone's, (strata, groups)."""
        sizes, positive = self._sizes, self._sums(self._of_known * decided[self._known])
        everyone = positive.sum(axis=1) / np.maximum(sizes.sum(axis=1), 1e-300)
        return np.where(sizes > 0, positive / np.where(sizes > 0, sizes, 1.0) - everyone[:, None], 0.0)

    def _sums(self, values: Array) -> Array:
        sums = np.bincount(self._cell[self._known], values, int(np.prod(self._shape)))
        return sums.astype(np.float64).reshape(self._shape)

    def _gains(self, prices: Array) -> Array:
        """What flipping each row is worth to its group."""
        cell = self._cell[self._rows]
        return np.where(cell >= 0, self._side[self._rows] * prices.ravel()[cell], 0.0)

    def _figure_of(self, decided: NDArray[np.bool_]) -> float:
        data = self.data
        counts = counts_of_codes(data.sensitive, data.n_groups, data.y > 0, decided, weight=data.weight)
        with np.errstate(invalid="ignore"):
            return float(self._figure.of_counts(counts))

    def _fairness(self, decided: NDArray[np.bool_]) -> float:
        """From f's (0) to parity (1)."""
        way = (1.0 if self._figure.direction > 0 else 0.0) - self._start
        share = 1.0 if abs(way) < 1e-12 else (self._figure_of(decided) - self._start) / way
        return share if np.isfinite(share) else 0.0

    def _way(self, decided: NDArray[np.bool_]) -> float:
        """How far these decisions are on the way from f to parity, and above 1 beyond it."""
        share = self._fairness(decided)
        return 2.0 - share if float(np.sum(self.gaps(decided) * self._start_gaps)) < 0 else share

    def balance(self, theta: Array) -> Array:
        """Values of h, below 0 where the update may not act."""
        blocks = self._side * (self.data.X @ theta[:-3]) + np.where(self._side > 0, theta[-3], theta[-2])
        return np.where(self._acted, blocks + theta[-1] / self._unit * np.abs(self.data.logit), -np.inf)

    def decided(self, balance: Array) -> NDArray[np.bool_]:
        """Decisions where those with h > 0 are flipped."""
        return np.asarray((self.data.logit > 0) ^ (balance > 0))

    def rule_for(self, share: float, report: Report) -> tuple[Array, int, bool]:
        """Weights that go this share of the way to parity, if they can; the steps used; whether `report` stopped it."""
        rules, reached, decided = [self._nobody], [0.0], self.data.logit > 0
        records, used, stopped = [0], 0, False  # rules between which h is interpolated
        while reached[records[-1]] < share:
            if used == len(self.steps):
                if stopped or not self._is_open:
                    break
                self._raise_prices()
                stopped = report(len(self.steps), self.steps[-1].terms)
            step, used = self.steps[used], used + 1
            if len(records) == 1:  # the first rule that flips anybody follows the last that flips nobody
                rules, reached = rules[-1:], [0.0]
            rules.append(step.theta)
            reached.append(step.way)
            gain = step.way - reached[records[-1]]
            if gain <= 0 or step.way > 1:  # no fairer, or so much that the groups have changed places
                continue
            if np.average(decided != self._after(used), weights=self.data.weight) <= MAX_TURNOVER * gain:
                decided = self._after(used)
                records.append(len(reached) - 1)
        fairest = int(np.argmin(np.abs(np.subtract(1.0, reached))))
        if reached[records[-1]] < share and fairest != records[-1]:  # no more is to come
            records.append(fairest)
        if len(records) == 1 or share >= reached[records[-1]]:
            return rules[records[-1]], used, stopped
        first, last = (rules[record] for record in records[-2:])
        if np.array_equal(self.balance(first) > 0, self.balance(last) > 0):  # both turn too many at once
            first = self._nobody
        low, high = (reached[record] for record in records[-2:])
        part = self._part(first, last, share, (share - low) / (high - low))
        return (1 - part) * first + part * last, used, stopped

    def _after(self, number: int) -> NDArray[np.bool_]:
        if number not in self._decided:
            self._decided[number] = self.decided(self.balance(self.steps[number - 1].theta))
        return self._decided[number]

    def _part(self, first: Array, last: Array, share: float, turned: float) -> float:
        """The least part of the later rule with which the mixture reaches the share.

        About the share `turned` of the people whom the two decide differently have turned then, give or take `LEEWAY`.
        """
        before, after = self.balance(first), self.balance(last)
        differ = (before > 0) != (after > 0)
        points = before[differ] / (before[differ] - after[differ])  # where each of them turns
        order, weight = np.argsort(points, kind="stable"), self.data.weight
        by = np.cumsum(np.ones(len(points)) if weight is None else weight[differ][order])
        by /= len(differ) if weight is None else weight.sum()
        points = np.concatenate([[0.0], points[order] + 1e-9, [1.0]])
        middle = turned * by[-1]
        least = float(points[np.searchsorted(by, middle - LEEWAY, side="right")])
        most = float(points[np.searchsorted(by, middle + LEEWAY) + 1])
        with np.errstate(invalid="ignore"):  # where nobody is acted on
            while most - least > 1e-6:
                middle = 0.5 * (least + most)
                mixed = np.where(self._acted, (1 - middle) * before + middle * after, -np.inf)
                least, most = (least, middle) if self._way(self.decided(mixed)) >= share else (middle, most)
        return most

    @property
    def _nobody(self) -> Array:
        return np.append(np.zeros(self._features.shape[1] - 3), [-5.0, -5.0, 0.0])

    @property
    def _is_open(self) -> bool:
        """Whether higher prices may bring more."""
        reached = [step.fairness for step in self.steps]
        if len(reached) >= MAX_PRICES or not len(self._rows):
            return False
        before = max(reached[:-PATIENCE], default=0.0)
        return max(reached, default=0.0) <= 0 or max(reached) > before + PROGRESS or len(reached) <= PATIENCE

    def _raise_prices(self) -> None:
        steps, first = (
            self.steps,
            PriceStep(np.zeros(self._shape), FIRST_PRICE, self._nobody, self._start_gaps, 0.0, 0, {}),
        )
        last = steps[-1] if steps else first
        prices = last.prices - last.size * self._scale * last.gaps / max(float(np.abs(last.gaps).max()), 1e-12)
        theta, n_iter, loss = self._solve(prices, last.theta)
        decided = self.decided(self.balance(theta))
        gaps = self.gaps(decided)
        widest = np.unravel_index(np.abs(last.gaps).argmax(), gaps.shape)
        overshot = gaps[widest] * last.gaps[widest] < 0
        size = last.size * 0.5 if overshot else last.size * GROWTH if steps else PRICE_STEP
        terms = {"objective": loss, "price": float(np.abs(prices).max()), **self._counts(decided)}
        self.steps = (*steps, PriceStep(prices, size, theta, gaps, self._way(decided), n_iter, terms))

    def _counts(self, decided: NDArray[np.bool_]) -> Terms:
        weight = self.data.weight
        return {
            "errors": float(np.average(decided != (self.data.y > 0), weights=weight)),
            "changes": float(np.average(decided != (self.data.logit > 0), weights=weight)),
        }

    def _solve(self, prices: Array, start: Array) -> tuple[Array, int, float]:
        """Logistic regression of sign(b) with weights |b| and a Lasso: proximal Newton on the weights that may move."""
        benefit = self._gains(prices) - self._cost
        sign, weight = np.sign(benefit), self._weight * np.abs(benefit)
        weight = weight / max(float(weight.sum()), 1e-300)
        theta, penalty = start, self._penalty

        def loss(at: Array, margin: Array) -> float:
            return float(weight @ np.logaddexp(0.0, -margin) + penalty @ np.abs(at) + 0.5 * RIDGE * at @ at)

        margin = sign * (self._features @ theta)
        value = loss(theta, margin)
        n_iter = 0
        while (n_iter := n_iter + 1) <= MAX_STEPS:
            wrong = 1.0 / (1.0 + np.exp(np.minimum(margin, 700.0)))
            gradient = RIDGE * theta - (weight * sign * wrong) @ self._features
            free = np.flatnonzero((theta != 0) | (penalty == 0) | (np.abs(gradient) > penalty))
            few = self._features[:, free]
            hessian = (few.T * (weight * wrong * (1.0 - wrong))) @ few + RIDGE * np.eye(len(free))
            goal = theta.copy()
            goal[free] = lasso_step(gradient[free], hessian, theta[free], penalty[free])
            move = goal - theta
            drop = float(gradient @ move + penalty @ (np.abs(goal) - np.abs(theta)))
            if drop > -TOL:
                break
            size = 1.0
            while True:
                trial = goal if size == 1.0 else theta + size * move
                margin = sign * (self._features @ trial)
                reached = loss(trial, margin)
                if reached <= value + 0.1 * size * drop or size < 1e-8:
                    break
                size *= 0.5
            theta, value = trial, reached
        return theta, n_iter, value

    def rescaler(self, theta: Array) -> LinearRescaler:
        w, (rejected, accepted, confidence) = theta[:-3], theta[-3:]
        return LinearRescaler(
            intercept=-float(confidence) / self._unit,
            coef=np.zeros(len(w)),
            shift_intercept=float(rejected),
            shift_coef=w,
            acts_on=self.weights.acts_on,
            shift_step=-float(accepted) - float(rejected),
            mirror=MIRROR,
        )

    def share_within(self, most: float, share: float, report: Report) -> float:
        """The largest share of the way to parity, up to this one, that changes at most this many people."""
        theta, _, stopped = self.rule_for(share, report)
        if stopped or self._people(theta) <= most:
            return share
        least = 0.0
        while share - least > 1e-3:
            middle = 0.5 * (least + share)
            if self._people(self.rule_for(middle, report)[0]) <= most:
                least = middle
            else:
                share = middle
        return least

    def _people(self, theta: Array) -> float:
        changed = self.balance(theta) > 0
        return float(changed.sum() if self.data.weight is None else self.data.weight[changed].sum())

    def point(self, lambda_fair: float, share: float, report: Report) -> tuple[PathPoint, int, bool]:
        """The model for a share of the way to parity, its number of steps, and whether `report` stopped the solver."""
        theta, used, stopped = self.rule_for(share, report)
        decided = self.decided(self.balance(theta))
        terms = {
            "lambda_fair": lambda_fair,
            "fairness": self._fairness(decided),
            **self._counts(decided),
            "sparsity_loss": self.sparsity_scale * float(np.abs(theta[:-3]).sum()),
        }
        n_iter = sum(step.n_iter for step in self.steps[:used])
        return PathPoint(self.rescaler(theta), terms, n_iter, not stopped), used, stopped


def solve_prices(
    path: PricePath, lambda_fair: float, callback: StepCallback | None = None, most: float = np.inf
) -> Solution:
    """The models from g = f up to λ_fair, each with at most this many changed people."""

    def report(step: int, terms: Terms) -> bool:
        return callback is not None and bool(callback(step, MAX_PRICES, terms))

    solution, used = Solution(pull=path.pull), 0
    share = min(lambda_fair / PARITY, 1.0)
    if np.isfinite(most):
        share = path.share_within(most, share, report)
    last = [lambda_fair] if lambda_fair > 0 else []
    for value in [0.0, *(stage for stage in STAGES if stage < lambda_fair), *last]:
        point, used, solution.stopped = path.point(value, min(value / PARITY, share), report)
        solution.path.append(point)
        if solution.stopped:
            break
    solution.history = [{"step": n, **step.terms} for n, step in enumerate(path.steps[:used], start=1)]
    return solution
