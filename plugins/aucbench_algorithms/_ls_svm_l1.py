"""Least squares with an l1 regulariser, to rounding: min over w of w.A w / 2 - d.w + l1 |w|_1.

Accelerated proximal gradients (Beck, Teboulle, 2009, restarted by O'Donoghue, Candes, 2015) find the non-zero
weights approximately; an active set then makes them exact. For a set of weights with known signs, the problem
is a linear system. Weights may cross zero on the way to its solution: the method then takes the exact minimum
along the segment, and a weight that is zero there leaves the set. Weights whose derivative exceeds l1 enter
the set. Both steps lower the objective, so the method ends (Lee, Battle, Raina, Ng, NIPS 2006).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aucbench_algorithms import _newton

PROXIMAL = 300  # proximal steps before the active set
POWER = 30  # products for the largest eigenvalue
ENTERING = 200  # weights that enter the set at once
LARGEST_SET = 4096  # most weights in one linear system
ROUNDS = 200  # most rounds of entering weights
IDLE = 4  # most rounds without progress, since rounding sets a limit
EXACT = 1e-14  # tolerance of the optimality conditions, relative to the largest derivative at zero


class Quadratic(NamedTuple):
    """w.A w / 2 - d.w."""

    multiply: Callable[[np.ndarray], np.ndarray]  # w to A w
    block: Callable[[np.ndarray], np.ndarray]  # columns S to A_SS
    d: np.ndarray


def solve(problem: Quadratic, l1: float, start: np.ndarray) -> np.ndarray:
    """The minimiser; `start` is a first guess."""
    w = _proximal(problem, l1, start)
    scale = EXACT * float(np.abs(problem.d).max(initial=0.0))
    least, best, idle = np.inf, w, 0
    for _ in range(ROUNDS):
        g = problem.multiply(w) - problem.d
        missed = np.where(w == 0.0, np.maximum(np.abs(g) - l1, 0.0), np.abs(g + l1 * np.sign(w)))
        worst = float(missed.max(initial=0.0))
        idle = 0 if worst < 0.5 * least else idle + 1
        if worst < least:
            least, best = worst, w.copy()
        if worst <= scale or idle > IDLE:
            break
        entering = np.flatnonzero((w == 0.0) & (missed > scale))
        entering = entering[np.argsort(-missed[entering])[:ENTERING]]
        chosen = np.union1d(np.flatnonzero(w), entering)
        if chosen.size > LARGEST_SET:
            break
        signs = np.where(w != 0.0, np.sign(w), -np.sign(g))[chosen]
        w[chosen] = _on_set(problem.block(chosen), problem.d[chosen], l1, w[chosen], signs)
    return best


def _proximal(problem: Quadratic, l1: float, start: np.ndarray) -> np.ndarray:
    v = np.random.default_rng(0).normal(size=start.size)
    largest = 0.0
    for _ in range(POWER):
        image = problem.multiply(v)
        largest = float(np.linalg.norm(image))
        if not largest > 0.0:
            return np.zeros_like(start)
        v = image / largest
    step = 1.0 / (1.1 * largest)
    w, lookahead, t = start.copy(), start.copy(), 1.0
    for _ in range(PROXIMAL):
        u = lookahead - step * (problem.multiply(lookahead) - problem.d)
        new = np.sign(u) * np.maximum(np.abs(u) - step * l1, 0.0)
        if (lookahead - new) @ (new - w) > 0.0:  # the momentum leads up
            t = 1.0
        next_t = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        lookahead = new + ((t - 1.0) / next_t) * (new - w)
        w, t = new, next_t
    return w


def _on_set(A: np.ndarray, d: np.ndarray, l1: float, w: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Descend on the weights of a set until the derivatives by the non-zero weights are 0."""
    w, free = w.copy(), np.ones(w.size, bool)
    ridge = w.size * np.finfo(np.float64).eps * float(np.diag(A).max(initial=0.0))
    for _ in range(10 * w.size + 10):
        S = np.flatnonzero(free)
        if S.size == 0:
            break
        part, target = A[np.ix_(S, S)], d[S] - l1 * signs[S]
        solver = _newton.inverse(part, ridge)
        u = solver(target)
        u += solver(target - part @ u)
        backward = (w[S] == 0.0) & (u * signs[S] <= 0.0)
        if backward.any():  # entering weights that would go the other way stay out
            free[S[backward]] = False
            continue
        p = u - w[S]
        t, zeroed = _along(w[S], p, float(p @ (part @ w[S] - d[S])), float(p @ part @ p), l1)
        w[S] += t * p
        if t == 1.0:
            w[S] = u
        w[S[zeroed]] = 0.0
        free[S[zeroed]] = False
        turned = np.sign(w[S]) != signs[S]
        signs[S] = np.where(w[S] != 0.0, np.sign(w[S]), signs[S])
        if t == 1.0 and not turned.any():
            break
        if t == 0.0 and not zeroed.any():
            break
    return w


def _along(w: np.ndarray, p: np.ndarray, slope: float, bend: float, l1: float) -> tuple[float, np.ndarray]:
    """The step in [0, 1] to the minimum along p, and a mask of the weight that is zero at a kink.

    `slope` and `bend` are the first and second derivative of the quadratic alone.
    """
    crossing = np.flatnonzero(w * p < 0.0)
    times = -w[crossing] / p[crossing]
    order = np.argsort(times)
    crossing, times = crossing[order], times[order]
    rises = np.concatenate([[0.0], np.cumsum(2.0 * l1 * np.abs(p[crossing]))])
    # the derivative behind the k-th kink is slope + bend t + start + rises[k]
    start = slope + l1 * float(np.where(w != 0.0, np.sign(w), np.sign(p)) @ p)
    zeroed = np.zeros(w.size, bool)
    for k in range(times.size + 1):
        end = times[k] if k < times.size else 1.0
        if end >= 1.0:
            end = 1.0
        if start + rises[k] + bend * end >= 0.0 and (k == times.size or end == 1.0 or bend > 0.0):
            low = times[k - 1] if k else 0.0
            if start + rises[k] + bend * low >= 0.0:  # the minimum is the kink before
                if k:
                    zeroed[crossing[k - 1]] = True
                return low, zeroed
            t = min(end, -(start + rises[k]) / bend)
            return (1.0 if t > 1.0 - 1e-12 else t), zeroed
        if end == 1.0:
            break
    return 1.0, zeroed
