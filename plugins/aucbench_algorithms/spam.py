"""SPAM, stochastic proximal AUC maximisation, with a ridge, an elastic net or a ball.

The saddle point of `solam` with the optimal a, b, alpha for w put in, from the class means m+ and m- and
the share p of positives of the training data, known before the pass: a = w.m+, b = w.m-, alpha = b - a.
For a sample x with s = w.x, and eta = C / sqrt(t):

    u = w - eta coef x,  coef = 2 (1 - p) (s - a - 1 - alpha) for positives, 2 p (s - b + 1 + alpha) else
    l2:   w = u / (1 + eta beta)
    net:  w = sign(u) max(|u| - eta nu, 0) / (1 + eta beta)
    ball: w = u projected on |w| <= radius

The model is the mean of the w.

Cost per example: O(nnz) with l2 and ball, as w is kept as scale * u, of which shrinking changes the scale
only, the sum of the w as weight * u - v, and a and b move by the products of the rows with m+ and m-,
computed beforehand. The net costs O(nnz log d) on sparse rows, where w is a thresholded vector (see
`aucbench.kernels.thresholded`), and O(d) on others. While eta beta is about 1 the scale is folded every
few steps, at O(d), or at the number of non-zero weights with the net.

Source: Natole, Ying, Lyu, Stochastic proximal algorithms for AUC maximization, ICML 2018.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from aucbench import Access, Batch, Claims, NonNegative, Positive, Problem, check_fields, kernels
from aucbench.kernels import fast_kernel, rows, thresholded, vectors, weights
from aucbench.kernels.thresholded import Thresholded

AHEAD = 8  # rows prefetched before their use
REFRESH = 1024  # steps between exact computations of |w|^2, a and b, at least
FADED = 1e3  # a and b are computed anew when they have become so many times smaller


class Penalty(StrEnum):
    """What keeps the weights small."""

    l2 = "l2"
    net = "net"
    ball = "ball"


class State(NamedTuple):
    """Weights w = scale u, sum of w = weight u - v; with the net on sparse rows a thresholded vector."""

    w: np.ndarray | Thresholded  # (2, d) u and v
    lazy: np.ndarray  # (6,) scale, weight, |w|^2, a, b, their largest size since they were computed
    steps: np.ndarray  # (1,) t
    means: np.ndarray  # (2, d) m+ and m-
    products: np.ndarray  # (n, 2) x.m+ and x.m- of every row
    p: float  # share of positives


@dataclass(frozen=True)
class Spam:
    """Stochastic proximal AUC maximisation with the square loss.

    Parameters
    ----------
    C : float > 0
        Step; eta = C / sqrt(t).
    beta : float >= 0 or None
        Weight of |w|^2 / 2, with l2 and net; None is 3 / n for n training rows.
    nu : float >= 0
        Weight of |w|_1, with net.
    penalty : l2, net or ball
        Ridge, elastic net, or the constraint |w| <= radius.
    radius : float > 0
        Of the ball.
    """

    name: ClassVar[str] = "spam"
    step_size: ClassVar[str] = "C"
    colour: ClassVar[str] = "#a0370e"
    access: ClassVar[Access] = Access.stream
    losses: ClassVar[tuple[str, ...]] = ("square",)
    grid: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "C": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        "beta": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
        "nu": (1e-7, 1e-6, 1e-5, 1e-4, 1e-3),
        "radius": (1.0, 10.0, 100.0),
    }
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    citation: ClassVar[str] = "natole2018spam"
    deviations: ClassVar[tuple[str, ...]] = (
        "The step is C / sqrt(t), as in the authors' code; the paper's theory takes 1 / t.",
        "The ball is that of the comparison in Yang et al. 2020, whose code has alpha with the wrong sign.",
    )

    C: Positive = 1.2
    beta: NonNegative | None = None
    nu: NonNegative = 1e-5
    penalty: Penalty = Penalty.l2
    radius: Positive = 100.0

    def __post_init__(self) -> None:
        check_fields(self)

    def ignored(self) -> tuple[str, ...]:
        """Fields that the penalty does not use."""
        if self.penalty is Penalty.ball:
            return ("beta", "nu")
        return ("radius",) if self.penalty is Penalty.net else ("nu", "radius")

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Zero; computes p, m+, m- and the products of all rows with m+ and m-."""
        means = np.array([problem.mean_pos, problem.mean_neg])
        products = np.ascontiguousarray(problem.X @ means.T)
        lazy = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        w: np.ndarray | Thresholded = kernels.two_vectors(problem.X)
        if self.penalty is Penalty.net and kernels.layout(problem.X) is kernels.Layout.lazy:
            w = thresholded.thresholded(problem.n_features, means.T)
        return State(w, lazy, np.zeros(1, np.int64), means, products, problem.p)

    def step(self, state: State, batch: Batch) -> State:
        """Consume the rows of a chunk, in order."""
        if len(batch.rows) == 0:
            return state
        w, lazy, steps, means, products, p = state
        beta = 3.0 / len(batch.y) if self.beta is None else self.beta
        if isinstance(w, Thresholded):
            _run_sparse_net(
                batch.rows_view, batch.y, batch.rows, w, steps, products, p, self.C, beta, self.nu
            )
        elif self.penalty is Penalty.net:
            _run_net(
                batch.rows_view, batch.y, batch.rows, w[0], w[1], lazy, steps, means, p,
                self.C, beta, self.nu,
            )  # fmt: skip
        else:
            _run(
                batch.rows_view, batch.y, batch.rows, w[0], w[1], lazy, steps, means, products, p,
                self.C, beta, self.radius, self.penalty is Penalty.ball,
            )  # fmt: skip
        return state

    def weights(self, state: State) -> np.ndarray:
        """(d,) mean of the points so far; zero before the first step."""
        w, steps = state.w, max(1, int(state.steps[0]))
        if isinstance(w, Thresholded):
            return thresholded.accumulated(w) / steps
        return (state.lazy[1] * w[0] - w[1]) / steps

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) decision values w.x."""
        return X @ self.weights(state)


@kernels.kernel
def _coefficient(s, a, b, p, positive):
    """The derivative of the objective by s."""
    return 2.0 * (1.0 - p) * (s - a - 1.0 - (b - a)) if positive else 2.0 * p * (s - b + 1.0 + (b - a))


@kernels.kernel
def _run(X, y, order, u, v, lazy, steps, means, products, p, C, beta, radius, ball):
    scale, weight, size, a, b, peak = lazy
    t = steps[0]
    refresh = max(REFRESH, u.size)
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
            rows.prefetch(products, order[k + AHEAD])
        i = order[k]
        t += 1
        eta = C / np.sqrt(t)
        # a and b remember the rounding of their largest size
        current = abs(a) + abs(b)
        if t % refresh == 0 or peak > FADED * (1.0 + current):
            a, b = scale * vectors.dot(means[0], u), scale * vectors.dot(means[1], u)
            size = scale * scale * vectors.square(u)
            peak = abs(a) + abs(b)
        peak = max(peak, current)
        factor = 1.0
        if ball:
            product, square = rows.dot_norm(X, i, u)
            s = scale * product
            step = -eta * _coefficient(s, a, b, p, y[i] > 0)
            size += step * (2.0 * s + step * square)
            if not size <= radius * radius:
                # an infinite |w| must not be scaled to zero: it would look like a finite model
                factor = radius / np.sqrt(size) if size < np.inf else np.nan
                size = radius * radius
        else:
            step = -eta * _coefficient(scale * rows.dot(X, i, u), a, b, p, y[i] > 0)
            factor = 1.0 / (1.0 + eta * beta)
        a = factor * (a + step * products[i, 0])
        b = factor * (b + step * products[i, 1])
        if scale * factor >= weights.SMALLEST_SCALE:
            rows.axpy2(step / scale, X, i, u, weight * step / scale, v)
            scale *= factor
        else:  # folded before the step, which may be far larger than what is left of it
            weights.fold(u, scale * factor, v, weight)
            scale, weight = 1.0, 0.0
            rows.axpy(step * factor, X, i, u)
        weight += scale
    steps[0] = t
    lazy[0], lazy[1], lazy[2], lazy[3], lazy[4], lazy[5] = scale, weight, size, a, b, peak


@kernels.kernel
def _run_net(X, y, order, w, v, lazy, steps, means, p, C, beta, nu):
    a, b = lazy[3], lazy[4]
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        steps[0] += 1
        eta = C / np.sqrt(steps[0])
        rows.axpy(-eta * _coefficient(rows.dot(X, i, w), a, b, p, y[i] > 0), X, i, w)
        a, b = _threshold(w, v, means, eta * nu, 1.0 / (1.0 + eta * beta))
    lazy[3], lazy[4] = a, b


@fast_kernel
def _threshold(w, v, means, cut, factor):
    """Soft-threshold and shrink w, subtract it from v; returns w.m+ and w.m-."""
    a = b = 0.0
    for j in range(w.size):
        size = abs(w[j]) - cut
        size = 0.0 if size <= 0.0 else factor * size  # NaN stays
        w[j] = size if w[j] > 0.0 else -size
        v[j] -= w[j]
        a += w[j] * means[0, j]
        b += w[j] * means[1, j]
    return a, b


@kernels.kernel
def _run_sparse_net(X, y, order, w, steps, products, p, C, beta, nu):
    refresh = max(REFRESH, w.keys.size)
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
            rows.prefetch(products, order[k + AHEAD])
        i = order[k]
        steps[0] += 1
        eta = C / np.sqrt(steps[0])
        scale = w.numbers[thresholded.SCALE]
        a, b = scale * w.products[0, 0], scale * w.products[0, 1]
        step = -eta * _coefficient(thresholded.dot(X, i, w), a, b, p, y[i] > 0)
        thresholded.axpy(step, X, i, w)
        w.products[0, 0] += step / scale * products[i, 0]
        w.products[0, 1] += step / scale * products[i, 1]
        thresholded.shrink(w, eta * nu, 1.0 / (1.0 + eta * beta))
        if steps[0] % refresh == 0:
            thresholded.fold(w)
        thresholded.weigh(w, 1.0)
