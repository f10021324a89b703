"""Optimisers of the methods on blocks of pairs: steps along a sum of rows, dense or at the cost of its rows.

A block gives the gradient g = sum_k c_k x_k + lam w at w. With the step eta_t of block t, the optimisers are

    sgd     : w -= eta_t g
    momentum: buf = mu buf + g (buf = g at t = 1);  w -= eta_t buf
    adam    : m = 0.9 m + 0.1 g;  v = 0.999 v + 0.001 g^2;
              w -= eta_t / (1 - 0.9^t) m / (sqrt(v / (1 - 0.999^t)) + 1e-8)

Dense: g is summed up, and each block passes over all d weights. Lazy: no pass is needed. For `sgd`,
w = slow p, and lam changes the scale only. Momentum with a constant step is a linear recursion of (w, buf)
with the two rates x of x^2 - (1 - eta lam + mu) x + mu = 0, so w is the sum of two decaying sums:

    w = P + Q,   P = a g + lambda P,   Q = b g + nu Q,   g without its term in lam,
    a = -eta lambda / (lambda - nu),   b = eta nu / (lambda - nu)

kept as P = slow p and Q = fast q. (a + b = -eta and a lambda + b nu = -eta (lambda + nu) are the first two
weights after a gradient.) Neither sum is a difference of large numbers, though fast becomes tiny. Over the
averaged points, the P add up to weight p and the Q to (b sum of g - nu Q) / (1 - nu). The sum of w is

    weight p - nu / (1 - nu) fast q - v

Three cases are dense whatever the rows are, and cost O(d) per block: `adam`, where all weights move in every
block; momentum with a decreasing step; and momentum with eta lam so large that the rates meet or are complex.
"""

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from aucbench import kernels
from aucbench.kernels import rows, vectors, weights
from aucbench_algorithms._choices import Schedule

APART = 1e-3  # momentum is dense when the two rates are closer
SMALLEST_FAST = 1e-200  # fold q only before it underflows: no sum can lose its digits
PAYS = 4.0  # least ratio of d to a block's non-zeros for lazy weights
LAZY, SGD, MOMENTUM, ADAM = range(4)
W, GRADIENT, SUM, FIRST, SECOND = range(5)  # rows of the vectors in the dense layout
P, Q = range(2)  # rows in the lazy layout; with averaging the last row is v
Optimiser = StrEnum("Optimiser", "sgd momentum adam")


class Params(NamedTuple):
    """Constant parameters of the optimiser."""

    kind: int
    eta: float
    root: bool  # decrease the step as 1 / sqrt(t)
    momentum: float
    lam: float
    average: bool
    slow_keep: float = 1.0  # lambda
    slow_step: float = 0.0  # a
    fast_keep: float = 0.0  # nu; 0 without Q
    fast_step: float = 0.0  # b


class Factors(NamedTuple):
    """The scalars of w = slow p + fast q; of dense weights slow = 1 and fast = 0."""

    t: int
    slow: float
    fast: float
    weight: float


class Weights(NamedTuple):
    """Weights and the memory of the optimiser."""

    cells: np.ndarray  # (5, d) dense, or (1 to 3, d) lazy, entries of a column side by side
    factors: Factors
    params: Params


def first_weights(
    X: Any, block: int, optimiser: Optimiser, eta: float, momentum: float, lam: float,
    schedule: Schedule = Schedule.constant, average: bool = False,
) -> Weights:  # fmt: skip
    """Zero weights for blocks of `block` pairs of rows of X."""
    if optimiser is Optimiser.momentum and momentum == 0.0:
        optimiser = Optimiser.sgd
    kind = {Optimiser.sgd: SGD, Optimiser.momentum: MOMENTUM, Optimiser.adam: ADAM}[optimiser]
    params = Params(kind, eta, schedule is Schedule.sqrt, momentum, lam, average)
    d = X.shape[1]
    if kernels.layout(X, PAYS * 2 * block) is kernels.Layout.lazy:
        if kind == SGD:
            cells = np.zeros((d, 1 + average)).T
            return Weights(cells, Factors(0, 1.0, 0.0, 0.0), params._replace(kind=LAZY))
        discriminant = (1.0 - eta * lam + momentum) ** 2 - 4.0 * momentum
        if kind == MOMENTUM and not params.root and eta * lam < 1.0 and discriminant >= APART**2:
            gap = float(np.sqrt(discriminant))
            slow = (1.0 - eta * lam + momentum + gap) / 2.0
            fast = momentum / slow
            params = params._replace(
                kind=LAZY,
                slow_keep=slow,
                fast_keep=fast,
                slow_step=-eta * slow / gap,
                fast_step=eta * fast / gap,
            )
            return Weights(np.zeros((d, 2 + average)).T, Factors(0, 1.0, 1.0, 0.0), params)
    return Weights(np.zeros((5, d)), Factors(0, 1.0, 0.0, 0.0), params)


