"""The default solver: exact best response of the adversary, Newton steps on r, followed from g = f to the target.

In the paper's listing r and its adversary take thousands of turns, and where they end depends on the learning rates and
the seed. Here the adversary is solved at every step (`ScoreObjective`), which leaves a smooth function of θ = (c, v)
with r(x) = c + v·x, plus a Lasso on v. An affine update has a second such block of weights, for the shift s(x) = a·(d +
u·x), with a constant a that gives both blocks one unit (`shift_unit`). Scores of people whom the update may not act on
are constants beside θA. The function is followed along λ_fair from r ≡ 1 up to its target, each point warm-started from
the last. It has many local minima: at every value of `SCHEDULE` the solver jumps to where the loss may be lower
(`Levels`), follows Newton's steps from there, and goes on from the lowest point found, the same for every later target,
so that neighbouring settings give neighbouring models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commod.datasets.blocks import blocks
from commod.models.adversary import Array
from commod.models.level_jumps import Jumps, Levels
from commod.models.objective import DesignMatrix, NewtonTerms, ScoreState
from commod.models.prices import WIDE, PricePath, lasso_step
from commod.models.rescaler import LinearRescaler, acted_on
from commod.models.training import (
    LossWeights,
    PathPoint,
    Solution,
    StepCallback,
    Terms,
    TrainingData,
    ratio_form,
    shift_unit,
)

# λ_fair values that every fit passes on its way up; part of the definition of the result.
SCHEDULE = (0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0, 6.5, 8.0)
# These values only lead to the next one: each is solved until a step promises less than this.
SCHEDULE_TOL = 1e-4
MAX_STEPS = 100
# With more rows than this the schedule is solved on a fixed random sample of as many, and only the target is solved on
# all rows: a few Newton steps instead of dozens.
SAMPLE_ROWS = 8192
# With more features than this the schedule is solved on this many, the ones that the adversary pulls on hardest at g =
# f; only the target is solved on all of them.
SAMPLE_FEATURES = 256
# For targets with many features (`WIDE`): neighbouring minima differ by more than this.
WIDE_TOL = 1e-6
# Keeps the weights unique where features are linearly dependent (the levels of a category are) and nothing else
# decides between them; too small to be seen in any score.
RIDGE = 1e-6
# Where many decisions change, the lowest minimum may have nothing in common with the way up: at the first stage from
# this λ_fair on, r ≡ FAR_START is one more start.
FAR, FAR_START = 2.5, 0.5
MAX_ROUNDS = 8
# A jump may promise this much less than the loss here: Newton's steps from there are still to come.
SLACK = 0.002
# Two minima closer than this count as equal, and the solver stays at the one it came from.
MIN_GAIN = 1e-6
# A start is given up once Newton's next step, this many times over, would not get below the best loss known.
PATIENCE = 1.5
# More than rounding can add to a loss.
ROUNDING = 1e-9


def values_up_to(lambda_fair: float) -> list[float]:
    """The schedule up to and including the target; empty for λ_fair = 0."""
    return [value for value in SCHEDULE if value < lambda_fair] + ([lambda_fair] if lambda_fair > 0 else [])


class LinearProblem:
    """The loss in θ = (c, v): score terms, ratio penalty λ_ratio·(θ−θ₀)ᵀM(θ−θ₀), and a Lasso on all but the constants.

    `data`: as given; the objective sorts it. `form`: M, see `ratio_form`; with a shift, of either block. `unit`: with a
    shift, θ = (c, v, d, u) and s(x) = unit·(d + u·x); 0 without one.
    """

    def __init__(self, data: TrainingData, weights: LossWeights, form: Array, unit: float = 0.0) -> None:
        self.objective = data.objective(weights)
        acted = acted_on(weights.acts_on, data.logit)
        self.acts_on = weights.acts_on
        self.fixed = np.where(acted, 0.0, data.logit)  # scores of those who are not acted on
        factor = data.logit - self.fixed
        self.A = DesignMatrix(data.X, [factor, np.float64(unit) * acted] if unit > 0 else [factor])
        self.unit = unit
        self.width = len(form)  # of a block
        if unit > 0:
            none = np.zeros_like(form)
            form = np.block([[form, none], [none, form]])
        self.X = data.X
        self._factor, self._sensitive = factor, data.sensitive
        self.form = form
        self.quadratic = 2.0 * (weights.ratio * form + RIDGE * np.eye(len(form)))
        self.identity = np.eye(len(form))[0]
        self.start = self.objective.evaluate(self.scores(self.identity))
        self.sparse = np.arange(len(form)) % self.width > 0  # all but the constants
        pull = self.objective.pull(self.start, self.A)[1:]
        self.pull = pull[: self.width - 1]  # on the weights of r: concepts are the same with and without a shift
        self.sparsity_scale = float(pull[self.sparse[1:]].max(initial=0.0))
        self.penalty = np.where(self.sparse, weights.sparsity * self.sparsity_scale, 0.0)

    @cached_property
    def levels(self) -> Levels:  # made where it is asked for: on a sample only, where the schedule is solved on one
        return Levels(self.X, self._factor, self.objective, self._sensitive)

    def scores(self, theta: Array) -> Array:
        return self.A.scores(theta) + self.fixed

    def ratio(self, theta: Array) -> Array:
        return self.X @ theta[1 : self.width] + theta[0]

    def rescaler(self, theta: Array) -> LinearRescaler:
        r, s = theta[: self.width], self.unit * theta[self.width :]
        if not len(s):
            return LinearRescaler(float(r[0]), r[1:], acts_on=self.acts_on)
        return LinearRescaler(float(r[0]), r[1:], float(s[0]), s[1:], self.acts_on)

    def penalties(self, theta: Array) -> float:
        """λ_ratio·L_ratio and the Lasso at θ."""
        move = theta - self.identity
        return float(0.5 * move @ self.quadratic @ move + self.penalty @ np.abs(theta))

    def penalties_after(self, theta: Array, jumps: Jumps) -> Array:
        """The same after each of the jumps from θ, which move two weights: a constant, and one with a Lasso."""
        slope = self.quadratic @ (theta - self.identity)
        c, j = jumps.constant, jumps.by
        at = jumps.weight
        linear = c * slope[0] + j * slope[at]
        square = c**2 * self.quadratic[0, 0] + 2 * c * j * self.quadratic[0, at] + j**2 * np.diag(self.quadratic)[at]
        lasso = self.penalty[at] * (np.abs(theta[at] + j) - np.abs(theta[at]))
        return self.penalties(theta) + linear + 0.5 * square + lasso

    def terms(self, state: ScoreState, theta: Array, lambda_fair: float) -> Terms:
        """Every loss term at θ and, as ``objective``, their weighted sum."""
        move = theta - self.identity
        return {
            "lambda_fair": lambda_fair,
            "objective": state.value(lambda_fair) + self.penalties(theta),
            "label_loss": state.label_loss,
            "adversary_loss": state.adversary_loss,
            "ratio_loss": float(move @ self.form @ move),
            "sparsity_loss": self.sparsity_scale * float(np.abs(theta[self.sparse]).sum()),
            "diversity_loss": 0.0,  # of any split into concepts with disjoint supports
        }


@dataclass(frozen=True)
class _Point:
    """Where the solver stands."""

    theta: Array
    phis: tuple[Array, ...]  # the adversaries' weights there
    terms: Terms
    steps: tuple[Terms, ...] = ()  # what led here from the last point
    n_iter: int = 0
    converged: bool = True
    stopped: bool = False


# λ_fair, the tolerance, and whether on all rows; or the name of the price path.
StageKey = tuple[float, float, bool] | str
PRICES = "prices"


@dataclass(frozen=True)
class _PathProblem:
    """What is solved along λ_fair: on all rows, and on the schedule's sample of rows (and features)."""

    made_for: tuple[TrainingData, LossWeights, Any]
    problem: LinearProblem
    sampled: LinearProblem
    columns: NDArray[np.intp]  # features of the sampled
    solved: dict[StageKey, Any]

    def fits(self, data: TrainingData, weights: LossWeights, ratio_norm: Any) -> bool:
        """Whether it was made for these data and this setting, at any λ_fair."""
        known, at, norm = self.made_for
        same_setting = replace(at, fair=0.0) == replace(weights, fair=0.0) and np.array_equal(norm, ratio_norm)
        return same_setting and known.equals(data)

    def widened(self, point: _Point) -> _Point:
        """A point of the sampled problem as one of the whole: features that the sample left out have no weight."""
        blocks = point.theta.reshape(-1, self.sampled.width)
        theta = np.zeros((len(blocks), self.problem.width))
        theta[:, 0], theta[:, 1 + self.columns] = blocks[:, 0], blocks[:, 1:]
        return replace(point, theta=theta.ravel())


