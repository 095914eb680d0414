"""Exact minimum of a small convex quadratic with a Lasso penalty."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from commod.models.adversary import Array

# With more weights than this, what costs d³ is done less often: zero weights enter together, not one at a time, and the
# minimum need not be exact, since a Newton step that is begun anew does more for the loss than one that is polished.
WIDE = 256
WIDE_STEPS = 6


def lasso_step(gradient: Array, hessian: Array, start: Array, penalty: Array) -> Array:
    """Minimise g·(x−x₀) + ½(x−x₀)ᵀH(x−x₀) + Σⱼ penaltyⱼ·|xⱼ| for positive definite H.

    Feature-sign search (Lee, Battle, Raina & Ng 2007): Newton steps on the weights that are not zero, their signs
    held, with a look at every sign change on the way; zero weights enter one at a time while their gradient exceeds
    the penalty. Ends after finitely many steps at the exact minimum, zeros included, and warm starts from x₀. Of more
    than `WIDE` weights, all whose gradient exceeds the penalty enter together, and after `WIDE_STEPS` solves it ends
    where it is, lower than it began.

    `gradient`, `start`, `penalty`: gradient at x₀, x₀, and non-negative penalties.
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
    """The best of `target` and the points before it where a weight passes zero; true if it is the target itself."""
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