def current(state: Weights) -> np.ndarray:
    """(d,) new vector: w, or with averaging the mean of the points."""
    cells, (t, slow, fast, weight), params = state
    out: np.ndarray
    if not params.average or t == 0:
        out = slow * cells[P]
        return out + fast * cells[Q] if fast else out
    if params.kind != LAZY:
        return cells[SUM] / t
    out = weight * cells[P] - cells[-1]
    return (out - params.fast_keep / (1.0 - params.fast_keep) * fast * cells[Q] if fast else out) / t


@kernels.helper
def descend(X, block, c, cells, factors, params):
    """One step along sum_k c_k x_k over the rows of a block (B, 2), c being (2, B); returns the factors."""
    t = factors.t + 1
    eta = params.eta / np.sqrt(t) if params.root else params.eta
    if params.kind == LAZY:
        return _lazy_step(X, block, c, cells, factors, eta, params)
    for k in range(block.shape[0]):
        for side in range(2):
            if c[side, k] != 0.0:
                rows.axpy(c[side, k], X, block[k, side], cells[GRADIENT])
    if params.kind == SGD:
        _sgd(cells[W], cells[GRADIENT], 1.0 - eta * params.lam, eta)
    elif params.kind == MOMENTUM:
        _momentum(cells[W], cells[GRADIENT], cells[FIRST], eta, params.momentum, params.lam)
    else:
        _adam(cells[W], cells[GRADIENT], cells[FIRST], cells[SECOND], eta, t, params.lam)
    if params.average:
        vectors.add(1.0, cells[W], cells[SUM])
    return Factors(t, 1.0, 0.0, 0.0)


@kernels.fast_helper
def _sgd(w, g, keep, eta):
    for j in range(w.size):
        w[j] = keep * w[j] - eta * g[j]
        g[j] = 0.0


@kernels.fast_helper
def _momentum(w, g, buffer, eta, momentum, lam):
    for j in range(w.size):
        buffer[j] = momentum * buffer[j] + (g[j] + lam * w[j])
        w[j] -= eta * buffer[j]
        g[j] = 0.0


@kernels.fast_helper
def _adam(w, g, first, second, eta, t, lam):
    rate, root = eta / (1.0 - 0.9**t), 1.0 / np.sqrt(1.0 - 0.999**t)
    for j in range(w.size):
        slope = g[j] + lam * w[j]
        first[j] = 0.9 * first[j] + 0.1 * slope
        second[j] = 0.999 * second[j] + 0.001 * slope * slope
        w[j] -= rate * first[j] / (np.sqrt(second[j]) * root + 1e-8)
        g[j] = 0.0


@kernels.helper
def _lazy_step(X, block, c, cells, factors, eta, params):
    v = cells[cells.shape[0] - 1]
    has_fast = params.fast_keep != 0.0
    slow, fast, weight = factors.slow, factors.fast, factors.weight
    slow *= params.slow_keep if has_fast else 1.0 - eta * params.lam
    if not abs(slow) >= (weights.SMALLEST_SCALE if params.average else weights.SMALLEST_SCALE_ALONE):
        if params.average:
            weights.fold(cells[P], slow, v, weight)
        else:
            vectors.scale(slow, cells[P])
        slow, weight = 1.0, 0.0
    fast *= params.fast_keep
    if has_fast and not fast >= SMALLEST_FAST:
        vectors.scale(fast, cells[Q])
        fast = 1.0
    to_p = (params.slow_step if has_fast else -eta) / slow
    to_q = params.fast_step / fast if has_fast else 0.0
    to_v = weight * to_p - params.fast_step / (1.0 - params.fast_keep)
    for k in range(block.shape[0]):
        for side in range(2):
            i, size = block[k, side], c[side, k]
            if size == 0.0:
                continue
            if has_fast:
                rows.axpy2(to_p * size, X, i, cells[P], to_q * size, cells[Q])
                if params.average:
                    rows.axpy(to_v * size, X, i, v)
            elif params.average:
                rows.axpy2(to_p * size, X, i, cells[P], to_v * size, v)
            else:
                rows.axpy(to_p * size, X, i, cells[P])
    return Factors(factors.t + 1, slow, fast, weight + slow if params.average else weight)