class WarmStart:
    """What has been solved along λ_fair on one data set, at one setting of everything else.

    Every fit follows the same schedule, so a second λ_fair does not solve it again, and another number of concepts at
    the same λ_fair solves nothing. Pass one (empty) object to several fits that differ only in these two; each gives
    exactly what it would give alone. An object that does not match the data or the setting is filled again. What
    depends only on the rows (their encoding) is kept while the same objects are passed as X, y and so on; do not change
    them meanwhile.

    Parameters
    ----------
    solved : dict, optional
        ``solved`` of another such object for the same data and setting, which is not checked. It is small; the object
        itself holds the rows.
    beside : WarmStart, optional
        Another `WarmStart`, with which this one shares what depends only on the rows.
    """

    def __init__(self, solved: Mapping[StageKey, Any] | None = None, *, beside: WarmStart | None = None) -> None:
        self.solved: dict[StageKey, Any] = dict(solved or {})
        self._problem: _PathProblem | None = None
        self._prices: PricePath | None = None
        self._derived: dict[str, tuple[tuple[Any, ...], Any]] = {} if beside is None else beside._derived

    def derive(self, name: str, sources: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """What `make` gives for `sources`, remembered while they are the same objects."""
        known = self._derived.get(name)
        if known is None or any(was is not now for was, now in zip(known[0], sources, strict=True)):
            known = (sources, make())
            self._derived[name] = known
        return known[1]

    @contextmanager
    def prices(self, data: TrainingData, weights: LossWeights) -> Iterator[PricePath]:
        """The same for ``update="decisions"``."""
        path = self._prices
        if path is None or not path.fits(data, weights):
            path = self._prices = PricePath(data, weights, self.solved.get(PRICES, ()) if path is None else ())
        yield path
        self.solved[PRICES] = path.steps

    def path_problem(self, data: TrainingData, weights: LossWeights, ratio_norm: Any) -> _PathProblem:
        """What to solve, with what was solved on these data at this setting; replaced whole, for other threads."""
        path = self._problem
        if path is None or not path.fits(data, weights, ratio_norm):
            solved = self.solved if path is None else {}
            path = self._problem = _path_problem(data, weights, ratio_norm, solved)
            self.solved = solved
        return path


def _path_problem(
    data: TrainingData, weights: LossWeights, ratio_norm: Any, solved: dict[StageKey, Any]
) -> _PathProblem:
    form = ratio_form(ratio_norm, data, weights.acts_on)
    unit = shift_unit(data, weights.acts_on) if weights.update == "affine" else 0.0
    problem = sampled = LinearProblem(data.sorted_for(weights.by_label), weights, form, unit)
    few, columns = data, np.arange(data.X.shape[1])
    if len(data.y) > SAMPLE_ROWS:
        few = data.take(np.sort(np.random.default_rng(0).permutation(len(data.y))[:SAMPLE_ROWS]))
    if len(columns) > SAMPLE_FEATURES:
        columns = np.sort(np.argsort(-problem.pull, kind="stable")[:SAMPLE_FEATURES])
        few = replace(few, X=few.X[:, columns])
        kept = np.append(0, 1 + columns)
        form = form[np.ix_(kept, kept)]
    if few is not data:
        sampled = LinearProblem(few.sorted_for(weights.by_label), weights, form, unit)
    return _PathProblem((data, weights, ratio_norm), problem, sampled, columns, solved)


def solve_linear(
    data: TrainingData,
    weights: LossWeights,
    ratio_norm: Any,
    *,
    tol: float = 1e-9,
    callback: StepCallback | None = None,
    warm_start: WarmStart | None = None,
) -> Solution:
    """Solve at each value of the schedule below λ_fair and at λ_fair itself, from r ≡ 1 upwards.

    The last point is solved until a step promises less than `tol`. `callback(stage, stages, terms)` can stop it.
    """
    path = (warm_start or WarmStart()).path_problem(data, weights, ratio_norm)
    problem, sampled, known = path.problem, path.sampled, path.solved
    solution = Solution(pull=problem.pull)
    start = tuple(fit.phi for fit in problem.start.fits)
    point = _Point(sampled.identity, start, problem.terms(problem.start, problem.identity, 0.0))
    _append(solution, problem, path.widened(point))
    # (problem, λ_fair, tolerance): along the schedule, and the target once more on all rows if that was on a sample.
    tol = max(tol, WIDE_TOL) if problem.width > WIDE else tol
    values = values_up_to(weights.fair)
    stages = [(sampled, value, SCHEDULE_TOL) for value in values]
    if stages and sampled is problem:
        stages[-1] = (problem, weights.fair, tol)
    elif stages:
        stages.append((problem, weights.fair, tol))
    first_far = next((value for value in values if value >= FAR), None)
    state = None  # at the point, where the search has left it
    for step, (stage, value, stage_tol) in enumerate(stages, start=1):
        key = (value, stage_tol, stage is problem)
        if key in known:
            point, state = known[key], None
        else:

            def report(terms: Terms, step: int = step) -> bool:
                return callback is not None and bool(callback(step, len(stages), terms))

            if stage is not sampled:
                point, state = path.widened(point), None
            point = _better_than_f(stage, _newton(stage, point, value, stage_tol, report, known=state), value)
            if stage is sampled:
                point, state = _lowest(stage, point, value, stage_tol, report, far=value == first_far)
            if not point.stopped:
                known[key] = point
        solution.history.extend({"step": step, **terms} for terms in point.steps)
        if len(solution.path) > 1 and solution.path[-1].terms["lambda_fair"] == value:
            solution.path.pop()  # the target, solved on the sample before
        _append(solution, problem, path.widened(point) if stage is sampled else point)
        solution.stopped = point.stopped
        if solution.stopped:
            break
    return solution


def _append(solution: Solution, problem: LinearProblem, point: _Point) -> None:
    solution.path.append(PathPoint(problem.rescaler(point.theta), point.terms, point.n_iter, point.converged))


def _better_than_f(problem: LinearProblem, point: _Point, lambda_fair: float) -> _Point:
    """The point, or g = f if its loss is lower: never return a model worse than f."""
    at_f = problem.terms(problem.start, problem.identity, lambda_fair)
    if at_f["objective"] >= point.terms["objective"]:
        return point
    phis = tuple(fit.phi for fit in problem.start.fits)
    return replace(point, theta=problem.identity, phis=phis, terms=at_f)


def _lowest(
    problem: LinearProblem,
    point: _Point,
    lambda_fair: float,
    tol: float,
    report: Callable[[Terms], bool],
    *,
    far: bool,
) -> tuple[_Point, ScoreState | None]:
    """The lowest minimum that a search from this one finds, and the score terms there, if they were computed."""
    for round_ in range(MAX_ROUNDS):
        if point.stopped:
            break
        state = problem.objective.evaluate(problem.scores(point.theta), point.phis)
        starts = _most_promising(problem, point, state, lambda_fair)
        if far and round_ == 0:
            starts.append(replace(point, theta=FAR_START * problem.identity))
        best = point
        for start in starts:
            found = _newton(problem, start, lambda_fair, tol, report, beat=best.terms["objective"] - MIN_GAIN)
            if found.terms["objective"] < best.terms["objective"] - MIN_GAIN:
                best = replace(found, steps=point.steps + found.steps, n_iter=point.n_iter + found.n_iter)
            if found.stopped:
                return replace(best, stopped=True), None
        if best is point:
            return point, state
        point = best
    return point, None


def _most_promising(problem: LinearProblem, point: _Point, state: ScoreState, lambda_fair: float) -> list[_Point]:
    """Where the jump leads that promises the lowest loss; empty if none promises anything."""
    here = point.terms["objective"] - state.value(lambda_fair)
    jumps = problem.levels.jumps(state, lambda_fair, problem.ratio(point.theta))
    rises = problem.penalties_after(point.theta, jumps) - here - jumps.gain
    if not (rises < SLACK).any():
        return []
    return [replace(point, theta=jumps.after(point.theta, int(np.argmin(rises))))]


def _newton(
    problem: LinearProblem,
    start: _Point,
    lambda_fair: float,
    tol: float,
    report: Callable[[Terms], bool],
    *,
    beat: float | None = None,
    known: ScoreState | None = None,
) -> _Point:
    """Proximal Newton with backtracking from `start` (score terms `known`); ends once it cannot get below `beat`."""
    theta = start.theta
    steps: list[Terms] = []
    # Evaluated again even if the last stage had it: a path resumed from memory then continues to the last digit
    # alike.
    state = known or problem.objective.evaluate(problem.scores(theta), start.phis)
    terms = problem.terms(state, theta, lambda_fair)

    def here(n_iter: int, *, converged: bool = True, stopped: bool = False) -> _Point:
        phis = tuple(fit.phi for fit in state.fits)
        return _Point(theta, phis, terms, tuple(steps), n_iter, converged, stopped)

    for n_iter in range(1, MAX_STEPS + 1):
        newton = problem.objective.newton_terms(state, lambda_fair, problem.A)
        gradient = newton.gradient + problem.quadratic @ (theta - problem.identity)
        hessian = newton.hessian + problem.quadratic
        if not _is_positive(hessian):
            hessian = _bent_up(hessian, newton, problem.A)
        goal = lasso_step(gradient, hessian, theta, problem.penalty)
        move = goal - theta
        drop = float(gradient @ move + problem.penalty @ (np.abs(goal) - np.abs(theta)))
        if drop > -tol or (beat is not None and terms["objective"] + PATIENCE * drop > beat):
            return here(n_iter)
        size = 1.0
        while True:
            trial = goal if size == 1.0 else theta + size * move
            most = terms["objective"] + 1e-4 * size * drop
            z = problem.scores(trial)
            label = problem.objective.label_loss(z)
            least = label[0] - lambda_fair * problem.objective.ceiling + problem.penalties(trial)
            descended = least <= most + ROUNDING
            if descended:  # not ruled out, whatever the adversaries answer
                # Their weights, moved along as their own optimality conditions say, are their next start.
                answers = zip(state.fits, newton.responses, strict=True)
                starts = tuple(fit.phi + response @ (size * move) for fit, response in answers)
                trial_state = problem.objective.evaluate(z, starts, label)
                trial_terms = problem.terms(trial_state, trial, lambda_fair)
                descended = trial_terms["objective"] <= most
            if descended or size < 1e-6:
                break
            size /= 2
        if not descended:
            # No descent left at this precision: done if the promise was small, in trouble if not.
            return here(n_iter, converged=drop > -1e-6)
        theta, state, terms = trial, trial_state, trial_terms
        steps.append(terms)
        if report(terms):
            return here(n_iter, converged=False, stopped=True)
    return here(MAX_STEPS, converged=False)


def _is_positive(hessian: Array) -> bool:
    try:
        np.linalg.cholesky(hessian - RIDGE * np.eye(len(hessian)))
    except np.linalg.LinAlgError:
        return False
    return True


def _bent_up(hessian: Array, newton: NewtonTerms, A: DesignMatrix) -> Array:
    """A positive definite matrix instead of an indefinite Hessian, so that the step descends."""
    if len(hessian) > WIDE:
        # Eigenvalues of so many weights would take too long: leave out the rows whose score bends the loss down.
        bent = hessian.copy()
        for rows in blocks(len(newton.curvature)):
            down = newton.curvature[rows] < 0
            part = A.fast(rows)[:, down]
            bent -= (part * newton.curvature[rows][down].astype(part.dtype)) @ part.T
        return bent
    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(np.abs(values), 1e-5 * float(np.abs(values).max()))
    return (vectors * values) @ vectors.T
